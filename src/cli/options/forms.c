/* Finds which forms (one image, a folder, in place, ...) a command line may have; rules.c says what each
 * option does in them. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/options/args.h"
#include "cli/options/values.h"
#include "cli/term.h"

/* ---- forms --------------------------------------------------------------------------------------- */

bool lap_cli_is_folder(const char *path, lap_error *err)
{
    struct stat st;
    int failed;
    do
        failed = stat(path, &st);
    while (failed && errno == EINTR);
    /* A missing name is not a folder. If stat fails otherwise, the error is reported. */
    static const int nowhere[] = {ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG};
    for (size_t i = 0; failed && i < sizeof nowhere / sizeof *nowhere; i++)
        if (errno == nowhere[i])
            return false;
    if (failed && err->code == LAP_OK) {
        *err = (lap_error){.code = LAP_E_UNREADABLE};
        snprintf(err->message, sizeof err->message, "cannot be examined: %s", strerror(errno));
        snprintf(err->subject, sizeof err->subject, "%s", path);
    }
    return !failed && S_ISDIR(st.st_mode);
}

static bool ends_in_slash(const char *path)
{
    const size_t length = strlen(path);
    return length > 0 && path[length - 1] == '/';
}

/* Whether an operand is a folder, or would be if it existed. */
static bool names_folder(const char *path, lap_error *err)
{
    return ends_in_slash(path) || lap_cli_is_folder(path, err);
}

static bool is_missing(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && lstat(path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

static bool is_like_folder(const char *path)
{
    const char *extension = lap_cli_extension(path);
    return !extension || !lap_cli_is_common_ending(extension);
}

/* If neither operand exists nor is named like a file, the user meant two folders. So a missing folder gives
 * the same exit code with and without a slash at its end. */
static bool means_folders(const lap_cli *cli)
{
    for (int i = 0; i < 2; i++)
        if (!is_missing(cli->operands[i]) || !is_like_folder(cli->operands[i]))
            return false;
    return !cli->settings.format;
}

unsigned lap_cli_run_forms(const lap_cli *cli, lap_error *err)
{
    const int count = cli->operand_count;
    if (cli->in_place)
        return LAP_CLI_IN_PLACE;
    if (cli->files_from)
        return LAP_CLI_FOLDER;
    if (count == 0)
        return LAP_CLI_ONE;
    const char *last = cli->operands[count - 1];
    return count > 2 || names_folder(cli->operands[0], err) || lap_cli_is_folder(last, err) ||
                   (count == 2 && (ends_in_slash(last) || means_folders(cli)))
               ? LAP_CLI_FOLDER
               : LAP_CLI_ONE;
}

unsigned lap_cli_transform_forms(const lap_cli *cli, lap_error *err)
{
    return lap_cli_run_forms(cli, err) == LAP_CLI_FOLDER ? LAP_CLI_TRANSFORM_FOLDER : LAP_CLI_TRANSFORM;
}

unsigned lap_cli_stats_forms(const lap_cli *cli, lap_error *err)
{
    const bool one =
        !cli->files_from && cli->operand_count < 2 &&
        (cli->operand_count == 0 || !(names_folder(cli->operands[0], err) ||
                                        (is_missing(cli->operands[0]) && is_like_folder(cli->operands[0]))));
    return one ? LAP_CLI_STATS : LAP_CLI_STATS_FOLDER;
}

unsigned lap_cli_diff_forms(const lap_cli *cli, lap_error *err)
{
    const bool folders = cli->operand_count == 2 && (lap_cli_is_folder(cli->operands[0], err) ||
                                                        lap_cli_is_folder(cli->operands[1], err));
    return folders ? LAP_CLI_DIFF_FOLDER : LAP_CLI_DIFF;
}

unsigned lap_cli_compare_forms(const lap_cli *cli, lap_error *err)
{
    (void)err;
    return LAP_CLI_COMPARE * cli->ops;
}

unsigned lap_cli_bench_forms(const lap_cli *cli, lap_error *err)
{
    (void)err;
    unsigned forms = 0;
    for (int i = 0; i < cli->operand_count; i++)
        for (int op = 0; op <= LAP_OP_CODEC; op++)
            if (strcmp(cli->operands[i], lap_op_name((lap_op)op)) == 0)
                forms |= LAP_CLI_BENCH << op;
    return forms ? forms : LAP_CLI_BENCH << LAP_OP_FILTER;
}

/* Returns the name of a form when a command has several: "one image", "compare of reduce". */
static const char *form_name(unsigned form, char name[64])
{
    static const char *const names[] = {"one image", "files in place", "a folder run",
        "transform of one image", "stats", "diff", "backends", "help"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (form == 1u << i)
            return names[i];
    if (form == LAP_CLI_INFO || form == LAP_CLI_DOCTOR)
        return form == LAP_CLI_INFO ? "info" : "doctor";
    if (form == LAP_CLI_TRANSFORM_FOLDER)
        return "transform of folders";
    if (form == LAP_CLI_STATS_FOLDER || form == LAP_CLI_DIFF_FOLDER)
        return form == LAP_CLI_STATS_FOLDER ? "stats of folders" : "diff of folders";
    for (int op = 0; op <= LAP_OP_CODEC; op++)
        if (form == (unsigned)LAP_CLI_COMPARE << op || form == (unsigned)LAP_CLI_BENCH << op) {
            snprintf(
                name, 64, "%s of %s", form < LAP_CLI_BENCH ? "compare" : "bench", lap_op_name((lap_op)op));
            return name;
        }
    return NULL;
}

/* Writes the names of the forms in `forms`. */
void lap_cli_list_forms(unsigned forms, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (unsigned form = 1; form && form <= forms; form <<= 1) {
        char room[64];
        const char *name = forms & form ? form_name(form, room) : NULL;
        if (name && at < size)
            at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", name);
    }
}

lap_cli_exit lap_cli_find_forms(lap_cli *cli)
{
    lap_error err = {0};
    cli->forms = cli->command->forms ? cli->command->forms(cli, &err) : cli->command->takes;
    if (err.code == LAP_OK)
        return LAP_EXIT_OK;
    lap_cli_print_error(&err, NULL);
    return cli->command->takes & LAP_CLI_DIFF ? LAP_EXIT_USAGE : LAP_EXIT_FAILED;
}
