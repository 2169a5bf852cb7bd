/* Many files at once that are only read: statistics of each (lap_measure_batch), and two folders compared in
 * pairs (lap_compare_folders): what each call is given, in which order, and what is counted. */
#include "tests/support/scratch.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "lapedge_program.h"

/* ---- pictures ------------------------------------------------------------------------------------------ */

/* A gray PNM of 16x12, each pixel `value`, but the first one `first`. */
static void picture(const char *name, int width, int value, int first)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "P5 %d 12 255\n", width) > 0);
    for (int i = 0; i < width * 12; i++)
        assert_int_equal(fputc(i ? value : first, file), i ? value : first);
    assert_int_equal(fclose(file), 0);
}

/* A gray JPEG of 16x40, each pixel 9, whose data end early: with --fail-on=none a warning. */
static void cut_picture(const char *name)
{
    static uint8_t pixels[16 * 40];
    const lap_view view = {
        .base = pixels, .width = 16, .height = 40, .channels = 1, .stride = 16, .place = LAP_ON_HOST};
    lap_settings plain = lap_settings_default();
    void *jpeg = NULL;
    size_t size = 0;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i / 16 < 8 ? 9 : i * i * 7 % 251);
    assert_int_equal(lap_encode(&view, &plain, &jpeg, &size, NULL), LAP_OK);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(jpeg, 1, size - 100, file), size - 100);
    assert_int_equal(fclose(file), 0);
    free(jpeg);
}

static lap_context *context;
static lap_settings settings;
static lap_batch_options options;
static lap_batch_counts counts;
static lap_error err;
static const char *const all[] = {"*"};
static const lap_batch_take every = {.include = all, .include_count = 1};

static int begin(void **state)
{
    (void)state;
    settings = lap_settings_default();
    settings.fail_on = LAP_FAIL_NONE;
    options = (lap_batch_options){.take = &every};
    err = (lap_error){0};
    memset(&counts, 0xFF, sizeof counts);
    context = lap_context_create(2, NULL);
    return chdir(scratch) || !context;
}

static int end(void **state)
{
    (void)state;
    lap_context_destroy(context);
    empty_scratch();
    return 0;
}

/* ---- statistics ---------------------------------------------------------------------------------------- */

enum { MOST = 32 };
static struct {
    int count, ticks;
    char inputs[MOST][64], messages[MOST][480], texts[MOST][32];
    double means[MOST]; /* -1: not measured */
    lap_status status[MOST];
    uint64_t found[MOST], done[MOST]; /* counts at that time */
} seen;

static void on_measured(void *user, const lap_measured *file, const lap_batch_counts *so_far)
{
    assert_ptr_equal(user, &seen);
    assert_ptr_equal(so_far, &counts);
    if (!file) {
        seen.ticks++;
        return;
    }
    const int i = seen.count++;
    assert_true(i < MOST);
    snprintf(seen.inputs[i], sizeof seen.inputs[i], "%s", file->input);
    snprintf(seen.messages[i], sizeof seen.messages[i], "%s", file->report->error.message);
    snprintf(seen.texts[i], sizeof seen.texts[i], "%s", file->text ? file->text : "-");
    seen.means[i] = file->measurement ? file->measurement->stats.input.channel[0].mean : -1;
    seen.status[i] = file->report->status;
    seen.found[i] = so_far->found;
    seen.done[i] = so_far->ok + so_far->warned + so_far->failed;
}

static char *text_of(void *user, const lap_measured *file)
{
    char *text;
    assert_ptr_equal(user, &seen);
    return asprintf(&text, "%d", file->measurement->width) < 0 ? NULL : text;
}

static lap_code measure(const char *const *inputs, size_t count, bool with_text)
{
    static const lap_measure_options what = {.threshold = -1};
    memset(&seen, 0, sizeof seen);
    options.inputs = inputs;
    options.input_count = count;
    const lap_measure_order order = {.options = &options,
        .measure = &what,
        .each = on_measured,
        .text = with_text ? text_of : NULL,
        .user = &seen};
    return lap_measure_batch(context, &order, &settings, &counts, &err);
}

/* mean -2: any. */
static void assert_seen(int i, const char *input, lap_status status, double mean)
{
    assert_string_equal(seen.inputs[i], input);
    assert_int_equal(seen.status[i], status);
    assert_true(mean < -1 ? seen.means[i] > 0 : seen.means[i] == mean);
    assert_int_equal(seen.done[i], i + 1);
    assert_in_range(seen.found[i], i + 1, MOST);
}

static void measured(void **state)
{
    static const char *const inputs[] = {"in", "missing.pgm", "b.pgm"};
    (void)state;
    assert_int_equal(mkdir("in", 0777), 0);
    assert_int_equal(mkdir("in/deep", 0777), 0);
    picture("in/a.pgm", 16, 1, 1);
    picture("b.pgm", 20, 2, 2);
    picture("in/deep/c.pgm", 16, 3, 3);
    cut_picture("in/d.jpg");
    put("in/e.pgm", "P5");
    assert_int_equal(symlink("a.pgm", "in/link.pgm"), 0);
    for (int with_text = 0; with_text < 2; with_text++) {
        lap_batch_others others = {0};
        options.others = &others;
        assert_int_equal(measure(inputs, 3, with_text), LAP_OK);
        assert_int_equal(err.code, LAP_OK);
        assert_int_equal(seen.count, 6);
        assert_seen(0, "in/a.pgm", LAP_DONE, 1);
        assert_seen(1, "in/d.jpg", LAP_WARNED, -2);
        assert_seen(2, "in/e.pgm", LAP_FAILED, -1);
        assert_seen(3, "in/deep/c.pgm", LAP_DONE, 3);
        assert_seen(4, "missing.pgm", LAP_FAILED, -1);
        assert_seen(5, "b.pgm", LAP_DONE, 2);
        assert_true(strlen(seen.messages[2]) > 0 && strlen(seen.messages[4]) > 0);
        assert_string_equal(seen.texts[0], with_text ? "16" : "-");
        assert_string_equal(seen.texts[5], with_text ? "20" : "-");
        assert_string_equal(seen.texts[2], "-");
        assert_int_equal(counts.found, 6);
        assert_int_equal(counts.expected, 6);
        assert_int_equal(counts.ok, 3);
        assert_int_equal(counts.warned, 1);
        assert_int_equal(counts.failed, 2);
        assert_int_equal(counts.skipped, 0);
        assert_int_equal(counts.links, 1);
        assert_int_equal(counts.vanished, 0);
        assert_int_equal(others.files, 0); /* counted once, in the first walk */
    }
}

/* Files that are no inputs are counted once, though there are two walks. */
static void others_counted(void **state)
{
    static const char *const inputs[] = {"in"};
    lap_batch_others others = {0};
    (void)state;
    assert_int_equal(mkdir("in", 0777), 0);
    picture("in/a.pgm", 16, 1, 1);
    put("in/b.txt", "x");
    options.others = &others;
    assert_int_equal(measure(inputs, 1, false), LAP_OK);
    assert_int_equal(others.files, 1);
    assert_int_equal(counts.expected, 1);
}

/* An input that is named again, by whatever path, is measured once; its name elsewhere is another file. */
static void named_again(void **state)
{
    static const char *const inputs[] = {
        "in/a.pgm", "./in/a.pgm", "in", "other/a.pgm", "in/../other/a.pgm", "a.pgm", "./a.pgm", "in/a.pgm"};
    static const char *const wanted[] = {"in/a.pgm", "in/b.pgm", "other/a.pgm", "a.pgm"};
    (void)state;
    assert_int_equal(mkdir("in", 0777), 0);
    assert_int_equal(mkdir("other", 0777), 0);
    picture("in/a.pgm", 16, 1, 1);
    picture("in/b.pgm", 16, 2, 2);
    picture("other/a.pgm", 16, 3, 3);
    picture("a.pgm", 16, 4, 4);
    assert_int_equal(measure(inputs, 8, false), LAP_OK);
    assert_int_equal(seen.count, 4);
    for (int i = 0; i < 4; i++)
        assert_seen(i, wanted[i], LAP_DONE, i + 1);
    assert_int_equal(counts.expected, 4);
    assert_int_equal(counts.found, 4);
    /* The same from a list. */
    put("list", "in/a.pgm\n./in/a.pgm\nother/a.pgm\nin/b.pgm\nin/a.pgm\n");
    options.files_from = "list";
    assert_int_equal(measure(NULL, 0, false), LAP_OK);
    assert_int_equal(seen.count, 3);
    assert_int_equal(counts.expected, 3);
    assert_seen(0, "in/a.pgm", LAP_DONE, 1);
    assert_seen(1, "other/a.pgm", LAP_DONE, 3);
    assert_seen(2, "in/b.pgm", LAP_DONE, 2);
}

/* --fail-fast: nothing is given after the first failure. */
static void failed_fast(void **state)
{
    static const char *const inputs[] = {"a.pgm", "broken.pgm", "b.pgm", "c.pgm"};
    (void)state;
    picture("a.pgm", 16, 1, 1);
    picture("b.pgm", 16, 2, 2);
    picture("c.pgm", 16, 3, 3);
    put("broken.pgm", "P5");
    for (int jobs = 1; jobs < 3; jobs++) {
        options.fail_fast = true;
        options.jobs = jobs;
        assert_int_equal(measure(inputs, 4, false), LAP_OK);
        assert_int_equal(seen.count, 2);
        assert_seen(0, "a.pgm", LAP_DONE, 1);
        assert_seen(1, "broken.pgm", LAP_FAILED, -1);
        assert_int_equal(counts.ok, 1);
        assert_int_equal(counts.failed, 1);
        options.fail_fast = false;
        assert_int_equal(measure(inputs, 4, false), LAP_OK);
        assert_int_equal(seen.count, 4);
        assert_int_equal(counts.ok, 3);
    }
}

static void not_begun(void **state)
{
    static const char *const inputs[] = {"a.pgm"};
    (void)state;
    picture("a.pgm", 16, 1, 1);
    settings.quality = 101;
    assert_int_equal(measure(inputs, 1, false), LAP_E_USAGE);
    settings = lap_settings_default();
    settings.backend = "no-such";
    assert_int_equal(measure(inputs, 1, false), LAP_E_USAGE);
    settings = lap_settings_default();
    options.files_from = "no-list";
    assert_int_equal(measure(NULL, 0, false), LAP_E_MISSING);
    options.files_from = NULL;
    static const char *const gif[] = {"*.gif"};
    const lap_batch_take unreadable = {.include = gif, .include_count = 1};
    options.take = &unreadable;
    assert_int_equal(measure(inputs, 1, false), LAP_E_USAGE);
    options.take = &every;
    lap_context_cancel(context);
    assert_int_equal(measure(inputs, 1, false), LAP_E_CANCELLED);
    assert_int_equal(seen.count, 0);
}

/* ---- pairs --------------------------------------------------------------------------------------------- */

static struct {
    int count, ends_at;
    struct {
        char a[64], b[64], relative[64], message[480], subject[256];
        int width, height, channels, max_abs;
        bool has_difference, identical, excused;
        lap_code code;
        uint64_t warnings[2];
        double ssim;
    } pairs[MOST];
} met;

static bool on_pair(void *user, const lap_pair *pair, const lap_batch_counts *so_far)
{
    assert_ptr_equal(user, &met);
    assert_ptr_equal(so_far, &counts);
    if (!pair)
        return true;
    assert_true(met.count < MOST);
#define PUT(field, text) snprintf(met.pairs[met.count].field, sizeof met.pairs[0].field, "%s", text)
    PUT(a, pair->a ? pair->a : "-");
    PUT(b, pair->b ? pair->b : "-");
    PUT(relative, pair->relative);
    PUT(message, pair->error->message);
    PUT(subject, pair->error->subject);
    met.pairs[met.count].width = pair->width;
    met.pairs[met.count].height = pair->height;
    met.pairs[met.count].channels = pair->channels;
    met.pairs[met.count].has_difference = pair->difference;
    if (pair->difference) {
        met.pairs[met.count].max_abs = pair->difference->max_abs;
        met.pairs[met.count].identical = pair->difference->identical;
        met.pairs[met.count].ssim = pair->difference->ssim;
    }
    met.pairs[met.count].excused = pair->excused;
    met.pairs[met.count].code = pair->error->code;
    met.pairs[met.count].warnings[0] = pair->reads[0]->warnings;
    met.pairs[met.count].warnings[1] = pair->reads[1]->warnings;
    return ++met.count != met.ends_at;
}

static lap_diff_rules rules;

static lap_code compare(const char *a, const char *b)
{
    const int ends_at = met.ends_at;
    memset(&met, 0, sizeof met);
    met.ends_at = ends_at;
    const lap_pairing pairing = {a, b, &options, &rules, on_pair, &met};
    return lap_compare_folders(context, &pairing, &settings, &counts, &err);
}

static int begin_pairs(void **state)
{
    rules = (lap_diff_rules){0};
    memset(&met, 0, sizeof met);
    return begin(state) || mkdir("x", 0777) || mkdir("y", 0777);
}

static void assert_met(int i, const char *a, const char *b, const char *relative, lap_code code)
{
    assert_string_equal(met.pairs[i].a, a);
    assert_string_equal(met.pairs[i].b, b);
    assert_string_equal(met.pairs[i].relative, relative);
    assert_int_equal(met.pairs[i].code, code);
    assert_int_equal(met.pairs[i].message[0] != 0, code != LAP_OK);
}

static void pairs(void **state)
{
    static const char *const folders[][2] = {{"x", "y"}, {"x/", "y/"}, {"./x", "y/"}};
    static const char *const begins[][2] = {{"x/", "y/"}, {"x/", "y/"}, {"./x/", "y/"}};
    (void)state;
    picture("x/a.pgm", 16, 1, 1), picture("y/a.pgm", 16, 1, 1);
    picture("x/b.pgm", 16, 1, 1), picture("y/b.pgm", 16, 1, 5);
    picture("x/c.pgm", 16, 1, 1), picture("y/c.pgm", 20, 1, 1);
    picture("x/d.pgm", 16, 1, 1);
    picture("y/e.pgm", 16, 1, 1);
    cut_picture("x/f.jpg"), cut_picture("y/f.jpg");
    put("x/g.pgm", "P5"), picture("y/g.pgm", 16, 1, 1);
    picture("x/h.pgm", 16, 1, 1), put("y/h.pgm", "P5");
    assert_int_equal(symlink("a.pgm", "x/link.pgm"), 0);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char a[8][64], b[8][64];
        for (int j = 0; j < 8; j++) {
            snprintf(a[j], sizeof a[j], "%s%c.%s", begins[i][0], 'a' + j, j == 5 ? "jpg" : "pgm");
            snprintf(b[j], sizeof b[j], "%s%c.%s", begins[i][1], 'a' + j, j == 5 ? "jpg" : "pgm");
        }
        rules.with_ssim = i == 1;
        assert_int_equal(compare(folders[i][0], folders[i][1]), LAP_OK);
        assert_int_equal(met.count, 8);
        assert_met(0, a[0], b[0], "a.pgm", LAP_OK);
        assert_true(met.pairs[0].has_difference && met.pairs[0].identical && !met.pairs[0].excused);
        assert_int_equal(met.pairs[0].width, 16);
        assert_int_equal(met.pairs[0].height, 12);
        assert_int_equal(met.pairs[0].channels, 1);
        assert_true(i == 1 ? met.pairs[0].ssim == 1 : met.pairs[0].ssim != met.pairs[0].ssim);
        assert_met(1, a[1], b[1], "b.pgm", LAP_OK);
        assert_true(met.pairs[1].has_difference && !met.pairs[1].identical);
        assert_int_equal(met.pairs[1].max_abs, 4);
        assert_met(2, a[2], b[2], "c.pgm", LAP_E_DIFFERENT);
        assert_string_equal(met.pairs[2].message, "sizes differ: 16x12 and 20x12");
        assert_string_equal(met.pairs[2].subject, "c.pgm");
        assert_false(met.pairs[2].has_difference);
        assert_int_equal(met.pairs[2].width, 16);
        assert_met(3, a[3], "-", "d.pgm", LAP_OK);
        assert_false(met.pairs[3].has_difference);
        assert_int_equal(met.pairs[3].width, 0);
        assert_met(4, a[5], b[5], "f.jpg", LAP_OK);
        assert_true(met.pairs[4].warnings[0] > 0 && met.pairs[4].warnings[1] > 0);
        assert_true(met.pairs[0].warnings[0] == 0 && met.pairs[0].warnings[1] == 0);
        assert_true(met.pairs[5].code != LAP_OK && met.pairs[6].code != LAP_OK);
        assert_string_equal(met.pairs[5].subject, a[6]);
        assert_string_equal(met.pairs[6].subject, b[7]);
        assert_false(met.pairs[5].has_difference || met.pairs[6].has_difference);
        assert_met(7, "-", b[4], "e.pgm", LAP_OK);
        assert_int_equal(counts.found, 8);
        assert_int_equal(counts.expected, 8);
        assert_int_equal(counts.ok, 4);
        assert_int_equal(counts.warned, 1);
        assert_int_equal(counts.failed, 3);
        assert_int_equal(counts.links, 1);
    }
}

/* Memory is limited for both pictures together; one that needs more than the limit is tried alone. */
static void limited(void **state)
{
    (void)state;
    picture("x/a.pgm", 16, 1, 1), picture("y/a.pgm", 16, 1, 1);
    for (settings.max_memory = 1; settings.max_memory < 1 << 20; settings.max_memory *= 32) {
        assert_int_equal(compare("x", "y"), LAP_OK);
        assert_int_equal(met.count, 1);
        assert_true(met.pairs[0].code == LAP_OK || met.pairs[0].code == LAP_E_LIMIT);
        assert_int_equal(context->budget.used, 0);
    }
    assert_int_equal(met.pairs[0].code, LAP_OK);
}

/* Rules that excuse a difference, and those that leave nothing to compare. */
static void excused(void **state)
{
    const lap_diff_box first = {0, 0, 1, 1}, whole = {-1, 0, 100, 12}, inner = {1, 1, 14, 10};
    (void)state;
    picture("x/a.pgm", 16, 1, 1), picture("y/a.pgm", 16, 1, 5);
    rules.pixel_threshold = 3;
    assert_int_equal(compare("x", "y"), LAP_OK);
    assert_true(!met.pairs[0].excused && !met.pairs[0].identical);
    rules.pixel_threshold = 4;
    assert_int_equal(compare("x", "y"), LAP_OK);
    assert_true(met.pairs[0].excused && met.pairs[0].identical);
    rules = (lap_diff_rules){.ignore = &first, .ignore_count = 1};
    assert_int_equal(compare("x", "y"), LAP_OK);
    assert_true(met.pairs[0].excused && met.pairs[0].identical);
    rules = (lap_diff_rules){.mask_border = 1};
    assert_int_equal(compare("x", "y"), LAP_OK);
    assert_true(!met.pairs[0].excused && met.pairs[0].identical);
    rules = (lap_diff_rules){.ignore = &whole, .ignore_count = 1};
    assert_int_equal(compare("x", "y"), LAP_OK);
    assert_met(0, "x/a.pgm", "y/a.pgm", "a.pgm", LAP_E_DIFFERENT);
    assert_string_equal(met.pairs[0].message, "the rectangles to ignore leave no pixel to compare");
    assert_string_equal(met.pairs[0].subject, "a.pgm");
    rules = (lap_diff_rules){.ignore = &inner, .ignore_count = 1};
    assert_int_equal(compare("x", "y"), LAP_OK);
    assert_int_equal(met.pairs[0].code, LAP_OK);
    rules.mask_border = 1;
    assert_int_equal(compare("x", "y"), LAP_OK);
    assert_string_equal(
        met.pairs[0].message, "the rectangles to ignore and the border leave no pixel to compare");
}

/* What the caller ends is not given any more, nor counted. */
static void ended(void **state)
{
    char name[32];
    (void)state;
    for (int i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "x/%d.pgm", i);
        picture(name, 16, 1, 1);
        name[0] = 'y';
        picture(name, 16, 1, 1);
    }
    for (met.ends_at = 1; met.ends_at < 10; met.ends_at += 4) {
        assert_int_equal(compare("x", "y"), LAP_OK);
        assert_int_equal(met.count, met.ends_at);
        assert_int_equal(counts.ok, met.ends_at);
        assert_int_equal(counts.expected, 9);
    }
}

/* A folder and itself, two folders of which one is in the other, and what is no folder. */
static void folders(void **state)
{
    (void)state;
    picture("x/a.pgm", 16, 1, 1);
    assert_int_equal(mkdir("x/deep", 0777), 0);
    picture("x/deep/a.pgm", 16, 2, 2);
    assert_int_equal(compare("x", "x"), LAP_OK);
    assert_int_equal(met.count, 2);
    assert_met(0, "x/a.pgm", "x/a.pgm", "a.pgm", LAP_OK);
    assert_met(1, "x/deep/a.pgm", "x/deep/a.pgm", "deep/a.pgm", LAP_OK);
    assert_int_equal(counts.expected, 2);
    assert_int_equal(compare("x", "x/deep"), LAP_OK);
    assert_int_equal(met.count, 2);
    assert_met(0, "x/a.pgm", "x/deep/a.pgm", "a.pgm", LAP_OK);
    assert_met(1, "x/deep/a.pgm", "-", "deep/a.pgm", LAP_OK);
    for (int side = 0; side < 2; side++) {
        err = (lap_error){0};
        assert_int_equal(compare(side ? "x" : "none", side ? "none" : "x"), LAP_E_MISSING);
        assert_string_equal(err.subject, "none");
        assert_string_equal(err.message, "no such folder");
        assert_int_equal(compare(side ? "x" : "x/a.pgm", side ? "x/a.pgm" : "x"), LAP_E_USAGE);
        assert_string_equal(err.subject, "x/a.pgm");
        assert_string_equal(err.message, "is not a folder");
    }
    settings.quality = 101;
    assert_int_equal(compare("x", "y"), LAP_E_USAGE);
    settings = lap_settings_default();
    lap_context_cancel(context);
    assert_int_equal(compare("x", "y"), LAP_E_CANCELLED);
    assert_int_equal(met.count, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
#define PAIR_TEST(name) cmocka_unit_test_setup_teardown(name, begin_pairs, end)
    static const struct CMUnitTest tests[] = {TEST(measured), TEST(others_counted), TEST(named_again),
        TEST(failed_fast), TEST(not_begun), PAIR_TEST(pairs), PAIR_TEST(limited), PAIR_TEST(excused),
        PAIR_TEST(ended), PAIR_TEST(folders)};
    if (!make_scratch())
        return 1;
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
