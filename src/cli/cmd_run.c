/* run: chooses what to do by the operands. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/term.h"

/* OUT does not exist and its extension names no format, so it was probably meant as a folder. Then report
 * what is wrong with that path: a broken link, or a parent folder that cannot be entered. */
static int check_out(const lap_cli *cli, const char *out)
{
    struct stat st;
    const char *slash = strrchr(out, '/');
    if (cli->settings.format || strchr(slash ? slash : out, '.') || strcmp(out, "-") == 0 ||
        stat(out, &st) == 0)
        return LAP_EXIT_OK;
    const int why = errno;
    if (why == ENOENT && lstat(out, &st) != 0)
        return LAP_EXIT_OK;
    lap_cli_message("%s: %s%s", out, why == ENOENT ? "a broken symbolic link: " : "", strerror(why));
    return LAP_EXIT_NOTHING;
}

static int check_operands(const lap_cli *cli)
{
    char quoted[PATH_MAX];
    if (cli->operand_count == 0)
        return lap_cli_usage("IN and OUT are missing; see lapedge -h");
    lap_cli_quoted(cli->operands[0], quoted, sizeof quoted);
    if (cli->operand_count == 1)
        return lap_cli_usage("OUT is missing: lapedge %s OUT, or - for standard output", quoted);
    if (strcmp(cli->operands[1], "-") != 0)
        return check_out(cli, cli->operands[1]);
    if (isatty(STDOUT_FILENO))
        return lap_cli_usage(
            "refusing to write an image to a terminal; redirect it: lapedge %s - >edges.jpg", quoted);
    return LAP_EXIT_OK;
}

int lap_cli_run(lap_cli *cli)
{
    if (!lap_cli_reads_inside(cli))
        lap_cli_note_tolerance(cli);
    if (!cli->files_from && lap_cli_check_first_word(cli, false) != LAP_EXIT_OK)
        return LAP_EXIT_USAGE;
    if (cli->forms == LAP_CLI_FOLDER)
        return lap_run_folder(cli);
    if (cli->forms == LAP_CLI_IN_PLACE)
        return lap_run_in_place(cli);
    const int exit_code = check_operands(cli);
    if (exit_code != LAP_EXIT_OK)
        return exit_code;
    lap_cli_warn_of_devices(cli);
    return lap_cli_one(cli);
}
