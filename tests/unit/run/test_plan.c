/* The plan of a photo's memory: what a team wants, what is counted, and what gives way to a limit. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lapedge_program.h"
#include "run/plan.h"

enum { BANDS = 40, BAND_ROWS = 128, THREADS = 6 };

static const lap_rung rung = {.name = "any"};
static lap_decoder decoder;
static lap_encoder encoder;

/* A picture of 40 bands that a rung filters band by band; a decoder that opens at rows if `held` is not 0. */
static lap_plan plan_of(int threads, size_t held)
{
    decoder = (lap_decoder){.header = {.memory_estimate = 300000 + held},
        .options = {.worth_threads = 2},
        .opens = held > 0 ? LAP_AT_ANY_ROW : LAP_AT_FIRST_ROW,
        .held = held,
        .at_memory = 100000};
    encoder = (lap_encoder){.band_rows = BAND_ROWS, .parallel = true};
    return (lap_plan){
        .rung = &rung, .width = 1000, .height = BANDS * BAND_ROWS, .channels = 3, .threads = threads};
}

static uint64_t need_of(lap_plan *plan)
{
    const int threads = plan->threads;
    plan->max_memory = 0;
    assert_int_equal(lap_plan_memory(plan, &decoder, &encoder, NULL), LAP_OK);
    assert_in_range(plan->threads, 1, threads);
    return plan->memory;
}

static void a_team_keeps_busy(void **state)
{
    (void)state;
    for (int threads = 1; threads <= THREADS; threads++)
        for (int parallel = 0; parallel <= 1; parallel++) {
            lap_plan plan = plan_of(threads, 0);
            encoder.parallel = parallel;
            need_of(&plan);
            assert_int_equal(plan.threads, threads);
            assert_int_equal(plan.cells, threads + (threads == 1 ? 1 : 2));
            assert_int_equal(plan.ahead, threads == 1 ? 1 : plan.cells);
            assert_int_equal(plan.results, parallel ? threads : plan.cells);
            plan.height = BAND_ROWS;
            need_of(&plan);
            assert_int_equal(plan.cells, 1);
        }
}

/* Strips of whole steps that the cache holds, encoded as they come where nobody else encodes in between. */
static void strips_fit_the_encoder(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        const bool parallel = i % 2, takes_rows = i / 2 % 2;
        const int threads = i / 4 == 0 ? 1 : 4;
        lap_plan plan = plan_of(threads, 0);
        encoder.parallel = parallel;
        encoder.row_step = takes_rows ? 16 : 0;
        plan.width = i / 4 == 2 ? 60000 : 1000;
        need_of(&plan);
        assert_int_equal(plan.encodes_strips, takes_rows && (parallel || plan.threads == 1));
        if (plan.encodes_strips)
            assert_int_equal(plan.strip_rows, plan.width == 60000 ? 16 : 64);
        else
            assert_int_equal(plan.strip_rows, BAND_ROWS);
    }
}

/* What decoder and encoder take is part of it, with parts and without, to the byte. */
static void all_of_it_is_counted(void **state)
{
    (void)state;
    for (size_t held = 0; held <= 1000000; held += 1000000) {
        lap_plan plan = plan_of(THREADS, held);
        const uint64_t before = need_of(&plan);
        assert_int_equal(plan.by_parts, held > 0);
        decoder.header.memory_estimate += 12345;
        assert_true(need_of(&plan) == before + 12345);
        encoder.memory = 777;
        assert_true(need_of(&plan) == before + 12345 + 777);
        lap_plan alone = plan_of(THREADS, 0);
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
    lap_plan many = plan_of(THREADS, 0), few = plan_of(THREADS, 0);
    encoder.parallel = false; /* a result for each cell, two more than threads */
    const uint64_t most = need_of(&many);
    encoder.parallel = true;
    const uint64_t result = (most - need_of(&few)) / 2, row = result / (BAND_ROWS + 2 * LAP_APRON);
    assert_true(result == row * (BAND_ROWS + 2 * LAP_APRON));
    assert_in_range(row, 3 * 1000, 3 * 1000 + 1000);
    lap_plan parts = plan_of(THREADS, HELD);
    const uint64_t need = need_of(&parts), threads = (uint64_t)parts.threads, cells = (uint64_t)parts.cells;
    assert_true(parts.by_parts);
    assert_true(need == threads * (row * (STRIP + BAND_ROWS) + decoder.at_memory) + cells * row * BAND_ROWS +
                            decoder.header.memory_estimate);
}

static void threads_give_way_to_a_limit(void **state)
{
    (void)state;
    lap_error err;
    uint64_t least = UINT64_MAX;
    for (int threads = THREADS; threads > 0; threads--) {
        lap_plan plan = plan_of(THREADS, 0);
        plan.max_memory = least;
        assert_int_equal(lap_plan_memory(&plan, &decoder, &encoder, &err), LAP_OK);
        assert_int_equal(plan.threads, threads);
        assert_true(plan.memory <= least);
        plan.max_memory = plan.memory; /* the limit is allowed */
        assert_int_equal(lap_plan_memory(&plan, &decoder, &encoder, &err), LAP_OK);
        assert_int_equal(plan.threads, threads);
        least = plan.memory - 1;
    }
    lap_plan plan = plan_of(THREADS, 0);
    plan.max_memory = least;
    assert_int_equal(lap_plan_memory(&plan, &decoder, &encoder, &err), LAP_E_LIMIT);
    assert_int_equal(err.remedy, LAP_REMEDY_MAX_MEMORY);
    assert_true(plan.memory == least + 1);
}

/* Parts that take too much: the whole team works in order, and what they would hold is not counted. The
 * decoder stays as it is. */
static void parts_give_way_to_the_team(void **state)
{
    (void)state;
    for (int parallel = 0; parallel <= 1; parallel++) {
        lap_plan alone = plan_of(THREADS, 0);
        encoder.parallel = parallel;
        const uint64_t need = need_of(&alone);
        lap_plan plan = plan_of(THREADS, (size_t)200 << 20);
        encoder.parallel = parallel;
        assert_true(need_of(&plan) == need);
        assert_false(plan.by_parts);
        assert_int_equal(plan.threads, THREADS);
        assert_string_equal(
            plan.how, parallel ? "its parts take too much memory" : "the output is one piece");
        assert_true(lap_decoder_opens_at(&decoder));
        assert_int_equal(decoder.header.memory_estimate, 300000 + ((size_t)200 << 20));
    }
}

static void sizes_that_cannot_be_addressed(void **state)
{
    (void)state;
    lap_error err;
    for (int whole = 0; whole <= 1; whole++) {
        lap_plan plan = plan_of(1, 0);
        plan.width = INT_MAX - 1000;
        plan.height = whole ? INT_MAX - 1000 : BAND_ROWS;
        encoder.band_rows = whole ? BAND_ROWS : INT_MAX - 1000;
        plan.channels = 4;
        plan.holds_whole = plan.filters_whole = whole;
        assert_int_equal(lap_plan_memory(&plan, &decoder, &encoder, &err), LAP_E_LIMIT);
        assert_non_null(strstr(err.message, "too many to be addressed"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_team_keeps_busy),
        cmocka_unit_test(strips_fit_the_encoder),
        cmocka_unit_test(all_of_it_is_counted),
        cmocka_unit_test(rows_count_alike),
        cmocka_unit_test(threads_give_way_to_a_limit),
        cmocka_unit_test(parts_give_way_to_the_team),
        cmocka_unit_test(sizes_that_cannot_be_addressed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
