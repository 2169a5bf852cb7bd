#include "codec/png_text.h"

#if LAP_HAVE_PNG

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/grow.h"
#include "base/status.h"
#include "codec/exif.h"
#include "codec/resources.h"

enum { EXIF = 0xE1, XMP = 0xE1, IPTC = 0xED, COMMENT = 0xFE, MAX_KEYWORD = 79, IPTC_BLOCK = 12 };
static const char xmp_name[29] = "http://ns.adobe.com/xap/1.0/";

typedef struct text {
    const char *keyword;
    const uint8_t *data;
    size_t size;
    bool is_packed, is_latin1;
} text;

static lap_code append(lap_chunk *to, const void *data, size_t size, lap_error *err)
{
    const lap_code code = lap_chunk_reserve(to, size, err);
    if (code != LAP_OK || size == 0)
        return code;
    memcpy(to->data + to->size, data, size);
    to->size += size;
    return LAP_OK;
}

/* Skips a string and the zero byte that ends it; false: there is no zero byte. */
static bool skip_string(const uint8_t **at, size_t *left)
{
    const uint8_t *end = memchr(*at, 0, *left);
    if (!end)
        return false;
    *left -= (size_t)(end + 1 - *at);
    *at = end + 1;
    return true;
}

/* Splits a chunk into its parts; false: it is damaged. */
static bool open_text(const char *type, const uint8_t *data, size_t size, text *t)
{
    *t = (text){.keyword = (const char *)data};
    if (!skip_string(&data, &size) || strlen(t->keyword) == 0 || strlen(t->keyword) > MAX_KEYWORD)
        return false;
    const bool is_international = memcmp(type, "iTXt", 4) == 0;
    t->is_latin1 = !is_international;
    t->is_packed = memcmp(type, "zTXt", 4) == 0;
    if (t->is_packed) {
        if (size < 1 || data[0] != 0)
            return false;
        data++;
        size--;
    }
    if (is_international) {
        if (size < 2 || data[0] > 1 || data[1] != 0)
            return false;
        t->is_packed = data[0];
        data += 2;
        size -= 2;
        const bool has_language = skip_string(&data, &size);
        if (!has_language || !skip_string(&data, &size)) /* the keyword's translation */
            return false;
    }
    t->data = data;
    t->size = size;
    return true;
}

/* Unpacks at most `room` bytes. *fits is false if the data is damaged or larger. */
static lap_code unpack(const text *t, size_t room, lap_chunk *to, bool *fits, lap_error *err)
{
    z_stream z = {.next_in = (uint8_t *)t->data, .avail_in = (uInt)t->size};
    lap_code code = LAP_OK;
    int state = Z_OK;
    *fits = false;
    if (inflateInit(&z) != Z_OK)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for text");
    while (code == LAP_OK && state == Z_OK && to->size <= room) {
        code = lap_chunk_reserve(to, 4096, err);
        if (code != LAP_OK)
            break;
        z.next_out = to->data + to->size;
        z.avail_out = 4096;
        state = inflate(&z, Z_NO_FLUSH);
        to->size = (size_t)(z.next_out - to->data);
    }
    inflateEnd(&z);
    *fits = state == Z_STREAM_END && to->size <= room;
    return state == Z_MEM_ERROR ? lap_fail(err, LAP_E_MEMORY, "out of memory for text") : code;
}

/* ---- pieces -------------------------------------------------------------------------------------- */

static lap_code begin_piece(lap_png_texts *texts, uint8_t marker, lap_error *err)
{
    lap_png_piece *pieces = lap_grow(texts->pieces, &texts->room, texts->count + 1, sizeof *pieces);
    if (!pieces)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for text");
    texts->pieces = pieces;
    pieces[texts->count++] = (lap_png_piece){.marker = marker, .at = texts->bytes.size};
    return LAP_OK;
}

static void end_piece(lap_png_texts *texts)
{
    lap_png_piece *piece = &texts->pieces[texts->count - 1];
    piece->size = texts->bytes.size - piece->at;
}

static lap_code add_piece(lap_png_texts *texts, uint8_t marker, const lap_chunk *value, lap_error *err)
{
    lap_code code = begin_piece(texts, marker, err);
    if (code == LAP_OK)
        code = append(&texts->bytes, value->data, value->size, err);
    if (code == LAP_OK)
        end_piece(texts);
    return code;
}

/* Adds an XMP packet, with the name that a JPEG segment needs. */
static lap_code add_xmp(lap_png_texts *texts, const lap_chunk *packet, lap_error *err)
{
    lap_code code = begin_piece(texts, XMP, err);
    if (code == LAP_OK)
        code = append(&texts->bytes, xmp_name, sizeof xmp_name, err);
    if (code == LAP_OK)
        code = append(&texts->bytes, packet->data, packet->size, err);
    if (code == LAP_OK)
        end_piece(texts);
    return code;
}

static lap_code add_comment(lap_png_texts *texts, const text *t, const lap_chunk *value, lap_error *err)
{
    const size_t keyword = strcmp(t->keyword, "Comment") == 0 ? 0 : strlen(t->keyword);
    lap_code code = begin_piece(texts, COMMENT, err);
    if (code == LAP_OK)
        texts->pieces[texts->count - 1].keyword = keyword;
    if (code == LAP_OK && keyword)
        code = append(&texts->bytes, t->keyword, keyword, err);
    if (code == LAP_OK && keyword)
        code = append(&texts->bytes, ": ", 2, err);
    for (size_t i = 0; i < value->size && code == LAP_OK; i++) {
        const uint8_t c = value->data[i], utf8[] = {(uint8_t)(0xC0 | c >> 6), (uint8_t)(0x80 | (c & 0x3F))};
        const bool is_one = c < 0x80 || !t->is_latin1;
        code = append(&texts->bytes, is_one ? &c : utf8, is_one ? 1 : 2, err);
    }
    if (code == LAP_OK)
        end_piece(texts);
    return code;
}

/* ---- profiles in hexadecimal, as ImageMagick writes them ----------------------------------------- */

static int digit(uint8_t c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes a profile in place: a line with the name, a line with the number of bytes, then the bytes. False:
 * the text is not a profile. */
static bool decode_profile(lap_chunk *value)
{
    size_t at = 0, size = 0, said = 0;
    while (at < value->size && value->data[at] == '\n')
        at++;
    while (at < value->size && value->data[at] != '\n')
        at++;
    for (; at < value->size && (value->data[at] == '\n' || value->data[at] == ' '); at++)
        ;
    for (; at < value->size && value->data[at] >= '0' && value->data[at] <= '9' && said < LAP_PNG_MAX_TEXT;
         at++)
        said = said * 10 + (size_t)(value->data[at] - '0');
    for (int high = -1; at < value->size; at++) {
        const int d = digit(value->data[at]);
        if (d < 0)
            continue;
        if (high >= 0)
            value->data[size++] = (uint8_t)(high << 4 | d);
        high = high >= 0 ? -1 : d;
    }
    value->size = size;
    return size > 0 && size == said;
}

static bool begins(const lap_chunk *value, const char *with, size_t size)
{
    return value->size >= size && memcmp(value->data, with, size) == 0;
}

/* Adds IPTC data sets; puts them into a block if they have none. */
static lap_code add_iptc(lap_png_texts *texts, const lap_chunk *value, lap_error *err)
{
    const size_t n = value->size;
    const uint8_t block[IPTC_BLOCK] = {'8', 'B', 'I', 'M', 4, 4, 0, 0, (uint8_t)(n >> 24), (uint8_t)(n >> 16),
        (uint8_t)(n >> 8), (uint8_t)n};
    const bool is_bare = value->data[0] == 0x1C;
    lap_code code = begin_piece(texts, IPTC, err);
    if (code == LAP_OK && !begins(value, LAP_RESOURCES_NAME, LAP_RESOURCES_HEAD))
        code = append(&texts->bytes, LAP_RESOURCES_NAME, LAP_RESOURCES_HEAD, err);
    if (code == LAP_OK && is_bare)
        code = append(&texts->bytes, block, sizeof block, err);
    if (code == LAP_OK)
        code = append(&texts->bytes, value->data, n, err);
    if (code == LAP_OK && is_bare && n % 2)
        code = append(&texts->bytes, "", 1, err);
    if (code == LAP_OK)
        end_piece(texts);
    return code;
}

static lap_code add_profile(lap_png_texts *texts, const char *name, lap_chunk *value, lap_error *err)
{
    if (!decode_profile(value)) {
        texts->refused++;
        return LAP_OK;
    }
    if (strcmp(name, "iptc") == 0 || strcmp(name, "8bim") == 0)
        return add_iptc(texts, value, err);
    if (lap_exif_is(value->data, value->size))
        return add_piece(texts, EXIF, value, err);
    if (begins(value, xmp_name, sizeof xmp_name))
        return add_piece(texts, XMP, value, err);
    if (strcmp(name, "xmp") == 0)
        return add_xmp(texts, value, err);
    return add_piece(texts, 0, value, err);
}

/* ---- chunks -------------------------------------------------------------------------------------- */

static lap_code store(lap_png_texts *texts, const text *t, lap_chunk *value, lap_error *err)
{
    static const char raw[] = "Raw profile type ";
    if (strcmp(t->keyword, "XML:com.adobe.xmp") == 0)
        return add_xmp(texts, value, err);
    if (strncmp(t->keyword, raw, sizeof raw - 1) == 0)
        return add_profile(texts, t->keyword + sizeof raw - 1, value, err);
    return add_comment(texts, t, value, err);
}

lap_code lap_png_text_take(
    lap_png_texts *texts, const char *type, const uint8_t *data, size_t size, lap_error *err)
{
    text t;
    lap_chunk value = {0};
    bool fits = false;
    const size_t room = texts->bytes.size < LAP_PNG_MAX_TEXT ? LAP_PNG_MAX_TEXT - texts->bytes.size : 0;
    lap_code code = LAP_OK;
    if (size > 0 && texts->count < LAP_PNG_MAX_TEXTS && open_text(type, data, size, &t)) {
        fits = t.size <= room;
        if (fits && t.is_packed)
            code = unpack(&t, room, &value, &fits, err);
        else if (fits)
            code = append(&value, t.data, t.size, err);
    }
    if (code == LAP_OK && !fits)
        texts->refused++;
    else if (code == LAP_OK)
        code = store(texts, &t, &value, err);
    lap_chunk_free(&value);
    return code;
}

void lap_png_texts_free(lap_png_texts *texts)
{
    lap_chunk_free(&texts->bytes);
    free(texts->pieces);
    *texts = (lap_png_texts){0};
}

#endif
