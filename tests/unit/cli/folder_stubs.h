/* For tests of runs over folders and in place: the test makes up what the library's run reports. The stubs
 * keep what the run was given. */
#ifndef FOLDER_STUBS_H
#define FOLDER_STUBS_H

#include "tests/unit/cli/command_stubs.h"

#include <malloc.h>

#include "cli/folder/folder.h"
#include "cli/measure/measure.h"
#include "cli/report/report.h"

typedef struct event { /* a photo that the library reports */
    const char *input;
    lap_status status;
    lap_code code;
    int warnings, recoded;
    const char *note;
} event;

typedef struct removal { /* an output that --prune removes, or cannot remove */
    const char *output;
    lap_code code;
} removal;

static struct {
    /* What the library does. */
    event events[24];
    removal removals[4];
    lap_batch_counts counts; /* at the end */
    lap_batch_others others;
    lap_batch_work work;
    lap_batch_prune prune;
    lap_error err; /* how the run ends, or why it does not begin */
    bool draws, reader_left, has_lost_worker, begins_not, is_alone;
    int sheet_code, stats_code, json_code;
    uint32_t rank, size;
    /* What it was given. */
    lap_batch_options options;
    lap_batch_devices devices;
    lap_settings settings;
    lap_in_place order;
    const char *inputs[4], *sides[4];
    bool has_devices, finds_made, is_named;
    const lap_batch_counts *shown_counts; /* those that the progress line must get */
    /* How often each call was made. */
    int cancels, told_cancel, shown, sheets, sheet_files, sheet_pairs, sheet_written, ended, one_device,
        stats_written, printed; /* ended: since the run began */
    json_t *json, *sheet_json;  /* last objects */
} sys;

/* ---- steps ----------------------------------------------------------------------------------------- */

static inline void forget(void)
{
    assert_int_equal(sys.sheets, 0); /* each was freed */
    json_decref(sys.json);
    json_decref(sys.sheet_json);
    memset(&sys, 0, sizeof sys);
}

static inline void start(int command, int forms)
{
    forget();
    begin_command(command);
    cli.forms = forms;
}

static inline int end(void **state)
{
    forget();
    return said_restore(state);
}

/* Runs the command, and compares its exit code and what it prints. */
#define assert_runs(run, code, out, err) \
    do {                                 \
        const int ended_ = code_of(run); \
        assert_text(said_out(), out);    \
        assert_text(said_err(), err);    \
        assert_int_equal(ended_, code);  \
    } while (0)

/* Returns the kinds of the lines of a log, a letter for each: the first line (l), photos (f), what was not
 * taken (n). */
static inline const char *log_of(const char *name)
{
    static char kinds[64];
    char line[8192];
    size_t count = 0;
    FILE *file = fopen(name, "r");
    if (!file)
        return "none";
    while (count < sizeof kinds - 1 && fgets(line, sizeof line, file)) {
        json_t *object = json_loads(line, 0, NULL);
        const char *schema = json_string_value(json_object_get(object, "schema"));
        kinds[count++] = schema ? schema[strlen("lapedge.")] : '?';
        if (schema && kinds[count - 1] == 'f') {
            assert_string_equal(json_string_value(json_object_get(object, "input")), "a");
            assert_string_equal(json_string_value(json_object_get(object, "output")), "out/a");
        }
        json_decref(object);
    }
    fclose(file);
    kinds[count] = '\0';
    return kinds;
}

typedef struct logged { /* a run with a log */
    lap_code code;
    uint64_t found;
    int photos;
    uint64_t made; /* photos that were filtered before */
    const char *lines;
} logged;

/* Runs with a log and without, and with one that cannot be opened. */
static inline void assert_logs(
    int (*run)(lap_cli *cli), void (*prepare)(void), const logged *cases, size_t count)
{
    for (size_t i = 0; i < 2 * count; i++) {
        const logged *want = &cases[i / 2];
        prepare();
        cli.log = i % 2 ? "log" : NULL;
        sys.err.code = want->code;
        sys.counts.found = want->found;
        sys.others.made = want->made;
        for (int k = 0; k < want->photos; k++)
            sys.events[k] = (event){"a", LAP_DONE, .code = LAP_OK};
        (void)code_of(run);
        assert_string_equal(log_of("log"), i % 2 ? want->lines : "none");
        (void)unlink("log");
    }
    prepare();
    cli.log = "missing/log";
    assert_runs(
        run, LAP_EXIT_NOTHING, "", L "--log: missing/log: cannot be opened: No such file or directory\n");
    assert_int_equal(sys.ended, 0);
}

/* An object does not replace outputs or photos, if the library found out that it would. */
static inline void assert_clash_keeps_off(int (*run)(lap_cli *cli), void (*prepare)(void))
{
    for (int clash = 0; clash < 2; clash++) {
        prepare();
        sys.err = (lap_error){.code = clash ? LAP_E_CLASH : LAP_E_USAGE, .message = "why"};
        cli.quiet = true;
        lap_json_direct(false, "j", true);
        assert_runs(run, LAP_EXIT_USAGE, "", L "why\n");
        assert_int_equal(lap_json_print_made("x"), 0);
        assert_int_equal(lap_json_finish(), 0);
        assert_int_equal(access("j", F_OK) == 0, !clash);
        (void)unlink("j");
        lap_json_direct(false, NULL, true);
    }
}

/* Runs again and again take no more memory. */
static inline void assert_gives_back(int (*run)(lap_cli *cli), void (*prepare)(void))
{
    enum { RUNS = 100, BLOCK = 24 }; /* BLOCK: the smallest block takes that */
    size_t held = 0;
    for (int i = -20; i < RUNS; i++) {
        held = i ? held : mallinfo2().uordblks;
        prepare();
        cli.quiet = cli.prune = sys.is_alone = true;
        cli.log = "log", cli.json_file = "j", cli.backup = ".orig", cli.include[0] = "x";
        cli.report = cli.forms == LAP_CLI_FOLDER ? "r" : NULL;
        sys.others = (lap_batch_others){.outputs = 1, .kind_count = 1, .left_count = 1};
        sys.events[0] = (event){"a", LAP_SKIPPED, .code = LAP_OK};
        sys.removals[0] = (removal){"a", LAP_OK};
        assert_runs(run, LAP_EXIT_OK, "", "");
        forget();
    }
    assert_true(mallinfo2().uordblks < held + RUNS * BLOCK / 2);
}

/* ---- the library's runs ---------------------------------------------------------------------------- */

/* Reports the events. */
static inline void tell(lap_batch_fn *each, void *user)
{
    lap_batch_counts counts = {0};
    sys.shown_counts = &counts;
    each(user, NULL, &counts);
    for (const event *e = sys.events; e->input; e++) {
        char output[80];
        lap_report report = {.status = e->status,
            .error = {.code = e->code},
            .width = 64,
            .height = 48,
            .warnings = e->warnings,
            .recoded = e->recoded,
            .ms = {.total = 12.34}};
        snprintf(output, sizeof output, "out/%s", e->input);
        if (e->code != LAP_OK)
            strcpy(report.error.message, "why");
        if (e->warnings)
            strcpy(report.warning, "odd");
        if (e->note)
            strcpy(report.note, e->note);
        counts.failed += e->status == LAP_FAILED;
        counts.recoded += e->recoded;
        each(user, &(lap_batch_file){e->input, output, &report}, &counts);
    }
}

/* Keeps what the run was given, and fills in its results. */
static inline lap_code finish(
    const lap_batch_options *options, const lap_settings *settings, lap_batch_counts *counts, lap_error *err)
{
    sys.options = *options;
    sys.settings = *settings;
    for (size_t i = 0; i < options->input_count && i < COUNT(sys.inputs); i++)
        sys.inputs[i] = options->inputs[i];
    for (size_t i = 0; i < options->side_count && i < COUNT(sys.sides); i++)
        sys.sides[i] = options->sides[i];
    sys.has_devices = options->devices;
    if (options->devices)
        sys.devices = *options->devices;
    sys.finds_made = options->others->finds_made;
    *options->others = sys.others;
    *options->work = sys.work;
    *counts = sys.counts;
    *err = sys.err;
    return sys.err.code;
}

STUB(lap_batch);
lap_code __wrap_lap_batch(lap_context *context, const lap_batch_options *options,
    const lap_settings *settings, lap_batch_fn *each, void *user, lap_batch_counts *counts, lap_error *err)
{
    assert_non_null(context);
    tell(each, user);
    if (options->prune) {
        const lap_batch_prune asked = *options->prune;
        for (const removal *r = sys.removals; r->output; r++)
            asked.each(asked.user, r->output,
                r->code == LAP_OK ? NULL : &(lap_error){.code = r->code, .message = "why"});
        *options->prune = sys.prune;
    }
    return finish(options, settings, counts, err);
}

STUB(lap_batch_in_place);
lap_code __wrap_lap_batch_in_place(lap_context *context, const lap_in_place *order,
    const lap_settings *settings, lap_batch_counts *counts, lap_error *err)
{
    assert_non_null(context);
    sys.order = *order;
    sys.settings = *settings; /* the events may need it */
    sys.is_named = settings->progress_user && ((const lap_progress *)settings->progress_user)->name;
    tell(order->each, order->user);
    return finish(order->options, settings, counts, err);
}

STUB(lap_shard_local);
bool __wrap_lap_shard_local(uint32_t *rank, uint32_t *size)
{
    *rank = sys.rank;
    *size = sys.size;
    return true;
}

STUB(lap_context_cancel);
void __wrap_lap_context_cancel(lap_context *context)
{
    assert_non_null(context);
    sys.cancels++;
}

/* ---- around a run ---------------------------------------------------------------------------------- */

STUB(lap_cli_begin);
lap_context *__wrap_lap_cli_begin(lap_cli *of, lap_error *err)
{
    assert_ptr_equal(of, &cli);
    sys.ended = 0;
    *err = sys.begins_not ? sys.err : (lap_error){0};
    return sys.begins_not ? NULL : lap_context_create(sys.is_alone ? 1 : 3, NULL);
}

STUB(lap_cli_end);
void __wrap_lap_cli_end(lap_context *context)
{
    sys.ended++;
    lap_context_destroy(context);
}

STUB(lap_cli_has_lost_worker);
bool __wrap_lap_cli_has_lost_worker(const lap_cli *of)
{
    assert_ptr_equal(of, &cli);
    return sys.has_lost_worker;
}

STUB(lap_cli_told_cancel);
void __wrap_lap_cli_told_cancel(void)
{
    sys.told_cancel++;
}

STUB(lap_term_reader_left);
bool __wrap_lap_term_reader_left(void)
{
    return sys.reader_left;
}

STUB(lap_cli_warn_of_devices);
void __wrap_lap_cli_warn_of_devices(const lap_cli *of)
{
    assert_ptr_equal(of, &cli);
    sys.one_device++;
}

/* ---- the progress line: "[" when it begins, "=" when it is drawn, and "]" when it is hidden -------- */

static inline void mark(char c)
{
    if (sys.draws)
        fputc(c, stderr);
}

STUB(lap_progress_begin);
void __wrap_lap_progress_begin(lap_progress *progress, const lap_cli *of, const char *name)
{
    assert_ptr_equal(of, &cli);
    *progress = (lap_progress){.name = name, .on = sys.draws};
    mark('[');
}

STUB(lap_progress_files);
void __wrap_lap_progress_files(
    lap_progress *progress, const lap_batch_counts *counts, const lap_batch_work *work)
{
    assert_true(progress && work);
    assert_ptr_equal(counts, sys.shown_counts);
    sys.shown++;
    mark('=');
}

STUB(lap_progress_hide);
void __wrap_lap_progress_hide(lap_progress *progress)
{
    assert_non_null(progress);
    mark(']');
}

/* ---- what is written ------------------------------------------------------------------------------- */

static lap_sheet *const a_sheet = (lap_sheet *)&sys;

STUB(lap_sheet_create);
lap_sheet *__wrap_lap_sheet_create(void)
{
    sys.sheets++;
    return a_sheet;
}

STUB(lap_sheet_free);
void __wrap_lap_sheet_free(lap_sheet *sheet)
{
    sys.sheets -= sheet == a_sheet;
}

STUB(lap_sheet_add_file);
void __wrap_lap_sheet_add_file(lap_sheet *sheet, const lap_batch_file *file)
{
    assert_true(sheet == a_sheet && file);
    sys.sheet_files++;
}

STUB(lap_sheet_add_pair);
void __wrap_lap_sheet_add_pair(lap_sheet *sheet, const lap_pair *pair, const char *what, bool is_equal)
{
    assert_true(sheet == a_sheet && pair);
    assert_int_equal(is_equal, strcmp(what, "equal") == 0);
    sys.sheet_pairs++;
}

STUB(lap_sheet_write);
int __wrap_lap_sheet_write(lap_sheet *sheet, const lap_cli *of, lap_context *context, json_t *results)
{
    assert_true(sheet == a_sheet && of == &cli && context && !sys.ended);
    json_decref(sys.sheet_json);
    sys.sheet_json = results;
    sys.sheet_written++;
    return sys.sheet_code;
}

STUB(lap_cli_print_photo);
void __wrap_lap_cli_print_photo(
    const lap_cli *of, lap_context *context, const char *in, const char *out, const lap_report *report)
{
    assert_true(of == &cli && context && report);
    fprintf(stderr, "(%s to %s)\n", in, out);
}

STUB(lap_stats_write);
int __wrap_lap_stats_write(
    const lap_cli *of, const char *input, const lap_run_stats *stats, const lap_report *report)
{
    assert_true(of == &cli && input && stats == sys.settings.stats && report);
    sys.stats_written++;
    return sys.stats_code;
}

STUB(lap_json_print);
int __wrap_lap_json_print(json_t *object)
{
    json_decref(sys.json);
    sys.json = object;
    sys.printed++;
    return sys.json_code;
}

#endif
