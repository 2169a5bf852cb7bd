/* run, transform and stats on one image: what they print, write and return, for each way that the library's
 * call can end. The library is that of the test. */
#include "tests/support/said.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/progress.h"
#include "cli/report/report.h"
#include "cli/term.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* ---- the library ----------------------------------------------------------------------------------- */

static struct {
    lap_report report;
    lap_error err;         /* how the run ends */
    const char *makes;     /* what it writes into OUT; NULL: nothing */
    lap_error check;       /* what lap_run_check says */
    lap_settings settings; /* that were given */
    int runs, checks;
    int caught;
    bool reader_left, is_tty, draws, no_context;
    uint64_t after_end;
    int after_end_reads;
    lap_measurement measurement;
    lap_measure_options options;
    int stats_exit, stats_written, report_exit, flush_fails;
    const char *stats_of;
    lap_code report_code;
    char results[400];
    double now_ms;
} sys;

static lap_context *const context = (lap_context *)&sys;
static lap_cli cli;

lap_context *__wrap_lap_cli_begin(lap_cli *of, lap_error *err);
lap_context *__wrap_lap_cli_begin(lap_cli *of, lap_error *err)
{
    assert_ptr_equal(of, &cli);
    *err = (lap_error){.code = LAP_E_LIMIT, .message = "no context"};
    return sys.no_context ? NULL : context;
}

void __wrap_lap_cli_end(lap_context *of);
void __wrap_lap_cli_end(lap_context *of)
{
    assert_true(of == context || sys.no_context);
}

int __wrap_lap_context_threads(const lap_context *of);
int __wrap_lap_context_threads(const lap_context *of)
{
    assert_ptr_equal(of, context);
    return 4;
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

lap_cli_exit __wrap_lap_cli_flush(lap_cli_exit so_far);
lap_cli_exit __wrap_lap_cli_flush(lap_cli_exit so_far)
{
    return sys.flush_fails ? LAP_EXIT_PIPE : so_far;
}

void __wrap_lap_progress_begin(lap_progress *progress, const lap_cli *of, const char *name);
void __wrap_lap_progress_begin(lap_progress *progress, const lap_cli *of, const char *name)
{
    assert_ptr_equal(of, &cli);
    *progress = (lap_progress){.on = sys.draws, .name = name};
}

void __wrap_lap_progress_hide(lap_progress *progress);
void __wrap_lap_progress_hide(lap_progress *progress)
{
    if (progress->on)
        fprintf(stderr, "<%s>", progress->name);
}

lap_code __wrap_lap_run_file(lap_context *of, const char *in, const char *out, const lap_settings *settings,
    lap_report *report, lap_error *err);
lap_code __wrap_lap_run_file(lap_context *of, const char *in, const char *out, const lap_settings *settings,
    lap_report *report, lap_error *err)
{
    assert_true(of == context && in);
    sys.runs++;
    sys.settings = *settings;
    *report = sys.report;
    *err = sys.err;
    if (sys.makes) { /* as another file, like an output */
        (void)unlink(out);
        put(out, sys.makes);
    }
    return sys.err.code;
}

lap_code __wrap_lap_run_check(const char *in, const char *out, const lap_settings *settings, lap_error *err);
lap_code __wrap_lap_run_check(const char *in, const char *out, const lap_settings *settings, lap_error *err)
{
    assert_true(in && out && settings == &cli.settings);
    sys.checks++;
    *err = sys.check;
    return sys.check.code;
}

uint64_t __wrap_lap_bytes_after_end(const char *path);
uint64_t __wrap_lap_bytes_after_end(const char *path)
{
    assert_non_null(path);
    sys.after_end_reads++;
    return sys.after_end;
}

lap_code __wrap_lap_measure_report(lap_context *of, const char *in, const lap_settings *settings,
    const lap_measure_options *options, lap_measurement *measurement, lap_report *report, lap_error *err);
lap_code __wrap_lap_measure_report(lap_context *of, const char *in, const lap_settings *settings,
    const lap_measure_options *options, lap_measurement *measurement, lap_report *report, lap_error *err)
{
    assert_true(of == context && in && settings == &cli.settings);
    sys.settings = *settings;
    sys.options = *options;
    *measurement = sys.measurement;
    if (measurement->note)
        measurement->note = strdup(measurement->note);
    *report = sys.report;
    *err = sys.err;
    return sys.err.code;
}

int __wrap_lap_stats_write(
    const lap_cli *of, const char *input, const lap_run_stats *stats, const lap_report *report);
int __wrap_lap_stats_write(
    const lap_cli *of, const char *input, const lap_run_stats *stats, const lap_report *report)
{
    assert_true(of == &cli && stats && report);
    sys.stats_of = input;
    sys.stats_written++;
    return sys.stats_exit;
}

json_t *__wrap_lap_report_create(const lap_cli *of, const char *subject, int threads);
json_t *__wrap_lap_report_create(const lap_cli *of, const char *subject, int threads)
{
    assert_true(of == &cli && threads == 4);
    snprintf(sys.results, sizeof sys.results, "%s", subject);
    return json_pack("{sn}", "statistics");
}

void __wrap_lap_report_add_results(json_t *report, json_t *results);
void __wrap_lap_report_add_results(json_t *report, json_t *results)
{
    snprintf(sys.results + strlen(sys.results), sizeof sys.results - strlen(sys.results), " %s %s",
        json_string_value(json_object_get(results, "schema")),
        json_is_null(json_object_get(report, "statistics")) ? "-" : "with statistics");
    json_decref(results);
}

lap_code __wrap_lap_report_add_file(
    json_t *report, lap_context *of, const char *path, const lap_settings *settings, lap_error *err);
lap_code __wrap_lap_report_add_file(
    json_t *report, lap_context *of, const char *path, const lap_settings *settings, lap_error *err)
{
    assert_true(report && of == context && path && settings == &cli.settings);
    *err = (lap_error){.code = sys.report_code, .message = "no picture"};
    return sys.report_code;
}

int __wrap_lap_report_write(const char *path, json_t *report);
int __wrap_lap_report_write(const char *path, json_t *report)
{
    assert_ptr_equal(path, cli.report);
    json_decref(report);
    return sys.report_exit;
}

/* ---- a command line -------------------------------------------------------------------------------- */

static char *operands[3];

static int begin(void **state)
{
    (void)state;
    memset(&sys, 0, sizeof sys);
    sys.report = (lap_report){.width = 64,
        .height = 48,
        .channels = 3,
        .resolved = "simd-avx2",
        .ms = {.decode = 1.5, .filter = 2, .total = 4},
        .bytes_in = 1000,
        .bytes_out = 500,
        .warning = "odd",
        .note = "a note"};
    memset(&cli, 0, sizeof cli);
    cli.color = LAP_CLI_NEVER;
    cli.settings = lap_settings_default();
    cli.command = &lap_cli_commands[LAP_COMMAND_RUN];
    cli.forms = LAP_CLI_ONE;
    cli.rotate = cli.flip = -1;
    cli.operands = operands;
    cli.operand_count = 2;
    operands[0] = "in.jpg";
    operands[1] = "out.jpg";
    lap_json_direct(false, NULL, true);
    empty_scratch();
    if (chdir(scratch) != 0)
        return -1;
    put("in.jpg", "photo");
    return 0;
}

static void wants_json(void)
{
    cli.json = true;
    lap_json_direct(true, NULL, true);
}

/* All that is printed, and the exit code, as one text. */
static const char *all_of(int (*command)(lap_cli *cli))
{
    static char text[1 << 16];
    said_listen();
    const int code = command(&cli);
    said_end();
    snprintf(
        text, sizeof text, "%.30000s%s%.30000s%d", said_out(), *said_out() ? "--\n" : "", said_err(), code);
    return text;
}

static int code_of(int (*command)(lap_cli *cli))
{
    said_listen();
    const int code = command(&cli);
    said_end();
    return code;
}

#define assert_run(want) assert_text(all_of(lap_cli_run), want)
#define assert_transform(want) assert_text(all_of(lap_cli_transform), want)
#define assert_stats(want) assert_text(all_of(lap_cli_stats), want)

/* ---- run ------------------------------------------------------------------------------------------- */

static void run_talks(void **state)
{
    (void)state;
    assert_run("0");
    assert_true(!sys.settings.progress && !sys.settings.stats);
    cli.verbose = true;
    assert_run("in.jpg -> out.jpg\n"
               "  image     64 x 48, 3 channels\n"
               "  bytes     1000 in, 500 out\n"
               "  backend   auto -> simd-avx2, up to 4 threads\n"
               "  note      a note\n"
               "  ms        decode 1.5, filter 2.0, wall 4.0\n"
               "0");
    sys.report.status = LAP_WARNED;
    sys.report.warnings = 2;
    sys.report.note[0] = '\0';
    sys.report.channels = 1;
    sys.report.resolved = "auto";
    cli.settings.threads = 1;
    sys.after_end = 1;
    assert_run("lapedge: in.jpg: warning: odd (the first of 2)\n"
               "in.jpg -> out.jpg\n"
               "  image     64 x 48, 1 channel\n"
               "  bytes     1000 in, 500 out\n"
               "  backend   auto, up to 1 thread\n"
               "  note      1 byte after the end of the JPEG left out\n"
               "  ms        decode 1.5, filter 2.0, wall 4.0\n"
               "0");
    cli.settings.threads = 4;
    cli.settings.filter = false;
    sys.report.resolved = NULL;
    sys.report.width = 0;
    sys.after_end = 2;
    assert_run("lapedge: in.jpg: warning: odd (the first of 2)\n"
               "in.jpg -> out.jpg\n"
               "  bytes     1000 in, 500 out\n"
               "  backend   none, up to 4 threads\n"
               "  note      2 bytes after the end of the JPEG left out\n"
               "  ms        decode 1.5, filter 2.0, wall 4.0\n"
               "0");
    cli.settings.threads = 5;
    assert_non_null(strstr(all_of(lap_cli_run), ", up to 4 threads\n"));
    cli.verbose = false;
    assert_run("lapedge: in.jpg: warning: odd (the first of 2)\n0");
    cli.quiet = true;
    assert_run("0");
    sys.report.status = LAP_DONE;
    sys.draws = true;
    assert_run("<in.jpg>0");
    assert_true(sys.settings.progress == lap_progress_rows && sys.settings.progress_user);
    sys.draws = false;
    for (int i = 0; i < 8; i++) { /* a note that only -v prints otherwise */
        begin(NULL);
        sys.report.recoded = i & 1;
        cli.quiet = i & 2;
        sys.err.code = i & 4 ? LAP_E_LIMIT : LAP_OK;
        (void)code_of(lap_cli_run);
        assert_int_equal(
            strstr(said_err(), "note: in.jpg: a note; --trim and --perfect never re-encode") != NULL, i == 1);
    }
    begin(NULL);
    wants_json();
    assert_run("{\"schema\":\"lapedge.file/1\",\"input\":\"in.jpg\",\"output\":\"out.jpg\","
               "\"status\":\"ok\",\"error\":null,\"width\":64,\"height\":48,\"channels\":3,"
               "\"backend\":\"auto\",\"resolved\":\"simd-avx2\",\"kernel\":\"laplace5\","
               "\"border\":\"zero\",\"range\":\"clamp\",\"ms\":{\"read\":0.0,\"decode\":1.5,"
               "\"upload\":null,\"filter\":2.0,\"download\":null,\"encode\":0.0,\"write\":0.0,"
               "\"total\":4.0},\"bytes_in\":1000,\"bytes_out\":500,\"warnings\":0,\"warning\":null,"
               "\"recoded\":false,\"note\":\"a note\",\"settings\":{\"filter\":true,"
               "\"border\":\"zero\",\"range\":\"clamp\",\"gray\":false,\"auto_orient\":false,"
               "\"turn\":1,\"format\":null,\"quality\":90,\"subsampling\":\"same\","
               "\"restart\":\"auto\",\"progressive\":false,\"optimize\":false,\"strip\":false,"
               "\"keep\":null,\"fail_on\":\"truncated\",\"lossless\":\"no\",\"coefficients\":[-1.0,"
               "-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,24.0,-1.0,-1.0,-1.0,-1.0,-1.0,"
               "-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0],\"scale\":1.0,\"offset\":0.0,\"invert\":false,"
               "\"threshold\":-1},"
               "\"started\":\"1970-01-01T00:00:00Z\",\"exit_code\":0}\n"
               "--\n"
               "0");
    sys.err = (lap_error){.code = LAP_E_TRUNCATED, .message = "m"};
    assert_run("{\"schema\":\"lapedge.file/1\",\"input\":\"in.jpg\",\"output\":\"out.jpg\","
               "\"status\":\"failed\",\"error\":{\"kind\":\"truncated\",\"message\":\"truncated: m\"},"
               "\"width\":64,\"height\":48,\"channels\":3,\"backend\":\"auto\","
               "\"resolved\":\"simd-avx2\",\"kernel\":\"laplace5\",\"border\":\"zero\","
               "\"range\":\"clamp\",\"ms\":{\"read\":0.0,\"decode\":1.5,\"upload\":null,"
               "\"filter\":2.0,\"download\":null,\"encode\":0.0,\"write\":0.0,\"total\":4.0},"
               "\"bytes_in\":1000,\"bytes_out\":0,\"warnings\":0,\"warning\":null,\"recoded\":false,"
               "\"note\":\"a note\",\"settings\":{\"filter\":true,\"border\":\"zero\","
               "\"range\":\"clamp\",\"gray\":false,\"auto_orient\":false,\"turn\":1,\"format\":null,"
               "\"quality\":90,\"subsampling\":\"same\",\"restart\":\"auto\",\"progressive\":false,"
               "\"optimize\":false,\"strip\":false,\"keep\":null,\"fail_on\":\"truncated\","
               "\"lossless\":\"no\",\"coefficients\":[-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,"
               "-1.0,-1.0,-1.0,24.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0],"
               "\"scale\":1.0,\"offset\":0.0,\"invert\":false,\"threshold\":-1},"
               "\"started\":\"1970-01-01T00:00:00Z\",\"exit_code\":1}\n"
               "--\n"
               "lapedge: in.jpg: truncated: m\n"
               "1");
    sys.flush_fails = 1;
    assert_int_equal(code_of(lap_cli_run), 1);
    sys.err = (lap_error){0};
    assert_int_equal(code_of(lap_cli_run), LAP_EXIT_PIPE);
}

/* What follows the end of a photo is looked at only with -v, in regular files that fit into memory. */
static void after_end(void **state)
{
    static const struct {
        const char *in, *out;
        uint64_t limit;
        lap_code code;
        int reads;
    } cases[] = {{"in.jpg", "out.jpg", 0, LAP_OK, 1}, {"in.jpg", "in.jpg", 0, LAP_OK, 0},
        {"-", "out.jpg", 0, LAP_OK, 0}, {"none.jpg", "out.jpg", 0, LAP_OK, 0}, {".", "out.jpg", 0, LAP_OK, 0},
        {"in.jpg", "out.jpg", 1000, LAP_OK, 1}, {"in.jpg", "out.jpg", 999, LAP_OK, 0},
        {"in.jpg", "out.jpg", 0, LAP_E_LIMIT, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin(NULL);
        cli.verbose = true;
        cli.force = true;
        operands[0] = (char *)cases[i].in;
        operands[1] = (char *)cases[i].out;
        cli.settings.max_memory = cases[i].limit;
        sys.err.code = cases[i].code;
        sys.after_end = 7;
        (void)code_of(lap_cli_run);
        assert_int_equal(sys.after_end_reads, cases[i].reads);
        assert_int_equal(strstr(said_err(), "7 bytes after the end") != NULL, cases[i].reads);
    }
}

static void run_ends(void **state)
{
    (void)state;
    for (int code = LAP_OK; code <= LAP_E_INTERNAL; code++)
        for (int hopeless = 0; hopeless < 2; hopeless++) {
            begin(NULL);
            operands[1] = hopeless ? "none/out.jpg" : "out.jpg";
            sys.err = (lap_error){.code = code, .message = "m"};
            const int want = code == LAP_E_WRITE && hopeless ? 4 : (int)lap_cli_exit_of(code);
            assert_int_equal(code_of(lap_cli_run), want);
            assert_int_equal(*said_err() != '\0', code != LAP_OK);
        }
    for (int i = 0; i < 8; i++) {
        begin(NULL);
        operands[1] = i & 1 ? "-" : "out.jpg";
        sys.reader_left = i & 2;
        sys.err = (lap_error){.code = i & 4 ? LAP_E_WRITE : LAP_E_DISK_FULL, .message = "m"};
        assert_int_equal(code_of(lap_cli_run), i == 7 ? LAP_EXIT_PIPE : 1);
        assert_int_equal(*said_err() == '\0', i == 7);
    }
    begin(NULL);
    sys.caught = 2;
    sys.err = (lap_error){.code = LAP_E_CANCELLED, .message = "m"};
    wants_json();
    assert_run("1");
    sys.no_context = true;
    assert_run("lapedge: limit: no context\n5");
    begin(NULL);
    cli.stats = "s";
    assert_run("0");
    assert_int_equal(sys.stats_written, 1);
    assert_non_null(sys.settings.stats);
    sys.stats_exit = 1;
    cli.report = "page";
    assert_run("1");
    assert_string_equal(sys.results, "");
    sys.stats_exit = 0;
    assert_run("0");
    assert_string_equal(sys.results, "in.jpg lapedge.file/1 -");
    sys.report_exit = 7;
    assert_run("7");
    sys.report_code = LAP_E_LIMIT;
    assert_run("lapedge: in.jpg: limit: no picture\n5");
    sys.err = (lap_error){.code = LAP_E_LIMIT, .message = "m"};
    sys.stats_written = 0;
    assert_run("lapedge: in.jpg: limit: m\n5");
    assert_int_equal(sys.stats_written, 0);
}

/* A note that OUT was replaced, unless its content is the same or the user expects it. */
static void replaced(void **state)
{
    static const char big[] =
        "with other content, was replaced; --no-clobber leaves it alone, -f replaces it without a "
        "note; several photos go into a folder: lapedge IN... OUTDIR\n";
    (void)state;
    for (int i = 0; i < 128; i++) {
        begin(NULL);
        if (!(i & 1))
            put("out.jpg", "before");
        cli.quiet = i & 2;
        cli.force = i & 4;
        cli.settings.no_clobber = i & 8;
        sys.makes = i & 16 ? "after!" : "before";
        sys.err = (lap_error){.code = i & 32 ? LAP_E_LIMIT : LAP_OK, .message = "m"};
        if (i & 64 && !(i & 1))
            put("out.jpg", "");
        (void)code_of(lap_cli_run);
        const bool is_told = i == 16;
        assert_int_equal(strstr(said_err(), "note: ") != NULL, is_told);
        if (is_told)
            assert_int_equal(strcmp(said_err() + strlen("lapedge: note: out.jpg, "), big), 0);
    }
    /* Files of more than one part, which differ at the end or in length. */
    for (int i = 0; i < 4; i++) {
        char *text = malloc(140002);
        assert_non_null(text);
        begin(NULL);
        memset(text, 'x', 140001);
        text[i == 3 ? 131072 : 140001] = '\0';
        put("out.jpg", text);
        text[i == 3 ? 131072 : 140001] = i == 3 ? 'x' : '\0';
        text[140001] = '\0';
        if (i == 1)
            text[140000] = 'y';
        if (i == 2)
            text[131072] = '\0'; /* two parts */
        sys.makes = text;
        (void)code_of(lap_cli_run);
        assert_int_equal(strstr(said_err(), "note: ") != NULL, i > 0);
        free(text);
    }
    begin(NULL);
    put("out.jpg", "before");
    cli.dry_run = true;
    assert_run("in.jpg -> out.jpg\n"
               "--\n"
               "lapedge: note: out.jpg would be replaced; --no-clobber leaves it alone,"
               " -f replaces it without a note; several photos go into a folder: lapedge IN... OUTDIR\n"
               "0");
    cli.settings.filter = false;
    assert_non_null(strstr(all_of(lap_cli_run), ": lapedge transform IN... OUTDIR\n"));
    assert_holds("out.jpg", "before");
    assert_int_equal(mkdir("folder", 0700), 0);
    operands[1] = "folder";
    assert_run("in.jpg -> folder\n--\n0");
}

static void dry_runs(void **state)
{
    (void)state;
    cli.dry_run = true;
    assert_run("in.jpg -> out.jpg\n--\n0");
    assert_int_equal(sys.runs, 0);
    operands[1] = "-";
    assert_run("in.jpg -> -\n0");
    operands[1] = "out.jpg";
    cli.quiet = true;
    assert_run("0");
    cli.quiet = false;
    wants_json();
    said_listen();
    assert_int_equal(lap_cli_run(&cli), 0);
    said_end();
    assert_text(said_err(), "in.jpg -> out.jpg\n");
    assert_non_null(strstr(said_out(), "\"status\":\"skipped\",\"error\":null"));
    sys.check = (lap_error){.code = LAP_E_MISSING, .message = "m"};
    said_listen();
    assert_int_equal(lap_cli_run(&cli), 1);
    said_end();
    assert_text(said_err(), "lapedge: in.jpg: m\n");
    assert_non_null(strstr(said_out(), "\"status\":\"failed\",\"error\":{\"kind\":\"missing\""));
    sys.check.code = LAP_E_WRITE;
    operands[1] = "none/out.jpg";
    assert_int_equal(code_of(lap_cli_run), 4);
    sys.check.code = LAP_OK;
    sys.flush_fails = 1;
    assert_int_equal(code_of(lap_cli_run), LAP_EXIT_PIPE);
}

static void skipping(void **state)
{
    (void)state;
    cli.skip_existing = true;
    assert_run("0");
    assert_int_equal(sys.runs, 1);
    put("out.jpg", "there");
    assert_run("0");
    assert_int_equal(sys.runs, 1);
    cli.verbose = true;
    assert_run("lapedge: out.jpg: there already\n0");
    cli.verbose = false;
    cli.dry_run = true;
    assert_run("lapedge: out.jpg: there already\n0");
    cli.quiet = true;
    assert_run("0");
    assert_int_equal(sys.checks, 0);
    cli.quiet = cli.dry_run = false;
    assert_int_equal(symlink("nowhere", "link.jpg"), 0);
    operands[1] = "link.jpg";
    assert_run("0");
    assert_int_equal(sys.runs, 1);
    put("-", "there");
    operands[1] = "-";
    assert_run("0");
    assert_int_equal(sys.runs, 2);
    operands[1] = "out.jpg";
    cli.stats = "s";
    cli.settings.params.threshold = 9;
    assert_run("0");
    assert_int_equal(sys.options.threshold, 9);
    assert_string_equal(sys.stats_of, "in.jpg");
    cli.report = "page";
    wants_json();
    assert_int_equal(code_of(lap_cli_run), 0);
    assert_non_null(strstr(said_out(), "\"status\":\"skipped\""));
    assert_string_equal(sys.results, "in.jpg lapedge.file/1 -");
    sys.report_exit = 1;
    assert_int_equal(code_of(lap_cli_run), 1);
    sys.results[0] = '\0';
    sys.stats_exit = 7;
    assert_int_equal(code_of(lap_cli_run), 7);
    assert_string_equal(sys.results, "");
    sys.err = (lap_error){.code = LAP_E_LIMIT, .message = "m"};
    assert_int_equal(code_of(lap_cli_run), 5);
    assert_text(said_err(), "lapedge: in.jpg: limit: m\n");
    cli.stats = cli.report = NULL;
    sys.flush_fails = 1;
    assert_int_equal(code_of(lap_cli_run), LAP_EXIT_PIPE);
}

static void run_operands(void **state)
{
    (void)state;
    cli.operand_count = 1;
    operands[0] = "a b";
    assert_run("lapedge: OUT is missing: lapedge 'a b' OUT, or - for standard output\n2");
    cli.operand_count = 0;
    assert_run("lapedge: IN and OUT are missing; see lapedge -h\n2");
    begin(NULL);
    operands[1] = "-";
    assert_run("0");
    sys.is_tty = true;
    assert_run(
        "lapedge: refusing to write an image to a terminal; redirect it: lapedge in.jpg - >edges.jpg\n2");
    begin(NULL);
    put("a file", "x");
    assert_int_equal(
        symlink("nowhere", "broken") | symlink("nowhere", "broken.jpg") | mkdir("with.dot", 0700), 0);
    static const char *const fine[] = {"new", "new.jpg", "broken.jpg", "a file", "a file/new.jpg"};
    for (size_t i = 0; i < COUNT(fine); i++) {
        operands[1] = (char *)fine[i];
        cli.force = true;
        assert_run("0");
    }
    operands[1] = "broken";
    assert_run("lapedge: broken: a broken symbolic link: No such file or directory\n4");
    operands[1] = "a file/new";
    assert_run("lapedge: a file/new: Not a directory\n4");
    operands[1] = "with.dot/../broken"; /* only the name itself may have the dot */
    assert_run("lapedge: with.dot/../broken: a broken symbolic link: No such file or directory\n4");
    cli.settings.format = "png";
    assert_run("0");
}

/* ---- transform ------------------------------------------------------------------------------------- */

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
            begin(NULL);
            cli.command = &lap_cli_commands[LAP_COMMAND_TRANSFORM];
            cli.forms = LAP_CLI_TRANSFORM;
            cli.rotate = cases[i].rotate, cli.flip = cases[i].flip;
            cli.transpose = cases[i].transpose, cli.transverse = cases[i].transverse;
            cli.settings.auto_orient = i == 7;
            cli.trim = how & 1, cli.perfect = how & 2, cli.has_quality = how & 4;
            assert_transform("0");
            assert_int_equal(sys.settings.turn, cases[i].turn);
            assert_false(sys.settings.filter);
            assert_int_equal(sys.settings.lossless, how & 1   ? LAP_LOSSLESS_TRIM
                                                    : how & 2 ? LAP_LOSSLESS_PERFECT
                                                    : how & 4 ? LAP_LOSSLESS_NO
                                                              : LAP_LOSSLESS_AUTO);
        }
    cli.settings.auto_orient = false;
    assert_transform(
        "lapedge: nothing to do: name --rotate, --flip, --transpose, --transverse or --auto-orient\n2");
    cli.rotate = 0;
    cli.operand_count = 1;
    assert_transform("lapedge: OUT is missing: lapedge transform in.jpg OUT\n2");
    cli.operand_count = 0;
    assert_transform("lapedge: transform takes IN and OUT; see lapedge transform -h\n2");
    cli.operand_count = 3;
    assert_transform("lapedge: transform takes IN and OUT; see lapedge transform -h\n2");
}

/* ---- stats ----------------------------------------------------------------------------------------- */

static void give_stats(void)
{
    begin(NULL);
    cli.command = &lap_cli_commands[LAP_COMMAND_STATS];
    cli.forms = LAP_CLI_STATS;
    cli.operand_count = 1;
    sys.measurement = (lap_measurement){.width = 4, .height = 1, .channels = 1, .resolved = "simd"};
    uint64_t counts[4][256] = {{0}};
    counts[0][10] = counts[0][20] = 2;
    assert_int_equal(lap_stats_of_counts(counts, 1, -1, &sys.measurement.stats.input, NULL), LAP_OK);
    sys.measurement.stats.input.channels = 1;
    sys.measurement.stats.edges = sys.measurement.stats.input;
}

static void stats(void **state)
{
    (void)state;
    give_stats();
    cli.settings.params.threshold = 3;
    cli.allowed.mask_border = 4;
    assert_stats("in.jpg: 4 x 1, 1 channel, edges by simd\n"
                 "input        min  max      mean    stddev   entropy    p1   p50   p99\n"
                 "  gray       10   20    15.000     5.000    1.0000    10    10    20\n"
                 "edges        min  max      mean    stddev   entropy    p1   p50   p99\n"
                 "  gray       10   20    15.000     5.000    1.0000    10    10    20\n"
                 "--\n"
                 "0");
    assert_true(sys.options.threshold == 3 && sys.options.mask_border == 4 && !sys.options.profiles);
    assert_int_equal(sys.settings.params.threshold, -1);
    cli.profiles = true;
    cli.verbose = true;
    cli.quiet = true;
    sys.measurement.note = "a note";
    assert_stats("lapedge: in.jpg: backend auto -> simd, up to 4 threads, 2.5 ms; a note\n0");
    assert_true(sys.options.profiles);
    cli.settings.backend = "simd";
    sys.measurement.note = NULL;
    sys.report.status = LAP_WARNED;
    sys.report.warnings = 1;
    assert_stats("lapedge: in.jpg: backend simd, up to 4 threads, 2.5 ms\n0");
    cli.verbose = cli.quiet = false;
    cli.json = true;
    assert_stats("lapedge: in.jpg: warning: odd\n0");
    give_stats();
    wants_json();
    (void)code_of(lap_cli_stats);
    assert_int_equal(strncmp(said_out(), "{\"schema\":\"lapedge.stats/1\",\"input\":{", 37), 0);
    assert_non_null(strstr(said_out(), ",\"warnings\":0,\"warning\":null}\n"));
    sys.flush_fails = 1;
    assert_int_equal(code_of(lap_cli_stats), LAP_EXIT_PIPE);
    give_stats();
    cli.csv = true;
    (void)code_of(lap_cli_stats);
    assert_int_equal(strncmp(said_out(), "image,channel,figure,index,value\ninput,gray,min,,10\n", 52), 0);
    cli.report = "page";
    assert_int_equal(code_of(lap_cli_stats), 0);
    assert_string_equal(sys.results, "in.jpg lapedge.stats/1 with statistics");
    sys.report_exit = 7;
    assert_int_equal(code_of(lap_cli_stats), 7);
    sys.report_code = LAP_E_LIMIT;
    assert_int_equal(code_of(lap_cli_stats), 5);
    assert_text(said_err(), "lapedge: in.jpg: limit: no picture\n");
    sys.err = (lap_error){.code = LAP_E_LIMIT, .message = "m"};
    cli.verbose = true;
    assert_stats("lapedge: in.jpg: limit: m\n5");
    sys.err.code = LAP_E_CANCELLED;
    assert_stats("lapedge: in.jpg: m\n1");
    sys.caught = 2;
    assert_stats("1");
    cli.operand_count = 2;
    assert_stats("lapedge: IN is missing: lapedge stats IN\n2");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, said_restore)
    static const struct CMUnitTest tests[] = {TEST(run_talks), TEST(after_end), TEST(run_ends),
        TEST(replaced), TEST(dry_runs), TEST(skipping), TEST(run_operands), TEST(turns), TEST(stats)};
    if (!make_scratch() || !said_open())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed | said_close() | remove_scratch(NULL);
}
