#include "cli/folder/folder.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/sides.h"
#include "cli/term.h"

/* ---- the request --------------------------------------------------------------------------------- */

/* Sets cli->take from the patterns of --include and --exclude. */
static void take_patterns(lap_cli *cli)
{
    cli->take.include = cli->include;
    cli->take.exclude = cli->exclude;
    while (cli->take.include_count < LAP_CLI_GLOBS && cli->include[cli->take.include_count])
        cli->take.include_count++;
    while (cli->take.exclude_count < LAP_CLI_GLOBS && cli->exclude[cli->take.exclude_count])
        cli->take.exclude_count++;
}

static lap_batch_devices devices_of(const lap_cli *cli)
{
    lap_batch_devices devices = {.numbers = cli->device_count > 0 ? cli->devices : NULL,
        .count = cli->device_count,
        .memory = cli->device_memory,
        .trace = cli->trace};
    if (!cli->shard || strcmp(cli->shard, "auto") != 0)
        return devices;
    (void)lap_shard_local(&devices.share, &devices.shares);
    if (devices.count == 0)
        devices.count = -1;
    return devices;
}

static void on_warning(void *user, const lap_error *warning)
{
    lap_folder *folder = user;
    char text[800];
    if (folder->cli->quiet)
        return;
    lap_progress_hide(&folder->progress);
    lap_cli_message("warning: %s", lap_cli_error_text(warning, text, sizeof text));
}

void lap_folder_begin(lap_folder *folder, lap_cli *cli, int inputs)
{
    take_patterns(cli);
    *folder = (lap_folder){.cli = cli, .devices = devices_of(cli)};
    folder->options = (lap_batch_options){.inputs = (const char *const *)cli->operands,
        .input_count = (size_t)inputs,
        .files_from = cli->files_from,
        .nul_separated = cli->null_separated,
        .jobs = cli->jobs,
        .fail_fast = cli->fail_fast,
        .take = &cli->take,
        .others = &folder->others,
        .devices = &folder->devices,
        .warn = on_warning,
        .work = &folder->work};
}

lap_cli_exit lap_folder_check_names(const lap_cli *cli)
{
    for (int i = 0; i < cli->operand_count; i++)
        if (strcmp(cli->operands[i], "-") == 0)
            return lap_cli_usage("- cannot be used with folders or several files");
    return LAP_EXIT_OK;
}

/* ---- while it runs ------------------------------------------------------------------------------- */

void lap_folder_start(lap_folder *folder, lap_context *context, const char *what)
{
    folder->context = context;
    const int threads = lap_context_threads(context), jobs = folder->cli->jobs;
    if (what && folder->cli->verbose)
        lap_cli_message(
            "up to %d %s at once, %d threads", jobs > 0 && jobs < threads ? jobs : threads, what, threads);
    lap_progress_begin(&folder->progress, folder->cli, NULL);
}

void lap_folder_show(lap_folder *folder, const lap_batch_counts *counts)
{
    lap_progress_files(&folder->progress, counts, &folder->work);
}

void lap_folder_flush(lap_folder *folder)
{
    if (folder->lost != LAP_EXIT_OK)
        return;
    folder->lost = lap_cli_flush(LAP_EXIT_OK);
    if (folder->lost != LAP_EXIT_OK)
        lap_context_cancel(folder->context);
}

void lap_folder_stop(lap_folder *folder)
{
    lap_progress_hide(&folder->progress);
}

enum { MOST_TOLD = 10 };

bool lap_folder_may_tell(lap_folder *folder, const lap_report *report)
{
    const uint64_t told = folder->told[report->error.code]++;
    return told < MOST_TOLD || !folder->progress.on || folder->cli->verbose;
}

uint64_t lap_folder_left(const lap_folder *folder)
{
    const lap_batch_counts *counts = &folder->counts;
    const uint64_t over = counts->ok + counts->warned + counts->skipped + counts->failed;
    return counts->expected > over ? counts->expected - over : 0;
}

/* ---- for a person -------------------------------------------------------------------------------- */

/* Calls a function for each pattern that matched nothing. Patterns after the first 64 are not tracked. */
static void each_unused(
    const lap_folder *folder, void (*each)(void *user, const char *option, const char *pattern), void *user)
{
    const lap_cli *cli = folder->cli;
    const struct {
        const char *option, *const *patterns;
        uint64_t used;
    } lists[] = {{"--include", cli->include, folder->others.include_used},
        {"--exclude", cli->exclude, folder->others.exclude_used}};
    if (folder->err.code != LAP_OK) /* perhaps not all folders were walked */
        return;
    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++)
        for (size_t i = 0; i < LAP_CLI_GLOBS && lists[list].patterns[i]; i++)
            if (!(lists[list].used >> i & 1))
                each(user, lists[list].option, lists[list].patterns[i]);
}
_Static_assert(LAP_CLI_GLOBS <= 64, "a bit of lap_batch_others for each pattern");

static void print_unused(void *user, const char *option, const char *pattern)
{
    (void)user;
    lap_cli_message("%s=%s matches nothing%s", option, pattern,
        strpbrk(pattern, "{}") ? " (braces are matched literally; repeat the option for each pattern)"
        : strchr(pattern, '/')
            ? " (a pattern with a slash begins at the named folder; */ before it matches at any depth)"
        : strcmp(option, "--include") == 0
            ? " (a pattern without a slash matches file names; end it with a slash for folders)"
            : "");
}

/* Prints how many outputs of earlier runs, or photos in the output folder, were left out, and where. */
static void print_left(const lap_batch_others *others, bool photos)
{
    char text[LAP_OTHER_FOLDERS * (sizeof others->left->folder + 40)] = "";
    const uint64_t all = photos ? others->out_photos : others->outputs;
    const char *first = "";
    uint64_t named = 0;
    size_t at = 0;
    for (size_t i = 0; i < others->left_count; i++) {
        const lap_batch_left *left = &others->left[i];
        const uint64_t files = photos ? left->photos : left->outputs;
        if (!files)
            continue;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%llu in %s", named ? ", " : "",
            (unsigned long long)files, left->folder);
        first = named ? first : left->first;
        named += files;
    }
    if (all && photos)
        lap_cli_message("%llu photo%s in the output folder not taken (%s%s); move %s, or write elsewhere",
            (unsigned long long)all, all > 1 ? "s" : "", first, all > 1 ? ", ..." : "",
            all > 1 ? "them" : "it");
    else if (all)
        lap_cli_message("%llu output%s of earlier runs not taken: %s%s; to take outputs, name their folder",
            (unsigned long long)all, all > 1 ? "s" : "", text, named < all ? ", ..." : "");
}

void lap_folder_print_others(const lap_folder *folder)
{
    const lap_batch_others *others = &folder->others;
    char text[LAP_OTHER_KINDS * 40] = "";
    uint64_t named = 0;
    size_t at = 0;
    each_unused(folder, print_unused, NULL);
    for (size_t i = 0; i < others->kind_count; i++) {
        const char *extension = others->kinds[i].extension;
        named += others->kinds[i].files;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%llu %s%s", i ? ", " : "",
            (unsigned long long)others->kinds[i].files, *extension ? "." : "without extension", extension);
    }
    if (others->files > 0)
        lap_cli_message("%llu other file%s not taken: %s%s", (unsigned long long)others->files,
            others->files > 1 ? "s" : "", text, named < others->files ? ", ..." : "");
    if (others->apple_doubles > 0)
        lap_cli_message("%llu AppleDouble file%s not taken: macOS keeps metadata in ._NAME, not photos",
            (unsigned long long)others->apple_doubles, others->apple_doubles > 1 ? "s" : "");
    print_left(others, false);
    print_left(others, true);
}

void lap_folder_print_made(const lap_folder *folder)
{
    const lap_batch_others *others = &folder->others;
    const bool several = others->made > 1;
    if (others->made)
        lap_cli_message("warning: %llu input%s filtered by lapedge before (%s%s): %s edges of edges",
            (unsigned long long)others->made, several ? "s were" : " was", others->made_first,
            several ? ", ..." : "", several ? "their outputs are" : "its output is");
}

void lap_folder_print_failed(const lap_folder *folder)
{
    const lap_batch_counts *counts = &folder->counts;
    const char *before = " (";
    if (!counts->failed)
        return;
    fprintf(stderr, ", %llu failed", (unsigned long long)counts->failed);
    for (int kind = LAP_OK + 1; kind < LAP_CODES; kind++) {
        if (!counts->kinds[kind] || kind == LAP_E_EXISTS)
            continue;
        fprintf(stderr, "%s%llu %s", before, (unsigned long long)counts->kinds[kind],
            lap_code_name((lap_code)kind));
        before = ", ";
    }
    if (*before == ',')
        fputc(')', stderr);
}

void lap_folder_print_left(const lap_folder *folder)
{
    if (lap_folder_left(folder))
        fprintf(stderr, ", %llu left", (unsigned long long)lap_folder_left(folder));
}

void lap_folder_print_untold(const lap_folder *folder)
{
    char text[LAP_CODES * 40] = "";
    size_t at = 0;
    for (int kind = LAP_OK; folder->progress.on && !folder->cli->verbose && kind < LAP_CODES; kind++)
        if (folder->told[kind] > MOST_TOLD)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%llu more %s", at ? ", " : "",
                (unsigned long long)(folder->told[kind] - MOST_TOLD),
                kind == LAP_OK ? "warnings" : lap_code_name((lap_code)kind));
    if (at && folder->cli->log)
        lap_cli_message("and %s: see %s", text, folder->cli->log);
    else if (at)
        lap_cli_message(
            "and %s: -v prints all%s", text, lap_cli_writes(folder->cli) ? ", --log=FILE keeps them" : "");
}

void lap_folder_print_links(const lap_folder *folder)
{
    const uint64_t links = folder->counts.links, vanished = folder->counts.vanished;
    if (vanished)
        lap_cli_message("%llu photo%s found at first, but gone when the run reached %s",
            (unsigned long long)vanished, vanished > 1 ? "s were" : " was", vanished > 1 ? "them" : "it");
    if (links)
        lap_cli_message("%llu symbolic link%s not followed; --follow does", (unsigned long long)links,
            links > 1 ? "s" : "");
}

/* Lists the extensions of files that are not inputs but that --ext could select. The list is empty if the
 * user has given --ext or --include. */
static bool list_readable(const lap_folder *folder, char *list, size_t size)
{
    static const char *const readable[] = {"png", "ppm", "pgm", "pnm"};
    const lap_batch_others *others = &folder->others;
    const bool has_chosen = folder->cli->take.extensions || folder->cli->include[0];
    size_t at = 0;
    list[0] = '\0';
    for (size_t i = 0; i < others->kind_count && !has_chosen; i++)
        for (size_t k = 0; k < sizeof readable / sizeof *readable; k++)
            if (strcmp(others->kinds[i].extension, readable[k]) == 0)
                at += (size_t)snprintf(list + at, size - at, "%s%s", at ? "," : "", readable[k]);
    return at > 0;
}

void lap_folder_print_none(const lap_folder *folder)
{
    if (folder->counts.expected || folder->counts.other_shards)
        return;
    char text[LAP_TAKEN_TEXT], list[64];
    if (folder->cli->files_from)
        lap_cli_message("no photo found: the list names none");
    else
        lap_cli_message("no photo found %s%s%s",
            lap_folder_taken(folder->cli, "*.jpg *.jpeg *.jpe *.jfif, or JPEG by content", text),
            list_readable(folder, list, sizeof list) ? "; to take the others: --ext=" : "", list);
}

char *lap_folder_taken(const lap_cli *cli, const char *kinds, char text[LAP_TAKEN_TEXT])
{
    const bool includes = cli->include[0], excludes = cli->exclude[0];
    const char *extensions = cli->take.extensions;
    snprintf(text, LAP_TAKEN_TEXT, "(%s%.200s)%s%s%s", extensions ? "--ext=" : "",
        extensions ? extensions : kinds, includes || excludes ? ", after " : "", includes ? "--include" : "",
        excludes ? includes ? " and --exclude" : "--exclude" : "");
    return text;
}

void lap_folder_print_work(const lap_folder *folder)
{
    const lap_batch_work *work = &folder->work;
    lap_cli_print_detail("by", work->how);
    fprintf(stderr, "  at once   up to %llu\n", (unsigned long long)work->jobs);
    for (int i = 0; i < work->device_count; i++)
        fprintf(stderr, "  device %d  %llu photos%s\n", work->device[i].device,
            (unsigned long long)work->device[i].done, work->device[i].is_lost ? ", then lost" : "");
    lap_times busy = work->busy; /* its total adds up the photos' times, even if photos overlapped */
    busy.total =
        busy.read + busy.decode + busy.upload + busy.filter + busy.download + busy.encode + busy.write;
    lap_cli_print_times(&busy, "added up");
}

/* ---- for a script -------------------------------------------------------------------------------- */

json_t *lap_folder_json_kinds(const lap_folder *folder)
{
    const lap_batch_counts *counts = &folder->counts;
    json_t *kinds = json_object();
    for (int kind = LAP_OK; kind < LAP_CODES; kind++)
        if (counts->kinds[kind])
            json_object_set_new(kinds, kind == LAP_OK ? "up_to_date" : lap_code_name((lap_code)kind),
                json_integer((json_int_t)counts->kinds[kind]));
    return kinds;
}

static void add_unused(void *user, const char *option, const char *pattern)
{
    json_array_append_new(user, json_pack("{ss so}", "option", option, "pattern", lap_json_text(pattern)));
}

static json_t *left_folders(const lap_batch_others *others)
{
    json_t *folders = json_array();
    for (size_t i = 0; i < others->left_count; i++) {
        const lap_batch_left *left = &others->left[i];
        json_t *object = json_object();
        lap_json_path(object, "path", left->folder);
        json_object_set_new(object, "outputs", json_integer((json_int_t)left->outputs));
        json_object_set_new(object, "photos", json_integer((json_int_t)left->photos));
        json_array_append_new(folders, object);
    }
    return folders;
}

json_t *lap_folder_json_others(const lap_folder *folder)
{
    const lap_batch_others *others = &folder->others;
    json_t *object = json_object(), *kinds = json_object();
    for (size_t i = 0; i < others->kind_count; i++) {
        json_t *key = lap_json_text(others->kinds[i].extension); /* makes any name valid UTF-8 */
        json_object_set_new(kinds, json_string_value(key), json_integer((json_int_t)others->kinds[i].files));
        json_decref(key);
    }
    json_object_set_new(object, "files", json_integer((json_int_t)others->files));
    json_object_set_new(object, "kinds", kinds);
    const lap_json_count fields[] = {{"apple_doubles", others->apple_doubles},
        {"output_folders", others->output_folders}, {"outputs", others->outputs},
        {"photos_in_outdir", others->out_photos}};
    lap_json_counts(object, fields, sizeof fields / sizeof *fields);
    json_object_set_new(object, "left_in", left_folders(others));
    json_t *unused = json_array();
    each_unused(folder, add_unused, unused);
    json_object_set_new(object, "unused_patterns", unused);
    return object;
}

json_t *lap_folder_json_left(const lap_folder *folder)
{
    const lap_batch_others *others = &folder->others;
    if (others->outputs + others->out_photos + others->made == 0)
        return NULL;
    json_t *object = lap_json_object("lapedge.not_taken/1");
    json_object_set_new(object, "not_taken", lap_folder_json_others(folder));
    json_object_set_new(object, "filtered_before", json_integer((json_int_t)others->made));
    return object;
}

void lap_folder_end_log(const lap_folder *folder, lap_cli_log *log)
{
    json_t *left = lap_folder_json_left(folder);
    lap_cli_log_begin(log);
    if (left)
        lap_cli_log_line(log, left);
    json_decref(left);
}

void lap_folder_json_end(const lap_folder *folder, json_t *object)
{
    json_object_set_new(object, "ms", lap_json_ms(folder->counts.ms));
    json_object_set_new(object, "error", lap_json_error(&folder->err));
}

/* ---- the exit code ------------------------------------------------------------------------------- */

/* Returns the exit code for the counts of a finished run. */
static lap_cli_exit verdict(const lap_batch_counts *counts)
{
    if (!counts->expected)
        return counts->other_shards ? LAP_EXIT_OK : LAP_EXIT_NOTHING;
    if (counts->failed && counts->failed >= counts->expected) /* after --fail-fast files remain */
        return LAP_EXIT_NOTHING;
    return counts->failed || counts->kinds[LAP_E_EXISTS] ? LAP_EXIT_FAILED : LAP_EXIT_OK;
}

int lap_folder_exit(const lap_folder *folder, lap_code code)
{
    const lap_batch_counts *counts = &folder->counts;
    /* An OUTDIR that cannot be written is noticed only when the first output is written. Outputs that are up
     * to date do not count as success then. */
    const bool may_not_write = code == LAP_E_WRITE && lap_folder_left(folder) > 0;
    if (folder->lost != LAP_EXIT_OK)
        return (int)folder->lost;
    switch (code) {
    case LAP_OK:
        return (int)verdict(counts);
    case LAP_E_CANCELLED:
        return (int)lap_cli_exit_of(code);
    case LAP_E_DISK_FULL:
    case LAP_E_WRITE:
    case LAP_E_EXISTS: /* a link where records are kept */
    case LAP_E_MISSING:
    case LAP_E_UNREADABLE: /* a list, record or side file failed, maybe after complete outputs */
        return counts->ok + counts->warned + (may_not_write ? 0 : counts->kinds[LAP_OK]) ? LAP_EXIT_FAILED
                                                                                         : LAP_EXIT_NOTHING;
    default:
        return (int)lap_cli_exit_of(code);
    }
}
