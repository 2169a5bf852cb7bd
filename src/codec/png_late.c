#include "codec/png_late.h"

#if LAP_HAVE_PNG

#include <string.h>
#include <zlib.h>

enum {
    SIGNATURE = 8,
    HEAD = 8,            /* length and type of a chunk */
    SUM = 4,             /* its checksum */
    MAX_CHUNKS = 1 << 16 /* 512 MB of usual files; each costs a system call */
};

static uint32_t get32(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* Reads type, data and checksum of a chunk into `to`, and keeps the data if they agree. */
static lap_code read_chunk(
    const lap_source *source, uint64_t at, uint32_t length, lap_chunk *to, lap_error *err)
{
    const size_t all = 4 + (size_t)length + SUM;
    const lap_code code = lap_chunk_reserve(to, all, err);
    if (code != LAP_OK || !lap_source_look(source, at + 4, to->data, all) ||
        (uint32_t)crc32(0, to->data, (uInt)(4 + length)) != get32(to->data + 4 + length))
        return code;
    memmove(to->data, to->data + 4, length);
    to->size = length;
    return LAP_OK;
}

lap_code lap_png_late_exif(const lap_source *source, size_t most, lap_chunk *exif, lap_error *err)
{
    uint8_t head[HEAD];
    uint64_t at = SIGNATURE;
    bool is_late = false;
    for (int i = 0; i < MAX_CHUNKS && lap_source_look(source, at, head, HEAD); i++) {
        const uint32_t length = get32(head);
        if (memcmp(head + 4, "IEND", 4) == 0)
            break;
        if (is_late && memcmp(head + 4, "eXIf", 4) == 0)
            return length <= most ? read_chunk(source, at, length, exif, err) : LAP_OK;
        is_late = is_late || memcmp(head + 4, "IDAT", 4) == 0;
        at += HEAD + (uint64_t)length + SUM;
    }
    return LAP_OK;
}

#else

lap_code lap_png_late_exif(const lap_source *source, size_t most, lap_chunk *exif, lap_error *err)
{
    (void)source, (void)most, (void)exif, (void)err;
    return LAP_OK;
}

#endif
