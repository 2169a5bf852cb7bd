/* JPEGs decoded by parts: the pixels, verdicts and messages of the serial decoder. TEST_SEED gives the seed
 * of the random cases back; PARTS_FULL=1 runs every size from 1x1 to 70x70 at every sampling; FEWER=1, for a
 * second compiler or a sanitizer, runs every third size, a fifth of the larger pictures and a quarter of the
 * damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/jpeg_make.h"
#include "tests/support/parts_check.h"

static lap_pool *pool;
static uint64_t seed;
static bool fewer;

static unsigned pick(unsigned below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

static const jpeg_kind kinds[] = {
    {.name = "gray", .components = 1, .space = JCS_GRAYSCALE, .sampling = "11"},
    {.name = "gray 2x2", .components = 1, .space = JCS_GRAYSCALE, .sampling = "22"},
    {.name = "4:4:4", .components = 3, .space = JCS_YCbCr, .sampling = "11 11 11"},
    {.name = "4:2:2", .components = 3, .space = JCS_YCbCr, .sampling = "21 11 11"},
    {.name = "4:2:0", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"},
    {.name = "4:4:0", .components = 3, .space = JCS_YCbCr, .sampling = "12 11 11"},
    {.name = "4:1:1", .components = 3, .space = JCS_YCbCr, .sampling = "41 11 11"},
    {.name = "4:1:0", .components = 3, .space = JCS_YCbCr, .sampling = "42 11 11"},
    {.name = "1x4", .components = 3, .space = JCS_YCbCr, .sampling = "14 11 11"},
    {.name = "2x4 2x2 1x1", .components = 3, .space = JCS_YCbCr, .sampling = "22 21 12"},
    {.name = "chroma finer", .components = 3, .space = JCS_YCbCr, .sampling = "11 21 12"},
    {.name = "RGB", .components = 3, .space = JCS_RGB, .sampling = "11 11 11"},
    {.name = "RGB 4:2:0", .components = 3, .space = JCS_RGB, .sampling = "22 11 11"},
    {.name = "CMYK", .components = 4, .space = JCS_CMYK, .sampling = "11 11 11 11"},
    {.name = "YCCK", .components = 4, .space = JCS_YCCK, .sampling = "22 11 11 22"},
    {.name = "CMYK without Adobe",
        .components = 4,
        .space = JCS_CMYK,
        .sampling = "11 11 11 11",
        .no_adobe = true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };
static const int counts[] = {1, 2, 3, 7, 16};
static const size_t piece_sizes[] = {1, 2, 3, 5, 16, 57, 300, 4000, 0};

static lap_read_options options_of(bool gray, lap_fail_on fail_on)
{
    return (lap_read_options){.gray = gray,
        .max_scans = 100,
        .fail_on = fail_on,
        .decode = LAP_DECODE_SERIAL,
        .codec = LAP_CODEC_TURBO,
        .pool = pool,
        .threads = 3};
}

/* One file, serially by libjpeg-turbo, and by parts of our decoders. */
static bool compare(
    const jpeg_bytes *file, const char *what, lap_read_options options, int count, size_t piece)
{
    parts_outcome rows = parts_decode(file->data, file->size, &options, 0);
    static const lap_codec_place coders[] = {LAP_CODEC_AUTO, LAP_CODEC_C};
    static unsigned turn;
    options.decode = LAP_DECODE_PARALLEL;
    options.codec = coders[turn++ % 2];
    options.piece_bytes = piece;
    parts_outcome parts = parts_decode(file->data, file->size, &options, count);
    if (!parts_equal(&rows, &parts)) {
        print_error("%s, %d parts, pieces of %zu bytes, seed %llu: %d '%s' by rows, %d '%s' by parts\n", what,
            count, piece, (unsigned long long)seed, rows.code, rows.err.message, parts.code,
            parts.err.message);
        FILE *dump = fopen("build/parts-failed.jpg", "wb");
        if (dump) {
            (void)!fwrite(file->data, 1, file->size, dump);
            fclose(dump);
        }
        fail();
    }
    bool had_parts = parts.had_parts;
    lap_image_destroy(&rows.image);
    lap_image_destroy(&parts.image);
    return had_parts;
}

/* Those that our decoders take; the others are libjpeg-turbo's, which cannot begin inside of a scan. */
static bool is_ours(const jpeg_kind *kind)
{
    static const char *const samplings[] = {
        "11 11 11", "21 11 11", "22 11 11", "12 11 11", "41 11 11", "11 11 11 11", "22 11 11 22"};
    if (kind->space == JCS_GRAYSCALE)
        return true;
    for (size_t i = 0; i < sizeof samplings / sizeof *samplings; i++)
        if (strcmp(kind->sampling, samplings[i]) == 0)
            return true;
    return false;
}

static void check_size(const jpeg_kind *base, int width, int height, int restart, int turn)
{
    jpeg_kind kind = *base;
    char what[80];
    kind.restart = restart;
    jpeg_bytes file = jpeg_make(&kind, width, height);
    snprintf(what, sizeof what, "%s %dx%d restart %d", kind.name, width, height, restart);
    bool had = compare(
        &file, what, options_of(turn % 4 == 3, LAP_FAIL_WARNING), counts[turn % 5], piece_sizes[turn % 9]);
    if (had != is_ours(base))
        fail_msg("%s had %s parts", what, had ? "its" : "no");
    free(file.data);
}

/* Every width and every height once at every sampling, with another restart interval, number of parts and
 * size of pieces each time. */
static void sizes_and_samplings(void **state)
{
    static const int intervals[] = {0, 1, 0, 2, 3, 0, 7, 65535};
    (void)state;
    int turn = 0;
    if (getenv("PARTS_FULL"))
        for (int k = 0; k < KINDS; k++)
            for (int w = 1; w <= 70; w++)
                for (int h = 1; h <= 70; h++, turn++)
                    check_size(&kinds[k], w, h, intervals[turn % 8], turn);
    for (int k = 0; k < KINDS; k++)
        for (int w = 1; w <= 70; w += fewer ? 3 : 1, turn++)
            check_size(&kinds[k], w, 1 + (w * 37 + k * 11) % 70, intervals[turn % 8], turn);
}

/* Large enough that walks come into step by themselves. */
static void larger_pictures(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++)
        for (int i = fewer ? k % 5 : 0; i < (fewer ? k % 5 + 1 : 5); i++)
            check_size(&kinds[k], 200 + 31 * i, 300 + 17 * k, i == 2 ? 13 : i == 4 ? 40 : 0, 5 * k + i);
}

/* Changed bits and missing ends: whatever the serial decoder makes of them. */
static void damaged_files(void **state)
{
    (void)state;
    const int count = fewer ? 1500 : 6000;
    int had = 0;
    for (int i = 0; i < count; i++) {
        jpeg_kind kind = kinds[pick(KINDS)];
        kind.restart = pick(3) ? 0 : 1 + (int)pick(9);
        jpeg_bytes file = jpeg_make(&kind, 16 + (int)pick(60), 16 + (int)pick(60));
        unsigned how = pick(4), flips = how == 0 ? 0 : 1 + pick(3);
        if (how == 0 || how == 3)
            file.size = 2 + pick((unsigned)file.size - 2);
        while (flips-- > 0) { /* mostly in the coded data, at the end of the file */
            unsigned at = pick(8) ? (unsigned)file.size - 1 - pick((unsigned)file.size / 2 + 1)
                                  : pick((unsigned)file.size);
            file.data[at < file.size ? at : 0] ^= (uint8_t)(1u << pick(8));
        }
        lap_read_options options = options_of(pick(4) == 0, (lap_fail_on)pick(3));
        options.max_pixels = 1000000;
        had += compare(&file, kind.name, options, counts[pick(5)], piece_sizes[pick(9)]);
        free(file.data);
    }
    assert_in_range(
        had, count / 60, count - count / 60); /* flips that stay in step have parts, others have none */
}

static void other_kinds(void **state)
{
    static const jpeg_kind others[] = {
        {.name = "progressive",
            .components = 3,
            .space = JCS_YCbCr,
            .sampling = "22 11 11",
            .progressive = true},
        {.name = "arithmetic",
            .components = 3,
            .space = JCS_YCbCr,
            .sampling = "22 11 11",
            .arithmetic = true},
        {.name = "scans", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .separate = true},
    };
    (void)state;
    for (int i = 0; i < 3; i++) {
        jpeg_bytes file = jpeg_make(&others[i], 90, 50);
        const bool had = compare(&file, others[i].name, options_of(false, LAP_FAIL_WARNING), 3, 0);
        assert_int_equal(had, others[i].progressive); /* by its coefficients */
        free(file.data);
    }
}

/* Whole pictures by lap_collect_image: more threads than the pool has leave shares that nobody begins. */
static void shares_of_threads_that_never_come(void **state)
{
    static const int heights[] = {33, 64, 65, 127, 128, 130, 395, 1024}, threads[] = {1, 2, 3, 7, 16};
    static const char *const samplings[] = {"22 11 11", "12 11 11", "11 11 11"};
    (void)state;
    for (int i = 0; i < 8; i++) {
        const jpeg_kind kind = {
            .name = samplings[i % 3], .components = 3, .space = JCS_YCbCr, .sampling = samplings[i % 3]};
        jpeg_bytes file = jpeg_make(&kind, 60, heights[i]);
        for (int k = 0; k < 5; k++) {
            char what[80];
            snprintf(what, sizeof what, "%s, %d rows, %d threads", kind.name, heights[i], threads[k]);
            lap_read_options options = options_of(false, LAP_FAIL_WARNING);
            options.threads = threads[k];
            assert_true(compare(&file, what, options, 0, 0));
        }
        free(file.data);
    }
}

static int setup(void **state)
{
    const char *given = getenv("TEST_SEED"), *share = getenv("FEWER");
    (void)state;
    fewer = share && *share;
    seed = given ? strtoull(given, NULL, 10) : 20261122;
    printf("# TEST_SEED=%llu\n", (unsigned long long)seed);
    pool = lap_pool_create(3, NULL);
    return pool ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    lap_pool_destroy(pool);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_samplings),
        cmocka_unit_test(larger_pictures),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(other_kinds),
        cmocka_unit_test(shares_of_threads_that_never_come),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
