/* The contact sheet of a report (report_folder.c): which photos and pairs are on it and in which order, what
 * is listed of them, and what their pictures show. Encoding and writing are those of the test. */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <math.h>
#include <unistd.h>

#include "base/status.h"
#include "cli/report/report.h"

enum { SHOWN = 60, SLOWEST = 20, FAILED = 200, NAME = 200 };

/* ---- what stands around the sheet ---------------------------------------------------------------------- */

static struct {
    const char *call;
    int after;
    json_t *written; /* the report, or NULL */
    int writes;
    char path[32], subject[1100];
    int threads;
    size_t uri_size; /* of the next pictures; 0: their sizes as text */
    int quality;
    lap_picture drawn[2 * SHOWN + 8];
    int drawn_count, differs; /* by how much the first pixels of the last difference differ */
    lap_settings read[8];     /* with which pictures were read */
    int read_count;
} sys;

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return strike(sys.call, "strdup", &sys.after, ENOMEM) ? NULL : __real_strdup(text);
}

json_t *__wrap_lap_report_create(const lap_cli *cli, const char *subject, int threads);
json_t *__wrap_lap_report_create(const lap_cli *cli, const char *subject, int threads)
{
    assert_non_null(cli);
    snprintf(sys.subject, sizeof sys.subject, "%s", subject);
    sys.threads = threads;
    return strike(sys.call, "create", &sys.after, ENOMEM) ? NULL : json_object();
}

void __wrap_lap_report_add_results(json_t *report, json_t *results);
void __wrap_lap_report_add_results(json_t *report, json_t *results)
{
    json_object_set_new(report, "results", results);
}

int __wrap_lap_report_write(const char *path, json_t *report);
int __wrap_lap_report_write(const char *path, json_t *report)
{
    snprintf(sys.path, sizeof sys.path, "%s", path);
    sys.written = report;
    return 40 + sys.writes++;
}

lap_code __real_lap_pnm_of(const lap_picture *picture, lap_pnm *pnm, lap_error *err);
lap_code __wrap_lap_pnm_of(const lap_picture *picture, lap_pnm *pnm, lap_error *err);
lap_code __wrap_lap_pnm_of(const lap_picture *picture, lap_pnm *pnm, lap_error *err)
{
    sys.drawn[sys.drawn_count++] = *picture;
    if (picture->other)
        sys.differs = picture->view->base[0] - picture->other->base[0];
    if (strike(sys.call, "pnm", &sys.after, ENOMEM))
        return lap_report_no_memory(err);
    return __real_lap_pnm_of(picture, pnm, err);
}

lap_code __real_lap_pixels_read(lap_context *context, const char *path, const lap_settings *settings,
    lap_pixels **pixels, lap_error *err);
lap_code __wrap_lap_pixels_read(lap_context *context, const char *path, const lap_settings *settings,
    lap_pixels **pixels, lap_error *err);
lap_code __wrap_lap_pixels_read(
    lap_context *context, const char *path, const lap_settings *settings, lap_pixels **pixels, lap_error *err)
{
    if (sys.read_count < 8)
        sys.read[sys.read_count++] = *settings;
    return __real_lap_pixels_read(context, path, settings, pixels, err);
}

lap_code __wrap_lap_data_uri(
    lap_context *context, const lap_pnm *pnm, int quality, json_t **uri, lap_error *err);
lap_code __wrap_lap_data_uri(
    lap_context *context, const lap_pnm *pnm, int quality, json_t **uri, lap_error *err)
{
    char head[16];
    assert_true(context && pnm->bytes && pnm->size > 8);
    sys.quality = quality;
    if (strike(sys.call, "uri", &sys.after, ENOMEM))
        return lap_report_no_memory(err);
    if (sys.uri_size) {
        char *text = malloc(sys.uri_size);
        memset(text, 'x', sys.uri_size);
        *uri = json_stringn(text, sys.uri_size);
        free(text);
    } else {
        snprintf(head, sizeof head, "%.*s", (int)strcspn((const char *)pnm->bytes + 3, "\n"),
            (const char *)pnm->bytes + 3);
        *uri = json_string(head);
    }
    return LAP_OK;
}

/* ---- a sheet ------------------------------------------------------------------------------------------- */

static lap_sheet *sheet;
static lap_context *context;
static lap_cli *cli;
static const char *const operands[] = {"in", "b", "c", "out"};

static int begin(void **state)
{
    (void)state;
    memset(&sys, 0, sizeof sys);
    sheet = lap_sheet_create();
    context = lap_context_create(2, NULL);
    cli = calloc(1, sizeof *cli);
    if (!sheet || !context || !cli || chdir(scratch) != 0)
        return -1;
    cli->settings = lap_settings_default();
    cli->operands = (char **)operands;
    cli->operand_count = 2;
    cli->report = "page.html";
    return 0;
}

static int end(void **state)
{
    (void)state;
    json_decref(sys.written);
    lap_sheet_free(sheet);
    lap_context_destroy(context);
    free(cli);
    empty_scratch();
    return 0;
}

/* Writes the page, and returns what it holds of the folder. */
static json_t *written(void)
{
    json_decref(sys.written);
    sys.drawn_count = 0;
    const int code = lap_sheet_write(sheet, cli, context, json_pack("{si}", "n", 7));
    assert_int_equal(code, 39 + sys.writes);
    assert_string_equal(sys.path, "page.html");
    assert_int_equal(sys.threads, 2);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(sys.written, "results"), "n")), 7);
    return json_object_get(sys.written, "folder");
}

static json_t *row(json_t *folder, const char *list, size_t i)
{
    return json_array_get(json_object_get(folder, list), i);
}

static size_t length(json_t *folder, const char *list)
{
    return json_array_size(json_object_get(folder, list));
}

static const char *text(json_t *of, const char *key)
{
    const char *value = json_string_value(json_object_get(of, key));
    assert_non_null(value);
    return value;
}

static int number(json_t *of, const char *key)
{
    assert_true(json_is_integer(json_object_get(of, key)));
    return (int)json_integer_value(json_object_get(of, key));
}

static void add(const char *input, const char *output, lap_status status, lap_code code, double ms)
{
    lap_report report = {
        .status = status, .width = 64, .height = 48, .resolved = "simd", .error = {.code = code}};
    report.ms.total = ms;
    if (code != LAP_OK)
        snprintf(report.error.message, sizeof report.error.message, "why %s", input);
    lap_sheet_add_file(sheet, &(lap_batch_file){input, output, &report});
}

/* ---- lists --------------------------------------------------------------------------------------------- */

/* The slowest come first, of equal ones those that came first; what was only up to date took no time. */
static void slowest(void **state)
{
    char name[24];
    (void)state;
    for (int i = 0; i < 25; i++) {
        snprintf(name, sizeof name, "%d.jpg", i);
        add(name, "x", i % 2 ? LAP_DONE : LAP_WARNED, LAP_OK, i * 7 % 25);
    }
    add("equal.jpg", "x", LAP_DONE, LAP_OK, 24);
    add("kept.jpg", "x", LAP_SKIPPED, LAP_OK, 99);
    json_t *folder = written();
    assert_int_equal(length(folder, "slowest"), SLOWEST);
    for (int i = 0; i < SLOWEST; i++) {
        json_t *one = row(folder, "slowest", (size_t)i);
        const int ms = i == 0 ? 24 : 25 - i;
        assert_true(json_real_value(json_object_get(one, "ms")) == ms);
        for (int j = 0; j < 25; j++)
            if (j * 7 % 25 == ms)
                snprintf(name, sizeof name, "%d.jpg", j);
        assert_string_equal(text(one, "name"), i == 1 ? "equal.jpg" : name);
        assert_string_equal(text(one, "what"), "simd");
        assert_string_equal(text(one, "message"), "");
        assert_int_equal(number(one, "width"), 64);
        assert_int_equal(number(one, "height"), 48);
        assert_null(json_object_get(one, "pictures"));
    }
    assert_int_equal(number(folder, "shown_of"), 27);
    assert_int_equal(length(folder, "sheet"), 27);
    assert_int_equal(length(folder, "failed"), 0);
}

/* What failed, or was left alone for a reason, is listed in the order in which it came, up to a limit. */
static void failed(void **state)
{
    char name[24], message[40];
    (void)state;
    for (int i = 0; i < FAILED + 3; i++) {
        snprintf(name, sizeof name, "%d.jpg", i);
        add(name, NULL, i % 2 ? LAP_FAILED : LAP_SKIPPED, i % 2 ? LAP_E_TRUNCATED : LAP_E_EXISTS, i);
    }
    json_t *folder = written();
    assert_int_equal(length(folder, "failed"), FAILED);
    assert_int_equal(number(folder, "more_failed"), 3);
    for (int i = 0; i < FAILED; i++) {
        json_t *one = row(folder, "failed", (size_t)i);
        snprintf(name, sizeof name, "%d.jpg", i);
        snprintf(message, sizeof message, "why %s", name);
        assert_string_equal(text(one, "name"), name);
        assert_string_equal(text(one, "what"), lap_code_name(i % 2 ? LAP_E_TRUNCATED : LAP_E_EXISTS));
        assert_string_equal(text(one, "message"), message);
    }
    assert_int_equal(length(folder, "slowest"), 0);
    assert_int_equal(length(folder, "sheet"), 0);
    assert_int_equal(number(folder, "shown_of"), 0);
}

/* Long messages keep their beginning, long names their end, and no character is split. */
static void shortened(void **state)
{
    lap_report report = {.status = LAP_FAILED, .error = {.code = LAP_E_LIMIT}};
    char name[3 * NAME + 1], *at = name;
    (void)state;
    memset(report.error.message, 'm', 320);
    for (int i = 0; i < NAME; i++)
        at = stpcpy(at, "\xE2\x82\xAC");
    for (int excess = 0; excess < 4; excess++)
        lap_sheet_add_file(
            sheet, &(lap_batch_file){name + sizeof name - 1 - NAME - 1 - excess, NULL, &report});
    lap_sheet_add_file(sheet, &(lap_batch_file){name + 3 * (NAME - 66), NULL, &report}); /* 198 bytes */
    memset(name, 'a', NAME + 1);
    name[NAME + 1] = 0;
    lap_sheet_add_file(sheet, &(lap_batch_file){name + 1, NULL, &report}); /* fits */
    lap_sheet_add_file(sheet, &(lap_batch_file){name, NULL, &report});
    json_t *folder = written();
    assert_int_equal(strlen(text(row(folder, "failed", 0), "message")), 299);
    assert_null(json_string_value(json_object_get(row(folder, "failed", 0), "width")));
    assert_true(json_is_null(json_object_get(row(folder, "failed", 0), "width")));
    assert_true(json_is_null(json_object_get(row(folder, "failed", 0), "height")));
    for (size_t i = 0; i < 4; i++) { /* an ellipsis, and 66 whole characters */
        const char *shown = text(row(folder, "failed", i), "name");
        assert_int_equal(strlen(shown), 3 + 198);
        assert_int_equal(strncmp(shown, "\xE2\x80\xA6\xE2\x82\xAC", 6), 0);
    }
    assert_int_equal(strlen(text(row(folder, "failed", 4), "name")), 198);
    assert_int_equal(strlen(text(row(folder, "failed", 5), "name")), NAME);
    assert_int_equal(strlen(text(row(folder, "failed", 6), "name")), 3 + NAME);
}

/* ---- what is shown ------------------------------------------------------------------------------------- */

static uint64_t fnv(const char *name)
{
    uint64_t hash = 14695981039346656037u;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 1099511628211u;
    return hash;
}

/* The 60 photos whose names have the largest hashes, whatever the order in which they were finished. */
static void chosen(void **state)
{
    enum { COUNT = 100 };
    char names[COUNT][24];
    (void)state;
    for (int i = 0; i < COUNT; i++)
        snprintf(names[i], sizeof names[i], "%03d\xFF.jpg", i);
    for (int order = 0; order < 2; order++) {
        lap_sheet_free(sheet);
        sheet = lap_sheet_create();
        for (int i = 0; i < COUNT; i++)
            add(names[order ? COUNT - 1 - i : i], "none", i % 3 ? LAP_DONE : LAP_SKIPPED, LAP_OK, 1);
        json_t *folder = written();
        size_t next = 0;
        for (int i = 0; i < COUNT; i++) {
            int larger = 0;
            for (int j = 0; j < COUNT; j++)
                larger += fnv(names[j]) > fnv(names[i]);
            if (larger < SHOWN)
                assert_int_equal(strncmp(text(row(folder, "sheet", next++), "name"), names[i], 3), 0);
        }
        assert_int_equal(next, SHOWN);
        assert_int_equal(length(folder, "sheet"), SHOWN);
        assert_int_equal(number(folder, "shown_of"), COUNT);
    }
}

static void pairs(void **state)
{
    char message[120], name[24];
    const lap_error broken = {.code = LAP_E_DAMAGED, .message = "is broken"};
    (void)state;
    cli->forms = LAP_CLI_DIFF_FOLDER;
    for (int i = 0; i < SHOWN + 2; i++) {
        lap_difference d = {.max_abs = i,
            .differing_pixels = 10u + (unsigned)i,
            .pixels = 3072,
            .psnr = 20.25 + i,
            .rmse = i * 5 % 61 + i / 61 * 61.0};
        snprintf(name, sizeof name, "%02d.jpg", i);
        const lap_pair pair = {.a = "a",
            .b = "b",
            .relative = name,
            .width = 64,
            .height = 48,
            .difference = &d,
            .error = &broken};
        lap_sheet_add_pair(sheet, &pair, "different", i % 2);
        d.identical = true;
        lap_sheet_add_pair(sheet, &pair, "identical", true);
    }
    lap_sheet_add_pair(sheet, &(lap_pair){.relative = "z.jpg", .a = "a", .error = &broken}, "only_a", false);
    json_t *folder = written();
    assert_string_equal(sys.subject, "in and b");
    assert_int_equal(length(folder, "failed"), (SHOWN + 2) / 2 + 1);
    for (size_t i = 0; i < (SHOWN + 2) / 2; i++) {
        json_t *one = row(folder, "failed", i);
        const int nth = 2 * (int)i;
        snprintf(name, sizeof name, "%02d.jpg", nth);
        snprintf(message, sizeof message, "by up to %d, %d of 3072 pixels, PSNR %d.25 dB", nth, 10 + nth,
            20 + nth);
        assert_string_equal(text(one, "name"), name);
        assert_string_equal(text(one, "what"), "different");
        assert_string_equal(text(one, "message"), message);
        assert_int_equal(number(one, "width"), 64);
        assert_int_equal(number(one, "height"), 48);
    }
    json_t *last = row(folder, "failed", (SHOWN + 2) / 2);
    assert_string_equal(text(last, "name"), "z.jpg");
    assert_string_equal(text(last, "what"), "only_a");
    assert_string_equal(text(last, "message"), "is broken");
    /* The worst are shown, the worst first: 61 has an RMSE of 61, i of 5 i modulo 61. */
    assert_int_equal(length(folder, "sheet"), SHOWN);
    assert_int_equal(number(folder, "shown_of"), SHOWN + 2);
    for (int at = 0; at < SHOWN; at++) {
        int nth = 0;
        while (nth * 5 % 61 + nth / 61 * 61 != 61 - at)
            nth++;
        snprintf(name, sizeof name, "%02d.jpg", nth);
        snprintf(message, sizeof message, "PSNR %d.2 dB", 20 + nth);
        assert_string_equal(text(row(folder, "sheet", (size_t)at), "name"), name);
        assert_string_equal(text(row(folder, "sheet", (size_t)at), "what"), message);
    }
    assert_int_equal(length(folder, "slowest"), 0);
}

static void subjects(void **state)
{
    (void)state;
    (void)written();
    assert_string_equal(sys.subject, "in");
    cli->operand_count = 3;
    (void)written();
    assert_string_equal(sys.subject, "in and 1 more");
    cli->operand_count = 4;
    (void)written();
    assert_string_equal(sys.subject, "in and 2 more");
    cli->operand_count = 1;
    cli->files_from = "list";
    (void)written();
    assert_string_equal(sys.subject, "list");
}

/* ---- pictures ------------------------------------------------------------------------------------------ */

static void picture(const char *name, int width, int height, int value)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "P5 %d %d 255\n", width, height) > 0);
    for (int i = 0; i < width * height; i++)
        assert_int_equal(fputc(value, file), value);
    assert_int_equal(fclose(file), 0);
}

static const char *shown(json_t *folder, size_t at, size_t nth)
{
    json_t *one = json_array_get(json_object_get(row(folder, "sheet", at), "pictures"), nth);
    assert_non_null(one);
    return json_is_null(one) ? "null" : json_string_value(one);
}

/* The longer side is reduced to 220 pixels, and no side below one; a picture that cannot be read is null. */
static void pictures(void **state)
{
    static const struct {
        int width, height;
        const char *size;
    } sizes[] = {{220, 110, "220 110"}, {221, 110, "220 109"}, {440, 110, "220 55"}, {110, 440, "55 220"},
        {100, 100, "100 100"}, {2000, 3, "220 1"}, {3, 2000, "1 220"}};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    char name[24];
    (void)state;
    for (int i = 0; i < SIZES; i++) {
        snprintf(name, sizeof name, "%d.pgm", i);
        picture(name, sizes[i].width, sizes[i].height, 9);
        add(name, i == 1 ? "missing.pgm" : i == 2 ? NULL : name, LAP_DONE, LAP_OK, 1);
    }
    for (int filter = 0; filter < 2; filter++) {
        cli->settings.filter = filter;
        json_t *folder = written();
        for (int i = 0; i < SIZES; i++) {
            assert_int_equal(
                json_array_size(json_object_get(row(folder, "sheet", (size_t)i), "pictures")), 2);
            assert_string_equal(shown(folder, (size_t)i, 0), sizes[i].size);
            assert_string_equal(shown(folder, (size_t)i, 1), i == 1 || i == 2 ? "null" : sizes[i].size);
        }
        assert_int_equal(sys.quality, 80);
        assert_int_equal(sys.drawn_count, 2 * SIZES - 2);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(sys.drawn[i].mean, i && filter ? LAP_MEAN_SQUARE : LAP_MEAN_PLAIN);
            assert_null(sys.drawn[i].other);
            assert_true(sys.drawn[i].box.x == 0 && sys.drawn[i].box.y == 0 && sys.drawn[i].box.width == 220 &&
                        sys.drawn[i].box.height == 110);
        }
    }
    sys.call = "pnm", sys.after = 0;
    assert_string_equal(shown(written(), 0, 0), "null");
    sys.call = "uri", sys.after = 1;
    json_t *folder = written();
    assert_string_equal(shown(folder, 0, 0), "220 110");
    assert_string_equal(shown(folder, 0, 1), "null");
    assert_string_equal(shown(folder, 3, 1), "null");
}

/* All pictures together have 3,500,000 bytes; a later one that fits is still shown. */
static void much(void **state)
{
    char name[24];
    (void)state;
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%d.pgm", i);
        picture(name, 8, 8, 9);
        add(name, i == 2 ? "none" : name, LAP_DONE, LAP_OK, 1);
    }
    for (size_t excess = 0; excess < 2; excess++) {
        sys.uri_size = 700000 + excess;
        json_t *folder = written();
        for (size_t i = 0; i < 5; i++)
            assert_int_equal(strcmp(shown(folder, i / 2, i % 2), "null") == 0, excess && i == 4);
    }
}

/* Two images and their difference; with other sizes there is none. Pixels that count as equal are black. */
static void differences(void **state)
{
    const lap_difference d = {.rmse = 1, .psnr = 30}, e = {.rmse = 2, .psnr = 30};
    (void)state;
    cli->forms = LAP_CLI_DIFF_FOLDER;
    picture("a.pgm", 100, 50, 9);
    picture("b.pgm", 100, 50, 12);
    picture("c.pgm", 50, 100, 12);
    lap_sheet_add_pair(
        sheet, &(lap_pair){.a = "a.pgm", .b = "b.pgm", .relative = "b", .difference = &e}, "different", true);
    lap_sheet_add_pair(
        sheet, &(lap_pair){.a = "a.pgm", .b = "c.pgm", .relative = "a", .difference = &d}, "different", true);
    for (int excused = 0; excused < 2; excused++) {
        cli->allowed.pixel_threshold = excused ? 3 : 0;
        json_t *folder = written();
        assert_string_equal(text(row(folder, "sheet", 0), "name"), "b");
        assert_int_equal(json_array_size(json_object_get(row(folder, "sheet", 0), "pictures")), 3);
        assert_int_equal(json_array_size(json_object_get(row(folder, "sheet", 1), "pictures")), 2);
        for (size_t i = 0; i < 3; i++) {
            assert_string_equal(shown(folder, 0, i), "100 50");
            assert_int_equal(sys.drawn[i].mean, LAP_MEAN_PLAIN);
            assert_int_equal(sys.drawn[i].other != NULL, i == 2);
        }
        assert_int_equal(sys.differs, excused ? 0 : -3);
        assert_string_equal(shown(folder, 1, 1), "50 100");
        assert_int_equal(length(folder, "failed"), 0);
    }
}

/* Pictures are read in colour, however damaged, and upright; those of a diff are read as it compared
 * them. */
static void read_as(void **state)
{
    const lap_difference d = {.rmse = 1, .psnr = 30};
    (void)state;
    picture("a.pgm", 8, 8, 9);
    add("a.pgm", "a.pgm", LAP_DONE, LAP_OK, 1);
    cli->settings.gray = true;
    cli->settings.fail_on = LAP_FAIL_WARNING;
    for (int is_diff = 0; is_diff < 2; is_diff++)
        for (int upright = 0; upright < 2; upright++) {
            cli->settings.auto_orient = upright;
            sys.read_count = 0;
            (void)written();
            assert_int_equal(sys.read_count, 2);
            assert_int_equal(sys.read[0].auto_orient, upright || !is_diff);
            assert_int_equal(sys.read[1].auto_orient, upright || !is_diff);
            for (int i = 0; i < 2; i++)
                assert_true(!sys.read[i].gray && sys.read[i].fail_on == LAP_FAIL_NONE);
            if (!is_diff && upright) {
                cli->forms = LAP_CLI_DIFF_FOLDER;
                lap_sheet_free(sheet);
                sheet = lap_sheet_create();
                lap_sheet_add_pair(sheet,
                    &(lap_pair){.a = "a.pgm", .b = "a.pgm", .relative = "a", .difference = &d}, "different",
                    true);
            }
        }
}

/* ---- without memory ------------------------------------------------------------------------------------ */

static void no_memory(void **state)
{
    (void)state;
    lap_sheet *const mine = sheet;
    sheet = NULL; /* all functions accept none */
    lap_sheet_free(NULL);
    add("a", "b", LAP_DONE, LAP_OK, 1);
    add("a", "b", LAP_FAILED, LAP_E_LIMIT, 1);
    lap_sheet_add_pair(NULL, &(lap_pair){.relative = "a"}, "different", false);
    assert_int_equal(lap_sheet_write(NULL, cli, context, json_object()), 40);
    assert_null(sys.written);
    sheet = mine;
    sys.call = "create", sys.after = 0;
    assert_int_equal(lap_sheet_write(sheet, cli, context, json_object()), 41);
    assert_null(sys.written);
    for (int after = 0; after < 6; after++) { /* three names of each of two entries */
        lap_sheet_free(sheet);
        sheet = lap_sheet_create();
        sys.call = "strdup", sys.after = after;
        add("a", "b", LAP_DONE, LAP_OK, 1);
        sys.call = NULL;
        assert_int_equal(lap_sheet_write(sheet, cli, context, json_object()), 42 + after);
        assert_null(sys.written);
    }
    lap_sheet_free(sheet);
    sheet = lap_sheet_create();
    add("a", NULL, LAP_DONE, LAP_OK, 1); /* without an output there is nothing to copy */
    assert_int_equal(lap_sheet_write(sheet, cli, context, json_object()), 48);
    assert_non_null(sys.written);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {TEST(slowest), TEST(failed), TEST(shortened), TEST(chosen),
        TEST(pairs), TEST(subjects), TEST(pictures), TEST(much), TEST(differences), TEST(read_as),
        TEST(no_memory)};
    if (!make_scratch())
        return 1;
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
