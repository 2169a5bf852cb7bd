/* Temporary files: their names, whose they are, and which of them are removed. /proc, the clock and other
 * answers of the system are made up here. */
#include "tests/support/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io/sink.h"
#include "io/sink_temp.h"

/* ---- what the system says --------------------------------------------------------------------------- */

enum { PID = 4711, START = 500, DAY_S = 24 * 60 * 60 };

static struct {
    bool no_memory;   /* for the name of a file */
    const char *proc; /* text of /proc/4711/stat; NULL: it cannot be opened */
    int kill;         /* why PID cannot be signalled; 0: it can */
    const char *host, *space;
    bool same_random, no_random, no_folder, no_unlink;
    bool abandons; /* a signal arrives while a file is created */
    time_t now;
    int opens, polls;
} sys;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    char of[64];
    snprintf(of, sizeof of, "/proc/%d/stat", PID);
    if (strcmp(path, of) != 0)
        return __real_open(path, flags, 0);
    if (sys.proc)
        put(at("stat"), sys.proc);
    errno = ENOENT;
    return sys.proc ? __real_open(at("stat"), flags) : -1;
}

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...)
{
    const int fd = __real_openat(folder, path, flags, 0600);
    sys.opens++;
    if (sys.abandons)
        lap_abandon_outputs();
    return fd;
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    if (!sys.no_memory || strncmp(text, ".lapedge-", 9) != 0)
        return __real_strdup(text);
    errno = ENOMEM;
    return NULL;
}

int __real_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal)
{
    assert_int_equal(signal, 0);
    if (pid != PID)
        return __real_kill(pid, signal);
    errno = sys.kill;
    return sys.kill ? -1 : 0;
}

int __real_gethostname(char *name, size_t size);
int __wrap_gethostname(char *name, size_t size);
int __wrap_gethostname(char *name, size_t size)
{
    if (!sys.host)
        return __real_gethostname(name, size);
    strncpy(name, sys.host, size);
    return 0;
}

ssize_t __real_readlink(const char *path, char *to, size_t size);
ssize_t __wrap_readlink(const char *path, char *to, size_t size);
ssize_t __wrap_readlink(const char *path, char *to, size_t size)
{
    if (!sys.host || strcmp(path, "/proc/self/ns/pid") != 0)
        return __real_readlink(path, to, size);
    errno = ENOENT;
    if (!sys.space)
        return -1;
    memcpy(to, sys.space, strlen(sys.space));
    return (ssize_t)strlen(sys.space);
}

ssize_t __real_getrandom(void *bytes, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned flags)
{
    memset(bytes, 7, size);
    return sys.no_random ? -1 : sys.same_random ? (ssize_t)size : __real_getrandom(bytes, size, flags);
}

clock_t __wrap_clock(void);
clock_t __wrap_clock(void)
{
    return 5; /* too short a time for a tick */
}

time_t __real_time(time_t *into);
time_t __wrap_time(time_t *into);
time_t __wrap_time(time_t *into)
{
    return sys.now ? sys.now : __real_time(into);
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms)
{
    (void)fds, (void)count;
    assert_int_equal(ms, 1);
    sys.polls++;
    return 0;
}

DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd)
{
    return sys.no_folder ? NULL : __real_fdopendir(fd);
}

int __real_unlinkat(int folder, const char *name, int flags);
int __wrap_unlinkat(int folder, const char *name, int flags);
int __wrap_unlinkat(int folder, const char *name, int flags)
{
    errno = EACCES;
    return sys.no_unlink ? -1 : __real_unlinkat(folder, name, flags);
}

/* ---- steps ------------------------------------------------------------------------------------------ */

/* Runs a check in a child, because a process finds out only once who it is. */
static void in_child(bool (*check)(int way), int way)
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        _exit(check(way) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int open_folder(void)
{
    return __real_open(scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static char output[80]; /* whose temporary files are made */

/* Creates a file and forgets its name, which is given. */
static bool create(int folder, char name[128])
{
    int fd;
    lap_temp temp;
    if (!lap_temp_create(folder, output, &temp, &fd))
        return false;
    snprintf(name, 128, "%s", temp.name);
    close(fd);
    lap_temp_forget(&temp);
    return temp.held == -1 && !temp.name;
}

static unsigned own_host(void)
{
    char name[128];
    unsigned host = 0;
    const int folder = open_folder();
    assert_true(create(folder, name));
    assert_int_equal(sscanf(name, ".lapedge-%x-", &host), 1);
    assert_int_equal(__real_unlinkat(folder, name, 0), 0);
    close(folder);
    return host;
}

/* Whether a sweep removes this file. */
static bool is_swept(const char *name)
{
    struct stat st;
    put(at(name), "");
    const int files = open_files();
    errno = ERANGE; /* of an earlier call */
    const int removed = lap_sink_sweep(scratch);
    assert_int_equal(open_files(), files);
    assert_int_equal(removed, lstat(at(name), &st) != 0);
    if (removed == 0)
        assert_int_equal(unlink(at(name)), 0);
    return removed == 1;
}

/* ---- whose file it is -------------------------------------------------------------------------------- */

static bool is_of_the_dead(unsigned long long start, const char *proc, int kill)
{
    char name[128];
    snprintf(name, sizeof name, ".lapedge-%08x-%d-%llx-0000000a.tmp", own_host(), PID, start);
    sys.proc = proc;
    sys.kill = kill;
    const bool swept = is_swept(name);
    sys.proc = NULL;
    sys.kill = 0;
    return swept;
}

#define FIELDS_4_TO_21 "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"

static void files_of_the_dead_are_removed(void **unused)
{
    (void)unused;
    static const char alive[] = "4711 (x) R " FIELDS_4_TO_21 " 500 1 1\n";
    static const char later[] = "4711 (x) R " FIELDS_4_TO_21 " 501 1 1\n";
    static const struct {
        const char *proc;
        bool dead;
    } told[] = {{alive, false}, {later, true}, {"4711 (x) Z " FIELDS_4_TO_21 " 500\n", true},
        {"4711 (x) X " FIELDS_4_TO_21 " 500\n", true}, {"4711 (x) Z (y) S " FIELDS_4_TO_21 " 500\n", false},
        {"4711 (x) R " FIELDS_4_TO_21 " 500", false}};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        for (int kill = 0; kill < 2; kill++) /* not asked */
            assert_int_equal(is_of_the_dead(START, told[i].proc, kill ? ESRCH : 0), told[i].dead);

    /* /proc does not tell, or not when the process started */
    static const char *const silent[] = {NULL, "", "4711 x R " FIELDS_4_TO_21 " 501\n",
        "4711 (x)xR " FIELDS_4_TO_21 " 501\n", "4711 (x) R 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n"};
    static const int whys[] = {0, EPERM, ESRCH};
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < sizeof silent / sizeof *silent; k++)
            assert_int_equal(is_of_the_dead(START, silent[k], whys[i]), whys[i] == ESRCH);
        assert_int_equal(is_of_the_dead(0, later, whys[i]), whys[i] == ESRCH);
    }

    /* a longer text than is read; and no rest of it in the next one */
    char text[3000];
    memset(text, ')', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_false(is_of_the_dead(START, text, 0));
    assert_false(is_of_the_dead(START, alive, ESRCH));
}

static bool is_told_apart(int way)
{
    static const struct {
        const char *host, *space;
    } hosts[] = {{"alpha", "pid:[1]"}, {"alpha", "pid:[2]"}, {"beta", "pid:[1]"}, {"alpha", NULL}, {"", NULL},
        {"0123456789012345678901234567890123456789012345678901234567890123", "pid:[1]"}};
    char text[256];
    unsigned hash = 2166136261u;
    sys.host = hosts[way].host;
    sys.space = hosts[way].space;
    snprintf(text, sizeof text, "%s%s", sys.host, sys.space ? sys.space : "");
    for (const char *p = text; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    return own_host() == hash;
}

static void hosts_are_told_apart(void **unused)
{
    (void)unused;
    for (int way = 0; way < 6; way++)
        in_child(is_told_apart, way);
}

static void names_of_all_kinds(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        bool ours;
    } names[] = {{".lapedge-00000000-1-1-0000000a.tmp", true}, {".lapedge-ffffffff-1-1-a.tmp", true},
        {".lapedge-100000000-1-1-a.tmp", false}, {".lapedge-0-2147483647-1-a.tmp", true},
        {".lapedge-0-2147483648-1-a.tmp", false}, {".lapedge-0-0-1-a.tmp", false},
        {".lapedge-0--1-1-a.tmp", false}, {".lapedge-0-+1-1-a.tmp", false}, {".lapedge-0- 1-1-a.tmp", false},
        {".lapedge-0-a-1-a.tmp", false}, {".lapedge-0-1-1-g.tmp", false}, {".lapedge-0-1-1-ag.tmp", false},
        {".lapedge-0g-1-1-a.tmp", false}, {".lapedge-0-1-1g-a.tmp", false}, {".lapedge-g-1-1-a.tmp", false},
        {".lapedge-0-1-g-a.tmp", false}, {".lapedge-0-99999999999999999999-1-a.tmp", false},
        {".lapedge-0-1-10000000000000000-a.tmp", false}, {".lapedge-0-1-ffffffffffffffff-a.tmp", true},
        {".lapedge-0-1-1-a.tmp.bak", false}, {".lapedge-0-1-1-a.tm", false}, {".lapedge-0-1-1-a", false},
        {".lapedge-0-1-1_a.tmp", false}, {".lapedge-0-1-1-.tmp", false}, {".lapedge-0_1-1-a.tmp", false},
        {".lapedge-0-1_1-a.tmp", false}, {"xlapedge-0-1-1-a.tmp", false}};
    sys.now = __real_time(NULL) + 10 * DAY_S;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(is_swept(names[i].name), names[i].ours);

    const char *name = names[0].name; /* what has such a name, and is no file */
    assert_int_equal(mkdir(at(name), 0700), 0);
    assert_int_equal(lap_sink_sweep(scratch), 0);
    assert_int_equal(rmdir(at(name)), 0);
    put(at("target"), "");
    assert_int_equal(symlink("target", at(name)), 0);
    assert_int_equal(lap_sink_sweep(scratch), 0);
    assert_int_equal(unlink(at(name)), 0);
    sys.no_unlink = true; /* nor what cannot be removed */
    assert_false(is_swept(name));
    sys.no_unlink = false;
    sys.no_folder = true;
    assert_false(is_swept(name));
    sys.no_folder = false;

    struct stat st;
    put(at(name), "");
    assert_int_equal(stat(at(name), &st), 0);
    sys.now = st.st_mtim.tv_sec + DAY_S;
    assert_int_equal(lap_sink_sweep(scratch), 0);
    sys.now++;
    assert_int_equal(lap_sink_sweep(scratch), 1);
    sys.now = 0;
}

/* ---- creating ---------------------------------------------------------------------------------------- */

static void a_name_that_is_taken(void **unused)
{
    (void)unused;
    char names[3][128];
    const int folder = open_folder();
    sys.same_random = true;
    assert_true(create(folder, names[0]));
    sys.opens = 0;
    errno = 0;
    assert_false(create(folder, names[1]));
    assert_int_equal(errno, EEXIST);
    assert_int_equal(sys.opens, 100);
    sys.same_random = false;
    sys.no_random = true; /* then the clock, and one more each time */
    assert_true(create(folder, names[1]));
    assert_true(create(folder, names[2]));
    sys.no_random = false;
    for (int i = 0; i < 3; i++)
        assert_int_equal(unlinkat(folder, names[i], 0), 0);
    close(folder);
}

/* A signal that ends the program while a file is created: the file is removed, and no other one is made. */
static bool is_abandoned_midway(int way)
{
    char name[128];
    const int folder = open_folder();
    bool good = create(folder, name) && __real_unlinkat(folder, name, 0) == 0;
    if (way == 0) { /* nobody creates a file: nothing to wait for */
        lap_abandon_outputs();
        good = good && sys.polls == 0;
    } else {
        sys.abandons = true;
        good = good && create(folder, name);
        sys.abandons = false;
        good = good && sys.polls == 100 && faccessat(folder, name, F_OK, 0) != 0;
        sys.polls = 0;
        lap_abandon_outputs();
        good = good && sys.polls == 0;
    }
    errno = 0;
    return good && !create(folder, name) && errno == ECANCELED;
}

static void an_end_while_a_file_is_created(void **unused)
{
    (void)unused;
    in_child(is_abandoned_midway, 0);
    in_child(is_abandoned_midway, 1);
}

static void *create_some(void *folder)
{
    char name[128];
    bool good = true;
    for (int i = 0; i < 50; i++)
        good = create(*(int *)folder, name) && __real_unlinkat(*(int *)folder, name, 0) == 0 && good;
    return good ? folder : NULL;
}

static bool works_in_threads(int way)
{
    (void)way;
    pthread_t threads[4];
    bool good = true;
    int folder = open_folder();
    for (int i = 0; i < 4; i++)
        good = pthread_create(&threads[i], NULL, create_some, &folder) == 0 && good;
    for (int i = 0; i < 4; i++) {
        void *result = NULL;
        good = pthread_join(threads[i], &result) == 0 && result && good;
    }
    return good;
}

static void threads_create_files(void **unused)
{
    (void)unused;
    in_child(works_in_threads, 0);
}

/* ---- paths -------------------------------------------------------------------------------------------- */

static void assert_resolves(const char *path, const char *to)
{
    errno = 0;
    char *found = lap_temp_resolve(path);
    if (to)
        assert_string_equal(found, to);
    else
        assert_null(found);
    assert_true(to || errno == ELOOP);
    free(found);
}

static void chains_of_links(void **unused)
{
    (void)unused;
    char name[16], to[16];
    for (int i = 0; i <= 41; i++) { /* link1 leads to link0, a missing file */
        snprintf(name, sizeof name, "link%d", i);
        snprintf(to, sizeof to, "link%d", i - 1);
        if (i > 0)
            assert_int_equal(symlink(to, at(name)), 0);
    }
    assert_resolves(at("link1"), at("link0"));
    assert_resolves(at("link40"), at("link0"));
    assert_resolves(at("link41"), NULL);
}

static void assert_folder(const char *path, const char *expected)
{
    char *folder = lap_sink_folder(path);
    if (expected)
        assert_string_equal(folder, expected);
    else
        assert_null(folder);
    free(folder);
}

static void folders_of_outputs(void **unused)
{
    (void)unused;
    put(at("file"), "");
    assert_int_equal(mkdir(at("sub"), 0700), 0);
    assert_int_equal(symlink("sub/file", at("to sub")), 0);
    assert_folder("-", NULL);
    assert_folder("/dev/null", NULL);
    assert_folder(at("sub"), NULL);
    assert_folder(at("file"), scratch);
    assert_folder(at("missing"), scratch);
    assert_folder(at("to sub"), at("sub"));
    assert_folder("no such file", ".");
    assert_folder("/no such file", "/");
}

/* ---- what is given back -------------------------------------------------------------------------------- */

static void use_all(int times)
{
    char name[128];
    const int folder = open_folder();
    for (int i = 0; i < times; i++) {
        assert_true(create(folder, name));
        assert_int_equal(__real_unlinkat(folder, name, 0), 0);
        free(lap_temp_resolve(at("link3")));
        free(lap_temp_resolve(at("link41")));
        free(lap_sink_folder(at("to sub")));
    }
    close(folder);
}

enum { PLACES = 4096 };

/* Also while number 0 is free, and while the table of files to remove is full. */
static bool gives_back(int way)
{
    char name[128];
    const int number = open_folder();
    unsigned long long start = 0;
    if (way == 1)
        close(0);
    const int files = open_files();
    bool good = create(number, name) && sscanf(name, ".lapedge-%*x-%*d-%llx-", &start) == 1 && start > 0 &&
                __real_unlinkat(number, name, 0) == 0;
    lap_temp temp;
    for (int i = 0, fd; i < PLACES && way == 2 && good; i++)
        good = lap_temp_create(number, output, &temp, &fd) && close(fd) == 0;
    use_all(4);
    const size_t bytes = mallinfo2().uordblks;
    use_all(200);
    good = good && mallinfo2().uordblks < bytes + (size_t)200 * 8;
    if (way == 1) {
        sys.now = __real_time(NULL) + 2 * DAY_S;
        put(at(".lapedge-0-1-1-a.tmp"), "");
        sys.no_folder = true;
        good = good && lap_temp_sweep(number) == 0;
        sys.no_folder = false;
        good = good && lap_temp_sweep(number) == 1 && chdir(scratch) == 0;
        put(at(".lapedge-0-1-1-a.tmp"), "");
        good = good && lap_sink_sweep("") == 1 && lap_sink_sweep("no such folder") == 0;
    }
    return good && open_files() == files;
}

static void create_without_memory(int folder, int times)
{
    for (int i = 0; i < times; i++) {
        lap_temp temp;
        int fd;
        assert_false(lap_temp_create(folder, output, &temp, &fd));
        assert_int_equal(errno, ENOMEM);
        assert_true(temp.held == -1 && !temp.name);
    }
}

static void no_memory_for_a_name(void **unused)
{
    (void)unused;
    const int folder = open_folder();
    sys.no_memory = true;
    create_without_memory(folder, 4);
    const size_t bytes = mallinfo2().uordblks;
    create_without_memory(folder, 300);
    assert_true(mallinfo2().uordblks < bytes + (size_t)300 * 8);
    sys.no_memory = false;
    close(folder);
}

static void everything_is_given_back(void **unused)
{
    (void)unused;
    for (int way = 0; way < 3; way++)
        in_child(gives_back, way);
    assert_int_equal(lap_sink_sweep(scratch), PLACES); /* the child has ended */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_the_dead_are_removed),
        cmocka_unit_test(hosts_are_told_apart),
        cmocka_unit_test(names_of_all_kinds),
        cmocka_unit_test(a_name_that_is_taken),
        cmocka_unit_test(an_end_while_a_file_is_created),
        cmocka_unit_test(threads_create_files),
        cmocka_unit_test(chains_of_links),
        cmocka_unit_test(folders_of_outputs),
        cmocka_unit_test(no_memory_for_a_name),
        cmocka_unit_test(everything_is_given_back),
    };
    if (!make_scratch())
        return 99;
    snprintf(output, sizeof output, "%s/x", scratch);
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
