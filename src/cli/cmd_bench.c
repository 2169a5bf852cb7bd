/* bench: times backends and their ceilings; prints a table or JSON, or compares with an earlier run. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/options/values.h"
#include "cli/report/report.h"
#include "cli/term.h"

typedef struct bench_output {
    lap_cli *cli;
    lap_bench_table table;
    json_t *rows; /* rows of all ladders and sizes */
    json_t *warnings;
    bool shows_table;
    bool filters;         /* one of the operations is the filter */
    bool on_device;       /* a backend ran on a CUDA device */
    lap_cli_exit verdict; /* exit code for rows that were not timed */
} bench_output;

static json_t *row_of(const lap_bench_row *row)
{
    json_t *object = json_object(), *times = json_array();
    for (int i = 0; i < row->runs; i++)
        json_array_append_new(times, lap_json_real(row->times_ms[i]));
    json_object_set_new(object, "op", json_string(lap_op_name(row->op)));
    json_object_set_new(object, "backend", json_string(row->backend));
    json_object_set_new(object, "resolved", lap_json_text(row->resolved));
    json_object_set_new(object, "reason", lap_json_text(row->reason));
    json_object_set_new(object, "flags", lap_json_text(row->flags));
    json_object_set_new(object, "threads", json_integer(row->threads));
    json_object_set_new(object, "width", json_integer(row->width));
    json_object_set_new(object, "height", json_integer(row->height));
    json_object_set_new(object, "channels", json_integer(row->channels));
    json_object_set_new(object, "type", json_string(row->type ? row->type : "u8"));
    json_object_set_new(object, "form", lap_json_text(row->form));
    json_object_set_new(object, "times_ms", times);
    const struct {
        const char *key;
        double value;
    } values[] = {{"median_ms", row->median_ms}, {"mean_ms", row->mean_ms}, {"stddev_ms", row->stddev_ms},
        {"min_ms", row->min_ms}, {"max_ms", row->max_ms}, {"convert_ms", row->convert_ms},
        {"upload_ms", row->upload_ms}, {"kernel_ms", row->kernel_ms}, {"download_ms", row->download_ms},
        {"end_to_end_ms", row->end_to_end_ms}, {"mpix_per_s", row->mpix_per_s}, {"gb_per_s", row->gb_per_s},
        {"roof_share", row->roof_share}, {"speedup", row->speedup}, {"flops_per_byte", row->flops_per_byte},
        {"gflop_per_s", row->gflop_per_s}, {"first_ms", row->first_ms}, {"value", row->value},
        {"relative_error", row->relative_error}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        json_object_set_new(object, values[i].key, lap_json_real(values[i].value));
    return object;
}

/* A backend whose result differs from c's is a failure. A backend that cannot run is a failure if it was
 * named. */
static void judge(bench_output *output, const lap_bench_row *row)
{
    if (!row->reason)
        return;
    if (row->resolved) {
        output->verdict = LAP_EXIT_FAILED;
        lap_cli_message("%s %s: %s", lap_op_name(row->op), row->backend, row->reason);
    } else if (output->cli->bench.backends && output->verdict == LAP_EXIT_OK) {
        output->verdict = LAP_EXIT_BACKEND;
        lap_cli_message("backend '%s' cannot run here: %s", row->backend, row->reason);
    }
}

static void each_row(void *user, const lap_bench_row *row)
{
    bench_output *output = user;
    char noise[LAP_BENCH_NOTE];
    const bool noisy = lap_bench_noise(row, noise) > 0;
    json_t *object = row_of(row);
    json_object_set_new(object, "noisy", json_boolean(noisy));
    json_array_append_new(output->rows, object);
    judge(output, row);
    output->on_device = output->on_device || isfinite(row->kernel_ms) || isfinite(row->end_to_end_ms);
    if (noisy)
        json_array_append_new(output->warnings, json_string(noise));
    if (output->shows_table)
        lap_bench_table_row(&output->table, row);
}

/* ---- comparison with an earlier run --------------------------------------------------------------- */

/* Reads the --json file of an earlier bench. Returns NULL after a message. */
static json_t *read_baseline(const char *path)
{
    json_error_t problem;
    FILE *file = fopen(path, "re");
    if (!file) {
        lap_cli_usage("--baseline: %s: cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    json_t *object = json_loadf(file, 0, &problem);
    fclose(file);
    const char *schema = json_string_value(json_object_get(object, "schema"));
    if (object && schema && strcmp(schema, "lapedge.bench/1") == 0 && json_object_get(object, "rows"))
        return object;
    lap_cli_message("--baseline: %s: not the output of lapedge bench --json%s%s", path, object ? "" : ": ",
        object ? "" : problem.text);
    json_decref(object);
    return NULL;
}

static bool same_case(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {
        "op", "backend", "threads", "width", "height", "channels", "type", "form"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
            return false;
    return true;
}

/* Sets baseline_ms in each row to the median of the same case in the baseline, or null. */
static void set_beside(json_t *rows, const json_t *baseline)
{
    size_t i, j;
    json_t *now, *then;
    json_array_foreach(rows, i, now)
    {
        json_object_set_new(now, "baseline_ms", json_null());
        json_array_foreach(json_object_get(baseline, "rows"), j, then)
        {
            if (same_case(now, then))
                json_object_set(now, "baseline_ms", json_object_get(then, "median_ms"));
        }
    }
}

/* Whether a row shows what the machine can do, not what a backend does. */
static bool is_ceiling(const char *backend)
{
    static const char *const ceilings[] = {"memcpy", "multiply-add", "copy", "copy-kernel", "copy-shared",
        "copy-up", "copy-down", "copy-both", "copy-device"};
    for (size_t i = 0; i < sizeof ceilings / sizeof *ceilings; i++)
        if (strcmp(backend, ceilings[i]) == 0)
            return true;
    return false;
}

/* Refuses a baseline that was measured with other settings. A key that an earlier version did not write is
 * not compared. */
static lap_cli_exit check_settings(const lap_cli *cli, const json_t *now, const json_t *then)
{
    static const char *const keys[][2] = {{"filter", "another filter"},
        {"warm", "buffers in another state (--warm)"}, {"image", "another image"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *a = json_object_get(now, keys[i][0]), *b = json_object_get(then, keys[i][0]);
        const bool both = a && b && (i > 0 || (json_is_object(a) && json_is_object(b)));
        if (both && !json_equal(a, b))
            return lap_cli_usage("--baseline: %s was measured with %s", cli->baseline, keys[i][1]);
    }
    return LAP_EXIT_OK;
}

/* Prints a message for each backend that was timed, but has no counterpart in the baseline. */
static void print_uncompared(const lap_cli *cli, const json_t *row, char last[64])
{
    char name[64];
    snprintf(name, sizeof name, "%s %s", json_string_value(json_object_get(row, "op")),
        json_string_value(json_object_get(row, "backend")));
    if (strcmp(name, last) != 0)
        lap_cli_message("not compared: %s has no row for %s in this size", cli->baseline, name);
    snprintf(last, 64, "%s", name);
}

/* Prints a message for each backend that is slower than --tolerance allows, or not in the baseline. Returns
 * LAP_EXIT_FAILED if one is slower, and LAP_EXIT_USAGE if no row has a counterpart in the baseline. */
static lap_cli_exit judge_baseline(const lap_cli *cli, const json_t *rows)
{
    size_t i;
    json_t *row;
    char last[64] = "";
    int slower = 0, compared = 0;
    json_array_foreach(rows, i, row)
    {
        const double now_ms = json_number_value(json_object_get(row, "median_ms"));
        const double then_ms = json_number_value(json_object_get(row, "baseline_ms"));
        if (!(now_ms > 0) || is_ceiling(json_string_value(json_object_get(row, "backend"))))
            continue;
        if (!(then_ms > 0)) {
            print_uncompared(cli, row, last);
            continue;
        }
        compared++;
        if (now_ms <= then_ms * (1 + cli->tolerance))
            continue;
        slower++;
        int digits = 3; /* decimals; enough to distinguish the two numbers */
        for (double unit = 1e-3; digits < 9 && now_ms - then_ms < unit; unit /= 10)
            digits++;
        const long long threads = json_integer_value(json_object_get(row, "threads"));
        lap_cli_message("slower: %s %s, %lld thread%s: %.*f ms, %.*f in the baseline (%+.0f %%)",
            json_string_value(json_object_get(row, "op")), json_string_value(json_object_get(row, "backend")),
            threads, threads == 1 ? "" : "s", digits, now_ms, digits, then_ms, 100 * (now_ms / then_ms - 1));
    }
    if (compared == 0)
        return lap_cli_usage("--baseline: %s has no row in common with this run", cli->baseline);
    return slower ? LAP_EXIT_FAILED : LAP_EXIT_OK;
}

/* ---- the command --------------------------------------------------------------------------------- */

static bool find_op(const char *name, lap_op *op)
{
    for (int i = 0; i <= LAP_OP_CODEC; i++)
        if (strcmp(lap_cli_op_name(i), name) == 0) {
            *op = (lap_op)i;
            return true;
        }
    const char *nearest = lap_cli_nearest(name, lap_cli_op_name);
    char all[200] = "";
    size_t at = 0;
    for (int i = 0; i <= LAP_OP_CODEC; i++)
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", i ? ", " : "; use ", lap_cli_op_name(i));
    lap_cli_usage("bench: unknown operation \"%s\"%s%s%s", name, nearest ? "; did you mean " : all,
        nearest ? nearest : "", nearest ? "?" : "");
    return false;
}

/* Refuses options that an operation would ignore or fail with, before any operation runs. */
static lap_cli_exit check_op(const lap_cli *cli, lap_op op)
{
    static const char *const types[] = {[LAP_OP_FILTER] = "u8",
        [LAP_OP_TRANSPOSE] = "u8, f32 and f64",
        [LAP_OP_REDUCE] = "f32 and f64",
        [LAP_OP_HISTOGRAM] = "u8",
        [LAP_OP_MATVEC] = "f32",
        [LAP_OP_CODEC] = "u8"};
    const lap_bench_options *bench = &cli->bench;
    const char *name = lap_op_name(op), *type = bench->type ? bench->type : "";
    const bool is_image = strcmp(type, "f32") != 0 && strcmp(type, "f64") != 0;
    if (!strstr(types[op], type))
        return lap_cli_usage("--type=%s: bench %s runs only on %s", type, name, types[op]);
    if (op == LAP_OP_TRANSPOSE && !is_image && bench->channels > 1)
        return lap_cli_usage("--channels=%d: bench transpose of %s has one channel", bench->channels, type);
    if (op != LAP_OP_CODEC)
        return LAP_EXIT_OK;
    if (bench->image && (cli->size_count || bench->channels))
        return lap_cli_usage(
            "--%s: bench codec uses the photos of --image unchanged", cli->size_count ? "sizes" : "channels");
    return bench->channels == 4 ? lap_cli_usage("--channels=4: a JPEG of bench codec has 1 or 3 channels")
                                : LAP_EXIT_OK;
}

/* If there are more threads than cores, they take turns, so the times say little about a machine with a core
 * for each thread. */
static void note_threads(bench_output *output, int threads)
{
    char note[120];
    const int cores = lap_usable_cores();
    if (threads <= cores)
        return;
    snprintf(note, sizeof note, "%d threads share %d core%s", threads, cores, cores == 1 ? "" : "s");
    json_array_append_new(output->warnings, json_string(note));
    if (!output->cli->quiet)
        lap_cli_message("note: %s", note);
}

static int bench_op(bench_output *output, lap_context *context, lap_op op)
{
    lap_cli *cli = output->cli;
    lap_error err;
    if (output->shows_table) {
        lap_bench_table_head(cli, op, cli->bench.threads);
        lap_bench_table_begin(&output->table, cli);
    }
    for (int i = 0; i < (cli->size_count ? cli->size_count : 1); i++) {
        lap_bench_options options = cli->bench;
        if (cli->size_count) {
            options.width = cli->sizes[i].width;
            options.height = cli->sizes[i].height;
            output->table.titled = 0;
        }
        const lap_code code = lap_bench(context, op, &options, each_row, output, &err);
        if (code != LAP_OK) {
            if (code != LAP_E_CANCELLED)
                lap_cli_print_error(&err, NULL);
            /* Exit code 1 would mean that a backend is slow or wrong. */
            return lap_cli_exit_of(code) == LAP_EXIT_FAILED ? LAP_EXIT_NOTHING : lap_cli_exit_of(code);
        }
    }
    if (output->shows_table)
        lap_bench_table_end(&output->table);
    return LAP_EXIT_OK;
}

/* Describes the filter that was timed. */
static json_t *filter_of(const lap_bench_options *bench)
{
    json_t *object = json_object();
    json_object_set_new(object, "kernel", lap_json_text(bench->params.kernel.name));
    json_object_set_new(object, "border", lap_json_text(lap_border_name(bench->border)));
    json_object_set_new(object, "range", json_string(lap_range_name(bench->params.range)));
    lap_json_filter(object, &bench->params);
    return object;
}

static json_t *object_of(const bench_output *output)
{
    char cpu[128], device[200] = "", date[16] = "";
    struct tm day;
    const time_t now = time(NULL);
    lap_cpu_name(cpu, sizeof cpu);
    if (output->on_device) /* does not start CUDA only for this */
        lap_device_text(output->cli->bench.device, device, sizeof device);
    if (gmtime_r(&now, &day))
        strftime(date, sizeof date, "%Y-%m-%d", &day);
    json_t *object = lap_json_object("lapedge.bench/1");
    json_object_set_new(object, "version", json_string(lap_version()));
    json_object_set_new(object, "date", json_string(date));
    json_object_set_new(object, "machine", lap_json_text(cpu));
    json_object_set_new(object, "device", lap_json_text(*device ? device : NULL));
    json_object_set_new(object, "threads", json_integer(output->cli->bench.threads));
    json_object_set_new(object, "build", lap_json_text(lap_build_info()));
    json_object_set_new(object, "filter", output->filters ? filter_of(&output->cli->bench) : json_null());
    json_object_set_new(object, "warm", json_boolean(output->cli->bench.warm));
    json_object_set_new(object, "image", lap_json_text(output->cli->bench.image));
    json_object_set(object, "warnings", output->warnings);
    json_object_set_new(object, "baseline", lap_json_text(output->cli->baseline));
    json_object_set_new(
        object, "tolerance", output->cli->baseline ? lap_json_real(output->cli->tolerance) : json_null());
    json_object_set(object, "rows", output->rows);
    return object;
}

static int write_report(const bench_output *output, lap_context *context)
{
    lap_error err;
    const lap_cli *cli = output->cli;
    json_t *report =
        lap_report_create(cli, cli->bench.image ? cli->bench.image : "synthetic data", cli->bench.threads);
    lap_report_add_results(report, object_of(output));
    const lap_code code = cli->bench.image
                              ? lap_report_add_file(report, context, cli->bench.image, &cli->settings, &err)
                              : LAP_OK;
    if (code == LAP_OK)
        return lap_report_write(cli->report, report);
    json_decref(report);
    lap_cli_print_error(&err, cli->bench.image);
    return (int)lap_cli_exit_of(code);
}

static int bench_all(
    bench_output *output, lap_context *context, const lap_op *ops, int count, json_t *baseline)
{
    lap_cli *cli = output->cli;
    int exit_code = LAP_EXIT_OK;
    cli->bench.params = cli->settings.params;
    cli->bench.border = cli->settings.border;
    cli->bench.threads = lap_context_threads(context);
    note_threads(output, cli->bench.threads);
    for (int i = 0; i < count && exit_code == LAP_EXIT_OK; i++) {
        if (i > 0 && output->shows_table)
            putchar('\n');
        exit_code = bench_op(output, context, ops[i]);
        output->filters = output->filters || ops[i] == LAP_OP_FILTER || ops[i] == LAP_OP_CODEC;
    }
    if (baseline && exit_code == LAP_EXIT_OK)
        set_beside(output->rows, baseline);
    json_t *object = object_of(output);
    if (exit_code == LAP_EXIT_OK && baseline)
        exit_code = (int)check_settings(cli, object, baseline);
    if (exit_code == LAP_EXIT_OK && lap_cli_wants_json(cli))
        exit_code = lap_json_print(json_incref(object));
    if (exit_code == LAP_EXIT_OK && cli->report)
        exit_code = write_report(output, context);
    if (exit_code == LAP_EXIT_OK && baseline)
        exit_code = (int)judge_baseline(cli, output->rows);
    json_decref(object);
    return exit_code ? exit_code : (int)output->verdict;
}

int lap_cli_bench(lap_cli *cli)
{
    enum { MAX_OPS = 16 };
    lap_op ops[MAX_OPS] = {LAP_OP_FILTER};
    int count = 0, exit_code = LAP_EXIT_FAILED;
    json_t *baseline = NULL;
    lap_error err;
    for (; count < cli->operand_count && count < MAX_OPS; count++) {
        if (!find_op(cli->operands[count], &ops[count]))
            return LAP_EXIT_USAGE;
        for (int i = 0; i < count; i++)
            if (ops[i] == ops[count])
                return lap_cli_usage("bench: %s is named twice", cli->operands[count]);
    }
    count += count == 0;
    if (!lap_cli_check_backends(cli->bench.backends, ops, count))
        return LAP_EXIT_USAGE;
    if (cli->bench.channels == 2)
        return lap_cli_usage("--channels: \"2\" is not 1, 3 or 4");
    for (int i = 0; i < count; i++)
        if (check_op(cli, ops[i]) != LAP_EXIT_OK)
            return LAP_EXIT_USAGE;
    if (cli->baseline && !(baseline = read_baseline(cli->baseline)))
        return LAP_EXIT_USAGE;

    bench_output output = {
        .cli = cli, .rows = json_array(), .warnings = json_array(), .shows_table = !cli->json && !cli->quiet};
    lap_context *context = lap_cli_begin(cli, &err);
    if (!context)
        lap_cli_print_error(&err, NULL);
    else if (!output.rows)
        lap_cli_message("out of memory");
    else
        exit_code = bench_all(&output, context, ops, count, baseline);
    lap_cli_end(context);
    json_decref(output.rows);
    json_decref(output.warnings);
    json_decref(baseline);
    return exit_code;
}
