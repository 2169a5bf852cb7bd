#include "cli/sandbox/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/options/args.h"

static bool is_path(const char *path)
{
    return path && strcmp(path, "-") != 0;
}

/* Allows access to the folder of a file, which need not exist. */
static lap_code allow_around(lap_sandbox *box, const char *path, lap_sandbox_access access, lap_error *err)
{
    char whole[PATH_MAX];
    if (!realpath(path, whole) && snprintf(whole, sizeof whole, "%s", path) >= (int)sizeof whole)
        return LAP_OK; /* the path does not exist; opening it will report that */
    return lap_sandbox_allow(box, dirname(whole), access, err);
}

/* Allows access to the folder in which an output's temporary file is written and renamed. */
static lap_code allow_beside(lap_sandbox *box, const char *path, lap_error *err)
{
    struct stat st;
    if (!is_path(path))
        return LAP_OK;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) /* a device or pipe is written directly */
        return lap_sandbox_allow(box, path, LAP_SANDBOX_WRITE, err);
    return allow_around(box, path, LAP_SANDBOX_WRITE, err);
}

/* Allows reading the records that can tell whether an input was already filtered, or whether lapedge wrote an
 * output. They are in its folder, and in the output folders around that one. */
static lap_code allow_records(lap_sandbox *box, const char *path, lap_error *err)
{
    static const char *const records[] = {".lapedge-in-place.jsonl", ".lapedge"};
    char folder[PATH_MAX], record[PATH_MAX];
    lap_code code = LAP_OK;
    for (bool is_up = realpath(path, folder) != NULL; is_up && code == LAP_OK; is_up = folder[1] != '\0') {
        for (size_t i = 0; i < sizeof records / sizeof *records && code == LAP_OK; i++)
            if (snprintf(record, sizeof record, "%s/%s", folder, records[i]) < (int)sizeof record &&
                access(record, F_OK) == 0)
                code = lap_sandbox_allow(box, record, LAP_SANDBOX_READ, err);
        dirname(folder);
    }
    return code;
}

/* Allows access to an input. A photo that is replaced also needs its folder, which holds the record. */
static lap_code allow_input(lap_sandbox *box, const lap_cli *cli, const char *path, lap_error *err)
{
    lap_code code = is_path(path) ? lap_sandbox_allow(box, path, LAP_SANDBOX_READ, err) : LAP_OK;
    if (code == LAP_OK && cli->forms == LAP_CLI_FOLDER)
        code = allow_records(box, path, err);
    if (code != LAP_OK || !cli->in_place || !is_path(path))
        return code;
    return allow_around(box, path, cli->dry_run ? LAP_SANDBOX_READ : LAP_SANDBOX_WRITE, err);
}

/* Creates the output folder and its parents, like mkdir -p. If the run created the output folder itself, the
 * sandbox would have to allow writing to the folder above it. */
static lap_code make_folder(const char *path, lap_error *err)
{
    char way[PATH_MAX];
    const size_t length = strlen(path);
    if (length >= sizeof way)
        return LAP_OK; /* the run will report that it is too long */
    memcpy(way, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (way[i] != '/' && way[i])
            continue;
        way[i] = 0;
        const int why = mkdir(way, 0777) == 0 ? 0 : errno;
        if (why == ENOTDIR || why == EACCES || why == EROFS || why == ENOENT)
            return LAP_OK; /* the run will report it, as it does without the sandbox */
        if (why && why != EEXIST) {
            (void)lap_sandbox_failed(err, LAP_E_WRITE, strerror(why));
            snprintf(err->subject, sizeof err->subject, "%.200s", path);
            return LAP_E_WRITE;
        }
        way[i] = path[i];
    }
    return LAP_OK;
}

/* Reads the next name of a list, which ends with `end`; false at the end of the list. A name longer than any
 * path becomes "". */
static bool read_name(FILE *list, int end, char name[PATH_MAX])
{
    size_t length = 0;
    int c;
    while ((c = getc_unlocked(list)) != EOF && c != end) {
        if (length < PATH_MAX)
            name[length] = (char)c;
        length += length < PATH_MAX;
    }
    name[length < PATH_MAX ? length : 0] = 0;
    return length > 0 || c != EOF;
}

/* Allows the names of a list. The run reads the list again. The rules need kernel memory: each one keeps an
 * inode there, 1.2 KB on ext4 (Linux 6.18). */
static lap_code allow_names(lap_sandbox *box, FILE *list, const lap_cli *cli, lap_error *err)
{
    enum { RULE = 2048 };
    const uint64_t most = cli->settings.max_memory;
    char name[PATH_MAX];
    lap_code code = LAP_OK;
    for (uint64_t size = RULE; code == LAP_OK && read_name(list, cli->null_separated ? 0 : '\n', name);
         size += RULE) {
        if (most && size > most)
            return lap_sandbox_failed(err, LAP_E_LIMIT,
                "rules for this many files would take more memory than --max-memory; name fewer in "
                "--files-from, or their folder");
        if (*name)
            code = allow_input(box, cli, is_path(name) ? name : "./-", err); /* in a list "-" is a file */
    }
    return code;
}

static lap_code allow_listed(lap_sandbox *box, const lap_cli *cli, lap_error *err)
{
    struct stat st;
    FILE *list = is_path(cli->files_from) ? fopen(cli->files_from, "re") : NULL;
    lap_code code = lap_sandbox_allow(box, cli->files_from, LAP_SANDBOX_READ, err);
    if (!is_path(cli->files_from) || (list && (fstat(fileno(list), &st) != 0 || !S_ISREG(st.st_mode))))
        code =
            lap_sandbox_failed(err, LAP_E_USAGE, "--files-from has to name a file: the list is read twice");
    if (code == LAP_OK && list)
        code = allow_names(box, list, cli, err);
    if (list)
        fclose(list);
    return code;
}

static lap_code allow_operands(lap_sandbox *box, const lap_cli *cli, lap_error *err)
{
    const bool writes = lap_cli_writes(cli);
    const bool folder = cli->forms & (LAP_CLI_FOLDER | LAP_CLI_TRANSFORM_FOLDER);
    const int last = cli->operand_count - 1, inputs = writes && !cli->in_place ? last : last + 1;
    lap_code code = LAP_OK;
    for (int i = 0; code == LAP_OK && i < inputs; i++)
        code = allow_input(box, cli, cli->operands[i], err);
    if (code == LAP_OK && cli->files_from)
        code = allow_listed(box, cli, err);
    if (code != LAP_OK || !writes || cli->in_place)
        return code;
    const char *out = cli->operands[last];
    if (!folder)
        return cli->dry_run ? LAP_OK : allow_beside(box, out, err);
    if (!cli->dry_run)
        code = make_folder(out, err); /* first, because the records above it are found by its real path */
    if (code == LAP_OK)
        code = allow_records(box, out, err);
    if (code != LAP_OK)
        return code;
    return lap_sandbox_allow(box, out, cli->dry_run ? LAP_SANDBOX_READ : LAP_SANDBOX_WRITE, err);
}

/* Whether this is the only thread, because Landlock applies to the calling thread and the threads that it
 * starts. */
static bool is_alone(void)
{
    int threads = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        return true; /* without /proc, assume so: the program starts its threads later */
    for (const struct dirent *entry; (entry = readdir(tasks));)
        threads += entry->d_name[0] != '.';
    closedir(tasks);
    return threads <= 1;
}

/* From now on this process can open only the files of the rules, and then make only the listed system
 * calls. */
static lap_code enter(lap_sandbox *box, lap_error *err)
{
    int keeper = -1;
    lap_code code = is_alone() ? lap_sandbox_restrict(box, err)
                               : lap_sandbox_failed(err, LAP_E_BACKEND, "threads are already running");
    close(box->rules);
    if (code == LAP_OK && box->writes)
        code = lap_sandbox_keep(&keeper, err);
    return code == LAP_OK ? lap_sandbox_limit_calls(keeper, err) : code;
}

lap_code lap_cli_sandbox(const lap_cli *cli, lap_error *err)
{
    /* Files that the C library, jansson and the code for the memory limit read. None is the user's own. */
    static const char *const looked_at[] = {
        "/proc/self", "/sys/devices/system/cpu", "/sys/fs/cgroup", "/dev/urandom", "/dev/null"};
    const char *const read[] = {cli->kernel, cli->weights};
    const char *const beside[] = {cli->json_file, cli->trace, cli->stats, cli->report, cli->heatmap};
    lap_sandbox box;
    lap_code code = lap_sandbox_open(&box, err);
    if (code != LAP_OK)
        return code;
    /* Rules refer to inodes, and /proc may replace an inode that no descriptor refers to. So this descriptor
     * stays open as long as the process runs. */
    static int self;
    self = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
    (void)self;
    for (size_t i = 0; code == LAP_OK && i < sizeof looked_at / sizeof *looked_at; i++)
        code = lap_sandbox_allow(&box, looked_at[i], LAP_SANDBOX_READ, err);
    if (code == LAP_OK)
        code = allow_operands(&box, cli, err);
    for (size_t i = 0; code == LAP_OK && i < sizeof read / sizeof *read; i++)
        if (read[i])
            code = lap_sandbox_allow(&box, read[i], LAP_SANDBOX_READ, err);
    for (size_t i = 0; code == LAP_OK && i < sizeof beside / sizeof *beside; i++)
        code = allow_beside(&box, beside[i], err);
    tzset();                                     /* reads /etc/localtime */
    (void)setenv("CUDA_VISIBLE_DEVICES", "", 1); /* the sandbox forbids devices, so auto need not try any */
    if (code == LAP_OK)
        return enter(&box, err);
    close(box.rules);
    return code;
}
