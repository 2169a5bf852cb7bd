#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/border.h"
#include "base/context.h"
#include "base/image.h"
#include "base/status.h"
#include "lapedge_program.h"
#include "run/run.h"
#include "run/settings.h"
#include "rungs/backend.h"
#include "tests/support/jpeg_make.h"
#include "tests/support/temporary.h"

static char folder[TEMPORARY_PATH];
static lap_context *context;

static const char *at(const char *name)
{
    static char paths[4][sizeof folder + 256];
    static int next;
    char *path = paths[next = (next + 1) % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t size)
{
    FILE *f = fopen(at(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static size_t read_file(const char *name, uint8_t *bytes, size_t room)
{
    FILE *f = fopen(at(name), "rb");
    if (!f)
        return 0;
    size_t size = fread(bytes, 1, room, f);
    fclose(f);
    return size;
}

static int files_in_folder(void)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int count = 0;
    for (struct dirent *e; (e = readdir(dir));)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return count;
}

static void empty_folder(void)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlink(at(e->d_name));
    closedir(dir);
}

enum { WIDTH = 90, HEIGHT = 140, PPM = 15 + WIDTH * HEIGHT * 3 };

static uint8_t ppm[PPM], room[4 * PPM];

static void write_ppm(void)
{
    int head = sprintf((char *)ppm, "P6\n%d %d\n255\n", WIDTH, HEIGHT);
    for (int i = head; i < PPM; i++)
        ppm[i] = (uint8_t)(i * i / 7 + i % 200);
    empty_folder();
    write_file("in.ppm", ppm, (size_t)(head + WIDTH * HEIGHT * 3));
}

static lap_settings plain(void)
{
    lap_settings s = lap_settings_default();
    s.backend = "c";
    s.sync = false;
    return s;
}

static void each_extension_is_a_format(void **state)
{
    (void)state;
    const struct {
        const char *name, *magic;
    } cases[] = {{"o.jpg", "\xff\xd8"}, {"o.JPEG", "\xff\xd8"}, {"o.ppm", "P6"}, {"o.tsv", ""}};
    write_ppm();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_settings s = plain();
        lap_report report;
        lap_error err;
        assert_int_equal(lap_run_file(context, at("in.ppm"), at(cases[i].name), &s, &report, &err), LAP_OK);
        assert_int_equal(report.status, LAP_DONE);
        assert_int_equal(report.error.code, LAP_OK);
        assert_int_equal(report.width, WIDTH);
        size_t size = read_file(cases[i].name, room, sizeof room);
        assert_int_equal(report.bytes_out, size);
        assert_memory_equal(room, cases[i].magic, strlen(cases[i].magic));
        assert_int_equal(files_in_folder(), (int)i + 2);
        assert_true(report.ms.total > 0);
    }
}

static void refused(const char *in, const char *out, const lap_settings *s, lap_code code, const char *word)
{
    lap_report report;
    lap_error err = {0};
    int before = files_in_folder();
    assert_int_equal(lap_run_file(context, in, out, s, &report, &err), code);
    assert_int_equal(err.code, code);
    assert_int_equal(report.status, LAP_FAILED);
    assert_int_equal(report.error.code, code);
    char text[1024];
    lap_error_text(&report.error, text, sizeof text);
    if (!strstr(text, word))
        fail_msg("'%s' is not in '%s'", word, text);
    assert_string_equal(report.error.subject, err.subject);
    assert_string_equal(report.error.message, err.message);
    assert_int_equal(files_in_folder(), before);
    assert_int_equal(lap_run_file(context, in, out, s, NULL, NULL), code);
}

static void failures_are_named_and_leave_nothing(void **state)
{
    (void)state;
    write_ppm();
    lap_settings s = plain();
    refused(at("in.ppm"), at("o.gif"), &s, LAP_E_USAGE, "o.gif");
    refused(at("none.ppm"), at("o.ppm"), &s, LAP_E_MISSING, "none.ppm");
    refused(at("in.ppm"), at("in.ppm"), &s, LAP_E_CLASH, "in.ppm");
    refused(folder, at("o.ppm"), &s, LAP_E_UNREADABLE, folder);
    write_file("words.jpg", "not a photo at all", 18);
    refused(at("words.jpg"), at("o.ppm"), &s, LAP_E_NOT_IMAGE, "words.jpg");
    write_file("cut.ppm", ppm, PPM / 2);
    refused(at("cut.ppm"), at("o.ppm"), &s, LAP_E_TRUNCATED, "cut.ppm");
    s.max_pixels = 100;
    refused(at("in.ppm"), at("o.ppm"), &s, LAP_E_LIMIT, "in.ppm");
    s = plain();
    s.backend = "smid";
    refused(at("in.ppm"), at("o.ppm"), &s, LAP_E_USAGE, "simd");
    s = plain();
    s.quality = 101;
    refused(at("in.ppm"), at("o.ppm"), &s, LAP_E_USAGE, "quality");
}

static void an_old_output_survives_a_failure(void **state)
{
    (void)state;
    write_ppm();
    write_file("cut.ppm", ppm, PPM / 2);
    write_file("o.ppm", "precious", 8);
    lap_settings s = plain();
    refused(at("cut.ppm"), at("o.ppm"), &s, LAP_E_TRUNCATED, "cut.ppm");
    assert_int_equal(read_file("o.ppm", room, sizeof room), 8);
    assert_memory_equal(room, "precious", 8);
    assert_int_equal(lap_run_file(context, at("in.ppm"), at("o.ppm"), &s, NULL, NULL), LAP_OK);
    assert_true(read_file("o.ppm", room, sizeof room) > 8);
}

static void a_sink_is_left_to_publish(void **state)
{
    (void)state;
    write_ppm();
    lap_settings s = plain();
    lap_sink *sink;
    lap_report report;
    struct stat read = {0}, info;
    lap_run_order order = {.context = context, .in = at("in.ppm"), .out = at("in.ppm"), .settings = &s};
    assert_int_equal(lap_run_to_sink(&order, &read, &sink, &report, &report.error), LAP_OK);
    assert_int_equal(report.status, LAP_DONE);
    read_file("in.ppm", room, sizeof room);
    assert_memory_equal(room, ppm, 1000);
    assert_int_equal(stat(at("in.ppm"), &info), 0);
    assert_true(read.st_ino == info.st_ino && read.st_size == info.st_size);
    assert_int_equal(lap_sink_publish(sink, NULL), LAP_OK);
    lap_sink_close(sink);
    read_file("in.ppm", room, sizeof room);
    assert_memory_not_equal(room, ppm, 1000);
    assert_int_equal(files_in_folder(), 1);
    order.in = at("none.ppm");
    order.out = at("o.ppm");
    assert_int_equal(lap_run_to_sink(&order, &read, &sink, &report, &report.error), LAP_E_MISSING);
    assert_null(sink);
    assert_int_equal(report.error.code, LAP_E_MISSING);
}

/* The photo is written to, cut, or replaced by another file while it is read. */
static void rewrite(void *user, int rows_done, int rows_total)
{
    (void)rows_done, (void)rows_total;
    const char *how = user;
    if (strcmp(how, "appended") == 0) {
        FILE *file = fopen(at("in.ppm"), "ab");
        assert_non_null(file);
        assert_int_equal(fputc('x', file), 'x');
        assert_int_equal(fclose(file), 0);
    } else if (strcmp(how, "touched") == 0) {
        const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000001}};
        assert_int_equal(utimensat(AT_FDCWD, at("in.ppm"), times, 0), 0);
    } else {
        write_file("new.ppm", "precious", 8);
        assert_int_equal(rename(at("new.ppm"), at("in.ppm")), 0);
    }
}

static void an_input_that_changes_while_it_is_read_is_an_error(void **state)
{
    static char *const ways[] = {"appended", "touched", "replaced"};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int in_place = 0; in_place < 2; in_place++) {
            lap_report report;
            lap_error err = {0};
            write_ppm();
            lap_settings s = plain();
            s.progress = rewrite;
            s.progress_user = ways[i];
            s.in_place = in_place;
            const char *out = in_place ? at("in.ppm") : at("o.ppm");
            lap_code code = lap_run_file(context, at("in.ppm"), out, &s, &report, &err);
            /* A photo that was saved anew under its name was read whole: only in its place this is a loss. */
            const bool is_whole = i == 2 && !in_place;
            assert_int_equal(code, is_whole ? LAP_OK : LAP_E_CHANGED);
            assert_int_equal(files_in_folder(), 1 + is_whole);
            if (is_whole)
                continue;
            assert_string_equal(lap_code_name(report.error.code), "changed");
            assert_non_null(strstr(err.subject, "in.ppm"));
            assert_non_null(strstr(err.message, "changed"));
            size_t size = read_file("in.ppm", room, sizeof room);
            assert_memory_equal(room, i == 2 ? "precious" : (const char *)ppm, 8);
            assert_true(i == 2 ? size == 8 : size > 8);
        }
}

static void cut(void *user, int rows_done, int rows_total)
{
    (void)rows_done, (void)rows_total;
    assert_int_equal(truncate(at(user), 1000), 0);
}

/* Runs or measures the file while it is cut. */
static void check_cut(const char *name, const uint8_t *bytes, size_t size, bool measures)
{
    const lap_measure_options options = {.weights = NULL};
    lap_measurement m;
    lap_error err = {0};
    char kept[20];
    lap_settings s = plain();
    s.progress = cut;
    s.progress_user = strcpy(kept, name);
    s.threads = 1;
    s.fail_on = LAP_FAIL_NONE;
    write_file(name, bytes, size);
    const lap_code code = measures ? lap_measure_file(context, at(name), &s, &options, &m, &err)
                                   : lap_run_file(context, at(name), at("o.ppm"), &s, NULL, &err);
    assert_int_equal(code, LAP_E_CHANGED);
    assert_int_equal(err.code, LAP_E_CHANGED);
    assert_int_equal(files_in_folder(), 1);
    assert_int_equal(unlink(at(name)), 0);
}

/* Whoever reads it: data that ends early because somebody has cut the file is not the photo's fault. */
static void an_input_that_is_cut_while_it_is_read_has_changed(void **state)
{
    enum { NARROW = 40, TALL = 4000, HEAD = 15, SIZE = HEAD + 3 * NARROW * TALL };
    (void)state;
    uint8_t *tall = calloc(1, SIZE);
    assert_non_null(tall);
    assert_int_equal(snprintf((char *)tall, SIZE, "P6 %d %d 255\n", NARROW, TALL), HEAD);
    for (int measures = 0; measures < 2; measures++)
        check_cut("in.ppm", tall, SIZE, measures);
    free(tall);
}

/* A JPEG is held when the first row leaves. If libjpeg-turbo takes over further down, it reads what is held,
 * but the file has changed all the same. */
static void a_held_jpeg_that_is_cut_has_changed(void **state)
{
    enum { NARROW = 40, TALL = 4000 };
    const jpeg_kind kind = {.components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .restart = 3};
    (void)state;
    jpeg_bytes file = jpeg_make(&kind, NARROW, TALL);
    for (int is_odd = 0; is_odd < 2; is_odd++) {
        if (is_odd)
            memset(file.data + file.size - 500, 0, 20);
        for (int measures = 0; measures < 2; measures++)
            check_cut("in.jpg", file.data, file.size, measures);
    }
    free(file.data);
}

/* "-" that was redirected from the file that is about to be replaced, or to the one that is read. */
static void a_stream_may_be_the_other_file(void **state)
{
    (void)state;
    write_ppm();
    const int streams[2] = {dup(0), dup(1)};
    const int fd = open(at("in.ppm"), O_RDWR);
    lap_settings s = plain();
    s.format = "ppm";
    for (int i = 0; i < 2; i++) {
        lap_error err = {0};
        assert_int_equal(dup2(fd, i), i);
        lap_code code = lap_run_file(context, i ? at("in.ppm") : "-", i ? "-" : at("in.ppm"), &s, NULL, &err);
        assert_int_equal(dup2(streams[i], i), i);
        assert_int_equal(code, LAP_E_CLASH);
    }
    close(fd);
    close(streams[0]);
    close(streams[1]);
    read_file("in.ppm", room, sizeof room);
    assert_memory_equal(room, ppm, 1000);
}

static void a_check_writes_nothing(void **state)
{
    (void)state;
    write_ppm();
    lap_settings s = plain();
    assert_int_equal(lap_run_check(at("in.ppm"), at("o.ppm"), &s, NULL), LAP_OK);
    assert_int_equal(lap_run_check("-", "-", &s, NULL), LAP_OK);
    assert_int_equal(lap_run_check(at("none.ppm"), at("o.ppm"), &s, NULL), LAP_E_MISSING);
    assert_int_equal(lap_run_check(at("in.ppm"), at("o.xyz"), &s, NULL), LAP_E_USAGE);
    assert_int_equal(lap_run_check(at("in.ppm"), at("in.ppm"), &s, NULL), LAP_E_CLASH);
    assert_int_equal(lap_run_check(at("in.ppm"), at("none/o.ppm"), &s, NULL), LAP_E_WRITE);
    s.in_place = true;
    assert_int_equal(lap_run_check(at("in.ppm"), at("in.ppm"), &s, NULL), LAP_OK);
    assert_int_equal(files_in_folder(), 1);
}

static void preserve_keeps_the_time(void **state)
{
    (void)state;
    write_ppm();
    struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000001}};
    assert_int_equal(utimensat(AT_FDCWD, at("in.ppm"), old, 0), 0);
    lap_settings s = plain();
    s.preserve = true;
    assert_int_equal(lap_run_file(context, at("in.ppm"), at("o.ppm"), &s, NULL, NULL), LAP_OK);
    struct stat info;
    assert_int_equal(stat(at("o.ppm"), &info), 0);
    assert_int_equal(info.st_mtim.tv_sec, 1000000001);
}

static void memory_gives_the_bytes_of_files(void **state)
{
    (void)state;
    write_ppm();
    size_t in_size = read_file("in.ppm", room, sizeof room), out_size;
    void *out;
    lap_settings s = plain();
    lap_report report;
    assert_int_equal(lap_run_memory(context, room, in_size, &out, &out_size, &s, &report, NULL), LAP_OK);
    assert_int_equal(report.bytes_out, out_size);
    assert_int_equal(lap_run_file(context, at("in.ppm"), at("o.jpg"), &s, NULL, NULL), LAP_OK);
    assert_int_equal(read_file("o.jpg", room, sizeof room), out_size);
    assert_memory_equal(room, out, out_size);
    free(out);
    lap_error err;
    assert_int_equal(lap_run_memory(context, "x", 1, &out, &out_size, &s, NULL, &err), LAP_E_NOT_IMAGE);
    assert_null(out);
}

/* The photo's tag says how to turn it; --auto-orient and the same turn by hand agree. */
static void the_tag_turns_the_pixels(void **state)
{
    (void)state;
    write_ppm();
    lap_settings s = plain();
    s.filter = false;
    assert_int_equal(lap_run_file(context, at("in.ppm"), at("plain.jpg"), &s, NULL, NULL), LAP_OK);
    size_t size = read_file("plain.jpg", room, sizeof room);
    static uint8_t tagged[sizeof room];
    uint8_t app1[] = {0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1,
        3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    static uint8_t by_tag[4 * PPM], by_hand[4 * PPM];
    for (int turn = 1; turn <= 8; turn++) {
        app1[28] = (uint8_t)turn;
        memcpy(tagged, room, 2);
        memcpy(tagged + 2, app1, sizeof app1);
        memcpy(tagged + 2 + sizeof app1, room + 2, size - 2);
        write_file("tagged.jpg", tagged, size + sizeof app1);
        for (int then = 1; then <= 8; then += 5) {
            s = plain();
            s.auto_orient = true;
            s.turn = (lap_turn)then;
            assert_int_equal(lap_run_file(context, at("tagged.jpg"), at("a.ppm"), &s, NULL, NULL), LAP_OK);
            s = plain();
            s.filter = false;
            s.turn = (lap_turn)turn;
            assert_int_equal(lap_run_file(context, at("plain.jpg"), at("b.ppm"), &s, NULL, NULL), LAP_OK);
            s = plain();
            s.turn = (lap_turn)then;
            assert_int_equal(lap_run_file(context, at("b.ppm"), at("c.ppm"), &s, NULL, NULL), LAP_OK);
            size_t a = read_file("a.ppm", by_tag, sizeof by_tag);
            assert_int_equal(a, read_file("c.ppm", by_hand, sizeof by_hand));
            assert_memory_equal(by_tag, by_hand, a);
        }
    }
}

/* A JPEG with an orientation tag of 6 goes to each format: a warning only where the tag is lost. */
static void a_lost_tag_is_said(void **state)
{
    (void)state;
    write_ppm();
    lap_settings s = plain();
    s.filter = false;
    assert_int_equal(lap_run_file(context, at("in.ppm"), at("plain.jpg"), &s, NULL, NULL), LAP_OK);
    size_t size = read_file("plain.jpg", room, sizeof room);
    static uint8_t tagged[sizeof room];
    static const uint8_t app1[] = {0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0,
        1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0};
    memcpy(tagged, room, 2);
    memcpy(tagged + 2, app1, sizeof app1);
    memcpy(tagged + 2 + sizeof app1, room + 2, size - 2);
    write_file("tagged.jpg", tagged, size + sizeof app1);
    static const struct {
        const char *in, *out;
        bool upright;
        int warnings;
    } cases[] = {{"tagged.jpg", "o.jpg", false, 0}, {"tagged.jpg", "o.ppm", false, 1},
        {"tagged.jpg", "o.ppm", true, 0}, {"tagged.jpg", "o.tsv", false, 1}, {"plain.jpg", "o.ppm", false, 0},
        {"plain.jpg", "o.jpg", false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_report report;
        s = plain();
        s.auto_orient = cases[i].upright;
        assert_int_equal(lap_run_file(context, at(cases[i].in), at(cases[i].out), &s, &report, NULL), LAP_OK);
        if (report.warnings != cases[i].warnings)
            fail_msg("case %zu: %d warnings: %s", i, report.warnings, report.warning);
        assert_int_equal(report.status, cases[i].warnings ? LAP_WARNED : LAP_DONE);
        assert_int_equal(report.warning_remedy == LAP_REMEDY_AUTO_ORIENT, cases[i].warnings);
        assert_null(strstr(report.warning, "--")); /* options are the program's */
    }
    lap_report report;
    lap_measurement measured;
    s = plain();
    const lap_measure_options options = {.threshold = -1};
    const lap_run_order order = {.context = context, .in = at("tagged.jpg"), .settings = &s};
    assert_int_equal(lap_measure_to(&order, &options, &measured, &report, NULL), LAP_OK);
    assert_int_equal(report.warnings, 0); /* nothing is written, nothing lost */
    lap_measurement_free(&measured);
}

static int open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    int count = 0;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* Whatever becomes of a run, it leaves no descriptor open; and pixels are either there or NULL. */
static void nothing_is_left_open(void **state)
{
    (void)state;
    write_ppm();
    write_file("bad.jpg", "\xff\xd8\xff\xd9", 4);
    static const char *const inputs[] = {"in.ppm", "bad.jpg", "missing.jpg", "in.ppm"};
    const int before = open_descriptors();
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        lap_settings s = plain();
        lap_pixels *pixels = (lap_pixels *)room;
        lap_error err = {0};
        s.max_memory = i == 3 ? WIDTH * HEIGHT * 3 - 1 : 0; /* a byte less than its pixels */
        const lap_code expected = i == 0   ? LAP_OK
                                  : i == 1 ? LAP_E_DAMAGED
                                  : i == 2 ? LAP_E_MISSING
                                           : LAP_E_LIMIT;
        assert_int_equal(lap_run_file(context, at(inputs[i]), at("o.jpg"), &s, NULL, NULL), expected);
        s.max_memory = i == 3 ? s.max_memory : WIDTH * HEIGHT * 3;
        assert_int_equal(lap_pixels_read(context, at(inputs[i]), &s, &pixels, &err), expected);
        assert_int_equal(pixels == NULL, expected != LAP_OK);
        if (pixels)
            assert_int_equal(lap_pixels_view(pixels)->height, HEIGHT);
        lap_pixels_free(pixels);
        assert_int_equal(open_descriptors(), before);
    }
}

static int begin(void **state)
{
    (void)state;
    context = lap_context_create(3, NULL);
    return context && mkdtemp(temporary(folder, "run")) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    empty_folder();
    lap_context_destroy(context);
    return rmdir(folder);
}

/* As lapedge.h promises of structs that begin with all zero. */
static void settings_may_be_all_zero(void **state)
{
    (void)state;
    enum { W = 60, H = 40 };
    uint8_t pgm[32 + W * H];
    size_t head = (size_t)sprintf((char *)pgm, "P5\n%d %d\n255\n", W, H), sizes[2];
    void *files[2];
    lap_error err;
    lap_measurement m;
    const lap_measure_options options = {0};
    for (size_t i = 0; i < W * H; i++)
        pgm[head + i] = (uint8_t)(i * i / 7);
    for (int filter = 0; filter < 2; filter++) {
        lap_settings settings[2] = {{.filter = filter}, lap_settings_default()};
        settings[1].filter = filter;
        for (int i = 0; i < 2; i++)
            assert_int_equal(
                lap_run_memory(context, pgm, head + W * H, &files[i], &sizes[i], &settings[i], NULL, &err),
                LAP_OK);
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(files[0], files[1], sizes[0]);
        free(files[0]);
        free(files[1]);
        write_file("zero.pgm", pgm, head + W * H);
        assert_int_equal(lap_run_check(at("zero.pgm"), at("zero.jpg"), &settings[0], &err), LAP_OK);
        assert_int_equal(
            lap_run_file(context, at("zero.pgm"), at("zero.jpg"), &settings[0], NULL, &err), LAP_OK);
        assert_int_equal(lap_measure_file(context, at("zero.pgm"), &settings[0], &options, &m, &err), LAP_OK);
        assert_int_equal(m.stats.input.channels, 1);
        lap_measurement_free(&m);
    }
    unlink(at("zero.pgm"));
    unlink(at("zero.jpg"));
}

/* ---- between the steps of a run ---- */

static struct {
    int sweeps;
    char swept[512];
    const char *appears; /* a file with this name, before the output gets the name */
    double later;        /* by how much the next call of the clock is later */
    lap_code libraries;
} step;

int __wrap_lap_sink_sweep(const char *path);
int __wrap_lap_sink_sweep(const char *path)
{
    step.sweeps++;
    snprintf(step.swept, sizeof step.swept, "%s", path);
    return 0;
}

double __real_lap_now_ms(void);
double __wrap_lap_now_ms(void);
double __wrap_lap_now_ms(void)
{
    const double later = step.later;
    if (later > 0) /* threads of the pool only read it */
        step.later = 0;
    return __real_lap_now_ms() + later;
}

lap_code __real_lap_sink_publish(lap_sink *sink, lap_error *err);
lap_code __wrap_lap_sink_publish(lap_sink *sink, lap_error *err);
lap_code __wrap_lap_sink_publish(lap_sink *sink, lap_error *err)
{
    if (step.appears)
        write_file(step.appears, "precious", 8);
    const lap_code code = __real_lap_sink_publish(sink, err);
    step.later = 1e6;
    return code;
}

lap_code __real_lap_libraries_check(lap_error *err);
lap_code __wrap_lap_libraries_check(lap_error *err);
lap_code __wrap_lap_libraries_check(lap_error *err)
{
    return step.libraries == LAP_OK ? __real_lap_libraries_check(err)
                                    : lap_fail(err, step.libraries, "another library");
}

static void each_status_has_a_name(void **state)
{
    (void)state;
    static const char *const names[] = {"ok", "warned", "skipped", "failed"};
    for (int i = 0; i < 4; i++)
        assert_string_equal(lap_status_name((lap_status)i), names[i]);
    assert_string_equal(lap_status_name((lap_status)4), "unknown");
    assert_string_equal(lap_status_name((lap_status)-1), "unknown");
}

/* Whatever becomes of the photo. */
static void memory_is_given_back_to_the_budget(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        uint64_t max_memory;
        lap_code code;
    } cases[] = {{"in.ppm", 1 << 24, LAP_OK}, {"in.ppm", 1 << 24, LAP_OK},
        {"cut.ppm", 1 << 24, LAP_E_TRUNCATED}, {"in.ppm", 1000, LAP_E_LIMIT}, {"in.ppm", 0, LAP_OK}};
    write_ppm();
    write_file("cut.ppm", ppm, PPM / 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_settings s = plain();
        s.max_memory = cases[i].max_memory;
        assert_int_equal(lap_run_file(context, at(cases[i].in), at("o.jpg"), &s, NULL, NULL), cases[i].code);
        assert_int_equal(context->budget.used, 0);
    }
}

/* Before an output is opened in a folder, once as long as the outputs are in the same folder. */
static void leftovers_are_swept_once_a_folder(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
        lap_code code;
        int sweeps;
        const char *folder;
    } cases[] = {
        {"in.ppm", "in.ppm", LAP_E_CLASH, 0, NULL}, {"in.ppm", "o.ppm", LAP_OK, 1, ""},
        {"in.ppm", "o.jpg", LAP_OK, 1, ""}, {"in.ppm", "sub/o.jpg", LAP_OK, 2, "/sub"},
        {"none.ppm", "sub/o.jpg", LAP_E_MISSING, 2, "/sub"}, {"none.ppm", "o.jpg", LAP_E_MISSING, 3, ""},
        {"in.ppm", "/dev/null", LAP_OK, 3, ""}, /* is written directly */
    };
    lap_context *own = lap_context_create(1, NULL);
    lap_settings s = plain();
    write_ppm();
    assert_int_equal(mkdir(at("sub"), 0700), 0);
    step.sweeps = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *out = cases[i].out[0] == '/' ? cases[i].out : at(cases[i].out);
        s.format = "ppm";
        assert_int_equal(lap_run_file(own, at(cases[i].in), out, &s, NULL, NULL), cases[i].code);
        assert_int_equal(step.sweeps, cases[i].sweeps);
        if (!cases[i].folder)
            continue;
        assert_memory_equal(step.swept, folder, strlen(folder));
        assert_string_equal(step.swept + strlen(folder), cases[i].folder);
    }
    unlink(at("sub/o.jpg"));
    assert_int_equal(rmdir(at("sub")), 0);
    lap_context_destroy(own);
}

/* If asked, keeps an existing output, whether it was there before or appears during processing. */
static void what_is_there_is_kept_if_asked(void **state)
{
    (void)state;
    for (int n = 0; n < 8; n++) {
        const bool keeps = n & 1, is_there = n & 2, appears = n & 4;
        const bool is_kept = keeps && (is_there || appears);
        lap_settings s = plain();
        lap_report report;
        lap_error err = {0};
        write_ppm();
        if (is_there)
            write_file("o.ppm", "precious", 8);
        s.no_clobber = keeps;
        assert_int_equal(
            lap_run_check(at("in.ppm"), at("o.ppm"), &s, NULL), keeps && is_there ? LAP_E_EXISTS : LAP_OK);
        step.appears = appears ? "o.ppm" : NULL;
        const lap_code code = lap_run_file(context, at("in.ppm"), at("o.ppm"), &s, &report, &err);
        step.appears = NULL;
        assert_int_equal(code, is_kept ? LAP_E_EXISTS : LAP_OK);
        assert_int_equal(report.status, is_kept ? LAP_SKIPPED : LAP_DONE);
        assert_int_equal(read_file("o.ppm", room, sizeof room) == 8, is_kept);
        if (is_kept) {
            assert_memory_equal(room, "precious", 8);
            assert_string_equal(err.subject, at("o.ppm"));
        }
        assert_int_equal(files_in_folder(), 2);
    }
    lap_settings s = plain();
    lap_error err = {0};
    write_ppm();
    s.no_clobber = true;
    assert_int_equal(symlink("nowhere", at("o.ppm")), 0);
    assert_int_equal(lap_run_file(context, at("in.ppm"), at("o.ppm"), &s, NULL, &err), LAP_E_EXISTS);
    assert_int_equal(err.remedy, LAP_REMEDY_CLOBBER);
    assert_int_equal(lap_run_file(context, at("in.ppm"), at("in.ppm"), &s, NULL, &err), LAP_E_CLASH);
}

/* "-" is a stream even if a file has this name. */
static void a_stream_is_never_there(void **state)
{
    (void)state;
    const int before = dup(STDOUT_FILENO), here = open(".", O_RDONLY | O_DIRECTORY);
    lap_settings s = plain();
    write_ppm();
    write_file("-", "precious", 8);
    s.no_clobber = true;
    s.format = "ppm";
    const int out = open(at("o.ppm"), O_WRONLY | O_CREAT, 0600);
    assert_int_equal(chdir(folder), 0);
    fflush(stdout);
    assert_int_equal(dup2(out, STDOUT_FILENO), STDOUT_FILENO);
    const lap_code code = lap_run_file(context, "in.ppm", "-", &s, NULL, NULL);
    if (before >= 0)
        dup2(before, STDOUT_FILENO);
    assert_int_equal(fchdir(here), 0);
    close(before);
    close(out);
    close(here);
    assert_int_equal(code, LAP_OK);
    assert_int_equal(read_file("-", room, sizeof room), 8);
    assert_true(read_file("o.ppm", room, sizeof room) > 8);
}

static void publishing_counts_as_writing(void **state)
{
    (void)state;
    lap_settings s = plain();
    lap_report report;
    write_ppm();
    assert_int_equal(lap_run_file(context, at("in.ppm"), at("o.ppm"), &s, &report, NULL), LAP_OK);
    assert_true(report.ms.write >= 1e6 && report.ms.write < 2e6);
}

/* With and without statistics, for files and for memory. */
static void statistics_are_computed_if_asked(void **state)
{
    (void)state;
    write_ppm();
    const size_t in_size = read_file("in.ppm", room, sizeof room);
    for (int n = 0; n < 4; n++) {
        lap_run_stats stats;
        lap_settings s = plain();
        lap_error err = {0};
        void *out = NULL;
        size_t size;
        memset(&stats, 0, sizeof stats);
        s.stats = n % 2 ? &stats : NULL;
        s.format = "ppm";
        assert_int_equal(n / 2 ? lap_run_memory(context, room, in_size, &out, &size, &s, NULL, &err)
                               : lap_run_file(context, at("in.ppm"), at("o.ppm"), &s, NULL, &err),
            LAP_OK);
        uint64_t input = 0, edges = 0;
        for (int v = 0; v < 256; v++) {
            input += stats.input.channel[1].histogram[v];
            edges += stats.edges.channel[1].histogram[v];
        }
        assert_int_equal(input, n % 2 ? WIDTH * HEIGHT : 0);
        assert_int_equal(edges, n % 2 ? WIDTH * HEIGHT : 0);
        free(out);
    }
}

/* The error names the output; if the photo is changed in place, it names the photo. */
static void an_unknown_format_is_that_of_a_file(void **state)
{
    (void)state;
    write_ppm();
    for (int in_place = 0; in_place < 2; in_place++) {
        lap_settings s = plain();
        lap_sink *sink = (lap_sink *)room;
        lap_report report;
        lap_error err = {0};
        s.in_place = in_place;
        const lap_run_order order = {
            .context = context, .in = at("in.ppm"), .out = at("o.xyz"), .settings = &s};
        assert_int_equal(lap_run_to_sink(&order, NULL, &sink, &report, &err), LAP_E_USAGE);
        assert_null(sink);
        assert_string_equal(err.subject, in_place ? at("in.ppm") : at("o.xyz"));
        assert_int_equal(report.status, LAP_FAILED);
        assert_int_equal(files_in_folder(), 1);
    }
}

static void an_output_may_be_below_a_tree(void **state)
{
    (void)state;
    lap_settings s = plain();
    lap_tree tree;
    lap_sink *sink;
    lap_report report;
    struct stat read = {0}, info;
    write_ppm();
    assert_int_equal(mkdir(at("a"), 0700), 0);
    assert_int_equal(lap_tree_open(folder, &tree, NULL), LAP_OK);
    const lap_run_order order = {
        .context = context, .in = at("in.ppm"), .tree = &tree, .out = "a/o.ppm", .settings = &s};
    assert_int_equal(lap_run_to_sink(&order, &read, &sink, &report, NULL), LAP_OK);
    assert_int_equal(stat(at("in.ppm"), &info), 0);
    assert_true(read.st_ino == info.st_ino);
    assert_int_equal(access(at("a/o.ppm"), F_OK), -1);
    assert_int_equal(lap_sink_publish(sink, NULL), LAP_OK);
    lap_sink_close(sink);
    assert_true(read_file("a/o.ppm", room, sizeof room) > 1000);
    assert_int_equal(unlink(at("a/o.ppm")), 0);
    assert_int_equal(rmdir(at("a")), 0);
    lap_tree_close(&tree);
}

/* After a failure, the output is NULL and its size is 0. */
static void memory_is_empty_after_a_failure(void **state)
{
    (void)state;
    write_ppm();
    const size_t in_size = read_file("in.ppm", room, sizeof room);
    for (int n = 0; n < 4; n++) {
        lap_settings s = plain();
        lap_report report;
        lap_error err = {0};
        void *out = room;
        size_t size = 77;
        s.quality = n == 0 ? 101 : 90;
        const lap_code wanted = n == 0 ? LAP_E_USAGE : n == 1 ? LAP_E_NOT_IMAGE : LAP_E_TRUNCATED;
        const size_t given = n == 1 ? 0 : in_size / 2;
        assert_int_equal(
            lap_run_memory(context, room, given, &out, &size, &s, n == 3 ? NULL : &report, &err), wanted);
        assert_null(out);
        assert_int_equal(size, 0);
        assert_string_equal(err.subject, n == 0 ? "" : "input");
        if (n < 3)
            assert_int_equal(report.status, LAP_FAILED);
    }
}

/* The libraries are checked first, then settings that exclude each other, then the backend. */
static void what_can_run_here_is_checked_in_order(void **state)
{
    (void)state;
    for (int n = 0; n < 8; n++) {
        const bool other_library = n & 1, is_lossy = n & 2, no_backend = n & 4;
        lap_settings s = lap_settings_complete(&(lap_settings){.filter = !is_lossy});
        lap_error err = {0};
        s.backend = no_backend ? "smid" : "c";
        if (is_lossy) {
            s.lossless = LAP_LOSSLESS_PERFECT;
            s.turn = LAP_TURN_90;
            s.format = "png";
        }
        write_ppm();
        step.libraries = other_library ? LAP_E_BACKEND : LAP_OK;
        const lap_code code = lap_run_check_backend(&s, &err);
        const lap_code of_files = lap_run_check(at("in.ppm"), at("o.ppm"), &s, NULL);
        step.libraries = LAP_OK;
        assert_int_equal(code, other_library ? LAP_E_BACKEND : is_lossy || no_backend ? LAP_E_USAGE : LAP_OK);
        assert_int_equal(of_files, code);
        assert_string_equal(err.message, other_library ? "another library"
                                         : is_lossy
                                             ? "the transform must be lossless, but the output is not a JPEG"
                                         : no_backend ? err.message
                                                      : "");
        if (!other_library && !is_lossy && no_backend)
            assert_non_null(strstr(err.message, "smid"));
    }
}

/* The checks have a fixed order: the first one that fails is reported. */
static void checks_come_in_order(void **state)
{
    (void)state;
    static const struct {
        int quality;
        bool keeps;
        const char *in, *out, *backend;
        lap_code code;
        const char *subject;
    } cases[] = {
        {101, true, "in.ppm", "in.ppm", "smid", LAP_E_USAGE, ""},
        {90, true, "in.ppm", "in.ppm", "smid", LAP_E_CLASH, "in.ppm"},
        {90, true, "none.ppm", "there.xyz", "smid", LAP_E_EXISTS, "there.xyz"},
        {90, false, "none.ppm", "there.xyz", "smid", LAP_E_MISSING, "none.ppm"},
        {90, false, "in.ppm", "there.xyz", "smid", LAP_E_USAGE, "there.xyz"},
        {90, false, "in.ppm", "none/o.ppm", "smid", LAP_E_USAGE, ""},
        {90, false, "in.ppm", "none/o.ppm", "c", LAP_E_WRITE, "none/o.ppm"},
        {90, false, "in.ppm", "o.ppm", "c", LAP_OK, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_settings s = plain();
        lap_error err = {0};
        write_ppm();
        write_file("there.xyz", "precious", 8);
        s.quality = cases[i].quality;
        s.no_clobber = cases[i].keeps;
        s.backend = cases[i].backend;
        assert_int_equal(lap_run_check(at(cases[i].in), at(cases[i].out), &s, &err), cases[i].code);
        assert_string_equal(err.subject, cases[i].subject[0] ? at(cases[i].subject) : "");
        assert_int_equal(files_in_folder(), 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_extension_is_a_format),
        cmocka_unit_test(failures_are_named_and_leave_nothing),
        cmocka_unit_test(an_old_output_survives_a_failure),
        cmocka_unit_test(a_sink_is_left_to_publish),
        cmocka_unit_test(an_input_that_changes_while_it_is_read_is_an_error),
        cmocka_unit_test(an_input_that_is_cut_while_it_is_read_has_changed),
        cmocka_unit_test(a_held_jpeg_that_is_cut_has_changed),
        cmocka_unit_test(a_stream_may_be_the_other_file),
        cmocka_unit_test(a_check_writes_nothing),
        cmocka_unit_test(preserve_keeps_the_time),
        cmocka_unit_test(memory_gives_the_bytes_of_files),
        cmocka_unit_test(the_tag_turns_the_pixels),
        cmocka_unit_test(a_lost_tag_is_said),
        cmocka_unit_test(settings_may_be_all_zero),
        cmocka_unit_test(nothing_is_left_open),
        cmocka_unit_test(each_status_has_a_name),
        cmocka_unit_test(memory_is_given_back_to_the_budget),
        cmocka_unit_test(leftovers_are_swept_once_a_folder),
        cmocka_unit_test(what_is_there_is_kept_if_asked),
        cmocka_unit_test(a_stream_is_never_there),
        cmocka_unit_test(publishing_counts_as_writing),
        cmocka_unit_test(statistics_are_computed_if_asked),
        cmocka_unit_test(an_unknown_format_is_that_of_a_file),
        cmocka_unit_test(an_output_may_be_below_a_tree),
        cmocka_unit_test(memory_is_empty_after_a_failure),
        cmocka_unit_test(what_can_run_here_is_checked_in_order),
        cmocka_unit_test(checks_come_in_order),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
