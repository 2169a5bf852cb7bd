/* lap_encode as a caller sees it, through the public header alone: pixels in memory to a file in memory. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lapedge.h"

typedef struct picture {
    lap_view view;
    uint8_t *memory;
} picture;

typedef struct file {
    void *bytes;
    size_t size;
} file;

static const lap_subsampling samplings[] = {LAP_SUB_SAME, LAP_SUB_444, LAP_SUB_422, LAP_SUB_420};
enum { SAMPLINGS = sizeof samplings / sizeof *samplings };

/* Waves and noise; every channel differs. Rows are `gap` bytes apart from each other. */
static picture make(int width, int height, int channels, int gap)
{
    const ptrdiff_t row = (ptrdiff_t)width * channels, stride = row + gap;
    picture p = {.memory = malloc((size_t)stride * (size_t)height)};
    assert_non_null(p.memory);
    p.view = (lap_view){p.memory, stride, width, height, channels, 0, LAP_ON_HOST};
    memset(p.memory, 0xEE, (size_t)stride * (size_t)height);
    uint32_t random = 1;
    for (int y = 0; y < height; y++)
        for (int i = 0; i < row; i++) {
            random = random * 1664525u + 1013904223u;
            p.memory[y * stride + i] =
                (uint8_t)(y * 3 + i / channels * 2 + i % channels * 70 + (random >> 27));
        }
    return p;
}

/* The same pixels elsewhere, the first `channels` of each. */
static picture copy_of(const lap_view *from, int channels, int gap)
{
    picture p = make(from->width, from->height, channels, gap);
    for (int y = 0; y < from->height; y++)
        for (int x = 0; x < from->width; x++)
            memcpy(p.memory + y * p.view.stride + (ptrdiff_t)x * channels,
                from->base + y * from->stride + (ptrdiff_t)x * from->channels, (size_t)channels);
    return p;
}

static lap_settings settings_of(lap_subsampling subsampling, int quality, lap_codec_place codec)
{
    lap_settings s = lap_settings_default();
    s.subsampling = subsampling;
    s.quality = quality;
    s.codec = codec;
    return s;
}

static file encode(const lap_view *view, const lap_settings *settings)
{
    file f;
    lap_error error = {0};
    if (lap_encode(view, settings, &f.bytes, &f.size, &error) != LAP_OK)
        fail_msg("%s", error.message);
    return f;
}

/* *a keeps its bytes, those of b are freed. */
static void assert_same(const file *a, file b)
{
    assert_int_equal(a->size, b.size);
    assert_memory_equal(a->bytes, b.bytes, a->size);
    free(b.bytes);
}

/* By each codec that can run here; those that cannot say so. */
static void check_codecs(const lap_view *view, lap_settings settings)
{
    settings.codec = LAP_CODEC_TURBO;
    const file expected = encode(view, &settings);
    for (int codec = LAP_CODEC_AUTO; codec <= LAP_CODEC_NEON; codec++) {
        file made = {0};
        lap_error error = {0};
        settings.codec = (lap_codec_place)codec;
        if (codec == LAP_CODEC_CUDA)
            continue;
        const lap_code code = lap_encode(view, &settings, &made.bytes, &made.size, &error);
        if (code == LAP_OK) {
            assert_same(&expected, made);
        } else {
            assert_true(code == LAP_E_BACKEND && codec >= LAP_CODEC_AVX2);
            assert_non_null(strstr(error.message, "cannot run here"));
            assert_null(made.bytes);
        }
    }
    free(expected.bytes);
}

static void test_codecs_agree(void **state)
{
    static const int sizes[][2] = {{1, 1}, {17, 9}, {131, 300}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int channels = 1; channels <= 4; channels++)
            for (int s = 0; s < SAMPLINGS && channels != 2; s++)
                for (int restart = LAP_RESTART_AUTO; restart <= LAP_RESTART_OFF; restart++) {
                    picture p = make(sizes[i][0], sizes[i][1], channels, 3);
                    lap_settings settings = settings_of(samplings[s], 85, LAP_CODEC_AUTO);
                    settings.restart = (lap_restart)restart;
                    check_codecs(&p.view, settings);
                    free(p.memory);
                }
}

static void test_qualities(void **state)
{
    (void)state;
    picture color = make(75, 50, 3, 0), gray = make(75, 50, 1, 0);
    size_t before = 0;
    for (int quality = 1; quality <= 100; quality += quality % 10 == 1 || quality > 94 ? 1 : 8) {
        const lap_settings settings = settings_of(LAP_SUB_420, quality, LAP_CODEC_AUTO);
        file f = encode(&color.view, &settings);
        assert_true(f.size >= before); /* more of the picture is kept */
        before = f.size;
        free(f.bytes);
        check_codecs(&color.view, settings);
        check_codecs(&gray.view, settings);
    }
    free(color.memory);
    free(gray.memory);
}

/* libjpeg-turbo does these, whoever is asked. */
static void test_what_ours_do_not_do(void **state)
{
    (void)state;
    picture p = make(90, 61, 3, 0);
    lap_settings settings = settings_of(LAP_SUB_422, 70, LAP_CODEC_AUTO);
    const file plain = encode(&p.view, &settings);
    settings.optimize = true;
    check_codecs(&p.view, settings);
    file other = encode(&p.view, &settings);
    assert_true(other.size < plain.size);
    free(other.bytes);
    settings.progressive = true;
    check_codecs(&p.view, settings);
    free(plain.bytes);
    free(p.memory);
}

/* Only the pixels count, wherever their rows are; a fourth channel is left out. */
static void test_views(void **state)
{
    (void)state;
    picture wide = make(70, 45, 4, 29);
    const lap_settings settings = settings_of(LAP_SUB_420, 92, LAP_CODEC_AUTO);
    const file expected = encode(&wide.view, &settings);
    for (int channels = 3; channels <= 4; channels++)
        for (int gap = 0; gap <= 64; gap += 32) {
            picture p = copy_of(&wide.view, channels, gap);
            assert_same(&expected, encode(&p.view, &settings));
            free(p.memory);
        }
    free(expected.bytes);
    free(wide.memory);
}

/* What lap_run_memory writes of the same pixels, on several threads. */
static void test_is_what_a_run_writes(void **state)
{
    (void)state;
    lap_error error = {0};
    picture p = make(333, 400, 3, 0);
    lap_context *context = lap_context_create(3, &error);
    assert_non_null(context);
    char head[32];
    const size_t head_size = (size_t)snprintf(head, sizeof head, "P6\n333 400\n255\n"),
                 size = head_size + 333 * 400 * 3;
    uint8_t *ppm = malloc(size);
    assert_non_null(ppm);
    memcpy(ppm, head, head_size);
    memcpy(ppm + head_size, p.memory, size - head_size);
    for (int s = 0; s < SAMPLINGS; s++) {
        lap_settings settings = settings_of(samplings[s], 90, LAP_CODEC_AUTO);
        settings.filter = false;
        settings.format = "jpg";
        const file expected = encode(&p.view, &settings);
        file made;
        const lap_code code =
            lap_run_memory(context, ppm, size, &made.bytes, &made.size, &settings, NULL, &error);
        if (code != LAP_OK)
            fail_msg("%s", error.message);
        assert_same(&expected, made);
        free(expected.bytes);
    }
    lap_context_destroy(context);
    free(ppm);
    free(p.memory);
}

static void test_formats(void **state)
{
    (void)state;
    static const char head[] = "P6\n20 10\n255\n";
    picture p = make(20, 10, 4, 1), rgb = copy_of(&p.view, 3, 0);
    lap_settings settings = lap_settings_default();
    settings.format = "ppm";
    file f = encode(&p.view, &settings);
    assert_int_equal(f.size, sizeof head - 1 + 20 * 10 * 3);
    assert_memory_equal(f.bytes, head, sizeof head - 1);
    assert_memory_equal((uint8_t *)f.bytes + sizeof head - 1, rgb.memory, 20 * 10 * 3);
    free(f.bytes);
    free(p.memory);
    free(rgb.memory);
}

/* ---- what is refused ----------------------------------------------------------------------------- */

/* Nothing is left to free, whatever *out held before. */
static void refused(lap_code expected, lap_view view, lap_settings settings)
{
    int something;
    file f = {&something, 5};
    lap_error error = {0};
    assert_int_equal(lap_encode(&view, &settings, &f.bytes, &f.size, &error), expected);
    assert_int_equal(error.code, expected);
    assert_true(error.message[0] != '\0');
    assert_null(f.bytes);
    assert_int_equal(f.size, 0);
}

static void test_refusals(void **state)
{
    (void)state;
    picture p = make(8, 8, 3, 0);
    const lap_settings settings = lap_settings_default();
    lap_settings other = settings;
    lap_view view = p.view;
    view.base = NULL;
    refused(LAP_E_USAGE, view, settings);
    view = p.view;
    view.width = 0;
    refused(LAP_E_USAGE, view, settings);
    view = p.view;
    view.height = -1;
    refused(LAP_E_USAGE, view, settings);
    for (int channels = -1; channels <= 5; channels++) {
        view = p.view;
        view.channels = channels;
        if (channels < 1 || channels == 2 || channels > 4)
            refused(LAP_E_USAGE, view, settings);
    }
    view = p.view;
    view.place = 0;
    refused(LAP_E_USAGE, view, settings);
    view = p.view;
    view.width = 65501;
    refused(LAP_E_UNSUPPORTED, view, settings);
    other.quality = 101;
    refused(LAP_E_USAGE, p.view, other);
    other = settings;
    other.codec = LAP_CODEC_CUDA;
    refused(LAP_E_USAGE, p.view, other);
    other = settings;
    other.format = "gif";
    refused(LAP_E_USAGE, p.view, other);
    free(p.memory);
}

/* ---- what is stopped ------------------------------------------------------------------------------ */

/* lap_encode_view gives lap_encode's file; in a context that was cancelled, or out of time, it gives none. */
static void test_stopping(void **state)
{
    static const struct {
        const char *format;
        bool progressive, optimize;
        lap_codec_place codec;
    } cases[] = {{NULL, false, false, LAP_CODEC_C}, {NULL, false, false, LAP_CODEC_TURBO},
        {NULL, true, false, LAP_CODEC_AUTO}, {NULL, false, true, LAP_CODEC_AUTO},
        {"bmp", false, false, LAP_CODEC_AUTO}, {"ppm", false, false, LAP_CODEC_AUTO}};
    (void)state;
    picture p = make(131, 300, 3, 5);
    lap_context *running = lap_context_create(2, NULL), *stopped = lap_context_create(2, NULL);
    assert_non_null(running);
    assert_non_null(stopped);
    lap_context_cancel(stopped);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_settings settings = settings_of(LAP_SUB_420, 90, cases[i].codec);
        settings.format = cases[i].format;
        settings.progressive = cases[i].progressive;
        settings.optimize = cases[i].optimize;
        const file expected = encode(&p.view, &settings);
        file made;
        assert_int_equal(lap_encode_view(running, &p.view, &settings, &made.bytes, &made.size, NULL), LAP_OK);
        assert_same(&expected, made);
        assert_int_equal(
            lap_encode_view(stopped, &p.view, &settings, &made.bytes, &made.size, NULL), LAP_E_CANCELLED);
        assert_null(made.bytes);
        settings.timeout_s = 1e-9;
        assert_int_equal(
            lap_encode_view(running, &p.view, &settings, &made.bytes, &made.size, NULL), LAP_E_TIMEOUT);
        assert_null(made.bytes);
        free(expected.bytes);
    }
    lap_context_destroy(running);
    lap_context_destroy(stopped);
    free(p.memory);
}

/* ---- several threads ------------------------------------------------------------------------------ */

enum { THREADS = 4, ROUNDS = 12 };

typedef struct task {
    const lap_view *view;
    const file *expected;
    bool same;
} task;

static void *encode_again(void *argument)
{
    task *t = argument;
    t->same = true;
    for (int i = 0; i < ROUNDS; i++) {
        const lap_settings settings = settings_of(samplings[i % SAMPLINGS], 90, LAP_CODEC_AUTO);
        const file *expected = &t->expected[i % SAMPLINGS];
        file f = {0};
        if (lap_encode(t->view, &settings, &f.bytes, &f.size, NULL) != LAP_OK || f.size != expected->size ||
            memcmp(f.bytes, expected->bytes, f.size) != 0)
            t->same = false;
        free(f.bytes);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    picture p = make(200, 150, 3, 0);
    file expected[SAMPLINGS];
    task tasks[THREADS];
    pthread_t threads[THREADS];
    for (int s = 0; s < SAMPLINGS; s++) {
        const lap_settings settings = settings_of(samplings[s], 90, LAP_CODEC_TURBO);
        expected[s] = encode(&p.view, &settings);
    }
    for (int i = 0; i < THREADS; i++) {
        tasks[i] = (task){&p.view, expected, false};
        assert_int_equal(pthread_create(&threads[i], NULL, encode_again, &tasks[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(tasks[i].same);
    }
    for (int s = 0; s < SAMPLINGS; s++)
        free(expected[s].bytes);
    free(p.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_codecs_agree), cmocka_unit_test(test_qualities),
        cmocka_unit_test(test_what_ours_do_not_do), cmocka_unit_test(test_views),
        cmocka_unit_test(test_stopping), cmocka_unit_test(test_is_what_a_run_writes),
        cmocka_unit_test(test_formats), cmocka_unit_test(test_refusals), cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests_name("encode", tests, NULL, NULL);
}
