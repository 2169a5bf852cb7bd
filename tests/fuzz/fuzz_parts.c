/* Any bytes, by rows and by parts: the same verdict, message, damage and pixels, and parts never disagree. */
#include <string.h>

#include "tests/support/parts_check.h"
#include "fuzz.h"

/* The same for all inputs. */
static lap_pool *threads(void)
{
    enum { THREADS = 3 };
    static lap_pool *pool;
    if (!pool)
        pool = lap_pool_create(THREADS, NULL);
    FUZZ_REQUIRE(pool);
    return pool;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t pieces[] = {0, 1, 7, 64, 300};
    /* The options vary with the input, and not from run to run. */
    unsigned choice = size ? data[size / 2] : 0;
    lap_read_options options = {.gray = choice & 1,
        .max_pixels = 1 << 18,
        .max_memory = 1 << 24,
        .max_scans = 20,
        .fail_on = (lap_fail_on)(choice / 2 % 3),
        .decode = LAP_DECODE_SERIAL,
        .codec = LAP_CODEC_TURBO};
    if (size < 2)
        return 0;
    parts_outcome rows = parts_decode(data, size, &options, 0);
    options.decode = LAP_DECODE_PARALLEL;
    options.codec = choice / 8 % 2 ? LAP_CODEC_TURBO : LAP_CODEC_AUTO;
    options.piece_bytes = pieces[choice % 5];
    if (choice / 16 % 2) {
        options.pool = threads();
        options.threads = lap_pool_threads(options.pool);
    }
    parts_outcome parts = parts_decode(data, size, &options, (int)(choice % 4));
    FUZZ_REQUIRE(parts_equal(&rows, &parts));
    lap_image_destroy(&rows.image);
    lap_image_destroy(&parts.image);
    return 0;
}
