#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/border.h"
#include "base/image.h"
#include "base/status.h"
#include "ops/ops.h"
#include "run/photo.h"
#include "rungs/backend.h"

/* Pictures travel as PPM and PGM: what comes out can be compared pixel by pixel. */

typedef struct bytes {
    uint8_t *data;
    size_t size, pixels; /* offset of the pixels */
} bytes;

static bytes picture(int width, int height, int channels, uint32_t seed)
{
    bytes b = {0};
    size_t count = (size_t)width * (size_t)height * (size_t)channels;
    b.data = malloc(count + 64);
    assert_non_null(b.data);
    b.pixels = (size_t)sprintf((char *)b.data, "P%d\n%d %d\n255\n", channels == 1 ? 5 : 6, width, height);
    b.size = b.pixels + count;
    for (size_t i = b.pixels; i < b.size; i++)
        b.data[i] = (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
    return b;
}

typedef struct outcome {
    lap_code code;
    lap_error err;
    lap_report report;
    bytes out;
} outcome;

static outcome run(const bytes *in, const lap_settings *settings, lap_context *context, lap_control *control,
    lap_photo_counts *counts)
{
    outcome o = {0};
    lap_source *source = NULL;
    lap_sink *sink = NULL;
    assert_int_equal(lap_source_memory(in->data, in->size, "picture", &source, NULL), LAP_OK);
    assert_int_equal(lap_sink_memory(&sink, NULL), LAP_OK);
    lap_photo photo = {.context = context,
        .settings = *settings,
        .control = control ? *control : (lap_control){0},
        .source = source,
        .sink = sink,
        .counts = counts};
    o.code = lap_photo_run(&photo, &o.report, &o.err);
    if (o.code == LAP_OK) {
        void *taken;
        assert_int_equal(lap_sink_finish(sink, false, NULL, NULL), LAP_OK);
        lap_sink_take(sink, &taken, &o.out.size);
        o.out.data = taken;
    }
    lap_sink_close(sink);
    lap_source_close(source);
    return o;
}

static lap_settings plain(const char *format)
{
    lap_settings s = lap_settings_default();
    s.backend = "c";
    s.format = format;
    return s;
}

/* The reference: the whole image turned, its border filled, the rung c over all of it. */
static void reference(
    const bytes *in, int width, int height, int channels, const lap_settings *s, uint8_t *to)
{
    const lap_rung *c;
    lap_image image, turned, result;
    bool swap = lap_turn_transposes(s->turn);
    int w = swap ? height : width, h = swap ? width : height;
    assert_int_equal(lap_rung_find(LAP_OP_FILTER, "c", &c, NULL), LAP_OK);
    assert_int_equal(lap_image_create(&image, width, height, channels, 0, NULL), LAP_OK);
    assert_int_equal(lap_image_create(&turned, w, h, channels, LAP_APRON, NULL), LAP_OK);
    assert_int_equal(lap_image_create(&result, w, h, channels, 0, NULL), LAP_OK);
    for (int y = 0; y < height; y++)
        memcpy(image.view.base + y * image.view.stride,
            in->data + in->pixels + (size_t)y * (size_t)(width * channels), (size_t)(width * channels));
    assert_int_equal(lap_orient(&image.view, &turned.view, s->turn, NULL, NULL), LAP_OK);
    lap_border_fill(&turned.view, s->border);
    lap_exec exec = {.threads = 1};
    const lap_view *shown = &turned.view;
    if (s->filter) {
        assert_int_equal(c->run.filter(&turned.view, &result.view, &s->params, &exec), LAP_OK);
        shown = &result.view;
    }
    for (int y = 0; y < h; y++)
        memcpy(
            to + (size_t)y * (size_t)(w * channels), shown->base + y * shown->stride, (size_t)(w * channels));
    lap_image_destroy(&image);
    lap_image_destroy(&turned);
    lap_image_destroy(&result);
}

#ifdef __SANITIZE_THREAD__ /* a race needs two threads, and shows with two or with many */
static const int threads_of[] = {2, 5};
#else
static const int threads_of[] = {1, 2, 3, 4, 5};
#endif
enum { POOLS = sizeof threads_of / sizeof *threads_of };
static lap_context *contexts[POOLS];

/* Every number of threads gives the pixels of the reference. */
static void check(int width, int height, int channels, const lap_settings *s)
{
    bytes in = picture(width, height, channels, (uint32_t)(width * 31 + height));
    size_t count = in.size - in.pixels;
    uint8_t *expected = malloc(count);
    assert_non_null(expected);
    reference(&in, width, height, channels, s, expected);
    for (int i = 0; i < POOLS; i++) {
        outcome o = run(&in, s, contexts[i], NULL, NULL);
        assert_int_equal(o.code, LAP_OK);
        assert_true(o.out.size > count);
        if (memcmp(o.out.data + o.out.size - count, expected, count) != 0)
            fail_msg("%dx%dx%d, border %d, turn %d, %d threads: wrong pixels", width, height, channels,
                (int)s->border, (int)s->turn, threads_of[i]);
        free(o.out.data);
    }
    free(expected);
    free(in.data);
}

static void small_images_and_every_border(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__ /* whether threads race does not depend on the size */
    const int heights[] = {1, 5, 129, 257}, widths[] = {2, 17};
#else
    const int heights[] = {1, 2, 3, 4, 5, 127, 128, 129, 130, 131, 255, 256, 257, 258, 259};
    const int widths[] = {1, 2, 3, 17};
#endif
    for (size_t h = 0; h < sizeof heights / sizeof *heights; h++) {
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            for (int border = LAP_ZERO; border <= LAP_WRAP + 1; border++) {
                lap_settings s = plain(w & 1 ? "ppm" : "pgm");
                s.border = border > LAP_WRAP ? (lap_border)(LAP_CONSTANT + 99) : (lap_border)border;
                check(widths[w], heights[h], w & 1 ? 3 : 1, &s);
            }
        }
    }
}

/* Wide enough for the team to be called. */
static void band_joints_with_threads(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    const int heights[] = {129, 256, 641};
#else
    const int heights[] = {128, 129, 130, 131, 255, 256, 257, 258, 641};
#endif
    for (size_t h = 0; h < sizeof heights / sizeof *heights; h++) {
        lap_settings s = plain("pgm");
        s.border = (lap_border)(h % 5);
        check(301000 / heights[h] + 1, heights[h], 1, &s);
    }
}

static void every_turn(void **state)
{
    (void)state;
    for (int turn = LAP_TURN_NONE; turn <= LAP_TURN_270; turn++) {
        for (int filter = 0; filter <= 1; filter++) {
            lap_settings s = plain("ppm");
            s.turn = (lap_turn)turn;
            s.filter = filter;
            s.border = LAP_REFLECT;
            /* A kernel that is different left and right, up and down. */
            assert_int_equal(lap_kernel_parse("0,1,2,3,4,5,6,7,8,9,-9,1,2,3,4,5,6,7,-8,9,0,1,-22,3,-44",
                                 &s.params.kernel, NULL),
                LAP_OK);
            check(37, 141, 3, &s);
            check(170, 70, 3, &s);
            check(1, 1, 3, &s);
        }
    }
}

static bytes as_jpeg(const bytes *in)
{
    lap_settings s = plain("jpg");
    s.filter = false;
    s.subsampling = LAP_SUB_420;
    outcome o = run(in, &s, contexts[0], NULL, NULL);
    assert_int_equal(o.code, LAP_OK);
    return o.out;
}

static void jpeg_bytes_do_not_depend_on_threads(void **state)
{
    (void)state;
    bytes raw = picture(401, 515, 3, 7), jpeg = as_jpeg(&raw);
    const char *const formats[] = {"jpg", "ppm", "tsv"};
    for (int restart = LAP_RESTART_AUTO; restart <= LAP_RESTART_OFF; restart++) {
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
            lap_settings s = plain(formats[f]);
            s.restart = (lap_restart)restart;
            outcome first = run(&jpeg, &s, contexts[0], NULL, NULL);
            assert_int_equal(first.code, LAP_OK);
            for (int i = 0; i < POOLS; i++) {
                outcome o = run(&jpeg, &s, contexts[i], NULL, NULL);
                assert_int_equal(o.code, LAP_OK);
                assert_int_equal(o.out.size, first.out.size);
                assert_memory_equal(o.out.data, first.out.data, o.out.size);
                free(o.out.data);
            }
            free(first.out.data);
        }
    }
    free(jpeg.data);
    free(raw.data);
}

static void the_report_is_filled(void **state)
{
    (void)state;
    bytes in = picture(700, 500, 3, 3);
    lap_settings s = plain("pgm");
    s.gray = true;
    s.turn = LAP_TURN_90;
    outcome o = run(&in, &s, contexts[1], NULL, NULL);
    assert_int_equal(o.code, LAP_OK);
    assert_int_equal(o.report.width, 500);
    assert_int_equal(o.report.height, 700);
    assert_int_equal(o.report.channels, 1);
    assert_string_equal(o.report.resolved, "c");
    assert_int_equal(o.report.bytes_in, in.size);
    assert_int_equal(o.report.bytes_out, o.out.size);
    assert_true(o.report.ms.filter > 0 && o.report.ms.decode >= 0 && o.report.ms.encode >= 0);
    free(o.out.data);
    s.params.kernel.h[0] = 0.5f;
    s.params.kernel.is_integer = s.params.kernel.is_laplace5 = false;
    o = run(&in, &s, contexts[0], NULL, NULL);
    assert_int_equal(o.code, LAP_OK);
    assert_non_null(strstr(o.report.note, "one level"));
    free(o.out.data);
    free(in.data);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static void an_input_that_ends_early(void **state)
{
    (void)state;
    bytes in = picture(900, 700, 1, 5);
    in.size = in.size * 6 / 10;
    for (int turn = LAP_TURN_NONE; turn <= LAP_TURN_V; turn++) {
        for (int i = 0; i < POOLS; i++) {
            lap_settings s = plain("pgm");
            s.turn = (lap_turn)turn;
            outcome o = run(&in, &s, contexts[i], NULL, NULL);
            assert_int_equal(o.code, LAP_E_TRUNCATED);
            assert_int_equal(o.err.code, LAP_E_TRUNCATED);
            assert_non_null(strstr(o.err.subject, "picture"));
        }
    }
    free(in.data);
}

static void a_full_disk(void **state)
{
    (void)state;
    bytes in = picture(1200, 900, 3, 5);
    const char *const formats[] = {"ppm", "jpg"};
    for (int i = 0; i < 2 * POOLS; i++) {
        lap_settings s = plain(formats[i & 1]);
        lap_source *source = NULL;
        lap_sink *sink = NULL;
        lap_error err = {0};
        assert_int_equal(lap_source_memory(in.data, in.size, "picture", &source, NULL), LAP_OK);
        assert_int_equal(lap_sink_open("/dev/full", NULL, &sink, NULL), LAP_OK);
        lap_photo photo = {.context = contexts[i / 2], .settings = s, .source = source, .sink = sink};
        lap_report report;
        lap_code code = lap_photo_run(&photo, &report, &err);
        if (code == LAP_OK) /* all of it may have fitted a buffer */
            code = lap_sink_finish(sink, false, NULL, &err);
        assert_int_equal(code, LAP_E_DISK_FULL);
        assert_int_equal(err.code, LAP_E_DISK_FULL);
        lap_sink_close(sink);
        lap_source_close(source);
    }
    free(in.data);
}

typedef struct watch {
    int last, total, calls;
    atomic_int *cancel;
} watch;

static void watch_rows(void *user, int done, int total)
{
    watch *w = user;
    assert_true(done > w->last);
    w->last = done;
    w->total = total;
    w->calls++;
    if (w->cancel)
        atomic_store(w->cancel, 1);
}

static void progress_grows_and_cancel_stops(void **state)
{
    (void)state;
    bytes in = picture(600, 1025, 3, 5);
    for (int i = 0; i < POOLS; i++) {
        watch w = {0};
        lap_settings s = plain("ppm");
        s.progress = watch_rows;
        s.progress_user = &w;
        outcome o = run(&in, &s, contexts[i], NULL, NULL);
        assert_int_equal(o.code, LAP_OK);
        free(o.out.data);
        assert_int_equal(w.last, 1025);
        assert_int_equal(w.total, 1025);
        assert_true(w.calls > 1);

        atomic_int cancel = 0;
        lap_control control = {.cancel = &cancel};
        w = (watch){.cancel = &cancel};
        o = run(&in, &s, contexts[i], &control, NULL);
        assert_int_equal(o.code, LAP_E_CANCELLED);
        assert_int_equal(w.calls, 1);

        lap_control late = {.deadline_ms = lap_now_ms() - 1};
        w = (watch){0};
        o = run(&in, &s, contexts[i], &late, NULL);
        assert_int_equal(o.code, LAP_E_TIMEOUT);
        assert_int_equal(w.calls, 0);
    }
    free(in.data);
}

static unsigned long long sum(const lap_view *v)
{
    unsigned long long total = 0;
    for (int y = 0; y < v->height; y++)
        for (int i = 0; i < v->width * v->channels; i++)
            total += v->base[y * v->stride + i];
    return total;
}

static unsigned long long sum_of(uint64_t counts[4][256], uint64_t *samples)
{
    unsigned long long total = 0;
    *samples = 0;
    for (int i = 0; i < 4 * 256; i++) {
        total += counts[i / 256][i % 256] * (uint64_t)(i % 256);
        *samples += counts[i / 256][i % 256];
    }
    return total;
}

static void every_pixel_is_counted_once(void **state)
{
    (void)state;
    bytes in = picture(640, 600, 3, 5);
    lap_view all = {
        .base = in.data + in.pixels, .stride = 640 * 3, .width = 640, .height = 600, .channels = 3};
    const lap_turn turns[] = {LAP_TURN_NONE, LAP_TURN_H, LAP_TURN_180};
    for (int i = 0; i < 3 * POOLS; i++) {
        lap_photo_counts counts = {0};
        uint64_t samples;
        lap_settings s = plain("ppm");
        s.turn = turns[i % 3];
        outcome o = run(&in, &s, contexts[i / 3], NULL, &counts);
        assert_int_equal(o.code, LAP_OK);
        lap_view edges = all;
        edges.base = o.out.data + o.out.size - (size_t)640 * 600 * 3;
        assert_int_equal(sum_of(counts.source, &samples), sum(&all));
        assert_int_equal(samples, 640 * 600 * 3);
        assert_int_equal(sum_of(counts.result, &samples), sum(&edges));
        assert_int_equal(samples, 640 * 600 * 3);
        free(o.out.data);
    }
    free(in.data);
}

static void limits_and_unknown_names(void **state)
{
    (void)state;
    bytes in = picture(1000, 1000, 3, 5);
    lap_settings s = plain("ppm");
    s.max_memory = 100000;
    assert_int_equal(run(&in, &s, contexts[1], NULL, NULL).code, LAP_E_LIMIT);
    s.max_memory = 2500000;
    outcome o = run(&in, &s, contexts[POOLS - 1], NULL, NULL); /* bands fit, with fewer threads */
    assert_int_equal(o.code, LAP_OK);
    free(o.out.data);
    s.turn = LAP_TURN_180;
    assert_int_equal(run(&in, &s, contexts[1], NULL, NULL).code, LAP_E_LIMIT);
    s = plain("ppm");
    s.backend = "smid";
    assert_int_equal(run(&in, &s, contexts[1], NULL, NULL).code, LAP_E_USAGE);
    s = plain("ppm");
    s.max_pixels = 999999;
    assert_int_equal(run(&in, &s, contexts[1], NULL, NULL).code, LAP_E_LIMIT);
    free(in.data);
}

static int start(void **state)
{
    (void)state;
    for (int i = 0; i < POOLS; i++)
        if (!(contexts[i] = lap_context_create(threads_of[i], NULL)))
            return -1;
    return 0;
}

static int stop(void **state)
{
    (void)state;
    for (int i = 0; i < POOLS; i++)
        lap_context_destroy(contexts[i]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_images_and_every_border),
        cmocka_unit_test(band_joints_with_threads),
        cmocka_unit_test(every_turn),
        cmocka_unit_test(jpeg_bytes_do_not_depend_on_threads),
        cmocka_unit_test(the_report_is_filled),
        cmocka_unit_test(an_input_that_ends_early),
        cmocka_unit_test(a_full_disk),
        cmocka_unit_test(progress_grows_and_cancel_stops),
        cmocka_unit_test(every_pixel_is_counted_once),
        cmocka_unit_test(limits_and_unknown_names),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
