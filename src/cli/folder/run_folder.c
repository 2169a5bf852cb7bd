/* run and transform for folders and lists: calls lap_batch and reports to a person, a log and a script. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/folder/folder.h"
#include "cli/json.h"
#include "cli/options/values.h"
#include "cli/report/report.h"
#include "cli/sides.h"
#include "cli/term.h"

enum { NAMED = 3 }; /* failures that the summary lists by name */

typedef struct folder_run {
    lap_folder folder;
    lap_cli_log log;
    char named[NAMED][160];
    char recoded[160];            /* the first photo that could not be transformed losslessly */
    lap_batch_prune prune;        /* --prune: outputs whose photo is gone */
    json_t *pruned;               /* names of removed outputs */
    bool has_lost_worker;         /* run without devices, even if the options name some */
    lap_sheet *sheet;             /* contact sheet for --report */
    const char *sides[LAP_SIDES]; /* files to write in addition to the outputs */
} folder_run;

/* ---- a file -------------------------------------------------------------------------------------- */

static void write_log(folder_run *run, const lap_batch_file *file)
{
    json_t *record = lap_json_line(file->input, file->output, &run->folder.cli->settings, file->report);
    lap_cli_log_line(&run->log, record);
    json_decref(record);
}

static void print_done(const lap_cli *cli, const lap_batch_file *file)
{
    FILE *to = cli->dry_run && !cli->json ? stdout : stderr; /* -n's list is the requested output */
    lap_cli_print_safely(to, file->input);
    fputs(" -> ", to);
    lap_cli_print_safely(to, file->output);
    if (!cli->dry_run)
        fprintf(
            stderr, "  %d x %d, %.1f ms", file->report->width, file->report->height, file->report->ms.total);
    fputc('\n', to);
}

/* Hides the progress line only if something is printed; most files need no message. */
static void print_file(folder_run *run, const lap_batch_file *file, const lap_batch_counts *counts)
{
    const lap_report *report = file->report;
    const lap_cli *cli = run->folder.cli;
    const bool failed = report->status == LAP_FAILED,
               reported = failed || (report->status == LAP_SKIPPED && report->error.code != LAP_OK),
               warned = report->status == LAP_WARNED && !cli->quiet,
               finished = report->status == LAP_DONE || report->status == LAP_WARNED,
               done = finished && (cli->verbose || cli->dry_run) && !cli->quiet;
    if (finished && report->recoded && counts->recoded == 1)
        snprintf(run->recoded, sizeof run->recoded, "%s", file->input);
    if (failed && counts->failed <= NAMED)
        snprintf(run->named[counts->failed - 1], sizeof *run->named, "%s", file->input);
    const bool told = (reported || warned) && lap_folder_may_tell(&run->folder, report);
    if (told || done)
        lap_progress_hide(&run->folder.progress);
    if (reported && told)
        lap_cli_print_error(&report->error, file->input);
    else if (warned && told)
        lap_cli_warn(file->input, report);
    if (done)
        print_done(cli, file);
}

static void on_event(void *user, const lap_batch_file *file, const lap_batch_counts *counts)
{
    folder_run *run = user;
    if (run->folder.cli->log)
        lap_cli_log_begin(&run->log); /* empties a log of an earlier run */
    if (file) {
        print_file(run, file, counts);
        if (run->folder.cli->log)
            write_log(run, file);
        if (run->folder.cli->report)
            lap_sheet_add_file(run->sheet, file);
    }
    lap_folder_show(&run->folder, counts);
}

/* ---- --prune ------------------------------------------------------------------------------------- */

static void on_output(void *user, const char *output, const lap_error *problem)
{
    folder_run *run = user;
    const lap_cli *cli = run->folder.cli;
    lap_progress_hide(&run->folder.progress);
    if (problem) {
        lap_cli_print_error(problem, output);
        return;
    }
    json_array_append_new(run->pruned, lap_json_text(output));
    if (cli->quiet || !(cli->verbose || cli->dry_run))
        return;
    FILE *to = cli->dry_run && !cli->json ? stdout : stderr; /* as for -n's list */
    fputs(cli->dry_run ? "remove " : "removed ", to);
    lap_cli_print_safely(to, output);
    fputc('\n', to);
}

/* Prints after the summary which outputs were kept, and why. Returns LAP_EXIT_FAILED if outputs were kept
 * that perhaps should have been removed. */
static lap_cli_exit end_prune(folder_run *run, lap_code code)
{
    lap_batch_prune *prune = &run->prune;
    char why[1024];
    if (code != LAP_OK) /* already reported */
        prune->refused = run->folder.err;
    else if (prune->refused.code != LAP_OK)
        lap_cli_message("--prune: nothing %swas removed: %s", prune->removed > 0 ? "more " : "",
            lap_cli_error_text(&prune->refused, why, sizeof why));
    if (prune->kept > 0 && !run->folder.cli->quiet)
        lap_cli_message(
            "--prune: %llu output%s left: a folder in the photo's path is empty; its disk may not be mounted",
            (unsigned long long)prune->kept, prune->kept > 1 ? "s" : "");
    if (prune->hidden > 0)
        lap_cli_message(
            "--prune: %llu output%s left: %s may be behind a symbolic link that leads nowhere or is not "
            "followed, %s",
            (unsigned long long)prune->hidden, prune->hidden > 1 ? "s" : "",
            prune->hidden > 1 ? "their photos" : "its photo",
            lap_cli_quoted(prune->hidden_by, why, sizeof why));
    if (prune->changed > 0 && !run->folder.cli->quiet)
        lap_cli_message("--prune: %llu output%s left: changed or copied after lapedge wrote %s",
            (unsigned long long)prune->changed, prune->changed > 1 ? "s" : "",
            prune->changed > 1 ? "them" : "it");
    if (prune->elsewhere > 0 && !run->folder.cli->quiet)
        lap_cli_message("--prune: %llu output%s left: %s, and %s not there any more",
            (unsigned long long)prune->elsewhere, prune->elsewhere > 1 ? "s" : "",
            prune->elsewhere > 1 ? "their photos were in folders that are not part of this run"
                                 : "its photo was in a folder that is not part of this run",
            prune->elsewhere > 1 ? "are" : "is");
    if (prune->others > 0 && !run->folder.cli->quiet)
        lap_cli_message("--prune: %llu output%s left: recorded in %s; a run with that OUTDIR and its photos "
                        "can remove %s",
            (unsigned long long)prune->others, prune->others > 1 ? "s" : "",
            lap_cli_quoted(prune->others_in, why, sizeof why), prune->others > 1 ? "them" : "it");
    return prune->refused.code != LAP_OK || prune->failed + prune->hidden > 0 ? LAP_EXIT_FAILED : LAP_EXIT_OK;
}

/* Makes "pruned" of lapedge.run/1. */
static json_t *prune_json(const folder_run *run)
{
    const lap_batch_prune *prune = &run->prune;
    if (!run->folder.cli->prune)
        return json_null();
    return json_pack("{sI sI sI sI sI sI sI sO so}", "files", (json_int_t)prune->removed, "failed",
        (json_int_t)prune->failed, "kept", (json_int_t)prune->kept, "hidden", (json_int_t)prune->hidden,
        "changed", (json_int_t)prune->changed, "elsewhere", (json_int_t)prune->elsewhere, "others",
        (json_int_t)prune->others, "outputs", run->pruned, "refused", lap_json_error(&prune->refused));
}

/* ---- all together -------------------------------------------------------------------------------- */

/* After a run that ended early, prints how to process the remaining photos. Most causes would stop the same
 * command again until they are removed. */
static void print_rest(const lap_folder *folder)
{
    const lap_code why = folder->err.code;
    if (!lap_folder_left(folder) || folder->cli->rebuild || folder->cli->fail_fast)
        return;
    lap_cli_message("%sthe same command continues", why == LAP_OK || why == LAP_E_CANCELLED ? ""
                                                    : why == LAP_E_DISK_FULL ? "once there is room, "
                                                                             : "once the cause is removed, ");
}

static void summary(const folder_run *run)
{
    const lap_batch_counts *counts = &run->folder.counts;
    const uint64_t done = counts->ok + counts->warned, existing = counts->kinds[LAP_E_EXISTS];
    const double seconds = counts->ms / 1e3;
    lap_folder_print_others(&run->folder);
    lap_folder_print_made(&run->folder);
    if (counts->recoded)
        lap_cli_message("note: %llu JPEG%s re-encoded, because a lossless transformation is impossible "
                        "(%s%s); --trim cuts to whole MCUs, --perfect refuses, -v says why",
            (unsigned long long)counts->recoded, counts->recoded > 1 ? "s were" : " was", run->recoded,
            counts->recoded > 1 ? ", ..." : "");
    fprintf(stderr, run->folder.cli->dry_run ? "%llu to be done" : "%llu done", (unsigned long long)done);
    if (counts->warned)
        fprintf(stderr, " (%llu with warnings)", (unsigned long long)counts->warned);
    if (counts->kinds[LAP_OK])
        fprintf(stderr, ", %llu %s", (unsigned long long)counts->kinds[LAP_OK],
            run->folder.cli->skip_existing ? "there already" : "up to date");
    if (existing)
        fprintf(stderr, ", %llu left alone (%s)", (unsigned long long)existing,
            run->folder.cli->settings.no_clobber
                ? "--no-clobber"
                : "not made by lapedge, changed since, made from other photos, or by another run");
    lap_folder_print_failed(&run->folder);
    if (run->prune.removed)
        fprintf(stderr, ", %llu %s (photo gone)", (unsigned long long)run->prune.removed,
            run->folder.cli->dry_run ? "to be removed" : "removed");
    lap_folder_print_left(&run->folder);
    if (!run->folder.cli->dry_run && seconds > 0)
        fprintf(stderr, "; %.1f s", seconds);
    if (!run->folder.cli->dry_run && seconds > 0 && counts->pixels > 0)
        fprintf(stderr, ", %.0f Mpixel/s", (double)counts->pixels / 1e6 / seconds);
    fputc('\n', stderr);
    print_rest(&run->folder);
    lap_folder_print_untold(&run->folder);
    /* A few failures are still visible on the terminal; of many, the first may have scrolled away. */
    const bool lists = counts->failed > NAMED && run->named[0][0];
    for (int i = 0; lists && i < NAMED && run->named[i][0]; i++) { /* vanished photos have no names */
        fputs(i ? ", " : "first to fail: ", stderr);
        lap_cli_print_safely(stderr, run->named[i]);
    }
    if (lists)
        fputc('\n', stderr);
    lap_folder_print_links(&run->folder);
}

static json_t *json_of(const folder_run *run)
{
    const lap_batch_counts *counts = &run->folder.counts;
    const lap_json_count fields[] = {{"found", counts->found}, {"expected", counts->expected},
        {"other_shards", counts->other_shards}, {"links", counts->links}, {"ok", counts->ok},
        {"warned", counts->warned}, {"skipped", counts->skipped}, {"failed", counts->failed},
        {"recoded", counts->recoded}, {"pixels", counts->pixels}, {"bytes_in", counts->bytes_in},
        {"bytes_out", counts->bytes_out}};
    json_t *object = lap_json_object("lapedge.run/1");
    lap_json_counts(object, fields, sizeof fields / sizeof *fields);
    json_object_set_new(object, "kinds", lap_folder_json_kinds(&run->folder));
    json_object_set_new(object, "not_taken", lap_folder_json_others(&run->folder));
    json_object_set_new(object, "filtered_before", json_integer((json_int_t)run->folder.others.made));
    json_object_set_new(object, "pruned", prune_json(run));
    json_object_set_new(object, "dry_run", json_boolean(run->folder.cli->dry_run));
    lap_folder_json_end(&run->folder, object);
    json_object_set_new(object, "work", lap_json_work(&run->folder.work));
    return object;
}

/* Prints the object of a run that ends with this exit code. Returns the exit code to end with. */
static int print_json(const folder_run *run, int exit_code)
{
    json_t *object = json_of(run);
    lap_json_run(object, run->folder.cli->started, exit_code);
    const bool is_printed = lap_json_print(object) == LAP_EXIT_OK;
    return is_printed || exit_code != LAP_EXIT_OK ? exit_code : LAP_EXIT_FAILED;
}

static lap_code work(folder_run *run, lap_context *context)
{
    lap_folder *folder = &run->folder;
    lap_settings settings = run->folder.cli->settings;
    if (run->has_lost_worker) {
        settings.backend = "auto";
        settings.codec = LAP_CODEC_CPU;
    }
    lap_folder_start(folder, context, NULL);
    const lap_code code =
        lap_batch(context, &folder->options, &settings, on_event, run, &folder->counts, &folder->err);
    lap_folder_stop(folder);
    if (!settings.filter) /* rotating edge maps deserves no warning */
        folder->others.made = 0;
    if (run->has_lost_worker)
        snprintf(folder->work.how, sizeof folder->work.how,
            "the CPU alone: the process with the devices has died");
    return code;
}

static int run_folder(lap_cli *cli, folder_run *run)
{
    lap_folder *folder = &run->folder;
    lap_context *context = lap_cli_begin(cli, &folder->err);
    if (!context) {
        lap_cli_print_error(&folder->err, NULL);
        return lap_cli_log_end(&run->log, cli->log, (int)lap_cli_exit_of(folder->err.code));
    }
    const lap_code code = work(run, context);
    const bool began = code == LAP_OK || folder->counts.found;
    const int reported =
        cli->report && began ? lap_sheet_write(run->sheet, cli, context, json_of(run)) : LAP_EXIT_OK;
    lap_cli_end(context);
    if (code == LAP_E_WRITE && cli->trace && lap_cli_is_stdout(cli->trace) && lap_term_reader_left())
        folder->lost = LAP_EXIT_PIPE;
    else if (code != LAP_OK)
        lap_cli_print_error(&folder->err, NULL);
    if (code == LAP_E_CLASH)
        lap_json_keep_off(&folder->err);
    if (!cli->quiet && began)
        summary(run);
    if (began)
        lap_folder_print_none(folder);
    if (cli->verbose && code == LAP_OK && !cli->dry_run)
        lap_folder_print_work(folder);
    int exit_code = lap_folder_exit(folder, code);
    if (exit_code == LAP_EXIT_OK)
        exit_code = reported;
    if (cli->prune && end_prune(run, code) != LAP_EXIT_OK && exit_code == LAP_EXIT_OK)
        exit_code = LAP_EXIT_FAILED;
    if (cli->log && (code == LAP_OK || (began && code != LAP_E_CLASH)))
        lap_folder_end_log(folder, &run->log);
    exit_code = lap_cli_log_end(&run->log, cli->log, exit_code);
    return lap_cli_wants_json(cli) ? print_json(run, exit_code) : exit_code;
}

/* A folder with the name of an image, a film, an archive or a document is created only if it ends with a
 * slash: otherwise an argument is probably missing or superfluous, or such a file was expected. */
static bool is_like_file(const char *out)
{
    struct stat st;
    const char *extension = lap_cli_extension(out);
    return extension && lstat(out, &st) != 0 && errno == ENOENT && lap_cli_is_common_ending(extension);
}

/* The last operand is a file, so OUTDIR was probably forgotten after a pattern such as *.jpg. */
static int check_out_dir(const lap_cli *cli, const char *out)
{
    struct stat st;
    const int count = cli->operand_count;
    char first[PATH_MAX], last[PATH_MAX];
    if (stat(out, &st) != 0 || S_ISDIR(st.st_mode))
        return LAP_EXIT_OK;
    if (cli->files_from)
        return lap_cli_usage("%s is taken for OUTDIR, but is not a folder", out);
    lap_cli_quoted(cli->operands[0], first, sizeof first);
    lap_cli_quoted(out, last, sizeof last);
    return lap_cli_usage("%s, the last of %d operands, is taken for OUTDIR, but is not a folder; add one: "
                         "%s%s %s OUTDIR",
        out, count, first, count > 2 ? " ..." : "", last);
}

static int check_operands(const lap_cli *cli)
{
    const int count = cli->operand_count;
    if (cli->files_from && count != 1)
        return lap_cli_usage(
            count ? "--files-from takes OUTDIR as its only operand: lapedge --files-from=FILE OUTDIR"
                  : "OUTDIR is missing: lapedge --files-from=FILE OUTDIR");
    char quoted[PATH_MAX];
    if (!cli->files_from && count < 2)
        return lap_cli_usage(
            "OUTDIR is missing: lapedge %s OUTDIR", lap_cli_quoted(cli->operands[0], quoted, sizeof quoted));
    if (lap_folder_check_names(cli) != LAP_EXIT_OK)
        return LAP_EXIT_USAGE;
    const char *out = cli->operands[count - 1];
    if (is_like_file(out))
        return lap_cli_usage(
            "%s: no such folder, and the name looks like a file's; write %s/ to create it", out, out);
    return check_out_dir(cli, out);
}

/* Sets the options that only run and transform use. */
static lap_code set_options(folder_run *run, lap_error *err)
{
    const lap_cli *cli = run->folder.cli;
    lap_batch_options *options = &run->folder.options;
    options->out_dir = cli->operands[cli->operand_count - 1];
    run->folder.others.finds_made = true;
    options->force = cli->force;
    options->rebuild = cli->rebuild;
    options->dry_run = cli->dry_run;
    options->suffix = cli->suffix;
    options->flat = cli->flat;
    options->skip_existing = cli->skip_existing;
    options->no_clobber = cli->settings.no_clobber;
    options->sides = run->sides;
    options->side_count = lap_cli_list_sides(cli, run->sides);
    if (cli->prune) {
        run->pruned = json_array();
        run->prune = (lap_batch_prune){.each = on_output, .user = run};
        options->prune = &run->prune;
    }
    return cli->shard ? lap_shard_parse(cli->shard, &options->shard, &options->shards, err) : LAP_OK;
}

int lap_run_folder(lap_cli *cli)
{
    folder_run run = {0};
    lap_error err;
    int exit_code = check_operands(cli);
    if (exit_code != LAP_EXIT_OK)
        return exit_code;
    run.has_lost_worker = lap_cli_has_lost_worker(cli);
    run.sheet = cli->report ? lap_sheet_create() : NULL;
    lap_folder_begin(&run.folder, cli, cli->operand_count - 1);
    if (set_options(&run, &err) != LAP_OK)
        exit_code = lap_cli_usage("--shard=%.40s: %s", cli->shard, err.message);
    else if (cli->log && !lap_cli_log_postpone(&run.log, cli, run.folder.options.out_dir) &&
             !lap_cli_log_open(&run.log, cli)) {
        lap_cli_message("--log: %s: cannot be opened: %s", cli->log, strerror(errno));
        exit_code = LAP_EXIT_NOTHING;
    } else {
        exit_code = run_folder(cli, &run);
    }
    json_decref(run.pruned);
    lap_sheet_free(run.sheet);
    return exit_code;
}
