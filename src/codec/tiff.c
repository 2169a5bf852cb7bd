#include "codec/tiff.h"

#include <string.h>

#include "codec/exif.h"

bool lap_exif_is(const uint8_t *payload, size_t size)
{
    return size >= LAP_EXIF_SIGNATURE && memcmp(payload, "Exif\0\0", LAP_EXIF_SIGNATURE) == 0;
}

bool lap_tiff_open(lap_tiff *t, const uint8_t *payload, size_t size)
{
    if (!lap_exif_is(payload, size) || size < LAP_EXIF_SIGNATURE + LAP_EXIF_HEAD)
        return false;
    *t = (lap_tiff){payload + LAP_EXIF_SIGNATURE, size - LAP_EXIF_SIGNATURE, false};
    t->is_big_endian = t->bytes[0] == 'M';
    return (memcmp(t->bytes, "II", 2) == 0 || memcmp(t->bytes, "MM", 2) == 0) && lap_tiff_get(t, 2, 2) == 42;
}

bool lap_tiff_has(const lap_tiff *t, size_t offset, size_t length)
{
    return offset <= t->size && length <= t->size - offset;
}

uint32_t lap_tiff_get(const lap_tiff *t, size_t offset, int length)
{
    uint32_t value = 0;
    for (int i = 0; i < length; i++)
        value = value << 8 | t->bytes[offset + (size_t)(t->is_big_endian ? i : length - 1 - i)];
    return value;
}

void lap_tiff_put(uint8_t *to, bool is_big_endian, int length, uint32_t value)
{
    for (int i = 0; i < length; i++)
        to[is_big_endian ? length - 1 - i : i] = (uint8_t)(value >> 8 * i);
}
