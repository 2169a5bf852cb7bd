/* What all decoders share: limits with their whole messages, and which rows may be asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "codec/codec.h"

static void limits_say_what_exceeds_them(void **state)
{
    (void)state;
    static const struct {
        int width, height;
        uint64_t limit;
        const char *said;
    } cases[] = {
        {1000, 1000, 0, ""},
        {1000, 100, 100000, ""},
        {1000, 100, 99999, "1000x100 is 100000 pixels, more than the limit of 99999"},
        {100001, 1, 100000, "100001x1 is 0.100001 million pixels, more than the limit of 0.1 million"},
        {1, 1, 1, ""},
        {2, 1, 1, "2x1 is 2 pixels, more than the limit of 1"},
        {2000, 1000, 1000000, "2000x1000 is 2 million pixels, more than the limit of 1 million"},
        {5000, 4000, 10000000, "5000x4000 is 20 million pixels, more than the limit of 10 million"},
        {70000, 70000, 4899999999,
            "70000x70000 is 4900 million pixels, more than the limit of 4899.999999 million"},
        {LAP_MAX_SIDE, 1, 0, ""},
        {1, LAP_MAX_SIDE, 0, ""},
        {LAP_MAX_SIDE + 1, 1, 0, "268435457x1 pixels, and a side may have at most 268435456"},
        {1, LAP_MAX_SIDE + 1, 0, "1x268435457 pixels, and a side may have at most 268435456"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool is_side = cases[i].limit == 0;
        const lap_decoder d = {.header = {.width = cases[i].width, .height = cases[i].height},
            .options = {.max_pixels = cases[i].limit}};
        lap_error err = {.code = LAP_OK};
        assert_int_equal(lap_decoder_limits(&d, &err), *cases[i].said ? LAP_E_LIMIT : LAP_OK);
        assert_string_equal(err.message, cases[i].said);
        assert_int_equal(err.remedy == LAP_REMEDY_MAX_PIXELS, *cases[i].said && !is_side);
    }
    for (int over = 0; over < 2; over++)
        for (int plans = 0; plans < 2; plans++)
            for (int none = 0; none < 2; none++) {
                const lap_decoder d = {
                    .header = {.width = 1, .height = 1, .memory_estimate = 5000000 + (size_t)over * 1000000},
                    .options = {.max_memory = none ? 0 : 5000000, .plans = plans}};
                lap_error err = {.code = LAP_OK};
                const bool is_over = over && !plans && !none;
                assert_int_equal(lap_decoder_limits(&d, &err), is_over ? LAP_E_LIMIT : LAP_OK);
                assert_string_equal(err.message,
                    is_over ? "decoding takes up to 6.0 MB of memory, more than the limit of 5.0 MB" : "");
                assert_int_equal(err.remedy == LAP_REMEDY_MAX_MEMORY, is_over);
            }
}

/* ---- a format of the test's ---------------------------------------------------------------------- */

static lap_code answer;
static int opened, closed, delivered, spared;

static lap_code open_it(lap_decoder *d, lap_error *err)
{
    opened++;
    if (!d->whole) {
        d->header.width = 3;
        d->header.height = 10;
        d->header.channels = 1;
    }
    return answer == LAP_OK ? LAP_OK : lap_fail(err, answer, "a reason");
}

static lap_code give_rows(lap_decoder *d, const lap_view *rows, lap_error *err)
{
    (void)d;
    if (answer != LAP_OK)
        return lap_fail(err, answer, "a reason");
    delivered += rows->height;
    return LAP_OK;
}

static lap_code finish_it(lap_decoder *d, lap_error *err)
{
    d->damage.warnings = 7;
    return answer == LAP_OK ? LAP_OK : lap_fail(err, answer, "a reason");
}

static void close_it(lap_decoder *d)
{
    (void)d;
    closed++;
}

static void spare_it(lap_decoder *d, const char *why)
{
    spared++;
    assert_string_equal(why, "why");
    d->first = NULL;
}

static const lap_decoder_ops at_ops = {.open = open_it, .rows = give_rows, .close = close_it},
                             ops = {.name = "test",
                                 .open = open_it,
                                 .rows = give_rows,
                                 .finish = finish_it,
                                 .close = close_it,
                                 .spare = spare_it,
                                 .at = &at_ops};

static lap_decoder *start(lap_source **source)
{
    lap_decoder *d;
    const lap_read_options options = {.max_scans = 12};
    answer = LAP_OK;
    opened = closed = delivered = spared = 0;
    assert_int_equal(lap_source_memory("", 0, "x.test", source, NULL), LAP_OK);
    assert_int_equal(lap_decoder_start(&ops, *source, &options, &d, NULL), LAP_OK);
    assert_int_equal(d->options.max_scans, 12);
    assert_string_equal(lap_decoder_header(d)->format, "test");
    assert_int_equal(lap_decoder_header(d)->orientation, 1);
    return d;
}

static lap_code ask(lap_decoder *d, int width, int height, int channels, int place, lap_error *err)
{
    static uint8_t pixels[64];
    const lap_view view = {
        .base = pixels, .stride = 3, .width = width, .height = height, .channels = channels, .place = place};
    *err = (lap_error){.code = LAP_OK};
    return lap_decoder_rows(d, &view, err);
}

static void is_refused(lap_code code, const lap_error *err, lap_code expected, const char *message)
{
    assert_int_equal(code, expected);
    assert_string_equal(err->message, message);
    assert_string_equal(err->subject, "x.test");
}

static const char no_rows[] = "rows requested that the image does not have";

static void only_rows_of_the_image_are_delivered(void **state)
{
    (void)state;
    lap_source *source;
    lap_error err;
    lap_decoder *d = start(&source);
    is_refused(ask(d, 4, 1, 1, LAP_ON_HOST, &err), &err, LAP_E_INTERNAL, no_rows);
    is_refused(ask(d, 3, 1, 3, LAP_ON_HOST, &err), &err, LAP_E_INTERNAL, no_rows);
    is_refused(ask(d, 3, 1, 1, LAP_ON_HOST + 1, &err), &err, LAP_E_INTERNAL, no_rows);
    is_refused(ask(d, 3, -1, 1, LAP_ON_HOST, &err), &err, LAP_E_INTERNAL, no_rows);
    is_refused(ask(d, 3, 11, 1, LAP_ON_HOST, &err), &err, LAP_E_INTERNAL, no_rows);
    assert_int_equal(ask(d, 3, 0, 1, LAP_ON_HOST, &err), LAP_OK);
    assert_int_equal(ask(d, 3, 4, 1, LAP_ON_HOST, &err), LAP_OK);
    is_refused(ask(d, 3, 7, 1, LAP_ON_HOST, &err), &err, LAP_E_INTERNAL, no_rows);
    answer = LAP_E_DAMAGED;
    is_refused(ask(d, 3, 1, 1, LAP_ON_HOST, &err), &err, LAP_E_DAMAGED, "a reason");
    answer = LAP_OK; /* rows that failed do not count */
    assert_int_equal(ask(d, 3, 6, 1, LAP_ON_HOST, &err), LAP_OK);
    is_refused(ask(d, 3, 1, 1, LAP_ON_HOST, &err), &err, LAP_E_INTERNAL, no_rows);
    assert_int_equal(delivered, 10);

    lap_damage damage = {.warnings = 0};
    assert_int_equal(lap_decoder_finish(d, NULL, NULL), LAP_OK);
    answer = LAP_E_TRUNCATED;
    err = (lap_error){.code = LAP_OK};
    is_refused(lap_decoder_finish(d, &damage, &err), &err, LAP_E_TRUNCATED, "a reason");
    assert_int_equal(damage.warnings, 7);

    assert_false(lap_decoder_spare(d, "why"));
    d->first = &damage;
    assert_true(lap_decoder_spare(d, "why"));
    assert_false(lap_decoder_spare(d, "why"));
    assert_int_equal(spared, 1);

    const lap_read_options options = {.max_scans = 1};
    lap_decoder *other = d;
    err = (lap_error){.code = LAP_OK};
    is_refused(lap_decoder_start(&ops, source, &options, &other, &err), &err, LAP_E_TRUNCATED, "a reason");
    assert_null(other);
    assert_int_equal(closed, 1);
    lap_decoder_close(d);
    lap_decoder_close(NULL);
    assert_int_equal(closed, 2);
    lap_source_close(source);
}

static void decoders_open_at_rows(void **state)
{
    (void)state;
    static const int wrong[][2] = {{-1, 5}, {5, 5}, {5, 4}, {0, 11}, {10, 11}};
    lap_source *source;
    lap_decoder *d = start(&source), *at = d;
    lap_error err = {.code = LAP_OK};
    assert_false(lap_decoder_opens_at(d));
    is_refused(lap_decoder_open_at(d, 0, 10, &at, &err), &err, LAP_E_INTERNAL, no_rows);
    assert_null(at);
    d->opens = LAP_AT_ANY_ROW;
    assert_true(lap_decoder_opens_at(d));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        err = (lap_error){.code = LAP_OK};
        is_refused(
            lap_decoder_open_at(d, wrong[i][0], wrong[i][1], &at, &err), &err, LAP_E_INTERNAL, no_rows);
    }
    assert_int_equal(opened, 1);
    assert_int_equal(lap_decoder_open_at(d, 4, 7, &at, &err), LAP_OK);
    assert_int_equal(opened, 2);
    assert_ptr_equal(at->whole, d);
    assert_int_equal(at->options.max_scans, 12);
    assert_int_equal(ask(at, 3, 4, 1, LAP_ON_HOST, &err), LAP_E_INTERNAL);
    assert_int_equal(ask(at, 3, 3, 1, LAP_ON_HOST, &err), LAP_OK);
    lap_decoder_close(at);
    answer = LAP_E_MEMORY;
    err = (lap_error){.code = LAP_OK};
    is_refused(lap_decoder_open_at(d, 0, 10, &at, &err), &err, LAP_E_MEMORY, "a reason");
    assert_null(at);
    assert_int_equal(closed, 2);

    /* In order: the whole decoder delivers, and drops what is above. */
    answer = LAP_OK;
    delivered = 0;
    d->opens = LAP_AT_ROWS_IN_ORDER;
    assert_int_equal(lap_decoder_open_at(d, 4, 10, &at, &err), LAP_OK);
    assert_int_equal(delivered, 4);
    assert_int_equal(ask(at, 3, 6, 1, LAP_ON_HOST, &err), LAP_OK);
    assert_int_equal(delivered, 10);
    assert_int_equal(d->next_row, 10);
    lap_decoder_close(at);
    assert_int_equal(closed, 2);
    lap_decoder_close(d);
    lap_source_close(source);
}

static int calls[2];

static lap_code work(void *user, bool in_order, lap_error *err)
{
    calls[in_order]++;
    return in_order ? LAP_OK : lap_fail(err, *(lap_code *)user, "rows differ");
}

static void rows_in_doubt_are_read_again_in_order(void **state)
{
    (void)state;
    static const lap_code codes[] = {LAP_E_INTERNAL, LAP_E_DAMAGED};
    for (int opens = 0; opens < 2; opens++)
        for (int doubt = 0; doubt < 2; doubt++)
            for (int i = 0; i < 2; i++) {
                lap_source *source;
                lap_decoder *d = start(&source);
                lap_error err = {.code = LAP_OK};
                lap_code code = codes[i];
                const bool is_again = opens && doubt && i == 0;
                d->opens = opens ? LAP_AT_ANY_ROW : LAP_AT_FIRST_ROW;
                d->in_doubt = doubt;
                calls[0] = calls[1] = 0;
                assert_int_equal(
                    lap_decoder_run(d, work, &code, &err), is_again || !opens ? LAP_OK : codes[i]);
                assert_int_equal(calls[0], opens);
                assert_int_equal(calls[1], is_again || !opens);
                assert_string_equal(err.message, is_again || !opens ? "" : "rows differ");
                assert_int_equal(d->in_doubt, doubt && !is_again);
                if (is_again) {
                    assert_int_equal(d->opens, LAP_AT_ROWS_IN_ORDER);
                    assert_string_equal(d->how, "its rows disagree with the scan");
                }
                lap_decoder_close(d);
                lap_source_close(source);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_say_what_exceeds_them),
        cmocka_unit_test(only_rows_of_the_image_are_delivered),
        cmocka_unit_test(decoders_open_at_rows),
        cmocka_unit_test(rows_in_doubt_are_read_again_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
