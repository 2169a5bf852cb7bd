/* run --in-place: replaces photos with their edges, and reports to a person, a log and a script. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/folder/folder.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/sides.h"
#include "cli/term.h"

typedef struct in_place_run {
    const char *sides[LAP_SIDES]; /* files to write in addition to the photos */
    lap_folder folder;
    lap_context *context;
    lap_cli_log log;
    lap_run_stats stats; /* for --stats, which accepts one photo */
    bool has_document;
    json_t *document; /* one photo: lapedge.file/1, printed when the exit code is known */
    bool is_one;      /* one photo: report it like a run over one image */
    int exit_code;    /* exit code of the first photo for which it is not 0 */
    uint64_t unkept;  /* photos that are up to date, but lack the backup that was requested */
} in_place_run;

/* ---- a photo ------------------------------------------------------------------------------------- */

static void print_problem(in_place_run *run, const lap_batch_file *file)
{
    const lap_report *report = file->report;
    if (!lap_folder_may_tell(&run->folder, report))
        return;
    if (report->error.code != LAP_OK)
        lap_cli_print_error(&report->error, file->input);
    else
        lap_cli_warn(file->input, report);
}

/* -n: the list is the requested output. */
static void print_planned(const lap_cli *cli, const lap_batch_file *file)
{
    FILE *to = cli->json ? stderr : stdout;
    lap_cli_print_safely(to, file->input);
    fputs(" -> ", to);
    lap_cli_print_safely(to, file->output);
    fputc('\n', to);
}

/* Whether no backup lies beside an output of an earlier run: it was made without --backup, or the backup is
 * gone. A backup lies beside the file itself, not beside a link to it. */
static bool lacks_backup(const lap_cli *cli, const char *path)
{
    char name[PATH_MAX];
    char *real = cli->backup ? realpath(path, NULL) : NULL;
    const bool lacks = real && snprintf(name, sizeof name, "%s%s", real, cli->backup) < (int)sizeof name &&
                       access(name, F_OK) != 0 && errno == ENOENT;
    free(real);
    return lacks;
}

static void print_up_to_date(in_place_run *run, const char *path)
{
    const lap_cli *cli = run->folder.cli;
    const bool lacks = lacks_backup(cli, path);
    run->unkept += lacks;
    if (!cli->quiet && (run->is_one || cli->verbose))
        lap_cli_message("%s: up to date%s%s%s", path, lacks ? ", but without a backup: there is no " : "",
            lacks ? path : "", lacks ? cli->backup : "");
}

static void print_file(in_place_run *run, const lap_batch_file *file)
{
    const lap_cli *cli = run->folder.cli;
    const lap_report *report = file->report;
    const bool is_skipped = report->status == LAP_SKIPPED;
    lap_progress_hide(&run->folder.progress);
    if (report->error.code != LAP_OK || (report->status == LAP_WARNED && !cli->quiet))
        print_problem(run, file);
    else if (is_skipped && !report->note[0])
        print_up_to_date(run, file->input);
    else if (is_skipped && !cli->quiet)
        lap_cli_message("%s: %s", file->input, report->note);
    else if (report->status == LAP_DONE && cli->dry_run && !cli->quiet)
        print_planned(cli, file);
    if (cli->verbose && !is_skipped && !cli->dry_run)
        lap_cli_print_photo(cli, run->context, file->input, file->output, report);
}

static void write_log(in_place_run *run, const lap_batch_file *file)
{
    json_t *line = lap_json_line(file->input, file->output, &run->folder.cli->settings, file->report);
    lap_cli_log_line(&run->log, line);
    json_decref(line);
}

/* --stats. A photo that is up to date is already an output: its original pixels are gone, and so are their
 * statistics. */
static int write_stats(const in_place_run *run, const lap_batch_file *file)
{
    const lap_cli *cli = run->folder.cli;
    if (file->report->status != LAP_SKIPPED)
        return lap_stats_write(cli, file->input, &run->stats, file->report);
    lap_cli_message("%s: not written, because %s holds its edges already", cli->stats, file->input);
    return LAP_EXIT_FAILED;
}

/* Prints the object of one of several photos; keeps that of a single photo for print_document. */
static int print_json(in_place_run *run, const lap_batch_file *file)
{
    const lap_cli *cli = run->folder.cli;
    json_t *object = lap_json_file(file->input, file->output, &cli->settings, file->report);
    if (run->is_one) {
        json_decref(run->document);
        run->has_document = true; /* even if memory was short, so that this is reported */
        run->document = object;
        return LAP_EXIT_OK;
    }
    lap_json_run(object, cli->started, -1);
    return lap_json_print(object);
}

static void on_event(void *user, const lap_batch_file *file, const lap_batch_counts *counts)
{
    in_place_run *run = user;
    const lap_cli *cli = run->folder.cli;
    if (cli->log)
        lap_cli_log_begin(&run->log); /* empties a log of an earlier run */
    if (file) {
        print_file(run, file);
        const int photo = (int)lap_cli_exit_of_one(file->report->error.code, file->output);
        int code = photo;
        if (cli->stats && code == LAP_EXIT_OK)
            code = write_stats(run, file);
        if (cli->log)
            write_log(run, file);
        if (lap_cli_wants_json(cli)) {
            const int printed = print_json(run, file);
            code = code ? code : printed;
        }
        if (!run->exit_code && (run->is_one || code != photo)) /* several photos are only counted */
            run->exit_code = code;
    }
    if (!run->is_one)
        lap_folder_show(&run->folder, counts);
}

/* ---- all of them --------------------------------------------------------------------------------- */

/* Prints a summary for several photos; one photo needs none. */
static void summary(const in_place_run *run, lap_code code)
{
    const lap_folder *folder = &run->folder;
    const lap_batch_counts *counts = &folder->counts;
    const uint64_t left = lap_folder_left(folder), existing = counts->kinds[LAP_E_EXISTS];
    const unsigned long long done = counts->ok + counts->warned;
    fprintf(stderr, folder->cli->dry_run ? "%llu to be done" : "%llu done", done);
    if (counts->warned)
        fprintf(stderr, " (%llu with warnings)", (unsigned long long)counts->warned);
    if (counts->kinds[LAP_OK])
        fprintf(stderr, ", %llu up to date", (unsigned long long)counts->kinds[LAP_OK]);
    if (run->unkept)
        fprintf(stderr, " (%llu without a backup)", (unsigned long long)run->unkept);
    if (existing)
        fprintf(stderr, ", %llu left alone", (unsigned long long)existing);
    lap_folder_print_failed(folder);
    if (left && (code == LAP_E_CANCELLED || code == LAP_E_DISK_FULL) && !folder->cli->filter_again)
        fprintf(stderr,
            code == LAP_E_CANCELLED
                ? "; cancelled, %llu left; the same command continues"
                : "; the disk is full, %llu left; once there is room, the same command continues",
            (unsigned long long)left);
    else if (left)
        fprintf(stderr, "; stopped, %llu left", (unsigned long long)left);
    else if (!folder->cli->dry_run && counts->ms > 0)
        fprintf(stderr, "; %.1f s", counts->ms / 1e3);
    fputc('\n', stderr);
    if (left && code == LAP_E_CANCELLED && !folder->cli->filter_again)
        lap_cli_told_cancel();
    lap_folder_print_untold(folder);
}

static lap_code work(in_place_run *run)
{
    lap_folder *folder = &run->folder;
    lap_settings settings = folder->cli->settings;
    const lap_in_place order = {.options = &folder->options,
        .again = folder->cli->filter_again,
        .backup = folder->cli->backup,
        .each = on_event,
        .user = run};
    folder->options.devices = NULL; /* use one device */
    folder->options.dry_run = folder->cli->dry_run;
    folder->others.finds_made = true;
    folder->options.sides = run->sides;
    folder->options.side_count = lap_cli_list_sides(folder->cli, run->sides);
    if (run->is_one) {
        lap_progress_begin(&folder->progress, folder->cli, folder->cli->operands[0]);
        settings.progress = folder->progress.on ? lap_progress_rows : NULL;
        settings.progress_user = &folder->progress;
        settings.stats = folder->cli->stats ? &run->stats : NULL;
    } else {
        lap_folder_start(folder, run->context, "photos");
    }
    const lap_code code = lap_batch_in_place(run->context, &order, &settings, &folder->counts, &folder->err);
    lap_folder_stop(folder);
    return code;
}

static int run_in_place(lap_cli *cli, in_place_run *run)
{
    lap_folder *folder = &run->folder;
    run->context = lap_cli_begin(cli, &folder->err);
    if (!run->context) {
        lap_cli_print_error(&folder->err, NULL);
        return (int)lap_cli_exit_of(folder->err.code);
    }
    const lap_code code = work(run);
    lap_cli_end(run->context);
    const bool was_cancelled = code == LAP_E_CANCELLED && lap_cli_caught() && folder->counts.expected > 0,
               is_told = code == LAP_OK || code == LAP_E_WRITE || was_cancelled;
    if (!is_told)
        lap_cli_print_error(&folder->err, NULL);
    if (code == LAP_E_CLASH)
        lap_json_keep_off(&folder->err);
    if (!cli->quiet && folder->counts.expected > 1 && (is_told || folder->counts.found))
        summary(run, code);
    if (!cli->quiet && is_told)
        lap_folder_print_made(folder);
    if (is_told)
        lap_folder_print_none(folder);
    if (cli->log && is_told)
        lap_folder_end_log(folder, &run->log);
    const bool is_told_by_photo = run->is_one && (code == LAP_OK || code == LAP_E_DISK_FULL);
    const int exit_code = is_told_by_photo      ? run->exit_code
                          : code == LAP_E_WRITE ? LAP_EXIT_NOTHING /* a folder was skipped */
                                                : lap_folder_exit(folder, code);
    return exit_code ? exit_code : run->exit_code;
}

/* Prints the object of a single photo. Returns the exit code to end with. */
static int print_document(in_place_run *run, int exit_code)
{
    if (!run->has_document)
        return exit_code;
    lap_json_run(run->document, run->folder.cli->started, exit_code);
    const int printed = lap_json_print(run->document);
    return exit_code ? exit_code : printed;
}

/* Refuses several operands if one of them does not exist: the user may have meant IN OUT, and IN must not be
 * replaced then. A single missing photo is reported like a photo that fails. */
static int check_all_exist(const lap_cli *cli)
{
    struct stat st;
    const int count = cli->operand_count;
    for (int i = 0; i < count && count > 1; i++)
        if (stat(cli->operands[i], &st) != 0 && (errno == ENOENT || errno == ENOTDIR))
            return lap_cli_usage(
                "--in-place: %s: no such file; nothing is changed unless every FILE exists%s",
                cli->operands[i], count == 2 ? "; for IN OUT leave --in-place out" : "");
    return LAP_EXIT_OK;
}

static int check_operands(const lap_cli *cli)
{
    lap_error ignored = {0}; /* lap_batch_in_place reports errors of the input */
    if (cli->files_from && cli->operand_count > 0)
        return lap_cli_usage("--in-place takes no OUTDIR: with --files-from the list names all photos");
    if (!cli->files_from && cli->operand_count == 0)
        return lap_cli_usage("--in-place needs a FILE; see lapedge -h");
    for (int i = 0; i < cli->operand_count; i++) {
        if (strcmp(cli->operands[i], "-") == 0)
            return lap_cli_usage("--in-place: standard input cannot be replaced");
        if (lap_cli_is_folder(cli->operands[i], &ignored))
            return lap_cli_usage("--in-place: %s is a folder; name the files in it", cli->operands[i]);
    }
    if (cli->stats && (cli->operand_count > 1 || cli->files_from))
        return lap_cli_usage("--stats needs a single image");
    return check_all_exist(cli);
}

int lap_run_in_place(lap_cli *cli)
{
    in_place_run run = {.is_one = cli->operand_count == 1};
    const int exit_code = check_operands(cli);
    if (exit_code != LAP_EXIT_OK)
        return exit_code;
    lap_cli_warn_of_devices(cli);
    lap_folder_begin(&run.folder, cli, cli->operand_count);
    if (cli->log && !lap_cli_log_open(&run.log, cli)) {
        lap_cli_message("--log: %s: cannot be opened: %s", cli->log, strerror(errno));
        return LAP_EXIT_NOTHING;
    }
    return print_document(&run, lap_cli_log_end(&run.log, cli->log, run_in_place(cli, &run)));
}
