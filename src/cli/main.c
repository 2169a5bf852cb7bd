/* The main function of lapedge, the program. */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/folder/folder.h"
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

static void warn_of_mask(const lap_cli *cli)
{
    size_t length;
    const char *word = cli->quiet ? NULL : lap_cpu_mask_unknown(&length);
    if (word)
        lap_cli_message("warning: LAP_CPU_MASK: \"%.*s\" is not known; use sse41, avx2, avx512, neon, or a "
                        "feature such as avx512vnni",
            (int)length, word);
}

static void print_version(void)
{
    printf("lapedge %s\n%s", lap_version(), lap_build_info());
    const char *info = lap_build_info();
    if (*info && info[strlen(info) - 1] != '\n')
        putchar('\n');
}

/* If a standard stream is closed, the next file to be opened would get its number and its messages. So each
 * closed stream is opened in the wrong direction, so that using it stays an error. Without /dev/null it stays
 * closed. */
static void fill_closed_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* glibc returns the end of a heap to the kernel when 128 KB of it are free, which is less than the bands of a
 * small photo. In a folder run the kernel could then have to provide that memory again for each photo, page
 * by page. For the coefficients of a progressive photo, that would take a fifth of the decoding time. So
 * these limits are set as high as glibc itself would raise them; blocks larger than 32 MB are still returned.
 * The heap of a thread grows by 4 MB at once, instead of by a call of the kernel for each buffer. */
static void keep_buffers(void)
{
#if defined(M_TRIM_THRESHOLD) && defined(M_MMAP_THRESHOLD)
    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
    (void)mallopt(M_TOP_PAD, 4 << 20);
#endif
}

/* libgomp's threads wait for each other, and for their next work, by spinning. If other work needs the cores,
 * a spinning thread delays the threads that it waits for, and an OpenMP backend becomes ten times slower than
 * plain C. libgomp reads the wait policy from the environment before main. So the two commands that measure
 * set it, unless the user did, and restart themselves. The restart must happen before any input is read,
 * because a pipe can be read only once. */
static void wait_without_spinning(int argc, char **argv)
{
    bool measures = false;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        measures = measures || strcmp(argv[i], "bench") == 0 || strcmp(argv[i], "compare") == 0;
    if (!measures || !strstr(lap_build_info(), "OpenMP") || getenv("OMP_WAIT_POLICY") ||
        getenv("GOMP_SPINCOUNT"))
        return;
    if (setenv("OMP_WAIT_POLICY", "passive", 1) == 0)
        (void)execv("/proc/self/exe", argv); /* if this fails, the threads go on spinning */
}

/* Whether standard output is needed for something other than JSON, or JSON would damage what is there. */
static bool is_stdout_taken(const lap_cli *cli)
{
    const bool writes = lap_cli_writes(cli);
    return cli->csv || !lap_cli_stdout_takes_text() || (cli->log && lap_cli_is_stdout(cli->log)) ||
           (cli->trace && lap_cli_is_stdout(cli->trace)) ||
           (writes && cli->operand_count == 2 && lap_cli_is_stdout(cli->operands[1]));
}

/* The exit code if something could not be written. It is not 1 for a comparison, where 1 means that the
 * images differ. */
static int lost_output(const lap_cli *cli)
{
    return cli->command && cli->command->takes & (LAP_CLI_DIFF | LAP_CLI_COMPARE_ALL) ? LAP_EXIT_USAGE
                                                                                      : LAP_EXIT_FAILED;
}

static int report_failure(const lap_cli *cli, int code)
{
    if (cli->command && lap_cli_wants_json(cli) && code != LAP_EXIT_OK && code < 128 && !lap_json_printed() &&
        !is_stdout_taken(cli))
        lap_json_print_failure(cli->command->name, code);
    return lap_json_finish() != LAP_EXIT_OK && code == LAP_EXIT_OK ? lost_output(cli) : code;
}

/* Whether each object is one line, because there may be one for each input. */
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
    lap_json_watch_memory();
    /* A closed pipe or an exceeded file size limit should fail one write with a message, not kill the
     * process. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (argc > 1 && (strcmp(argv[1], "__complete") == 0 || strcmp(argv[1], "__describe") == 0 ||
                        strcmp(argv[1], "__options") == 0))
        return lap_cli_complete(argc, argv);
    code = lap_cli_parse(&cli, argc, argv);
    cli.started = time(NULL);
    const bool lines = prints_lines(&cli);
    lap_json_direct(cli.json, NULL, lines);
    if (code == LAP_EXIT_OK && (cli.help_full || cli.help_short || cli.version))
        code = lap_cli_check_stdout(&cli);
    if (code == LAP_EXIT_OK) {
        if (cli.help_full || cli.help_short)
            lap_cli_help(&cli, cli.help_full);
        else if (cli.version)
            print_version();
        else {
            warn_of_mask(&cli);
            lap_cli_warn_without_device(&cli);
            if (!(cli.command->takes & (LAP_CLI_FOLDER | LAP_CLI_STATS_FOLDER))) /* folders use all */
                lap_cli_warn_of_devices(&cli);
            code = lap_cli_check_sides(&cli);
            if (code == LAP_EXIT_OK) {
                lap_json_direct(cli.json, cli.json_file, lines); /* after its name was checked */
                code = work_of[cli.command - lap_cli_commands](&cli);
            }
        }
    }
    code = report_failure(&cli, code);
    free(cli.operands);
    const lap_cli_exit lost = code < 128 ? lap_cli_flush(LAP_EXIT_OK) : LAP_EXIT_OK;
    if (lost == LAP_EXIT_PIPE)
        code = LAP_EXIT_PIPE;
    else if (lap_term_gave_up())
        code = 128 + lap_cli_caught();
    else if (lost != LAP_EXIT_OK && code == LAP_EXIT_OK)
        code = lost_output(&cli);
    lap_cli_tell_cancel(code);
    lap_cli_worker_ends(code);
    return code;
}
