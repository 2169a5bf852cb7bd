/* stats: computes statistics of an image and its edges, or of many images. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/folder/folder.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/report/report.h"
#include "cli/term.h"

/* Reads a number and the separator after it: spaces, line ends, and a comma or semicolon. False at the end of
 * the file. *value is NAN if it is not a finite decimal number. */
static bool read_weight(FILE *file, float *value)
{
    enum { LONGEST = 400 };
    char word[LONGEST + 1];
    double number;
    int length = 0;
    if (fscanf(file, " ") == EOF)
        return false;
    const int got = fscanf(file, "%400[^ \t\r\n\v\f,;]%n", word, &length);
    if (got == EOF)
        return false;
    *value = NAN;
    if (got != 1)
        return true;
    const char *end = lap_decimal(word, &number);
    if (end == word + length && length < LONGEST && fabs(number) <= FLT_MAX)
        *value = strtof(word, NULL); /* rounds once */
    (void)!fscanf(file, " %*1[,;]");
    return true;
}

/* *weights is NULL and *count 0 before. LAP_EXIT_USAGE after a message. */
static lap_cli_exit read_weights(const char *path, float **weights, size_t *count)
{
    FILE *file = fopen(path, "re");
    size_t capacity = 0;
    float value = 0;
    int failed = 0;
    if (!file)
        return lap_cli_usage("--weights: %s: cannot be read: %s", path, strerror(errno));
    while (read_weight(file, &value) && isfinite(value)) {
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 4096;
            float *grown = reallocarray(*weights, capacity, sizeof *grown);
            if (!grown) {
                failed = ENOMEM;
                break;
            }
            *weights = grown;
        }
        (*weights)[(*count)++] = value;
    }
    if (ferror(file))
        failed = errno;
    const bool ended = feof(file) && isfinite(value);
    fclose(file);
    if (failed)
        return lap_cli_usage("--weights: %s: cannot be read: %s", path, strerror(failed));
    if (ended && *count == 0)
        return lap_cli_usage("--weights: %s: has no numbers", path);
    return ended ? LAP_EXIT_OK
                 : lap_cli_usage("--weights: %s: number %zu is not a decimal number, or out of range", path,
                       *count + 1);
}

static json_t *object_of(
    const lap_cli *cli, const char *in, const lap_measurement *m, const lap_report *report)
{
    json_t *object = lap_stats_json(in, &m->stats, m);
    lap_json_edges(object, &cli->settings);
    lap_json_warnings(object, report);
    return object;
}

static int show(const lap_cli *cli, const char *in, const lap_measurement *m, const lap_report *report)
{
    const int printed = lap_cli_wants_json(cli) ? lap_json_print(object_of(cli, in, m, report)) : 0;
    if (cli->json)
        return printed;
    if (cli->csv) {
        lap_stats_csv_head(false);
        lap_stats_csv(NULL, &m->stats, m);
    } else if (!cli->quiet) {
        lap_stats_text(cli, in, m);
    }
    return printed;
}

/* Reads the image a second time for the report, because its pixels were not kept. */
static int write_report(const lap_cli *cli, lap_context *context, const char *in, const lap_measurement *m,
    const lap_report *measured)
{
    lap_error err;
    json_t *report = lap_report_create(cli, in, lap_context_threads(context));
    json_t *results = object_of(cli, in, m, measured);
    json_object_set(report, "statistics", results);
    lap_report_add_results(report, results);
    const lap_code code = lap_report_add_file(report, context, in, &cli->settings, &err);
    if (code == LAP_OK)
        return lap_report_write(cli->report, report);
    json_decref(report);
    lap_cli_print_error(&err, in);
    return (int)lap_cli_exit_of(code);
}

static int measure(
    const lap_cli *cli, lap_context *context, const char *in, const lap_measure_options *options)
{
    lap_measurement m = {0};
    lap_report report;
    lap_error err;
    const double began = lap_cli_now_ms();
    const lap_code code = lap_measure_report(context, in, &cli->settings, options, &m, &report, &err);
    if (cli->verbose && code == LAP_OK)
        lap_cli_message("%s: backend %s%s%s, up to %d threads, %.1f ms%s%s", in, cli->settings.backend,
            strcmp(m.resolved, cli->settings.backend) != 0 ? " -> " : "",
            strcmp(m.resolved, cli->settings.backend) != 0 ? m.resolved : "", lap_context_threads(context),
            lap_cli_now_ms() - began, m.note ? "; " : "", m.note ? m.note : "");
    int exit_code = (int)lap_cli_exit_of(code);
    if (code != LAP_OK && !(code == LAP_E_CANCELLED && lap_cli_caught()))
        lap_cli_print_error(&err, in);
    if (report.status == LAP_WARNED && !cli->quiet)
        lap_cli_warn(in, &report);
    if (code == LAP_OK)
        exit_code = show(cli, in, &m, &report);
    if (code == LAP_OK && exit_code == LAP_EXIT_OK && cli->report)
        exit_code = write_report(cli, context, in, &m, &report);
    lap_measurement_free(&m);
    return exit_code;
}

/* ---- many files, one after another in the order of the folders, then all together ---------------- */

enum { BINS = 256 };

typedef struct stats_sum { /* sums over many images, either gray or colour */
    uint64_t photos;
    uint64_t input[4][BINS], edges[4][BINS]; /* how often each value occurs in each channel */
} stats_sum;

typedef struct stats_run {
    lap_folder folder;
    const lap_measure_options *options;
    stats_sum gray, color;
    uint64_t masked; /* photos whose edges the mask covers completely */
    bool has_head;   /* the header of the table or CSV was printed */
    int failed;      /* exit code for the first object that could not be kept, or 0 */
} stats_run;

/* ---- sums ---------------------------------------------------------------------------------------- */

static void add_counts(uint64_t counts[4][BINS], const lap_stats *stats)
{
    for (int c = 0; c < stats->channels; c++)
        for (int v = 0; v < BINS; v++)
            counts[c][v] += stats->channel[c].histogram[v];
}

static void add_stats(stats_sum *sum, const lap_run_stats *stats)
{
    sum->photos++;
    add_counts(sum->input, &stats->input);
    add_counts(sum->edges, &stats->edges);
}

/* Copies the counts, because lap_stats_of_counts needs them without const. */
static bool result(const uint64_t from[4][BINS], int channels, int threshold, lap_stats *stats)
{
    uint64_t counts[4][BINS] = {{0}};
    for (int c = 0; c < channels; c++)
        for (int v = 0; v < BINS; v++)
            counts[c][v] = from[c][v];
    *stats = (lap_stats){.threshold = threshold};
    return lap_stats_of_counts(counts, channels, threshold, stats, NULL) == LAP_OK;
}

/* Returns false and zeroed *stats if there are no images. If no pixel of the edges was counted,
 * stats->edges.channels is 0. */
static bool sum_up(const stats_sum *sum, int channels, int threshold, lap_run_stats *stats)
{
    *stats = (lap_run_stats){0};
    if (sum->photos == 0 || !result(sum->input, channels, threshold, &stats->input))
        return false;
    if (!result(sum->edges, channels, threshold, &stats->edges))
        stats->edges.channels = 0;
    return true;
}

/* Adds up all channels of a picture. */
static lap_channel_stats all_channels(const lap_stats *stats)
{
    uint64_t counts[4][BINS] = {{0}};
    lap_stats all = {0};
    for (int c = 0; c < stats->channels; c++)
        for (int v = 0; v < BINS; v++)
            counts[0][v] += stats->channel[c].histogram[v];
    (void)lap_stats_of_counts(counts, 1, stats->threshold, &all, NULL); /* zero if nothing was counted */
    return all.channel[0];
}

/* ---- a photo ----------------------------------------------------------------------------------- */

static void note(stats_run *run, int code)
{
    if (run->failed == LAP_EXIT_OK)
        run->failed = code;
}

/* Runs on the threads that measure: for a small photo this takes as long as its filter. */
static char *json_text(void *user, const lap_measured *file)
{
    const stats_run *run = user;
    return lap_json_made(object_of(run->folder.cli, file->input, file->measurement, file->report));
}

static void print_failed_json(stats_run *run, const lap_measured *file)
{
    json_t *object = lap_json_object("lapedge.stats_failed/1");
    lap_json_path(object, "input", file->input);
    json_object_set_new(object, "error", lap_json_error(&file->report->error));
    note(run, lap_json_print(object));
}

/* A line has room only for the sum of all channels. */
static void print_line(stats_run *run, const lap_measured *file)
{
    const lap_measurement *m = file->measurement;
    const lap_channel_stats input = all_channels(&m->stats.input);
    const lap_channel_stats edges = all_channels(&m->stats.edges);
    if (!run->has_head)
        printf("%s  input mean  stddev  edges mean  stddev  p99     width x height  file%s\n",
            lap_term_bold(run->folder.cli, stdout), lap_term_plain(run->folder.cli, stdout));
    run->has_head = true;
    printf("%12.3f %7.3f ", input.mean, input.stddev);
    if (edges.count)
        printf("%11.3f %7.3f %4d", edges.mean, edges.stddev, edges.p99);
    else
        printf("%11s %7s %4s", "-", "-", "-");
    printf("  %7d x %-7d ", m->width, m->height);
    lap_cli_print_safely(stdout, file->input);
    putchar('\n');
}

static void print_measured(stats_run *run, const lap_measured *file)
{
    const lap_cli *cli = run->folder.cli;
    const lap_measurement *m = file->measurement;
    if (lap_cli_wants_json(cli))
        note(run, lap_json_print_made(file->text));
    if (cli->csv) {
        if (!run->has_head)
            lap_stats_csv_head(true);
        run->has_head = true;
        lap_stats_csv(file->input, &m->stats, m);
    } else if (!cli->json && !cli->quiet) {
        print_line(run, file);
    }
}

/* Prints details for -v. */
static void print_details(const lap_measured *file)
{
    const lap_measurement *m = file->measurement;
    lap_cli_message("%s: backend %s, %.1f ms%s%s", file->input, m->resolved, file->report->ms.total,
        m->note ? "; " : "", m->note ? m->note : "");
}

static void on_event(void *user, const lap_measured *file, const lap_batch_counts *counts)
{
    stats_run *run = user;
    if (file) {
        lap_progress_hide(&run->folder.progress);
        if (file->measurement && run->folder.cli->verbose)
            print_details(file);
        if (file->measurement) {
            const lap_run_stats *stats = &file->measurement->stats;
            add_stats(stats->input.channels == 1 ? &run->gray : &run->color, stats);
            run->masked += stats->edges.channels == 0 || stats->edges.channel[0].count == 0;
            print_measured(run, file);
        } else {
            if (lap_folder_may_tell(&run->folder, file->report))
                lap_cli_print_error(&file->report->error, file->input);
            if (lap_cli_wants_json(run->folder.cli))
                print_failed_json(run, file);
        }
        if (file->report->status == LAP_WARNED && !run->folder.cli->quiet &&
            lap_folder_may_tell(&run->folder, file->report))
            lap_cli_warn(file->input, file->report);
        lap_folder_flush(&run->folder);
    }
    lap_folder_show(&run->folder, counts);
}

/* ---- all together ------------------------------------------------------------------------------ */

typedef struct kind { /* photos of one kind, which are summed separately */
    const char *name, *key;
    const stats_sum *sum;
    int channels;
} kind;

static json_t *kind_json(const kind *k, int threshold)
{
    lap_run_stats stats;
    if (!sum_up(k->sum, k->channels, threshold, &stats))
        return json_null();
    return json_pack("{sI so so}", "photos", (json_int_t)k->sum->photos, "input",
        lap_stats_image_json(&stats.input), "edges", lap_stats_image_json(&stats.edges));
}

static void print_totals_json(stats_run *run, const kind kinds[2])
{
    const lap_folder *folder = &run->folder;
    const lap_batch_counts *counts = &folder->counts;
    const lap_json_count fields[] = {{"expected", counts->expected}, {"ok", counts->ok},
        {"warned", counts->warned}, {"failed", counts->failed}, {"links", counts->links},
        {"pixels", counts->pixels}};
    json_t *object = lap_json_object("lapedge.stats_totals/1");
    lap_json_counts(object, fields, sizeof fields / sizeof *fields);
    json_object_set_new(object, "kinds", lap_folder_json_kinds(folder));
    json_object_set_new(object, "not_taken", lap_folder_json_others(folder));
    json_object_set_new(object, "mask_border", json_integer(run->options->mask_border));
    json_object_set_new(object, "masked_out", json_integer((json_int_t)run->masked));
    json_object_set_new(object, "threshold",
        run->options->threshold >= 0 ? json_integer(run->options->threshold) : json_null());
    lap_json_edges(object, &folder->cli->settings);
    for (int i = 0; i < 2; i++)
        json_object_set_new(object, kinds[i].key, kind_json(&kinds[i], run->options->threshold));
    lap_folder_json_end(folder, object);
    json_object_set_new(object, "work", lap_json_work(&folder->work));
    note(run, lap_json_print(object));
}

static void print_totals(const stats_run *run, const kind *k)
{
    const lap_cli *cli = run->folder.cli;
    lap_run_stats stats;
    if (cli->json || (cli->quiet && !cli->csv) ||
        !sum_up(k->sum, k->channels, run->options->threshold, &stats))
        return;
    if (cli->csv) {
        lap_stats_csv("", &stats, NULL);
        return;
    }
    printf("\n%llu photo%s in %s together\n", (unsigned long long)k->sum->photos,
        k->sum->photos == 1 ? "" : "s", k->name);
    lap_stats_tables(cli, &stats, isatty(STDOUT_FILENO));
}

static void print_summary(const stats_run *run)
{
    const lap_batch_counts *counts = &run->folder.counts;
    const double seconds = counts->ms / 1e3;
    const uint64_t measured = counts->ok + counts->warned;
    lap_folder_print_others(&run->folder);
    fprintf(stderr, "%llu measured", (unsigned long long)measured);
    lap_folder_print_failed(&run->folder);
    lap_folder_print_left(&run->folder);
    if (seconds > 0)
        fprintf(stderr, "; %.1f s, %.0f Mpixel/s", seconds, (double)counts->pixels / 1e6 / seconds);
    fputc('\n', stderr);
    lap_folder_print_untold(&run->folder);
    if (run->masked)
        lap_cli_message("--mask-border covers all edges of %llu photo%s", (unsigned long long)run->masked,
            run->masked > 1 ? "s" : "");
    lap_folder_print_links(&run->folder);
}

static lap_cli_exit check_folder(const lap_cli *cli)
{
    if (cli->files_from && cli->operand_count > 0)
        return lap_cli_usage("--files-from names the inputs: lapedge stats --files-from=FILE");
    return lap_folder_check_names(cli);
}

static int finish(stats_run *run, lap_code code)
{
    const kind kinds[2] = {{"gray", "gray", &run->gray, 1}, {"colour", "color", &run->color, 3}};
    if (lap_cli_wants_json(run->folder.cli))
        print_totals_json(run, kinds);
    for (int i = 0; i < 2; i++)
        print_totals(run, &kinds[i]);
    const bool began = code == LAP_OK || run->folder.counts.found;
    if (!run->folder.cli->quiet && began)
        print_summary(run);
    if (began)
        lap_folder_print_none(&run->folder);
    if (run->folder.cli->verbose && code == LAP_OK)
        lap_folder_print_work(&run->folder);
    const int exit_code = lap_folder_exit(&run->folder, code);
    return exit_code == LAP_EXIT_OK ? run->failed : exit_code;
}

static int measure_folder(lap_cli *cli, lap_context *context, const lap_measure_options *options)
{
    stats_run run = {.options = options};
    lap_folder *folder = &run.folder;
    lap_folder_begin(folder, cli, cli->operand_count);
    lap_folder_start(folder, context, "files");
    const lap_measure_order order = {.options = &folder->options,
        .measure = options,
        .each = on_event,
        .text = lap_cli_wants_json(cli) ? json_text : NULL,
        .user = &run};
    const lap_code code = lap_measure_batch(context, &order, &cli->settings, &folder->counts, &folder->err);
    lap_folder_stop(folder);
    if (code != LAP_OK && folder->lost == LAP_EXIT_OK)
        lap_cli_print_error(&folder->err, NULL);
    return finish(&run, code);
}

int lap_cli_stats(lap_cli *cli)
{
    float *weights = NULL;
    lap_error err;
    lap_measure_options options = {.threshold = cli->settings.params.threshold,
        .profiles = cli->profiles,
        .mask_border = cli->allowed.mask_border};
    int exit_code = LAP_EXIT_OK;
    const bool folder = cli->forms == LAP_CLI_STATS_FOLDER;
    if (!folder && cli->operand_count != 1)
        return lap_cli_usage("IN is missing: lapedge stats IN");
    if (folder && check_folder(cli) != LAP_EXIT_OK)
        return LAP_EXIT_USAGE;
    if (!folder)
        lap_cli_warn_of_devices(cli);
    /* The threshold only defines the share that `above` reports; it does not change the edges. */
    cli->settings.params.threshold = -1;
    lap_context *context = lap_cli_begin(cli, &err);
    if (!context) {
        lap_cli_print_error(&err, NULL);
        return (int)lap_cli_exit_of(err.code);
    }
    if (cli->weights) /* parse the file of weights inside the sandbox */
        exit_code = (int)read_weights(cli->weights, &weights, &options.weight_count);
    options.weights = weights;
    if (exit_code == LAP_EXIT_OK)
        exit_code = folder ? measure_folder(cli, context, &options)
                           : measure(cli, context, cli->operands[0], &options);
    lap_cli_end(context);
    free(weights);
    return exit_code;
}
