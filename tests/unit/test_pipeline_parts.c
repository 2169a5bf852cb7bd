/* Whole runs with the picture decoded by parts: the bytes that serial decoding leads to, for every form of
 * run, and a run that finds out half-way that its parts will not do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "base/status.h"
#include "jpeg_make.h"
#include "run/pipeline.h"
#include "run/stats_hook.h"

static const jpeg_kind kinds[] = {
    {.name = "gray", .components = 1, .space = JCS_GRAYSCALE, .sampling = "11"},
    {.name = "4:2:0", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"},
    {.name = "4:4:0, restarts", .components = 3, .space = JCS_YCbCr, .sampling = "12 11 11", .restart = 5},
    {.name = "CMYK", .components = 4, .space = JCS_CMYK, .sampling = "11 11 11 11"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct outcome {
    lap_code code;
    lap_error err;
    lap_report report;
    void *bytes;
    size_t size;
} outcome;

static outcome run(const jpeg_bytes *in, lap_settings settings, lap_decode decode, lap_pool *pool,
    const lap_pipeline_hooks *hooks)
{
    outcome o = {0};
    lap_source *source = NULL;
    lap_sink *sink = NULL;
    settings.decode = decode;
    assert_int_equal(lap_source_memory(in->data, in->size, "picture", &source, NULL), LAP_OK);
    assert_int_equal(lap_sink_memory(&sink, NULL), LAP_OK);
    o.code = lap_pipeline_run(source, sink, &settings, pool, NULL, NULL, hooks, &o.report, &o.err);
    if (o.code == LAP_OK) {
        assert_int_equal(lap_sink_finish(sink, false, NULL, NULL), LAP_OK);
        lap_sink_take(sink, &o.bytes, &o.size);
    }
    lap_sink_close(sink);
    lap_source_close(source);
    return o;
}

static void expect_same(
    const jpeg_bytes *in, const lap_settings *settings, lap_pool *pool, const char *what, const char *note)
{
    outcome serial = run(in, *settings, LAP_DECODE_SERIAL, pool, NULL);
    outcome parts = run(in, *settings, LAP_DECODE_PARALLEL, pool, NULL);
    if (serial.code != LAP_OK || parts.code != LAP_OK || serial.size != parts.size ||
        memcmp(serial.bytes, parts.bytes, serial.size) != 0)
        fail_msg("%s: %s | %s, %zu and %zu bytes", what, serial.err.message, parts.err.message, serial.size,
            parts.size);
    if (!strstr(parts.report.note, note))
        fail_msg("%s: %s", what, parts.report.note);
    assert_null(strstr(serial.report.note, "parallel"));
    assert_int_equal(serial.report.bytes_in, parts.report.bytes_in);
    free(serial.bytes);
    free(parts.bytes);
}

/* Several bands and strips, the last ones of one row and of two. */
static void same_bytes(void **state)
{
    static const int heights[] = {1, 2, 64, 65, 127, 128, 129, 130, 257, 641};
    (void)state;
    for (int k = 0; k < KINDS; k++)
        for (size_t i = 0; i < sizeof heights / sizeof *heights; i++)
            for (int threads = 1; threads <= 5; threads += 2) {
                lap_settings s = lap_settings_default();
                char what[80];
                lap_pool *pool = lap_pool_create(threads, NULL);
                jpeg_bytes in = jpeg_make(&kinds[k], 70 + 9 * k, heights[i]);
                snprintf(what, sizeof what, "%s, %d rows, %d threads", kinds[k].name, heights[i], threads);
                s.border = (lap_border)(i % 4);
                s.gray = i % 3 == 2;
                s.filter = i % 5 != 4;
                if (i % 4 == 3)
                    s.turn = LAP_TURN_H;
                expect_same(&in, &s, pool, what, heights[i] > 128 ? "decoded in parallel" : "one piece");
                free(in.data);
                lap_pool_destroy(pool);
            }
}

static void same_bytes_turned(void **state)
{
    (void)state;
    lap_pool *pool = lap_pool_create(3, NULL);
    jpeg_bytes in = jpeg_make(&kinds[1], 201, 700);
    for (int turn = 1; turn <= 8; turn++) {
        lap_settings s = lap_settings_default();
        s.turn = (lap_turn)turn;
        s.filter = turn % 2;
        s.format = turn % 3 ? "jpg" : "ppm";
        expect_same(&in, &s, pool, "turned",
            turn % 3 || (turn > 2 && turn != LAP_TURN_H) ? "decoded in parallel" : "rows in order");
    }
    free(in.data);
    lap_pool_destroy(pool);
}

/* Where nothing is written bands are independent, and the parts' pixels are those that are counted. */
static void same_counts(void **state)
{
    (void)state;
    lap_pool *pool = lap_pool_create(3, NULL);
    jpeg_bytes in = jpeg_make(&kinds[1], 201, 700);
    lap_settings s = lap_settings_default();
    lap_run_stats stats[2];
    s.format = LAP_FORMAT_NONE;
    for (int i = 0; i < 2; i++) {
        lap_run_tallies tallies;
        assert_int_equal(lap_run_tallies_init(&tallies, NULL), LAP_OK);
        outcome o = run(&in, s, i ? LAP_DECODE_PARALLEL : LAP_DECODE_SERIAL, pool, &tallies.hooks);
        assert_int_equal(o.code, LAP_OK);
        assert_int_equal(strstr(o.report.note, "decoded in parallel") != NULL, i);
        assert_int_equal(lap_run_tallies_result(&tallies, -1, &stats[i], NULL), LAP_OK);
        assert_int_equal(stats[i].edges.channel[2].count, 201 * 700);
        lap_run_tallies_destroy(&tallies);
        free(o.bytes);
    }
    for (int c = 0; c < 3; c++) {
        assert_int_equal(stats[0].input.channel[c].sum, stats[1].input.channel[c].sum);
        assert_int_equal(stats[0].edges.channel[c].sum, stats[1].edges.channel[c].sum);
    }
    free(in.data);
    lap_pool_destroy(pool);
}

/* ---- a disagreement ---------------------------------------------------------------------------- */

typedef struct spoiler { /* changes the file under the run's feet */
    lap_run_tallies tallies;
    uint8_t *bytes;
    size_t from, size;
    uint8_t *kept;
    int spoiled, again;
} spoiler;

static lap_code spoil(void *user, const lap_view *source, const lap_view *result)
{
    spoiler *s = user;
    if (s->spoiled++ == 0) /* after the first band: parts that are cut out from now on are noise */
        for (size_t i = s->from; i < s->size; i++)
            s->bytes[i] = (uint8_t)(i * 89) & 0x7F;
    return s->tallies.hooks.band(s->tallies.hooks.user, source, result);
}

static void restore(void *user)
{
    spoiler *s = user;
    s->again++;
    memcpy(s->bytes + s->from, s->kept, s->size - s->from);
    s->tallies.hooks.again(s->tallies.hooks.user);
}

static lap_code into(lap_sink *sink, const jpeg_bytes *in, const lap_settings *settings, lap_pool *pool,
    const lap_pipeline_hooks *hooks, lap_report *report)
{
    lap_source *source = NULL;
    lap_error err;
    assert_int_equal(lap_source_memory(in->data, in->size, "picture", &source, NULL), LAP_OK);
    lap_code code = lap_pipeline_run(source, sink, settings, pool, NULL, NULL, hooks, report, &err);
    lap_source_close(source);
    return code;
}

/* One thread takes one part after the other, so some bands were appended before the disagreement shows. */
static void check_redo(const char *path)
{
    jpeg_bytes in = jpeg_make(&kinds[1], 300, 1500);
    lap_settings settings = lap_settings_default();
    lap_pool *pool = lap_pool_create(1, NULL);
    outcome serial = run(&in, settings, LAP_DECODE_SERIAL, pool, NULL);
    spoiler s = {.bytes = in.data, .from = in.size / 2, .size = in.size};
    lap_report report = {0};
    lap_sink *sink = NULL;
    lap_run_stats stats, expected;
    lap_run_tallies tallies;
    uint8_t *got = malloc(serial.size + 1);
    s.kept = malloc(s.size);
    memcpy(s.kept, in.data + s.from, s.size - s.from);
    assert_int_equal(lap_run_tallies_init(&s.tallies, NULL), LAP_OK);
    const lap_pipeline_hooks hooks = {.band = spoil, .again = restore, .user = &s};
    settings.decode = LAP_DECODE_PARALLEL;
    assert_int_equal(lap_sink_open(path, &sink, NULL), LAP_OK);
    assert_int_equal(into(sink, &in, &settings, pool, &hooks, &report), LAP_OK);
    if (s.again != 1)
        fail_msg("done again %d times: %s", s.again, report.note);
    assert_non_null(strstr(report.note, "disagree"));
    assert_int_equal(lap_sink_finish(sink, false, NULL, NULL), LAP_OK);
    assert_int_equal(lap_sink_publish(sink, NULL), LAP_OK);
    lap_sink_close(sink);

    FILE *file = fopen(path[5] == 'f' ? "parts-redo.bin" : path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(got, 1, serial.size + 1, file), serial.size);
    fclose(file);
    assert_memory_equal(got, serial.bytes, serial.size);

    assert_int_equal(lap_run_tallies_result(&s.tallies, -1, &stats, NULL), LAP_OK);
    assert_int_equal(lap_run_tallies_init(&tallies, NULL), LAP_OK);
    outcome counted = run(&in, settings, LAP_DECODE_SERIAL, pool, &tallies.hooks);
    assert_int_equal(lap_run_tallies_result(&tallies, -1, &expected, NULL), LAP_OK);
    assert_int_equal(stats.edges.channel[0].sum, expected.edges.channel[0].sum);
    assert_int_equal(stats.input.channel[2].count, expected.input.channel[2].count);
    lap_run_tallies_destroy(&tallies);
    lap_run_tallies_destroy(&s.tallies);
    free(counted.bytes);
    free(serial.bytes);
    free(got);
    free(s.kept);
    free(in.data);
    lap_pool_destroy(pool);
}

static void redo_into_a_file(void **state)
{
    (void)state;
    check_redo("parts-redo.jpg");
    unlink("parts-redo.jpg");
}

/* Written directly: not one byte of the first attempt may be there. */
static void redo_into_a_descriptor(void **state)
{
    (void)state;
    char path[32];
    int fd = open("parts-redo.bin", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    check_redo(path);
    close(fd);
    unlink("parts-redo.bin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(same_bytes_turned),
        cmocka_unit_test(same_counts),
        cmocka_unit_test(redo_into_a_file),
        cmocka_unit_test(redo_into_a_descriptor),
    };
    char folder[] = "/tmp/lapedge-parts-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return rmdir(folder) != 0 || failed;
}
