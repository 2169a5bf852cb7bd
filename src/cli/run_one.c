/* Processes one image, for run and transform. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/progress.h"
#include "cli/report/report.h"
#include "cli/term.h"

/* Whether the folder of out is missing or not writable. */
static bool is_hopeless(const char *out)
{
    char *copy = strdup(out);
    const bool hopeless = copy && access(dirname(copy), W_OK | X_OK) != 0;
    free(copy);
    return hopeless;
}

lap_cli_exit lap_cli_exit_of_one(lap_code code, const char *out)
{
    return code == LAP_E_WRITE && is_hopeless(out) ? LAP_EXIT_NOTHING : lap_cli_exit_of(code);
}

/* Prints a note if the output lacks data after the end of the JPEG: the film of a motion photo, or a second
 * picture. Reads the whole file into memory again. */
static void note_after_end(const lap_cli *cli, const char *in, const char *out, const lap_report *report)
{
    const uint64_t limit = cli->settings.max_memory;
    struct stat st; /* only for regular files: a pipe is already empty, or never ends */
    const bool may_read = report->status != LAP_FAILED && strcmp(in, "-") != 0 && strcmp(in, out) != 0 &&
                          stat(in, &st) == 0 && S_ISREG(st.st_mode) &&
                          (limit == 0 || report->bytes_in <= limit);
    const uint64_t bytes = may_read ? lap_bytes_after_end(in) : 0;
    char text[100];
    if (bytes == 0)
        return;
    snprintf(text, sizeof text, "%llu byte%s after the end of the JPEG left out", (unsigned long long)bytes,
        bytes == 1 ? "" : "s");
    lap_cli_print_detail("note", text);
}

void lap_cli_print_photo(
    const lap_cli *cli, lap_context *context, const char *in, const char *out, const lap_report *report)
{
    const lap_settings *settings = &cli->settings;
    lap_cli_print_safely(stderr, in);
    fputs(" -> ", stderr);
    lap_cli_print_safely(stderr, out);
    if (report->width > 0)
        fprintf(stderr, "\n  image     %d x %d, %d channel%s", report->width, report->height,
            report->channels, report->channels == 1 ? "" : "s");
    fprintf(stderr, "\n  bytes     %llu in, %llu out\n", (unsigned long long)report->bytes_in,
        (unsigned long long)report->bytes_out);
    const int threads = settings->threads && settings->threads < lap_context_threads(context)
                            ? settings->threads
                            : lap_context_threads(context);
    if (settings->filter)
        fprintf(stderr, "  backend   %s", settings->backend);
    else
        fputs("  backend   none", stderr);
    if (report->resolved && strcmp(report->resolved, settings->backend) != 0)
        fprintf(stderr, " -> %s", report->resolved);
    fprintf(stderr, ", up to %d thread%s\n", threads, threads == 1 ? "" : "s");
    if (report->note[0])
        lap_cli_print_detail("note", report->note);
    note_after_end(cli, in, out, report);
    lap_cli_print_times(&report->ms, "wall");
}

/* Opens OUT if it is a file with content that the run would replace without -f. It may be a photo: a pattern
 * such as "lapedge *.jpg" can expand to two photos, and a name can be mistyped. The open file stays readable
 * after the run has replaced it. -1: no note is needed. */
static int open_replaced(const lap_cli *cli, const char *out)
{
    struct stat st;
    const bool tells = !cli->quiet && !cli->force && !cli->settings.no_clobber && strcmp(out, "-") != 0;
    return tells && stat(out, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0
               ? open(out, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
               : -1;
}

/* Whether two files have the same bytes. Repeating a command writes the same bytes, so a script that does so
 * gets no note. */
static bool is_same(int one, int other)
{
    char bytes[2][1 << 16];
    bool same = other >= 0;
    ssize_t got = 1;
    for (off_t at = 0; same && got > 0; at += got) {
        got = pread(one, bytes[0], sizeof bytes[0], at);
        same = got >= 0 && pread(other, bytes[1], sizeof bytes[1], at) == got &&
               memcmp(bytes[0], bytes[1], (size_t)got) == 0;
    }
    return same;
}

/* Closes what open_replaced has returned. is_made: the run has made OUT. */
static void note_replaced(const lap_cli *cli, int before, const char *out, bool is_made)
{
    if (before < 0)
        return;
    const int now = is_made ? open(out, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (cli->dry_run || (is_made && !is_same(before, now)))
        lap_cli_message("note: %s%s replaced; --no-clobber leaves it alone, -f replaces it without "
                        "a note; several photos go into a folder: lapedge%s IN... OUTDIR",
            out, cli->dry_run ? " would be" : ", with other content, was",
            cli->settings.filter ? "" : " transform");
    if (now >= 0)
        close(now);
    close(before);
}

/* Reads the photo a second time for the report, because a run does not keep pixels. */
static int write_report(
    const lap_cli *cli, lap_context *context, const char *in, const char *out, const lap_report *result)
{
    lap_error err = {0};
    json_t *report = lap_report_create(cli, in, lap_context_threads(context));
    lap_report_add_results(report, lap_json_file(in, out, &cli->settings, result));
    lap_code code = lap_report_add_file(report, context, in, &cli->settings, &err);
    if (code == LAP_OK)
        return lap_report_write(cli->report, report);
    json_decref(report);
    lap_cli_print_error(&err, in);
    return (int)lap_cli_exit_of(code);
}

/* Prints lapedge.file/1, if requested, for a run that ends with this exit code. Returns the exit code to end
 * with. */
static int print_json(
    const lap_cli *cli, const char *in, const char *out, const lap_report *report, int exit_code)
{
    if (!lap_cli_wants_json(cli))
        return exit_code;
    json_t *object = lap_json_file(in, out, &cli->settings, report);
    lap_json_run(object, cli->started, exit_code);
    const int printed = lap_json_print(object);
    return exit_code ? exit_code : printed;
}

/* Writes --stats for an image whose output is not written again. */
static int measure_skipped(const lap_cli *cli, lap_context *context, const char *in)
{
    const lap_measure_options options = {.threshold = cli->settings.params.threshold};
    lap_measurement m = {0};
    lap_report report;
    lap_error err;
    const lap_code code = lap_measure_report(context, in, &cli->settings, &options, &m, &report, &err);
    if (code != LAP_OK)
        lap_cli_print_error(&err, in);
    const int exit_code =
        code == LAP_OK ? lap_stats_write(cli, in, &m.stats, &report) : (int)lap_cli_exit_of(code);
    lap_measurement_free(&m);
    return exit_code;
}

/* --skip-existing, and OUT exists, whatever its content: leaves it, but writes --stats, --report and JSON. */
static int skip_one(const lap_cli *cli, lap_context *context, const char *in, const char *out)
{
    const lap_report report = {.status = LAP_SKIPPED};
    int exit_code = LAP_EXIT_OK;
    if (cli->verbose || (cli->dry_run && !cli->quiet))
        lap_cli_message("%s: there already", out);
    if (cli->stats)
        exit_code = measure_skipped(cli, context, in);
    if (cli->report && exit_code == LAP_EXIT_OK)
        exit_code = write_report(cli, context, in, out, &report);
    return print_json(cli, in, out, &report, exit_code);
}

/* Processes one image, prints messages, and returns the exit code. */
static int run_one(lap_cli *cli, lap_context *context, const char *in, const char *out)
{
    lap_report report = {0};
    lap_run_stats stats;
    lap_error err = {0};
    lap_progress progress;
    const int before = open_replaced(cli, out);
    lap_progress_begin(&progress, cli, in);
    cli->settings.progress = progress.on ? lap_progress_rows : NULL;
    cli->settings.progress_user = &progress;
    cli->settings.stats = cli->stats ? &stats : NULL;
    const lap_code code = lap_run_file(context, in, out, &cli->settings, &report, &err);
    lap_progress_hide(&progress);
    note_replaced(cli, before, out, code == LAP_OK);

    if (code != LAP_OK) {
        report.status = LAP_FAILED;
        report.error = err;
    }
    if (code == LAP_E_CANCELLED && lap_cli_caught())
        return (int)lap_cli_exit_of(code);
    if (code == LAP_E_WRITE && strcmp(out, "-") == 0 && lap_term_reader_left())
        return LAP_EXIT_PIPE;
    if (code != LAP_OK)
        lap_cli_print_error(&err, in);
    else if (report.status == LAP_WARNED && !cli->quiet)
        lap_cli_warn(in, &report);
    if (code == LAP_OK && report.recoded && !cli->quiet && !cli->verbose) /* -v prints every note */
        lap_cli_message("note: %s: %s; --trim and --perfect never re-encode", in, report.note);
    if (cli->verbose)
        lap_cli_print_photo(cli, context, in, out, &report);
    int exit_code = (int)lap_cli_exit_of_one(code, out);
    if (cli->stats && code == LAP_OK)
        exit_code = lap_stats_write(cli, in, &stats, &report);
    if (cli->report && code == LAP_OK && exit_code == LAP_EXIT_OK)
        exit_code = write_report(cli, context, in, out, &report);
    return print_json(cli, in, out, &report, exit_code);
}

/* -n: reports what would be done, and obstacles that can be foreseen. */
static int dry_run_one(lap_cli *cli, const char *in, const char *out)
{
    lap_report report = {.status = LAP_SKIPPED};
    lap_error err = {0};
    const lap_code code = lap_run_check(in, out, &cli->settings, &err);
    int exit_code = (int)lap_cli_exit_of_one(code, out);
    if (code != LAP_OK) {
        report.status = LAP_FAILED;
        report.error = err;
        lap_cli_print_error(&err, in);
    } else if (!cli->quiet) {
        FILE *to = cli->json || strcmp(out, "-") == 0 ? stderr : stdout;
        lap_cli_print_safely(to, in);
        fputs(" -> ", to);
        lap_cli_print_safely(to, out);
        fputc('\n', to);
        note_replaced(cli, open_replaced(cli, out), out, false);
    }
    return print_json(cli, in, out, &report, exit_code);
}

/* Calls job with a context and signal handlers. */
static int with_context(lap_cli *cli, int (*job)(lap_cli *cli, lap_context *context))
{
    lap_error err;
    lap_context *context = lap_cli_begin(cli, &err);
    if (!context) {
        lap_cli_print_error(&err, NULL);
        return lap_cli_exit_of(err.code);
    }
    const int exit_code = job(cli, context);
    lap_cli_end(context);
    return exit_code;
}

static int run_operands(lap_cli *cli, lap_context *context)
{
    struct stat there;
    if (cli->skip_existing && strcmp(cli->operands[1], "-") != 0 && lstat(cli->operands[1], &there) == 0)
        return skip_one(cli, context, cli->operands[0], cli->operands[1]);
    if (cli->dry_run)
        return dry_run_one(cli, cli->operands[0], cli->operands[1]);
    return run_one(cli, context, cli->operands[0], cli->operands[1]);
}

int lap_cli_one(lap_cli *cli)
{
    return with_context(cli, run_operands);
}
