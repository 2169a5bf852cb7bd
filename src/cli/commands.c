/* The table of all commands, with their texts. Parsing, help and completion read it. A table in main.c maps
 * commands to functions. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/options/args.h"
#include "cli/options/values.h"
#include "cli/term.h"

const lap_cli_command lap_cli_commands[] = {
    [LAP_COMMAND_RUN] = {"run",
        "lapedge [run] [OPTIONS] IN OUT\tone image; - is stdin or stdout\n"
        "lapedge [run] [OPTIONS] IN... OUTDIR\tfiles and folders, into a folder\n"
        "lapedge [run] --in-place FILE...\treplace each file by its edges\n",
        "lapedge photo.jpg edges.jpg\tedges of a photo, on every core\n"
        "lapedge --range=abs --gray photo.jpg e.png\tabsolute values, gray, as PNG\n"
        "lapedge photos/ edges/\ta folder; again: changes only\n"
        "lapedge - - <photo.jpg >edges.jpg\tin a pipe\n"
        "lapedge in.jpg out.jpg --backend=sse -v\ta named backend, and its times\n",
        LAP_CLI_RUN, NULL, lap_cli_run_forms},
    [LAP_COMMAND_TRANSFORM] = {"transform",
        "lapedge transform [OPTIONS] IN OUT\trotate or mirror, without filtering\n",
        "lapedge transform --rotate=90 in.jpg out.jpg\ta quarter turn clockwise\n"
        "lapedge transform --auto-orient in.jpg o.jpg\tas the EXIF tag says\n"
        "lapedge transform --flip=h photos/ turned/\ta folder\n",
        LAP_CLI_TRANSFORM | LAP_CLI_TRANSFORM_FOLDER, NULL, lap_cli_transform_forms},
    [LAP_COMMAND_STATS] = {"stats", "lapedge stats [OPTIONS] IN...\tstatistics of images and their edges\n",
        "lapedge stats photo.jpg\tstatistics and histograms\n"
        "lapedge stats --json photos/ >photos.jsonl\ta line per photo, then totals\n"
        "lapedge stats --profiles --json page.jpg\tfind lines of text and horizons\n"
        "lapedge stats --threshold=64 photo.jpg\talso the share of strong edges\n",
        LAP_CLI_STATS | LAP_CLI_STATS_FOLDER, NULL, lap_cli_stats_forms},
    [LAP_COMMAND_COMPARE] = {"compare", "lapedge compare [OPTIONS] IN\tcompare backends on the same pixels\n",
        "lapedge compare photo.jpg\tthe filter, every backend\n"
        "lapedge compare --ops=all photos/\tevery operation, over a folder\n"
        "lapedge compare --heatmap=where.png p.jpg\tand draw what differs\n",
        LAP_CLI_COMPARE_ALL, NULL, lap_cli_compare_forms},
    [LAP_COMMAND_DIFF] = {"diff", "lapedge diff [OPTIONS] A B\tcompare two images, or two folders\n",
        "lapedge diff a.jpg b.png\texit 1 unless identical\n"
        "lapedge diff --min-psnr=40 old/ new/\timages with the same path in both\n"
        "lapedge diff --max-abs=2 a.ppm b.ppm\tallow differences of up to 2\n"
        "lapedge diff --heatmap=w.png a.png b.png\tand draw where\n",
        LAP_CLI_DIFF | LAP_CLI_DIFF_FOLDER, NULL, lap_cli_diff_forms},
    [LAP_COMMAND_BENCH] = {"bench", "lapedge bench [OPTIONS] [OP...]\tmeasure backends and their ceiling\n",
        "lapedge bench\tthe filter, every backend\n"
        "lapedge bench --backends=c,simd --runs=50\ttwo backends, more runs\n"
        "lapedge bench --image=photo.jpg --json\tpixels of a photo, for scripts\n"
        "lapedge bench transpose reduce\tother operations\n",
        LAP_CLI_BENCH_ALL, lap_cli_op_name, lap_cli_bench_forms},
    [LAP_COMMAND_BACKENDS] = {"backends", "lapedge backends [--json]\tlist backends and devices\n",
        "lapedge backends\tall operations, CUDA devices\n"
        "lapedge backends --json\tfor scripts\n",
        LAP_CLI_BACKENDS, NULL, NULL},
    [LAP_COMMAND_INFO] = {"info", "lapedge info FILE\tstructure of a file, without decoding\n",
        "lapedge info photo.jpg\tframe, tables, metadata\n", LAP_CLI_INFO, NULL, NULL},
    [LAP_COMMAND_DOCTOR] = {"doctor", "lapedge doctor\twhat this machine has and can run\n",
        "lapedge doctor --json\tfor scripts\n", LAP_CLI_DOCTOR, NULL, NULL},
    [LAP_COMMAND_HELP] = {"help", "lapedge help [COMMAND]\thelp for a command\n",
        "lapedge help stats\tsame as lapedge stats --help\n", LAP_CLI_HELP, lap_cli_command_name, NULL},
    [LAP_COMMAND_EXPLAIN] = {"explain", "lapedge explain BACKEND\twhat a backend does, and its limit\n",
        "lapedge explain cuda-shared4-pad\tone step of the filter's ladder\n"
        "lapedge explain simd\tthis step of every ladder\n",
        LAP_CLI_HELP, lap_cli_rung_name, NULL},
    [LAP_COMMANDS] = {0},
};

const char *lap_cli_command_name(int i)
{
    return lap_cli_commands[i].name;
}

const lap_cli_command *lap_cli_command_named(const char *name)
{
    for (const lap_cli_command *command = lap_cli_commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

/* Whether the first operands are the words of one file name that contains spaces. */
static bool is_split_name(const lap_cli *cli, char name[PATH_MAX])
{
    struct stat st;
    int length = snprintf(name, PATH_MAX, "%s", cli->operands[0]);
    for (int i = 1; i < cli->operand_count && length < PATH_MAX; i++) {
        length += snprintf(name + length, (size_t)(PATH_MAX - length), " %s", cli->operands[i]);
        if (length < PATH_MAX && lstat(name, &st) == 0)
            return true;
    }
    return false;
}

/* If the first word is not a command and no file has this name, it was meant as a command or is a missing
 * photo. It is a file name if it contains a dot or a slash, or if it follows "run" or "--". */
lap_cli_exit lap_cli_check_first_word(const lap_cli *cli, bool is_command)
{
    const char *word = cli->may_be_command ? cli->operands[0] : "";
    struct stat st;
    if (!*word || strcmp(word, "-") == 0 || strpbrk(word, "./") || lstat(word, &st) == 0 || errno != ENOENT)
        return LAP_EXIT_OK;
    const char *hint = lap_cli_hint(word), *nearest = lap_cli_nearest(word, lap_cli_command_name);
    if (is_command && !hint && !nearest)
        return LAP_EXIT_OK;
    char name[PATH_MAX], quoted[PATH_MAX];
    if (is_split_name(cli, name))
        return lap_cli_usage("%s: no such file; put a name with spaces in quotation marks: %s", word,
            lap_cli_quoted(name, quoted, sizeof quoted));
    if (hint)
        return lap_cli_usage("%s: no such file, and no command; %s", word, hint);
    if (nearest)
        return lap_cli_usage("%s: no such file, and no command (did you mean %s?)", word, nearest);
    return lap_cli_usage("%s: no such file, and no command; see lapedge -h", word);
}

lap_cli_exit lap_cli_no_command(const char *word)
{
    const char *nearest = lap_cli_nearest(word, lap_cli_command_name);
    return lap_cli_usage("no command is called \"%s\"%s%s%s", word,
        nearest ? "; did you mean " : "; see lapedge -h", nearest ? nearest : "", nearest ? "?" : "");
}
