/* The sandbox: which files a command line may open (sandbox.c), and what Landlock is asked for
 * (sandbox_files.c). The kernel's Landlock is that of the test. The system calls and the keeper are in
 * test_sandbox_calls.c. */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options/args.h"
#include "cli/sandbox/sandbox.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* ---- the system ------------------------------------------------------------------------------------ */

enum { CREATE = 444, ADD = 445, RESTRICT = 446 };

static struct {
    const char *call; /* that fails, after so many that succeed; NULL: none */
    int why, after;

    /* the rules that a command line asks for, a line each: R or W, and a path */
    char asked[1 << 14];
    char looked_at[1 << 14];   /* names whose records were looked for */
    int keeps, limits, keeper; /* calls of lap_sandbox_keep and lap_sandbox_limit_calls, and its argument */
    int tasks;                 /* below 0: no /proc; else the folder "tasks" has the threads */

    /* the kernel */
    long abi;
    uint64_t handled[3];
    uint64_t allowed;
    struct stat parent;
    int restricted, no_new_privileges;
} sys;

static char folder[PATH_MAX]; /* the scratch folder, without links */

static bool strikes(const char *call)
{
    return strike(sys.call, call, &sys.after, sys.why);
}

long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    long a[4];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < (number == ADD ? 4 : number == RESTRICT ? 2 : 3); i++)
        a[i] = va_arg(rest, long);
    va_end(rest);
    if (number == CREATE && !a[0]) {
        assert_true(a[1] == 0 && (int)a[2] == 1);
        errno = sys.why;
        return sys.abi;
    }
    if (number == CREATE) {
        assert_true(a[1] == sizeof sys.handled && (int)a[2] == 0);
        memcpy(sys.handled, (const void *)a[0], sizeof sys.handled);
        return strikes("create") ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    assert_true(fcntl((int)a[0], F_GETFD) >= 0);
    if (number == ADD) {
        int32_t parent;
        assert_true((int)a[1] == 1 && (int)a[3] == 0);
        memcpy(&sys.allowed, (const void *)a[2], sizeof sys.allowed);
        memcpy(&parent, (const char *)a[2] + sizeof sys.allowed, sizeof parent);
        assert_int_equal(fstat(parent, &sys.parent), 0);
        return strikes("add") ? -1 : 0;
    }
    assert_true(number == RESTRICT && (int)a[1] == 0);
    sys.restricted++;
    return strikes("restrict") ? -1 : 0;
}

int __wrap_prctl(int option, unsigned long value, unsigned long b, unsigned long c, unsigned long d);
int __wrap_prctl(int option, unsigned long value, unsigned long b, unsigned long c, unsigned long d)
{
    assert_true(option == PR_SET_NO_NEW_PRIVS && value == 1 && b + c + d == 0);
    sys.no_new_privileges++;
    return strikes("prctl") ? -1 : 0;
}

static void ask(char access, const char *path)
{
    const size_t length = strlen(folder);
    const bool is_below = strncmp(path, folder, length) == 0;
    snprintf(sys.asked + strlen(sys.asked), sizeof sys.asked - strlen(sys.asked), "%c %s%s\n", access,
        is_below ? "$" : "", path + (is_below ? length : 0));
}

lap_code __real_lap_sandbox_allow(
    lap_sandbox *box, const char *path, lap_sandbox_access access, lap_error *err);
lap_code __wrap_lap_sandbox_allow(
    lap_sandbox *box, const char *path, lap_sandbox_access access, lap_error *err);
lap_code __wrap_lap_sandbox_allow(
    lap_sandbox *box, const char *path, lap_sandbox_access access, lap_error *err)
{
    if (strikes("allow"))
        return lap_sandbox_failed(err, LAP_E_BACKEND, "no rule");
    ask(access == LAP_SANDBOX_WRITE ? 'W' : 'R', path);
    return __real_lap_sandbox_allow(box, path, access, err);
}

lap_code __wrap_lap_sandbox_keep(int *sock, lap_error *err);
lap_code __wrap_lap_sandbox_keep(int *sock, lap_error *err)
{
    assert_int_equal(sys.restricted, 1);
    sys.keeps++;
    *sock = 77;
    return strikes("keep") ? lap_sandbox_failed(err, LAP_E_BACKEND, "no keeper") : LAP_OK;
}

lap_code __wrap_lap_sandbox_limit_calls(int keeper, lap_error *err);
lap_code __wrap_lap_sandbox_limit_calls(int keeper, lap_error *err)
{
    assert_int_equal(sys.restricted, 1);
    sys.limits++;
    sys.keeper = keeper;
    return strikes("limit") ? lap_sandbox_failed(err, LAP_E_BACKEND, "no seccomp") : LAP_OK;
}

DIR *__real_opendir(const char *name);
DIR *__wrap_opendir(const char *name);
DIR *__wrap_opendir(const char *name)
{
    if (strcmp(name, "/proc/self/task") != 0)
        return __real_opendir(name);
    return sys.tasks < 0 ? NULL : __real_opendir("tasks");
}

int __real_access(const char *path, int how);
int __wrap_access(const char *path, int how);
int __wrap_access(const char *path, int how)
{
    const size_t length = strlen(folder);
    snprintf(
        sys.looked_at + strlen(sys.looked_at), sizeof sys.looked_at - strlen(sys.looked_at), "%s\n", path);
    errno = ENOENT;
    return strncmp(path, folder, length) == 0 ? __real_access(path, how) : -1;
}

int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode)
{
    return strikes("mkdir") ? -1 : __real_mkdir(path, mode);
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    return strikes("fstat") ? -1 : __real_fstat(fd, st);
}

/* ---- Landlock -------------------------------------------------------------------------------------- */

static lap_error err;
static lap_cli cli;

static void start(void)
{
    static char *none[1];
    memset(&sys, 0, sizeof sys);
    sys.abi = 6;
    sys.tasks = -1;
    empty_scratch();
    err = (lap_error){0};
    cli = (lap_cli){.settings = lap_settings_default(),
        .command = &lap_cli_commands[LAP_COMMAND_RUN],
        .forms = LAP_CLI_ONE,
        .operands = none};
}

static int begin(void **state)
{
    (void)state;
    start();
    return 0;
}

static void fails_with(lap_code code, lap_code want, const char *message)
{
    assert_int_equal(code, want);
    assert_int_equal(err.code, want);
    assert_string_equal(err.subject, "--sandbox");
    assert_string_equal(err.message, message);
}

enum { FIRST = (1 << 13) - 1, REFER = 1 << 13, TRUNCATE = 1 << 14, DEVICES = 1 << 15 };

static void versions_of_landlock(void **state)
{
    static const struct {
        uint64_t files, net, scoped;
    } wants[] = {{FIRST, 0, 0}, {FIRST | REFER, 0, 0}, {FIRST | REFER | TRUNCATE, 0, 0},
        {FIRST | REFER | TRUNCATE, 3, 0}, {FIRST | REFER | TRUNCATE | DEVICES, 3, 0},
        {FIRST | REFER | TRUNCATE | DEVICES, 3, 3}, {FIRST | REFER | TRUNCATE | DEVICES, 3, 3}};
    lap_sandbox box;
    (void)state;
    for (int abi = 1; abi <= 7; abi++) {
        start();
        sys.abi = abi;
        assert_int_equal(lap_sandbox_open(&box, &err), LAP_OK);
        assert_memory_equal(sys.handled, &wants[abi - 1], sizeof *wants);
        assert_true(box.abi == abi && box.rules > 0 && !box.writes);
        assert_int_equal(close(box.rules), 0);
    }
    for (int abi = -1; abi < 1; abi++)
        for (int off = 0; off < 2; off++) {
            start();
            sys.abi = abi;
            sys.why = off ? EOPNOTSUPP : ENOSYS;
            fails_with(lap_sandbox_open(&box, &err), LAP_E_BACKEND,
                off ? "Landlock was switched off when this machine started"
                    : "this kernel has no Landlock; Linux has it from 5.13");
            assert_int_equal(box.rules, -1);
        }
    start();
    sys.call = "create", sys.why = EMFILE;
    fails_with(lap_sandbox_open(&box, &err), LAP_E_BACKEND, strerror(EMFILE));
}

static void rights(void **state)
{
    enum { WRITE = 1 << 1, READ = 1 << 2, LIST = 1 << 3, REMOVE = 1 << 5, DIRS = 1 << 7, FILES = 1 << 8 };
    static const struct {
        const char *path;
        lap_sandbox_access access;
        int abi;
        uint64_t allowed;
    } cases[] = {{"file", LAP_SANDBOX_READ, 6, READ}, {"file", LAP_SANDBOX_WRITE, 6, WRITE | TRUNCATE},
        {"file", LAP_SANDBOX_WRITE, 2, WRITE}, {"sub", LAP_SANDBOX_READ, 6, READ | LIST},
        {"sub", LAP_SANDBOX_WRITE, 6, READ | LIST | WRITE | REMOVE | DIRS | FILES | TRUNCATE},
        {"sub", LAP_SANDBOX_WRITE, 2, READ | LIST | WRITE | REMOVE | DIRS | FILES},
        {"link", LAP_SANDBOX_READ, 1, READ | LIST}, {"fifo", LAP_SANDBOX_WRITE, 3, WRITE | TRUNCATE},
        {"missing", LAP_SANDBOX_READ, 6, 0}, {"missing", LAP_SANDBOX_WRITE, 6, 0}};
    lap_sandbox box;
    struct stat st;
    (void)state;
    const int files = open_files();
    for (size_t i = 0; i < COUNT(cases); i++) {
        start();
        put("file", "x");
        assert_int_equal(mkdir("sub", 0777) | symlink("sub", "link") | mkfifo("fifo", 0600), 0);
        sys.abi = cases[i].abi;
        assert_int_equal(lap_sandbox_open(&box, &err), LAP_OK);
        assert_int_equal(__real_lap_sandbox_allow(&box, cases[i].path, cases[i].access, &err), LAP_OK);
        assert_int_equal(sys.allowed, cases[i].allowed);
        assert_int_equal(box.writes, cases[i].access == LAP_SANDBOX_WRITE);
        if (cases[i].allowed) {
            assert_int_equal(stat(cases[i].path, &st), 0);
            assert_true(st.st_ino == sys.parent.st_ino && st.st_dev == sys.parent.st_dev);
        }
        assert_int_equal(__real_lap_sandbox_allow(&box, "file", LAP_SANDBOX_READ, &err), LAP_OK);
        assert_int_equal(box.writes, cases[i].access == LAP_SANDBOX_WRITE); /* what is allowed stays */
        assert_int_equal(close(box.rules), 0);
        assert_int_equal(open_files(), files);
    }
    assert_int_equal(lap_sandbox_open(&box, &err), LAP_OK);
    sys.call = "add", sys.why = EINVAL;
    fails_with(
        __real_lap_sandbox_allow(&box, "file", LAP_SANDBOX_READ, &err), LAP_E_BACKEND, strerror(EINVAL));
    sys.why = EBADFD; /* a pipe, which Landlock does not restrict */
    assert_int_equal(__real_lap_sandbox_allow(&box, "file", LAP_SANDBOX_READ, &err), LAP_OK);
    sys.call = "fstat", sys.why = EIO, sys.allowed = 0;
    assert_int_equal(__real_lap_sandbox_allow(&box, "file", LAP_SANDBOX_READ, &err), LAP_OK);
    assert_int_equal(sys.allowed, 0);
    assert_int_equal(close(box.rules), 0);
    assert_int_equal(open_files(), files);
}

static void restrictions(void **state)
{
    lap_sandbox box;
    (void)state;
    assert_int_equal(lap_sandbox_open(&box, &err), LAP_OK);
    assert_int_equal(lap_sandbox_restrict(&box, &err), LAP_OK);
    assert_true(sys.restricted == 1 && sys.no_new_privileges == 1);
    sys.call = "prctl", sys.why = EPERM;
    fails_with(lap_sandbox_restrict(&box, &err), LAP_E_BACKEND, strerror(EPERM));
    assert_int_equal(sys.restricted, 1);
    sys.call = "restrict", sys.why = E2BIG;
    fails_with(lap_sandbox_restrict(&box, &err), LAP_E_BACKEND, strerror(E2BIG));
    assert_int_equal(close(box.rules), 0);
}

/* ---- a command line -------------------------------------------------------------------------------- */

static void set_operands(const char *line)
{
    static char text[200];
    static char *words[8];
    cli.operand_count = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        words[cli.operand_count++] = word;
    words[cli.operand_count] = NULL;
    cli.operands = words;
}

#define SYSTEM "R /proc/self\nR /sys/devices/system/cpu\nR /sys/fs/cgroup\nR /dev/urandom\nR /dev/null\n"

/* Enters the sandbox, and compares the rules behind those for the system. */
static void assert_rules(const char *rules)
{
    char want[1 << 13];
    const int files = open_files(), self = __real_access("/proc/self", F_OK) == 0;
    sys.looked_at[0] = '\0';
    const lap_code code = lap_cli_sandbox(&cli, &err);
    if (code != LAP_OK)
        fail_msg("%s: %s", err.subject, err.message);
    snprintf(want, sizeof want, "%s%s", SYSTEM, rules);
    assert_string_equal(sys.asked, want);
    assert_int_equal(open_files(), files + self);
    assert_int_equal(sys.restricted, 1);
    assert_int_equal(sys.keeps, strstr(rules, "W ") != NULL);
    assert_int_equal(sys.limits, 1);
    assert_int_equal(sys.keeper, sys.keeps ? 77 : -1);
    assert_string_equal(getenv("CUDA_VISIBLE_DEVICES"), "");
}

static void make_files(void)
{
    static const char *const names[] = {"a.jpg", "b.jpg", "there.jpg", "sub/there.jpg", "photos/p.jpg",
        ".lapedge-in-place.jsonl", "photos/.lapedge-in-place.jsonl"};
    assert_int_equal(mkdir("sub", 0777) | mkdir("photos", 0777) | mkdir("photos/.lapedge", 0777), 0);
    assert_int_equal(mkdir("sub/deep", 0777) | mkdir("sub/.lapedge", 0777) | mkfifo("fifo", 0600), 0);
    assert_int_equal(symlink("sub/there.jpg", "link"), 0);
    for (size_t i = 0; i < COUNT(names); i++)
        put(names[i], "x");
}

#define HERE "R $/.lapedge-in-place.jsonl\n"
#define IN_SUB "R $/sub/.lapedge\n" HERE
#define IN_PHOTOS "R $/photos/.lapedge-in-place.jsonl\nR $/photos/.lapedge\n" HERE

static void what_command_lines_need(void **state)
{
    enum { DRY = 1, IN_PLACE = 2 };
    static const struct {
        const char *operands;
        int command;
        unsigned forms;
        int flags;
        const char *rules;
    } cases[] = {{"a.jpg new.jpg", LAP_COMMAND_RUN, LAP_CLI_ONE, 0, "R a.jpg\nW .\n"},
        {"a.jpg there.jpg", LAP_COMMAND_RUN, LAP_CLI_ONE, 0, "R a.jpg\nW $\n"},
        {"a.jpg sub/there.jpg", LAP_COMMAND_RUN, LAP_CLI_ONE, 0, "R a.jpg\nW $/sub\n"},
        {"a.jpg sub/new.jpg", LAP_COMMAND_TRANSFORM, LAP_CLI_TRANSFORM, 0, "R a.jpg\nW sub\n"},
        {"a.jpg there.jpg", LAP_COMMAND_RUN, LAP_CLI_ONE, DRY, "R a.jpg\n"},
        {"- -", LAP_COMMAND_RUN, LAP_CLI_ONE, 0, ""}, {"- new.jpg", LAP_COMMAND_RUN, LAP_CLI_ONE, 0, "W .\n"},
        {"a.jpg -", LAP_COMMAND_RUN, LAP_CLI_ONE, 0, "R a.jpg\n"},
        {"a.jpg fifo", LAP_COMMAND_RUN, LAP_CLI_ONE, 0, "R a.jpg\nW fifo\n"},
        {"a.jpg link", LAP_COMMAND_RUN, LAP_CLI_ONE, 0, "R a.jpg\nW $/sub\n"},
        {"a.jpg b.jpg", LAP_COMMAND_STATS, LAP_CLI_STATS, 0, "R a.jpg\nR b.jpg\n"},
        {"a.jpg", LAP_COMMAND_INFO, LAP_CLI_INFO, 0, "R a.jpg\n"},
        {"a.jpg b.jpg sub", LAP_COMMAND_RUN, LAP_CLI_FOLDER, 0,
            "R a.jpg\n" HERE "R b.jpg\n" HERE IN_SUB "W sub\n"},
        {"photos sub", LAP_COMMAND_RUN, LAP_CLI_FOLDER, 0, "R photos\n" IN_PHOTOS IN_SUB "W sub\n"},
        {"photos sub", LAP_COMMAND_RUN, LAP_CLI_FOLDER, DRY, "R photos\n" IN_PHOTOS IN_SUB "R sub\n"},
        {"photos sub/deep", LAP_COMMAND_RUN, LAP_CLI_FOLDER, 0, "R photos\n" IN_PHOTOS IN_SUB "W sub/deep\n"},
        {"photos sub", LAP_COMMAND_TRANSFORM, LAP_CLI_TRANSFORM_FOLDER, 0, "R photos\n" IN_SUB "W sub\n"},
        {"photos sub/new/er/", LAP_COMMAND_RUN, LAP_CLI_FOLDER, 0,
            "R photos\n" IN_PHOTOS IN_SUB "W sub/new/er/\n"},
        {"photos none/new", LAP_COMMAND_RUN, LAP_CLI_FOLDER, DRY, "R photos\n" IN_PHOTOS "R none/new\n"},
        {"missing sub", LAP_COMMAND_RUN, LAP_CLI_FOLDER, 0, "R missing\n" IN_SUB "W sub\n"},
        {"photos a.jpg/new", LAP_COMMAND_RUN, LAP_CLI_FOLDER, 0, "R photos\n" IN_PHOTOS "W a.jpg/new\n"},
        {"a.jpg sub/there.jpg", LAP_COMMAND_RUN, LAP_CLI_IN_PLACE, IN_PLACE,
            "R a.jpg\nW $\nR sub/there.jpg\nW $/sub\n"},
        {"a.jpg", LAP_COMMAND_RUN, LAP_CLI_IN_PLACE, IN_PLACE | DRY, "R a.jpg\nR $\n"},
        {"- missing", LAP_COMMAND_RUN, LAP_CLI_IN_PLACE, IN_PLACE, "R missing\nW .\n"},
        {"photos sub", LAP_COMMAND_STATS, LAP_CLI_STATS_FOLDER, 0, "R photos\nR sub\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start();
        make_files();
        set_operands(cases[i].operands);
        cli.command = &lap_cli_commands[cases[i].command];
        cli.forms = cases[i].forms;
        cli.dry_run = cases[i].flags & DRY, cli.in_place = cases[i].flags & IN_PLACE;
        assert_rules(cases[i].rules);
        struct stat st;
        const bool makes = strstr(cases[i].operands, "sub/new/er/") != NULL;
        assert_int_equal(stat("sub/new/er", &st) == 0, makes);
        assert_int_equal(stat("none", &st) == 0, false);
    }
}

/* Records are looked for in each folder above, but not in the root. */
static void records_above(void **state)
{
    char want[1 << 13] = "", above[PATH_MAX + 8];
    (void)state;
    make_files();
    strcat(strcpy(above, folder), "/photos");
    for (char *slash; *above; *slash = '\0') {
        strcat(strcat(want, above), "/.lapedge-in-place.jsonl\n");
        strcat(strcat(want, above), "/.lapedge\n");
        slash = strrchr(above, '/');
    }
    set_operands("photos");
    cli.files_from = NULL;
    cli.command = &lap_cli_commands[LAP_COMMAND_STATS];
    cli.forms = LAP_CLI_FOLDER; /* as if it wrote */
    assert_int_equal(lap_cli_sandbox(&cli, &err), LAP_OK);
    assert_string_equal(sys.looked_at, want);
}

static void side_files(void **state)
{
    (void)state;
    make_files();
    set_operands("a.jpg -");
    cli.kernel = "k", cli.weights = "w";
    cli.json_file = "sub/j", cli.trace = "photos/t", cli.stats = "-", cli.report = "fifo";
    cli.heatmap = "there.jpg";
    assert_rules("R a.jpg\nR k\nR w\nW sub\nW photos\nW fifo\nW $\n");
    for (int i = 0; i < 5; i++) { /* each of them */
        static const char *const rules[] = {"W a\n", "W b\n", "W c\n", "W d\n", "W e\n"};
        start();
        cli.json_file = i == 0 ? "a/x" : NULL, cli.trace = i == 1 ? "b/x" : NULL;
        cli.stats = i == 2 ? "c/x" : NULL, cli.report = i == 3 ? "d/x" : NULL;
        cli.heatmap = i == 4 ? "e/x" : NULL;
        set_operands("- -");
        assert_rules(rules[i]);
    }
    for (int more = -1; more < 2; more++) { /* a path that no call accepts gets no rule */
        static char path[PATH_MAX + 2];
        start();
        memset(path, 0, sizeof path);
        memset(path, '/', (size_t)(PATH_MAX + more));
        memcpy(path, "no", strlen("no"));
        path[PATH_MAX + more - 1] = 'x';
        cli.json_file = path;
        set_operands("- -");
        assert_rules(more < 0 ? "W no\n" : "");
    }
}

static void put_bytes(const char *name, const char *bytes, size_t size)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void lists(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        bool nul;
        const char *rules;
    } cases[] = {{"", 0, false, "R list\n"}, {"a.jpg\nb.jpg\n", 12, false, "R list\nR a.jpg\nR b.jpg\n"},
        {"a.jpg\nb.jpg", 11, false, "R list\nR a.jpg\nR b.jpg\n"},
        {"a.jpg\n\n-\n", 9, false, "R list\nR a.jpg\nR ./-\n"},
        {"a\nb\0-\0\0c", 8, true, "R list\nR a\nb\nR ./-\nR c\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start();
        put_bytes("list", cases[i].bytes, cases[i].size);
        cli.command = &lap_cli_commands[LAP_COMMAND_STATS];
        cli.forms = LAP_CLI_STATS_FOLDER;
        cli.files_from = "list", cli.null_separated = cases[i].nul;
        assert_rules(cases[i].rules);
    }
    for (int more = -1; more < 2; more++) { /* no path is as long as PATH_MAX; such a name is left out */
        static char name[PATH_MAX + 8], rules[PATH_MAX + 64];
        start();
        const size_t length = (size_t)(PATH_MAX + more);
        memset(name, 'n', length);
        memcpy(name + length, "\nb\n", 4);
        put("list", name);
        cli.command = &lap_cli_commands[LAP_COMMAND_STATS];
        cli.forms = LAP_CLI_STATS_FOLDER;
        cli.files_from = "list";
        snprintf(rules, sizeof rules, "R list\n%s%.*s%sR b\n", more < 0 ? "R " : "",
            more < 0 ? (int)length : 0, name, more < 0 ? "\n" : "");
        assert_rules(rules);
    }
    for (int most = 0; most < 4; most++) { /* each name takes memory of the kernel */
        static const uint64_t limits[] = {0, 2 * 2048, 2 * 2048 - 1, 1};
        start();
        put("list", "a\nb\n");
        set_operands("sub");
        assert_int_equal(mkdir("sub", 0777), 0);
        cli.forms = LAP_CLI_FOLDER, cli.files_from = "list";
        cli.settings.max_memory = limits[most];
        const lap_code code = lap_cli_sandbox(&cli, &err);
        if (most < 2)
            assert_int_equal(code, LAP_OK);
        else
            fails_with(code, LAP_E_LIMIT,
                "rules for this many files would take more memory than --max-memory; name fewer in "
                "--files-from, or their folder");
    }
    static const struct {
        const char *list, *message; /* NULL: it is fine */
    } kinds[] = {{"-", "--files-from has to name a file: the list is read twice"},
        {"sub", "--files-from has to name a file: the list is read twice"}, {"missing", NULL},
        {"list", NULL}};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        start();
        const int files = open_files(), self = __real_access("/proc/self", F_OK) == 0;
        put("list", "a\n");
        assert_int_equal(mkdir("sub", 0777), 0);
        cli.command = &lap_cli_commands[LAP_COMMAND_STATS];
        cli.forms = LAP_CLI_STATS_FOLDER, cli.files_from = kinds[i].list;
        const lap_code code = lap_cli_sandbox(&cli, &err);
        if (kinds[i].message)
            fails_with(code, LAP_E_USAGE, kinds[i].message);
        else
            assert_int_equal(code, LAP_OK);
        assert_int_equal(open_files(), files + self);
    }
}

/* Wherever a rule cannot be added, the run is refused, and nothing is confined. */
static void rules_that_fail(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++)
        for (int after = 0;; after++) {
            start();
            make_files();
            put("list", "a.jpg\nb.jpg\n");
            set_operands(way == 0 ? "photos a.jpg sub/deep" : way == 1 ? "a.jpg b.jpg" : "sub");
            cli.forms = way == 1 ? LAP_CLI_IN_PLACE : LAP_CLI_FOLDER;
            cli.in_place = way == 1;
            cli.files_from = way == 2 ? "list" : NULL;
            cli.kernel = "a.jpg", cli.weights = "b.jpg", cli.json_file = "j", cli.heatmap = "sub/h";
            sys.call = "allow", sys.after = after;
            const int files = open_files(), self = __real_access("/proc/self", F_OK) == 0;
            const lap_code code = lap_cli_sandbox(&cli, &err);
            assert_int_equal(open_files(), files + self);
            int count = 0;
            for (const char *at = sys.asked; (at = strchr(at, '\n')); at++)
                count++;
            if (code == LAP_OK) {
                assert_true(after > 10 && count == after);
                break;
            }
            assert_int_equal(count, after);
            fails_with(code, LAP_E_BACKEND, "no rule");
            assert_int_equal(sys.restricted + sys.keeps + sys.limits, 0);
        }
}

static void entering(void **state)
{
    static const struct {
        const char *call;
        int why, tasks;
        const char *message;
        int restricted, keeps, limits;
    } cases[] = {{NULL, 0, -1, NULL, 1, 1, 1}, {NULL, 0, 1, NULL, 1, 1, 1},
        {NULL, 0, 2, "threads are already running", 0, 0, 0},
        {NULL, 0, 3, "threads are already running", 0, 0, 0},
        {"restrict", EPERM, 1, "Operation not permitted", 1, 0, 0}, {"keep", 0, 1, "no keeper", 1, 1, 0},
        {"limit", 0, 1, "no seccomp", 1, 1, 1}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start();
        put("a.jpg", "x");
        assert_int_equal(mkdir("tasks", 0777), 0);
        for (int k = 0; k < cases[i].tasks; k++)
            put(k == 0 ? "tasks/1" : k == 1 ? "tasks/2" : "tasks/3", "");
        set_operands("a.jpg out.jpg");
        sys.tasks = cases[i].tasks;
        sys.call = cases[i].call, sys.why = cases[i].why;
        const int files = open_files(), self = __real_access("/proc/self", F_OK) == 0;
        const lap_code code = lap_cli_sandbox(&cli, &err);
        if (cases[i].message)
            fails_with(code, LAP_E_BACKEND, cases[i].message);
        else
            assert_int_equal(code, LAP_OK);
        assert_int_equal(sys.restricted, cases[i].restricted);
        assert_int_equal(sys.keeps, cases[i].keeps);
        assert_int_equal(sys.limits, cases[i].limits);
        assert_int_equal(open_files(), files + self);
    }
    start();
    sys.abi = 0;
    assert_int_equal(lap_cli_sandbox(&cli, &err), LAP_E_BACKEND);
    assert_string_equal(sys.asked, "");
}

/* OUTDIR is made, with the folders above it. What the run itself would report is left to it. */
static void output_folders(void **state)
{
    static const struct {
        const char *out;
        int why, after;
        const char *made, *not_made;
        bool fails;
    } cases[] = {{"one", 0, 0, "one", NULL, false}, {"one/two/three", 0, 0, "one/two/three", NULL, false},
        {"one//two//", 0, 0, "one/two", NULL, false}, {"sub", 0, 0, "sub", NULL, false},
        {"sub/two", 0, 0, "sub/two", NULL, false}, {"one/two", EACCES, 0, NULL, "one", false},
        {"one/two", EACCES, 1, "one", "one/two", false}, {"one/two", EROFS, 0, NULL, "one", false},
        {"one/two", ENOENT, 0, NULL, "one", false}, {"file/two", 0, 0, "file", "file/two", false},
        {"one/two", ENOTDIR, 0, NULL, "one", false}, {"one/two", EEXIST, 0, NULL, "one", false},
        {"one/two", EIO, 0, NULL, "one", true}, {"one/two", ENOSPC, 1, "one", "one/two", true}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start();
        put("file", "x");
        assert_int_equal(mkdir("sub", 0777), 0);
        char line[40];
        snprintf(line, sizeof line, "file %s", cases[i].out);
        set_operands(line);
        cli.forms = LAP_CLI_FOLDER;
        sys.call = cases[i].why ? "mkdir" : NULL, sys.why = cases[i].why, sys.after = cases[i].after;
        const lap_code code = lap_cli_sandbox(&cli, &err);
        assert_int_equal(code, cases[i].fails ? LAP_E_WRITE : LAP_OK);
        if (cases[i].fails) {
            assert_int_equal(err.code, LAP_E_WRITE);
            assert_string_equal(err.subject, cases[i].out);
            assert_string_equal(err.message, strerror(cases[i].why));
        }
        if (cases[i].made)
            assert_int_equal(__real_access(cases[i].made, F_OK), 0);
        if (cases[i].not_made)
            assert_int_equal(__real_access(cases[i].not_made, F_OK), -1);
    }
    char name[300]; /* the message names the first 200 bytes */
    start();
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    cli.operands = (char *[]){name, name, NULL}, cli.operand_count = 2;
    cli.forms = LAP_CLI_FOLDER;
    assert_int_equal(lap_cli_sandbox(&cli, &err), LAP_E_WRITE);
    assert_int_equal(strlen(err.subject), 200);
    for (int more = -1; more < 2; more++) { /* a path that is too long is told by the run */
        static char path[PATH_MAX + 2];
        static char file[] = "file";
        static char *words[] = {file, path, NULL};
        start();
        memset(path, 0, sizeof path);
        memset(path, '/', (size_t)(PATH_MAX + more));
        memcpy(path, "one/two", strlen("one/two"));
        cli.operands = words, cli.operand_count = 2;
        cli.forms = LAP_CLI_FOLDER;
        assert_int_equal(lap_cli_sandbox(&cli, &err), LAP_OK);
        assert_int_equal(__real_access("one/two", F_OK), more < 0 ? 0 : -1);
    }
}

static char before[500];

static int open_scratch(void **state)
{
    (void)state;
    return make_scratch() && realpath(scratch, folder) && getcwd(before, sizeof before) && chdir(scratch) == 0
               ? 0
               : -1;
}

static int close_scratch(void **state)
{
    return chdir(before) | remove_scratch(state);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    static const struct CMUnitTest tests[] = {TEST(versions_of_landlock), TEST(rights), TEST(restrictions),
        TEST(what_command_lines_need), TEST(records_above), TEST(side_files), TEST(lists),
        TEST(rules_that_fail), TEST(entering), TEST(output_folders)};
    return cmocka_run_group_tests(tests, open_scratch, close_scratch);
}
