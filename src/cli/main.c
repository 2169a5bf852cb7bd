/* lapedge: the command line of the library of that name. */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/sides.h"
#include "cli/term.h"
#include "cli/values.h"
#include "cli/worker.h"

const lap_cli_command lap_cli_commands[] = {
    {"run",
        "lapedge [run] [OPTIONS] IN OUT\tone image; - is stdin or stdout\n"
        "lapedge [run] [OPTIONS] IN... OUTDIR\tfiles and folders, into a folder\n"
        "lapedge [run] --in-place FILE...\treplace each file by its edges\n",
        "lapedge photo.jpg edges.jpg\tedges of a photo, on every core\n"
        "lapedge --range=abs --gray photo.jpg e.png\tabsolute values, gray, as PNG\n"
        "lapedge photos/ edges/\ta folder; again: changes only\n"
        "lapedge - - <photo.jpg >edges.jpg\tin a pipe\n"
        "lapedge in.jpg out.jpg --backend=sse -v\ta named backend, and its times\n",
        LAP_CLI_RUN, lap_cli_run, NULL, lap_cli_run_forms},
    {"transform", "lapedge transform [OPTIONS] IN OUT\trotate or mirror, without filtering\n",
        "lapedge transform --rotate=90 in.jpg out.jpg\ta quarter turn clockwise\n"
        "lapedge transform --auto-orient in.jpg o.jpg\tas the EXIF tag says\n"
        "lapedge transform --flip=h photos/ turned/\ta folder\n",
        LAP_CLI_TRANSFORM | LAP_CLI_TRANSFORM_FOLDER, lap_cli_transform, NULL, lap_cli_transform_forms},
    {"stats", "lapedge stats [OPTIONS] IN...\tstatistics of images and their edges\n",
        "lapedge stats photo.jpg\tstatistics and histograms\n"
        "lapedge stats --json photos/ >photos.jsonl\ta line per photo, then totals\n"
        "lapedge stats --profiles --json page.jpg\tfind lines of text and horizons\n"
        "lapedge stats --threshold=64 photo.jpg\talso the share of strong edges\n",
        LAP_CLI_STATS | LAP_CLI_STATS_FOLDER, lap_cli_stats, NULL, lap_cli_stats_forms},
    {"compare", "lapedge compare [OPTIONS] IN\tcompare backends on the same pixels\n",
        "lapedge compare photo.jpg\tthe filter, every backend\n"
        "lapedge compare --ops=all photos/\tevery operation, over a folder\n"
        "lapedge compare --heatmap=where.png p.jpg\tand draw what differs\n",
        LAP_CLI_COMPARE_ALL, lap_cli_compare, NULL, lap_cli_compare_forms},
    {"diff", "lapedge diff [OPTIONS] A B\tcompare two images, or two folders\n",
        "lapedge diff a.jpg b.png\texit 1 unless identical\n"
        "lapedge diff --min-psnr=40 old/ new/\timages with the same path in both\n"
        "lapedge diff --max-abs=2 a.ppm b.ppm\tallow differences of up to 2\n"
        "lapedge diff --heatmap=w.png a.png b.png\tand draw where\n",
        LAP_CLI_DIFF | LAP_CLI_DIFF_FOLDER, lap_cli_diff, NULL, lap_cli_diff_forms},
    {"bench", "lapedge bench [OPTIONS] [OP...]\tmeasure backends and their ceiling\n",
        "lapedge bench\tthe filter, every backend\n"
        "lapedge bench --backends=c,simd --runs=50\ttwo backends, more runs\n"
        "lapedge bench --image=photo.jpg --json\tpixels of a photo, for scripts\n"
        "lapedge bench transpose reduce\tother operations\n",
        LAP_CLI_BENCH_ALL, lap_cli_bench, lap_cli_op_name, lap_cli_bench_forms},
    {"backends", "lapedge backends [--json]\tlist backends and devices\n",
        "lapedge backends\tall operations, CUDA devices\n"
        "lapedge backends --json\tfor scripts\n",
        LAP_CLI_BACKENDS, lap_cli_backends, NULL, NULL},
    {"info", "lapedge info FILE\tstructure of a file, without decoding\n",
        "lapedge info photo.jpg\tframe, tables, metadata\n", LAP_CLI_INFO, lap_cli_info, NULL, NULL},
    {"doctor", "lapedge doctor\twhat this machine has, and can run\n", "lapedge doctor --json\tfor scripts\n",
        LAP_CLI_DOCTOR, lap_cli_doctor, NULL, NULL},
    {"help", "lapedge help [COMMAND]\tthe help of a command\n",
        "lapedge help stats\tas lapedge stats --help\n", LAP_CLI_HELP, lap_cli_help_on, lap_cli_command_name,
        NULL},
    {"explain", "lapedge explain BACKEND\twhat a backend does, and its limit\n",
        "lapedge explain cuda-shared4-pad\tone step of the filter's ladder\n"
        "lapedge explain simd\tof every ladder that has one\n",
        LAP_CLI_HELP, lap_cli_explain, lap_cli_rung_name, NULL},
    {0},
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
    const bool writes = cli->command->takes & (LAP_CLI_ONE | LAP_CLI_TRANSFORM);
    return cli->csv || (cli->log && strcmp(cli->log, "-") == 0) ||
           (writes && cli->operand_count == 2 && strcmp(cli->operands[1], "-") == 0);
}

static int report_failure(const lap_cli *cli, int code)
{
    if (lap_cli_wants_json(cli) && code != LAP_EXIT_OK && code < 128 && !lap_json_printed() &&
        !is_stdout_taken(cli))
        lap_json_print_failure(cli->command->name, code);
    return lap_json_finish() != LAP_EXIT_OK && code == LAP_EXIT_OK ? LAP_EXIT_FAILED : code;
}

/* An object a line: several come, one for each input. */
static bool prints_lines(const lap_cli *cli)
{
    return (cli->in_place && cli->operand_count > 1) ||
           (cli->command->run == lap_cli_stats && cli->forms == LAP_CLI_STATS_FOLDER);
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
                code = cli.command->run(&cli);
            }
        }
    }
    code = report_failure(&cli, code);
    free(cli.operands);
    code = code < 128 ? (int)lap_cli_flush((lap_cli_exit)code) : code;
    lap_cli_worker_ends(code);
    return code;
}
