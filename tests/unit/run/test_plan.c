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

/* Under a falling limit, parts become smaller and threads fewer: as few as are worth it, or one if asked for.
 */
static void parts_give_way_to_a_limit(void **state)
{
    (void)state;
    enum { HELD = 1000000, ROWS = 64 + 2 * LAP_APRON + BAND_ROWS };
    lap_plan one = plan_of(THREADS, 0), two = plan_of(THREADS, 0);
    encoder.parallel = false;
    const uint64_t most = need_of(&one);
    encoder.parallel = true;
    const uint64_t row = (most - need_of(&two)) / 2 / (BAND_ROWS + 2 * LAP_APRON);
    for (int asked = 0; asked <= 1; asked++) {
        int least = THREADS;
        for (uint64_t limit = UINT64_MAX;;) {
            lap_plan plan = plan_of(THREADS, HELD);
            plan.max_memory = limit;
            decoder.options.decode = asked ? LAP_DECODE_PARALLEL : LAP_DECODE_AUTO;
            if (lap_plan_memory(&plan, &decoder, &encoder, NULL) != LAP_OK || !plan.by_parts)
                break;
            assert_in_range(plan.threads, 1, least);
            assert_int_equal(plan.results, plan.threads);
            assert_true(plan.memory <= limit);
            assert_true(plan.memory == (uint64_t)plan.threads * (row * ROWS + decoder.at_memory) +
                                           (uint64_t)plan.cells * row * BAND_ROWS +
                                           decoder.header.memory_estimate);
            least = plan.threads;
            limit = plan.memory - 1;
        }
        assert_int_equal(least, asked ? 1 : 2);
    }
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

/* What the settings decide: rows in order, whole images, threads, and what the decoder is asked for. */
static void settings_decide(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        lap_turn turn;
        lap_border border;
        lap_restart restart;
        lap_codec_place codec;
        lap_decode decode;
        int threads;
        bool filter, upright, progressive, optimize;
        bool takes_rows; /* wanted */
        int planned, worth, images;
    } cases[] = {
        {NULL, 1, .filter = true, .planned = 6, .worth = 3},
        {"jpg", 1, .planned = 6, .worth = 2},
        {"none", 1, .filter = true, .planned = 6, .worth = 4},
        {"none", 1, .planned = 6, .worth = 4},
        {"png", 1, .filter = true, .takes_rows = true, .planned = 6, .worth = 3},
        {"png", 1, .decode = LAP_DECODE_PARALLEL, .takes_rows = true, .planned = 6, .worth = 2},
        {"png", 1, .decode = LAP_DECODE_SERIAL, .takes_rows = true, .planned = 6, .worth = 2},
        {"png", LAP_TURN_H, .takes_rows = true, .planned = 6, .worth = 2},
        {"png", LAP_TURN_V, .planned = 6, .worth = 2, .images = 1},
        {"png", 1, LAP_WRAP, .filter = true, .planned = 6, .worth = 3, .images = 1},
        {"png", 1, LAP_WRAP, .takes_rows = true, .planned = 6, .worth = 2},
        {"png", 1, LAP_REFLECT, .filter = true, .takes_rows = true, .planned = 6, .worth = 3},
        {"jpg", 1, .restart = LAP_RESTART_OFF, .planned = 6, .worth = 2},
        {"jpg", 1, .codec = LAP_CODEC_TURBO, .planned = 6, .worth = 2},
        {"jpg", 1, .restart = LAP_RESTART_OFF, .codec = LAP_CODEC_TURBO, .takes_rows = true, .planned = 6,
            .worth = 2},
        {"jpg", 1, .progressive = true, .takes_rows = true, .planned = 6, .worth = 2, .images = 2},
        {"jpg", 1, .optimize = true, .takes_rows = true, .planned = 6, .worth = 2, .images = 2},
        {"jpg", 1, .upright = true, .optimize = true, .takes_rows = true, .planned = 6, .worth = 2,
            .images = 3},
        {"jpg", LAP_TURN_90, .upright = true, .planned = 6, .worth = 2, .images = 1},
        {"jpg", 1, .threads = 1, .planned = 1, .worth = 2},
        {"jpg", 1, .threads = 5, .planned = 5, .worth = 2},
        {"jpg", 1, .threads = 6, .planned = 6, .worth = 2},
        {"jpg", 1, .threads = 7, .planned = 6, .worth = 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_settings s = lap_settings_default();
        lap_plan plan;
        lap_control control = {.limit_s = 1};
        s.backend = "c";
        s.format = cases[i].format;
        s.turn = cases[i].turn;
        s.border = cases[i].border;
        s.restart = cases[i].restart;
        s.codec = cases[i].codec;
        s.decode = cases[i].decode;
        s.threads = cases[i].threads;
        s.filter = cases[i].filter;
        s.auto_orient = cases[i].upright;
        s.progressive = cases[i].progressive;
        s.optimize = cases[i].optimize;
        s.max_memory = 7;
        assert_int_equal(lap_plan_settings(&plan, &s, NULL, 6, NULL), LAP_OK);
        assert_int_equal(plan.rung != NULL, s.filter);
        if (plan.takes_rows != cases[i].takes_rows || plan.threads != cases[i].planned)
            fail_msg("case %zu", i);
        assert_true(!plan.filters_whole && !plan.on_device && !plan.decodes_there && !plan.encodes_there);
        assert_true(plan.max_memory == 7 && plan.sync && !plan.preserves && plan.border == s.border);
        const lap_read_options o = lap_plan_read(&plan, &s, &control, NULL);
        if (o.worth_threads != cases[i].worth || o.images != cases[i].images)
            fail_msg("case %zu: %d threads, %d images", i, o.worth_threads, o.images);
        assert_int_equal(o.threads, plan.threads);
        assert_int_equal(o.decode, plan.takes_rows ? LAP_DECODE_SERIAL : s.decode);
        assert_int_equal(o.in_order, plan.takes_rows && s.decode != LAP_DECODE_SERIAL);
        assert_true(o.plans && !o.pool && o.control == &control && o.max_memory == 7);
    }
}

static void a_cuda_codec_needs_a_cuda_backend(void **state)
{
    (void)state;
    for (int filter = 0; filter <= 1; filter++) {
        lap_settings s = lap_settings_default();
        lap_error err = {0};
        lap_plan plan;
        s.filter = filter;
        s.backend = "c";
        s.codec = LAP_CODEC_CUDA;
        assert_int_equal(lap_plan_settings(&plan, &s, NULL, 1, &err), LAP_E_USAGE);
        assert_string_equal(
            err.message, filter ? "codec 'cuda' needs a CUDA backend, but c runs on the CPU"
                                : "codec 'cuda' needs a CUDA backend, but a transform runs on the CPU");
    }
}

/* What the header decides: the size after the turn, and what of it the encoder gets. */
static void the_header_decides(void **state)
{
    (void)state;
    for (int turn = 1; turn <= 8; turn++)
        for (int upright = 0; upright <= 1; upright++)
            for (int small = 0; small <= 1; small++) {
                lap_settings s = lap_settings_default();
                lap_plan plan;
                decoder = (lap_decoder){.header = {.width = 600 - small,
                                            .height = 500,
                                            .channels = 3,
                                            .orientation = upright ? turn : LAP_TURN_90,
                                            .sample_h = {2, 1, 1},
                                            .sample_v = {1, 3, 4},
                                            .density_x = 72,
                                            .density_y = 96},
                    .how = "why"};
                s.backend = "c";
                s.auto_orient = upright;
                s.turn = upright ? LAP_TURN_NONE : (lap_turn)turn;
                s.quality = 33;
                assert_int_equal(lap_plan_settings(&plan, &s, NULL, 5, NULL), LAP_OK);
                lap_plan_header(&plan, &s, &decoder);
                const bool swaps = turn > 4;
                assert_int_equal(plan.turn, turn);
                assert_int_equal(plan.width, swaps ? 500 : 600 - small);
                assert_int_equal(plan.height, swaps ? 600 - small : 500);
                assert_int_equal(plan.channels, 3);
                assert_int_equal(plan.threads, small ? 1 : 5); /* 300,000 pixels are worth threads */
                assert_int_equal(plan.holds_whole, turn > 2);
                assert_string_equal(plan.how, "why");
                assert_true(
                    plan.from.sample_h[1] == (swaps ? 3 : 1) && plan.from.sample_v[1] == (swaps ? 1 : 3));
                assert_true(
                    plan.from.sample_h[2] == (swaps ? 4 : 1) && plan.from.sample_v[2] == (swaps ? 1 : 4));
                assert_int_equal(plan.from.density_x, swaps ? 96 : 72);
                assert_int_equal(plan.from.density_y, swaps ? 72 : 96);
                assert_true(plan.write.width == plan.width && plan.write.height == plan.height);
                assert_true(plan.write.channels == 3 && plan.write.quality == 33);
                assert_ptr_equal(plan.write.from, &plan.from);
                assert_int_equal(plan.write.in_order, small);
                for (int decode = LAP_DECODE_AUTO; decode <= LAP_DECODE_PARALLEL; decode++) {
                    plan.takes_rows = true;
                    s.decode = (lap_decode)decode;
                    lap_plan_header(&plan, &s, &decoder);
                    assert_true(decode == LAP_DECODE_PARALLEL || !plan.how);
                    if (decode == LAP_DECODE_PARALLEL)
                        assert_string_equal(plan.how, "this output needs rows in order");
                }
            }
}

/* Shares become smaller towards the end, and none exceeds the largest part. */
static void parts_are_fair(void **state)
{
    (void)state;
    static const struct {
        int threads, most, left, part;
    } cases[] = {{1, 100, 10, 5}, {1, 100, 2, 1}, {1, 100, 1, 1}, {3, 100, 40, 7}, {3, 100, 36, 6},
        {3, 100, 37, 7}, {3, 6, 37, 6}, {3, 7, 37, 7}, {3, 8, 37, 7}, {4, 100, 8, 1}, {4, 100, 9, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lap_plan plan = {.threads = cases[i].threads, .part_bands = cases[i].most};
        assert_int_equal(lap_plan_part(&plan, cases[i].left), cases[i].part);
    }
    for (int threads = 2; threads <= THREADS; threads++) {
        lap_plan plan = plan_of(threads, 1000000);
        need_of(&plan);
        assert_true(plan.by_parts);
        const int part = (BANDS - 1) / (2 * threads) + 1, cells = (threads + 2) * part;
        assert_int_equal(plan.part_bands, part);
        assert_int_equal(plan.cells, cells < BANDS ? cells : BANDS);
        assert_int_equal(plan.results, threads);
        assert_int_equal(plan.strip_rows, 64);
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
        cmocka_unit_test(parts_give_way_to_a_limit),
        cmocka_unit_test(parts_give_way_to_the_team),
        cmocka_unit_test(sizes_that_cannot_be_addressed),
        cmocka_unit_test(settings_decide),
        cmocka_unit_test(a_cuda_codec_needs_a_cuda_backend),
        cmocka_unit_test(the_header_decides),
        cmocka_unit_test(parts_are_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
