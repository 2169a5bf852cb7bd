/* The progress line, to the last character: for one image and for a folder, at each width of a terminal, and
 * when it is drawn and erased. The clock, the terminal's width and its will are those of the test. */
#include "tests/support/scratch.h"

#include <fcntl.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/term.h"

static struct {
    double now_ms;
    int width;
    bool may_draw;
} sys;

bool __wrap_lap_term_may_draw(const lap_cli *cli);
bool __wrap_lap_term_may_draw(const lap_cli *cli)
{
    assert_null(cli);
    return sys.may_draw;
}

double __wrap_lap_cli_now_ms(void);
double __wrap_lap_cli_now_ms(void)
{
    return sys.now_ms;
}

int __wrap_lap_term_error_width(void);
int __wrap_lap_term_error_width(void)
{
    return sys.width;
}

/* ---- what is printed ----------------------------------------------------------------------------------- */

static int printed = -1, terminal = -1;

/* Standard error goes to a file until `shown` reads it. */
static void listen(void)
{
    fflush(stderr);
    assert_int_equal(ftruncate(printed, 0), 0);
    assert_int_equal(lseek(printed, 0, SEEK_SET), 0);
    assert_true(dup2(printed, 2) == 2);
}

static const char *shown(void)
{
    static char text[2048];
    fflush(stderr);
    assert_true(dup2(terminal, 2) == 2);
    const ssize_t size = pread(printed, text, sizeof text - 1, 0);
    assert_true(size >= 0);
    text[size] = 0;
    return text;
}

static int begin(void **state)
{
    (void)state;
    sys.now_ms = 5000;
    sys.width = 80;
    sys.may_draw = true;
    return 0;
}

static int open_all(void **state)
{
    (void)state;
    terminal = fcntl(2, F_DUPFD_CLOEXEC, 0);
    printed = make_scratch() ? open(at("printed"), O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    return terminal < 0 || printed < 0;
}

static int close_all(void **state)
{
    return close(printed) | close(terminal) | remove_scratch(state);
}

static const char *rows(lap_progress *progress, int done, int total)
{
    listen();
    lap_progress_rows(progress, done, total);
    return shown();
}

/* ---- one image ----------------------------------------------------------------------------------------- */

/* The line appears after 0.3 s, and then ten times a second. */
static void when(void **state)
{
    lap_progress progress;
    (void)state;
    lap_progress_begin(&progress, NULL, "a.jpg");
    assert_string_equal(rows(&progress, 1, 2), "");
    sys.now_ms = 5299;
    assert_string_equal(rows(&progress, 1, 2), "");
    listen();
    lap_progress_hide(&progress); /* there is nothing to erase */
    assert_string_equal(shown(), "");
    sys.now_ms = 5300;
    assert_string_equal(rows(&progress, 1, 0), "");
    assert_string_equal(rows(&progress, 1, 2), "\r\033[K 50 %  a.jpg");
    sys.now_ms = 5399;
    assert_string_equal(rows(&progress, 1, 2), "");
    sys.now_ms = 5400;
    assert_string_equal(rows(&progress, 2, 3), "\r\033[K 66 %  a.jpg");
    for (int i = 0; i < 2; i++) {
        listen();
        lap_progress_hide(&progress);
        assert_string_equal(shown(), i ? "" : "\r\033[K");
    }
    sys.now_ms = 5500;
    assert_string_equal(rows(&progress, 1, 1), "\r\033[K100 %  a.jpg");
    sys.now_ms = 5600;
    assert_string_equal(rows(&progress, 0, 1), "\r\033[K  0 %  a.jpg");
    sys.may_draw = false;
    lap_progress_begin(&progress, NULL, "a.jpg");
    sys.now_ms = 9999;
    assert_string_equal(rows(&progress, 1, 2), "");
}

/* The end of a long name is shown, with whole characters, and nothing that controls a terminal. */
static void names(void **state)
{
    static const struct {
        const char *name;
        int width;
        const char *end;
    } cases[] = {{"0123456789", 18, "0123456789"}, {"0123456789", 17, "...456789"},
        {"0123456789", 12, "...9"}, {"0123456789", 11, ""}, {"0123456789", 9, ""}, {"0123456789", 8, ""},
        {"0123456789", 5, ""}, {"0\xC3\xA4\xC3\xA4\xC3\xA4zzz", 17, "...\xC3\xA4zzz"},
        {"0\xC3\xA4\xC3\xA4\xC3\xA4zzz", 18, "0\xC3\xA4\xC3\xA4\xC3\xA4zzz"},
        {"0\xC3\xA4\xC3\xA4\xC3\xA4zzz", 16, "...\xC3\xA4zzz"},
        {"0\xC3\xA4\xC3\xA4\xC3\xA4zzz", 15, "...zzz"}, {"a\033[2J", 80, "a\\x1b[2J"}, {"", 80, ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_progress progress;
        char expected[64];
        sys.width = cases[i].width;
        sys.now_ms = 0;
        lap_progress_begin(&progress, NULL, cases[i].name);
        sys.now_ms = 300;
        snprintf(expected, sizeof expected, "\r\033[K 25 %%  %s", cases[i].end);
        assert_string_equal(rows(&progress, 1, 4), expected);
    }
}

/* ---- a folder ------------------------------------------------------------------------------------------ */

static const char *files(lap_progress *progress, const lap_batch_counts *counts, const lap_batch_work *work)
{
    listen();
    lap_progress_files(progress, counts, work);
    return shown();
}

/* The line of a new run, without the erasing before it. */
static const char *line_of(const lap_batch_counts *counts, const lap_batch_work *work)
{
    static const lap_batch_work none = {.jobs = 1};
    lap_progress progress;
    lap_progress_begin(&progress, NULL, NULL);
    const char *line = files(&progress, counts, work ? work : &none);
    assert_int_equal(strncmp(line, "\r\033[K", 4), 0);
    return line + 4;
}

/* What a narrow terminal leaves out, in this order; at last the line is cut. */
static void widths(void **state)
{
    static const char *const levels[] = {"[#####...............] 30/120, 5 skipped, 2 failed, 2.5 photos/s, "
                                         "20 Mpixel/s, 0:36 left, device 0: 3, device 2 "
                                         "lost, device 3 starts",
        "[#####...............] 30/120, 5 skipped, 2 failed, 2.5 photos/s, 20 Mpixel/s, 0:36 left",
        "[#####...............] 30/120, 5 skipped, 2 failed, 2.5 photos/s, 0:36 left",
        "[##......] 30/120, 5 skipped, 2 failed, 2.5 photos/s, 0:36 left",
        "[##......] 30/120, 5 skipped, 2 failed, 0:36 left", "30/120, 5 skipped, 2 failed, 0:36 left",
        "30/120, 5 skipped, 2 failed"};
    enum { LEVELS = sizeof levels / sizeof *levels };
    const lap_batch_counts counts = {.ok = 18,
        .warned = 2,
        .failed = 2,
        .waiting = 3,
        .skipped = 5,
        .expected = 120,
        .pixels = 150000000,
        .waiting_pixels = 50000000,
        .ms = 10000};
    const lap_batch_work work = {.device_count = 3,
        .device = {
            {.device = 0, .is_ready = true, .under_way = 3}, {.device = 2, .is_lost = true}, {.device = 3}}};
    (void)state;
    for (sys.width = 200; sys.width > 1; sys.width--) {
        char expected[256];
        int level = 0;
        while (level < LEVELS - 1 && (int)strlen(levels[level]) > sys.width - 1)
            level++;
        snprintf(expected, sizeof expected, "%.*s", sys.width - 1, levels[level]);
        const char *line = line_of(&counts, &work);
        /* 25 of 10 s are worked on, so 90 take 36 s. */
        assert_string_equal(line, expected);
    }
}

static void parts(void **state)
{
    static const struct {
        lap_batch_counts counts;
        const char *line;
    } cases[] = {
        {{.ms = 0}, "[....................] 0/0, -:-- left"},
        {{.expected = 7, .ms = 99999}, "[....................] 0/7, -:-- left"},
        {{.expected = 4, .skipped = 2, .ms = 1000}, "[##########..........] 2/4, 2 skipped, -:-- left"},
        {{.expected = 4, .ok = 1, .ms = 299}, "[#####...............] 1/4, -:-- left"},
        {{.expected = 4, .ok = 1, .ms = 300},
            "[#####...............] 1/4, 3.3 photos/s, 0 Mpixel/s, 0:01 left"},
        {{.expected = 4, .ok = 4, .ms = 400},
            "[####################] 4/4, 10 photos/s, 0 Mpixel/s, 0:00 left"},
        {{.expected = 3, .ok = 4, .ms = 401},
            "[####################] 4/4, 10.0 photos/s, 0 Mpixel/s, 0:00 left"},
        {{.expected = 2000, .ok = 1999, .ms = 1000, .pixels = 1500000},
            "[###################.] 1999/2000, 1999 photos/s, 2 Mpixel/s, 0:00 left"},
        {{.expected = 61, .ok = 1, .ms = 991},
            "[....................] 1/61, 1.0 photos/s, 0 Mpixel/s, 0:59 left"},
        {{.expected = 61, .ok = 1, .ms = 992},
            "[....................] 1/61, 1.0 photos/s, 0 Mpixel/s, 1:00 left"},
        {{.expected = 3600, .ok = 1, .ms = 1000},
            "[....................] 1/3600, 1.0 photos/s, 0 Mpixel/s, 59:59 left"},
        {{.expected = 3601, .ok = 1, .ms = 1000},
            "[....................] 1/3601, 1.0 photos/s, 0 Mpixel/s, 1:00:00 left"},
        {{.expected = 7390, .ok = 1, .ms = 1000},
            "[....................] 1/7390, 1.0 photos/s, 0 Mpixel/s, 2:03:09 left"},
        {{.expected = 10000000, .ok = 1, .ms = 1000},
            "[....................] 1/10000000, 1.0 photos/s, 0 Mpixel/s, 2777:46:39 left"},
        {{.expected = 10000001, .ok = 1, .ms = 1000},
            "[....................] 1/10000001, 1.0 photos/s, 0 Mpixel/s, -:-- left"},
    };
    (void)state;
    sys.width = 200;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(line_of(&cases[i].counts, NULL), cases[i].line);
}

/* At most eight devices are shown, and no line is longer than its buffer. */
static void devices(void **state)
{
    lap_batch_work work = {.device_count = 9};
    const lap_batch_counts counts = {.expected = 1};
    char expected[400] = "[....................] 0/1, -:-- left";
    (void)state;
    sys.width = 1000;
    for (int i = 0; i < 9; i++)
        work.device[i] = (lap_batch_device){.device = i, .is_ready = true, .under_way = 10 + i};
    for (int i = 0; i < 8; i++)
        snprintf(
            expected + strlen(expected), sizeof expected - strlen(expected), ", device %d: %d", i, 10 + i);
    assert_string_equal(line_of(&counts, &work), expected);
}

static void how_often(void **state)
{
    lap_progress progress;
    const lap_batch_work work = {.jobs = 1};
    lap_batch_counts counts = {.expected = 1};
    (void)state;
    lap_progress_begin(&progress, NULL, NULL);
    static const struct {
        double ms;
        bool is_drawn;
    } times[] = {{0, true}, {99, false}, {100, true}, {199, false}, {250, true}, {300, false}, {350, true}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        counts.ms = times[i].ms;
        assert_int_equal(files(&progress, &counts, &work)[0] != 0, times[i].is_drawn);
    }
    listen();
    lap_progress_hide(&progress);
    assert_string_equal(shown(), "\r\033[K");
    sys.may_draw = false;
    lap_progress_begin(&progress, NULL, NULL);
    assert_string_equal(files(&progress, &counts, &work), "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    static const struct CMUnitTest tests[] = {
        TEST(when), TEST(names), TEST(widths), TEST(parts), TEST(devices), TEST(how_often)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
