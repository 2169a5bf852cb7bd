/* run over folders and lists: what lap_batch does, reported to a person, a log and a script. */
#include <errno.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/folder_counts.h"
#include "cli/folder_others.h"
#include "cli/folder_prune.h"
#include "cli/folder_work.h"
#include "cli/json.h"
#include "cli/sides.h"
#include "cli/term.h"
#include "cli/worker.h"

enum { NAMED = 3 }; /* failures that the summary names */

typedef struct folder_run {
    const lap_cli *cli;
    lap_cli_log log;
    lap_folder_progress progress;
    lap_batch_work work;
    char named[NAMED][160];
    lap_batch_others others;
    lap_folder_prune prune;
    bool has_lost_worker; /* without devices, whatever was asked for */
} folder_run;

static void write_log(folder_run *run, const lap_batch_file *file)
{
    json_t *record = lap_json_file(file->input, file->output, &run->cli->settings, file->report);
    lap_cli_log_line(&run->log, record);
    json_decref(record);
}

static void print_done(const lap_cli *cli, const lap_batch_file *file)
{
    FILE *to = cli->dry_run && !cli->json ? stdout : stderr; /* the list of -n is what was asked for */
    lap_cli_print_safely(to, file->input);
    fputs(" -> ", to);
    lap_cli_print_safely(to, file->output);
    if (!cli->dry_run)
        fprintf(
            stderr, "  %d x %d, %.1f ms", file->report->width, file->report->height, file->report->ms.total);
    fputc('\n', to);
}

/* The progress line makes room only where something is said: of most files there is nothing to say. */
static void print_file(folder_run *run, const lap_batch_file *file, const lap_batch_counts *counts)
{
    const lap_report *report = file->report;
    const lap_cli *cli = run->cli;
    const bool failed = report->status == LAP_FAILED,
               reported = failed || (report->status == LAP_SKIPPED && report->error.code != LAP_OK),
               warned = report->status == LAP_WARNED && !cli->quiet,
               finished = report->status == LAP_DONE || report->status == LAP_WARNED,
               done = finished && (cli->verbose || cli->dry_run) && !cli->quiet;
    if (failed && counts->failed <= NAMED)
        snprintf(run->named[counts->failed - 1], sizeof *run->named, "%s", file->input);
    if (reported || warned || done)
        lap_folder_progress_hide(&run->progress);
    if (reported)
        lap_cli_print_error(&report->error, file->input);
    else if (warned)
        lap_cli_warn(file->input, report);
    if (done)
        print_done(cli, file);
}

static void on_event(void *user, const lap_batch_file *file, const lap_batch_counts *counts)
{
    folder_run *run = user;
    if (file) {
        print_file(run, file, counts);
        if (run->cli->log)
            write_log(run, file);
    }
    lap_folder_progress_show(&run->progress, counts, &run->work);
}

static void on_warning(void *user, const lap_error *warning)
{
    folder_run *run = user;
    lap_folder_warn(run->cli, &run->progress, warning);
}

static void summary(const folder_run *run, const lap_batch_counts *counts)
{
    const uint64_t done = counts->ok + counts->warned, existing = counts->kinds[LAP_E_EXISTS];
    const double seconds = counts->ms / 1e3;
    lap_folder_print_others(&run->others);
    fprintf(stderr, run->cli->dry_run ? "%llu to be done" : "%llu done", (unsigned long long)done);
    if (counts->warned)
        fprintf(stderr, " (%llu with warnings)", (unsigned long long)counts->warned);
    if (counts->kinds[LAP_OK])
        fprintf(stderr, ", %llu %s", (unsigned long long)counts->kinds[LAP_OK],
            run->cli->skip_existing ? "there already" : "up to date");
    if (existing)
        fprintf(stderr, ", %llu left alone (%s)", (unsigned long long)existing,
            run->cli->settings.no_clobber ? "--no-clobber"
                                          : "not made by lapedge, or changed since; -f replaces files");
    lap_folder_print_failed(counts);
    if (run->prune.work.removed)
        fprintf(stderr, ", %llu %s (photo gone)", (unsigned long long)run->prune.work.removed,
            run->cli->dry_run ? "to be removed" : "removed");
    if (!run->cli->dry_run && seconds > 0)
        fprintf(stderr, "; %.1f s", seconds);
    if (!run->cli->dry_run && seconds > 0 && counts->pixels > 0)
        fprintf(stderr, ", %.0f Mpixel/s", (double)counts->pixels / 1e6 / seconds);
    fputc('\n', stderr);
    /* A few failures have just been reported; of many the first may have scrolled away. */
    for (int i = 0; counts->failed > NAMED && i < NAMED; i++) {
        fputs(i ? ", " : "first to fail: ", stderr);
        lap_cli_print_safely(stderr, run->named[i]);
    }
    if (counts->failed > NAMED)
        fputc('\n', stderr);
    if (counts->links)
        lap_cli_message("%llu symbolic link%s not followed", (unsigned long long)counts->links,
            counts->links > 1 ? "s" : "");
    if (!counts->expected && !counts->other_shards)
        lap_cli_message("no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content)");
}

static int print_json(const folder_run *run, const lap_batch_counts *counts, const lap_error *err)
{
    json_t *object = lap_json_object("lapedge.run/1");
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {{"found", counts->found}, {"expected", counts->expected},
        {"other_shards", counts->other_shards}, {"links", counts->links}, {"ok", counts->ok},
        {"warned", counts->warned}, {"skipped", counts->skipped}, {"failed", counts->failed},
        {"pixels", counts->pixels}, {"bytes_in", counts->bytes_in}, {"bytes_out", counts->bytes_out}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        json_object_set_new(object, fields[i].name, json_integer((json_int_t)fields[i].value));
    json_object_set_new(object, "kinds", lap_folder_kinds_json(counts));
    json_object_set_new(object, "not_taken", lap_folder_others_json(&run->others));
    json_object_set_new(object, "pruned", lap_folder_prune_json(&run->prune));
    json_object_set_new(object, "dry_run", json_boolean(run->cli->dry_run));
    json_object_set_new(object, "ms", lap_json_real(counts->ms));
    json_object_set_new(object, "error", lap_json_error(err));
    json_object_set_new(object, "work", lap_json_work(&run->work));
    return lap_json_print(object);
}

static int run_folder(lap_cli *cli, folder_run *run, const lap_batch_options *options)
{
    lap_batch_counts counts = {0};
    lap_error err = {0};
    lap_context *context = lap_cli_begin(cli, &err);
    if (!context) {
        lap_cli_print_error(&err, NULL);
        return (int)lap_cli_exit_of(err.code);
    }
    lap_settings settings = cli->settings;
    if (run->has_lost_worker) {
        settings.backend = "auto";
        settings.codec = LAP_CODEC_CPU;
    }
    const lap_code code = lap_batch(context, options, &settings, on_event, run, &counts, &err);
    if (run->has_lost_worker)
        snprintf(run->work.how, sizeof run->work.how, "the CPU alone: the process with the devices has died");
    lap_folder_progress_hide(&run->progress);
    lap_cli_end(context);
    if (code != LAP_OK)
        lap_cli_print_error(&err, NULL);
    if (!cli->quiet && (code == LAP_OK || counts.found))
        summary(run, &counts);
    if (cli->verbose && code == LAP_OK && !cli->dry_run)
        lap_folder_print_work(&run->work);
    int exit_code = lap_folder_exit(code, &counts);
    if (cli->prune && lap_folder_prune_end(&run->prune, code, &err) != LAP_EXIT_OK &&
        exit_code == LAP_EXIT_OK)
        exit_code = LAP_EXIT_FAILED;
    if (lap_cli_wants_json(cli) && print_json(run, &counts, &err) != LAP_EXIT_OK && exit_code == LAP_EXIT_OK)
        exit_code = LAP_EXIT_FAILED;
    if (cli->log && code == LAP_OK)
        lap_cli_log_begin(&run->log); /* empty, where nothing was found */
    return exit_code;
}

static int check_operands(const lap_cli *cli)
{
    const int count = cli->operand_count;
    if (cli->in_place)
        return lap_cli_usage("--in-place and an output folder cannot be combined");
    if (cli->files_from && count != 1)
        return lap_cli_usage(
            count ? "--files-from takes OUTDIR as its only operand: lapedge --files-from=FILE OUTDIR"
                  : "OUTDIR is missing: lapedge --files-from=FILE OUTDIR");
    if (!cli->files_from && count < 2)
        return lap_cli_usage("OUTDIR is missing: lapedge %s OUTDIR", cli->operands[0]);
    for (int i = 0; i < count; i++)
        if (!strcmp(cli->operands[i], "-"))
            return lap_cli_usage("- cannot be used with folders or several files");
    if (cli->dry_run && (cli->log || cli->trace))
        return lap_cli_usage("-n writes nothing; leave out %s", cli->log ? "--log" : "--trace");
    if (cli->log && cli->json && strcmp(cli->log, "-") == 0)
        return lap_cli_usage("--log=- and --json cannot both go to standard output");
    if (cli->null_separated && !cli->files_from)
        return lap_cli_usage("-0 needs --files-from");
    return LAP_EXIT_OK;
}

int lap_cli_folder(lap_cli *cli)
{
    folder_run run = {.cli = cli};
    lap_error err;
    const int count = cli->operand_count;
    int exit_code = check_operands(cli);
    if (exit_code != LAP_EXIT_OK)
        return exit_code;
    run.has_lost_worker = lap_cli_has_lost_worker(cli);
    const char *const sides[] = {cli->log, cli->trace};
    const lap_batch_devices devices = lap_folder_devices(cli);
    lap_batch_options options = lap_folder_inputs(cli, count - 1, &devices, &run.others, &run.work);
    options.warn = on_warning;
    options.out_dir = cli->operands[count - 1];
    options.force = cli->force;
    options.dry_run = cli->dry_run;
    options.suffix = cli->suffix;
    options.flat = cli->flat;
    options.skip_existing = cli->skip_existing;
    options.no_clobber = cli->settings.no_clobber;
    options.prune = lap_folder_prune_begin(&run.prune, cli, &run.progress);
    options.sides = sides + !cli->log;
    options.side_count = (size_t)(cli->log != NULL) + (cli->trace != NULL);
    if (cli->shard && lap_shard_parse(cli->shard, &options.shard, &options.shards, &err) != LAP_OK)
        return lap_cli_usage("--shard=%.40s: %s", cli->shard, err.message);
    if (cli->log && !lap_cli_log_postpone(&run.log, cli->log, options.out_dir) &&
        !lap_cli_log_open(&run.log, cli->log)) {
        lap_cli_message("%s: %s", cli->log, strerror(errno));
        return LAP_EXIT_NOTHING;
    }
    lap_folder_progress_begin(&run.progress, cli);
    exit_code = run_folder(cli, &run, &options);
    lap_folder_prune_free(&run.prune);
    if (cli->log && !lap_cli_log_close(&run.log, cli->log)) {
        if (strcmp(cli->log, "-") == 0 && lap_term_reader_left())
            return LAP_EXIT_PIPE;
        lap_cli_message("%s: the log could not be written: %s", cli->log, strerror(run.log.problem));
        exit_code = exit_code ? exit_code : LAP_EXIT_FAILED;
    }
    return exit_code;
}
