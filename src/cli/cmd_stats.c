/* stats: statistics of an image and its edges. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/measure/stats_view.h"
#include "cli/report/report.h"
#include "cli/term.h"

/* Numbers separated by spaces, commas or line ends; LAP_EXIT_USAGE after a message. */
static lap_cli_exit read_weights(const char *path, float **weights, size_t *count)
{
    FILE *file = fopen(path, "re");
    size_t capacity = 0;
    float value;
    int got = 1;
    *weights = NULL;
    *count = 0;
    if (!file)
        return lap_cli_usage("--weights=%s: %s", path, strerror(errno));
    while ((got = fscanf(file, " %f", &value)) == 1) {
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 4096;
            float *grown = reallocarray(*weights, capacity, sizeof *grown);
            if (!grown)
                break;
            *weights = grown;
        }
        (*weights)[(*count)++] = value;
        if (fscanf(file, " %*1[,;]") == EOF)
            break;
    }
    const bool ended = feof(file) && !ferror(file) && *count > 0;
    fclose(file);
    return ended ? LAP_EXIT_OK : lap_cli_usage("--weights=%s: number %zu cannot be read", path, *count + 1);
}

static int show(const lap_cli *cli, const char *in, const lap_measurement *m)
{
    const int printed = lap_cli_wants_json(cli) ? lap_json_print(lap_stats_json(in, &m->stats, m)) : 0;
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

/* The report reads the image a second time: its pixels were not kept. */
static int write_report(const lap_cli *cli, lap_context *context, const char *in, const lap_measurement *m)
{
    lap_error err;
    json_t *report = lap_report_create(cli, in, lap_context_threads(context));
    json_t *results = lap_stats_json(in, &m->stats, m);
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
    lap_error err;
    const double began = lap_cli_now_ms();
    const lap_code code = lap_measure_file(context, in, &cli->settings, options, &m, &err);
    if (cli->verbose && code == LAP_OK)
        lap_cli_message("%s: backend %s%s%s, up to %d threads, %.1f ms%s%s", in, cli->settings.backend,
            strcmp(m.resolved, cli->settings.backend) != 0 ? " -> " : "",
            strcmp(m.resolved, cli->settings.backend) != 0 ? m.resolved : "", lap_context_threads(context),
            lap_cli_now_ms() - began, m.note ? "; " : "", m.note ? m.note : "");
    int exit_code = (int)lap_cli_exit_of(code);
    if (code != LAP_OK && !(code == LAP_E_CANCELLED && lap_cli_caught()))
        lap_cli_print_error(&err, in);
    if (code == LAP_OK)
        exit_code = show(cli, in, &m);
    if (code == LAP_OK && exit_code == LAP_EXIT_OK && cli->report)
        exit_code = write_report(cli, context, in, &m);
    lap_measurement_free(&m);
    return exit_code;
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
    if (folder && lap_stats_folder_check(cli) != LAP_EXIT_OK)
        return LAP_EXIT_USAGE;
    if (cli->weights && !cli->profiles)
        return lap_cli_usage("--weights needs --profiles");
    if (cli->report && strcmp(cli->operands[0], "-") == 0)
        return lap_cli_usage("--report reads the image again: name a file, not standard input");
    if (lap_report_check(cli) != LAP_EXIT_OK)
        return LAP_EXIT_USAGE;
    if (!folder)
        lap_cli_warn_of_devices(cli);
    /* Here the threshold asks for a share; the edges stay as they are. */
    cli->settings.params.threshold = -1;
    lap_context *context = lap_cli_begin(cli, &err);
    if (!context) {
        lap_cli_print_error(&err, NULL);
        return (int)lap_cli_exit_of(err.code);
    }
    if (cli->weights) /* a file to be parsed, too: in the sandbox */
        exit_code = (int)read_weights(cli->weights, &weights, &options.weight_count);
    options.weights = weights;
    if (exit_code == LAP_EXIT_OK)
        exit_code = folder ? lap_stats_folder(cli, context, &options)
                           : measure(cli, context, cli->operands[0], &options);
    lap_cli_end(context);
    free(weights);
    return exit_code;
}
