/* The EXIF reader and the writers on any bytes: with and without the signature in front. */
#include <stdlib.h>
#include <string.h>

#include "codec/exif.h"
#include "fuzz.h"

/* What is written can be read, and has nothing more that would have to go. */
static void write_with(const uint8_t *payload, size_t size, unsigned keep)
{
    lap_exif_change change = {640, 480, true, keep, NULL};
    const size_t room = LAP_EXIF_ROOM > size ? LAP_EXIF_ROOM : size;
    uint8_t *once = malloc(room), *twice = malloc(room);
    size_t left = 0, again = 0;
    lap_meta_drops drops = {.warnings = 0};
    if (once && twice && lap_exif_choose(payload, size, &change, once, &left, NULL) == LAP_OK) {
        FUZZ_REQUIRE(left <= room);
        change.drops = &drops;
        if (left > 0) {
            FUZZ_REQUIRE(lap_exif_choose(once, left, &change, twice, &again, NULL) == LAP_OK);
            FUZZ_REQUIRE(drops.warnings == 0);
        }
        if (left > 0 && (keep & LAP_KEEP_LISTED)) {
            FUZZ_REQUIRE(drops.count[0] == 0);
            FUZZ_REQUIRE(again == left && memcmp(once, twice, left) == 0);
            FUZZ_REQUIRE(lap_exif_orientation(once, left) == 1);
        }
    }
    free(once);
    free(twice);
}

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
    write_with(payload, size + signature, LAP_KEEP_EXIF | LAP_KEEP_GPS);
    write_with(payload, size + signature, LAP_KEEP_LISTED | LAP_KEEP_EXIF);
    write_with(
        payload, size + signature, LAP_KEEP_LISTED | LAP_KEEP_EXIF | LAP_KEEP_GPS | LAP_KEEP_THUMBNAIL);
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
