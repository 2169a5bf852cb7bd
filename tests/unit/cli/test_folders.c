/* What runs over folders say and return: run, in place, stats and diff. The test takes the place of the
 * library: it gives each file and its counts, and sees which options the program sets. */
#include "tests/support/said.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/folder/folder.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/report/report.h"
#include "cli/term.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* ---- the library ----------------------------------------------------------------------------------- */

typedef struct file { /* one input of a run */
    const char *input, *output;
    lap_status status;
    lap_code code;
    int warnings, recoded;
    const char *note;
} file;

static struct {
    const file *files;
    size_t file_count;
    const lap_pair *pairs;
    size_t pair_count, asked_pairs;
    const lap_measured *measured;
    size_t measured_count;
    lap_batch_counts counts; /* at the end */
    lap_batch_others others;
    lap_batch_work work;
    lap_batch_prune prune;
    lap_error warning, err; /* a warning of the run; how it ends */
    int pruned;             /* outputs that are removed */
    bool stops_progress, is_drawn, no_context, no_log, postpones, reader_left, has_lost_worker;
    int lost_after; /* flushes that succeed; -1: all */
    lap_cli_exit lost;
    int caught, cancels, begun, lines, stats_exit, sheet_exit, sheet_files, sheet_pairs, local, stats_written;
    /* what was given */
    lap_batch_options options;
    lap_in_place in_place;
    lap_batch_devices devices;
    lap_batch_take take;
    lap_settings settings;
    lap_measure_options measure;
    lap_diff_rules rules;
    bool has_devices, has_text, has_prune, finds_made;
    char logged[4000], sheet_result[40], what[40];
} sys;

static lap_context *const context = (lap_context *)&sys;
static lap_cli cli;

lap_context *__wrap_lap_cli_begin(lap_cli *of, lap_error *err);
lap_context *__wrap_lap_cli_begin(lap_cli *of, lap_error *err)
{
    assert_ptr_equal(of, &cli);
    *err = (lap_error){.code = LAP_E_LIMIT, .message = "no context"};
    if (sys.no_context)
        return NULL;
    *err = (lap_error){0};
    return context;
}

void __wrap_lap_cli_end(lap_context *of);
void __wrap_lap_cli_end(lap_context *of)
{
    assert_ptr_equal(of, context);
}

int __wrap_lap_context_threads(const lap_context *of);
int __wrap_lap_context_threads(const lap_context *of)
{
    assert_ptr_equal(of, context);
    return 4;
}

void __wrap_lap_context_cancel(lap_context *of);
void __wrap_lap_context_cancel(lap_context *of)
{
    assert_ptr_equal(of, context);
    sys.cancels++;
}

int __wrap_lap_cli_caught(void);
int __wrap_lap_cli_caught(void)
{
    return sys.caught;
}

lap_cli_exit __wrap_lap_cli_flush(lap_cli_exit so_far);
lap_cli_exit __wrap_lap_cli_flush(lap_cli_exit so_far)
{
    assert_int_equal(so_far, LAP_EXIT_OK);
    return sys.lost_after < 0 || sys.lost_after-- > 0 ? so_far : sys.lost;
}

bool __wrap_lap_term_reader_left(void);
bool __wrap_lap_term_reader_left(void)
{
    return sys.reader_left;
}

bool __wrap_lap_cli_has_lost_worker(const lap_cli *of);
bool __wrap_lap_cli_has_lost_worker(const lap_cli *of)
{
    assert_ptr_equal(of, &cli);
    return sys.has_lost_worker;
}

void __wrap_lap_progress_begin(lap_progress *progress, const lap_cli *of, const char *name);
void __wrap_lap_progress_begin(lap_progress *progress, const lap_cli *of, const char *name)
{
    assert_ptr_equal(of, &cli);
    *progress = (lap_progress){.on = sys.is_drawn, .name = name};
}

void __wrap_lap_progress_files(lap_progress *p, const lap_batch_counts *counts, const lap_batch_work *work);
void __wrap_lap_progress_files(lap_progress *p, const lap_batch_counts *counts, const lap_batch_work *work)
{
    assert_non_null(work);
    if (p->on)
        fprintf(stderr, "<%d>", (int)(counts->ok + counts->warned + counts->skipped + counts->failed));
}

void __wrap_lap_progress_hide(lap_progress *p);
void __wrap_lap_progress_hide(lap_progress *p)
{
    if (p->on)
        fputs("<>", stderr);
}

bool __wrap_lap_shard_local(uint32_t *rank, uint32_t *size);
bool __wrap_lap_shard_local(uint32_t *rank, uint32_t *size)
{
    *rank = 1;
    *size = 3;
    return true;
}

size_t __wrap_lap_cli_list_sides(const lap_cli *of, const char *names[LAP_SIDES]);
size_t __wrap_lap_cli_list_sides(const lap_cli *of, const char *names[LAP_SIDES])
{
    assert_ptr_equal(of, &cli);
    names[0] = "a side";
    return 1;
}

/* ---- logs, sheets and statistics ------------------------------------------------------------------- */

bool __wrap_lap_cli_log_open(lap_cli_log *log, const lap_cli *of);
bool __wrap_lap_cli_log_open(lap_cli_log *log, const lap_cli *of)
{
    assert_non_null(log);
    assert_ptr_equal(of, &cli);
    errno = EACCES;
    return !sys.no_log;
}

bool __wrap_lap_cli_log_postpone(lap_cli_log *log, const lap_cli *of, const char *out_dir);
bool __wrap_lap_cli_log_postpone(lap_cli_log *log, const lap_cli *of, const char *out_dir)
{
    assert_non_null(log);
    assert_ptr_equal(of, &cli);
    assert_string_equal(out_dir, "out");
    return sys.postpones;
}

void __wrap_lap_cli_log_begin(lap_cli_log *log);
void __wrap_lap_cli_log_begin(lap_cli_log *log)
{
    assert_non_null(log);
    sys.begun++;
}

void __wrap_lap_cli_log_line(lap_cli_log *log, const json_t *record);
void __wrap_lap_cli_log_line(lap_cli_log *log, const json_t *record)
{
    const json_t *input = json_object_get(record, "input");
    assert_non_null(log);
    snprintf(sys.logged + strlen(sys.logged), sizeof sys.logged - strlen(sys.logged), "%s %s\n",
        json_string_value(json_object_get(record, "schema")), input ? json_string_value(input) : "-");
}

int __wrap_lap_cli_log_end(lap_cli_log *log, const char *path, int exit_code);
int __wrap_lap_cli_log_end(lap_cli_log *log, const char *path, int exit_code)
{
    assert_non_null(log);
    assert_ptr_equal(path, cli.log);
    return exit_code;
}

lap_sheet *__wrap_lap_sheet_create(void);
lap_sheet *__wrap_lap_sheet_create(void)
{
    return (lap_sheet *)&sys.sheet_exit;
}

void __wrap_lap_sheet_free(lap_sheet *sheet);
void __wrap_lap_sheet_free(lap_sheet *sheet)
{
    assert_ptr_equal(sheet, cli.report ? (lap_sheet *)&sys.sheet_exit : NULL);
}

void __wrap_lap_sheet_add_file(lap_sheet *sheet, const lap_batch_file *of);
void __wrap_lap_sheet_add_file(lap_sheet *sheet, const lap_batch_file *of)
{
    assert_non_null(of);
    assert_ptr_equal(sheet, &sys.sheet_exit);
    sys.sheet_files++;
}

void __wrap_lap_sheet_add_pair(lap_sheet *sheet, const lap_pair *pair, const char *what, bool is_equal);
void __wrap_lap_sheet_add_pair(lap_sheet *sheet, const lap_pair *pair, const char *what, bool is_equal)
{
    assert_non_null(pair);
    assert_ptr_equal(sheet, &sys.sheet_exit);
    assert_int_equal(is_equal, strcmp(what, "equal") == 0);
    sys.sheet_pairs++;
}

int __wrap_lap_sheet_write(lap_sheet *sheet, const lap_cli *of, lap_context *its, json_t *results);
int __wrap_lap_sheet_write(lap_sheet *sheet, const lap_cli *of, lap_context *its, json_t *results)
{
    assert_ptr_equal(sheet, &sys.sheet_exit);
    assert_ptr_equal(of, &cli);
    assert_ptr_equal(its, context);
    snprintf(sys.sheet_result, sizeof sys.sheet_result, "%s",
        json_string_value(json_object_get(results, "schema")));
    json_decref(results);
    return sys.sheet_exit;
}

int __wrap_lap_stats_write(
    const lap_cli *of, const char *input, const lap_run_stats *stats, const lap_report *report);
int __wrap_lap_stats_write(
    const lap_cli *of, const char *input, const lap_run_stats *stats, const lap_report *report)
{
    assert_ptr_equal(of, &cli);
    assert_true(input && stats && report);
    sys.stats_written++;
    return sys.stats_exit;
}

void __wrap_lap_cli_print_photo(
    const lap_cli *of, lap_context *its, const char *in, const char *out, const lap_report *report);
void __wrap_lap_cli_print_photo(
    const lap_cli *of, lap_context *its, const char *in, const char *out, const lap_report *report)
{
    assert_ptr_equal(of, &cli);
    assert_ptr_equal(its, context);
    fprintf(stderr, "[%s -> %s %d]\n", in, out, report->width);
}

/* ---- runs ------------------------------------------------------------------------------------------ */

static void given(const lap_batch_options *options, const lap_settings *settings)
{
    sys.options = *options;
    sys.settings = *settings;
    sys.has_devices = options->devices;
    if (options->devices)
        sys.devices = *options->devices;
    sys.take = *options->take;
    sys.finds_made = options->others->finds_made;
    *options->others = sys.others;
    *options->work = sys.work;
}

static void count(lap_batch_counts *counts, lap_status status, lap_code code)
{
    counts->ok += status == LAP_DONE;
    counts->warned += status == LAP_WARNED;
    counts->skipped += status == LAP_SKIPPED;
    counts->failed += status == LAP_FAILED;
    counts->kinds[code] += status == LAP_SKIPPED || status == LAP_FAILED;
}

/* Gives all files; afterwards the counts are those of the test, where it has any. */
static lap_code run(lap_batch_fn *each, void *user, lap_batch_counts *counts, lap_error *err)
{
    *counts = (lap_batch_counts){.found = sys.counts.found, .expected = sys.counts.expected};
    each(user, NULL, counts);
    for (size_t i = 0; i < sys.file_count; i++) {
        const file *f = &sys.files[i];
        lap_report report = {.status = f->status,
            .width = 64,
            .height = 48,
            .channels = 3,
            .resolved = "simd",
            .ms = {.total = 12.25},
            .warnings = f->warnings,
            .recoded = f->recoded,
            .warning = "odd",
            .error = {.code = f->code}};
        if (f->code)
            snprintf(report.error.message, sizeof report.error.message, "message");
        if (f->note)
            snprintf(report.note, sizeof report.note, "%s", f->note);
        count(counts, f->status, f->code);
        counts->recoded += f->recoded != 0;
        each(user, &(lap_batch_file){f->input, f->output, &report}, counts);
    }
    *counts = sys.counts;
    *err = sys.err;
    return sys.err.code;
}

lap_code __wrap_lap_batch(lap_context *its, const lap_batch_options *options, const lap_settings *settings,
    lap_batch_fn *each, void *user, lap_batch_counts *counts, lap_error *err);
lap_code __wrap_lap_batch(lap_context *its, const lap_batch_options *options, const lap_settings *settings,
    lap_batch_fn *each, void *user, lap_batch_counts *counts, lap_error *err)
{
    assert_ptr_equal(its, context);
    given(options, settings);
    if (sys.warning.code)
        options->warn(user, &sys.warning);
    const lap_code code = run(each, user, counts, err);
    sys.has_prune = options->prune;
    if (options->prune) {
        lap_batch_prune *prune = options->prune;
        void (*each_output)(void *, const char *, const lap_error *) = prune->each;
        for (int i = 0; i < sys.pruned; i++)
            each_output(prune->user, i ? "out/b.jpg" : "out/a.jpg", NULL);
        if (sys.prune.failed)
            each_output(prune->user, "out/c.jpg", &(lap_error){.code = LAP_E_WRITE, .message = "cannot"});
        user = prune->user;
        *prune = sys.prune;
        prune->user = user;
    }
    return code;
}

lap_code __wrap_lap_batch_in_place(lap_context *its, const lap_in_place *order, const lap_settings *settings,
    lap_batch_counts *counts, lap_error *err);
lap_code __wrap_lap_batch_in_place(lap_context *its, const lap_in_place *order, const lap_settings *settings,
    lap_batch_counts *counts, lap_error *err)
{
    assert_ptr_equal(its, context);
    sys.in_place = *order;
    given(order->options, settings);
    return run(order->each, order->user, counts, err);
}

lap_code __wrap_lap_measure_batch(lap_context *its, const lap_measure_order *order,
    const lap_settings *settings, lap_batch_counts *counts, lap_error *err);
lap_code __wrap_lap_measure_batch(lap_context *its, const lap_measure_order *order,
    const lap_settings *settings, lap_batch_counts *counts, lap_error *err)
{
    assert_ptr_equal(its, context);
    given(order->options, settings);
    sys.measure = *order->measure;
    sys.has_text = order->text;
    *counts = (lap_batch_counts){.found = sys.counts.found, .expected = sys.counts.expected};
    order->each(order->user, NULL, counts);
    for (size_t i = 0; i < sys.measured_count; i++) {
        lap_measured one = sys.measured[i];
        char *text = order->text && one.measurement ? order->text(order->user, &one) : NULL;
        one.text = text;
        count(counts, one.report->status, one.report->error.code);
        order->each(order->user, &one, counts);
        free(text);
    }
    *counts = sys.counts;
    *err = sys.err;
    return sys.err.code;
}

lap_code __wrap_lap_compare_folders(lap_context *its, const lap_pairing *pairing,
    const lap_settings *settings, lap_batch_counts *counts, lap_error *err);
lap_code __wrap_lap_compare_folders(lap_context *its, const lap_pairing *pairing,
    const lap_settings *settings, lap_batch_counts *counts, lap_error *err)
{
    assert_ptr_equal(its, context);
    assert_string_equal(pairing->a, "a");
    assert_string_equal(pairing->b, "b");
    given(pairing->options, settings);
    sys.rules = *pairing->rules;
    *counts = (lap_batch_counts){.found = sys.counts.found, .expected = sys.counts.expected};
    assert_true(pairing->each(pairing->user, NULL, counts));
    bool goes_on = true;
    for (sys.asked_pairs = 0; sys.asked_pairs < sys.pair_count && goes_on; sys.asked_pairs++)
        goes_on = pairing->each(pairing->user, &sys.pairs[sys.asked_pairs], counts);
    *counts = sys.counts;
    *err = sys.err;
    return sys.err.code;
}

/* ---- a command line -------------------------------------------------------------------------------- */

static char *operands[4] = {"in", "out"};

static int begin(void **state)
{
    (void)state;
    memset(&sys, 0, sizeof sys);
    sys.lost_after = -1;
    memset(&cli, 0, sizeof cli);
    cli.color = LAP_CLI_NEVER;
    cli.settings = lap_settings_default();
    cli.allowed = (lap_cli_tolerance){-1, -1, -1, -1, 0, 0};
    cli.command = &lap_cli_commands[LAP_COMMAND_RUN];
    cli.operands = operands;
    cli.operand_count = 2;
    operands[0] = "in";
    operands[1] = "out";
    operands[2] = "third";
    lap_json_direct(false, NULL, true);
    lap_term_begin(&cli);
    return chdir(scratch);
}

static int end(void **state)
{
    (void)state;
    return said_restore(state);
}

static void wants_json(void)
{
    cli.json = true;
    lap_json_direct(true, NULL, true);
}

/* The exit code, and what is printed. */
static int says(int (*command)(lap_cli *cli))
{
    said_listen();
    const int code = command(&cli);
    said_end();
    return code;
}

/* All that is printed, and the exit code, as one text. */
static const char *all_of(int (*command)(lap_cli *cli))
{
    static char text[1 << 16];
    const int code = says(command);
    snprintf(
        text, sizeof text, "%.30000s%s%.30000s%d", said_out(), *said_out() ? "--\n" : "", said_err(), code);
    return text;
}

#define assert_run(want) assert_text(all_of(lap_run_folder), want)
#define assert_in_place(want) assert_text(all_of(lap_run_in_place), want)
#define assert_stats(want) assert_text(all_of(lap_cli_stats), want)
#define assert_diff(want) assert_text(all_of(lap_cli_diff), want)

static void give(const file *files, size_t file_count)
{
    sys.files = files;
    sys.file_count = file_count;
    memset(&sys.counts, 0, sizeof sys.counts);
    for (size_t i = 0; i < file_count; i++) {
        count(&sys.counts, files[i].status, files[i].code);
        sys.counts.recoded += files[i].recoded != 0;
    }
    sys.counts.found = sys.counts.expected = file_count;
    sys.counts.pixels = 5000000;
    sys.counts.ms = 2000;
}

static const file mixed[] = {{"in/a.jpg", "out/a.jpg", LAP_DONE, LAP_OK, 0, 0, NULL},
    {"in/b\x1b.jpg", "out/b\x1b.jpg", LAP_WARNED, LAP_OK, 2, 1, "a note"},
    {"in/c.jpg", "out/c.jpg", LAP_SKIPPED, LAP_OK, 0, 0, NULL},
    {"in/d.jpg", "out/d.jpg", LAP_SKIPPED, LAP_E_EXISTS, 0, 0, NULL},
    {"in/e.jpg", "out/e.jpg", LAP_FAILED, LAP_E_TRUNCATED, 0, 0, NULL},
    {"in/f.jpg", "out/f.jpg", LAP_DONE, LAP_OK, 0, 0, NULL}};

/* ---- run ------------------------------------------------------------------------------------------- */

static void run_talks(void **state)
{
    (void)state;
    give(mixed, COUNT(mixed));
    sys.work = (lap_batch_work){.how = "one device and the CPU",
        .jobs = 9,
        .device_count = 2,
        .device = {{.device = 3, .done = 7}, {.device = 0, .done = 2, .is_lost = true}},
        .busy = {1, 2, 4, 8, 16, 32, 64, 1000}};
    assert_run("lapedge: in/b\\x1b.jpg: warning: odd (the first of 2)\n"
               "lapedge: in/d.jpg: message\n"
               "lapedge: in/e.jpg: truncated: message\n"
               "lapedge: note: 1 JPEG was re-encoded, because a lossless transformation is impossible "
               "(in/b\\x1b.jpg); --trim cuts to whole MCUs, --perfect refuses, -v says why\n"
               "3 done (1 with warnings), 1 up to date, 1 left alone (not made by lapedge,"
               " changed since, made from other photos, or by another run),"
               " 1 failed (1 truncated); 2.0 s, 2 Mpixel/s\n"
               "1");
    cli.verbose = true;
    assert_run("in/a.jpg -> out/a.jpg  64 x 48, 12.2 ms\n"
               "lapedge: in/b\\x1b.jpg: warning: odd (the first of 2)\n"
               "in/b\\x1b.jpg -> out/b\\x1b.jpg  64 x 48, 12.2 ms\n"
               "lapedge: in/d.jpg: message\n"
               "lapedge: in/e.jpg: truncated: message\n"
               "in/f.jpg -> out/f.jpg  64 x 48, 12.2 ms\n"
               "lapedge: note: 1 JPEG was re-encoded, because a lossless transformation is impossible "
               "(in/b\\x1b.jpg); --trim cuts to whole MCUs, --perfect refuses, -v says why\n"
               "3 done (1 with warnings), 1 up to date, 1 left alone (not made by lapedge,"
               " changed since, made from other photos, or by another run),"
               " 1 failed (1 truncated); 2.0 s, 2 Mpixel/s\n"
               "  by        one device and the CPU\n"
               "  at once   up to 9\n"
               "  device 3  7 photos\n"
               "  device 0  2 photos, then lost\n"
               "  ms        read 1.0, decode 2.0, upload 4.0, filter 8.0, download 16.0, encode 32.0,"
               " write 64.0, added up 127.0\n"
               "1");
    cli.dry_run = true;
    assert_run("in/a.jpg -> out/a.jpg\n"
               "in/b\\x1b.jpg -> out/b\\x1b.jpg\n"
               "in/f.jpg -> out/f.jpg\n"
               "--\n"
               "lapedge: in/b\\x1b.jpg: warning: odd (the first of 2)\n"
               "lapedge: in/d.jpg: message\n"
               "lapedge: in/e.jpg: truncated: message\n"
               "lapedge: note: 1 JPEG was re-encoded, because a lossless transformation is impossible "
               "(in/b\\x1b.jpg); --trim cuts to whole MCUs, --perfect refuses, -v says why\n"
               "3 to be done (1 with warnings), 1 up to date, 1 left alone (not made by lapedge,"
               " changed since, made from other photos, or by another run), 1 failed (1 truncated)\n"
               "1");
    cli.quiet = true;
    cli.verbose = false;
    assert_run("lapedge: in/d.jpg: message\n"
               "lapedge: in/e.jpg: truncated: message\n"
               "1");
    cli.dry_run = false;
    assert_run("lapedge: in/d.jpg: message\n"
               "lapedge: in/e.jpg: truncated: message\n"
               "1");
    wants_json();
    assert_run("{\"schema\":\"lapedge.run/1\",\"found\":6,\"expected\":6,\"other_shards\":0,"
               "\"links\":0,\"ok\":2,\"warned\":1,\"skipped\":2,\"failed\":1,\"recoded\":1,"
               "\"pixels\":5000000,\"bytes_in\":0,\"bytes_out\":0,\"kinds\":{\"up_to_date\":1,"
               "\"truncated\":1,\"exists\":1},\"not_taken\":{\"files\":0,\"kinds\":{},"
               "\"apple_doubles\":0,\"output_folders\":0,\"outputs\":0,\"photos_in_outdir\":0,"
               "\"left_in\":[],\"unused_patterns\":[]},\"filtered_before\":0,\"pruned\":null,"
               "\"dry_run\":false,\"ms\":2000.0,\"error\":null,"
               "\"work\":{\"how\":\"one device and the CPU\",\"jobs\":9,\"devices\":[{\"device\":3,"
               "\"done\":7,\"lost\":false},{\"device\":0,\"done\":2,\"lost\":true}],"
               "\"ms\":{\"read\":1.0,\"decode\":2.0,\"upload\":4.0,\"filter\":8.0,\"download\":16.0,"
               "\"encode\":32.0,\"write\":64.0,\"total\":1000.0}},"
               "\"started\":\"1970-01-01T00:00:00Z\",\"exit_code\":1}\n"
               "--\n"
               "lapedge: in/d.jpg: message\n"
               "lapedge: in/e.jpg: truncated: message\n"
               "1");
    cli.dry_run = true;
    cli.quiet = false;
    sys.files = mixed;
    sys.file_count = 1;
    assert_run("{\"schema\":\"lapedge.run/1\",\"found\":6,\"expected\":6,\"other_shards\":0,"
               "\"links\":0,\"ok\":2,\"warned\":1,\"skipped\":2,\"failed\":1,\"recoded\":1,"
               "\"pixels\":5000000,\"bytes_in\":0,\"bytes_out\":0,\"kinds\":{\"up_to_date\":1,"
               "\"truncated\":1,\"exists\":1},\"not_taken\":{\"files\":0,\"kinds\":{},"
               "\"apple_doubles\":0,\"output_folders\":0,\"outputs\":0,\"photos_in_outdir\":0,"
               "\"left_in\":[],\"unused_patterns\":[]},\"filtered_before\":0,\"pruned\":null,"
               "\"dry_run\":true,\"ms\":2000.0,\"error\":null,"
               "\"work\":{\"how\":\"one device and the CPU\",\"jobs\":9,\"devices\":[{\"device\":3,"
               "\"done\":7,\"lost\":false},{\"device\":0,\"done\":2,\"lost\":true}],"
               "\"ms\":{\"read\":1.0,\"decode\":2.0,\"upload\":4.0,\"filter\":8.0,\"download\":16.0,"
               "\"encode\":32.0,\"write\":64.0,\"total\":1000.0}},"
               "\"started\":\"1970-01-01T00:00:00Z\",\"exit_code\":1}\n"
               "--\n"
               "in/a.jpg -> out/a.jpg\n"
               "lapedge: note: 1 JPEG was re-encoded, because a lossless transformation is impossible "
               "(); --trim cuts to whole MCUs, --perfect refuses, -v says why\n"
               "3 to be done (1 with warnings), 1 up to date, 1 left alone (not made by lapedge,"
               " changed since, made from other photos, or by another run), 1 failed (1 truncated)\n"
               "1");
}

/* One and several of each kind that a summary counts. */
static void run_counts(void **state)
{
    (void)state;
    give(mixed, 0);
    sys.counts.expected = sys.counts.found = 20;
    sys.counts.ok = 3;
    sys.counts.skipped = 7;
    sys.counts.kinds[LAP_OK] = 3;
    sys.counts.kinds[LAP_E_EXISTS] = 4;
    sys.counts.failed = 9;
    sys.counts.kinds[LAP_E_USAGE] = 1;
    sys.counts.kinds[LAP_E_LIMIT] = 6;
    sys.counts.kinds[LAP_CODES - 1] = 2;
    sys.counts.links = sys.counts.vanished = sys.counts.recoded = 1;
    assert_run("lapedge: note: 1 JPEG was re-encoded, because a lossless transformation is impossible "
               "(); --trim cuts to whole MCUs, --perfect refuses, -v says why\n"
               "3 done, 3 up to date, 4 left alone (not made by lapedge, changed since,"
               " made from other photos, or by another run), 9 failed (1 usage, 6 limit, 2 unknown),"
               " 1 left; 2.0 s, 2 Mpixel/s\n"
               "lapedge: the same command continues\n"
               "lapedge: 1 photo was found at first, but gone when the run reached it\n"
               "lapedge: 1 symbolic link not followed; --follow does\n"
               "1");
    sys.counts.links = sys.counts.vanished = sys.counts.recoded = 2;
    cli.settings.no_clobber = cli.skip_existing = true;
    sys.counts.pixels = 0;
    assert_run("lapedge: note: 2 JPEGs were re-encoded, because a lossless transformation is "
               "impossible (, ...); --trim cuts to whole MCUs, --perfect refuses, -v says why\n"
               "3 done, 3 there already, 4 left alone (--no-clobber), 9 failed (1 usage, 6 limit,"
               " 2 unknown), 1 left; 2.0 s\n"
               "lapedge: the same command continues\n"
               "lapedge: 2 photos were found at first, but gone when the run reached them\n"
               "lapedge: 2 symbolic links not followed; --follow does\n"
               "1");
    sys.counts.ms = 0;
    sys.counts.pixels = 9;
    static const lap_code whys[] = {LAP_OK, LAP_E_CANCELLED, LAP_E_DISK_FULL, LAP_E_WRITE};
    for (size_t i = 0; i < COUNT(whys); i++) {
        sys.err = (lap_error){.code = whys[i], .message = "why"};
        all_of(lap_run_folder);
        assert_non_null(strstr(said_err(), ", 1 left\n"));
        const char *says_how = whys[i] == LAP_E_DISK_FULL ? "once there is room, the same command continues\n"
                               : whys[i] == LAP_E_WRITE
                                   ? "once the cause is removed, the same command continues\n"
                                   : "the same command continues\n";
        const char *line = strstr(said_err(), " left\nlapedge: ");
        assert_non_null(line);
        assert_int_equal(strncmp(line + 15, says_how, strlen(says_how)), 0);
        cli.rebuild = i % 2;
        cli.fail_fast = !cli.rebuild;
        all_of(lap_run_folder);
        assert_null(strstr(said_err(), "continues"));
        cli.rebuild = cli.fail_fast = false;
    }
}

/* The first three that fail are named if there are more. */
static void run_failures(void **state)
{
    static file many[14];
    static char names[14][24];
    (void)state;
    for (int i = 0; i < 14; i++) {
        snprintf(names[i], sizeof names[i], "in/%d.jpg", i);
        many[i] = (file){names[i], "out/x", LAP_FAILED, LAP_E_TRUNCATED, 0, 0, NULL};
    }
    for (int n = 3; n < 5; n++) {
        give(many, (size_t)n);
        if (n == 3)
            assert_run("lapedge: in/0.jpg: truncated: message\n"
                       "lapedge: in/1.jpg: truncated: message\n"
                       "lapedge: in/2.jpg: truncated: message\n"
                       "0 done, 3 failed (3 truncated); 2.0 s, 2 Mpixel/s\n"
                       "4");
        else
            assert_run("lapedge: in/0.jpg: truncated: message\n"
                       "lapedge: in/1.jpg: truncated: message\n"
                       "lapedge: in/2.jpg: truncated: message\n"
                       "lapedge: in/3.jpg: truncated: message\n"
                       "0 done, 4 failed (4 truncated); 2.0 s, 2 Mpixel/s\n"
                       "first to fail: in/0.jpg, in/1.jpg, in/2.jpg\n"
                       "4");
    }
    many[4] = (file){"in/r.jpg", "out/x", LAP_DONE, LAP_OK, 0, 1, NULL};
    give(many, 5);
    (void)says(lap_run_folder);
    assert_non_null(strstr(said_err(), "\nfirst to fail: in/0.jpg, in/1.jpg, in/2.jpg\n"));
    many[4] = (file){names[4], "out/x", LAP_FAILED, LAP_E_TRUNCATED, 0, 0, NULL};
    give(many, 4);
    sys.counts.failed = 5; /* a photo that vanished has no name */
    sys.file_count = 2;
    assert_run("lapedge: in/0.jpg: truncated: message\n"
               "lapedge: in/1.jpg: truncated: message\n"
               "0 done, 5 failed (4 truncated); 2.0 s, 2 Mpixel/s\n"
               "first to fail: in/0.jpg, in/1.jpg\n"
               "4");
    /* A terminal shows ten of each kind. */
    sys.is_drawn = true;
    give(many, 10);
    assert_null(strstr(all_of(lap_run_folder), "more"));
    give(many, 14);
    assert_run("<0><>lapedge: in/0.jpg: truncated: message\n"
               "<1><>lapedge: in/1.jpg: truncated: message\n"
               "<2><>lapedge: in/2.jpg: truncated: message\n"
               "<3><>lapedge: in/3.jpg: truncated: message\n"
               "<4><>lapedge: in/4.jpg: truncated: message\n"
               "<5><>lapedge: in/5.jpg: truncated: message\n"
               "<6><>lapedge: in/6.jpg: truncated: message\n"
               "<7><>lapedge: in/7.jpg: truncated: message\n"
               "<8><>lapedge: in/8.jpg: truncated: message\n"
               "<9><>lapedge: in/9.jpg: truncated: message\n"
               "<10><11><12><13><14><>0 done, 14 failed (14 truncated); 2.0 s, 2 Mpixel/s\n"
               "lapedge: and 4 more truncated: -v prints all, --log=FILE keeps them\n"
               "first to fail: in/0.jpg, in/1.jpg, in/2.jpg\n"
               "4");
    for (int i = 0; i < 14; i++)
        many[i].status = i == 5 ? LAP_FAILED : LAP_WARNED, many[i].code = i == 5 ? LAP_E_LIMIT : LAP_OK;
    cli.log = "log";
    give(many, 14);
    all_of(lap_run_folder);
    assert_non_null(strstr(said_err(), "lapedge: and 3 more warnings: see log\n"));
    cli.verbose = true;
    all_of(lap_run_folder);
    assert_null(strstr(said_err(), "more warnings"));
    assert_non_null(strstr(said_err(), "in/13.jpg: warning"));
}

/* What was not taken, one and several of each. */
static void others(void **state)
{
    (void)state;
    give(mixed, 1);
    sys.others = (lap_batch_others){.files = 1,
        .apple_doubles = 1,
        .outputs = 1,
        .output_folders = 1,
        .out_photos = 1,
        .left_count = 1,
        .left = {{.folder = "in/out", .first = "in/out/x.jpg", .outputs = 1, .photos = 1}},
        .made = 1,
        .made_first = "in/m.jpg",
        .kind_count = 1,
        .kinds = {{"heic", 1}}};
    assert_run("lapedge: 1 other file not taken: 1 .heic\n"
               "lapedge: 1 AppleDouble file not taken: macOS keeps metadata in ._NAME, not photos\n"
               "lapedge: 1 output of earlier runs not taken: 1 in in/out; to take outputs,"
               " name their folder\n"
               "lapedge: 1 photo in the output folder not taken (in/out/x.jpg); move it,"
               " or write elsewhere\n"
               "lapedge: warning: 1 input was filtered by lapedge before (in/m.jpg): its output is "
               "edges of edges\n"
               "1 done; 2.0 s, 2 Mpixel/s\n"
               "0");
    sys.others = (lap_batch_others){.files = 9,
        .apple_doubles = 2,
        .outputs = 6,
        .output_folders = 4,
        .out_photos = 7,
        .left_count = 3,
        .left = {{.folder = "in/o1", .first = "in/o1/x.jpg", .outputs = 2},
            {.folder = "in/o2", .first = "in/o2/y.jpg", .outputs = 1, .photos = 3},
            {.folder = "in/\xff", .first = "in/o3/z.jpg", .photos = 4}},
        .made = 2,
        .made_first = "in/m.jpg",
        .kind_count = 2,
        .kinds = {{"heic", 3}, {"", 5}},
        .include_used = 2,
        .exclude_used = 1};
    cli.include[0] = "*.{jpg,png}";
    cli.include[1] = "used";
    cli.include[2] = "a/b";
    cli.include[3] = "plain";
    cli.exclude[0] = "used too";
    cli.exclude[1] = "x";
    assert_run("lapedge: --include=*.{jpg,png} matches nothing (braces are matched literally; repeat "
               "the option for each pattern)\n"
               "lapedge: --include=a/b matches nothing (a pattern with a slash begins at the named "
               "folder; */ before it matches at any depth)\n"
               "lapedge: --include=plain matches nothing (a pattern without a slash matches file "
               "names; end it with a slash for folders)\n"
               "lapedge: --exclude=x matches nothing\n"
               "lapedge: 9 other files not taken: 3 .heic, 5 without extension, ...\n"
               "lapedge: 2 AppleDouble files not taken: macOS keeps metadata in ._NAME, not photos\n"
               "lapedge: 6 outputs of earlier runs not taken: 2 in in/o1, 1 in in/o2,"
               " ...; to take outputs, name their folder\n"
               "lapedge: 7 photos in the output folder not taken (in/o2/y.jpg, ...); move them,"
               " or write elsewhere\n"
               "lapedge: warning: 2 inputs were filtered by lapedge before (in/m.jpg,"
               " ...): their outputs are edges of edges\n"
               "1 done; 2.0 s, 2 Mpixel/s\n"
               "0");
    assert_int_equal(sys.take.include_count, 4);
    assert_int_equal(sys.take.exclude_count, 2);
    assert_true(sys.take.include == cli.include && sys.take.exclude == cli.exclude);
    sys.others.outputs = 3; /* all of them are in the named folders */
    sys.others.files = 8;
    wants_json();
    assert_run("{\"schema\":\"lapedge.run/1\",\"found\":1,\"expected\":1,\"other_shards\":0,"
               "\"links\":0,\"ok\":1,\"warned\":0,\"skipped\":0,\"failed\":0,\"recoded\":0,"
               "\"pixels\":5000000,\"bytes_in\":0,\"bytes_out\":0,\"kinds\":{},"
               "\"not_taken\":{\"files\":8,\"kinds\":{\"heic\":3,\"\":5},\"apple_doubles\":2,"
               "\"output_folders\":4,\"outputs\":3,\"photos_in_outdir\":7,"
               "\"left_in\":[{\"path\":\"in/o1\",\"outputs\":2,\"photos\":0},{\"path\":\"in/o2\","
               "\"outputs\":1,\"photos\":3},{\"path\":\"in/\357\277\275\",\"path_raw\":\"in/%FF\","
               "\"outputs\":0,\"photos\":4}],\"unused_patterns\":[{\"option\":\"--include\","
               "\"pattern\":\"*.{jpg,png}\"},{\"option\":\"--include\",\"pattern\":\"a/b\"},"
               "{\"option\":\"--include\",\"pattern\":\"plain\"},{\"option\":\"--exclude\","
               "\"pattern\":\"x\"}]},\"filtered_before\":2,\"pruned\":null,\"dry_run\":false,"
               "\"ms\":2000.0,\"error\":null,\"work\":{\"how\":\"\",\"jobs\":0,\"devices\":[],"
               "\"ms\":{\"read\":0.0,\"decode\":0.0,\"upload\":null,\"filter\":0.0,\"download\":null,"
               "\"encode\":0.0,\"write\":0.0,\"total\":0.0}},"
               "\"started\":\"1970-01-01T00:00:00Z\",\"exit_code\":0}\n"
               "--\n"
               "lapedge: --include=*.{jpg,png} matches nothing (braces are matched literally; repeat "
               "the option for each pattern)\n"
               "lapedge: --include=a/b matches nothing (a pattern with a slash begins at the named "
               "folder; */ before it matches at any depth)\n"
               "lapedge: --include=plain matches nothing (a pattern without a slash matches file "
               "names; end it with a slash for folders)\n"
               "lapedge: --exclude=x matches nothing\n"
               "lapedge: 8 other files not taken: 3 .heic, 5 without extension\n"
               "lapedge: 2 AppleDouble files not taken: macOS keeps metadata in ._NAME, not photos\n"
               "lapedge: 3 outputs of earlier runs not taken: 2 in in/o1, 1 in in/o2; to take outputs,"
               " name their folder\n"
               "lapedge: 7 photos in the output folder not taken (in/o2/y.jpg, ...); move them,"
               " or write elsewhere\n"
               "lapedge: warning: 2 inputs were filtered by lapedge before (in/m.jpg,"
               " ...): their outputs are edges of edges\n"
               "1 done; 2.0 s, 2 Mpixel/s\n"
               "0");
    sys.err = (lap_error){.code = LAP_E_LIMIT, .message = "m"}; /* perhaps not all folders were walked */
    cli.json = false;
    all_of(lap_run_folder);
    assert_null(strstr(said_err(), "matches nothing"));
    cli.settings.filter = false; /* for edges that are only turned there is no warning */
    all_of(lap_run_folder);
    assert_null(strstr(said_err(), "edges of edges"));
}

static void nothing_found(void **state)
{
    (void)state;
    assert_run("0 done\n"
               "lapedge: no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content)\n"
               "4");
    sys.others = (lap_batch_others){
        .files = 6, .kind_count = 4, .kinds = {{"png", 1}, {"gif", 2}, {"pnm", 2}, {"ppm", 1}}};
    cli.quiet = true;
    assert_run("lapedge: no photo found (*.jpg *.jpeg *.jpe *.jfif,"
               " or JPEG by content); to take the others: --ext=png,pnm,ppm\n"
               "4");
    cli.exclude[0] = "x";
    sys.others.exclude_used = 1;
    assert_run("lapedge: no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content),"
               " after --exclude; to take the others: --ext=png,pnm,ppm\n"
               "4");
    cli.include[0] = "y";
    sys.others.include_used = 1;
    assert_run("lapedge: no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content),"
               " after --include and --exclude\n"
               "4");
    cli.exclude[0] = NULL;
    cli.take.extensions = "jpg,tif";
    memset(&cli.take, 0, sizeof cli.take);
    cli.take.extensions = "jpg";
    assert_run("lapedge: no photo found (--ext=jpg), after --include\n"
               "4");
    cli.files_from = "list";
    cli.operand_count = 1;
    operands[0] = "out";
    assert_run("lapedge: no photo found: the list names none\n"
               "4");
    sys.counts.other_shards = 1;
    assert_run("0");
}

static void pruning(void **state)
{
    (void)state;
    give(mixed, 1);
    cli.prune = true;
    sys.pruned = 1;
    sys.prune = (lap_batch_prune){.removed = 1,
        .failed = 1,
        .kept = 1,
        .hidden = 1,
        .changed = 1,
        .elsewhere = 1,
        .others = 1,
        .hidden_by = "in/a link",
        .others_in = "o"};
    assert_run("lapedge: out/c.jpg: cannot\n"
               "1 done, 1 removed (photo gone); 2.0 s, 2 Mpixel/s\n"
               "lapedge: --prune: 1 output left: a folder in the photo's path is empty; its disk may "
               "not be mounted\n"
               "lapedge: --prune: 1 output left: its photo may be behind a symbolic link that leads "
               "nowhere or is not followed, 'in/a link'\n"
               "lapedge: --prune: 1 output left: changed or copied after lapedge wrote it\n"
               "lapedge: --prune: 1 output left: its photo was in a folder that is not part of this "
               "run, and is not there any more\n"
               "lapedge: --prune: 1 output left: recorded in o; a run with that OUTDIR and its photos "
               "can remove it\n"
               "1");
    sys.pruned = 2;
    sys.prune = (lap_batch_prune){.removed = 2,
        .kept = 2,
        .changed = 2,
        .elsewhere = 2,
        .others = 2,
        .hidden_by = "in/link",
        .others_in = "o"};
    cli.verbose = true;
    assert_run("in/a.jpg -> out/a.jpg  64 x 48, 12.2 ms\n"
               "removed out/a.jpg\n"
               "removed out/b.jpg\n"
               "1 done, 2 removed (photo gone); 2.0 s, 2 Mpixel/s\n"
               "  by        \n"
               "  at once   up to 0\n"
               "  ms        added up 0.0\n"
               "lapedge: --prune: 2 outputs left: a folder in the photo's path is empty; its disk may "
               "not be mounted\n"
               "lapedge: --prune: 2 outputs left: changed or copied after lapedge wrote them\n"
               "lapedge: --prune: 2 outputs left: their photos were in folders that are not part of "
               "this run, and are not there any more\n"
               "lapedge: --prune: 2 outputs left: recorded in o; a run with that OUTDIR and its "
               "photos can remove them\n"
               "0");
    sys.prune.hidden = 2;
    cli.verbose = false;
    cli.dry_run = true;
    assert_run("in/a.jpg -> out/a.jpg\n"
               "remove out/a.jpg\n"
               "remove out/b.jpg\n"
               "--\n"
               "1 to be done, 2 to be removed (photo gone)\n"
               "lapedge: --prune: 2 outputs left: a folder in the photo's path is empty; its disk may "
               "not be mounted\n"
               "lapedge: --prune: 2 outputs left: their photos may be behind a symbolic link that "
               "leads nowhere or is not followed, in/link\n"
               "lapedge: --prune: 2 outputs left: changed or copied after lapedge wrote them\n"
               "lapedge: --prune: 2 outputs left: their photos were in folders that are not part of "
               "this run, and are not there any more\n"
               "lapedge: --prune: 2 outputs left: recorded in o; a run with that OUTDIR and its "
               "photos can remove them\n"
               "1");
    cli.quiet = true;
    assert_run("lapedge: --prune: 2 outputs left: their photos may be behind a symbolic link that "
               "leads nowhere or is not followed, in/link\n"
               "1");
    sys.prune =
        (lap_batch_prune){.refused = {.code = LAP_E_CHANGED, .message = "moved", .remedy = LAP_REMEDY_MOVED}};
    sys.pruned = 0;
    wants_json();
    assert_run("{\"schema\":\"lapedge.run/1\",\"found\":1,\"expected\":1,\"other_shards\":0,"
               "\"links\":0,\"ok\":1,\"warned\":0,\"skipped\":0,\"failed\":0,\"recoded\":0,"
               "\"pixels\":5000000,\"bytes_in\":0,\"bytes_out\":0,\"kinds\":{},"
               "\"not_taken\":{\"files\":0,\"kinds\":{},\"apple_doubles\":0,\"output_folders\":0,"
               "\"outputs\":0,\"photos_in_outdir\":0,\"left_in\":[],\"unused_patterns\":[]},"
               "\"filtered_before\":0,\"pruned\":{\"files\":0,\"failed\":0,\"kept\":0,\"hidden\":0,"
               "\"changed\":0,\"elsewhere\":0,\"others\":0,\"outputs\":[],\"refused\":{\"kind\":\"changed\","
               "\"message\":\"moved; if the photos were moved there,"
               " --prune -f treats it as that folder\"}},\"dry_run\":true,\"ms\":2000.0,"
               "\"error\":null,\"work\":{\"how\":\"\",\"jobs\":0,\"devices\":[],\"ms\":{\"read\":0.0,"
               "\"decode\":0.0,\"upload\":null,\"filter\":0.0,\"download\":null,\"encode\":0.0,"
               "\"write\":0.0,\"total\":0.0}},"
               "\"started\":\"1970-01-01T00:00:00Z\",\"exit_code\":1}\n"
               "--\n"
               "lapedge: --prune: nothing was removed: moved; if the photos were moved there,"
               " --prune -f treats it as that folder\n"
               "1");
    sys.err = (lap_error){.code = LAP_E_LIMIT, .message = "m"};
    assert_run("{\"schema\":\"lapedge.run/1\",\"found\":1,\"expected\":1,\"other_shards\":0,"
               "\"links\":0,\"ok\":1,\"warned\":0,\"skipped\":0,\"failed\":0,\"recoded\":0,"
               "\"pixels\":5000000,\"bytes_in\":0,\"bytes_out\":0,\"kinds\":{},"
               "\"not_taken\":{\"files\":0,\"kinds\":{},\"apple_doubles\":0,\"output_folders\":0,"
               "\"outputs\":0,\"photos_in_outdir\":0,\"left_in\":[],\"unused_patterns\":[]},"
               "\"filtered_before\":0,\"pruned\":{\"files\":0,\"failed\":0,\"kept\":0,\"hidden\":0,"
               "\"changed\":0,\"elsewhere\":0,\"others\":0,\"outputs\":[],\"refused\":{\"kind\":\"limit\","
               "\"message\":\"limit: m\"}},\"dry_run\":true,\"ms\":2000.0,"
               "\"error\":{\"kind\":\"limit\",\"message\":\"limit: m\"},\"work\":{\"how\":\"\","
               "\"jobs\":0,\"devices\":[],\"ms\":{\"read\":0.0,\"decode\":0.0,\"upload\":null,"
               "\"filter\":0.0,\"download\":null,\"encode\":0.0,\"write\":0.0,\"total\":0.0}},"
               "\"started\":\"1970-01-01T00:00:00Z\",\"exit_code\":5}\n"
               "--\n"
               "lapedge: limit: m\n"
               "5");
    assert_true(sys.has_prune);
}

/* Which exit code each end of a run has, and what is said of it. */
static void run_ends(void **state)
{
    (void)state;
    for (int left = 0; left < 2; left++)
        for (int done = 0; done < 4; done++)
            for (int code = LAP_OK; code <= LAP_E_INTERNAL; code++) {
                begin(NULL);
                cli.quiet = true;
                sys.counts.found = 3;
                sys.counts.ok = done == 1;
                sys.counts.warned = done == 2;
                sys.counts.kinds[LAP_OK] = done == 3;
                sys.counts.skipped = done == 3;
                sys.counts.expected = (uint64_t)((done > 0) + left);
                sys.err = (lap_error){.code = code, .message = "m"};
                int want = (int)lap_cli_exit_of(code);
                const bool has_done = done == 1 || done == 2 || (done == 3 && !(code == LAP_E_WRITE && left));
                if (code == LAP_E_DISK_FULL || code == LAP_E_WRITE || code == LAP_E_EXISTS ||
                    code == LAP_E_MISSING || code == LAP_E_UNREADABLE)
                    want = has_done ? 1 : 4;
                if (code == LAP_OK)
                    want = done + left ? 0 : 4;
                assert_int_equal(says(lap_run_folder), want);
                if (code)
                    assert_int_equal(strncmp(said_err(), "lapedge: ", 9), 0);
            }
    static const struct {
        uint64_t expected, failed, exists;
        int exit;
    } counts[] = {
        {3, 0, 0, 0}, {3, 1, 0, 1}, {3, 2, 0, 1}, {3, 3, 0, 4}, {3, 4, 0, 4}, {3, 0, 1, 1}, {3, 0, 3, 1}};
    for (size_t i = 0; i < COUNT(counts); i++) {
        begin(NULL);
        cli.quiet = true;
        sys.counts =
            (lap_batch_counts){.found = 3, .expected = counts[i].expected, .failed = counts[i].failed};
        sys.counts.kinds[LAP_E_EXISTS] = counts[i].exists;
        assert_int_equal(says(lap_run_folder), counts[i].exit);
    }
    begin(NULL);
    sys.no_context = true;
    assert_run("lapedge: limit: no context\n5");
    begin(NULL);
    give(mixed, 1);
    sys.warning = (lap_error){.code = LAP_E_DEVICE, .message = "a device was lost"};
    cli.quiet = true;
    assert_run("0");
    cli.quiet = false;
    sys.is_drawn = true;
    assert_run("<>lapedge: warning: a device was lost\n"
               "<0><1><>1 done; 2.0 s, 2 Mpixel/s\n"
               "0");
}

/* A timeline to a standard output that nobody reads ends the run without a message. */
static void traces(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++) {
        begin(NULL);
        give(mixed, 1);
        cli.quiet = true;
        cli.trace = i & 1 ? "-" : i & 2 ? "trace.json" : NULL;
        sys.reader_left = i & 4;
        sys.err = (lap_error){.code = i & 8 ? LAP_E_WRITE : LAP_E_DISK_FULL, .message = "m"};
        const bool is_quiet = i & 1 && i & 4 && i & 8;
        assert_int_equal(says(lap_run_folder), is_quiet ? LAP_EXIT_PIPE : LAP_EXIT_FAILED);
        assert_int_equal(said_err()[0] == '\0', is_quiet);
    }
}

static void run_files(void **state)
{
    (void)state;
    give(mixed, 2);
    cli.log = "log";
    cli.report = "page";
    sys.others.outputs = 1;
    assert_int_equal(says(lap_run_folder), 0);
    assert_int_equal(sys.begun, 4); /* at each event, and at the end */
    assert_text(sys.logged, "lapedge.file/1 in/a.jpg\nlapedge.file/1 in/b\x1b.jpg\nlapedge.not_taken/1 -\n");
    assert_int_equal(sys.sheet_files, 2);
    assert_string_equal(sys.sheet_result, "lapedge.run/1");
    for (int i = 0; i < 3; i++) { /* each alone is a reason for the last line */
        sys.others = (lap_batch_others){.outputs = i == 0, .out_photos = i == 1, .made = i == 2};
        sys.logged[0] = '\0';
        (void)says(lap_run_folder);
        assert_non_null(strstr(sys.logged, "not_taken"));
    }
    sys.others = (lap_batch_others){.files = 2};
    sys.logged[0] = '\0';
    (void)says(lap_run_folder);
    assert_null(strstr(sys.logged, "not_taken"));
    sys.sheet_exit = 7;
    assert_int_equal(says(lap_run_folder), 7);
    sys.counts.failed = 1;
    assert_int_equal(says(lap_run_folder), 1);
    /* After an error, the log ends and the page is written only if the run had begun. */
    static const lap_code codes[] = {LAP_E_CLASH, LAP_E_DISK_FULL};
    for (size_t i = 0; i < COUNT(codes); i++)
        for (int found = 0; found < 2; found++) {
            sys.file_count = 0;
            sys.counts.found = (uint64_t)found;
            sys.begun = 0;
            sys.sheet_result[0] = '\0';
            sys.err = (lap_error){.code = codes[i], .message = "m"};
            (void)says(lap_run_folder);
            assert_int_equal(sys.begun, 1 + (found && i == 1));
            assert_int_equal(sys.sheet_result[0] != '\0', found);
        }
    begin(NULL);
    give(mixed, 1);
    cli.log = "log";
    sys.no_log = true;
    assert_run("lapedge: --log: log: cannot be opened: Permission denied\n4");
    sys.postpones = true;
    assert_int_equal(says(lap_run_folder), 0);
    /* Nothing is printed to where the clash is. */
    begin(NULL);
    wants_json();
    sys.err = (lap_error){.code = LAP_E_CLASH, .subject = "/dev/stdout", .message = "m"};
    assert_run("lapedge: /dev/stdout: m\n2");
    for (int clash = 0; clash < 2; clash++) {
        wants_json();
        sys.err.code = clash ? LAP_E_CLASH : LAP_E_LIMIT;
        (void)says(lap_run_folder);
        said_listen();
        assert_int_equal(lap_json_print(json_object()), 0);
        said_end();
        assert_text(said_out(), clash ? "" : "{}\n");
    }
}

static void run_options(void **state)
{
    (void)state;
    give(mixed, 1);
    operands[0] = "in";
    operands[1] = "in2";
    operands[2] = "out";
    cli.operand_count = 3;
    (void)says(lap_run_folder);
    assert_ptr_equal(sys.options.inputs, operands);
    assert_int_equal(sys.options.input_count, 2);
    assert_string_equal(sys.options.out_dir, "out");
    assert_false(sys.options.force || sys.options.rebuild || sys.options.dry_run || sys.options.flat ||
                 sys.options.skip_existing || sys.options.no_clobber || sys.options.fail_fast ||
                 sys.options.nul_separated || sys.options.prune || sys.options.suffix ||
                 sys.options.files_from);
    assert_true(sys.finds_made && sys.has_devices && sys.options.jobs == 0 && sys.options.shards == 0);
    assert_true(sys.devices.numbers == NULL && sys.devices.count == 0 && sys.devices.shares == 0);
    assert_int_equal(sys.options.side_count, 1);
    assert_string_equal(sys.settings.backend, "auto");
    static bool *const flags[] = {&cli.force, &cli.rebuild, &cli.dry_run, &cli.flat, &cli.skip_existing,
        &cli.settings.no_clobber, &cli.fail_fast, &cli.null_separated};
    for (size_t i = 0; i < COUNT(flags); i++) {
        *flags[i] = true;
        (void)says(lap_run_folder);
        const bool got[] = {sys.options.force, sys.options.rebuild, sys.options.dry_run, sys.options.flat,
            sys.options.skip_existing, sys.options.no_clobber, sys.options.fail_fast,
            sys.options.nul_separated};
        for (size_t k = 0; k < COUNT(flags); k++)
            assert_int_equal(got[k], k == i);
        *flags[i] = false;
    }
    cli.jobs = 5;
    cli.suffix = "-e";
    cli.shard = "2/7";
    cli.device_count = 2;
    cli.device_memory = 99;
    cli.trace = "t";
    (void)says(lap_run_folder);
    assert_int_equal(sys.options.jobs, 5);
    assert_string_equal(sys.options.suffix, "-e");
    assert_true(sys.options.shard == 2 && sys.options.shards == 7);
    assert_true(sys.devices.numbers == cli.devices && sys.devices.count == 2 && sys.devices.memory == 99);
    assert_string_equal(sys.devices.trace, "t");
    assert_true(sys.devices.share == 0 && sys.devices.shares == 0);
    cli.shard = "7/7";
    all_of(lap_run_folder);
    assert_int_equal(strncmp(said_err(), "lapedge: --shard=7/7: ", 22), 0);
    setenv("OMPI_COMM_WORLD_RANK", "1", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    cli.shard = "auto";
    (void)says(lap_run_folder);
    assert_true(sys.devices.share == 1 && sys.devices.shares == 3 && sys.devices.count == 2);
    cli.device_count = 0;
    (void)says(lap_run_folder);
    assert_true(sys.devices.numbers == NULL && sys.devices.count == -1);
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("OMPI_COMM_WORLD_SIZE");
    cli.shard = NULL;
    sys.has_lost_worker = true;
    cli.settings.backend = "cuda-tile";
    cli.verbose = true;
    (void)says(lap_run_folder);
    assert_string_equal(sys.settings.backend, "auto");
    assert_int_equal(sys.settings.codec, LAP_CODEC_CPU);
    assert_non_null(strstr(said_err(), "by        the CPU alone: the process with the devices has died\n"));
}

/* Operands that cannot be right. */
static void run_operands(void **state)
{
    (void)state;
    put(at("a file"), "x");
    put(at("b's.jpg"), "x");
    cli.operand_count = 1;
    assert_run("lapedge: OUTDIR is missing: lapedge in OUTDIR\n2");
    operands[0] = "a b";
    assert_run("lapedge: OUTDIR is missing: lapedge 'a b' OUTDIR\n2");
    cli.files_from = "list";
    cli.operand_count = 2;
    assert_run("lapedge: --files-from takes OUTDIR as its only operand: lapedge --files-from=FILE OUTDIR\n2");
    cli.operand_count = 0;
    assert_run("lapedge: OUTDIR is missing: lapedge --files-from=FILE OUTDIR\n2");
    cli.operand_count = 1;
    operands[0] = "a file";
    assert_run("lapedge: a file is taken for OUTDIR, but is not a folder\n2");
    cli.files_from = NULL;
    cli.operand_count = 2;
    operands[1] = "b's.jpg";
    assert_run("lapedge: b's.jpg, the last of 2 operands, is taken for OUTDIR, but is not a folder; add one: "
               "'a file' 'b'\\''s.jpg' OUTDIR\n2");
    operands[1] = "x";
    operands[2] = "a file";
    cli.operand_count = 3;
    operands[0] = "in";
    assert_run("lapedge: a file, the last of 3 operands, is taken for OUTDIR, but is not a folder; add one: "
               "in ... 'a file' OUTDIR\n2");
    for (int i = 0; i < 3; i++) {
        begin(NULL);
        cli.operand_count = 3;
        operands[i] = "-";
        assert_run("lapedge: - cannot be used with folders or several files\n2");
    }
    begin(NULL);
    operands[1] = "new.jpg";
    assert_run("lapedge: new.jpg: no such folder, and the name looks like a file's; write new.jpg/ to create "
               "it\n2");
    give(mixed, 1);
    sys.postpones = true;
    operands[1] = "new.jpg/";
    assert_int_equal(says(lap_run_folder), 0);
    operands[1] = "new.d";
    assert_int_equal(says(lap_run_folder), 0);
    assert_int_equal(mkdir("dir.jpg", 0700) | symlink("nowhere", "link.jpg"), 0);
    operands[1] = "dir.jpg";
    assert_int_equal(says(lap_run_folder), 0);
    operands[1] = "link.jpg";
    assert_int_equal(says(lap_run_folder), 0);
    operands[1] = "no/new.jpg";
    assert_int_equal(says(lap_run_folder), 2);
    operands[1] = "b's.jpg/x.jpg"; /* not a folder: the library says so */
    assert_int_equal(says(lap_run_folder), 0);
}

/* ---- in place -------------------------------------------------------------------------------------- */

static const file places[] = {{"a.jpg", "a.jpg", LAP_DONE, LAP_OK, 0, 0, NULL},
    {"b.jpg", "b.jpg", LAP_WARNED, LAP_OK, 1, 0, NULL}, {"c.jpg", "c.jpg", LAP_SKIPPED, LAP_OK, 0, 0, NULL},
    {"d.jpg", "d.jpg", LAP_SKIPPED, LAP_OK, 0, 0, "another name of c.jpg"},
    {"e.jpg", "e.jpg", LAP_SKIPPED, LAP_E_EXISTS, 0, 0, NULL},
    {"f.jpg", "f.jpg", LAP_FAILED, LAP_E_LIMIT, 0, 0, NULL}};

static void put_places(void)
{
    for (char name[] = "a.jpg"; name[0] <= 'f'; name[0]++)
        put(at(name), "x");
    operands[0] = "a.jpg";
    operands[1] = "b.jpg";
}

static void in_place_talks(void **state)
{
    (void)state;
    put_places();
    give(places, COUNT(places));
    assert_in_place("lapedge: b.jpg: warning: odd\n"
                    "lapedge: d.jpg: another name of c.jpg\n"
                    "lapedge: e.jpg: message\n"
                    "lapedge: f.jpg: limit: message\n"
                    "2 done (1 with warnings), 2 up to date, 1 left alone, 1 failed (1 limit); 2.0 s\n"
                    "1");
    cli.verbose = true;
    cli.backup = ".orig";
    assert_in_place("lapedge: up to 4 photos at once, 4 threads\n"
                    "[a.jpg -> a.jpg 64]\n"
                    "lapedge: b.jpg: warning: odd\n"
                    "[b.jpg -> b.jpg 64]\n"
                    "lapedge: c.jpg: up to date, but without a backup: there is no c.jpg.orig\n"
                    "lapedge: d.jpg: another name of c.jpg\n"
                    "lapedge: e.jpg: message\n"
                    "lapedge: f.jpg: limit: message\n"
                    "[f.jpg -> f.jpg 64]\n"
                    "2 done (1 with warnings), 2 up to date (1 without a backup), 1 left alone,"
                    " 1 failed (1 limit); 2.0 s\n"
                    "1");
    put(at("c.jpg.orig"), "x");
    assert_in_place("lapedge: up to 4 photos at once, 4 threads\n"
                    "[a.jpg -> a.jpg 64]\n"
                    "lapedge: b.jpg: warning: odd\n"
                    "[b.jpg -> b.jpg 64]\n"
                    "lapedge: c.jpg: up to date\n"
                    "lapedge: d.jpg: another name of c.jpg\n"
                    "lapedge: e.jpg: message\n"
                    "lapedge: f.jpg: limit: message\n"
                    "[f.jpg -> f.jpg 64]\n"
                    "2 done (1 with warnings), 2 up to date, 1 left alone, 1 failed (1 limit); 2.0 s\n"
                    "1");
    cli.verbose = false;
    cli.dry_run = true;
    sys.is_drawn = true;
    assert_in_place("a.jpg -> a.jpg\n"
                    "--\n"
                    "<0><><1><>lapedge: b.jpg: warning: odd\n"
                    "<2><><3><>lapedge: d.jpg: another name of c.jpg\n"
                    "<4><>lapedge: e.jpg: message\n"
                    "<5><>lapedge: f.jpg: limit: message\n"
                    "<6><>2 to be done (1 with warnings), 2 up to date, 1 left alone, 1 failed (1 limit)\n"
                    "1");
    cli.quiet = true;
    sys.is_drawn = false;
    assert_in_place("lapedge: e.jpg: message\n"
                    "lapedge: f.jpg: limit: message\n"
                    "1");
    wants_json();
    cli.dry_run = cli.quiet = false;
    cli.log = "log";
    sys.logged[0] = '\0';
    give(places, 2);
    assert_in_place("{\"schema\":\"lapedge.file/1\",\"input\":\"a.jpg\",\"output\":\"a.jpg\","
                    "\"status\":\"ok\",\"error\":null,\"width\":64,\"height\":48,\"channels\":3,"
                    "\"backend\":\"auto\",\"resolved\":\"simd\",\"kernel\":\"laplace5\","
                    "\"border\":\"zero\",\"range\":\"clamp\",\"ms\":{\"read\":0.0,\"decode\":0.0,"
                    "\"upload\":null,\"filter\":0.0,\"download\":null,\"encode\":0.0,\"write\":0.0,"
                    "\"total\":12.25},\"bytes_in\":0,\"bytes_out\":0,\"warnings\":0,\"warning\":null,"
                    "\"recoded\":false,\"note\":null,\"settings\":{\"filter\":true,\"border\":\"zero\","
                    "\"range\":\"clamp\",\"gray\":false,\"auto_orient\":false,\"turn\":1,\"format\":null,"
                    "\"quality\":90,\"subsampling\":\"same\",\"restart\":\"auto\",\"progressive\":false,"
                    "\"optimize\":false,\"strip\":false,\"keep\":null,\"fail_on\":\"truncated\","
                    "\"lossless\":\"no\",\"coefficients\":[-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,"
                    "-1.0,-1.0,-1.0,24.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0],"
                    "\"scale\":1.0,\"offset\":0.0,\"invert\":false,\"threshold\":-1},"
                    "\"started\":\"1970-01-01T00:00:00Z\",\"exit_code\":null}\n"
                    "{\"schema\":\"lapedge.file/1\",\"input\":\"b.jpg\",\"output\":\"b.jpg\","
                    "\"status\":\"warned\",\"error\":null,\"width\":64,\"height\":48,\"channels\":3,"
                    "\"backend\":\"auto\",\"resolved\":\"simd\",\"kernel\":\"laplace5\","
                    "\"border\":\"zero\",\"range\":\"clamp\",\"ms\":{\"read\":0.0,\"decode\":0.0,"
                    "\"upload\":null,\"filter\":0.0,\"download\":null,\"encode\":0.0,\"write\":0.0,"
                    "\"total\":12.25},\"bytes_in\":0,\"bytes_out\":0,\"warnings\":1,\"warning\":\"odd\","
                    "\"recoded\":false,\"note\":null,\"settings\":{\"filter\":true,\"border\":\"zero\","
                    "\"range\":\"clamp\",\"gray\":false,\"auto_orient\":false,\"turn\":1,\"format\":null,"
                    "\"quality\":90,\"subsampling\":\"same\",\"restart\":\"auto\",\"progressive\":false,"
                    "\"optimize\":false,\"strip\":false,\"keep\":null,\"fail_on\":\"truncated\","
                    "\"lossless\":\"no\",\"coefficients\":[-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,"
                    "-1.0,-1.0,-1.0,24.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0],"
                    "\"scale\":1.0,\"offset\":0.0,\"invert\":false,\"threshold\":-1},"
                    "\"started\":\"1970-01-01T00:00:00Z\",\"exit_code\":null}\n"
                    "--\n"
                    "lapedge: b.jpg: warning: odd\n"
                    "2 done (1 with warnings); 2.0 s\n"
                    "0");
    assert_text(sys.logged, "lapedge.file/1 a.jpg\nlapedge.file/1 b.jpg\n");
    cli.dry_run = true;
    assert_in_place("{\"schema\":\"lapedge.file/1\",\"input\":\"a.jpg\",\"output\":\"a.jpg\","
                    "\"status\":\"ok\",\"error\":null,\"width\":64,\"height\":48,\"channels\":3,"
                    "\"backend\":\"auto\",\"resolved\":\"simd\",\"kernel\":\"laplace5\","
                    "\"border\":\"zero\",\"range\":\"clamp\",\"ms\":{\"read\":0.0,\"decode\":0.0,"
                    "\"upload\":null,\"filter\":0.0,\"download\":null,\"encode\":0.0,\"write\":0.0,"
                    "\"total\":12.25},\"bytes_in\":0,\"bytes_out\":0,\"warnings\":0,\"warning\":null,"
                    "\"recoded\":false,\"note\":null,\"settings\":{\"filter\":true,\"border\":\"zero\","
                    "\"range\":\"clamp\",\"gray\":false,\"auto_orient\":false,\"turn\":1,\"format\":null,"
                    "\"quality\":90,\"subsampling\":\"same\",\"restart\":\"auto\",\"progressive\":false,"
                    "\"optimize\":false,\"strip\":false,\"keep\":null,\"fail_on\":\"truncated\","
                    "\"lossless\":\"no\",\"coefficients\":[-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,"
                    "-1.0,-1.0,-1.0,24.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0],"
                    "\"scale\":1.0,\"offset\":0.0,\"invert\":false,\"threshold\":-1},"
                    "\"started\":\"1970-01-01T00:00:00Z\",\"exit_code\":null}\n"
                    "{\"schema\":\"lapedge.file/1\",\"input\":\"b.jpg\",\"output\":\"b.jpg\","
                    "\"status\":\"warned\",\"error\":null,\"width\":64,\"height\":48,\"channels\":3,"
                    "\"backend\":\"auto\",\"resolved\":\"simd\",\"kernel\":\"laplace5\","
                    "\"border\":\"zero\",\"range\":\"clamp\",\"ms\":{\"read\":0.0,\"decode\":0.0,"
                    "\"upload\":null,\"filter\":0.0,\"download\":null,\"encode\":0.0,\"write\":0.0,"
                    "\"total\":12.25},\"bytes_in\":0,\"bytes_out\":0,\"warnings\":1,\"warning\":\"odd\","
                    "\"recoded\":false,\"note\":null,\"settings\":{\"filter\":true,\"border\":\"zero\","
                    "\"range\":\"clamp\",\"gray\":false,\"auto_orient\":false,\"turn\":1,\"format\":null,"
                    "\"quality\":90,\"subsampling\":\"same\",\"restart\":\"auto\",\"progressive\":false,"
                    "\"optimize\":false,\"strip\":false,\"keep\":null,\"fail_on\":\"truncated\","
                    "\"lossless\":\"no\",\"coefficients\":[-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,"
                    "-1.0,-1.0,-1.0,24.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0],"
                    "\"scale\":1.0,\"offset\":0.0,\"invert\":false,\"threshold\":-1},"
                    "\"started\":\"1970-01-01T00:00:00Z\",\"exit_code\":null}\n"
                    "--\n"
                    "a.jpg -> a.jpg\n"
                    "lapedge: b.jpg: warning: odd\n"
                    "2 to be done (1 with warnings)\n"
                    "0");
}

/* One photo is told like a run over one image. */
static void in_place_one(void **state)
{
    static const int exits[] = {0, 0, 0, 0, 1, 5};
    char text[1000], *to = text;
    (void)state;
    put_places();
    put(at("c.jpg.orig"), "x");
    cli.operand_count = 1;
    for (size_t i = 0; i < COUNT(places); i++) {
        give(&places[i], 1);
        assert_int_equal(says(lap_run_in_place), exits[i]);
        to += sprintf(to, "%s", said_err());
        cli.backup = i == 2 ? ".old" : NULL;
        (void)says(lap_run_in_place);
        to += sprintf(to, "%s", said_err());
    }
    assert_text(text, "lapedge: b.jpg: warning: odd\n"
                      "lapedge: b.jpg: warning: odd\n"
                      "lapedge: c.jpg: up to date\n"
                      "lapedge: c.jpg: up to date, but without a backup: there is no c.jpg.old\n"
                      "lapedge: d.jpg: another name of c.jpg\n"
                      "lapedge: d.jpg: another name of c.jpg\n"
                      "lapedge: e.jpg: message\n"
                      "lapedge: e.jpg: message\n"
                      "lapedge: f.jpg: limit: message\n"
                      "lapedge: f.jpg: limit: message\n");
    cli.stats = "s.json";
    for (size_t i = 0; i < COUNT(places); i++) {
        give(&places[i], 1);
        sys.stats_exit = 0;
        sys.stats_written = 0;
        assert_int_equal(says(lap_run_in_place), i == 2 || i == 3 ? 1 : exits[i]);
        assert_int_equal(sys.stats_written, i < 2);
        assert_non_null(sys.settings.stats);
        sys.stats_exit = 9;
        assert_int_equal(says(lap_run_in_place), i < 2 ? 9 : i < 4 ? 1 : exits[i]);
    }
    cli.stats = NULL;
    give(places, 1);
    for (int drawn = 0; drawn < 2; drawn++) {
        sys.is_drawn = drawn;
        (void)says(lap_run_in_place);
        assert_true((sys.settings.progress == lap_progress_rows) == drawn && !sys.settings.stats);
        assert_int_equal(strchr(said_err(), '<') != NULL, drawn);
        assert_null(strstr(said_err(), "<1>"));
    }
    wants_json();
    sys.is_drawn = false;
    sys.lost_after = 0;
    sys.lost = LAP_EXIT_PIPE;
    assert_int_equal(says(lap_run_in_place), LAP_EXIT_PIPE);
    give(&places[5], 1);
    sys.lost_after = 0;
    assert_int_equal(says(lap_run_in_place), 5);
    cli.operand_count = 2; /* of several photos, what could not be printed counts */
    give(places, 2);
    sys.lost_after = 1;
    assert_int_equal(says(lap_run_in_place), LAP_EXIT_PIPE);
}

static void in_place_ends(void **state)
{
    (void)state;
    put_places();
    for (int again = 0; again < 2; again++)
        for (int left = 0; left < 2; left++)
            for (int caught = 0; caught < 2; caught++)
                for (int code = LAP_OK; code <= LAP_E_INTERNAL; code++) {
                    begin(NULL);
                    put_places();
                    cli.filter_again = again;
                    sys.caught = caught;
                    give(places, 2);
                    sys.counts.expected += (uint64_t)left;
                    sys.err = (lap_error){.code = code, .message = "m"};
                    const int got = says(lap_run_in_place);
                    const bool is_told =
                        code == LAP_OK || code == LAP_E_WRITE || (code == LAP_E_CANCELLED && caught);
                    char want[600];
                    snprintf(want, sizeof want,
                        "lapedge: b.jpg: warning: odd\n%s%s%s2 done (1 with warnings)%s\n",
                        is_told ? "" : "lapedge: ", is_told ? "" : "", is_told ? "" : "",
                        !left ? "; 2.0 s"
                        : code == LAP_E_CANCELLED && !again
                            ? "; cancelled, 1 left; the same command continues"
                        : code == LAP_E_DISK_FULL && !again
                            ? "; the disk is full, 1 left; once there is room, the same command continues"
                            : "; stopped, 1 left");
                    if (is_told)
                        assert_text(said_err(), want);
                    else
                        assert_non_null(strstr(said_err(), strstr(want, "2 done")));
                    if (!is_told)
                        assert_non_null(strstr(said_err(), "m\n2 done"));
                    assert_int_equal(got, code == LAP_OK        ? 0
                                          : code == LAP_E_WRITE ? 4
                                          : code == LAP_E_DISK_FULL || code == LAP_E_EXISTS ||
                                                  code == LAP_E_MISSING || code == LAP_E_UNREADABLE
                                              ? 1
                                              : (int)lap_cli_exit_of(code));
                }
    begin(NULL);
    put_places();
    sys.no_context = true;
    assert_in_place("lapedge: limit: no context\n5");
    sys.no_context = false;
    assert_in_place("lapedge: no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content)\n"
                    "4");
    cli.log = "log";
    sys.no_log = true;
    assert_in_place("lapedge: --log: log: cannot be opened: Permission denied\n4");
    /* Warnings about what was filtered before, and nothing after a refusal. */
    begin(NULL);
    put_places();
    give(places, 1);
    sys.others.made = 1;
    strcpy(sys.others.made_first, "a.jpg");
    cli.log = "log";
    assert_in_place("lapedge: warning: 1 input was filtered by lapedge before (a.jpg): its output is edges "
                    "of edges\n"
                    "0");
    assert_int_equal(sys.begun, 3);
    assert_text(sys.logged, "lapedge.file/1 a.jpg\nlapedge.not_taken/1 -\n");
    cli.quiet = true;
    assert_in_place("0");
    cli.quiet = false;
    sys.file_count = 0;
    sys.counts.found = sys.counts.expected = 0;
    sys.begun = 0;
    sys.err = (lap_error){.code = LAP_E_CLASH, .subject = "/dev/stdout", .message = "m"};
    assert_in_place("lapedge: /dev/stdout: m\n2");
    assert_int_equal(sys.begun, 1);
    for (int clash = 0; clash < 2; clash++) { /* standard output gets nothing any more, if it is in the way */
        wants_json();
        sys.err.code = clash ? LAP_E_CLASH : LAP_E_LIMIT;
        (void)says(lap_run_in_place);
        said_listen();
        assert_int_equal(lap_json_print(json_object()), 0);
        said_end();
        assert_text(said_out(), clash ? "" : "{}\n");
    }
}

static void in_place_options(void **state)
{
    (void)state;
    put_places();
    give(places, 2);
    (void)says(lap_run_in_place);
    assert_false(sys.has_devices || sys.options.dry_run || sys.in_place.again || sys.in_place.backup);
    assert_true(sys.finds_made && sys.options.side_count == 1 && sys.options.input_count == 2);
    assert_null(sys.settings.progress);
    cli.filter_again = cli.dry_run = true;
    cli.backup = ".o";
    (void)says(lap_run_in_place);
    assert_true(sys.options.dry_run && sys.in_place.again);
    assert_string_equal(sys.in_place.backup, ".o");
    begin(NULL);
    put_places();
    assert_int_equal(mkdir("folder", 0700), 0);
    operands[1] = "folder";
    assert_in_place("lapedge: --in-place: folder is a folder; name the files in it\n2");
    operands[1] = "-";
    assert_in_place("lapedge: --in-place: standard input cannot be replaced\n2");
    operands[1] = "none.jpg";
    assert_in_place(
        "lapedge: --in-place: none.jpg: no such file; nothing is changed unless every FILE exists; for IN "
        "OUT leave --in-place out\n2");
    operands[1] = "a.jpg/none.jpg";
    operands[2] = "b.jpg";
    cli.operand_count = 3;
    assert_in_place(
        "lapedge: --in-place: a.jpg/none.jpg: no such file; nothing is changed unless every FILE exists\n2");
    cli.operand_count = 1;
    operands[0] = "none.jpg"; /* one alone is reported like a photo that fails */
    give(&places[5], 1);
    assert_int_equal(says(lap_run_in_place), 5);
    cli.operand_count = 0;
    assert_in_place("lapedge: --in-place needs a FILE; see lapedge -h\n2");
    cli.files_from = "list";
    cli.stats = "s";
    assert_in_place("lapedge: --stats needs a single image\n2");
    cli.stats = NULL;
    assert_int_equal(says(lap_run_in_place), 4);
    cli.operand_count = 1;
    assert_in_place("lapedge: --in-place takes no OUTDIR: with --files-from the list names all photos\n2");
    cli.files_from = NULL;
    cli.stats = "s";
    cli.operand_count = 2;
    operands[0] = "a.jpg", operands[1] = "b.jpg";
    assert_in_place("lapedge: --stats needs a single image\n2");
}

/* ---- stats ----------------------------------------------------------------------------------------- */

enum { GRAY, COLOR, MASKED, MEASURED };
static lap_measurement measurements[MEASURED];

/* Small histograms, whose means and deviations are whole numbers: of gray 10 and 20, of edges 1 and 249. */
static void measure(void)
{
    memset(measurements, 0, sizeof measurements);
    for (int i = 0; i < MEASURED; i++) {
        lap_measurement *m = &measurements[i];
        uint64_t counts[4][256] = {{0}}, edges[4][256] = {{0}};
        *m = (lap_measurement){.width = 4, .height = 1, .channels = i == GRAY ? 1 : 3, .resolved = "simd"};
        for (int c = 0; c < m->channels; c++) {
            counts[c][10 + c] = counts[c][20 + 3 * c] = 2;
            edges[c][1] = edges[c][249 - 2 * c] = 2;
        }
        assert_int_equal(lap_stats_of_counts(counts, m->channels, 15, &m->stats.input, NULL), LAP_OK);
        m->stats.input.channels = m->channels;
        m->stats.input.threshold = 15;
        if (i == MASKED)
            continue;
        assert_int_equal(lap_stats_of_counts(edges, m->channels, 15, &m->stats.edges, NULL), LAP_OK);
        m->stats.edges.channels = m->channels;
        m->stats.edges.threshold = 15;
    }
}

static const lap_report stats_reports[] = {{.status = LAP_DONE, .ms = {.total = 1.25}},
    {.status = LAP_WARNED, .warnings = 2, .warning = "odd", .ms = {.total = 2}},
    {.status = LAP_FAILED, .error = {.code = LAP_E_TRUNCATED, .message = "m"}}};
static const lap_measured all_measured[] = {{"in/g\x1b.jpg", &measurements[GRAY], &stats_reports[0], NULL},
    {"in/c.jpg", &measurements[COLOR], &stats_reports[1], NULL},
    {"in/bad.jpg", NULL, &stats_reports[2], NULL},
    {"in/m.jpg", &measurements[MASKED], &stats_reports[0], NULL}};

static void give_measured(size_t first, size_t measured_count)
{
    begin(NULL);
    measure();
    measurements[COLOR].note = "a note";
    cli.command = &lap_cli_commands[LAP_COMMAND_STATS];
    cli.forms = LAP_CLI_STATS_FOLDER;
    cli.operand_count = 1;
    sys.measured = all_measured + first;
    sys.measured_count = measured_count;
    sys.counts = (lap_batch_counts){
        .found = measured_count, .expected = measured_count, .pixels = 3000000, .ms = 2000};
    for (size_t i = 0; i < measured_count; i++)
        count(&sys.counts, sys.measured[i].report->status, sys.measured[i].report->error.code);
}

/* The numbers of a histogram with many zeros, as they stand in JSON, are left out of what is compared. */
static const char *without_zeros(const char *text)
{
    static char copy[1 << 16];
    char *to = copy;
    for (const char *at = text; *at; at++)
        if (strncmp(at, ",0,0", 4) == 0)
            at++;
        else
            *to++ = *at;
    *to = '\0';
    return copy;
}

/* The keys of the default filter. */
#define EDGES                                                                                            \
    ",\"kernel\":\"laplace5\",\"border\":\"zero\",\"range\":\"clamp\",\"coefficients\":[-1.0,-1.0,-1.0," \
    "-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,24.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,"    \
    "-1.0,-1.0,-1.0],\"scale\":1.0,\"offset\":0.0,\"invert\":false"

static void stats_talk(void **state)
{
    (void)state;
    give_measured(0, 4);
    assert_stats("  input mean  stddev  edges mean  stddev  p99     width x height  file\n"
                 "      15.000   5.000     125.000 124.000  249        4 x 1       in/g\\x1b.jpg\n"
                 "      17.000   6.272     124.000 123.005  249        4 x 1       in/c.jpg\n"
                 "      17.000   6.272           -       -    -        4 x 1       in/m.jpg\n"
                 "\n"
                 "1 photo in gray together\n"
                 "input        min  max      mean    stddev   entropy    p1   p50   p99\n"
                 "  gray       10   20    15.000     5.000    1.0000    10    10    20\n"
                 "edges        min  max      mean    stddev   entropy    p1   p50   p99\n"
                 "  gray        1  249   125.000   124.000    1.0000     1     1   249\n"
                 "\n"
                 "2 photos in colour together\n"
                 "input        min  max      mean    stddev   entropy    p1   p50   p99\n"
                 "  red        10   20    15.000     5.000    1.0000    10    10    20\n"
                 "  green      11   23    17.000     6.000    1.0000    11    11    23\n"
                 "  blue       12   26    19.000     7.000    1.0000    12    12    26\n"
                 "edges        min  max      mean    stddev   entropy    p1   p50   p99\n"
                 "  red         1  249   125.000   124.000    1.0000     1     1   249\n"
                 "  green       1  247   124.000   123.000    1.0000     1     1   247\n"
                 "  blue        1  245   123.000   122.000    1.0000     1     1   245\n"
                 "--\n"
                 "lapedge: in/c.jpg: warning: odd (the first of 2)\n"
                 "lapedge: in/bad.jpg: truncated: m\n"
                 "3 measured, 1 failed (1 truncated); 2.0 s, 2 Mpixel/s\n"
                 "lapedge: --mask-border covers all edges of 1 photo\n"
                 "1");
    cli.verbose = true;
    cli.settings.params.threshold = 21;
    assert_stats("  input mean  stddev  edges mean  stddev  p99     width x height  file\n"
                 "      15.000   5.000     125.000 124.000  249        4 x 1       in/g\\x1b.jpg\n"
                 "      17.000   6.272     124.000 123.005  249        4 x 1       in/c.jpg\n"
                 "      17.000   6.272           -       -    -        4 x 1       in/m.jpg\n"
                 "\n"
                 "1 photo in gray together\n"
                 "input        min  max      mean    stddev   entropy    p1   p50   p99   above\n"
                 "  gray       10   20    15.000     5.000    1.0000    10    10    20   0.00%\n"
                 "edges        min  max      mean    stddev   entropy    p1   p50   p99   above\n"
                 "  gray        1  249   125.000   124.000    1.0000     1     1   249  50.00%\n"
                 "\n"
                 "2 photos in colour together\n"
                 "input        min  max      mean    stddev   entropy    p1   p50   p99   above\n"
                 "  red        10   20    15.000     5.000    1.0000    10    10    20   0.00%\n"
                 "  green      11   23    17.000     6.000    1.0000    11    11    23  50.00%\n"
                 "  blue       12   26    19.000     7.000    1.0000    12    12    26  50.00%\n"
                 "edges        min  max      mean    stddev   entropy    p1   p50   p99   above\n"
                 "  red         1  249   125.000   124.000    1.0000     1     1   249  50.00%\n"
                 "  green       1  247   124.000   123.000    1.0000     1     1   247  50.00%\n"
                 "  blue        1  245   123.000   122.000    1.0000     1     1   245  50.00%\n"
                 "--\n"
                 "lapedge: up to 4 files at once, 4 threads\n"
                 "lapedge: in/g\\x1b.jpg: backend simd, 1.2 ms\n"
                 "lapedge: in/c.jpg: backend simd, 2.0 ms; a note\n"
                 "lapedge: in/c.jpg: warning: odd (the first of 2)\n"
                 "lapedge: in/bad.jpg: truncated: m\n"
                 "lapedge: in/m.jpg: backend simd, 1.2 ms\n"
                 "3 measured, 1 failed (1 truncated); 2.0 s, 2 Mpixel/s\n"
                 "lapedge: --mask-border covers all edges of 1 photo\n"
                 "  by        \n"
                 "  at once   up to 0\n"
                 "  ms        added up 0.0\n"
                 "1");
    assert_int_equal(sys.measure.threshold, 21);
    assert_int_equal(sys.settings.params.threshold, -1);
    cli.quiet = true;
    cli.verbose = false;
    assert_stats("lapedge: in/bad.jpg: truncated: m\n1");
    give_measured(0, 4);
    wants_json();
    cli.allowed.mask_border = 2;
    cli.settings.params.threshold = 15;
    assert_text(without_zeros(all_of(lap_cli_stats)),
        "{\"schema\":\"lapedge.stats/1\",\"input\":{\"channels\":[{\"name\":\"gray\","
        "\"min\":10,\"max\":20,\"sum\":60,\"mean\":15.0,\"stddev\":5.0,\"entropy\":1.0,"
        "\"p1\":10,\"p50\":10,\"p99\":20,\"above\":0.5,\"histogram\":[0,0,2,0,2,0]}],"
        "\"path\":\"in/g\\u001B.jpg\"},\"edges\":{\"channels\":[{\"name\":\"gray\",\"min\":1,"
        "\"max\":249,\"sum\":500,\"mean\":125.0,\"stddev\":124.0,\"entropy\":1.0,\"p1\":1,"
        "\"p50\":1,\"p99\":249,\"above\":0.5,\"histogram\":[0,2,0,2,0]}]},\"mask_border\":0,"
        "\"threshold\":15,\"profiles\":null" EDGES ",\"warnings\":0,\"warning\":null}\n"
        "{\"schema\":\"lapedge.stats/1\",\"input\":{\"channels\":[{\"name\":\"red\",\"min\":10,"
        "\"max\":20,\"sum\":60,\"mean\":15.0,\"stddev\":5.0,\"entropy\":1.0,\"p1\":10,"
        "\"p50\":10,\"p99\":20,\"above\":0.5,\"histogram\":[0,0,2,0,2,0]},{\"name\":\"green\","
        "\"min\":11,\"max\":23,\"sum\":68,\"mean\":17.0,\"stddev\":6.0,\"entropy\":1.0,"
        "\"p1\":11,\"p50\":11,\"p99\":23,\"above\":0.5,\"histogram\":[0,0,2,0,2,0]},"
        "{\"name\":\"blue\",\"min\":12,\"max\":26,\"sum\":76,\"mean\":19.0,\"stddev\":7.0,"
        "\"entropy\":1.0,\"p1\":12,\"p50\":12,\"p99\":26,\"above\":0.5,\"histogram\":[0,0,2,0,"
        "2,0]}],\"path\":\"in/c.jpg\"},\"edges\":{\"channels\":[{\"name\":\"red\",\"min\":1,"
        "\"max\":249,\"sum\":500,\"mean\":125.0,\"stddev\":124.0,\"entropy\":1.0,\"p1\":1,"
        "\"p50\":1,\"p99\":249,\"above\":0.5,\"histogram\":[0,2,0,2,0]},{\"name\":\"green\","
        "\"min\":1,\"max\":247,\"sum\":496,\"mean\":124.0,\"stddev\":123.0,\"entropy\":1.0,"
        "\"p1\":1,\"p50\":1,\"p99\":247,\"above\":0.5,\"histogram\":[0,2,0,2,0]},"
        "{\"name\":\"blue\",\"min\":1,\"max\":245,\"sum\":492,\"mean\":123.0,\"stddev\":122.0,"
        "\"entropy\":1.0,\"p1\":1,\"p50\":1,\"p99\":245,\"above\":0.5,\"histogram\":[0,2,0,2,"
        "0]}]},\"mask_border\":0,\"threshold\":15,\"profiles\":null" EDGES ",\"warnings\":2,"
        "\"warning\":\"odd\"}\n"
        "{\"schema\":\"lapedge.stats_failed/1\",\"input\":\"in/bad.jpg\","
        "\"error\":{\"kind\":\"truncated\",\"message\":\"truncated: m\"}}\n"
        "{\"schema\":\"lapedge.stats/1\",\"input\":{\"channels\":[{\"name\":\"red\",\"min\":10,"
        "\"max\":20,\"sum\":60,\"mean\":15.0,\"stddev\":5.0,\"entropy\":1.0,\"p1\":10,"
        "\"p50\":10,\"p99\":20,\"above\":0.5,\"histogram\":[0,0,2,0,2,0]},{\"name\":\"green\","
        "\"min\":11,\"max\":23,\"sum\":68,\"mean\":17.0,\"stddev\":6.0,\"entropy\":1.0,"
        "\"p1\":11,\"p50\":11,\"p99\":23,\"above\":0.5,\"histogram\":[0,0,2,0,2,0]},"
        "{\"name\":\"blue\",\"min\":12,\"max\":26,\"sum\":76,\"mean\":19.0,\"stddev\":7.0,"
        "\"entropy\":1.0,\"p1\":12,\"p50\":12,\"p99\":26,\"above\":0.5,\"histogram\":[0,0,2,0,"
        "2,0]}],\"path\":\"in/m.jpg\"},\"edges\":null,\"mask_border\":0,\"threshold\":15,"
        "\"profiles\":null" EDGES ",\"warnings\":0,\"warning\":null}\n"
        "{\"schema\":\"lapedge.stats_totals/1\",\"expected\":4,\"ok\":2,\"warned\":1,"
        "\"failed\":1,\"links\":0,\"pixels\":3000000,\"kinds\":{\"truncated\":1},"
        "\"not_taken\":{\"files\":0,\"kinds\":{},\"apple_doubles\":0,\"output_folders\":0,"
        "\"outputs\":0,\"photos_in_outdir\":0,\"left_in\":[],\"unused_patterns\":[]},"
        "\"mask_border\":2,\"masked_out\":1,\"threshold\":15" EDGES ",\"gray\":{\"photos\":1,"
        "\"input\":{\"channels\":[{\"name\":\"gray\",\"min\":10,\"max\":20,\"sum\":60,"
        "\"mean\":15.0,\"stddev\":5.0,\"entropy\":1.0,\"p1\":10,\"p50\":10,\"p99\":20,"
        "\"above\":0.5,\"histogram\":[0,0,2,0,2,0]}]},"
        "\"edges\":{\"channels\":[{\"name\":\"gray\",\"min\":1,\"max\":249,\"sum\":500,"
        "\"mean\":125.0,\"stddev\":124.0,\"entropy\":1.0,\"p1\":1,\"p50\":1,\"p99\":249,"
        "\"above\":0.5,\"histogram\":[0,2,0,2,0]}]}},\"color\":{\"photos\":2,"
        "\"input\":{\"channels\":[{\"name\":\"red\",\"min\":10,\"max\":20,\"sum\":120,"
        "\"mean\":15.0,\"stddev\":5.0,\"entropy\":1.0,\"p1\":10,\"p50\":10,\"p99\":20,"
        "\"above\":0.5,\"histogram\":[0,0,4,0,4,0]},{\"name\":\"green\",\"min\":11,\"max\":23,"
        "\"sum\":136,\"mean\":17.0,\"stddev\":6.0,\"entropy\":1.0,\"p1\":11,\"p50\":11,"
        "\"p99\":23,\"above\":0.5,\"histogram\":[0,0,4,0,4,0]},{\"name\":\"blue\",\"min\":12,"
        "\"max\":26,\"sum\":152,\"mean\":19.0,\"stddev\":7.0,\"entropy\":1.0,\"p1\":12,"
        "\"p50\":12,\"p99\":26,\"above\":0.5,\"histogram\":[0,0,4,0,4,0]}]},"
        "\"edges\":{\"channels\":[{\"name\":\"red\",\"min\":1,\"max\":249,\"sum\":500,"
        "\"mean\":125.0,\"stddev\":124.0,\"entropy\":1.0,\"p1\":1,\"p50\":1,\"p99\":249,"
        "\"above\":0.5,\"histogram\":[0,2,0,2,0]},{\"name\":\"green\",\"min\":1,\"max\":247,"
        "\"sum\":496,\"mean\":124.0,\"stddev\":123.0,\"entropy\":1.0,\"p1\":1,\"p50\":1,"
        "\"p99\":247,\"above\":0.5,\"histogram\":[0,2,0,2,0]},{\"name\":\"blue\",\"min\":1,"
        "\"max\":245,\"sum\":492,\"mean\":123.0,\"stddev\":122.0,\"entropy\":1.0,\"p1\":1,"
        "\"p50\":1,\"p99\":245,\"above\":0.5,\"histogram\":[0,2,0,2,0]}]}},\"ms\":2000.0,"
        "\"error\":null,\"work\":{\"how\":\"\",\"jobs\":0,\"devices\":[],\"ms\":{\"read\":0.0,"
        "\"decode\":0.0,\"upload\":null,\"filter\":0.0,\"download\":null,\"encode\":0.0,"
        "\"write\":0.0,\"total\":0.0}}}\n"
        "--\n"
        "lapedge: in/c.jpg: warning: odd (the first of 2)\n"
        "lapedge: in/bad.jpg: truncated: m\n"
        "3 measured, 1 failed (1 truncated); 2.0 s, 2 Mpixel/s\n"
        "lapedge: --mask-border covers all edges of 1 photo\n"
        "1");
    assert_int_equal(sys.measure.mask_border, 2);
    assert_true(sys.has_text);
    give_measured(0, 1);
    cli.csv = cli.quiet = true;
    said_listen();
    assert_int_equal(lap_cli_stats(&cli), 0);
    said_end();
    assert_false(sys.has_text);
    /* A head, and for the photo and for all photos each figure and value of input and edges. */
    int lines = 0;
    for (const char *at = said_out(); *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 1 + 2 * 2 * (9 + 256) + 2);
    static const char first[] = "file,image,channel,figure,index,value\nin/g\\x1b.jpg,input,gray,min,,10\n";
    assert_int_equal(strncmp(said_out(), first, sizeof first - 1), 0);
    assert_non_null(strstr(said_out(), "\n,input,gray,min,,10\n"));
    assert_text(said_err(), "");
}

static void stats_ends(void **state)
{
    (void)state;
    give_measured(0, 1);
    sys.no_context = true;
    assert_stats("lapedge: limit: no context\n5");
    give_measured(0, 1);
    operands[0] = "-";
    assert_stats("lapedge: - cannot be used with folders or several files\n2");
    cli.files_from = "list";
    assert_stats("lapedge: --files-from names the inputs: lapedge stats --files-from=FILE\n2");
    cli.forms = LAP_CLI_STATS;
    cli.operand_count = 0;
    assert_stats("lapedge: IN is missing: lapedge stats IN\n2");
    give_measured(1, 1);
    sys.counts.expected = 3;
    sys.counts.ms = 0;
    sys.err = (lap_error){.code = LAP_E_CANCELLED, .message = "m"};
    sys.counts.links = 1;
    assert_stats("  input mean  stddev  edges mean  stddev  p99     width x height  file\n"
                 "      17.000   6.272     124.000 123.005  249        4 x 1       in/c.jpg\n"
                 "\n"
                 "1 photo in colour together\n"
                 "input        min  max      mean    stddev   entropy    p1   p50   p99\n"
                 "  red        10   20    15.000     5.000    1.0000    10    10    20\n"
                 "  green      11   23    17.000     6.000    1.0000    11    11    23\n"
                 "  blue       12   26    19.000     7.000    1.0000    12    12    26\n"
                 "edges        min  max      mean    stddev   entropy    p1   p50   p99\n"
                 "  red         1  249   125.000   124.000    1.0000     1     1   249\n"
                 "  green       1  247   124.000   123.000    1.0000     1     1   247\n"
                 "  blue        1  245   123.000   122.000    1.0000     1     1   245\n"
                 "--\n"
                 "lapedge: in/c.jpg: warning: odd (the first of 2)\n"
                 "lapedge: m\n"
                 "1 measured, 2 left\n"
                 "lapedge: 1 symbolic link not followed; --follow does\n"
                 "1");
    give_measured(0, 0);
    assert_stats("0 measured; 2.0 s, 2 Mpixel/s\n"
                 "lapedge: no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content)\n"
                 "4");
    give_measured(3, 1); /* one photo whose edges are covered */
    sys.counts.pixels = 1499999;
    assert_stats("  input mean  stddev  edges mean  stddev  p99     width x height  file\n"
                 "      17.000   6.272           -       -    -        4 x 1       in/m.jpg\n"
                 "\n"
                 "1 photo in colour together\n"
                 "input        min  max      mean    stddev   entropy    p1   p50   p99\n"
                 "  red        10   20    15.000     5.000    1.0000    10    10    20\n"
                 "  green      11   23    17.000     6.000    1.0000    11    11    23\n"
                 "  blue       12   26    19.000     7.000    1.0000    12    12    26\n"
                 "--\n"
                 "1 measured; 2.0 s, 1 Mpixel/s\n"
                 "lapedge: --mask-border covers all edges of 1 photo\n"
                 "0");
    give_measured(1, 2);
    cli.quiet = sys.is_drawn = true;
    assert_stats("<0><><1><>lapedge: in/bad.jpg: truncated: m\n"
                 "<2><>1");
    /* A reader that has left: no more photos, and no message. */
    give_measured(0, 2);
    cli.quiet = true;
    sys.lost_after = 1;
    sys.lost = LAP_EXIT_PIPE;
    assert_int_equal(says(lap_cli_stats), LAP_EXIT_PIPE);
    assert_int_equal(sys.cancels, 1);
    give_measured(0, 1);
    cli.quiet = true;
    sys.lost_after = 0;
    sys.lost = LAP_EXIT_FAILED;
    sys.err = (lap_error){.code = LAP_E_CANCELLED, .message = "m"};
    assert_stats("1");
    give_measured(0, 1);
    cli.weights = "none";
    assert_stats("lapedge: --weights: none: cannot be read: No such file or directory\n2");
}

/* Which files of weights are read, and what is wrong with others. */
static void weights(void **state)
{
    static const struct {
        const char *text;
        size_t count;
        const char *says;
    } cases[] = {{"1 2,3;4\n5\t-6e1", 6, NULL}, {" 1 ,2 ; 3", 3, NULL}, {"0.1,", 1, NULL},
        {"", 0, "has no numbers"}, {" \n", 0, "has no numbers"},
        {"1 x", 0, "number 2 is not a decimal number, or out of range"},
        {"0x10", 0, "number 1 is not a decimal number, or out of range"},
        {"3.5e38", 0, "number 1 is not a decimal number, or out of range"}, {"3.4e38", 1, NULL},
        {"-3.4028234663852886e38", 1, NULL},
        {"-3.5e38", 0, "number 1 is not a decimal number, or out of range"},
        {"1,,2", 0, "number 2 is not a decimal number, or out of range"},
        {"nan", 0, "number 1 is not a decimal number, or out of range"}};
    char text[12000], want[200];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        give_measured(0, 1);
        cli.quiet = true;
        put(at("w"), cases[i].text);
        cli.weights = "w";
        const int code = says(lap_cli_stats);
        assert_int_equal(code, cases[i].says ? 2 : 0);
        snprintf(want, sizeof want, "lapedge: --weights: w: %s\n", cases[i].says ? cases[i].says : "");
        assert_text(said_err(), cases[i].says ? want : "");
        if (!cases[i].says)
            assert_int_equal(sys.measure.weight_count, cases[i].count);
    }
    for (int digits = 398; digits < 403; digits++) {
        give_measured(0, 1);
        cli.quiet = true;
        cli.weights = "w";
        snprintf(text, sizeof text, "1.%0*d 2", digits - 2, 0);
        put(at("w"), text);
        assert_int_equal(says(lap_cli_stats), digits < 400 ? 0 : 2);
    }
    for (int numbers = 4095; numbers < 4098; numbers++) {
        give_measured(0, 1);
        cli.quiet = true;
        cli.weights = "w";
        for (int i = 0; i < numbers; i++)
            memcpy(text + 2 * i, "1 ", 3);
        put(at("w"), text);
        assert_int_equal(says(lap_cli_stats), 0);
        assert_int_equal(sys.measure.weight_count, numbers);
    }
}

/* ---- diff ------------------------------------------------------------------------------------------ */

static const lap_report clean = {.status = LAP_DONE},
                        odd = {.status = LAP_WARNED, .warnings = 2, .warning = "odd"};
static const lap_error none = {.code = LAP_OK}, broken = {.code = LAP_E_DAMAGED, .message = "m"};
static const lap_difference same = {.identical = true,
                                .samples = 300,
                                .pixels = 100,
                                .psnr = NAN,
                                .ssim = 1,
                                .first_x = -1},
                            differs = {.samples = 300,
                                .pixels = 100,
                                .max_abs = 7,
                                .mean_abs = 0.5,
                                .rmse = 0.75,
                                .psnr = 50.629,
                                .ssim = NAN,
                                .differing_pixels = 12,
                                .first_x = 4};
static const lap_pair all_pairs[] = {
    {"a/1", "b/1", "1", 10, 10, 3, &same, false, &none, "", {&clean, &clean}},
    {"a/2", "b/2", "2", 10, 10, 3, &same, true, &none, "a note", {&odd, &clean}},
    {"a/3", "b/3", "3\x1b", 10, 10, 3, &differs, false, &none, "", {&clean, &odd}},
    {"a/4", NULL, "4", 10, 10, 3, NULL, false, &none, "", {&clean, &clean}},
    {NULL, "b/5", "5\x1b", 0, 0, 0, NULL, false, &none, "", {&clean, &clean}},
    {"a/6", "b/6", "6", 0, 0, 0, NULL, false, &broken, "", {&clean, &clean}}};

static void give_pairs(size_t first, size_t pair_count)
{
    begin(NULL);
    operands[0] = "a";
    operands[1] = "b";
    assert_int_equal(mkdir("a", 0700) && errno != EEXIST, 0);
    assert_int_equal(mkdir("b", 0700) && errno != EEXIST, 0);
    cli.command = &lap_cli_commands[LAP_COMMAND_DIFF];
    cli.forms = LAP_CLI_DIFF_FOLDER;
    sys.pairs = all_pairs + first;
    sys.pair_count = pair_count;
    sys.counts =
        (lap_batch_counts){.found = pair_count, .expected = pair_count, .ok = pair_count, .ms = 2000};
}

static void diff_talks(void **state)
{
    (void)state;
    give_pairs(0, 6);
    assert_diff("3\\x1b: different, by up to 7, 12 of 100 pixels, PSNR 50.63 dB\n"
                "only in a: 4\n"
                "only in b: 5\\x1b\n"
                "not equal: 1 identical, 1 equal within the tolerance, 1 different, 1 only in A,"
                " 1 only in B, 1 could not be compared\n"
                "--\n"
                "lapedge: a/2: warning: odd (the first of 2)\n"
                "lapedge: b/3: warning: odd (the first of 2)\n"
                "lapedge: 6: damaged: m\n"
                "2");
    assert_int_equal(sys.take.include_count, 1);
    assert_string_equal(sys.take.include[0], "*");
    assert_true(!sys.rules.with_ssim && sys.options.input_count == 0);
    cli.verbose = true;
    cli.report = "page";
    assert_diff("1: identical\n"
                "2: equal within the tolerance\n"
                "3\\x1b: different, by up to 7, 12 of 100 pixels, PSNR 50.63 dB\n"
                "only in a: 4\n"
                "only in b: 5\\x1b\n"
                "not equal: 1 identical, 1 equal within the tolerance, 1 different, 1 only in A,"
                " 1 only in B, 1 could not be compared\n"
                "--\n"
                "lapedge: up to 4 pairs at once, 4 threads\n"
                "lapedge: a/2: warning: odd (the first of 2)\n"
                "lapedge: 2: a note\n"
                "lapedge: b/3: warning: odd (the first of 2)\n"
                "lapedge: 6: damaged: m\n"
                "2");
    assert_int_equal(sys.sheet_pairs, 6);
    assert_string_equal(sys.sheet_result, "lapedge.diff_folders/1");
    give_pairs(0, 6);
    cli.allowed.max_abs = 7;
    sys.others = (lap_batch_others){.files = 1, .outputs = 1};
    sys.counts.expected = 8;
    assert_diff("only in a: 4\n"
                "only in b: 5\\x1b\n"
                "not equal: 1 identical, 2 equal within the tolerance, 1 only in A, 1 only in B,"
                " 1 could not be compared, 2 left; 2 files not compared\n"
                "--\n"
                "lapedge: a/2: warning: odd (the first of 2)\n"
                "lapedge: b/3: warning: odd (the first of 2)\n"
                "lapedge: 6: damaged: m\n"
                "lapedge: 1 other file not taken: , ...\n"
                "lapedge: 1 output of earlier runs not taken: , ...; to take outputs, name their folder\n"
                "2");
    cli.quiet = true;
    assert_diff("lapedge: 6: damaged: m\n2");
    wants_json();
    sys.counts.links = 3;
    assert_diff("{\"schema\":\"lapedge.diff_folders/1\",\"a\":\"a\",\"b\":\"b\",\"equal\":false,"
                "\"tolerance\":{\"max_abs\":7,\"max_differing\":null,\"max_differing_share\":null,"
                "\"min_psnr\":null,\"mask_border\":0,\"threshold_per_pixel\":0,\"ignore\":[]},"
                "\"outcomes\":{\"identical\":1,\"equal\":2,\"different\":0,\"only_a\":1,\"only_b\":1,"
                "\"failed\":1},\"not_taken\":{\"files\":1,\"kinds\":{},\"apple_doubles\":0,"
                "\"output_folders\":0,\"outputs\":1,\"photos_in_outdir\":0,\"left_in\":[],"
                "\"unused_patterns\":[]},\"links\":3,\"left\":2,\"ms\":2000.0,\"error\":null,"
                "\"rows\":[{\"path\":\"1\",\"outcome\":\"identical\",\"error\":null,\"width\":10,"
                "\"height\":10,\"channels\":3,\"identical\":true,\"max_abs\":0,\"mean_abs\":0.0,"
                "\"rmse\":0.0,\"psnr\":null,\"differing_pixels\":0,\"first_difference\":null,"
                "\"ssim\":1.0,\"warnings\":0,\"warning\":null},{\"path\":\"2\",\"outcome\":\"equal\","
                "\"error\":null,\"width\":10,\"height\":10,\"channels\":3,\"identical\":false,"
                "\"max_abs\":0,\"mean_abs\":0.0,\"rmse\":0.0,\"psnr\":null,\"differing_pixels\":0,"
                "\"first_difference\":null,\"ssim\":1.0,\"warnings\":2,\"warning\":\"a/2: odd\"},"
                "{\"path\":\"3\\u001B\",\"outcome\":\"equal\",\"error\":null,\"width\":10,"
                "\"height\":10,\"channels\":3,\"identical\":false,\"max_abs\":7,\"mean_abs\":0.5,"
                "\"rmse\":0.75,\"psnr\":50.629,\"differing_pixels\":12,\"first_difference\":{\"x\":4,"
                "\"y\":0,\"channel\":0,\"a\":0,\"b\":0,\"at_border\":false},\"ssim\":null,"
                "\"warnings\":2,\"warning\":\"b/3: odd\"},{\"path\":\"4\",\"outcome\":\"only_a\","
                "\"error\":null,\"width\":10,\"height\":10,\"channels\":3,\"identical\":null,"
                "\"max_abs\":null,\"mean_abs\":null,\"rmse\":null,\"psnr\":null,"
                "\"differing_pixels\":null,\"first_difference\":null,\"ssim\":null,\"warnings\":0,"
                "\"warning\":null},{\"path\":\"5\\u001B\",\"outcome\":\"only_b\",\"error\":null,"
                "\"width\":null,\"height\":null,\"channels\":null,\"identical\":null,\"max_abs\":null,"
                "\"mean_abs\":null,\"rmse\":null,\"psnr\":null,\"differing_pixels\":null,"
                "\"first_difference\":null,\"ssim\":null,\"warnings\":0,\"warning\":null},"
                "{\"path\":\"6\",\"outcome\":\"failed\",\"error\":{\"kind\":\"damaged\","
                "\"message\":\"damaged: m\"},\"width\":null,\"height\":null,\"channels\":null,"
                "\"identical\":null,\"max_abs\":null,\"mean_abs\":null,\"rmse\":null,\"psnr\":null,"
                "\"differing_pixels\":null,\"first_difference\":null,\"ssim\":null,\"warnings\":0,"
                "\"warning\":null}]}\n"
                "--\n"
                "lapedge: 6: damaged: m\n"
                "2");
    assert_true(sys.rules.with_ssim);
    give_pairs(0, 2);
    sys.others.files = 1;
    assert_diff("equal: 1 identical, 1 equal within the tolerance; 1 file not compared\n"
                "--\n"
                "lapedge: a/2: warning: odd (the first of 2)\n"
                "lapedge: 1 other file not taken: , ...\n"
                "0");
    sys.counts.vanished = 1;
    assert_int_equal(says(lap_cli_diff), 1);
    give_pairs(0, 6);
    sys.is_drawn = true;
    assert_diff("3\\x1b: different, by up to 7, 12 of 100 pixels, PSNR 50.63 dB\n"
                "only in a: 4\n"
                "only in b: 5\\x1b\n"
                "not equal: 1 identical, 1 equal within the tolerance, 1 different, 1 only in A,"
                " 1 only in B, 1 could not be compared\n"
                "--\n"
                "<0><><0><>lapedge: a/2: warning: odd (the first of 2)\n"
                "<0><>lapedge: b/3: warning: odd (the first of 2)\n"
                "<0><><0><><0><>lapedge: 6: damaged: m\n"
                "<0><>2");
    give_pairs(2, 2);
    cli.fail_fast = true;
    assert_int_equal(says(lap_cli_diff), 1);
    assert_int_equal(sys.asked_pairs, 1);
    give_pairs(0, 2);
    cli.fail_fast = true;
    assert_int_equal(says(lap_cli_diff), 0);
    assert_int_equal(sys.asked_pairs, 2);
}

static void diff_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(all_pairs); i++) { /* each pair alone */
        give_pairs(i, 1);
        assert_int_equal(says(lap_cli_diff), i < 2 ? 0 : i < 5 ? 1 : 2);
        assert_int_equal(strncmp(said_out() + (i == 5 ? 0 : strlen(said_out()) - (i < 2 ? 4 : 1)), "", 0), 0);
        cli.report = "page";
        sys.sheet_exit = 1;
        assert_int_equal(says(lap_cli_diff), 2);
    }
    give_pairs(0, 2);
    wants_json();
    assert_int_equal(says(lap_cli_diff), 0);
    sys.lost_after = 2; /* after the pairs comes the object */
    sys.lost = LAP_EXIT_FAILED;
    assert_int_equal(says(lap_cli_diff), 2);
    give_pairs(0, 0);
    assert_diff("lapedge: a and b: no image that lapedge reads (*.jpg *.jpeg *.jpe *.jfif *.png *.ppm *.pgm "
                "*.pnm)\n2");
    sys.err = (lap_error){.code = LAP_E_LIMIT, .message = "m"};
    assert_diff("lapedge: limit: m\n2");
    give_pairs(0, 1);
    sys.no_context = true;
    assert_diff("lapedge: limit: no context\n2");
    give_pairs(0, 1);
    cli.take.extensions = "png";
    (void)says(lap_cli_diff);
    assert_int_equal(sys.take.include_count, 0);
    cli.take.extensions = NULL;
    cli.include[0] = "x";
    (void)says(lap_cli_diff);
    assert_int_equal(sys.take.include_count, 1);
    assert_string_equal(sys.take.include[0], "x");
    give_pairs(0, 1);
    operands[1] = "none";
    assert_diff("lapedge: none: no such folder\n2");
    put(at("a file"), "x");
    operands[1] = "a file";
    assert_diff("lapedge: a is a folder, but a file is not\n2");
    operands[0] = "a file", operands[1] = "b";
    assert_diff("lapedge: b is a folder, but a file is not\n2");
    cli.operand_count = 1;
    assert_diff("lapedge: B is missing: lapedge diff 'a file' B\n2");
    cli.operand_count = 3;
    assert_diff("lapedge: diff takes two images, or two folders: lapedge diff A B\n2");
    cli.operand_count = 2;
    cli.forms = LAP_CLI_DIFF;
    operands[0] = operands[1] = "-";
    assert_diff("lapedge: only one of A and B can be standard input\n2");
    /* Lost output. */
    give_pairs(0, 2);
    sys.lost_after = 1;
    sys.lost = LAP_EXIT_PIPE;
    assert_int_equal(says(lap_cli_diff), LAP_EXIT_PIPE);
    give_pairs(0, 2);
    sys.lost_after = 2;
    sys.lost = LAP_EXIT_FAILED;
    assert_int_equal(says(lap_cli_diff), LAP_EXIT_USAGE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {TEST(run_talks), TEST(run_counts), TEST(run_failures),
        TEST(others), TEST(nothing_found), TEST(pruning), TEST(run_ends), TEST(traces), TEST(run_files),
        TEST(run_options), TEST(run_operands), TEST(in_place_talks), TEST(in_place_one), TEST(in_place_ends),
        TEST(in_place_options), TEST(stats_talk), TEST(stats_ends), TEST(weights), TEST(diff_talks),
        TEST(diff_ends)};
    if (!make_scratch() || !said_open())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed | said_close() | remove_scratch(NULL);
}
