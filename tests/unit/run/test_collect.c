/* Whole images from decoders that the test simulates: which rows are decoded where, what is reported, and
 * what fits in memory. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/status.h"
#include "base/turn.h"
#include "lapedge_program.h"
#include "run/formats.h"
#include "run/pixels.h"
#include "run/settings.h"
#include "tests/support/temporary.h"

enum { WIDTH = 5, CHANNELS = 3, MOST = 64, NONE = -1 };

static struct {
    bool counts; /* each call of the clock advances it by one step */
    double now;
    int opened[MOST], opens, open_fails; /* first rows; open number open_fails fails, NONE: none */
    struct {
        int y, height;
    } strips[MOST];
    int strip_count, closes, finishes, spares;
    int fail_row; /* NONE: none */
    lap_code finish;
    size_t spared; /* the decoder's memory after it was reduced */
    atomic_int *cancel;
    int cancel_row;
    bool no_shares, is_silent; /* is_silent: the failure has no message */
    lap_decoder *second;       /* for the second thread of a team, this decoder has no columns */
    const char *changes;       /* a file that is written to at the next call of the clock */
    bool in_order;             /* what the encoder was told */
} made;

double __real_lap_now_ms(void);
double __wrap_lap_now_ms(void);
double __wrap_lap_now_ms(void)
{
    if (made.changes) { /* another process writes to the file */
        FILE *file = fopen(made.changes, "ab");
        made.changes = NULL;
        assert_non_null(file);
        assert_int_equal(fputc('x', file), 'x');
        assert_int_equal(fclose(file), 0);
    }
    return made.counts ? ++made.now : __real_lap_now_ms();
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return made.no_shares ? NULL : __real_calloc(count, size);
}

/* Runs two threads, one after the other. */
void __real_lap_pool_team(lap_pool *pool, int members, lap_job_fn *fn, void *argument);
void __wrap_lap_pool_team(lap_pool *pool, int members, lap_job_fn *fn, void *argument);
void __wrap_lap_pool_team(lap_pool *pool, int members, lap_job_fn *fn, void *argument)
{
    if (!made.second) {
        __real_lap_pool_team(pool, members, fn, argument);
        return;
    }
    assert_int_equal(members, 2);
    fn(argument);
    made.second->header.width = 0;
    fn(argument);
}

lap_code __real_lap_encoder_open(lap_sink *sink, lap_format format, const lap_write_options *options,
    lap_encoder **encoder, lap_error *err);
lap_code __wrap_lap_encoder_open(lap_sink *sink, lap_format format, const lap_write_options *options,
    lap_encoder **encoder, lap_error *err);
lap_code __wrap_lap_encoder_open(lap_sink *sink, lap_format format, const lap_write_options *options,
    lap_encoder **encoder, lap_error *err)
{
    made.in_order = options->in_order;
    return __real_lap_encoder_open(sink, format, options, encoder, err);
}

/* ---- the decoder ---- */

static uint8_t sample(int x, int y, int c)
{
    return (uint8_t)(x * 7 + y * 13 + (y >> 5) + c * 101);
}

static lap_code open_rows(lap_decoder *decoder, lap_error *err)
{
    assert_in_range(made.opens, 0, MOST - 1);
    made.opened[made.opens] = decoder->next_row;
    return made.opens++ == made.open_fails
               ? lap_fail(err, LAP_E_DAMAGED, "no way to row %d", decoder->next_row)
               : LAP_OK;
}

static lap_code read_rows(lap_decoder *decoder, const lap_view *rows, lap_error *err)
{
    assert_in_range(made.strip_count, 0, MOST - 1);
    const int first = decoder->next_row;
    made.strips[made.strip_count].y = first;
    made.strips[made.strip_count++].height = rows->height;
    for (int y = 0; y < rows->height; y++)
        for (int i = 0; i < rows->width * rows->channels; i++)
            rows->base[y * rows->stride + i] = sample(i / CHANNELS, first + y, i % CHANNELS);
    if (made.cancel && made.cancel_row >= first && made.cancel_row < first + rows->height)
        *made.cancel = 1;
    if (made.fail_row < first || made.fail_row >= first + rows->height)
        return LAP_OK;
    return made.is_silent ? LAP_E_DAMAGED : lap_fail(err, LAP_E_TRUNCATED, "row %d", made.fail_row);
}

static lap_code finish_rows(lap_decoder *decoder, lap_error *err)
{
    (void)decoder;
    made.finishes++;
    return made.finish == LAP_OK ? LAP_OK : lap_fail(err, made.finish, "the end");
}

static void close_rows(lap_decoder *decoder)
{
    (void)decoder;
    made.closes++;
}

static void spare_memory(lap_decoder *decoder, const char *why)
{
    assert_string_equal(why, "memory is short");
    made.spares++;
    decoder->header.memory_estimate = made.spared;
    decoder->first = NULL;
}

static const lap_decoder_ops at_ops = {.open = open_rows, .rows = read_rows, .close = close_rows};
static const lap_decoder_ops ops = {
    .rows = read_rows, .finish = finish_rows, .close = close_rows, .spare = spare_memory, .at = &at_ops};

static lap_source *source;

static void make_decoder(lap_decoder *d, int height, int threads)
{
    memset(d, 0, sizeof *d);
    memset(&made, 0, sizeof made);
    made.fail_row = made.open_fails = NONE;
    d->ops = &ops;
    d->source = source;
    d->header = (lap_header){.width = WIDTH, .height = height, .channels = CHANNELS, .orientation = 1};
    d->end_row = height;
    d->options.threads = threads;
    d->opens = threads ? LAP_AT_ANY_ROW : LAP_AT_FIRST_ROW;
}

static lap_image image_for(int height, lap_turn turn)
{
    lap_image image;
    const bool swap = lap_turn_transposes(turn);
    assert_int_equal(
        lap_image_create(&image, swap ? height : WIDTH, swap ? WIDTH : height, CHANNELS, 0, NULL), LAP_OK);
    memset(image.memory, 0xA5, image.bytes);
    return image;
}

/* ---- which rows ---- */

static void check_pixels(const lap_view *v, int height, lap_turn turn)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < WIDTH; x++) {
            const int right = WIDTH - 1 - x, below = height - 1 - y;
            const int to[9][2] = {{0}, {x, y}, {right, y}, {right, below}, {x, below}, {y, x}, {below, x},
                {below, right}, {y, right}};
            const uint8_t *pixel = v->base + to[turn][1] * v->stride + (ptrdiff_t)to[turn][0] * CHANNELS;
            for (int c = 0; c < CHANNELS; c++)
                assert_int_equal(pixel[c], sample(x, y, c));
        }
}

/* Each row is decoded once, in strips of at most 32 rows, with any number of threads and any turn. */
static void each_row_is_decoded_once(void **state)
{
    (void)state;
    static const int heights[] = {1, 31, 32, 33, 63, 64, 65, 128, 129, 200, 400};
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++)
        for (int threads = 0; threads < 5; threads++)
            for (int turn = LAP_TURN_NONE; turn <= LAP_TURN_270; turn++) {
                const int height = heights[i];
                int times[400] = {0}, strips = 0;
                lap_decoder d;
                lap_damage damage = {0};
                lap_times ms = {.decode = 100, .filter = 200, .read = 7};
                make_decoder(&d, height, threads);
                lap_image image = image_for(height, (lap_turn)turn);
                const lap_collect collect = {
                    .decoder = &d, .turn = (lap_turn)turn, .to = &image.view, .ms = turn % 2 ? &ms : NULL};
                d.damage.warnings = 3;
                made.counts = true;
                assert_int_equal(lap_collect_image(&collect, &damage, NULL), LAP_OK);
                made.counts = false;
                check_pixels(&image.view, height, (lap_turn)turn);
                for (int k = 0; k < made.strip_count; k++) {
                    assert_in_range(made.strips[k].height, 1, 32);
                    strips += made.strips[k].height < 32;
                    for (int y = 0; y < made.strips[k].height; y++)
                        times[made.strips[k].y + y]++;
                }
                for (int y = 0; y < height; y++)
                    assert_int_equal(times[y], 1);
                if (threads == 0)
                    assert_int_equal(strips, height % 32 != 0);
                assert_int_equal(made.closes, made.opens);
                assert_int_equal(made.finishes, 1);
                assert_int_equal(damage.warnings, 3);
                if (turn % 2) { /* finishing the decoder takes one more step */
                    assert_true(ms.decode == 100 + made.strip_count + 1);
                    assert_true(ms.filter == 200 + made.strip_count);
                    assert_true(ms.read == 7);
                }
                lap_image_destroy(&image);
            }
}

/* One thread decodes the shares of several: it takes the lower half of the largest share, cut at the
 * second row of an MCU, or all that is left of a small share. */
static void shares_are_cut_where_little_is_decoded_twice(void **state)
{
    (void)state;
    static const struct {
        int height, threads, opens, opened[8]; /* first rows */
    } cases[] = {
        {400, 1, 1, {0}},
        {64, 8, 1, {0}},
        {65, 8, 2, {0, 33}},
        {128, 8, 2, {0, 65}},
        {129, 8, 3, {0, 33, 81}},
        {130, 2, 3, {0, 97, 65}},
        {300, 2, 4, {0, 209, 177, 145}},
        {400, 3, 7, {0, 321, 193, 161, 289, 129, 257}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_decoder d;
        make_decoder(&d, cases[i].height, cases[i].threads);
        lap_image image = image_for(cases[i].height, LAP_TURN_NONE);
        const lap_collect collect = {.decoder = &d, .turn = LAP_TURN_NONE, .to = &image.view};
        assert_int_equal(lap_collect_image(&collect, NULL, NULL), LAP_OK);
        assert_int_equal(made.opens, cases[i].opens);
        for (int k = 0; k < made.opens; k++)
            assert_int_equal(made.opened[k], cases[i].opened[k]);
        lap_image_destroy(&image);
    }
}

/* A failure ends the work of all threads, and is reported unchanged. */
static void a_failure_ends_the_work(void **state)
{
    (void)state;
    for (int n = 0; n < 6; n++)
        for (int threads = 0; threads < 3; threads += 2)
            for (int turn = LAP_TURN_NONE; turn <= LAP_TURN_H; turn++) {
                lap_decoder d;
                lap_error err = {0};
                atomic_int cancel = 0;
                const lap_control control = {.cancel = &cancel};
                lap_times ms = {0};
                make_decoder(&d, 200, threads);
                lap_image image = image_for(200, (lap_turn)turn);
                const lap_collect collect = {
                    .decoder = &d, .turn = (lap_turn)turn, .to = &image.view, .ms = &ms};
                d.options.control = &control;
                lap_code wanted = LAP_OK;
                const char *message = "";
                int strips = 1;
                if (n < 2) { /* in the first strip or the second */
                    made.fail_row = n == 0 ? 5 : 40;
                    message = n == 0 ? "row 5" : "row 40";
                    wanted = LAP_E_TRUNCATED;
                    strips = n + 1;
                } else if (n == 2) {
                    cancel = 1;
                    message = "cancelled";
                    wanted = LAP_E_CANCELLED;
                    strips = 0;
                } else if (n == 3) {
                    made.cancel = &cancel;
                    made.cancel_row = 33;
                    message = "cancelled";
                    wanted = LAP_E_CANCELLED;
                    strips = 2;
                } else if (n == 4 && threads) {
                    made.open_fails = 1;
                    message = "no way to row 145";
                    wanted = LAP_E_DAMAGED;
                    strips = 4;
                } else if (n == 5 && threads) {
                    made.no_shares = true;
                    message = "out of memory for the threads that decode";
                    wanted = LAP_E_MEMORY;
                    strips = 0;
                } else {
                    made.finish = LAP_E_DAMAGED;
                    message = "the end";
                    wanted = LAP_E_DAMAGED;
                    strips = 7;
                }
                const lap_code code = lap_collect_image(&collect, NULL, &err);
                made.no_shares = false;
                assert_int_equal(code, wanted);
                assert_int_equal(err.code, wanted);
                assert_string_equal(err.message, message);
                assert_int_equal(made.strip_count, strips);
                assert_int_equal(made.closes, made.opens);
                assert_int_equal(made.finishes, strips == 7);
                made.cancel = NULL;
                make_decoder(&d, 200, threads);
                made.fail_row = 199;
                assert_int_equal(lap_collect_image(&collect, NULL, NULL), LAP_E_TRUNCATED);
                lap_image_destroy(&image);
            }
}

/* The first failure of all threads is reported, even if it has a code but no message. */
static void the_first_failure_counts(void **state)
{
    (void)state;
    for (int is_silent = 0; is_silent < 2; is_silent++) {
        lap_decoder d;
        lap_error err = {0};
        make_decoder(&d, 200, 2);
        lap_image image = image_for(200, LAP_TURN_90);
        const lap_collect collect = {.decoder = &d, .turn = LAP_TURN_90, .to = &image.view};
        made.second = &d; /* which fails, too */
        made.fail_row = 5;
        made.is_silent = is_silent;
        assert_int_equal(
            lap_collect_image(&collect, NULL, &err), is_silent ? LAP_E_DAMAGED : LAP_E_TRUNCATED);
        assert_int_equal(err.code, is_silent ? LAP_E_DAMAGED : LAP_E_TRUNCATED);
        assert_string_equal(err.message, is_silent ? "" : "row 5");
        assert_int_equal(made.strip_count, 1);
        lap_image_destroy(&image);
    }
}

/* A turn needs memory for a strip, which cannot be created without columns. */
static void a_strip_cannot_be_made(void **state)
{
    (void)state;
    for (int threads = 0; threads < 3; threads += 2) {
        lap_decoder d;
        lap_error err = {0};
        make_decoder(&d, 200, threads);
        lap_image image = image_for(200, LAP_TURN_90);
        const lap_collect collect = {.decoder = &d, .turn = LAP_TURN_90, .to = &image.view};
        d.header.width = 0;
        assert_int_equal(lap_collect_image(&collect, NULL, &err), LAP_E_INTERNAL);
        assert_string_equal(err.message, "an image cannot have 0x32 pixels, 3 channels, apron 0");
        assert_true(made.strip_count == 0 && made.opens == 0 && made.finishes == 0);
        lap_image_destroy(&image);
    }
}

/* ---- a whole file ---- */

/* The decoder and `images` images must fit; the decoder's memory is reduced if that helps. */
static void an_image_fits_the_limit(void **state)
{
    (void)state;
    enum { IMAGE = WIDTH * CHANNELS * 20, OWN = 1000 };
    static const struct {
        uint64_t limit;
        int images;
        size_t spared; /* 0: it cannot be reduced */
        bool fits;
        int spares;
        const char *message;
    } cases[] = {
        {0, 7, 0, true, 0, ""},
        {OWN + IMAGE, 1, 0, true, 0, ""},
        {OWN + IMAGE - 1, 1, 0, false, 0, "takes up to 2 kB of memory, more than the limit of 1 kB"},
        {OWN + 3 * IMAGE, 3, 0, true, 0, ""},
        {OWN + 3 * IMAGE - 1, 3, 0, false, 0, "takes up to 2 kB of memory, more than the limit of 1 kB"},
        {OWN, 0, 0, true, 0, ""},
        {OWN + IMAGE - 1, 1, OWN - 1, true, 1, ""},
        {OWN + IMAGE - 2, 1, OWN - 1, false, 1, "takes up to 2 kB of memory, more than the limit of 1 kB"},
        {OWN + IMAGE, 1, OWN - 1, true, 0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_decoder d;
        lap_error err = {0};
        lap_whole whole = {.decoder = &d, .options.max_memory = cases[i].limit};
        make_decoder(&d, 20, 0);
        d.header.memory_estimate = OWN;
        made.spared = cases[i].spared;
        d.first = cases[i].spared ? &d : NULL;
        assert_int_equal(lap_whole_fit(&whole, cases[i].images, &err), cases[i].fits ? LAP_OK : LAP_E_LIMIT);
        assert_int_equal(made.spares, cases[i].spares);
        if (cases[i].fits)
            continue;
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(err.remedy, LAP_REMEDY_MAX_MEMORY);
    }
    for (int n = 0; n < 3; n++) { /* sizes that cannot be addressed */
        lap_decoder d;
        lap_error err = {0};
        lap_whole whole = {.decoder = &d};
        make_decoder(&d, INT_MAX, 0);
        d.header.width = INT_MAX;
        d.header.channels = n == 0 ? 8 : 1;
        d.header.memory_estimate = n == 2 ? SIZE_MAX - 7 : 0;
        assert_int_equal(lap_whole_fit(&whole, n == 1 ? 8 : 1, &err), LAP_E_LIMIT);
        assert_string_equal(err.message, "2147483647x2147483647 pixels are too many to be addressed");
        assert_int_equal(err.remedy, LAP_REMEDY_NONE);
    }
}

static void a_decoder_gets_the_settings(void **state)
{
    (void)state;
    static const int wanted[] = {3, 1, 2, 3, 3}; /* for 0 to 4 threads */
    static const char pgm[] = "P5 2 2 255\n1234";
    lap_context *context = lap_context_create(3, NULL);
    assert_non_null(context);
    for (int threads = 0; threads < 5; threads++) {
        lap_settings s = lap_settings_default();
        lap_whole whole = {.source = NULL};
        lap_error err = {0};
        made.counts = true;
        made.now = 4000;
        s.threads = threads;
        s.timeout_s = 5;
        s.fail_on = LAP_FAIL_WARNING;
        s.max_memory = threads == 4 ? 11 : 0;
        assert_int_equal(lap_source_memory(pgm, sizeof pgm - 1, "given", &whole.source, NULL), LAP_OK);
        const lap_code code = lap_whole_open(&whole, context, &s, 3, &err);
        made.counts = false;
        assert_int_equal(code, threads == 4 ? LAP_E_LIMIT : LAP_OK); /* three images need more */
        assert_int_equal(whole.options.threads, wanted[threads]);
        assert_int_equal(whole.options.images, 3);
        assert_true(whole.options.plans);
        assert_ptr_equal(whole.options.pool, context->pool);
        assert_ptr_equal(whole.options.control, &whole.control);
        assert_int_equal(whole.options.fail_on, LAP_FAIL_WARNING);
        assert_int_equal(whole.decoder->options.images, 3);
        assert_true(whole.control.deadline_ms == 9001);
        lap_whole_close(&whole);
        assert_null(whole.source);
        assert_null(whole.decoder);
    }
    lap_whole whole = {.source = NULL};
    const lap_settings s = lap_settings_default();
    assert_int_equal(lap_source_memory("no photo", 8, "given", &whole.source, NULL), LAP_OK);
    assert_int_equal(lap_whole_open(&whole, context, &s, 1, NULL), LAP_E_NOT_IMAGE);
    lap_whole_close(&whole);
    lap_context_destroy(context);
}

static void what_is_noted_of_a_decoder(void **state)
{
    (void)state;
    static const struct {
        const char *coder, *how, *note;
        int opens;
    } cases[] = {
        {NULL, "why", "as before", LAP_AT_ANY_ROW},
        {"c", "why", "decoded in parallel by c", LAP_AT_ANY_ROW},
        {"c", "why", "decoded serially by c: why", LAP_AT_ROWS_IN_ORDER},
        {"c", "why", "decoded serially by c: why", LAP_AT_FIRST_ROW},
        {"c", NULL, "decoded by c", LAP_AT_ROWS_IN_ORDER},
        {"c", NULL, "decoded by c", LAP_AT_FIRST_ROW},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char note[LAP_PIXELS_NOTE] = "as before";
        lap_decoder d;
        make_decoder(&d, 20, 0);
        d.coder = cases[i].coder;
        d.how = cases[i].how;
        d.opens = cases[i].opens == LAP_AT_ANY_ROW     ? LAP_AT_ANY_ROW
                  : cases[i].opens == LAP_AT_FIRST_ROW ? LAP_AT_FIRST_ROW
                                                       : LAP_AT_ROWS_IN_ORDER;
        lap_whole_note(&(lap_whole){.decoder = &d}, note, sizeof note);
        assert_string_equal(note, cases[i].note);
        lap_settings s = lap_settings_default();
        d.header.orientation = 6;
        assert_int_equal(lap_whole_turn(&(lap_whole){.decoder = &d}, &s), LAP_TURN_NONE);
        s.auto_orient = true;
        assert_int_equal(lap_whole_turn(&(lap_whole){.decoder = &d}, &s), 6);
    }
    char note[LAP_PIXELS_NOTE] = "as before";
    lap_whole_note(&(lap_whole){.decoder = NULL}, note, sizeof note);
    assert_string_equal(note, "as before");
}

static void a_call_is_concluded_with_its_view(void **state)
{
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        const lap_view view = {.width = 31, .height = 32, .channels = 3};
        lap_report report = {.width = 1, .height = 2, .channels = 4};
        lap_error why = {.code = LAP_E_DAMAGED, .message = "why"}, err = {0};
        const lap_code code = fails ? LAP_E_DAMAGED : LAP_OK;
        made.counts = true;
        made.now = 100;
        assert_int_equal(lap_view_conclude(code, &why, 40, &view, &report, &err), code);
        made.counts = false;
        assert_int_equal(report.width, fails ? 0 : 31);
        assert_int_equal(report.height, fails ? 0 : 32);
        assert_int_equal(report.channels, fails ? 0 : 3);
        assert_int_equal(report.status, fails ? LAP_FAILED : LAP_DONE);
        assert_string_equal(err.message, fails ? "why" : "");
    }
    lap_damage damage = {.warnings = 3, .first = "the first"};
    lap_report report = {.warnings = 7, .warning = "another"};
    lap_report_damage(&report, &damage);
    assert_int_equal(report.warnings, 3);
    assert_string_equal(report.warning, "the first");
}

static void no_pixels_are_given_after_a_failure(void **state)
{
    (void)state;
    lap_context *context = lap_context_create(1, NULL);
    const lap_settings s = lap_settings_default();
    lap_pixels *pixels = (lap_pixels *)&made;
    assert_int_equal(lap_pixels_decode(context, "P5 3 4 255\n", 11, &s, &pixels, NULL), LAP_E_TRUNCATED);
    assert_null(pixels);
    pixels = (lap_pixels *)&made;
    assert_int_equal(lap_pixels_read(context, "/dev/null/none", &s, &pixels, NULL), LAP_E_MISSING);
    assert_null(pixels);
    lap_pixels_free(pixels);
    assert_int_equal(lap_pixels_decode(context, "P5 3 1 255\nabc", 14, &s, &pixels, NULL), LAP_OK);
    const lap_view *v = lap_pixels_view(pixels);
    assert_true(v->width == 3 && v->height == 1 && v->channels == 1 && v->apron == 0);
    assert_int_equal(lap_pixels_with_apron(pixels)->apron, LAP_APRON);
    assert_ptr_equal(lap_pixels_with_apron(pixels)->base, v->base);
    assert_memory_equal(v->base, "abc", 3);
    lap_pixels_free(pixels);
    lap_context_destroy(context);
}

static void a_file_changes_while_it_is_read(void **state)
{
    (void)state;
    char path[TEMPORARY_PATH];
    lap_context *context = lap_context_create(1, NULL);
    const lap_settings s = lap_settings_default();
    const int fd = mkstemp(temporary(path, "collect"));
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "P5 3 1 255\nabc", 14), 14);
    assert_int_equal(close(fd), 0);
    for (int changes = 0; changes < 2; changes++) {
        lap_pixels *pixels = NULL;
        lap_error err = {0};
        memset(&made, 0, sizeof made);
        made.changes = changes ? path : NULL;
        assert_int_equal(lap_pixels_read(context, path, &s, &pixels, &err), changes ? LAP_E_CHANGED : LAP_OK);
        assert_string_equal(err.message, changes ? "changed while it was read" : "");
        assert_int_equal(pixels == NULL, changes);
        lap_pixels_free(pixels);
    }
    assert_int_equal(unlink(path), 0);
    lap_context_destroy(context);
}

/* ---- to an encoder ---- */

/* An image of any number of bands, of which the last may be shorter. */
static void an_image_is_encoded_in_bands(void **state)
{
    (void)state;
    enum { TALL = 300 };
    lap_settings s = lap_settings_default();
    s.format = "ppm";
    for (int height = 1; height <= TALL; height++) {
        uint8_t pixels[TALL * (WIDTH * CHANNELS + 2)] = {0};
        const lap_view view = {pixels, WIDTH * CHANNELS + 2, WIDTH, height, CHANNELS, 0, LAP_ON_HOST};
        char head[32];
        void *out;
        size_t size;
        for (size_t i = 0; i < sizeof pixels; i++)
            pixels[i] = (uint8_t)(i * 31 + i / 7);
        const size_t begin = (size_t)snprintf(head, sizeof head, "P6\n%d %d\n255\n", WIDTH, height);
        assert_int_equal(lap_encode(&view, &s, &out, &size, NULL), LAP_OK);
        assert_int_equal(size, begin + (size_t)height * WIDTH * CHANNELS);
        assert_memory_equal(out, head, begin);
        for (int y = 0; y < height; y++)
            assert_memory_equal(
                (uint8_t *)out + begin + y * WIDTH * CHANNELS, pixels + y * view.stride, WIDTH * CHANNELS);
        free(out);
    }
}

static void what_cannot_be_encoded(void **state)
{
    (void)state;
    static uint8_t pixels[8 * 8 * 4];
    static const struct {
        lap_view view;
        lap_codec_place codec;
        int quality;
        const char *format;
        lap_code code;
        const char *message;
    } cases[] = {
        {{pixels, 24, 8, 8, 3, 0, LAP_ON_HOST}, 0, 90, "ppm", LAP_OK, ""},
        {{pixels, 24, 1, 1, 3, 0, LAP_ON_HOST}, 0, 90, "ppm", LAP_OK, ""},
        {{pixels, 32, 8, 8, 4, 0, LAP_ON_HOST}, 0, 90, "ppm", LAP_OK, ""},
        {{pixels, 8, 8, 8, 1, 0, LAP_ON_HOST}, 0, 90, NULL, LAP_OK, ""},
        {{pixels, 24, 8, 8, 3, 0, LAP_ON_HOST}, LAP_CODEC_CUDA, 90, "ppm", LAP_E_USAGE,
            "codec 'cuda' cannot encode pixels in host memory"},
        {{pixels, 24, 8, 8, 3, 0, 0}, 0, 90, "ppm", LAP_E_USAGE,
            "the pixels lie on device 0; see lap_stream_encode; for host memory, set place to LAP_ON_HOST"},
        {{NULL, 24, 8, 8, 3, 0, LAP_ON_HOST}, 0, 90, "ppm", LAP_E_USAGE,
            "8 x 8 pixels with 3 channels cannot be encoded"},
        {{pixels, 24, 0, 8, 3, 0, LAP_ON_HOST}, 0, 90, "ppm", LAP_E_USAGE,
            "0 x 8 pixels with 3 channels cannot be encoded"},
        {{pixels, 24, 8, 0, 3, 0, LAP_ON_HOST}, 0, 90, "ppm", LAP_E_USAGE,
            "8 x 0 pixels with 3 channels cannot be encoded"},
        {{pixels, 24, 8, 8, 0, 0, LAP_ON_HOST}, 0, 90, "ppm", LAP_E_USAGE,
            "8 x 8 pixels with 0 channels cannot be encoded"},
        {{pixels, 24, 8, 8, 2, 0, LAP_ON_HOST}, 0, 90, "ppm", LAP_E_USAGE,
            "8 x 8 pixels with 2 channels cannot be encoded"},
        {{pixels, 40, 8, 4, 5, 0, LAP_ON_HOST}, 0, 90, "ppm", LAP_E_USAGE,
            "8 x 4 pixels with 5 channels cannot be encoded"},
        {{NULL, 24, 8, 8, 3, 0, LAP_ON_HOST}, 0, 101, "ppm", LAP_E_USAGE, "quality 101 is not in 1..100"},
    };
    lap_context *context = lap_context_create(1, NULL);
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        lap_settings s = lap_settings_default();
        lap_error err = {0};
        void *out = pixels;
        size_t size = 7;
        s.codec = cases[i / 2].codec;
        s.quality = cases[i / 2].quality;
        s.format = cases[i / 2].format;
        const lap_code code = i % 2 ? lap_encode_view(context, &cases[i / 2].view, &s, &out, &size, &err)
                                    : lap_encode(&cases[i / 2].view, &s, &out, &size, &err);
        assert_int_equal(code, cases[i / 2].code);
        assert_string_equal(err.message, cases[i / 2].message);
        assert_int_equal(out == NULL, code != LAP_OK);
        assert_int_equal(size == 0, code != LAP_OK);
        if (code == LAP_OK)
            assert_true(made.in_order);
        if (code == LAP_OK) /* a JPEG unless a format is named */
            assert_memory_equal(out, cases[i / 2].format ? "P6" : "\xff\xd8", 2);
        free(out);
    }
    for (int cancelled = 0; cancelled < 2; cancelled++) { /* 0: it takes too long */
        lap_settings s = lap_settings_default();
        lap_error err = {0};
        void *out = pixels;
        size_t size = 7;
        s.timeout_s = cancelled ? 0 : 0.001;
        s.format = "ppm";
        made.counts = true;
        made.now = 0;
        if (cancelled)
            lap_context_cancel(context);
        const lap_code code = lap_encode_view(context, &cases[0].view, &s, &out, &size, &err);
        made.counts = false;
        assert_null(out);
        assert_int_equal(size, 0);
        assert_int_equal(code, cancelled ? LAP_E_CANCELLED : LAP_E_TIMEOUT);
    }
    lap_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_is_decoded_once),
        cmocka_unit_test(shares_are_cut_where_little_is_decoded_twice),
        cmocka_unit_test(a_failure_ends_the_work),
        cmocka_unit_test(the_first_failure_counts),
        cmocka_unit_test(a_strip_cannot_be_made),
        cmocka_unit_test(a_file_changes_while_it_is_read),
        cmocka_unit_test(an_image_fits_the_limit),
        cmocka_unit_test(a_decoder_gets_the_settings),
        cmocka_unit_test(what_is_noted_of_a_decoder),
        cmocka_unit_test(a_call_is_concluded_with_its_view),
        cmocka_unit_test(no_pixels_are_given_after_a_failure),
        cmocka_unit_test(an_image_is_encoded_in_bands),
        cmocka_unit_test(what_cannot_be_encoded),
    };
    if (lap_source_memory("", 0, "given", &source, NULL) != LAP_OK)
        return 99;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    lap_source_close(source);
    return failed;
}
