/* run, transform and stats of one image: what they print, write and return. The library's run and
 * measurement, the report, the statistics and the printing of JSON are those of the test. */
#include "tests/support/said.h"

#include <errno.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/progress.h"
#include "cli/report/report.h"
#include "cli/term.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
#define L "lapedge: "

/* ---- what a run calls ------------------------------------------------------------------------------ */

static lap_cli cli;

static struct {
    lap_report report; /* of the run, or of the measurement */
    lap_error err, measure_err, report_err;
    const char *writes; /* into OUT, as a new file; NULL: nothing */
    size_t more;        /* bytes before that */
    lap_measurement measurement;
    uint64_t after_end;
    int caught, stats_code, report_code, json_code;
    bool draws, reader_left, begins_not, is_tty;
    double now_ms;

    /* what was called, how often and with what */
    int runs, checks, ended, looked, measured, freed, stats_written, reported, printed;
    lap_settings settings;
    lap_measure_options options;
    const lap_run_stats *stats;
    json_t *json, *results;
    bool has_statistics; /* the report shows the results as statistics */
} sys;

static lap_context *const context = (lap_context *)&sys;

lap_context *__wrap_lap_cli_begin(lap_cli *of, lap_error *err);
lap_context *__wrap_lap_cli_begin(lap_cli *of, lap_error *err)
{
    assert_ptr_equal(of, &cli);
    *err = sys.err;
    return sys.begins_not ? NULL : context;
}

void __wrap_lap_cli_end(lap_context *of);
void __wrap_lap_cli_end(lap_context *of)
{
    assert_ptr_equal(of, context);
    sys.ended++;
}

int __wrap_lap_context_threads(const lap_context *of);
int __wrap_lap_context_threads(const lap_context *of)
{
    assert_ptr_equal(of, context);
    return 3;
}

int __wrap_lap_cli_caught(void);
int __wrap_lap_cli_caught(void)
{
    return sys.caught;
}

double __wrap_lap_cli_now_ms(void);
double __wrap_lap_cli_now_ms(void)
{
    return sys.now_ms += 2.5;
}

bool __wrap_lap_term_reader_left(void);
bool __wrap_lap_term_reader_left(void)
{
    return sys.reader_left;
}

int __wrap_isatty(int fd);
int __wrap_isatty(int fd)
{
    return fd == STDOUT_FILENO && sys.is_tty;
}

/* The progress line is "[" when it begins, and "]" when it is hidden. */
void __wrap_lap_progress_begin(lap_progress *progress, const lap_cli *of, const char *name);
void __wrap_lap_progress_begin(lap_progress *progress, const lap_cli *of, const char *name)
{
    assert_true(of == &cli && name == cli.operands[0]);
    *progress = (lap_progress){.name = name, .on = sys.draws};
    if (sys.draws)
        fputc('[', stderr);
}

void __wrap_lap_progress_hide(lap_progress *progress);
void __wrap_lap_progress_hide(lap_progress *progress)
{
    if (progress->on)
        fputc(']', stderr);
}

static void put_after(const char *name, size_t more, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    for (size_t i = 0; i < more; i++)
        fputc('y', file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

lap_code __wrap_lap_run_file(lap_context *of, const char *in, const char *out, const lap_settings *settings,
    lap_report *report, lap_error *err);
lap_code __wrap_lap_run_file(lap_context *of, const char *in, const char *out, const lap_settings *settings,
    lap_report *report, lap_error *err)
{
    assert_true(
        of == context && settings == &cli.settings && in == cli.operands[0] && out == cli.operands[1]);
    sys.runs++;
    sys.settings = *settings;
    if (sys.writes) {
        put_after("new", sys.more, sys.writes);
        assert_int_equal(rename("new", out), 0);
    }
    *report = sys.report;
    *err = sys.err;
    return sys.err.code;
}

lap_code __wrap_lap_run_check(const char *in, const char *out, const lap_settings *settings, lap_error *err);
lap_code __wrap_lap_run_check(const char *in, const char *out, const lap_settings *settings, lap_error *err)
{
    assert_true(settings == &cli.settings && in == cli.operands[0] && out == cli.operands[1]);
    sys.checks++;
    *err = sys.err;
    return sys.err.code;
}

uint64_t __wrap_lap_bytes_after_end(const char *path);
uint64_t __wrap_lap_bytes_after_end(const char *path)
{
    assert_non_null(path);
    sys.looked++;
    return sys.after_end;
}

lap_code __wrap_lap_measure_report(lap_context *of, const char *in, const lap_settings *settings,
    const lap_measure_options *options, lap_measurement *m, lap_report *report, lap_error *err);
lap_code __wrap_lap_measure_report(lap_context *of, const char *in, const lap_settings *settings,
    const lap_measure_options *options, lap_measurement *m, lap_report *report, lap_error *err)
{
    assert_true(of == context && in == cli.operands[0] && settings == &cli.settings && !m->rows);
    sys.measured++;
    sys.settings = *settings;
    sys.options = *options;
    *m = sys.measurement;
    m->note = m->note ? strdup(m->note) : NULL;
    sys.stats = &m->stats;
    *report = sys.report;
    *err = sys.measure_err;
    return sys.measure_err.code;
}

void __real_lap_measurement_free(lap_measurement *m);
void __wrap_lap_measurement_free(lap_measurement *m);
void __wrap_lap_measurement_free(lap_measurement *m)
{
    sys.freed++;
    __real_lap_measurement_free(m);
}

int __wrap_lap_stats_write(
    const lap_cli *of, const char *input, const lap_run_stats *stats, const lap_report *report);
int __wrap_lap_stats_write(
    const lap_cli *of, const char *input, const lap_run_stats *stats, const lap_report *report)
{
    assert_true(of == &cli && input == cli.operands[0] && report);
    assert_ptr_equal(stats, sys.measured ? sys.stats : sys.settings.stats);
    sys.stats_written++;
    return sys.stats_code;
}

json_t *__wrap_lap_report_create(const lap_cli *of, const char *subject, int threads);
json_t *__wrap_lap_report_create(const lap_cli *of, const char *subject, int threads)
{
    assert_true(of == &cli && subject == cli.operands[0] && threads == 3);
    return json_object();
}

void __wrap_lap_report_add_results(json_t *report, json_t *results);
void __wrap_lap_report_add_results(json_t *report, json_t *results)
{
    json_decref(sys.results);
    sys.results = json_incref(results);
    sys.has_statistics = json_object_get(report, "statistics") == results;
    json_object_set_new(report, "results", results);
}

lap_code __wrap_lap_report_add_file(
    json_t *report, lap_context *of, const char *path, const lap_settings *settings, lap_error *err);
lap_code __wrap_lap_report_add_file(
    json_t *report, lap_context *of, const char *path, const lap_settings *settings, lap_error *err)
{
    assert_true(report && of == context && path == cli.operands[0] && settings == &cli.settings);
    *err = sys.report_err;
    return sys.report_err.code;
}

int __wrap_lap_report_write(const char *path, json_t *report);
int __wrap_lap_report_write(const char *path, json_t *report)
{
    assert_ptr_equal(path, cli.report);
    sys.reported++;
    json_decref(report);
    return sys.report_code;
}

int __wrap_lap_json_print(json_t *object);
int __wrap_lap_json_print(json_t *object)
{
    json_decref(sys.json);
    sys.json = object;
    sys.printed++;
    return sys.json_code;
}

/* ---- a command line -------------------------------------------------------------------------------- */

static char *operands[2];

static void forget(void)
{
    json_decref(sys.json);
    json_decref(sys.results);
    memset(&sys, 0, sizeof sys);
}

static void start(const char *in, const char *out)
{
    forget();
    empty_scratch();
    cli = (lap_cli){.settings = lap_settings_default(),
        .command = &lap_cli_commands[LAP_COMMAND_RUN],
        .forms = LAP_CLI_ONE,
        .rotate = -1,
        .flip = -1,
        .operands = operands,
        .operand_count = 2};
    operands[0] = (char *)in, operands[1] = (char *)out;
    put("in.jpg", "a photo");
}

static int begin(void **state)
{
    (void)state;
    start("in.jpg", "out.jpg");
    return 0;
}

static int end(void **state)
{
    forget();
    return said_restore(state);
}

/* Compares the exit code, standard output and standard error. */
#define assert_command(command, code, out, err)             \
    do {                                                    \
        said_listen();                                      \
        const int ended_ = command(&cli);                   \
        said_end();                                         \
        assert_text(said_err(), err);                       \
        assert_text(said_out(), out);                       \
        assert_int_equal(ended_, code);                     \
        assert_int_equal(sys.freed, sys.measured);          \
        if (sys.results) /* the report has freed its own */ \
            assert_int_equal(sys.results->refcount, 1);     \
    } while (0)

#define assert_one(code, out, err)                    \
    do {                                              \
        assert_command(lap_cli_one, code, out, err);  \
        assert_int_equal(sys.ended, !sys.begins_not); \
    } while (0)

static const char *text(const char *key)
{
    const char *value = json_string_value(json_object_get(sys.json, key));
    return value ? value : "";
}

/* ---- run_one.c: a run ------------------------------------------------------------------------------ */

static void what_is_said(void **state)
{
    enum { QUIET = 1, VERBOSE = 2, DRAWS = 4 };
    static const struct {
        int flags;
        lap_status status;
        int recoded;
        const char *said;
        bool is_long;
    } cases[] = {{0, LAP_DONE, 0, "", false}, {QUIET, LAP_DONE, 0, "", false},
        {DRAWS, LAP_DONE, 0, "[]", false}, {0, LAP_WARNED, 0, L "in.jpg: warning: odd\n", false},
        {QUIET, LAP_WARNED, 0, "", false}, {DRAWS, LAP_WARNED, 0, "[]" L "in.jpg: warning: odd\n", false},
        {0, LAP_DONE, 1, L "note: in.jpg: why not; --trim and --perfect never re-encode\n", false},
        {QUIET, LAP_DONE, 1, "", false}, {VERBOSE, LAP_DONE, 1, "", true}, {VERBOSE, LAP_DONE, 0, "", true},
        {VERBOSE | QUIET, LAP_WARNED, 1, "", true},
        {VERBOSE, LAP_WARNED, 0, L "in.jpg: warning: odd\n", true}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char want[400];
        start("in.jpg", "out.jpg");
        sys.report = (lap_report){.status = cases[i].status,
            .recoded = cases[i].recoded,
            .warnings = 1,
            .warning = "odd",
            .note = "why not"};
        sys.draws = cases[i].flags & DRAWS;
        cli.quiet = cases[i].flags & QUIET, cli.verbose = cases[i].flags & VERBOSE;
        snprintf(want, sizeof want, "%s%s", cases[i].said,
            cases[i].is_long ? "in.jpg -> out.jpg\n"
                               "  bytes     0 in, 0 out\n"
                               "  backend   auto, up to 3 threads\n"
                               "  note      why not\n"
                               "  ms        wall 0.0\n"
                             : "");
        assert_one(LAP_EXIT_OK, "", want);
        assert_int_equal(sys.runs, 1);
        assert_int_equal(sys.printed + sys.stats_written + sys.reported, 0);
        assert_int_equal(sys.settings.progress == lap_progress_rows, sys.draws);
        assert_non_null(sys.settings.progress_user);
        assert_null(sys.settings.stats);
    }
}

static void failures(void **state)
{
    static const struct {
        lap_code code;
        const char *out;
        int caught;
        bool reader_left;
        int exit;
        const char *said; /* if anything, JSON is printed too */
    } cases[] = {{LAP_E_LIMIT, "out.jpg", 0, false, LAP_EXIT_LIMIT, L "in.jpg: limit: why\n"},
        {LAP_E_CANCELLED, "out.jpg", 0, false, LAP_EXIT_FAILED, L "in.jpg: why\n"},
        {LAP_E_CANCELLED, "out.jpg", 15, false, LAP_EXIT_FAILED, ""},
        {LAP_E_LIMIT, "out.jpg", 15, false, LAP_EXIT_LIMIT, L "in.jpg: limit: why\n"},
        {LAP_E_WRITE, "-", 0, true, LAP_EXIT_PIPE, ""},
        {LAP_E_WRITE, "-", 0, false, LAP_EXIT_FAILED, L "in.jpg: why\n"},
        {LAP_E_WRITE, "out.jpg", 0, true, LAP_EXIT_FAILED, L "in.jpg: why\n"},
        {LAP_E_DISK_FULL, "-", 0, true, LAP_EXIT_FAILED, L "in.jpg: disk full: why\n"},
        {LAP_E_WRITE, "no/out.jpg", 0, false, LAP_EXIT_NOTHING, L "in.jpg: why\n"},
        {LAP_E_LIMIT, "no/out.jpg", 0, false, LAP_EXIT_LIMIT, L "in.jpg: limit: why\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int quiet = 0; quiet < 2; quiet++) {
            start("in.jpg", cases[i].out);
            sys.err = (lap_error){.code = cases[i].code, .message = "why"};
            sys.report = (lap_report){.warnings = 1, .recoded = 1};
            sys.caught = cases[i].caught, sys.reader_left = cases[i].reader_left;
            cli.quiet = quiet;
            cli.stats = "s", cli.report = "r.html", cli.json_file = "j";
            assert_one(cases[i].exit, "", cases[i].said);
            assert_int_equal(sys.printed, *cases[i].said != '\0');
            assert_int_equal(sys.stats_written + sys.reported, 0);
            if (!sys.printed)
                continue;
            assert_string_equal(text("schema"), "lapedge.file/1");
            assert_string_equal(text("input"), "in.jpg");
            assert_string_equal(text("output"), cases[i].out);
            assert_string_equal(text("status"), "failed");
            json_t *error = json_object_get(sys.json, "error");
            assert_string_equal(
                json_string_value(json_object_get(error, "kind")), lap_code_name(cases[i].code));
            assert_int_equal(json_integer_value(json_object_get(sys.json, "exit_code")), cases[i].exit);
        }
    start("in.jpg", "out.jpg"); /* -v prints the rest, even after an error */
    sys.err = (lap_error){.code = LAP_E_LIMIT, .message = "why"};
    cli.verbose = true;
    sys.after_end = 5;
    assert_one(LAP_EXIT_LIMIT, "",
        L "in.jpg: limit: why\n"
          "in.jpg -> out.jpg\n"
          "  bytes     0 in, 0 out\n"
          "  backend   auto, up to 3 threads\n"
          "  ms        wall 0.0\n");
    assert_int_equal(sys.looked, 0);
    start("in.jpg", "out.jpg");
    sys.begins_not = true;
    sys.err = (lap_error){.code = LAP_E_BACKEND, .message = "why"};
    assert_one(LAP_EXIT_BACKEND, "", L "why\n");
}

static void exit_codes_of_one(void **state)
{
    (void)state;
    assert_int_equal(mkdir("sub", 0777), 0);
    static const struct {
        lap_code code;
        const char *out;
        int exit;
    } cases[] = {{LAP_OK, "no/x", LAP_EXIT_OK}, {LAP_E_WRITE, "x", LAP_EXIT_FAILED},
        {LAP_E_WRITE, "sub/x", LAP_EXIT_FAILED}, {LAP_E_WRITE, "sub/", LAP_EXIT_FAILED},
        {LAP_E_WRITE, "no/x", LAP_EXIT_NOTHING}, {LAP_E_WRITE, "in.jpg/x", LAP_EXIT_NOTHING},
        {LAP_E_EXISTS, "no/x", LAP_EXIT_FAILED}, {LAP_E_USAGE, "no/x", LAP_EXIT_USAGE}};
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(lap_cli_exit_of_one(cases[i].code, cases[i].out), cases[i].exit);
}

/* The text of -v. */
static void details(void **state)
{
    lap_report report = {.width = 64, .height = 48, .channels = 3, .bytes_in = 7, .bytes_out = 8};
    (void)state;
    report.ms = (lap_times){.decode = 1.5, .filter = 2, .total = 12.34};
    strcpy(report.note, "a note");
    cli.settings.threads = 2;
    assert_says(lap_cli_print_photo(&cli, context, "a\033", "b\033", &report), "",
        "a\\x1b -> b\\x1b\n"
        "  image     64 x 48, 3 channels\n"
        "  bytes     7 in, 8 out\n"
        "  backend   auto, up to 2 threads\n"
        "  note      a note\n"
        "  ms        decode 1.5, filter 2.0, wall 12.3\n");
    report = (lap_report){.width = 1, .height = 48, .channels = 1, .resolved = "c"};
    cli.settings.threads = 1;
    assert_says(lap_cli_print_photo(&cli, context, "a", "b", &report), "",
        "a -> b\n"
        "  image     1 x 48, 1 channel\n"
        "  bytes     0 in, 0 out\n"
        "  backend   auto -> c, up to 1 thread\n"
        "  ms        wall 0.0\n");
    report.resolved = "auto", report.width = 0;
    cli.settings.threads = 4;
    assert_says(lap_cli_print_photo(&cli, context, "a", "b", &report), "",
        "a -> b\n  bytes     0 in, 0 out\n  backend   auto, up to 3 threads\n  ms        wall 0.0\n");
    report.resolved = NULL;
    cli.settings.threads = 0;
    cli.settings.filter = false;
    assert_says(lap_cli_print_photo(&cli, context, "a", "b", &report), "",
        "a -> b\n  bytes     0 in, 0 out\n  backend   none, up to 3 threads\n  ms        wall 0.0\n");
}

/* Bytes after the end of a JPEG are noted if the file can be read once more. */
static void bytes_after_the_end(void **state)
{
    static const struct {
        const char *in, *out;
        lap_status status;
        uint64_t size, limit, after;
        bool looks;
        const char *said;
    } cases[] = {{"in.jpg", "out.jpg", LAP_DONE, 7, 0, 0, true, ""},
        {"in.jpg", "out.jpg", LAP_DONE, 7, 0, 1, true,
            "  note      1 byte after the end of the JPEG left out\n"},
        {"in.jpg", "out.jpg", LAP_WARNED, 7, 7, 2, true,
            "  note      2 bytes after the end of the JPEG left out\n"},
        {"in.jpg", "out.jpg", LAP_DONE, 8, 7, 2, false, ""},
        {"in.jpg", "in.jpg", LAP_DONE, 7, 0, 2, false, ""}, {"-", "out.jpg", LAP_DONE, 7, 0, 2, false, ""},
        {"missing", "out.jpg", LAP_DONE, 7, 0, 2, false, ""},
        {"fifo", "out.jpg", LAP_DONE, 7, 0, 2, false, ""},
        {"in.jpg", "out.jpg", LAP_FAILED, 7, 0, 2, false, ""}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char want[300];
        start(cases[i].in, cases[i].out);
        assert_int_equal(mkfifo("fifo", 0600), 0);
        put("-", "x");
        const lap_report report = {.status = cases[i].status, .bytes_in = cases[i].size};
        cli.settings.max_memory = cases[i].limit;
        sys.after_end = cases[i].after;
        snprintf(want, sizeof want,
            "%s -> %s\n  bytes     %d in, 0 out\n  backend   auto, up to 3 threads\n%s  ms        wall 0.0\n",
            cases[i].in, cases[i].out, (int)cases[i].size, cases[i].said);
        assert_says(lap_cli_print_photo(&cli, context, cases[i].in, cases[i].out, &report), "", want);
        assert_int_equal(sys.looked, cases[i].looks);
    }
}

/* ---- run_one.c: an output that exists -------------------------------------------------------------- */

#define REPLACED                                                                                        \
    " replaced; --no-clobber leaves it alone, -f replaces it without a note; several photos go into a " \
    "folder: lapedge"

static void replaced_files(void **state)
{
    enum { QUIET = 1, FORCE = 2, NO_CLOBBER = 4, PLAIN = 8, FAILS = 16, STDOUT = 32 };
    enum { BUFFER = 1 << 16 };
    static const struct {
        const char *there, *writes; /* NULL: nothing */
        size_t more_there, more;
        int flags;
        bool is_told;
    } cases[] = {{NULL, "new", 0, 0, 0, false}, {"", "new", 0, 0, 0, false}, {"old", "new", 0, 0, 0, true},
        {"same", "same", 0, 0, 0, false}, {"same", "same but longer", 0, 0, 0, true},
        {"same but longer", "same", 0, 0, 0, true}, {"old", "new", 0, 0, QUIET, false},
        {"old", "new", 0, 0, FORCE, false}, {"old", "new", 0, 0, NO_CLOBBER, false},
        {"old", "new", 0, 0, PLAIN, true}, {"old", "new", 0, 0, FAILS, false}, {"old", NULL, 0, 0, 0, false},
        {"old", NULL, 0, 0, STDOUT, false}, {"same", "same", BUFFER, BUFFER, 0, false},
        {"same", "sane", BUFFER, BUFFER, 0, true}, {"", "", BUFFER, BUFFER, 0, false},
        {"", "", BUFFER - 1, BUFFER, 0, true}, {"", "", 2 * BUFFER, BUFFER, 0, true},
        {"", "", BUFFER, 2 * BUFFER, 0, true}, {"same", "same", 2 * BUFFER + 1, 2 * BUFFER + 1, 0, false},
        {"x", "", 2 * BUFFER, 2 * BUFFER, 0, true}};
    (void)state;
    const int files = open_files();
    for (size_t i = 0; i < COUNT(cases); i++) {
        char want[300] = "";
        const int flags = cases[i].flags;
        start("in.jpg", flags & STDOUT ? "-" : "out.jpg");
        sys.writes = cases[i].writes, sys.more = cases[i].more;
        if (cases[i].there)
            put_after(cli.operands[1], cases[i].more_there, cases[i].there);
        cli.quiet = flags & QUIET, cli.force = flags & FORCE, cli.settings.no_clobber = flags & NO_CLOBBER;
        cli.settings.filter = !(flags & PLAIN);
        sys.err = (lap_error){.code = flags & FAILS ? LAP_E_LIMIT : LAP_OK, .message = "why"};
        if (cases[i].is_told)
            snprintf(want, sizeof want,
                L "note: out.jpg, with other content, was" REPLACED "%s IN... OUTDIR\n",
                flags & PLAIN ? " transform" : "");
        assert_one(flags & FAILS ? LAP_EXIT_LIMIT : LAP_EXIT_OK, "",
            flags & FAILS ? L "in.jpg: limit: why\n" : want);
        assert_int_equal(open_files(), files);
    }
    start("in.jpg", "out.jpg"); /* its descriptor may be that of standard input */
    put("out.jpg", "x");
    sys.writes = "y";
    const int standard = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
    close(STDIN_FILENO);
    said_listen();
    const int code = lap_cli_one(&cli);
    said_end();
    const bool is_closed = fcntl(STDIN_FILENO, F_GETFD) < 0;
    dup2(standard, STDIN_FILENO);
    close(standard);
    assert_true(is_closed && code == LAP_EXIT_OK);
    assert_text(said_err(), L "note: out.jpg, with other content, was" REPLACED " IN... OUTDIR\n");
    start("in.jpg", "out.jpg"); /* a pipe is not replaced */
    assert_int_equal(mkfifo("out.jpg", 0600), 0);
    assert_one(LAP_EXIT_OK, "", "");
}

static void dry_runs(void **state)
{
    enum { QUIET = 1, JSON = 2, FORCE = 4 };
    static const struct {
        const char *out;
        int flags;
        lap_code code;
        const char *printed, *said;
        int exit;
    } cases[] = {{"out.jpg", 0, LAP_OK, "in.jpg -> out.jpg\n", "", LAP_EXIT_OK},
        {"out.jpg", QUIET, LAP_OK, "", "", LAP_EXIT_OK},
        {"out.jpg", JSON, LAP_OK, "", "in.jpg -> out.jpg\n", LAP_EXIT_OK},
        {"-", 0, LAP_OK, "", "in.jpg -> -\n", LAP_EXIT_OK},
        {"there", 0, LAP_OK, "in.jpg -> there\n", L "note: there would be" REPLACED " IN... OUTDIR\n",
            LAP_EXIT_OK},
        {"there", FORCE, LAP_OK, "in.jpg -> there\n", "", LAP_EXIT_OK},
        {"there", 0, LAP_E_LIMIT, "", L "in.jpg: limit: why\n", LAP_EXIT_LIMIT},
        {"no/x", QUIET, LAP_E_WRITE, "", L "in.jpg: why\n", LAP_EXIT_NOTHING},
        {"x", QUIET, LAP_E_WRITE, "", L "in.jpg: why\n", LAP_EXIT_FAILED}};
    (void)state;
    const int files = open_files();
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int fails = 0; fails < 2; fails++) {
            start("in.jpg", cases[i].out);
            put("there", "x");
            cli.dry_run = true;
            cli.quiet = cases[i].flags & QUIET, cli.json = cases[i].flags & JSON;
            cli.force = cases[i].flags & FORCE;
            cli.json_file = fails ? "j" : NULL;
            sys.json_code = fails;
            sys.err = (lap_error){.code = cases[i].code, .message = "why"};
            assert_one(cases[i].exit ? cases[i].exit : fails, cases[i].printed, cases[i].said);
            assert_int_equal(sys.checks, 1);
            assert_int_equal(sys.runs, 0);
            assert_int_equal(sys.printed, fails || cli.json);
            if (sys.printed) {
                assert_string_equal(text("status"), cases[i].code ? "failed" : "skipped");
                assert_int_equal(json_is_object(json_object_get(sys.json, "error")), cases[i].code != LAP_OK);
            }
            assert_int_equal(open_files(), files);
        }
}

/* --skip-existing */
static void outputs_that_are_there(void **state)
{
    enum { QUIET = 1, VERBOSE = 2, DRY = 4 };
    static const struct {
        int flags;
        const char *said;
    } cases[] = {{0, ""}, {VERBOSE, L "there: there already\n"}, {DRY, L "there: there already\n"},
        {DRY | QUIET, ""}, {VERBOSE | QUIET, L "there: there already\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start("in.jpg", "there");
        assert_int_equal(symlink("nothing", "there"), 0); /* it is there, wherever it leads */
        cli.skip_existing = true;
        cli.quiet = cases[i].flags & QUIET, cli.verbose = cases[i].flags & VERBOSE;
        cli.dry_run = cases[i].flags & DRY;
        assert_one(LAP_EXIT_OK, "", cases[i].said);
        assert_int_equal(sys.runs + sys.checks + sys.measured + sys.reported + sys.printed, 0);
    }
    static const struct {
        const char *out;
        bool skips;
    } others[] = {{"there", false}, {"missing", true}, {"-", true}};
    for (size_t i = 0; i < COUNT(others); i++) {
        start("in.jpg", others[i].out);
        put("there", "");
        put("-", "x");
        cli.skip_existing = others[i].skips;
        assert_one(LAP_EXIT_OK, "", "");
        assert_int_equal(sys.runs, 1);
    }
}

/* Statistics, report and JSON: the first error gives the exit code; after an error no report is written. */
static void what_else_is_written(void **state)
{
    (void)state;
    for (int skipped = 0; skipped < 2; skipped++)
        for (int way = 0; way < 64; way++) {
            const bool stats_fail = way & 1, report_fails = way & 2, json_fails = way & 4;
            const bool has_stats = way & 8, has_report = way & 16, has_json = way & 32;
            start("in.jpg", "there");
            put("there", "");
            cli.skip_existing = skipped;
            cli.started = 86399;
            cli.settings.params.threshold = 9;
            cli.stats = has_stats ? "s" : NULL, cli.report = has_report ? "r.html" : NULL;
            cli.json_file = has_json ? "j" : NULL;
            sys.stats_code = stats_fail ? 7 : 0, sys.report_code = report_fails ? 8 : 0;
            sys.json_code = json_fails;
            const bool is_reported = has_report && !(has_stats && stats_fail);
            assert_one(has_stats && stats_fail       ? 7
                       : is_reported && report_fails ? 8
                       : has_json && json_fails      ? 1
                                                     : 0,
                "", "");
            assert_int_equal(sys.stats_written, has_stats);
            assert_int_equal(sys.measured, has_stats && skipped);
            assert_int_equal(sys.options.threshold, sys.measured ? 9 : 0);
            assert_int_equal(sys.reported, is_reported);
            assert_int_equal(sys.printed, has_json);
            if (!skipped)
                assert_int_equal(sys.settings.stats != NULL, has_stats);
            if (has_json) {
                assert_string_equal(text("status"), skipped ? "skipped" : "ok");
                assert_string_equal(text("input"), "in.jpg");
                assert_string_equal(text("output"), "there");
                assert_string_equal(text("started"), "1970-01-01T23:59:59Z");
                assert_int_equal(json_integer_value(json_object_get(sys.json, "exit_code")),
                    has_stats && stats_fail       ? 7
                    : is_reported && report_fails ? 8
                                                  : 0);
                (void)json_object_del(sys.json, "started"); /* the report has a date */
                (void)json_object_del(sys.json, "exit_code");
                if (is_reported)
                    assert_true(json_equal(sys.json, sys.results));
            }
        }
    start("in.jpg", "there"); /* the photo cannot be read any more */
    put("there", "");
    cli.skip_existing = true;
    cli.stats = "s", cli.report = "r.html", cli.json_file = "j";
    sys.measure_err = (lap_error){.code = LAP_E_LIMIT, .message = "why"};
    assert_one(LAP_EXIT_LIMIT, "", L "in.jpg: limit: why\n");
    assert_int_equal(sys.stats_written + sys.reported, 0);
    assert_int_equal(sys.measured, 1);
    assert_int_equal(sys.printed, 1);
    start("in.jpg", "out.jpg");
    cli.report = "r.html";
    sys.report_err = (lap_error){.code = LAP_E_LIMIT, .message = "why"};
    assert_one(LAP_EXIT_LIMIT, "", L "in.jpg: limit: why\n");
    assert_int_equal(sys.reported, 0);
}

/* ---- cmd_run.c ------------------------------------------------------------------------------------- */

static void operands_of_run(void **state)
{
    enum { TERMINAL = 1, FORMAT = 2 };
    static const struct {
        int count;
        const char *in, *out;
        int flags;
        const char *said; /* NULL: it runs */
        int exit;
    } cases[] = {{0, NULL, NULL, 0, "IN and OUT are missing; see lapedge -h", 2},
        {1, "a b", NULL, 0, "OUT is missing: lapedge 'a b' OUT, or - for standard output", 2},
        {2, "in.jpg", "-", TERMINAL,
            "refusing to write an image to a terminal; redirect it: lapedge in.jpg - >edges.jpg", 2},
        {2, "in.jpg", "-", 0, NULL, 0}, {2, "in.jpg", "new", TERMINAL, NULL, 0},
        {2, "in.jpg", "new.jpg", 0, NULL, 0}, {2, "in.jpg", "broken.jpg", 0, NULL, 0},
        {2, "in.jpg", "a file", 0, NULL, 0}, {2, "in.jpg", "a file/new.jpg", 0, NULL, 0},
        {2, "in.jpg", "broken", 0, "broken: a broken symbolic link: No such file or directory", 4},
        {2, "in.jpg", "a file/new", 0, "a file/new: Not a directory", 4},
        {2, "in.jpg", "with.dot/../broken", 0, /* only the name itself may have the dot */
            "with.dot/../broken: a broken symbolic link: No such file or directory", 4},
        {2, "in.jpg", "broken", FORMAT, NULL, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char want[200] = "";
        start(cases[i].in, cases[i].out);
        put("a file", "x");
        assert_int_equal(symlink("nowhere", "broken") | symlink("nowhere", "broken.jpg"), 0);
        assert_int_equal(mkdir("with.dot", 0700), 0);
        cli.operand_count = cases[i].count;
        cli.settings.format = cases[i].flags & FORMAT ? "png" : NULL;
        sys.is_tty = cases[i].flags & TERMINAL;
        if (cases[i].said)
            snprintf(want, sizeof want, L "%s\n", cases[i].said);
        assert_command(lap_cli_run, cases[i].exit, "", want);
        assert_int_equal(sys.runs, !cases[i].said);
    }
}

/* ---- cmd_transform.c ------------------------------------------------------------------------------- */

static void start_transform(void)
{
    start("in.jpg", "out.jpg");
    cli.command = &lap_cli_commands[LAP_COMMAND_TRANSFORM];
    cli.forms = LAP_CLI_TRANSFORM;
}

static void turns(void **state)
{
    static const struct {
        int rotate, flip;
        bool transpose, transverse;
        lap_turn turn;
    } cases[] = {{0, -1, false, false, LAP_TURN_90}, {1, -1, false, false, LAP_TURN_180},
        {2, -1, false, false, LAP_TURN_270}, {-1, 0, false, false, LAP_TURN_H},
        {-1, 1, false, false, LAP_TURN_V}, {-1, -1, true, false, LAP_TURN_TRANSPOSE},
        {-1, -1, false, true, LAP_TURN_TRANSVERSE}, {-1, -1, false, false, LAP_TURN_NONE}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int how = 0; how < 8; how++) {
            start_transform();
            cli.rotate = cases[i].rotate, cli.flip = cases[i].flip;
            cli.transpose = cases[i].transpose, cli.transverse = cases[i].transverse;
            cli.settings.auto_orient = i == 7;
            cli.trim = how & 1, cli.perfect = how & 2, cli.has_quality = how & 4;
            assert_command(lap_cli_transform, 0, "", "");
            assert_int_equal(sys.settings.turn, cases[i].turn);
            assert_false(sys.settings.filter);
            assert_int_equal(sys.settings.lossless, how & 1   ? LAP_LOSSLESS_TRIM
                                                    : how & 2 ? LAP_LOSSLESS_PERFECT
                                                    : how & 4 ? LAP_LOSSLESS_NO
                                                              : LAP_LOSSLESS_AUTO);
        }
}

static void operands_of_transform(void **state)
{
    static const char takes[] = L "transform takes IN and OUT; see lapedge transform -h\n";
    (void)state;
    start_transform();
    assert_command(lap_cli_transform, 2, "",
        L "nothing to do: name --rotate, --flip, --transpose, --transverse or --auto-orient\n");
    cli.rotate = 0;
    cli.operand_count = 0;
    assert_command(lap_cli_transform, 2, "", takes);
    cli.operand_count = 1;
    assert_command(lap_cli_transform, 2, "", L "OUT is missing: lapedge transform in.jpg OUT\n");
    cli.operand_count = 3;
    assert_command(lap_cli_transform, 2, "", takes);
    assert_int_equal(sys.runs, 0);
}

/* ---- cmd_stats.c: one image (test_stats_diff.c has the rest) ------------------------------------------ */

static void start_stats(void)
{
    start("in.jpg", NULL);
    cli.command = &lap_cli_commands[LAP_COMMAND_STATS];
    cli.forms = LAP_CLI_STATS;
    cli.operand_count = 1;
    sys.report.warnings = 1;
    strcpy(sys.report.warning, "odd");
    sys.measurement = (lap_measurement){.width = 4, .height = 1, .channels = 1, .resolved = "simd"};
    uint64_t counts[4][256] = {{0}};
    counts[0][10] = counts[0][20] = 2;
    assert_int_equal(lap_stats_of_counts(counts, 1, -1, &sys.measurement.stats.input, NULL), LAP_OK);
    sys.measurement.stats.input.channels = 1;
    sys.measurement.stats.edges = sys.measurement.stats.input;
}

static void what_stats_says(void **state)
{
    (void)state;
    start_stats();
    cli.settings.params.threshold = 3;
    cli.allowed.mask_border = 4;
    assert_command(lap_cli_stats, 0,
        "in.jpg: 4 x 1, 1 channel, edges by simd\n"
        "input        min  max      mean    stddev   entropy    p1   p50   p99\n"
        "  gray       10   20    15.000     5.000    1.0000    10    10    20\n"
        "edges        min  max      mean    stddev   entropy    p1   p50   p99\n"
        "  gray       10   20    15.000     5.000    1.0000    10    10    20\n",
        "");
    assert_true(sys.options.threshold == 3 && sys.options.mask_border == 4 && !sys.options.profiles);
    assert_int_equal(sys.settings.params.threshold, -1);
    cli.profiles = true;
    cli.verbose = cli.quiet = true;
    sys.measurement.note = "a note";
    assert_command(lap_cli_stats, 0, "", L "in.jpg: backend auto -> simd, up to 3 threads, 2.5 ms; a note\n");
    assert_true(sys.options.profiles);
    cli.settings.backend = "simd";
    sys.measurement.note = NULL;
    sys.report.status = LAP_WARNED;
    assert_command(lap_cli_stats, 0, "", L "in.jpg: backend simd, up to 3 threads, 2.5 ms\n");
    cli.verbose = cli.quiet = false;
    cli.json = true;
    assert_command(lap_cli_stats, 0, "", L "in.jpg: warning: odd\n");
    assert_string_equal(text("schema"), "lapedge.stats/1");
    assert_int_equal(json_integer_value(json_object_get(sys.json, "warnings")), 1);
    assert_string_equal(text("warning"), "odd");
    sys.json_code = LAP_EXIT_PIPE;
    assert_command(lap_cli_stats, LAP_EXIT_PIPE, "", L "in.jpg: warning: odd\n");
    start_stats();
    cli.csv = true;
    said_listen();
    assert_int_equal(lap_cli_stats(&cli), 0);
    said_end();
    static const char csv[] = "image,channel,figure,index,value\ninput,gray,min,,10\n";
    assert_memory_equal(said_out(), csv, sizeof csv - 1);
    assert_int_equal(sys.ended, 1);
}

static void what_stats_reports(void **state)
{
    (void)state;
    start_stats();
    cli.quiet = true;
    cli.report = "r.html";
    assert_command(lap_cli_stats, 0, "", "");
    assert_true(sys.has_statistics && sys.reported == 1);
    sys.report_code = 7;
    assert_command(lap_cli_stats, 7, "", "");
    sys.report_err = (lap_error){.code = LAP_E_LIMIT, .message = "no picture"};
    assert_command(lap_cli_stats, 5, "", L "in.jpg: limit: no picture\n");
    assert_int_equal(sys.reported, 2);
    cli.verbose = true;
    sys.measure_err = (lap_error){.code = LAP_E_LIMIT, .message = "m"};
    assert_command(lap_cli_stats, 5, "", L "in.jpg: limit: m\n");
    sys.measure_err.code = LAP_E_CANCELLED;
    assert_command(lap_cli_stats, 1, "", L "in.jpg: m\n");
    sys.caught = 2;
    assert_command(lap_cli_stats, 1, "", "");
    cli.operand_count = 2;
    assert_command(lap_cli_stats, 2, "", L "IN is missing: lapedge stats IN\n");
}

static char before[500];

static int open_all(void **state)
{
    (void)state;
    return make_scratch() && said_open() && getcwd(before, sizeof before) && chdir(scratch) == 0 ? 0 : -1;
}

static int close_all(void **state)
{
    return said_close() | chdir(before) | remove_scratch(state);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {TEST(what_is_said), TEST(failures), TEST(exit_codes_of_one),
        TEST(details), TEST(bytes_after_the_end), TEST(replaced_files), TEST(dry_runs),
        TEST(outputs_that_are_there), TEST(what_else_is_written), TEST(operands_of_run), TEST(turns),
        TEST(operands_of_transform), TEST(what_stats_says), TEST(what_stats_reports)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
