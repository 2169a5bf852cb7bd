/* The EXIF reader and patcher on any bytes: with and without the signature in front. */
#include <stdlib.h>
#include <string.h>

#include "codec/exif.h"
#include "fuzz.h"

static void look(const uint8_t *data, size_t size, size_t signature)
{
    uint8_t *payload = malloc(size + signature + 1);
    if (!payload)
        return;
    memcpy(payload, "Exif\0\0", signature);
    if (size)
        memcpy(payload + signature, data, size);
    int orientation = lap_exif_orientation(payload, size + signature);
    FUZZ_REQUIRE(orientation >= 1 && orientation <= 8);
    size_t left = lap_exif_patch(payload, size + signature, 640, 480, true, LAP_KEEP_GPS);
    FUZZ_REQUIRE(left <= size + signature);
    FUZZ_REQUIRE(
        lap_exif_patch(payload, left, 640, 480, true, LAP_KEEP_GPS) == left); /* nothing is left to drop */
    FUZZ_REQUIRE(!lap_exif_is(payload, left) || lap_exif_orientation(payload, left) == 1 || orientation == 1);
    free(payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *inside = size ? memmem(data, size, "Exif\0\0", 6) : NULL; /* of a whole JPEG */
    look(data, size, 0);
    look(data, size, 6);
    if (inside)
        look(inside, size - (size_t)(inside - data), 0);
    return 0;
}
