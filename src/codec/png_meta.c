#include "codec/png_meta.h"

#include <string.h>

#include "base/status.h"
#include "codec/exif.h"
#include "codec/meta.h"

#if LAP_HAVE_PNG

#include <zlib.h>

enum { APP1 = 0xE1, APP2 = 0xE2, ICC_HEAD = 14, EXIF_HEAD = 6, FRAME = 12 };
static const char xmp_name[29] = "http://ns.adobe.com/xap/1.0/";
static const char xmp_keyword[22] =
    "XML:com.adobe.xmp\0\0\0\0";                     /* not compressed; no language, no translation */
static const char icc_keyword[13] = "ICC profile\0"; /* method 0: deflate */

static void put32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Length, type, data in two pieces, check sum. */
static lap_code put(lap_chunk *out, const char *type, const void *head, size_t head_size, const void *data,
    size_t size, lap_error *err)
{
    lap_code code = lap_chunk_reserve(out, head_size + size + FRAME, err);
    if (code != LAP_OK)
        return code;
    uint8_t *to = out->data + out->size;
    put32(to, (uint32_t)(head_size + size));
    memcpy(to + 4, type, 4);
    if (head_size > 0)
        memcpy(to + 8, head, head_size);
    memcpy(to + 8 + head_size, data, size);
    put32(to + 8 + head_size + size, (uint32_t)crc32(0, to + 4, (uInt)(4 + head_size + size)));
    out->size += head_size + size + FRAME;
    return LAP_OK;
}

/* A JPEG holds a profile in parts, in order of their numbers, as decoders want them. */
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
        code = put(out, "iCCP", icc_keyword, sizeof icc_keyword, packed.data, size, err);
    lap_chunk_free(&profile);
    lap_chunk_free(&packed);
    return code;
}

lap_code lap_png_meta(const lap_write_options *options, lap_chunk *chunks, lap_error *err)
{
    lap_meta meta;
    lap_code code = lap_meta_choose(options, &meta, err);
    bool has_exif = false; /* a PNG has one at most; of several in a JPEG the first counts */
    if (code == LAP_OK)
        code = put_profile(&meta, chunks, err);
    for (size_t i = 0; i < meta.count && code == LAP_OK; i++) {
        const lap_segment *s = &meta.segments[i];
        if (s->marker == APP1 && lap_exif_is(s->data, s->size)) {
            if (!has_exif && lap_exif_is_tiff(s->data, s->size))
                code = put(chunks, "eXIf", NULL, 0, s->data + EXIF_HEAD, s->size - EXIF_HEAD, err);
            has_exif = true;
        } else if (s->marker == APP1 && s->size > sizeof xmp_name &&
                   memcmp(s->data, xmp_name, sizeof xmp_name) == 0)
            code = put(chunks, "iTXt", xmp_keyword, sizeof xmp_keyword, s->data + sizeof xmp_name,
                s->size - sizeof xmp_name, err);
    }
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
