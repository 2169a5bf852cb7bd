/* Any bytes, by libjpeg-turbo and by every decoder of ours that can run here: the same verdict, message,
 * damage and pixels. */
#include <string.h>

#include "tests/support/parts_check.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The options vary with the input, and not from run to run. */
    const unsigned choice = size ? data[size / 2] : 0;
    lap_read_options options = {.gray = choice & 1,
        .max_pixels = 1 << 18,
        .max_memory = 1 << 24,
        .max_scans = 20,
        .fail_on = (lap_fail_on)(choice / 2 % 3),
        .decode = LAP_DECODE_SERIAL,
        .codec = LAP_CODEC_TURBO};
    if (size < 2)
        return 0;
    parts_outcome expected = parts_decode(data, size, &options, 0);
    for (int codec = LAP_CODEC_C; codec <= LAP_CODEC_NEON; codec++) {
        options.codec = (lap_codec_place)codec;
        parts_outcome made = parts_decode(data, size, &options, 0);
        /* What is no JPEG has no rungs. */
        FUZZ_REQUIRE(made.code != LAP_E_BACKEND || codec != LAP_CODEC_C);
        FUZZ_REQUIRE(made.code == LAP_E_BACKEND || parts_equal(&expected, &made));
        lap_image_destroy(&made.image);
    }
    lap_image_destroy(&expected.image);
    return 0;
}
