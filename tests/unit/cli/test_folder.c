/* Runs over folders and in place, as a person, a script and a log are told of them: each line of the summary,
 * the objects, and the exit codes. The library's runs are those of the test. */
#include "tests/support/said.h"

#include <errno.h>
#include <malloc.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/folder/folder.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/report/report.h"
#include "cli/term.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
#define L "lapedge: "

/* ---- what stands around a run ---------------------------------------------------------------------- */

typedef struct event { /* what the library says of a photo */
    const char *input;
    lap_status status;
    lap_code code;
    int warnings, recoded;
    const char *note;
} event;

typedef struct removal {
    const char *output;
    lap_code code;
} removal;

static struct {
    event events[24];
    removal removals[4];
    lap_batch_counts counts; /* at the end */
    lap_batch_others others;
    lap_batch_work work;
    lap_batch_prune prune;
    lap_error err;
    bool draws, reader_left, has_lost_worker, begins_not, finds_made, is_alone;
    int caught, cancels, told_cancel, shown, sheets, sheet_files, sheet_written, sheet_code, ended,
        one_device;
    int stats_written, stats_code, json_code, printed;
    uint32_t rank, size;
    lap_cli_exit flush;
    lap_batch_options options; /* that the library was given */
    const char *inputs[4], *sides[4];
    lap_batch_devices devices;
    bool has_devices;
    lap_settings settings;
    lap_in_place order;
    json_t *json, *sheet_json;
} sys;

static lap_cli cli;
static lap_folder f;
static char *operands[5];

static void tell(lap_batch_fn *each, void *user)
{
    lap_batch_counts counts = {0};
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

static lap_code finish(const lap_batch_options *options, lap_batch_counts *counts, lap_error *err)
{
    sys.options = *options;
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

lap_code __wrap_lap_batch(lap_context *context, const lap_batch_options *options,
    const lap_settings *settings, lap_batch_fn *each, void *user, lap_batch_counts *counts, lap_error *err);
lap_code __wrap_lap_batch(lap_context *context, const lap_batch_options *options,
    const lap_settings *settings, lap_batch_fn *each, void *user, lap_batch_counts *counts, lap_error *err)
{
    assert_non_null(context);
    sys.settings = *settings;
    tell(each, user);
    if (options->prune) {
        void *const owner = options->prune->user;
        void (*const on_output)(void *, const char *, const lap_error *) = options->prune->each;
        for (const removal *r = sys.removals; r->output; r++)
            on_output(
                owner, r->output, r->code == LAP_OK ? NULL : &(lap_error){.code = r->code, .message = "why"});
        *options->prune = sys.prune;
    }
    return finish(options, counts, err);
}

lap_code __wrap_lap_batch_in_place(lap_context *context, const lap_in_place *order,
    const lap_settings *settings, lap_batch_counts *counts, lap_error *err);
lap_code __wrap_lap_batch_in_place(lap_context *context, const lap_in_place *order,
    const lap_settings *settings, lap_batch_counts *counts, lap_error *err)
{
    assert_non_null(context);
    sys.settings = *settings;
    sys.order = *order;
    tell(order->each, order->user);
    return finish(order->options, counts, err);
}

lap_context *__wrap_lap_cli_begin(lap_cli *of, lap_error *err);
lap_context *__wrap_lap_cli_begin(lap_cli *of, lap_error *err)
{
    assert_ptr_equal(of, &cli);
    *err = sys.begins_not ? sys.err : (lap_error){0};
    return sys.begins_not ? NULL : lap_context_create(sys.is_alone ? 1 : 3, NULL);
}

void __wrap_lap_cli_end(lap_context *context);
void __wrap_lap_cli_end(lap_context *context)
{
    sys.ended++;
    lap_context_destroy(context);
}

bool __wrap_lap_cli_has_lost_worker(const lap_cli *of);
bool __wrap_lap_cli_has_lost_worker(const lap_cli *of)
{
    assert_ptr_equal(of, &cli);
    return sys.has_lost_worker;
}

int __wrap_lap_cli_caught(void);
int __wrap_lap_cli_caught(void)
{
    return sys.caught;
}

void __wrap_lap_cli_told_cancel(void);
void __wrap_lap_cli_told_cancel(void)
{
    sys.told_cancel++;
}

void __wrap_lap_context_cancel(lap_context *context);
void __wrap_lap_context_cancel(lap_context *context)
{
    assert_non_null(context);
    sys.cancels++;
}

lap_cli_exit __wrap_lap_cli_flush(lap_cli_exit so_far);
lap_cli_exit __wrap_lap_cli_flush(lap_cli_exit so_far)
{
    return sys.flush ? sys.flush : so_far;
}

bool __wrap_lap_shard_local(uint32_t *rank, uint32_t *size);
bool __wrap_lap_shard_local(uint32_t *rank, uint32_t *size)
{
    *rank = sys.rank;
    *size = sys.size;
    return true;
}

bool __wrap_lap_term_reader_left(void);
bool __wrap_lap_term_reader_left(void)
{
    return sys.reader_left;
}

void __wrap_lap_cli_warn_of_devices(const lap_cli *of);
void __wrap_lap_cli_warn_of_devices(const lap_cli *of)
{
    assert_ptr_equal(of, &cli);
    sys.one_device++;
}

/* The progress line is "[" when it begins, "=" when it is drawn, and "]" when it is hidden. */
static void mark(char c)
{
    if (sys.draws)
        fputc(c, stderr);
}

void __wrap_lap_progress_begin(lap_progress *progress, const lap_cli *of, const char *name);
void __wrap_lap_progress_begin(lap_progress *progress, const lap_cli *of, const char *name)
{
    assert_ptr_equal(of, &cli);
    *progress = (lap_progress){.name = name, .on = sys.draws};
    mark('[');
}

void __wrap_lap_progress_files(
    lap_progress *progress, const lap_batch_counts *counts, const lap_batch_work *work);
void __wrap_lap_progress_files(
    lap_progress *progress, const lap_batch_counts *counts, const lap_batch_work *work)
{
    assert_true(progress && counts && work);
    sys.shown++;
    mark('=');
}

void __wrap_lap_progress_hide(lap_progress *progress);
void __wrap_lap_progress_hide(lap_progress *progress)
{
    assert_non_null(progress);
    mark(']');
}

static lap_sheet *const a_sheet = (lap_sheet *)&sys;

lap_sheet *__wrap_lap_sheet_create(void);
lap_sheet *__wrap_lap_sheet_create(void)
{
    sys.sheets++;
    return a_sheet;
}

void __wrap_lap_sheet_free(lap_sheet *sheet);
void __wrap_lap_sheet_free(lap_sheet *sheet)
{
    sys.sheets -= sheet == a_sheet;
}

void __wrap_lap_sheet_add_file(lap_sheet *sheet, const lap_batch_file *file);
void __wrap_lap_sheet_add_file(lap_sheet *sheet, const lap_batch_file *file)
{
    assert_true(sheet == a_sheet && file);
    sys.sheet_files++;
}

int __wrap_lap_sheet_write(lap_sheet *sheet, const lap_cli *of, lap_context *context, json_t *results);
int __wrap_lap_sheet_write(lap_sheet *sheet, const lap_cli *of, lap_context *context, json_t *results)
{
    assert_true(sheet == a_sheet && of == &cli && context && !sys.ended);
    json_decref(sys.sheet_json);
    sys.sheet_json = results;
    sys.sheet_written++;
    return sys.sheet_code;
}

void __wrap_lap_cli_print_photo(
    const lap_cli *of, lap_context *context, const char *in, const char *out, const lap_report *report);
void __wrap_lap_cli_print_photo(
    const lap_cli *of, lap_context *context, const char *in, const char *out, const lap_report *report)
{
    assert_true(of == &cli && context && report);
    fprintf(stderr, "(%s to %s)\n", in, out);
}

int __wrap_lap_stats_write(
    const lap_cli *of, const char *input, const lap_run_stats *stats, const lap_report *report);
int __wrap_lap_stats_write(
    const lap_cli *of, const char *input, const lap_run_stats *stats, const lap_report *report)
{
    assert_true(of == &cli && input && stats == sys.settings.stats && report);
    sys.stats_written++;
    return sys.stats_code;
}

int __wrap_lap_json_print(json_t *object);
int __wrap_lap_json_print(json_t *object)
{
    json_decref(sys.json);
    sys.json = object;
    sys.printed++;
    return sys.json_code;
}

/* ---- steps ----------------------------------------------------------------------------------------- */

static void forget(void)
{
    json_decref(sys.json);
    json_decref(sys.sheet_json);
    memset(&sys, 0, sizeof sys);
}

static void start(void)
{
    forget();
    f = (lap_folder){.cli = &cli};
    cli = (lap_cli){.settings = lap_settings_default(),
        .command = &lap_cli_commands[LAP_COMMAND_RUN],
        .forms = LAP_CLI_FOLDER,
        .operands = operands};
}

static void set_operands(const char *one, const char *two, const char *three)
{
    static char words[3][80];
    const char *const given[] = {one, two, three};
    cli.operand_count = 0;
    for (int i = 0; i < 3 && given[i]; i++) {
        operands[cli.operand_count++] = words[i];
        snprintf(words[i], sizeof words[i], "%s", given[i]);
    }
    operands[cli.operand_count] = NULL;
}

static int begin(void **state)
{
    (void)state;
    empty_scratch();
    start();
    return 0;
}

static int end(void **state)
{
    forget();
    return said_restore(state);
}

/* Compares an object with its text, in which ' stands for ". */
static void assert_object(json_t *got, const char *text)
{
    char quoted[8192], *to = quoted;
    assert_true(strlen(text) < sizeof quoted);
    for (const char *at = text; *at; at++)
        *to++ = (char)(*at == '\'' ? '"' : *at);
    *to = '\0';
    json_error_t error;
    json_t *want = json_loads(quoted, JSON_DECODE_ANY, &error);
    if (!want)
        fail_msg("%s at %s", error.text, quoted + error.position);
    if (!json_equal(got, want)) {
        char *shown = json_dumps(got, 0);
        fail_msg("got %s\nnot %s", shown ? shown : "nothing", quoted);
    }
    json_decref(want);
}

/* ---- the request ----------------------------------------------------------------------------------- */

static void requests(void **state)
{
    (void)state;
    set_operands("a", "b", "out");
    cli.include[0] = "*.png", cli.include[1] = "x/";
    cli.exclude[0] = "z*";
    cli.files_from = "list", cli.null_separated = true, cli.jobs = 7, cli.fail_fast = true;
    cli.devices[0] = 4, cli.device_count = 2, cli.device_memory = 99, cli.trace = "t";
    lap_folder_begin(&f, &cli, 2);
    assert_ptr_equal(f.cli, &cli);
    assert_ptr_equal(f.options.inputs, cli.operands);
    assert_int_equal(f.options.input_count, 2);
    assert_string_equal(f.options.files_from, "list");
    assert_true(f.options.nul_separated && f.options.fail_fast);
    assert_int_equal(f.options.jobs, 7);
    assert_true(f.options.take == &cli.take && f.options.others == &f.others);
    assert_true(f.options.devices == &f.devices && f.options.work == &f.work);
    assert_true(cli.take.include == cli.include && cli.take.exclude == cli.exclude);
    assert_int_equal(cli.take.include_count, 2);
    assert_int_equal(cli.take.exclude_count, 1);
    assert_ptr_equal(f.devices.numbers, cli.devices);
    assert_int_equal(f.devices.count, 2);
    assert_int_equal(f.devices.memory, 99);
    assert_string_equal(f.devices.trace, "t");
    start();
    lap_folder_begin(&f, &cli, 1);
    assert_int_equal(cli.take.include_count + cli.take.exclude_count, 0);
    assert_false(f.options.nul_separated || f.options.fail_fast || f.devices.numbers || f.devices.trace);
    start();
    cli.take.extensions = "not a pattern"; /* what stands behind the lists */
    for (int i = 0; i < LAP_CLI_GLOBS; i++)
        cli.include[i] = cli.exclude[i] = "x";
    lap_folder_begin(&f, &cli, 1);
    assert_int_equal(cli.take.include_count, LAP_CLI_GLOBS);
    assert_int_equal(cli.take.exclude_count, LAP_CLI_GLOBS);
}

/* Tasks on one machine share all devices, or those that were named. */
static void shared_devices(void **state)
{
    static const struct {
        const char *shard;
        int given, count;
        bool named, shares;
    } cases[] = {{NULL, 0, 0, false, false}, {NULL, 1, 1, true, false}, {NULL, -1, -1, false, false},
        {"1/3", 0, 0, false, false}, {"1/3", 2, 2, true, false}, {"auto", 0, -1, false, true},
        {"auto", -1, -1, false, true}, {"auto", 1, 1, true, true}, {"auto", 2, 2, true, true}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start();
        sys.rank = 2, sys.size = 5;
        cli.shard = cases[i].shard;
        cli.device_count = cases[i].given;
        lap_folder_begin(&f, &cli, 1);
        assert_int_equal(f.devices.count, cases[i].count);
        assert_ptr_equal(f.devices.numbers, cases[i].named ? cli.devices : NULL);
        assert_int_equal(f.devices.share, cases[i].shares ? 2 : 0);
        assert_int_equal(f.devices.shares, cases[i].shares ? 5 : 0);
    }
}

static void warnings_of_the_run(void **state)
{
    const lap_error lost = {.code = LAP_E_DEVICE, .subject = "device 3", .message = "is lost"};
    (void)state;
    sys.draws = true;
    lap_folder_begin(&f, &cli, 0);
    assert_says(f.options.warn(&f, &lost), "", "]lapedge: warning: device 3: is lost\n");
    cli.quiet = true;
    assert_says(f.options.warn(&f, &lost), "", "");
}

static void standard_input_among_files(void **state)
{
    static const char message[] = L "- cannot be used with folders or several files\n";
    (void)state;
    set_operands("a", "b", "c");
    assert_says(assert_int_equal(lap_folder_check_names(&cli), LAP_EXIT_OK), "", "");
    for (int i = 0; i < 3; i++) {
        set_operands(i == 0 ? "-" : "a", i == 1 ? "-" : "b", i == 2 ? "-" : "c");
        assert_says(assert_int_equal(lap_folder_check_names(&cli), LAP_EXIT_USAGE), "", message);
    }
    cli.operand_count = 2; /* the third word is no operand */
    assert_says(assert_int_equal(lap_folder_check_names(&cli), LAP_EXIT_OK), "", "");
}

/* ---- while it runs --------------------------------------------------------------------------------- */

static void how_many_at_once(void **state)
{
    static const struct {
        int jobs;
        bool verbose;
        const char *what, *said;
    } cases[] = {{0, true, "photos", L "up to 3 photos at once, 3 threads\n["},
        {2, true, "photos", L "up to 2 photos at once, 3 threads\n["},
        {1, true, "pairs", L "up to 1 pairs at once, 3 threads\n["},
        {4, true, "photos", L "up to 3 photos at once, 3 threads\n["}, {2, true, NULL, "["},
        {2, false, "photos", "["}, {2, false, NULL, "["}};
    lap_context *context = lap_context_create(3, NULL);
    (void)state;
    sys.draws = true;
    for (size_t i = 0; i < COUNT(cases); i++) {
        cli.jobs = cases[i].jobs;
        cli.verbose = cases[i].verbose;
        f = (lap_folder){.cli = &cli};
        assert_says(lap_folder_start(&f, context, cases[i].what), "", cases[i].said);
        assert_ptr_equal(f.context, context);
        assert_null(f.progress.name);
    }
    assert_says(lap_folder_show(&f, &f.counts), "", "=");
    assert_says(lap_folder_stop(&f), "", "]");
    lap_context_destroy(context);
}

static void output_that_is_lost(void **state)
{
    (void)state;
    f.context = lap_context_create(1, NULL);
    lap_folder_flush(&f);
    assert_int_equal(f.lost, LAP_EXIT_OK);
    assert_int_equal(sys.cancels, 0);
    sys.flush = LAP_EXIT_PIPE;
    lap_folder_flush(&f);
    assert_int_equal(f.lost, LAP_EXIT_PIPE);
    assert_int_equal(sys.cancels, 1);
    sys.flush = LAP_EXIT_FAILED; /* the first counts */
    lap_folder_flush(&f);
    assert_int_equal(f.lost, LAP_EXIT_PIPE);
    assert_int_equal(sys.cancels, 1);
    assert_int_equal(lap_folder_exit(&f, LAP_OK), LAP_EXIT_PIPE);
    assert_int_equal(lap_folder_exit(&f, LAP_E_LIMIT), LAP_EXIT_PIPE);
    lap_context_destroy(f.context);
}

/* Ten messages of a kind, where a progress line is. */
static void messages_of_a_kind(void **state)
{
    const lap_report truncated = {.error = {.code = LAP_E_TRUNCATED}}, warned = {.error = {.code = LAP_OK}};
    (void)state;
    for (int i = 0; i < 12; i++) {
        f.progress.on = true;
        cli.verbose = false;
        assert_int_equal(lap_folder_may_tell(&f, &truncated), i < 10);
        assert_int_equal(f.told[LAP_E_TRUNCATED], i + 1);
    }
    assert_true(lap_folder_may_tell(&f, &warned));
    assert_int_equal(f.told[LAP_OK], 1);
    cli.verbose = true;
    assert_true(lap_folder_may_tell(&f, &truncated));
    cli.verbose = false;
    f.progress.on = false;
    assert_true(lap_folder_may_tell(&f, &truncated));
    f.progress.on = true;
    assert_false(lap_folder_may_tell(&f, &truncated));
    assert_int_equal(f.told[LAP_E_TRUNCATED], 15);
}

static void what_is_left(void **state)
{
    (void)state;
    f.counts = (lap_batch_counts){.expected = 100, .ok = 1, .warned = 2, .skipped = 4, .failed = 8};
    assert_int_equal(lap_folder_left(&f), 85);
    assert_says(lap_folder_print_left(&f), "", ", 85 left");
    for (unsigned expected = 14; expected < 17; expected++) {
        f.counts.expected = expected;
        assert_int_equal(lap_folder_left(&f), expected > 15);
        assert_says(lap_folder_print_left(&f), "", expected > 15 ? ", 1 left" : "");
    }
}

/* ---- for a person ---------------------------------------------------------------------------------- */

static void patterns_that_match_nothing(void **state)
{
    static const struct {
        const char *option, *pattern, *said;
    } cases[] = {
        {"include", "*.{a,b}",
            L "--include=*.{a,b} matches nothing (braces are matched literally; repeat the option for each "
              "pattern)\n"},
        {"exclude", "a/{",
            L "--exclude=a/{ matches nothing (braces are matched literally; repeat the option for each "
              "pattern)\n"},
        {"include", "a/b",
            L
            "--include=a/b matches nothing (a pattern with a slash begins at the named folder; */ before it "
            "matches at any depth)\n"},
        {"exclude", "a/",
            L "--exclude=a/ matches nothing (a pattern with a slash begins at the named folder; */ before it "
              "matches at any depth)\n"},
        {"include", "sea",
            L "--include=sea matches nothing (a pattern without a slash matches file names; end it with a "
              "slash for folders)\n"},
        {"exclude", "sea", L "--exclude=sea matches nothing\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start();
        const bool is_include = strcmp(cases[i].option, "include") == 0;
        (is_include ? cli.include : cli.exclude)[0] = cases[i].pattern;
        assert_says(lap_folder_print_others(&f), "", cases[i].said);
        f.err.code = LAP_E_CANCELLED; /* perhaps it would have matched later */
        assert_says(lap_folder_print_others(&f), "", "");
        f.err.code = LAP_OK;
        *(is_include ? &f.others.include_used : &f.others.exclude_used) = 1;
        assert_says(lap_folder_print_others(&f), "", "");
    }
    start();
    cli.exclude[0] = "a", cli.exclude[1] = "b", cli.exclude[2] = "c";
    f.others.exclude_used = 1 << 1, f.others.include_used = 7;
    assert_says(
        lap_folder_print_others(&f), "", L "--exclude=a matches nothing\n" L "--exclude=c matches nothing\n");
    cli.take.include = cli.exclude; /* behind the lists */
    for (int i = 0; i < LAP_CLI_GLOBS; i++)
        cli.include[i] = cli.exclude[i] = i == LAP_CLI_GLOBS - 1 ? "last" : "other";
    f.others.include_used = UINT64_MAX;
    f.others.exclude_used = UINT64_MAX >> 1;
    assert_says(lap_folder_print_others(&f), "", L "--exclude=last matches nothing\n");
}

static void files_of_other_kinds(void **state)
{
    (void)state;
    lap_batch_others *others = &f.others;
    others->kind_count = 1;
    strcpy(others->kinds[0].extension, "heic");
    others->kinds[0].files = 1;
    assert_says(lap_folder_print_others(&f), "", "");
    others->files = 1;
    assert_says(lap_folder_print_others(&f), "", L "1 other file not taken: 1 .heic\n");
    others->files = 2;
    assert_says(lap_folder_print_others(&f), "", L "2 other files not taken: 1 .heic, ...\n");
    others->kind_count = LAP_OTHER_KINDS;
    char want[2000] = L "1000 other files not taken: 1 .heic, 2 without extension";
    others->kinds[1].files = 2;
    others->files = 1000;
    for (unsigned i = 2; i < LAP_OTHER_KINDS; i++) {
        snprintf(others->kinds[i].extension, sizeof others->kinds[i].extension, "fifteen letter%c",
            (char)('@' + i));
        others->kinds[i].files = i == 31 ? 1000 - 3 - 29 * 5 : 5;
        snprintf(want + strlen(want), 60, ", %d .fifteen letter%c", i == 31 ? 1000 - 3 - 29 * 5 : 5,
            (char)('@' + i));
    }
    strcat(want, "\n");
    assert_says(lap_folder_print_others(&f), "", want);
    start();
    f.others.apple_doubles = 1;
    assert_says(lap_folder_print_others(&f), "",
        L "1 AppleDouble file not taken: macOS keeps metadata in ._NAME, not photos\n");
    f.others.apple_doubles = 2;
    assert_says(lap_folder_print_others(&f), "",
        L "2 AppleDouble files not taken: macOS keeps metadata in ._NAME, not photos\n");
}

static void outputs_and_photos_left_out(void **state)
{
    lap_batch_others *others = &f.others;
    (void)state;
    *others = (lap_batch_others){.outputs = 3,
        .left_count = 3,
        .left = {{"a/out", "a/out/1.jpg", 2, 0}, {"b", "b/2.jpg", 0, 3}, {"c", "c/3.jpg", 1, 1}}};
    assert_says(lap_folder_print_others(&f), "",
        L "3 outputs of earlier runs not taken: 2 in a/out, 1 in c; to take outputs, name their folder\n");
    others->outputs = 4;
    assert_says(lap_folder_print_others(&f), "",
        L "4 outputs of earlier runs not taken: 2 in a/out, 1 in c, ...; to take outputs, name their "
          "folder\n");
    others->outputs = 1, others->left_count = 1, others->left[0].outputs = 1;
    assert_says(lap_folder_print_others(&f), "",
        L "1 output of earlier runs not taken: 1 in a/out; to take outputs, name their folder\n");
    others->outputs = 0, others->left_count = 3, others->out_photos = 4;
    assert_says(lap_folder_print_others(&f), "",
        L "4 photos in the output folder not taken (b/2.jpg, ...); move them, or write elsewhere\n");
    others->out_photos = 1;
    assert_says(lap_folder_print_others(&f), "",
        L "1 photo in the output folder not taken (b/2.jpg); move it, or write elsewhere\n");
    others->outputs = 3;
    assert_says(lap_folder_print_others(&f), "",
        L
        "3 outputs of earlier runs not taken: 1 in a/out, 1 in c, ...; to take outputs, name their folder\n" L
        "1 photo in the output folder not taken (b/2.jpg); move it, or write elsewhere\n");
    /* All names fit. */
    static char want[LAP_OTHER_FOLDERS * 1100];
    start();
    others->outputs = 80, others->left_count = LAP_OTHER_FOLDERS;
    strcpy(want, L "80 outputs of earlier runs not taken: ");
    for (int i = 0; i < LAP_OTHER_FOLDERS; i++) {
        memset(others->left[i].folder, 'a' + i, sizeof others->left[i].folder - 1);
        others->left[i].outputs = 10;
        snprintf(want + strlen(want), 1100, "%s10 in %s", i ? ", " : "", others->left[i].folder);
    }
    strcat(want, "; to take outputs, name their folder\n");
    assert_says(lap_folder_print_others(&f), "", want);
}

static void photos_filtered_before(void **state)
{
    (void)state;
    assert_says(lap_folder_print_made(&f), "", "");
    strcpy(f.others.made_first, "a.jpg");
    f.others.made = 1;
    assert_says(lap_folder_print_made(&f), "",
        L "warning: 1 input was filtered by lapedge before (a.jpg): its output is edges of edges\n");
    f.others.made = 2;
    assert_says(lap_folder_print_made(&f), "",
        L "warning: 2 inputs were filtered by lapedge before (a.jpg, ...): their outputs are edges of "
          "edges\n");
}

static void kinds_of_failures(void **state)
{
    (void)state;
    f.counts =
        (lap_batch_counts){.pixels = 9, .kinds = {[LAP_OK] = 4, [LAP_E_EXISTS] = 5, [LAP_E_LIMIT] = 6}};
    assert_says(lap_folder_print_failed(&f), "", "");
    f.counts.failed = 1;
    assert_says(lap_folder_print_failed(&f), "", ", 1 failed (6 limit)");
    f.counts.kinds[LAP_E_USAGE] = 1;
    f.counts.kinds[LAP_CODES - 1] = 7;
    assert_says(lap_folder_print_failed(&f), "", ", 1 failed (1 usage, 6 limit, 7 unknown)");
    f.counts = (lap_batch_counts){.failed = 3, .kinds = {[LAP_OK] = 4, [LAP_E_EXISTS] = 5}};
    assert_says(lap_folder_print_failed(&f), "", ", 3 failed");
}

static void messages_left_out(void **state)
{
    static const struct {
        bool on, verbose;
        uint64_t ok, limit, last;
        const char *log;
        int command;
        const char *said;
    } cases[] = {{true, false, 10, 10, 10, NULL, LAP_COMMAND_RUN, ""},
        {true, false, 11, 0, 0, NULL, LAP_COMMAND_RUN,
            L "and 1 more warnings: -v prints all, --log=FILE keeps them\n"},
        {true, false, 11, 30, 0, NULL, LAP_COMMAND_STATS,
            L "and 1 more warnings, 20 more limit: -v prints all\n"},
        {true, false, 0, 30, 12, "l", LAP_COMMAND_RUN, L "and 20 more limit, 2 more unknown: see l\n"},
        {true, false, 0, 0, 11, "l", LAP_COMMAND_STATS, L "and 1 more unknown: see l\n"},
        {false, false, 11, 11, 11, "l", LAP_COMMAND_RUN, ""},
        {true, true, 11, 11, 11, "l", LAP_COMMAND_RUN, ""},
        {false, true, 11, 11, 11, NULL, LAP_COMMAND_RUN, ""}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        f.progress.on = cases[i].on;
        f.context = (lap_context *)&f; /* behind the counts */
        f.told[LAP_OK] = cases[i].ok;
        f.told[LAP_E_LIMIT] = cases[i].limit;
        f.told[LAP_CODES - 1] = cases[i].last;
        cli.verbose = cases[i].verbose;
        cli.log = cases[i].log;
        cli.command = &lap_cli_commands[cases[i].command];
        assert_says(lap_folder_print_untold(&f), "", cases[i].said);
    }
}

static void links_and_photos_that_went(void **state)
{
    (void)state;
    assert_says(lap_folder_print_links(&f), "", "");
    f.counts.links = 1;
    assert_says(lap_folder_print_links(&f), "", L "1 symbolic link not followed; --follow does\n");
    f.counts.vanished = 1;
    f.counts.links = 2;
    assert_says(lap_folder_print_links(&f), "",
        L "1 photo was found at first, but gone when the run reached it\n" L
          "2 symbolic links not followed; --follow does\n");
    f.counts.vanished = 2;
    f.counts.links = 0;
    assert_says(lap_folder_print_links(&f), "",
        L "2 photos were found at first, but gone when the run reached them\n");
}

static void no_photo(void **state)
{
    static const char none[] = L "no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content)";
    char want[300];
    (void)state;
    snprintf(want, sizeof want, "%s\n", none);
    assert_says(lap_folder_print_none(&f), "", want);
    f.counts.expected = 1;
    assert_says(lap_folder_print_none(&f), "", "");
    f.counts.expected = 0, f.counts.other_shards = 1;
    assert_says(lap_folder_print_none(&f), "", "");
    f.counts.other_shards = 0;
    f.others.kind_count = 7;
    static const char *const names[] = {"pnm", "heic", "png", "", "ppm", "pgm", "jpg"};
    for (size_t i = 0; i < COUNT(names); i++)
        strcpy(f.others.kinds[i].extension, names[i]);
    snprintf(want, sizeof want, "%s; to take the others: --ext=pnm,png,ppm,pgm\n", none);
    assert_says(lap_folder_print_none(&f), "", want);
    f.others.kind_count = 2;
    snprintf(want, sizeof want, "%s; to take the others: --ext=pnm\n", none);
    assert_says(lap_folder_print_none(&f), "", want);
    cli.include[0] = "x";
    snprintf(want, sizeof want, "%s, after --include\n", none);
    assert_says(lap_folder_print_none(&f), "", want);
    cli.include[0] = NULL;
    cli.take.extensions = "jpg";
    assert_says(lap_folder_print_none(&f), "", L "no photo found (--ext=jpg)\n");
    cli.files_from = "list";
    assert_says(lap_folder_print_none(&f), "", L "no photo found: the list names none\n");
}

static void which_files_are_taken(void **state)
{
    char text[LAP_TAKEN_TEXT], whole[300];
    (void)state;
    memset(whole, 'x', sizeof whole);
    whole[299] = '\0';
    for (int i = 0; i < 8; i++) {
        cli.take.extensions = i & 1 ? "png,ppm" : NULL;
        cli.include[0] = i & 2 ? "a" : NULL;
        cli.exclude[0] = i & 4 ? "b" : NULL;
        static const char *const wants[] = {"(*.jpg)", "(--ext=png,ppm)", "(*.jpg), after --include",
            "(--ext=png,ppm), after --include", "(*.jpg), after --exclude",
            "(--ext=png,ppm), after --exclude", "(*.jpg), after --include and --exclude",
            "(--ext=png,ppm), after --include and --exclude"};
        assert_ptr_equal(lap_folder_taken(&cli, "*.jpg", text), text);
        assert_string_equal(text, wants[i]);
    }
    cli.take.extensions = whole;
    lap_folder_taken(&cli, "", text);
    assert_int_equal(strlen(text), strlen("(--ext=") + 200 + strlen("), after --include and --exclude"));
    assert_string_equal(text + 7 + 200, "), after --include and --exclude");
}

static void processors_and_times(void **state)
{
    (void)state;
    f.work = (lap_batch_work){.how = "two devices",
        .jobs = 12,
        .device_count = 2,
        .device = {{.device = 3, .done = 40}, {.device = 5, .done = 2, .is_lost = true}, {.device = 9}},
        .busy = {1, 2, 4, 8, 16, 32, 64, 5}};
    assert_says(lap_folder_print_work(&f), "",
        "  by        two devices\n  at once   up to 12\n  device 3  40 photos\n  device 5  2 photos, then "
        "lost\n"
        "  ms        read 1.0, decode 2.0, upload 4.0, filter 8.0, download 16.0, encode 32.0, write 64.0, "
        "added up 127.0\n");
    f.work = (lap_batch_work){.how = "the CPU", .jobs = 1};
    assert_says(lap_folder_print_work(&f), "",
        "  by        the CPU\n  at once   up to 1\n  ms        added up 0.0\n");
}

/* ---- for a script ---------------------------------------------------------------------------------- */

static void objects_of_a_folder(void **state)
{
    json_t *object;
    (void)state;
    f.counts.pixels = 9; /* behind the kinds */
    assert_object(object = lap_folder_json_kinds(&f), "{}");
    json_decref(object);
    f.counts.kinds[LAP_OK] = 3, f.counts.kinds[LAP_E_EXISTS] = 2, f.counts.kinds[LAP_CODES - 1] = 1;
    assert_object(object = lap_folder_json_kinds(&f), "{'up_to_date': 3, 'exists': 2, 'unknown': 1}");
    json_decref(object);
    assert_object(object = lap_folder_json_others(&f),
        "{'files': 0, 'kinds': {}, 'apple_doubles': 0, 'output_folders': 0, 'outputs': 0, "
        "'photos_in_outdir': 0, 'left_in': [], 'unused_patterns': []}");
    json_decref(object);
    cli.include[0] = "x\xFF", cli.include[1] = "y", cli.exclude[0] = "z";
    f.others = (lap_batch_others){.files = 10,
        .apple_doubles = 11,
        .outputs = 12,
        .output_folders = 13,
        .out_photos = 14,
        .left_count = 2,
        .left = {{"a", "a/1", 2, 3}, {"b\xFF", "", 4, 5}},
        .include_used = 2,
        .kind_count = 2,
        .kinds = {{"gif", 6}, {"", 7}, {"no", 8}}};
    static const char others[] =
        "{'files': 10, 'kinds': {'gif': 6, '': 7}, 'apple_doubles': 11, 'output_folders': 13, 'outputs': 12, "
        "'photos_in_outdir': 14, 'left_in': [{'path': 'a', 'outputs': 2, 'photos': 3}, {'path': "
        "'b\xEF\xBF\xBD', 'path_raw': 'b%FF', 'outputs': 4, 'photos': 5}], 'unused_patterns': [{'option': "
        "'--include', 'pattern': 'x\xEF\xBF\xBD'}, {'option': '--exclude', 'pattern': 'z'}]}";
    char left[2000];
    assert_object(object = lap_folder_json_others(&f), others);
    json_decref(object);
    f.others.made = 15;
    snprintf(left, sizeof left, "{'schema': 'lapedge.not_taken/1', 'not_taken': %s, 'filtered_before': 15}",
        others);
    assert_object(object = lap_folder_json_left(&f), left);
    json_decref(object);
    for (int i = 0; i < 4; i++) { /* each of the three is enough */
        f.others.outputs = i == 0, f.others.out_photos = i == 1, f.others.made = i == 2;
        object = lap_folder_json_left(&f);
        assert_int_equal(object != NULL, i < 3);
        json_decref(object);
    }
    f.counts.ms = 1234.5;
    object = json_object();
    lap_folder_json_end(&f, object);
    assert_object(object, "{'ms': 1234.5, 'error': null}");
    f.err = (lap_error){.code = LAP_E_WRITE, .subject = "out", .message = "is full"};
    lap_folder_json_end(&f, object);
    assert_object(object, "{'ms': 1234.5, 'error': {'kind': 'write', 'message': 'out: is full'}}");
    json_decref(object);
}

/* ---- the exit code --------------------------------------------------------------------------------- */

static void exit_codes(void **state)
{
    static const struct {
        lap_code code;
        lap_batch_counts counts;
        int exit;
    } cases[] = {{LAP_OK, {0}, LAP_EXIT_NOTHING}, {LAP_OK, {.other_shards = 1}, LAP_EXIT_OK},
        {LAP_OK, {.expected = 2, .ok = 2}, LAP_EXIT_OK},
        {LAP_OK, {.expected = 2, .ok = 1, .failed = 1}, LAP_EXIT_FAILED},
        {LAP_OK, {.expected = 2, .failed = 2}, LAP_EXIT_NOTHING},
        {LAP_OK, {.expected = 2, .failed = 3}, LAP_EXIT_NOTHING},
        {LAP_OK, {.expected = 2, .ok = 1, .kinds = {[LAP_E_EXISTS] = 1}}, LAP_EXIT_FAILED},
        {LAP_OK, {.expected = 2, .kinds = {[LAP_OK] = 2}}, LAP_EXIT_OK},
        {LAP_E_CANCELLED, {.expected = 2, .ok = 1}, LAP_EXIT_FAILED},
        {LAP_E_USAGE, {.expected = 2, .ok = 1}, LAP_EXIT_USAGE},
        {LAP_E_BACKEND, {.expected = 2, .ok = 1}, LAP_EXIT_BACKEND},
        {LAP_E_LIMIT, {.expected = 2, .ok = 1}, LAP_EXIT_LIMIT},
        {LAP_E_MEMORY, {.expected = 2}, LAP_EXIT_FAILED},
        {LAP_E_DISK_FULL, {.expected = 2, .kinds = {[LAP_OK] = 1}}, LAP_EXIT_FAILED}};
    static const lap_code without_inputs[] = {
        LAP_E_DISK_FULL, LAP_E_WRITE, LAP_E_EXISTS, LAP_E_MISSING, LAP_E_UNREADABLE};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        f.counts = cases[i].counts;
        if (lap_folder_exit(&f, cases[i].code) != cases[i].exit)
            fail_msg("case %zu: %d", i, lap_folder_exit(&f, cases[i].code));
    }
    for (size_t i = 0; i < COUNT(without_inputs); i++)
        for (int way = 0; way < 5; way++) {
            f.counts = (lap_batch_counts){.expected = 9,
                .ok = way == 1,
                .warned = way == 2,
                .skipped = way > 2,
                .failed = way == 4 ? 8 : 0,
                .kinds = {[LAP_OK] = way > 2}};
            /* What is up to date counts, unless the folder perhaps cannot be written. */
            const bool is_done =
                way == 1 || way == 2 || (way == 3 && without_inputs[i] != LAP_E_WRITE) || way == 4;
            assert_int_equal(
                lap_folder_exit(&f, without_inputs[i]), is_done ? LAP_EXIT_FAILED : LAP_EXIT_NOTHING);
        }
}

/* ---- a run over folders ---------------------------------------------------------------------------- */

#define assert_runs(run, code, out, err) \
    do {                                 \
        said_listen();                   \
        const int ended_ = run(&cli);    \
        said_end();                      \
        assert_text(said_out(), out);    \
        assert_text(said_err(), err);    \
        assert_int_equal(ended_, code);  \
        assert_int_equal(sys.sheets, 0); \
    } while (0)

/* A run that has ended well, and says nothing. */
static void start_folder(void)
{
    start();
    set_operands("photos", "out", NULL);
    sys.counts = (lap_batch_counts){.found = 3, .expected = 3, .ok = 3};
    cli.quiet = true;
}

static void operands_of_folders(void **state)
{
    static const struct {
        const char *from, *words[3], *said; /* NULL: the run begins */
    } cases[] = {{"list", {"a", "b"},
                     L "--files-from takes OUTDIR as its only operand: lapedge --files-from=FILE OUTDIR\n"},
        {"list", {NULL}, L "OUTDIR is missing: lapedge --files-from=FILE OUTDIR\n"},
        {NULL, {"a b"}, L "OUTDIR is missing: lapedge 'a b' OUTDIR\n"},
        {NULL, {"-", "out"}, L "- cannot be used with folders or several files\n"},
        {NULL, {"photos", "out.jpg"},
            L "out.jpg: no such folder, and the name looks like a file's; write out.jpg/ to create it\n"},
        {"list", {"out.zip"},
            L "out.zip: no such folder, and the name looks like a file's; write out.zip/ to create it\n"},
        {NULL, {"photos", "file"},
            L "file, the last of 2 operands, is taken for OUTDIR, but is not a folder; add one: photos file "
              "OUTDIR\n"},
        {NULL, {"a b", "photos", "file.jpg"},
            L
            "file.jpg, the last of 3 operands, is taken for OUTDIR, but is not a folder; add one: 'a b' ... "
            "file.jpg OUTDIR\n"},
        {"list", {"file"}, L "file is taken for OUTDIR, but is not a folder\n"}, {"list", {"out"}, NULL},
        {NULL, {"photos", "out"}, NULL}, {NULL, {"photos", "out.d"}, NULL},
        {NULL, {"photos", "folder.jpg"}, NULL}, {NULL, {"photos", "out.jpg/"}, NULL},
        {NULL, {"photos", "file/out.jpg"}, NULL}, {NULL, {"photos", "dangling.jpg"}, NULL},
        {NULL, {"a", "photos", "photos"}, NULL}};
    (void)state;
    put("file", "x");
    put("file.jpg", "x");
    assert_int_equal(
        mkdir("folder.jpg", 0777) | mkdir("photos", 0777) | symlink("nothing", "dangling.jpg"), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        start_folder();
        set_operands(cases[i].words[0], cases[i].words[1], cases[i].words[2]);
        cli.files_from = cases[i].from;
        assert_runs(lap_run_folder, cases[i].said ? LAP_EXIT_USAGE : LAP_EXIT_OK, "",
            cases[i].said ? cases[i].said : "");
        assert_int_equal(sys.ended, !cases[i].said);
        if (!cases[i].said)
            assert_string_equal(sys.options.out_dir, operands[cli.operand_count - 1]);
    }
}

static void what_a_folder_run_asks_for(void **state)
{
    (void)state;
    for (int on = 0; on < 2; on++) {
        start_folder();
        set_operands("a", "b", "out");
        cli.force = cli.rebuild = cli.dry_run = cli.flat = cli.skip_existing = on;
        cli.settings.no_clobber = on;
        cli.suffix = on ? "-edges" : NULL;
        cli.shard = on ? "1/3" : NULL;
        cli.report = on ? "r.html" : NULL;
        assert_runs(lap_run_folder, LAP_EXIT_OK, "", "");
        const lap_batch_options *got = &sys.options;
        assert_int_equal(got->input_count, 2);
        assert_string_equal(sys.inputs[0], "a");
        assert_string_equal(sys.inputs[1], "b");
        assert_string_equal(got->out_dir, "out");
        assert_int_equal(got->force, on);
        assert_int_equal(got->rebuild, on);
        assert_int_equal(got->dry_run, on);
        assert_int_equal(got->flat, on);
        assert_int_equal(got->skip_existing, on);
        assert_int_equal(got->no_clobber, on);
        assert_ptr_equal(got->suffix, cli.suffix);
        assert_int_equal(got->shard, on);
        assert_int_equal(got->shards, on ? 3 : 0);
        assert_true(sys.finds_made && sys.has_devices);
        assert_null(got->prune);
        assert_int_equal(sys.sheet_written, on);
        assert_int_equal(sys.ended, 1);
        assert_int_equal(
            got->side_count, on ? 2 : 0); /* the report, and the list of -n, which is in a file */
        if (on) {
            assert_string_equal(sys.sides[0], "r.html");
            assert_string_equal(sys.sides[1], "/dev/stdout");
        }
    }
    for (int lost = 0; lost < 2; lost++) {
        start_folder();
        cli.settings.backend = "cuda-global", cli.settings.codec = LAP_CODEC_CUDA, cli.settings.quality = 3;
        sys.has_lost_worker = lost;
        strcpy(sys.work.how, "device 0");
        cli.quiet = false, cli.verbose = true;
        assert_runs(lap_run_folder, LAP_EXIT_OK, "",
            lost ? "3 done\n  by        the CPU alone: the process with the devices has died\n  at once   up "
                   "to "
                   "0\n  ms        added up 0.0\n"
                 : "3 done\n  by        device 0\n  at once   up to 0\n  ms        added up 0.0\n");
        assert_string_equal(sys.settings.backend, lost ? "auto" : "cuda-global");
        assert_int_equal(sys.settings.codec, lost ? LAP_CODEC_CPU : LAP_CODEC_CUDA);
        assert_int_equal(sys.settings.quality, 3);
    }
    static const char *const shards[] = {"3", "1234567890123456789012345678901234567890123"};
    for (int i = 0; i < 2; i++) {
        uint32_t shard, count;
        lap_error err;
        char want[800];
        start_folder();
        cli.shard = shards[i];
        assert_int_equal(lap_shard_parse(shards[i], &shard, &count, &err), LAP_E_USAGE);
        snprintf(want, sizeof want, L "--shard=%.40s: %s\n", shards[i], err.message);
        assert_runs(lap_run_folder, LAP_EXIT_USAGE, "", want);
        assert_int_equal(sys.ended, 0);
    }
}

static void photos_of_a_folder(void **state)
{
    enum { QUIET = 1, VERBOSE = 2, DRY = 4, JSON = 8, DRAWS = 16 };
    static const struct {
        event what;
        int flags;
        const char *out, *err;
    } cases[] = {{{"a", LAP_DONE, .code = LAP_OK}, 0, "", ""},
        {{"a", LAP_DONE, .code = LAP_OK}, DRAWS, "", "[==]"},
        {{"a", LAP_DONE, .code = LAP_OK}, VERBOSE, "", "a -> out/a  64 x 48, 12.3 ms\n"},
        {{"a\033", LAP_DONE, .code = LAP_OK}, VERBOSE | DRAWS, "",
            "[=]a\\x1b -> out/a\\x1b  64 x 48, 12.3 ms\n=]"},
        {{"a", LAP_DONE, .code = LAP_OK}, VERBOSE | QUIET, "", ""},
        {{"a", LAP_DONE, .code = LAP_OK}, DRY, "a -> out/a\n", ""},
        {{"a", LAP_DONE, .code = LAP_OK}, DRY | QUIET, "", ""},
        {{"a", LAP_DONE, .code = LAP_OK}, DRY | JSON, "", "a -> out/a\n"},
        {{"a", LAP_DONE, .code = LAP_OK}, VERBOSE | JSON, "", "a -> out/a  64 x 48, 12.3 ms\n"},
        {{"a", .status = LAP_WARNED, .warnings = 1}, 0, "", L "a: warning: odd\n"},
        {{"a", .status = LAP_WARNED, .warnings = 2}, DRAWS, "",
            "[=]" L "a: warning: odd (the first of 2)\n=]"},
        {{"a", .status = LAP_WARNED, .warnings = 1}, QUIET | DRAWS, "", "[==]"},
        {{"a", .status = LAP_WARNED, .warnings = 1}, VERBOSE, "",
            L "a: warning: odd\na -> out/a  64 x 48, 12.3 ms\n"},
        {{"a", LAP_SKIPPED, .code = LAP_OK}, VERBOSE | DRAWS, "", "[==]"},
        {{"a", LAP_SKIPPED, .code = LAP_E_EXISTS}, DRAWS, "", "[=]" L "a: why\n=]"},
        {{"a", LAP_SKIPPED, .code = LAP_E_EXISTS}, QUIET, "", L "a: why\n"},
        {{"a", LAP_FAILED, .code = LAP_E_LIMIT}, QUIET, "", L "a: limit: why\n"},
        {{"a", LAP_FAILED, .code = LAP_E_LIMIT}, VERBOSE | DRY, "", L "a: limit: why\n"},
        {{"a", LAP_FAILED, .code = LAP_E_LIMIT}, DRAWS, "", "[=]" L "a: limit: why\n=]"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char want[400];
        const int flags = cases[i].flags;
        start_folder();
        sys.events[0] = cases[i].what;
        sys.draws = flags & DRAWS;
        cli.quiet = flags & QUIET, cli.verbose = flags & VERBOSE, cli.dry_run = flags & DRY;
        cli.json = flags & JSON;
        cli.report = "r.html";
        const bool works = flags & VERBOSE && !(flags & DRY);
        snprintf(want, sizeof want, "%s%s%s", cases[i].err,
            flags & QUIET ? ""
            : flags & DRY ? "3 to be done\n"
                          : "3 done\n",
            works ? "  by        \n  at once   up to 0\n  ms        added up 0.0\n" : "");
        assert_runs(lap_run_folder, LAP_EXIT_OK, cases[i].out, want);
        assert_int_equal(sys.shown, 2);
        assert_int_equal(sys.sheet_files, 1);
    }
    start_folder();
    sys.events[0] = (event){"a", LAP_DONE, .code = LAP_OK};
    assert_runs(lap_run_folder, LAP_EXIT_OK, "", "");
    assert_int_equal(sys.sheet_files, 0); /* there is no report */
    /* Of many with the same trouble ten are shown. */
    for (int warned = 0; warned < 2; warned++) {
        char want[2000] = "[=";
        start_folder();
        sys.draws = true;
        cli.quiet = false;
        for (int i = 0; i < 12; i++) {
            sys.events[i] = warned ? (event){"a", .status = LAP_WARNED, .warnings = 1}
                                   : (event){"a", LAP_FAILED, .code = LAP_E_LIMIT};
            strcat(want, i >= 10 ? "=" : warned ? "]" L "a: warning: odd\n=" : "]" L "a: limit: why\n=");
        }
        strcat(want, "]3 done\n" L);
        strcat(want, warned ? "and 2 more warnings: -v prints all, --log=FILE keeps them\n"
                            : "and 2 more limit: -v prints all, --log=FILE keeps them\n");
        assert_runs(lap_run_folder, LAP_EXIT_OK, "", want);
    }
}

static void summaries_of_folders(void **state)
{
    static const struct {
        lap_batch_counts counts;
        const char *said;
        int exit;
        bool dry, skips, no_clobber;
        uint64_t removed;
    } cases[] = {{{.found = 5, .expected = 5, .ok = 3, .warned = 2, .ms = 2000, .pixels = 4000000},
                     .said = "5 done (2 with warnings); 2.0 s, 2 Mpixel/s\n"},
        {{.found = 5, .expected = 5, .ok = 5, .ms = 2000}, .said = "5 done; 2.0 s\n"},
        {{.found = 5, .expected = 5, .ok = 5, .pixels = 4000000}, .said = "5 done\n"},
        {{.found = 5, .expected = 5, .ok = 5, .ms = 2000, .pixels = 1}, .said = "5 to be done\n",
            .dry = true},
        {{.found = 5, .expected = 5, .ok = 3, .skipped = 2, .kinds = {[LAP_OK] = 2}},
            .said = "3 done, 2 up to date\n"},
        {{.found = 5, .expected = 5, .ok = 3, .skipped = 2, .kinds = {[LAP_OK] = 2}},
            .said = "3 done, 2 there already\n", .skips = true},
        {{.found = 5, .expected = 5, .ok = 3, .skipped = 2, .kinds = {[LAP_E_EXISTS] = 2}},
            .said = "3 done, 2 left alone (not made by lapedge, changed since, made from other photos, or by "
                    "another "
                    "run)\n",
            .exit = LAP_EXIT_FAILED},
        {{.found = 5, .expected = 5, .ok = 3, .skipped = 2, .kinds = {[LAP_E_EXISTS] = 2}},
            .said = "3 done, 2 left alone (--no-clobber)\n", .exit = LAP_EXIT_FAILED, .no_clobber = true},
        {{.found = 5, .expected = 5, .ok = 4, .failed = 1, .ms = 100, .kinds = {[LAP_E_LIMIT] = 1}},
            .said = "4 done, 1 failed (1 limit); 0.1 s\n", .exit = LAP_EXIT_FAILED},
        {{.found = 5, .expected = 5, .ok = 5}, .said = "5 done, 2 removed (photo gone)\n", .removed = 2},
        {{.found = 5, .expected = 5, .ok = 5}, .said = "5 to be done, 2 to be removed (photo gone)\n",
            .dry = true, .removed = 2},
        {{.found = 5, .expected = 5, .ok = 5, .links = 2},
            .said = "5 done\n" L "2 symbolic links not followed; --follow does\n"},
        {{0}, .said = "0 done\n" L "no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content)\n",
            .exit = LAP_EXIT_NOTHING}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start_folder();
        cli.quiet = false;
        sys.counts = cases[i].counts;
        cli.dry_run = cases[i].dry, cli.skip_existing = cases[i].skips;
        cli.settings.no_clobber = cases[i].no_clobber;
        sys.prune.removed = cases[i].removed;
        cli.prune = cases[i].removed;
        assert_runs(lap_run_folder, cases[i].exit, "", cases[i].said);
    }
    for (int filter = 0; filter < 2; filter++) { /* what else was found comes before */
        start_folder();
        cli.quiet = false;
        sys.others = (lap_batch_others){
            .files = 1, .kind_count = 1, .kinds = {{"gif", 1}}, .made = 1, .made_first = "m"};
        cli.settings.filter = filter;
        assert_runs(lap_run_folder, LAP_EXIT_OK, "",
            filter ? L "1 other file not taken: 1 .gif\n" L
                       "warning: 1 input was filtered by lapedge before (m): its output is edges of edges\n"
                       "3 done\n"
                   : L "1 other file not taken: 1 .gif\n3 done\n");
    }
}

static void photos_that_were_recoded(void **state)
{
    char name[300];
    (void)state;
    for (int i = 0; i < 4; i++) {
        char want[600];
        memset(name, 'n', sizeof name - 1);
        name[sizeof name - 1] = '\0';
        start_folder();
        cli.quiet = false;
        sys.counts.recoded = i < 2 ? 1 : 2;
        sys.events[0] = (event){i == 1 ? "a" : "x", LAP_DONE, .code = LAP_OK, .recoded = i == 1};
        sys.events[1] = (event){i == 1   ? "b"
                                : i == 0 ? name + 299 - 40
                                         : name + 299 - 60,
            i == 3 ? LAP_WARNED : LAP_DONE, .code = LAP_OK, .recoded = i != 1, .warnings = i == 3};
        sys.events[2] = (event){"c", LAP_DONE, .code = LAP_OK, .recoded = 1};
        snprintf(want, sizeof want,
            "%s%s%s" L
            "note: %s re-encoded, because a lossless transformation is impossible (%s%s); --trim cuts "
            "to whole MCUs, --perfect refuses, -v says why\n3 done\n",
            i == 3 ? L : "", i == 3 ? name + 299 - 60 : "", i == 3 ? ": warning: odd\n" : "",
            i < 2 ? "1 JPEG was" : "2 JPEGs were", i == 1 ? "a" : sys.events[1].input, i < 2 ? "" : ", ...");
        assert_runs(lap_run_folder, LAP_EXIT_OK, "", want);
    }
    start_folder(); /* what failed or was left was not */
    cli.quiet = false;
    sys.counts.recoded = 1;
    sys.events[0] = (event){"a", LAP_SKIPPED, .code = LAP_OK, .recoded = 1};
    assert_runs(lap_run_folder, LAP_EXIT_OK, "",
        L "note: 1 JPEG was re-encoded, because a lossless transformation is impossible (); --trim cuts to "
          "whole "
          "MCUs, --perfect refuses, -v says why\n3 done\n");
}

/* Of many failures the first three are named again at the end. */
static void first_to_fail(void **state)
{
    static const char *const names[] = {"a\033", "b", "c", "d", "e"};
    static const char *const lines[] = {L "a\\x1b: limit: why\n", L "b: limit: why\n", L "c: limit: why\n",
        L "d: limit: why\n", L "e: limit: why\n"};
    (void)state;
    for (int failed = 1; failed <= 5; failed++)
        for (int with_names = 0; with_names < 2; with_names++) {
            char want[400] = "";
            start_folder();
            cli.quiet = false;
            sys.counts.failed = (unsigned)failed, sys.counts.expected = 9,
            sys.counts.ok = 9 - (unsigned)failed;
            for (int i = 0; i < failed && with_names; i++) {
                sys.events[i] = (event){names[i], LAP_FAILED, .code = LAP_E_LIMIT};
                strcat(want, lines[i]);
            }
            snprintf(want + strlen(want), 60, "%d done, %d failed\n", 9 - failed, failed);
            if (failed > 3 && with_names)
                strcat(want, "first to fail: a\\x1b, b, c\n");
            assert_runs(lap_run_folder, LAP_EXIT_FAILED, "", want);
        }
    start_folder();
    cli.quiet = false;
    sys.counts.failed = 4, sys.counts.expected = 9; /* the others had vanished */
    sys.counts.ok = 5;
    sys.events[0] = (event){"a", LAP_FAILED, .code = LAP_E_LIMIT};
    assert_runs(lap_run_folder, LAP_EXIT_FAILED, "", L "a: limit: why\n5 done, 4 failed\nfirst to fail: a\n");
}

/* How a run that ended early can be continued. */
static void what_is_to_be_done_again(void **state)
{
    static const struct {
        lap_code code;
        const char *error, *rest;
        int exit;
    } cases[] = {{LAP_OK, "", "the same command continues\n", LAP_EXIT_OK},
        {LAP_E_CANCELLED, L "why\n", "the same command continues\n", LAP_EXIT_FAILED},
        {LAP_E_DISK_FULL, L "disk full: why\n", "once there is room, the same command continues\n",
            LAP_EXIT_FAILED},
        {LAP_E_WRITE, L "why\n", "once the cause is removed, the same command continues\n", LAP_EXIT_FAILED},
        {LAP_E_LIMIT, L "limit: why\n", "once the cause is removed, the same command continues\n",
            LAP_EXIT_LIMIT}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int way = 0; way < 4; way++) {
            char want[300];
            start_folder();
            cli.quiet = false;
            sys.counts.expected = way == 3 ? 3 : 9;
            cli.rebuild = way == 1, cli.fail_fast = way == 2;
            sys.err = (lap_error){.code = cases[i].code, .message = "why"};
            char error[100];
            snprintf(want, sizeof want, "%s3 done%s\n%s%s",
                cases[i].code == LAP_OK ? ""
                                        : (snprintf(error, sizeof error, L "%s\n",
                                               lap_cli_error_text(&sys.err, want, sizeof want)),
                                              error),
                way == 3 ? "" : ", 6 left", way == 0 ? L : "", way == 0 ? cases[i].rest : "");
            assert_runs(lap_run_folder, cases[i].exit, "", want);
        }
}

static void removed_outputs(void **state)
{
    enum { QUIET = 1, VERBOSE = 2, DRY = 4, JSON = 8 };
    static const struct {
        int flags;
        const char *out, *err;
    } cases[] = {{0, "", L "b: limit: why\n3 done\n"}, {QUIET, "", L "b: limit: why\n"},
        {VERBOSE, "",
            "removed a\\x1b\n" L
            "b: limit: why\nremoved c\n3 done\n  by        \n  at once   up to 0\n  ms        "
            "added up 0.0\n"},
        {QUIET | VERBOSE, "",
            L "b: limit: why\n  by        \n  at once   up to 0\n  ms        added up 0.0\n"},
        {DRY, "remove a\\x1b\nremove c\n", L "b: limit: why\n3 to be done\n"},
        {DRY | JSON, "", "remove a\\x1b\n" L "b: limit: why\nremove c\n3 to be done\n"},
        {DRY | QUIET, "", L "b: limit: why\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start_folder();
        cli.prune = true;
        cli.json = true;
        sys.removals[0] = (removal){"a\033", LAP_OK};
        sys.removals[1] = (removal){"b", LAP_E_LIMIT};
        sys.removals[2] = (removal){"c", LAP_OK};
        const int flags = cases[i].flags;
        cli.quiet = flags & QUIET, cli.verbose = flags & VERBOSE, cli.dry_run = flags & DRY;
        cli.json = flags & JSON;
        cli.json_file = "j";
        assert_runs(lap_run_folder, LAP_EXIT_OK, cases[i].out, cases[i].err);
        json_t *pruned = json_object_get(sys.json, "pruned");
        assert_object(json_object_get(pruned, "outputs"), "['a\\u001b', 'c']");
    }
    start_folder(); /* the progress line is hidden before each */
    cli.prune = sys.draws = true;
    sys.removals[0] = (removal){"a", LAP_OK};
    assert_runs(lap_run_folder, LAP_EXIT_OK, "", "[=]]");
}

#define LEFT L "--prune: "

static void outputs_that_are_left(void **state)
{
    static const struct {
        lap_batch_prune prune;
        const char *said, *said_quietly;
        int exit;
    } cases[] = {{{.removed = 0}, "", "", LAP_EXIT_OK}, {{.failed = 1}, "", "", LAP_EXIT_FAILED},
        {{.kept = 1},
            LEFT "1 output left: a folder in the photo's path is empty; its disk may not be mounted\n", "",
            LAP_EXIT_OK},
        {{.kept = 2},
            LEFT "2 outputs left: a folder in the photo's path is empty; its disk may not be mounted\n", "",
            LAP_EXIT_OK},
        {{.hidden = 1, .hidden_by = "a b"},
            LEFT
            "1 output left: its photo may be behind a symbolic link that leads nowhere or is not followed, "
            "'a b'\n",
            NULL, LAP_EXIT_FAILED},
        {{.hidden = 2, .hidden_by = "l"},
            LEFT "2 outputs left: their photos may be behind a symbolic link that leads nowhere or is not "
                 "followed, l\n",
            NULL, LAP_EXIT_FAILED},
        {{.changed = 1}, LEFT "1 output left: changed or copied after lapedge wrote it\n", "", LAP_EXIT_OK},
        {{.changed = 2}, LEFT "2 outputs left: changed or copied after lapedge wrote them\n", "",
            LAP_EXIT_OK},
        {{.elsewhere = 1},
            LEFT
            "1 output left: its photo was in a folder that is not part of this run, and is not there any "
            "more\n",
            "", LAP_EXIT_OK},
        {{.elsewhere = 2},
            LEFT
            "2 outputs left: their photos were in folders that are not part of this run, and are not there "
            "any more\n",
            "", LAP_EXIT_OK},
        {{.others = 1, .others_in = "o"},
            LEFT "1 output left: recorded in o; a run with that OUTDIR and its photos can remove it\n", "",
            LAP_EXIT_OK},
        {{.others = 2, .others_in = "o p"},
            LEFT "2 outputs left: recorded in 'o p'; a run with that OUTDIR and its photos can remove them\n",
            "", LAP_EXIT_OK},
        {{.refused = {.code = LAP_E_LIMIT, .subject = "s", .message = "why"}},
            LEFT "nothing was removed: s: limit: why\n", NULL, LAP_EXIT_FAILED}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int quiet = 0; quiet < 2; quiet++)
            for (int other = 0; other < 2; other++) { /* the exit code of the run itself goes first */
                char want[400];
                start_folder();
                cli.prune = true;
                cli.quiet = quiet;
                sys.prune = cases[i].prune;
                sys.counts.expected = sys.counts.failed = other ? 3 : 0;
                sys.counts.ok = other ? 0 : 3;
                sys.counts.other_shards = !other;
                snprintf(want, sizeof want, "%s%s",
                    quiet   ? ""
                    : other ? "0 done, 3 failed\n"
                            : "3 done\n",
                    quiet && cases[i].said_quietly ? cases[i].said_quietly : cases[i].said);
                assert_runs(lap_run_folder, other ? LAP_EXIT_NOTHING : cases[i].exit, "", want);
            }
    start_folder(); /* what refused the run itself is not told twice */
    cli.prune = true;
    cli.json_file = "j";
    sys.err = (lap_error){.code = LAP_E_BACKEND, .message = "why"};
    sys.prune.refused.code = LAP_E_LIMIT;
    assert_runs(lap_run_folder, LAP_EXIT_BACKEND, "", L "why\n");
    assert_object(json_object_get(json_object_get(sys.json, "pruned"), "refused"),
        "{'kind': 'backend', 'message': 'why'}");
}

#define NO_FILES                                                                                            \
    "{'files': 0, 'kinds': {}, 'apple_doubles': 0, 'output_folders': 0, 'outputs': 0, 'photos_in_outdir': " \
    "0, "                                                                                                   \
    "'left_in': [], 'unused_patterns': []}"

static void object_of_a_folder_run(void **state)
{
    static const char counts[] =
        "'schema': 'lapedge.run/1', 'found': 20, 'expected': 19, 'other_shards': 18, 'links': 17, 'ok': 16, "
        "'warned': 15, 'skipped': 14, 'failed': 1, 'recoded': 12, 'pixels': 11, 'bytes_in': 10, 'bytes_out': "
        "9, "
        "'kinds': {'limit': 1}, 'not_taken': " NO_FILES ", 'filtered_before': 8, 'ms': 7.5, 'work': {'how': "
        "'by hand', 'devices': [{'device': 3, 'done': 6, 'lost': true}]";
    char want[2000];
    (void)state;
    for (int way = 0; way < 3; way++) {
        start_folder();
        sys.counts = (lap_batch_counts){20, 19, 18, 17, 16, 15, 14, 1, .recoded = 12, .pixels = 11,
            .bytes_in = 10, .bytes_out = 9, .ms = 7.5, .kinds = {[LAP_E_LIMIT] = 1}};
        sys.others.made = 8;
        sys.work = (lap_batch_work){
            .how = "by hand", .device_count = 1, .device = {{.device = 3, .done = 6, .is_lost = true}}};
        sys.prune = (lap_batch_prune){.removed = 1,
            .failed = 2,
            .kept = 3,
            .changed = 5,
            .elsewhere = 6,
            .others = 7,
            .refused = {.code = LAP_E_LIMIT, .message = "why"}};
        cli.prune = way == 1, cli.dry_run = way == 2;
        cli.json_file = "j";
        cli.report = "r.html";
        cli.started = 86399;
        said_listen();
        assert_int_equal(lap_run_folder(&cli), LAP_EXIT_FAILED);
        said_end();
        json_t *got = json_deep_copy(sys.json);
        json_t *jobs = json_object_get(got, "work");
        snprintf(want, sizeof want,
            "{%s}, 'pruned': %s, 'dry_run': %s, 'error': null, 'started': '1970-01-01T23:59:59Z', "
            "'exit_code': 1}",
            counts,
            way != 1 ? "null"
                     : "{'files': 1, 'failed': 2, 'kept': 3, 'hidden': 0, 'changed': 5, 'elsewhere': 6, "
                       "'others': 7, "
                       "'outputs': [], 'refused': {'kind': 'limit', 'message': 'limit: why'}}",
            way == 2 ? "true" : "false");
        json_object_del(jobs, "ms"); /* lap_json_work is tested where it is */
        json_object_del(jobs, "jobs");
        json_object_del(jobs, "at_once");
        json_object_del(jobs, "busy");
        assert_object(got, want);
        json_decref(got);
        (void)json_object_del(sys.json, "started"); /* the report has a date */
        (void)json_object_del(sys.json, "exit_code");
        assert_true(json_equal(sys.json, sys.sheet_json));
        assert_int_equal(sys.printed, 1);
    }
    start_folder();
    assert_runs(lap_run_folder, LAP_EXIT_OK, "", "");
    assert_int_equal(sys.printed, 0);
}

/* Which exit code counts, and what is written, when the run or what follows fails. */
static void ends_of_folder_runs(void **state)
{
    static const struct {
        lap_code code;
        uint64_t found;
        int sheet, json, exit;
        bool is_told, is_reported;
        const char *said;
    } cases[] = {{LAP_OK, 3, 0, 0, LAP_EXIT_OK, true, true, ""}, {LAP_OK, 3, 7, 0, 7, true, true, ""},
        {LAP_OK, 3, 0, 1, LAP_EXIT_FAILED, true, true, ""}, {LAP_OK, 3, 7, 1, 7, true, true, ""},
        {LAP_OK, 0, 0, 0, LAP_EXIT_OK, true, true, ""},
        {LAP_E_LIMIT, 3, 7, 1, LAP_EXIT_LIMIT, true, true, L "limit: why\n"},
        {LAP_E_LIMIT, 0, 7, 1, LAP_EXIT_LIMIT, false, false, L "limit: why\n"},
        {LAP_E_MEMORY, 0, 0, 0, LAP_EXIT_FAILED, false, false, L "why\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int quiet = 0; quiet < 2; quiet++) {
            char want[100];
            start_folder();
            cli.quiet = quiet;
            cli.report = "r.html";
            cli.json = true;
            sys.err = (lap_error){.code = cases[i].code, .message = "why"};
            sys.counts.found = cases[i].found;
            sys.sheet_code = cases[i].sheet, sys.json_code = cases[i].json;
            snprintf(want, sizeof want, "%s%s", cases[i].said, cases[i].is_told && !quiet ? "3 done\n" : "");
            assert_runs(lap_run_folder, cases[i].exit, "", want);
            assert_int_equal(sys.sheet_written, cases[i].is_reported);
            assert_int_equal(sys.printed, 1);
            assert_int_equal(sys.ended, 1);
            const bool json_fails = cases[i].json && !cases[i].sheet;
            assert_int_equal(json_integer_value(json_object_get(sys.json, "exit_code")),
                json_fails ? LAP_EXIT_OK : cases[i].exit);
        }
    start_folder(); /* not all processors begin */
    sys.begins_not = true;
    cli.json = true;
    sys.err = (lap_error){.code = LAP_E_BACKEND, .message = "why"};
    assert_runs(lap_run_folder, LAP_EXIT_BACKEND, "", L "why\n");
    assert_int_equal(sys.ended + sys.printed + sys.shown, 0);
    for (int way = 0; way < 5; way++) { /* the reader of a timeline has left */
        start_folder();
        const bool has_left = way == 0;
        sys.err = (lap_error){.code = way == 1 ? LAP_E_DISK_FULL : LAP_E_WRITE, .message = "why"};
        cli.trace = way == 2 ? NULL : way == 3 ? "t" : "-";
        sys.reader_left = way != 4;
        char want[100];
        snprintf(want, sizeof want, L "%s\n", lap_cli_error_text(&sys.err, (char[100]){0}, 100));
        assert_runs(lap_run_folder, has_left ? LAP_EXIT_PIPE : LAP_EXIT_FAILED, "", has_left ? "" : want);
    }
    /* A person asked for details, of a run that ended. */
    for (int way = 0; way < 4; way++) {
        start_folder();
        cli.verbose = way != 1;
        cli.dry_run = way == 2;
        sys.err.code = way == 3 ? LAP_E_LIMIT : LAP_OK;
        assert_runs(lap_run_folder, way == 3 ? LAP_EXIT_LIMIT : LAP_EXIT_OK, "",
            way == 0   ? "  by        \n  at once   up to 0\n  ms        added up 0.0\n"
            : way == 3 ? L "limit: \n"
                       : "");
    }
}

/* The kinds of the lines of a log, one letter for each: the first line, photos, what was not taken. */
static const char *log_of(const char *name)
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

static void logs_of_folders(void **state)
{
    static const struct {
        lap_code code;
        int found, photos;
        uint64_t made;
        const char *lines;
    } cases[] = {{LAP_OK, 3, 1, 0, "lf"}, {LAP_OK, 3, 2, 1, "lffn"}, {LAP_OK, 0, 0, 0, "l"},
        {LAP_OK, 0, 0, 1, "ln"}, {LAP_E_LIMIT, 3, 1, 1, "lfn"}, {LAP_E_LIMIT, 0, 1, 1, "lf"},
        {LAP_E_CLASH, 3, 1, 1, "lf"}};
    (void)state;
    assert_int_equal(mkdir("photos", 0777), 0);
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int folder = 0; folder < 2; folder++)
            for (int has_log = 0; has_log < 2; has_log++) {
                start_folder();
                cli.log = has_log ? "log" : NULL;
                sys.err.code = cases[i].code;
                sys.counts.found = (unsigned)cases[i].found;
                sys.others.made = cases[i].made;
                for (int k = 0; k < cases[i].photos; k++)
                    sys.events[k] = (event){"a", LAP_DONE, .code = LAP_OK};
                cli.forms = folder ? LAP_CLI_FOLDER : LAP_CLI_IN_PLACE;
                if (!folder) {
                    put("a", "x");
                    set_operands("a", "photos/../a", NULL);
                }
                said_listen();
                (void)(folder ? lap_run_folder : lap_run_in_place)(&cli);
                said_end();
                const bool is_cut = !folder && cases[i].code == LAP_E_LIMIT; /* in place, it was refused */
                assert_string_equal(log_of("log"), !has_log ? "none" : is_cut ? "lf" : cases[i].lines);
                (void)unlink("log");
            }
    for (int folder = 0; folder < 2; folder++) {
        start_folder();
        if (!folder)
            set_operands("a", "a", NULL);
        cli.log = "missing/log";
        assert_runs((folder ? lap_run_folder : lap_run_in_place), LAP_EXIT_NOTHING, "",
            L "--log: missing/log: cannot be opened: No such file or directory\n");
        assert_int_equal(sys.ended, 0);
    }
    start_folder(); /* its folder is made by the run */
    cli.log = "out/log";
    assert_runs(lap_run_folder, LAP_EXIT_FAILED, "",
        L "out/log: the log could not be written: No such file or directory\n");
    assert_int_equal(sys.ended, 1);
}

/* Outputs or photos are not replaced by an object, where the library found out that they would be. */
static void clashes_keep_off(void **state)
{
    (void)state;
    for (int folder = 0; folder < 2; folder++)
        for (int clash = 0; clash < 2; clash++) {
            start_folder();
            put("a", "x");
            set_operands(folder ? "photos" : "a", folder ? "out" : "a", NULL);
            sys.err = (lap_error){.code = clash ? LAP_E_CLASH : LAP_E_USAGE, .message = "why"};
            lap_json_direct(false, "j", true);
            assert_runs((folder ? lap_run_folder : lap_run_in_place), LAP_EXIT_USAGE, "", L "why\n");
            assert_int_equal(lap_json_print_made("x"), 0);
            assert_int_equal(lap_json_finish(), 0);
            assert_int_equal(access("j", F_OK) == 0, !clash);
            (void)unlink("j");
            lap_json_direct(false, NULL, true);
        }
}

/* ---- in place -------------------------------------------------------------------------------------- */

static void start_in_place(int photos)
{
    start();
    put("a", "x");
    put("b", "x");
    set_operands("a", photos > 1 ? "b" : NULL, NULL);
    cli.in_place = true;
    cli.forms = LAP_CLI_IN_PLACE;
    sys.counts =
        (lap_batch_counts){.found = (unsigned)photos, .expected = (unsigned)photos, .ok = (unsigned)photos};
}

static void operands_in_place(void **state)
{
    static const struct {
        const char *from, *words[3], *stats, *said;
    } cases[] = {
        {"list", {"a"}, NULL, L "--in-place takes no OUTDIR: with --files-from the list names all photos\n"},
        {NULL, {NULL}, NULL, L "--in-place needs a FILE; see lapedge -h\n"},
        {NULL, {"a", "-"}, NULL, L "--in-place: standard input cannot be replaced\n"},
        {NULL, {"a", "photos"}, NULL, L "--in-place: photos is a folder; name the files in it\n"},
        {NULL, {"a", "b"}, "s", L "--stats needs a single image\n"},
        {"list", {NULL}, "s", L "--stats needs a single image\n"},
        {NULL, {"a", "no"}, NULL,
            L "--in-place: no: no such file; nothing is changed unless every FILE exists; for IN OUT leave "
              "--in-place out\n"},
        {NULL, {"no", "b"}, NULL,
            L "--in-place: no: no such file; nothing is changed unless every FILE exists; for IN OUT leave "
              "--in-place out\n"},
        {NULL, {"a", "b", "a/no"}, NULL,
            L "--in-place: a/no: no such file; nothing is changed unless every FILE exists\n"},
        {"list", {NULL}, NULL, NULL}, {NULL, {"a"}, NULL, NULL}, {NULL, {"a"}, "s", NULL},
        {NULL, {"no"}, NULL, NULL}, {NULL, {"a", "b"}, NULL, NULL}, {NULL, {"a", "loop"}, NULL, NULL}};
    (void)state;
    assert_int_equal(mkdir("photos", 0777) | symlink("loop", "loop"), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        start_in_place(1);
        set_operands(cases[i].words[0], cases[i].words[1], cases[i].words[2]);
        cli.files_from = cases[i].from;
        cli.stats = cases[i].stats;
        cli.quiet = true;
        assert_runs(lap_run_in_place, cases[i].said ? LAP_EXIT_USAGE : LAP_EXIT_OK, "",
            cases[i].said ? cases[i].said : "");
        assert_int_equal(sys.ended, !cases[i].said);
        assert_int_equal(sys.one_device, !cases[i].said);
        if (!cases[i].said)
            assert_int_equal(sys.options.input_count, cli.operand_count);
    }
}

static void what_a_run_in_place_asks_for(void **state)
{
    (void)state;
    for (int on = 0; on < 2; on++)
        for (int photos = 1; photos < 3; photos++) {
            start_in_place(photos);
            sys.draws = on;
            cli.filter_again = cli.dry_run = on;
            cli.backup = on ? ".orig" : NULL;
            cli.stats = on && photos == 1 ? "s" : NULL;
            cli.report = on ? "r.html" : NULL;
            said_listen();
            assert_int_equal(lap_run_in_place(&cli), LAP_EXIT_OK);
            said_end();
            assert_int_equal(sys.order.again, on);
            assert_ptr_equal(sys.order.backup, cli.backup);
            assert_false(sys.has_devices);
            assert_true(sys.finds_made);
            assert_int_equal(sys.options.dry_run, on);
            assert_int_equal(sys.options.side_count, on ? (photos == 1 ? 3 : 2) : 0);
            for (size_t i = 0; i < sys.options.side_count; i++)
                assert_string_equal(sys.sides[i], i == sys.options.side_count - 1 ? "/dev/stdout"
                                                  : photos == 1 && i == 0         ? "s"
                                                                                  : "r.html");
            assert_int_equal(sys.settings.progress == lap_progress_rows, on && photos == 1);
            assert_int_equal(sys.settings.progress_user != NULL, photos == 1);
            assert_int_equal(sys.settings.stats != NULL, on && photos == 1);
            assert_int_equal(sys.shown, photos == 1 ? 0 : 1);
        }
    start_in_place(1); /* its name is in the progress line */
    sys.draws = true;
    cli.quiet = true;
    assert_runs(lap_run_in_place, LAP_EXIT_OK, "", "[]");
    assert_string_equal(((const lap_progress *)sys.settings.progress_user)->name ? "named" : "", "named");
    start_in_place(2);
    sys.draws = true;
    cli.verbose = true, cli.quiet = true;
    assert_runs(lap_run_in_place, LAP_EXIT_OK, "", L "up to 3 photos at once, 3 threads\n[=]");
}

static void photos_in_place(void **state)
{
    enum { QUIET = 1, VERBOSE = 2, DRY = 4, JSON = 8, DRAWS = 16, ONE = 32, BACKUP = 64, THERE = 128 };
    static const struct {
        event what;
        int flags;
        const char *out, *err;
        int exit;
    } cases[] = {{{"a", .status = LAP_DONE}, ONE, "", .err = ""},
        {{"a", .status = LAP_DONE}, DRAWS, "", .err = "[=]=]"},
        {{"a", .status = LAP_DONE}, ONE | VERBOSE, "", .err = "(a to out/a)\n"},
        {{"a", .status = LAP_DONE}, ONE | VERBOSE | QUIET, "", .err = "(a to out/a)\n"},
        {{"a", .status = LAP_DONE}, ONE | DRY, "a -> out/a\n", .err = ""},
        {{"a", .status = LAP_DONE}, ONE | DRY | QUIET, "", .err = ""},
        {{"a", .status = LAP_DONE}, ONE | DRY | JSON, "", .err = "a -> out/a\n"},
        {{"a", .status = LAP_DONE}, ONE | DRY | VERBOSE, "a -> out/a\n", .err = ""},
        {{"a", .status = LAP_WARNED, .warnings = 1}, ONE, "", .err = L "a: warning: odd\n"},
        {{"a", .status = LAP_WARNED, .warnings = 1}, ONE | QUIET, "", .err = ""},
        {{"a", .status = LAP_WARNED, .warnings = 1}, ONE | VERBOSE, "",
            .err = L "a: warning: odd\n(a to out/a)\n"},
        {{"a", .status = LAP_WARNED, .warnings = 1}, ONE | DRY, "", .err = L "a: warning: odd\n"},
        {{"a", LAP_FAILED, .code = LAP_E_LIMIT}, ONE | QUIET, "", .err = L "a: limit: why\n",
            .exit = LAP_EXIT_LIMIT},
        {{"a", LAP_FAILED, .code = LAP_E_LIMIT}, ONE | VERBOSE, "", .err = L "a: limit: why\n(a to out/a)\n",
            .exit = LAP_EXIT_LIMIT},
        {{"a", LAP_FAILED, .code = LAP_E_LIMIT}, QUIET, "", .err = L "a: limit: why\n", .exit = LAP_EXIT_OK},
        {{"a", LAP_FAILED, .code = LAP_E_WRITE}, ONE | QUIET, "", .err = L "a: why\n",
            .exit = LAP_EXIT_NOTHING},
        {{"a", LAP_SKIPPED, .code = LAP_E_EXISTS}, ONE | QUIET, "", .err = L "a: why\n",
            .exit = LAP_EXIT_FAILED},
        {{"a", .status = LAP_SKIPPED}, ONE, "", .err = L "a: up to date\n"},
        {{"a", .status = LAP_SKIPPED}, ONE | QUIET, "", .err = ""},
        {{"a", .status = LAP_SKIPPED}, ONE | VERBOSE, "", .err = L "a: up to date\n"},
        {{"a", .status = LAP_SKIPPED}, 0, "", .err = ""},
        {{"a", .status = LAP_SKIPPED}, VERBOSE | DRAWS, "",
            .err = L "up to 3 photos at once, 3 threads\n[=]" L "a: up to date\n=]"},
        {{"a", .status = LAP_SKIPPED}, VERBOSE | QUIET, "", .err = L "up to 3 photos at once, 3 threads\n"},
        {{"a", .status = LAP_SKIPPED}, ONE | BACKUP, "",
            .err = L "a: up to date, but without a backup: there is no a.orig\n"},
        {{"a", .status = LAP_SKIPPED}, ONE | BACKUP | THERE, "", .err = L "a: up to date\n"},
        {{"no", .status = LAP_SKIPPED}, ONE | BACKUP, "", .err = L "no: up to date\n"},
        {{"link", .status = LAP_SKIPPED}, ONE | BACKUP | THERE, "", .err = L "link: up to date\n"},
        {{"a", .status = LAP_SKIPPED, .note = "it is twice"}, ONE, "", .err = L "a: it is twice\n"},
        {{"a", .status = LAP_SKIPPED, .note = "it is twice"}, 0, "", .err = L "a: it is twice\n"},
        {{"a", .status = LAP_SKIPPED, .note = "it is twice"}, ONE | QUIET, "", .err = ""},
        {{"a", .status = LAP_SKIPPED, .note = "it is twice"}, ONE | DRY, "", .err = L "a: it is twice\n"}};
    (void)state;
    (void)unlink("link");
    assert_int_equal(symlink("a", "link"), 0);
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int json_code = 0; json_code < 2; json_code++) {
            const int flags = cases[i].flags;
            const bool is_one = flags & ONE;
            char want[300];
            start_in_place(is_one ? 1 : 2);
            sys.events[0] = cases[i].what;
            sys.draws = flags & DRAWS;
            sys.counts.ms = 0;
            cli.quiet = flags & QUIET, cli.verbose = flags & VERBOSE, cli.dry_run = flags & DRY;
            cli.json = flags & JSON;
            cli.json_file = json_code ? "j" : NULL;
            sys.json_code = json_code;
            cli.backup = flags & BACKUP ? ".orig" : NULL;
            if (flags & THERE)
                put("a.orig", "x");
            snprintf(want, sizeof want, "%s%s", cases[i].err,
                is_one || flags & QUIET ? ""
                : flags & DRY           ? "2 to be done\n"
                                        : "2 done\n");
            const bool has_json = json_code || flags & JSON;
            const bool is_lost = json_code && (is_one || cases[i].what.code == LAP_OK);
            assert_runs(lap_run_in_place,
                cases[i].exit ? cases[i].exit
                : is_lost     ? LAP_EXIT_FAILED
                              : LAP_EXIT_OK,
                cases[i].out, want);
            assert_int_equal(sys.printed, has_json);
            if (has_json) {
                assert_string_equal(
                    json_string_value(json_object_get(sys.json, "input")), cases[i].what.input);
                assert_string_equal(json_string_value(json_object_get(sys.json, "schema")), "lapedge.file/1");
                /* That of several photos is not known yet. */
                assert_object(json_object_get(sys.json, "exit_code"),
                    !is_one ? "null" : (char[]){'0' + (char)cases[i].exit, 0});
            }
            assert_int_equal(sys.shown, is_one ? 0 : 2);
            (void)unlink("a.orig");
        }
    (void)unlink("link");
}

/* Photos that are up to date, but whose backup is not there, are counted. */
static void photos_without_backups(void **state)
{
    char long_suffix[4200];
    (void)state;
    start_in_place(2);
    cli.backup = ".orig";
    put("b.orig", "x");
    for (int i = 0; i < 3; i++)
        sys.events[i] = (event){i == 1 ? "b" : "a", LAP_SKIPPED, .code = LAP_OK};
    sys.counts = (lap_batch_counts){.found = 3, .expected = 3, .skipped = 3, .kinds = {[LAP_OK] = 3}};
    assert_runs(lap_run_in_place, LAP_EXIT_OK, "", "0 done, 3 up to date (2 without a backup)\n");
    start_in_place(1); /* no file can have such a name, and none is looked for */
    memset(long_suffix, 'x', sizeof long_suffix - 1);
    long_suffix[sizeof long_suffix - 1] = '\0';
    cli.backup = long_suffix;
    sys.events[0] = (event){"a", LAP_SKIPPED, .code = LAP_OK};
    assert_runs(lap_run_in_place, LAP_EXIT_OK, "", L "a: up to date\n");
    start_in_place(1); /* whether it is there cannot be told */
    cli.backup = "/x";
    sys.events[0] = (event){"a", LAP_SKIPPED, .code = LAP_OK};
    assert_runs(lap_run_in_place, LAP_EXIT_OK, "", L "a: up to date\n");
    (void)unlink("b.orig");
}

static void statistics_in_place(void **state)
{
    static const struct {
        lap_status status;
        lap_code code;
        int stats_code, written, exit;
        const char *said;
    } cases[] = {{LAP_DONE, LAP_OK, 0, 1, LAP_EXIT_OK, ""}, {LAP_DONE, LAP_OK, 7, 1, 7, ""},
        {LAP_WARNED, LAP_OK, 0, 1, LAP_EXIT_OK, ""},
        {LAP_FAILED, LAP_E_LIMIT, 0, 0, LAP_EXIT_LIMIT, L "a: limit: why\n"},
        {LAP_SKIPPED, LAP_OK, 0, 0, LAP_EXIT_FAILED, L "s: not written, because a holds its edges already\n"},
        {LAP_SKIPPED, LAP_E_EXISTS, 0, 0, LAP_EXIT_FAILED, L "a: why\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start_in_place(1);
        cli.stats = "s";
        cli.quiet = true;
        sys.stats_code = cases[i].stats_code;
        sys.events[0] = (event){"a", .status = cases[i].status, .code = cases[i].code};
        assert_runs(lap_run_in_place, cases[i].exit, "", cases[i].said);
        assert_int_equal(sys.stats_written, cases[i].written);
    }
}

static void summaries_in_place(void **state)
{
    static const struct {
        lap_batch_counts counts;
        lap_code code;
        int caught;
        const char *said;
        int exit;
        bool dry, again;
        int told_cancel;
    } cases[] = {{{.found = 1, .expected = 1, .ok = 1, .ms = 9}, .said = ""},
        {{.found = 2, .expected = 2, .ok = 2, .ms = 1500}, .said = "2 done; 1.5 s\n"},
        {{.found = 2, .expected = 2, .ok = 2}, .said = "2 done\n"},
        {{.found = 2, .expected = 2, .ok = 2, .ms = 1500}, .said = "2 to be done\n", .dry = true},
        {{.found = 5, .expected = 5, .ok = 2, .warned = 3}, .said = "5 done (3 with warnings)\n"},
        {{.found = 5, .expected = 5, .ok = 2, .skipped = 3, .kinds = {[LAP_OK] = 3}},
            .said = "2 done, 3 up to date\n"},
        {{.found = 5, .expected = 5, .ok = 2, .skipped = 3, .kinds = {[LAP_E_EXISTS] = 3}},
            .said = "2 done, 3 left alone\n", .exit = LAP_EXIT_FAILED},
        {{.found = 5, .expected = 5, .ok = 4, .failed = 1, .kinds = {[LAP_E_LIMIT] = 1}},
            .said = "4 done, 1 failed (1 limit)\n", .exit = LAP_EXIT_FAILED},
        {{.found = 5, .expected = 5, .ok = 2, .ms = 9}, .said = "2 done; stopped, 3 left\n"},
        {{.found = 5, .expected = 5, .ok = 2, .ms = 9}, LAP_E_CANCELLED, 15,
            "2 done; cancelled, 3 left; the same command continues\n", .exit = LAP_EXIT_FAILED,
            .told_cancel = 1},
        {{.found = 5, .expected = 5, .ok = 2, .ms = 9}, LAP_E_CANCELLED, 15, "2 done; stopped, 3 left\n",
            .exit = LAP_EXIT_FAILED, .again = true},
        {{.found = 5, .expected = 5, .ok = 2, .ms = 9}, LAP_E_CANCELLED, 0,
            L "why\n2 done; cancelled, 3 left; the same command continues\n", .exit = LAP_EXIT_FAILED,
            .told_cancel = 1},
        {{.found = 5, .expected = 5, .ok = 5, .ms = 100}, LAP_E_CANCELLED, 15, "5 done; 0.1 s\n",
            .exit = LAP_EXIT_FAILED},
        {{.found = 0}, LAP_E_CANCELLED, 15, L "why\n", .exit = LAP_EXIT_FAILED},
        {{.found = 5, .expected = 5, .ok = 2}, LAP_E_DISK_FULL, 0,
            L "disk full: why\n2 done; the disk is full, 3 left; once there is room, the same command "
              "continues\n",
            .exit = LAP_EXIT_FAILED},
        {{.found = 5, .expected = 5, .ok = 2}, LAP_E_DISK_FULL, 15,
            L "disk full: why\n2 done; stopped, 3 left\n", .exit = LAP_EXIT_FAILED, .again = true},
        {{.found = 5, .expected = 5, .ok = 2}, LAP_E_LIMIT, 0, L "limit: why\n2 done; stopped, 3 left\n",
            .exit = LAP_EXIT_LIMIT},
        {{.found = 0, .expected = 5}, LAP_E_LIMIT, 0, L "limit: why\n", .exit = LAP_EXIT_LIMIT},
        {{.found = 5, .expected = 5, .ok = 5}, LAP_E_WRITE, 0, "5 done\n", .exit = LAP_EXIT_NOTHING},
        {{.found = 1, .expected = 1, .ok = 1}, LAP_E_WRITE, 0, "", .exit = LAP_EXIT_NOTHING},
        {{.found = 0}, LAP_E_WRITE, 0, L "no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content)\n",
            .exit = LAP_EXIT_NOTHING},
        {{.found = 0}, .said = L "no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content)\n",
            .exit = LAP_EXIT_NOTHING}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start_in_place(2);
        sys.counts = cases[i].counts;
        sys.err = (lap_error){.code = cases[i].code, .message = "why"};
        sys.caught = cases[i].caught;
        cli.dry_run = cases[i].dry, cli.filter_again = cases[i].again;
        assert_runs(lap_run_in_place, cases[i].exit, "", cases[i].said);
        assert_int_equal(
            sys.told_cancel, cases[i].told_cancel + (strstr(cases[i].said, "cancelled: ") != NULL));
        assert_int_equal(sys.ended, 1);
    }
    for (int way = 0; way < 3; way++) { /* edges of edges */
        start_in_place(2);
        sys.others.made = 1;
        strcpy(sys.others.made_first, "m");
        cli.quiet = way == 1;
        sys.err = (lap_error){.code = way == 2 ? LAP_E_LIMIT : LAP_OK, .message = "why"};
        assert_runs(lap_run_in_place, way == 2 ? LAP_EXIT_LIMIT : LAP_EXIT_OK, "",
            way == 0 ? "2 done\n" L
                       "warning: 1 input was filtered by lapedge before (m): its output is edges of edges\n"
            : way == 1 ? ""
                       : L "limit: why\n2 done\n");
    }
    char want[1000] = "["; /* messages that were left out */
    start_in_place(2);
    sys.draws = true;
    strcat(want, "=");
    for (int i = 0; i < 11; i++) {
        sys.events[i] = (event){"a", LAP_FAILED, .code = LAP_E_LIMIT};
        strcat(want, i < 10 ? "]" L "a: limit: why\n=" : "]=");
    }
    strcat(want, "]2 done\n" L "and 1 more limit: -v prints all, --log=FILE keeps them\n");
    assert_runs(lap_run_in_place, LAP_EXIT_OK, "", want);
}

/* One photo's own exit code counts; of several what was not written does. */
static void exit_codes_in_place(void **state)
{
    static const struct {
        int photos;
        lap_code photo, run;
        int json, exit;
    } cases[] = {{1, LAP_E_LIMIT, LAP_OK, 0, LAP_EXIT_LIMIT}, {1, LAP_E_BACKEND, LAP_OK, 1, LAP_EXIT_BACKEND},
        {1, LAP_OK, LAP_OK, 1, LAP_EXIT_FAILED}, {1, LAP_E_DISK_FULL, LAP_E_DISK_FULL, 0, LAP_EXIT_FAILED},
        {1, LAP_E_BACKEND, LAP_E_USAGE, 0, LAP_EXIT_USAGE},
        {1, LAP_E_BACKEND, LAP_E_WRITE, 0, LAP_EXIT_NOTHING}, {2, LAP_E_LIMIT, LAP_OK, 0, LAP_EXIT_OK},
        {2, LAP_E_LIMIT, LAP_OK, 1, LAP_EXIT_OK}, {2, LAP_OK, LAP_OK, 1, LAP_EXIT_FAILED},
        {2, LAP_OK, LAP_E_USAGE, 1, LAP_EXIT_USAGE}, {2, LAP_OK, LAP_E_DISK_FULL, 0, LAP_EXIT_FAILED},
        {2, LAP_OK, LAP_E_WRITE, 1, LAP_EXIT_NOTHING}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start_in_place(cases[i].photos);
        cli.quiet = true;
        cli.json_file = "j";
        sys.json_code = cases[i].json;
        sys.events[0] =
            (event){"a", .status = cases[i].photo ? LAP_FAILED : LAP_DONE, .code = cases[i].photo};
        sys.err = (lap_error){.code = cases[i].run, .message = "why"};
        said_listen();
        const int code = lap_run_in_place(&cli);
        said_end();
        if (code != cases[i].exit)
            fail_msg("case %zu: %d, %s", i, code, said_err());
    }
    start_in_place(1); /* the first of several troubles */
    cli.quiet = true;
    sys.events[0] = (event){"a", LAP_FAILED, .code = LAP_E_LIMIT};
    sys.events[1] = (event){"a", LAP_FAILED, .code = LAP_E_BACKEND};
    assert_runs(lap_run_in_place, LAP_EXIT_LIMIT, "", L "a: limit: why\n" L "why\n");
    start_in_place(1);
    sys.begins_not = true;
    sys.err = (lap_error){.code = LAP_E_BACKEND, .message = "why"};
    assert_runs(lap_run_in_place, LAP_EXIT_BACKEND, "", L "why\n");
    assert_int_equal(sys.ended, 0);
}

/* Runs again and again take no more memory. */
static void memory_is_given_back(void **state)
{
    enum { RUNS = 100, BLOCK = 24 }; /* the smallest block takes that */
    size_t held = 0;
    (void)state;
    for (int i = -20; i < RUNS; i++) {
        held = i ? held : mallinfo2().uordblks;
        for (int folder = 0; folder < 2; folder++) {
            if (folder)
                start_folder();
            else
                start_in_place(1);
            cli.quiet = cli.prune = sys.is_alone = true;
            cli.log = "log", cli.json_file = "j", cli.report = folder ? "r" : NULL, cli.backup = ".orig";
            cli.include[0] = "x";
            sys.others = (lap_batch_others){.outputs = 1, .kind_count = 1, .left_count = 1};
            sys.events[0] = (event){"a", LAP_SKIPPED, .code = LAP_OK};
            sys.removals[0] = (removal){"a", LAP_OK};
            assert_runs((folder ? lap_run_folder : lap_run_in_place), LAP_EXIT_OK, "", "");
            forget();
        }
    }
    assert_true(mallinfo2().uordblks < held + RUNS * BLOCK / 2);
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
    static const struct CMUnitTest tests[] = {TEST(requests), TEST(shared_devices), TEST(warnings_of_the_run),
        TEST(standard_input_among_files), TEST(how_many_at_once), TEST(output_that_is_lost),
        TEST(messages_of_a_kind), TEST(what_is_left), TEST(patterns_that_match_nothing),
        TEST(files_of_other_kinds), TEST(outputs_and_photos_left_out), TEST(photos_filtered_before),
        TEST(kinds_of_failures), TEST(messages_left_out), TEST(links_and_photos_that_went), TEST(no_photo),
        TEST(which_files_are_taken), TEST(processors_and_times), TEST(objects_of_a_folder), TEST(exit_codes),
        TEST(operands_of_folders), TEST(what_a_folder_run_asks_for), TEST(photos_of_a_folder),
        TEST(summaries_of_folders), TEST(photos_that_were_recoded), TEST(first_to_fail),
        TEST(what_is_to_be_done_again), TEST(removed_outputs), TEST(outputs_that_are_left),
        TEST(object_of_a_folder_run), TEST(ends_of_folder_runs), TEST(logs_of_folders),
        TEST(clashes_keep_off), TEST(operands_in_place), TEST(what_a_run_in_place_asks_for),
        TEST(photos_in_place), TEST(photos_without_backups), TEST(statistics_in_place),
        TEST(summaries_in_place), TEST(exit_codes_in_place), TEST(memory_is_given_back)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
