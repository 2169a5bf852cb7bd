#include "codec/png_meta.h"

#include <string.h>

#include "base/status.h"
#include "codec/exif.h"
#include "codec/meta.h"
#include "codec/resources.h"

#if LAP_HAVE_PNG

#include <zlib.h>

enum { APP1 = 0xE1, APP2 = 0xE2, APP13 = 0xED, COM = 0xFE, ICC_HEAD = 14, EXIF_HEAD = 6, FRAME = 12 };
static const char xmp_keyword[22] =
    "XML:com.adobe.xmp\0\0\0\0";                     /* not compressed; no language, no translation */
static const char icc_keyword[13] = "ICC profile\0"; /* method 0: deflate */

static void put32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

typedef struct png_chunk { /* the chunk's data is in two pieces */
    const char *type;
    const void *head, *data;
    size_t head_size, size;
} png_chunk;

/* Writes length, type, data and checksum. */
static lap_code put(lap_chunk *out, png_chunk c, lap_error *err)
{
    const size_t data_size = c.head_size + c.size;
    lap_code code = lap_chunk_reserve(out, data_size + FRAME, err);
    if (code != LAP_OK)
        return code;
    uint8_t *to = out->data + out->size;
    put32(to, (uint32_t)data_size);
    memcpy(to + 4, c.type, 4);
    if (c.head_size > 0)
        memcpy(to + 8, c.head, c.head_size);
    memcpy(to + 8 + c.head_size, c.data, c.size);
    put32(to + 8 + data_size, (uint32_t)crc32(0, to + 4, (uInt)(4 + data_size)));
    out->size += data_size + FRAME;
    return LAP_OK;
}

/* Writes a profile. In a JPEG it comes in numbered pieces, in the order that decoders expect. */
static lap_code put_profile(const lap_meta *meta, lap_chunk *out, lap_error *err)
{
    lap_chunk profile = {0}, packed = {0};
    lap_code code = LAP_OK;
    for (size_t i = 0; i < meta->count && code == LAP_OK; i++) {
        const lap_segment *s = &meta->segments[i];
        if (s->marker != APP2)
            continue;
        code = lap_chunk_reserve(&profile, s->size, err);
        if (code == LAP_OK) {
            memcpy(profile.data + profile.size, s->data + ICC_HEAD, s->size - ICC_HEAD);
            profile.size += s->size - ICC_HEAD;
        }
    }
    uLongf size = compressBound((uLong)profile.size);
    if (code == LAP_OK && profile.size > 0)
        code = lap_chunk_reserve(&packed, size, err);
    if (code == LAP_OK && profile.size > 0 &&
        compress2(packed.data, &size, profile.data, (uLong)profile.size, Z_DEFAULT_COMPRESSION) != Z_OK)
        code = lap_fail(err, LAP_E_MEMORY, "out of memory for the colour profile");
    if (code == LAP_OK && profile.size > 0)
        code = put(out,
            (png_chunk){.type = "iCCP",
                .head = icc_keyword,
                .head_size = sizeof icc_keyword,
                .data = packed.data,
                .size = size},
            err);
    lap_chunk_free(&profile);
    lap_chunk_free(&packed);
    return code;
}

/* ---- text ---------------------------------------------------------------------------------------- */

/* Finds encodings that the bytes are valid in: ASCII in *is_ascii, UTF-8 in *is_utf8. */
static void look_at_text(const uint8_t *data, size_t size, bool *is_ascii, bool *is_utf8)
{
    *is_ascii = *is_utf8 = true;
    for (size_t i = 0; i < size; i++) {
        const uint8_t c = data[i];
        const size_t more = c < 0x80                ? 0
                            : c >= 0xC2 && c < 0xE0 ? 1
                            : (c & 0xF0) == 0xE0    ? 2
                            : (c & 0xF8) == 0xF0    ? 3
                                                    : 9;
        *is_ascii = *is_ascii && c < 0x80;
        if (more > size - i - 1) {
            *is_utf8 = false;
            return;
        }
        for (size_t k = 1; k <= more; k++)
            *is_utf8 = *is_utf8 && (data[i + k] & 0xC0) == 0x80;
        i += more;
    }
}

/* Writes a comment with its keyword. Bytes that are not UTF-8 are treated as Latin-1, which tEXt uses. */
static lap_code put_comment(const lap_write_options *o, const lap_segment *s, lap_chunk *out, lap_error *err)
{
    const char *keyword = s->keyword ? (const char *)s->data : "Comment";
    const size_t length = s->keyword ? s->keyword : strlen(keyword), skip = s->keyword ? s->keyword + 2 : 0;
    const uint8_t *data = s->data + skip;
    size_t size = s->size - skip;
    uint8_t head[128] = {0}; /* keyword and zero byte; for iTXt four more: not compressed, no language */
    bool is_ascii, is_utf8;
    while (size > 0 && data[size - 1] == 0)
        size--;
    if (length > 79 || memchr(data, 0, size)) {
        lap_meta_drop(o->drops,
            &(lap_dropped){
                .kind = "comment", .where = "", .name = "", .tag = -1, .bytes = s->size, .reason = "binary"});
        lap_meta_warn(o->drops, "a comment is left out: it is not text, and PNG cannot hold it");
        return LAP_OK;
    }
    for (size_t i = 0; i < length; i++)
        head[i] = (uint8_t)keyword[i];
    look_at_text(data, size, &is_ascii, &is_utf8);
    const bool is_international = is_utf8 && !is_ascii;
    return put(out,
        (png_chunk){.type = is_international ? "iTXt" : "tEXt",
            .head = head,
            .head_size = length + (is_international ? 5 : 1),
            .data = data,
            .size = size},
        err);
}

/* Writes the form that ImageMagick and ExifTool read: hexadecimal, 36 bytes a line, compressed. */
static lap_code put_hexadecimal(const lap_chunk *bytes, lap_chunk *out, lap_error *err)
{
    static const char keyword[] = "Raw profile type iptc\0"; /* method 0: deflate */
    static const char digits[] = "0123456789abcdef";
    enum { LINE = 36, HEAD = 32 };
    lap_chunk text = {0}, packed = {0};
    lap_code code = lap_chunk_reserve(&text, HEAD + bytes->size * 2 + bytes->size / LINE + 2, err);
    if (code == LAP_OK) {
        text.size = (size_t)snprintf((char *)text.data, HEAD, "\niptc\n%8zu\n", bytes->size);
        for (size_t i = 0; i < bytes->size; i++) {
            text.data[text.size++] = (uint8_t)digits[bytes->data[i] >> 4];
            text.data[text.size++] = (uint8_t)digits[bytes->data[i] & 15];
            if (i % LINE == LINE - 1 || i + 1 == bytes->size)
                text.data[text.size++] = '\n';
        }
    }
    uLongf size = compressBound((uLong)text.size);
    if (code == LAP_OK)
        code = lap_chunk_reserve(&packed, size, err);
    if (code == LAP_OK &&
        compress2(packed.data, &size, text.data, (uLong)text.size, Z_DEFAULT_COMPRESSION) != Z_OK)
        code = lap_fail(err, LAP_E_MEMORY, "out of memory for IPTC");
    if (code == LAP_OK)
        code = put(out,
            (png_chunk){.type = "zTXt",
                .head = keyword,
                .head_size = sizeof keyword,
                .data = packed.data,
                .size = size},
            err);
    lap_chunk_free(&text);
    lap_chunk_free(&packed);
    return code;
}

static lap_code put_resources(const lap_meta *meta, lap_chunk *out, lap_error *err)
{
    lap_chunk blocks = {0};
    lap_code code = LAP_OK;
    for (size_t i = 0; i < meta->count && code == LAP_OK; i++) {
        const lap_segment *s = &meta->segments[i];
        if (s->marker != APP13)
            continue;
        code = lap_chunk_reserve(&blocks, s->size, err);
        if (code == LAP_OK) {
            memcpy(blocks.data + blocks.size, s->data + LAP_RESOURCES_HEAD, s->size - LAP_RESOURCES_HEAD);
            blocks.size += s->size - LAP_RESOURCES_HEAD;
        }
    }
    if (code == LAP_OK && blocks.size > 0)
        code = put_hexadecimal(&blocks, out, err);
    lap_chunk_free(&blocks);
    return code;
}

/* ---- all ----------------------------------------------------------------------------------------- */

static void no_place(const lap_write_options *o, const lap_segment *s, const char *what)
{
    lap_meta_drop(o->drops, &(lap_dropped){.kind = lap_meta_kind(s),
                                .where = "",
                                .name = "",
                                .tag = -1,
                                .bytes = s->size,
                                .reason = "no place in a PNG"});
    lap_meta_warn(o->drops, "%s is left out: a PNG has no place for it", what);
}

/* Writes EXIF, XMP and comments. A PNG has at most one EXIF; if a JPEG has several, the first counts. */
static lap_code put_segment(
    const lap_write_options *o, const lap_segment *s, bool *has_exif, lap_chunk *chunks, lap_error *err)
{
    if (s->marker == COM)
        return put_comment(o, s, chunks, err);
    if (s->marker != APP1)
        return LAP_OK;
    if (lap_meta_is_xmp(s))
        return put(chunks,
            (png_chunk){.type = "iTXt",
                .head = xmp_keyword,
                .head_size = sizeof xmp_keyword,
                .data = s->data + LAP_META_XMP,
                .size = s->size - LAP_META_XMP},
            err);
    if (!lap_exif_is(s->data, s->size))
        no_place(o, s, "the second part of XMP");
    else if (*has_exif)
        no_place(o, s, "a second EXIF");
    else {
        *has_exif = true;
        return put(chunks,
            (png_chunk){.type = "eXIf", .data = s->data + EXIF_HEAD, .size = s->size - EXIF_HEAD}, err);
    }
    return LAP_OK;
}

lap_code lap_png_meta(const lap_write_options *options, lap_chunk *chunks, lap_error *err)
{
    lap_meta meta;
    lap_write_options o = *options;
    o.long_segments = true;
    lap_code code = lap_meta_choose(&o, &meta, err);
    bool has_exif = false;
    if (code == LAP_OK)
        code = put_profile(&meta, chunks, err);
    for (size_t i = 0; i < meta.count && code == LAP_OK; i++)
        code = put_segment(&o, &meta.segments[i], &has_exif, chunks, err);
    if (code == LAP_OK)
        code = put_resources(&meta, chunks, err);
    if (code == LAP_OK && o.fail_on == LAP_FAIL_WARNING && o.drops && o.drops->warnings > 0)
        code = lap_fail(err, LAP_E_UNSUPPORTED, "%s", o.drops->warning);
    lap_meta_free(&meta);
    return code;
}

#else

lap_code lap_png_meta(const lap_write_options *options, lap_chunk *chunks, lap_error *err)
{
    (void)options, (void)chunks, (void)err;
    return LAP_OK;
}

#endif
