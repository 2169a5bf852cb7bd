/* What the float rungs do around their loops: how many rows a chunk has, that its memory is given back, and
 * where the time went. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/image.h"
#include "cpu_simd/filter/float4.h"

/* Bytes of a chunk of so many rows. */
static size_t bytes_of(int src_width, int rows)
{
    return (size_t)src_width * COMPONENTS * sizeof(float) * (2 * (size_t)rows + HALO);
}

/* As many rows as the threads want, the picture has and 12 MB hold, but at least one. */
static void chunks_are_as_large_as_they_may(void **state)
{
    enum { MOST = 12000000 };
    static const int widths[] = {5, 1000, 18745, 20000, 60000, 75000, 93749, 93750, 93751, 125000, 200000,
        800000},
                     heights[] = {1, 2, 15, 16, 17, 31, 32, 33, 5000};
    (void)state;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t h = 0; h < sizeof heights / sizeof *heights; h++)
            for (int threads = 0; threads <= 3; threads++) {
                const int wanted = threads > 1 ? 16 * threads : 16;
                const int most = wanted < heights[h] ? wanted : heights[h];
                const int rows = float4_rows(widths[w], heights[h], threads);
                assert_in_range(rows, 1, most);
                assert_true(rows == 1 || bytes_of(widths[w], rows) <= MOST);
                assert_true(rows == most || bytes_of(widths[w], rows + 1) > MOST);
            }
}

/* Pages of the process that are mapped. */
static long pages(void)
{
    long count = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &count), 1);
    fclose(file);
    return count;
}

static lap_filter_fn *const rungs[] = {
    lap_filter_c,
    lap_filter_openmp,
#if defined(__x86_64__)
    lap_filter_sse,
#endif
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

/* The shares of the time are added to what was there, and are no more than all of it. */
static void time_and_memory(void **state)
{
    (void)state;
    lap_image in, out;
    const lap_params params = lap_params_default();
    assert_int_equal(lap_image_create(&in, 60, 500, 3, LAP_APRON, NULL), LAP_OK);
    assert_int_equal(lap_image_create(&out, 60, 500, 3, 0, NULL), LAP_OK);
    for (int i = 0; i < RUNGS; i++) {
        lap_split split = {0};
        lap_exec exec = {.split = &split};
        long before = 0;
        for (int turn = 0; turn < 12; turn++) {
            const lap_split last = split;
            const double start = lap_now_ms();
            assert_int_equal(rungs[i](&in.view, &out.view, &params, &exec), LAP_OK);
            const double took = lap_now_ms() - start;
            assert_true(split.convert > last.convert && split.loop > last.loop);
            assert_true(split.convert - last.convert + split.loop - last.loop <= took + 1e-3);
            before = turn == 1 ? pages() : before; /* a library's own memory is there by then */
        }
        assert_true(pages() - before < (long)bytes_of(64, 16) / 4096);
    }
    lap_image_destroy(&in);
    lap_image_destroy(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_as_large_as_they_may), cmocka_unit_test(time_and_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
