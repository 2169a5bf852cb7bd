#include "cli/sides.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/json.h"
#include "cli/term.h"

/* ---- never over something else ------------------------------------------------------------------- */

typedef struct side_option {
    const char *option, *path;
} side_option;

static bool is_other(const side_option *side, const char *path, const char *what)
{
    if (!path || lap_side_check(side->path, &path, 1, NULL) == LAP_OK)
        return true;
    lap_cli_usage("%s: %s is %s", side->option, side->path, what);
    return false;
}

static lap_code check_input(void *user, const char *path, const lap_error *problem, lap_error *err)
{
    (void)problem;
    *err = (lap_error){.code = LAP_E_CLASH};
    return is_other(user, path, "the input") ? LAP_OK : LAP_E_CLASH;
}

/* An input, and what is in it where it is a folder. */
static bool is_no_input(side_option *side, const char *path, bool look_inside)
{
    struct stat st;
    lap_error err;
    if (!path || !is_other(side, path, "the input"))
        return !path;
    return !look_inside || stat(path, &st) != 0 || !S_ISDIR(st.st_mode) ||
           lap_inputs(&path, 1, check_input, side, &err) != LAP_E_CLASH;
}

static bool check_side(const lap_cli *cli, side_option *side, const side_option *others, int count)
{
    const bool writes = lap_cli_writes(cli);
    const bool has_out = writes && !cli->in_place && (cli->operand_count > 1 || cli->files_from);
    for (int i = 0; i < cli->operand_count && !cli->command->operand; i++) {
        const bool is_out = has_out && i == cli->operand_count - 1;
        if (is_out ? !is_other(side, cli->operands[i], "the output")
                   : !is_no_input(side, cli->operands[i], !writes))
            return false;
    }
    for (int i = 0; i < count; i++)
        if (others + i != side && !is_other(side, others[i].path, "to be written twice"))
            return false;
    return (!cli->bench.image || is_no_input(side, cli->bench.image, true)) &&
           is_other(side, cli->files_from, "the list of inputs") &&
           is_other(side, cli->weights, "the file of weights") &&
           is_other(side, cli->baseline, "the baseline") && is_other(side, cli->kernel, "the kernel");
}

lap_cli_exit lap_cli_check_sides(const lap_cli *cli)
{
    side_option sides[] = {{"--stats", cli->stats}, {"--log", cli->log}, {"--report", cli->report},
        {"--heatmap", cli->heatmap}, {"--json-file", cli->json_file}, {"--trace", cli->trace}};
    const int count = (int)(sizeof sides / sizeof *sides);
    for (int i = 0; i < count; i++)
        if (sides[i].path && !check_side(cli, &sides[i], sides, count))
            return LAP_EXIT_USAGE;
    return LAP_EXIT_OK;
}

/* ---- the log ------------------------------------------------------------------------------------- */

bool lap_cli_log_open(lap_cli_log *log, const char *path)
{
    const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY;
    struct stat st;
    *log = (lap_cli_log){.fd = -1};
    if (strcmp(path, "-") == 0) {
        log->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        return log->fd >= 0;
    }
    log->fd = open(path, flags | O_CREAT | O_EXCL, 0666);
    log->is_new = log->fd >= 0;
    if (log->fd < 0 && errno == EEXIST)
        log->fd = open(path, flags | O_CREAT, 0666); /* through a link, too */
    if (log->fd < 0 || fstat(log->fd, &st) != 0)
        return false;
    log->is_file = S_ISREG(st.st_mode);
    return true;
}

bool lap_cli_log_postpone(lap_cli_log *log, const char *path, const char *out_dir)
{
    struct stat st;
    const char *name = path;
    name += 2 * (strncmp(name, "./", 2) == 0);
    out_dir += 2 * (strncmp(out_dir, "./", 2) == 0);
    const char *slash = strrchr(name, '/');
    size_t folder = slash ? (size_t)(slash - name) : 0, length = strlen(out_dir);
    while (folder > 1 && name[folder - 1] == '/')
        folder--;
    while (length > 1 && out_dir[length - 1] == '/')
        length--;
    if (folder == 0 || folder != length || memcmp(name, out_dir, length) != 0 || stat(out_dir, &st) == 0)
        return false;
    *log = (lap_cli_log){.fd = -1, .postponed = path};
    return true;
}

void lap_cli_log_begin(lap_cli_log *log)
{
    if (log->is_begun)
        return;
    if (log->postponed && !lap_cli_log_open(log, log->postponed))
        log->problem = errno;
    log->is_begun = true;
    if (log->is_file && ftruncate(log->fd, 0) != 0)
        log->problem = errno;
}

void lap_cli_log_line(lap_cli_log *log, const json_t *record)
{
    char *line = lap_json_dump(record, JSON_COMPACT);
    const size_t size = line ? strlen(line) : 0;
    lap_cli_log_begin(log);
    if (!line || log->fd < 0) {
        log->problem = log->problem ? log->problem : ENOMEM;
        free(line);
        return;
    }
    line[size] = '\n'; /* for the null */
    const int problem = lap_cli_write(log->fd, line, size + 1) ? 0 : errno;
    if (!problem)
        log->size += (long long)size + 1;
    else if (log->is_file && ftruncate(log->fd, (off_t)log->size) != 0) /* no half line */
        errno = problem;
    log->problem = log->problem ? log->problem : problem;
    free(line);
}

bool lap_cli_log_close(lap_cli_log *log, const char *path)
{
    if (log->is_new && !log->is_begun)
        unlink(path);
    if (log->fd >= 0 && close(log->fd) != 0 && errno != EINTR && !log->problem)
        log->problem = errno;
    return log->problem == 0;
}

int lap_cli_log_end(lap_cli_log *log, const char *path, int exit_code)
{
    if (!path || lap_cli_log_close(log, path))
        return exit_code;
    if (strcmp(path, "-") == 0 && lap_term_reader_left())
        return LAP_EXIT_PIPE;
    lap_cli_message("%s: the log could not be written: %s", path, strerror(log->problem));
    return exit_code ? exit_code : LAP_EXIT_FAILED;
}
