/* lapedge: the command line of the library of that name. */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/folder/worker.h"
#include "cli/json.h"
#include "cli/sides.h"
#include "cli/term.h"

static int (*const work_of[LAP_COMMANDS])(lap_cli *cli) = {
    [LAP_COMMAND_RUN] = lap_cli_run,
    [LAP_COMMAND_TRANSFORM] = lap_cli_transform,
    [LAP_COMMAND_STATS] = lap_cli_stats,
    [LAP_COMMAND_COMPARE] = lap_cli_compare,
    [LAP_COMMAND_DIFF] = lap_cli_diff,
    [LAP_COMMAND_BENCH] = lap_cli_bench,
    [LAP_COMMAND_BACKENDS] = lap_cli_backends,
    [LAP_COMMAND_INFO] = lap_cli_info,
    [LAP_COMMAND_DOCTOR] = lap_cli_doctor,
    [LAP_COMMAND_HELP] = lap_cli_help_on,
    [LAP_COMMAND_EXPLAIN] = lap_cli_explain,
};

static void print_version(void)
{
    printf("lapedge %s\n%s", lap_version(), lap_build_info());
    const char *info = lap_build_info();
    if (*info && info[strlen(info) - 1] != '\n')
        putchar('\n');
}

/* The next file opened would take the number of a standard stream that is closed, and get its
 * messages. Each is opened the wrong way round, so that using it stays an error; where there is no
 * /dev/null it stays closed. */
static void fill_closed_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* glibc gives the end of a heap back when 128 KB of it are free, which the bands of a small photo are: in a
 * folder each photo would get its memory page by page from the kernel, or not, as the heap happens to lie.
 * The coefficients of a progressive photo would come page by page, too: a fifth of its decoding. So heaps are
 * kept as far as glibc itself would raise these limits; what is larger than 32 MB still goes back. */
static void keep_buffers(void)
{
#if defined(M_TRIM_THRESHOLD) && defined(M_MMAP_THRESHOLD)
    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

/* libgomp's threads wait for each other, and for their next work, by spinning. Where other work wants the
 * cores, one spins away the time that the other needs to arrive, and a backend of OpenMP takes ten times as
 * long as plain C. How they wait is read from the environment before main, so the two commands that measure
 * start anew with it set, unless the user chose. Before anything is read: a pipe can be read only once. */
static void wait_without_spinning(int argc, char **argv)
{
    bool measures = false;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        measures = measures || strcmp(argv[i], "bench") == 0 || strcmp(argv[i], "compare") == 0;
    if (!measures || !strstr(lap_build_info(), "OpenMP") || getenv("OMP_WAIT_POLICY") ||
        getenv("GOMP_SPINCOUNT"))
        return;
    if (setenv("OMP_WAIT_POLICY", "passive", 1) == 0)
        (void)execv("/proc/self/exe", argv); /* where that fails, the threads spin */
}

/* Something else than JSON was to go to standard output. */
static bool is_stdout_taken(const lap_cli *cli)
{
    const bool writes = lap_cli_writes(cli);
    return cli->csv || (cli->log && strcmp(cli->log, "-") == 0) ||
           (writes && cli->operand_count == 2 && strcmp(cli->operands[1], "-") == 0);
}

static int report_failure(const lap_cli *cli, int code)
{
    if (cli->command && lap_cli_wants_json(cli) && code != LAP_EXIT_OK && code < 128 && !lap_json_printed() &&
        !is_stdout_taken(cli))
        lap_json_print_failure(cli->command->name, code);
    return lap_json_finish() != LAP_EXIT_OK && code == LAP_EXIT_OK ? LAP_EXIT_FAILED : code;
}

/* An object a line: several come, one for each input. */
static bool prints_lines(const lap_cli *cli)
{
    return (cli->in_place && (cli->operand_count > 1 || cli->files_from)) ||
           cli->forms == LAP_CLI_STATS_FOLDER;
}

int main(int argc, char **argv)
{
    lap_cli cli;
    int code;
    wait_without_spinning(argc, argv);
    fill_closed_streams();
    lap_term_own_streams();
    keep_buffers();
    /* A closed pipe and a full quota are errors of one write, with a message, not deaths. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (argc > 1 && (strcmp(argv[1], "__complete") == 0 || strcmp(argv[1], "__describe") == 0 ||
                        strcmp(argv[1], "__options") == 0))
        return lap_cli_complete(argc, argv);
    code = lap_cli_parse(&cli, argc, argv);
    const bool lines = prints_lines(&cli);
    lap_json_direct(cli.json, NULL, lines);
    if (code == LAP_EXIT_OK) {
        if (cli.help_full || cli.help_short)
            lap_cli_help(&cli, cli.help_full);
        else if (cli.version)
            print_version();
        else {
            lap_cli_warn_without_device(&cli);
            if (!(cli.command->takes & (LAP_CLI_FOLDER | LAP_CLI_STATS_FOLDER))) /* folders use all */
                lap_cli_warn_of_devices(&cli);
            code = lap_cli_check_sides(&cli);
            if (code == LAP_EXIT_OK) {
                lap_json_direct(cli.json, cli.json_file, lines); /* now that it is nobody else's file */
                code = work_of[cli.command - lap_cli_commands](&cli);
            }
        }
    }
    code = report_failure(&cli, code);
    free(cli.operands);
    code = code < 128 ? (int)lap_cli_flush((lap_cli_exit)code) : code;
    lap_cli_worker_ends(code);
    return code;
}
