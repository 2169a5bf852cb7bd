#include "cli/stats_folder.h"

#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/folder_counts.h"
#include "cli/folder_others.h"
#include "cli/folder_work.h"
#include "cli/json.h"
#include "cli/stats_sum.h"
#include "cli/stats_view.h"
#include "cli/term.h"

typedef struct stats_run {
    const lap_cli *cli;
    const lap_measure_options *options;
    lap_folder_progress progress;
    lap_batch_others others;
    lap_batch_work work;
    lap_stats_sum gray, color;
    bool has_head; /* of the table or of CSV */
    int failed;    /* exit code of the first object that was not written; 0 */
} stats_run;

/* ---- a photo ----------------------------------------------------------------------------------- */

static void print_object(stats_run *run, json_t *object)
{
    const int code = lap_json_print(object);
    if (run->failed == LAP_EXIT_OK)
        run->failed = code;
}

static void print_failed_json(stats_run *run, const lap_measured *file)
{
    json_t *object = lap_json_object("lapedge.stats_failed/1");
    lap_json_path(object, "input", file->input);
    json_object_set_new(object, "error", lap_json_error(&file->report->error));
    print_object(run, object);
}

/* All channels together: a line has no room for each. */
static void print_line(stats_run *run, const lap_measured *file)
{
    const lap_measurement *m = file->measurement;
    const lap_channel_stats input = lap_stats_of_channels(&m->stats.input);
    const lap_channel_stats edges = lap_stats_of_channels(&m->stats.edges);
    if (!run->has_head)
        printf("%s  input mean  stddev  edges mean  stddev  p99     width x height  file%s\n",
            lap_term_bold(run->cli, stdout), lap_term_plain(run->cli, stdout));
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
    const lap_cli *cli = run->cli;
    const lap_measurement *m = file->measurement;
    if (lap_cli_wants_json(cli))
        print_object(run, lap_stats_json(file->input, &m->stats, m));
    if (cli->csv) {
        if (!run->has_head)
            lap_stats_csv_head(true);
        run->has_head = true;
        lap_stats_csv(file->input, &m->stats, m);
    } else if (!cli->json && !cli->quiet) {
        print_line(run, file);
    }
}

/* With -v. */
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
        lap_folder_progress_hide(&run->progress);
        if (file->measurement && run->cli->verbose)
            print_details(file);
        if (file->measurement) {
            const lap_run_stats *stats = &file->measurement->stats;
            lap_stats_sum_add(stats->input.channels == 1 ? &run->gray : &run->color, stats);
            print_measured(run, file);
        } else {
            lap_cli_print_error(&file->report->error, file->input);
            if (lap_cli_wants_json(run->cli))
                print_failed_json(run, file);
        }
        if (file->report->status == LAP_WARNED && !run->cli->quiet)
            lap_cli_warn(file->input, file->report);
    }
    lap_folder_progress_show(&run->progress, counts, &run->work);
}

static void on_warning(void *user, const lap_error *warning)
{
    stats_run *run = user;
    lap_folder_warn(run->cli, &run->progress, warning);
}

/* ---- all together ------------------------------------------------------------------------------ */

typedef struct kind { /* of photos, which are added up apart */
    const char *name, *key;
    const lap_stats_sum *sum;
    int channels;
} kind;

static json_t *kind_json(const kind *k, int threshold)
{
    lap_run_stats stats;
    if (!lap_stats_sum_result(k->sum, k->channels, threshold, &stats))
        return json_null();
    return json_pack("{sI so so}", "photos", (json_int_t)k->sum->photos, "input",
        lap_stats_image_json(&stats.input), "edges", lap_stats_image_json(&stats.edges));
}

static void print_totals_json(
    stats_run *run, const kind kinds[2], const lap_batch_counts *counts, const lap_error *err)
{
    json_t *object = lap_json_object("lapedge.stats_totals/1");
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {{"expected", counts->expected}, {"ok", counts->ok}, {"warned", counts->warned},
        {"failed", counts->failed}, {"links", counts->links}, {"pixels", counts->pixels}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        json_object_set_new(object, fields[i].name, json_integer((json_int_t)fields[i].value));
    json_object_set_new(object, "kinds", lap_folder_kinds_json(counts));
    json_object_set_new(object, "not_taken", lap_folder_others_json(&run->others));
    json_object_set_new(object, "mask_border", json_integer(run->options->mask_border));
    json_object_set_new(object, "threshold",
        run->options->threshold >= 0 ? json_integer(run->options->threshold) : json_null());
    for (int i = 0; i < 2; i++)
        json_object_set_new(object, kinds[i].key, kind_json(&kinds[i], run->options->threshold));
    json_object_set_new(object, "ms", lap_json_real(counts->ms));
    json_object_set_new(object, "error", lap_json_error(err));
    json_object_set_new(object, "work", lap_json_work(&run->work));
    print_object(run, object);
}

static void print_totals(const stats_run *run, const kind *k)
{
    const lap_cli *cli = run->cli;
    lap_run_stats stats;
    if (cli->json || (cli->quiet && !cli->csv) ||
        !lap_stats_sum_result(k->sum, k->channels, run->options->threshold, &stats))
        return;
    if (cli->csv) {
        lap_stats_csv("", &stats, NULL);
        return;
    }
    printf("\n%llu photo%s in %s together\n", (unsigned long long)k->sum->photos,
        k->sum->photos == 1 ? "" : "s", k->name);
    lap_stats_tables(cli, &stats, isatty(STDOUT_FILENO));
}

static void print_summary(const stats_run *run, const lap_batch_counts *counts)
{
    const double seconds = counts->ms / 1e3;
    const uint64_t measured = counts->ok + counts->warned;
    lap_folder_print_others(&run->others);
    fprintf(stderr, "%llu measured", (unsigned long long)measured);
    lap_folder_print_failed(counts);
    if (seconds > 0)
        fprintf(stderr, "; %.1f s, %.0f Mpixel/s", seconds, (double)counts->pixels / 1e6 / seconds);
    fputc('\n', stderr);
    if (counts->links)
        lap_cli_message("%llu symbolic link%s not followed", (unsigned long long)counts->links,
            counts->links > 1 ? "s" : "");
    if (!counts->expected)
        lap_cli_message("no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content)");
}

lap_cli_exit lap_stats_folder_check(const lap_cli *cli)
{
    if (cli->files_from && cli->operand_count > 0)
        return lap_cli_usage("--files-from names the inputs: lapedge stats --files-from=FILE");
    if (cli->null_separated && !cli->files_from)
        return lap_cli_usage("-0 needs --files-from");
    for (int i = 0; i < cli->operand_count; i++)
        if (strcmp(cli->operands[i], "-") == 0)
            return lap_cli_usage("- cannot be used with folders or several files");
    return LAP_EXIT_OK;
}

static int finish(stats_run *run, lap_code code, const lap_batch_counts *counts, const lap_error *err)
{
    const kind kinds[2] = {{"gray", "gray", &run->gray, 1}, {"colour", "color", &run->color, 3}};
    if (lap_cli_wants_json(run->cli))
        print_totals_json(run, kinds, counts, err);
    for (int i = 0; i < 2; i++)
        print_totals(run, &kinds[i]);
    if (!run->cli->quiet && (code == LAP_OK || counts->found))
        print_summary(run, counts);
    if (run->cli->verbose && code == LAP_OK)
        lap_folder_print_work(&run->work);
    const int exit_code = lap_folder_exit(code, counts);
    return exit_code == LAP_EXIT_OK ? run->failed : exit_code;
}

int lap_stats_folder(lap_cli *cli, lap_context *context, const lap_measure_options *options)
{
    stats_run run = {.cli = cli, .options = options};
    lap_batch_counts counts = {0};
    lap_error err = {0};
    const lap_batch_devices devices = lap_folder_devices(cli);
    lap_batch_options inputs = lap_folder_inputs(cli, cli->operand_count, &devices, &run.others, &run.work);
    inputs.warn = on_warning;
    const int threads = lap_context_threads(context);
    if (cli->verbose)
        lap_cli_message("up to %d files at once, %d threads",
            cli->jobs > 0 && cli->jobs < threads ? cli->jobs : threads, threads);
    lap_folder_progress_begin(&run.progress, cli);
    const lap_code code =
        lap_measure_batch(context, &inputs, &cli->settings, options, on_event, &run, &counts, &err);
    lap_folder_progress_hide(&run.progress);
    if (code != LAP_OK)
        lap_cli_print_error(&err, NULL);
    return finish(&run, code, &counts, &err);
}
