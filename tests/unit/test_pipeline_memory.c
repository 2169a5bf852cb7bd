/* The plan of a run's memory: what a team wants, what is counted, and what gives way to a limit. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "run/pipeline_state.h"

enum { BANDS = 40, BAND_ROWS = 128, THREADS = 6 };

static const lap_rung rung = {.name = "any"};
static lap_settings settings;
static lap_decoder decoder;
static lap_encoder encoder;

/* A picture of 40 bands that a rung filters band by band; with parts if `held` is not 0. */
static lap_pipeline pipe_of(int threads, size_t held)
{
    settings = lap_settings_default();
    decoder = (lap_decoder){.header = {.memory_estimate = 300000 + held},
        .options = {.worth_threads = 2},
        .has_parts = held > 0,
        .held = held,
        .part_memory = 100000};
    encoder = (lap_encoder){.memory = 0};
    return (lap_pipeline){.settings = &settings,
        .decoder = &decoder,
        .encoder = &encoder,
        .rung = &rung,
        .width = 1000,
        .height = BANDS * BAND_ROWS,
        .channels = 3,
        .band_rows = BAND_ROWS,
        .bands = BANDS,
        .threads = threads,
        .parallel = true};
}

static uint64_t need_of(lap_pipeline *pipe)
{
    uint64_t need = 0;
    assert_int_equal(lap_pipeline_plan(pipe, UINT64_MAX, &need, NULL), LAP_OK);
    return need;
}

static void a_team_keeps_busy(void **state)
{
    (void)state;
    for (int threads = 1; threads <= THREADS; threads++)
        for (int parallel = 0; parallel <= 1; parallel++) {
            lap_pipeline pipe = pipe_of(threads, 0);
            pipe.parallel = parallel;
            need_of(&pipe);
            assert_int_equal(pipe.threads, threads);
            assert_int_equal(pipe.slot_count, threads + (threads == 1 ? 1 : 2));
            assert_int_equal(pipe.ahead, threads == 1 ? 1 : pipe.slot_count);
            assert_int_equal(pipe.result_count, parallel ? threads : pipe.slot_count);
            pipe.bands = 1;
            need_of(&pipe);
            assert_int_equal(pipe.slot_count, 1);
        }
}

/* What decoder and encoder take is part of it, with parts and without, to the byte. */
static void all_of_it_is_counted(void **state)
{
    (void)state;
    for (size_t held = 0; held <= 1000000; held += 1000000) {
        lap_pipeline pipe = pipe_of(THREADS, held);
        const uint64_t before = need_of(&pipe);
        assert_int_equal(pipe.by_parts, held > 0);
        decoder.header.memory_estimate += 12345;
        assert_true(need_of(&pipe) == before + 12345);
        encoder.memory = 777;
        assert_true(need_of(&pipe) == before + 12345 + 777);
        lap_pipeline alone = pipe_of(THREADS, 0);
        if (held)
            assert_true(before > held + need_of(&alone) / 4);
    }
}

/* Rows take the same whether their bands are decoded one after the other or by parts: there each thread has a
 * strip of 64 rows with those above and below, a band of results, and its part; and bands that wait. */
static void rows_count_alike(void **state)
{
    (void)state;
    enum { HELD = 1000000, STRIP = 64 + 2 * LAP_APRON };
    lap_pipeline many = pipe_of(THREADS, 0), few = pipe_of(THREADS, 0);
    many.parallel = false; /* a result for each slot, two more than threads */
    const uint64_t result = (need_of(&many) - need_of(&few)) / 2, row = result / (BAND_ROWS + 2 * LAP_APRON);
    assert_true(result == row * (BAND_ROWS + 2 * LAP_APRON));
    assert_in_range(row, 3 * 1000, 3 * 1000 + 1000);
    lap_pipeline parts = pipe_of(THREADS, HELD);
    const uint64_t need = need_of(&parts), threads = (uint64_t)parts.threads,
                   slots = (uint64_t)parts.slot_count;
    assert_true(parts.by_parts);
    assert_true(need == threads * (row * (STRIP + BAND_ROWS) + decoder.part_memory) +
                            slots * row * BAND_ROWS + decoder.header.memory_estimate);
}

static void threads_give_way_to_a_limit(void **state)
{
    (void)state;
    lap_error err;
    uint64_t need = 0, least = UINT64_MAX;
    for (int threads = THREADS; threads > 0; threads--) {
        lap_pipeline pipe = pipe_of(THREADS, 0);
        assert_int_equal(lap_pipeline_plan(&pipe, least, &need, &err), LAP_OK);
        assert_int_equal(pipe.threads, threads);
        assert_true(need <= least);
        assert_int_equal(lap_pipeline_plan(&pipe, need, &need, &err), LAP_OK); /* the limit is allowed */
        assert_int_equal(pipe.threads, threads);
        least = need - 1;
    }
    lap_pipeline pipe = pipe_of(THREADS, 0);
    assert_int_equal(lap_pipeline_plan(&pipe, least, &need, &err), LAP_E_LIMIT);
    assert_non_null(strstr(err.message, "--max-memory"));
    assert_true(need == least + 1);
}

/* Parts that take too much: the whole team decodes serially, and what they held is free again. */
static void parts_give_way_to_the_team(void **state)
{
    (void)state;
    for (int parallel = 0; parallel <= 1; parallel++) {
        lap_pipeline alone = pipe_of(THREADS, 0);
        alone.parallel = parallel;
        const uint64_t need = need_of(&alone);
        lap_pipeline pipe = pipe_of(THREADS, (size_t)200 << 20);
        pipe.parallel = parallel;
        assert_true(need_of(&pipe) == need);
        assert_false(pipe.by_parts);
        assert_int_equal(pipe.threads, THREADS);
        assert_false(lap_decoder_has_parts(&decoder));
        assert_int_equal(decoder.header.memory_estimate, 300000);
        assert_string_equal(
            decoder.how, parallel ? "its parts take too much memory" : "the output is one piece");
    }
}

static void sizes_that_cannot_be_addressed(void **state)
{
    (void)state;
    lap_error err;
    uint64_t need;
    for (int whole = 0; whole <= 1; whole++) {
        lap_pipeline pipe = pipe_of(1, 0);
        pipe.width = INT_MAX - 1000;
        pipe.height = whole ? INT_MAX - 1000 : BAND_ROWS;
        pipe.band_rows = whole ? BAND_ROWS : INT_MAX - 1000;
        pipe.channels = 4;
        pipe.holds_whole = pipe.filters_whole = whole;
        assert_int_equal(lap_pipeline_plan(&pipe, UINT64_MAX, &need, &err), LAP_E_LIMIT);
        assert_non_null(strstr(err.message, "too many to be addressed"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_team_keeps_busy),
        cmocka_unit_test(all_of_it_is_counted),
        cmocka_unit_test(rows_count_alike),
        cmocka_unit_test(threads_give_way_to_a_limit),
        cmocka_unit_test(parts_give_way_to_the_team),
        cmocka_unit_test(sizes_that_cannot_be_addressed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
