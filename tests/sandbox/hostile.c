/* Preloaded: a JPEG decoder that was taken over. At the first header it reads it tries what no decoder needs,
 * and prints "reached WHAT" or "refused WHAT" for each.
 *
 * LAP_HOSTILE=FOLDER: a folder that is no business of the run, with a file `secret`.
 * LAP_HOSTILE_EXEC=1: starts another program in the place of this one, and tries nothing else.
 * LAP_MISSING=N: the system call of this number is not there. LAP_EARLY_THREAD=1: a thread before main. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jpeglib.h>

static const char *in_folder(const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", getenv("LAP_HOSTILE"), name);
    return path;
}

static bool opens(const char *path, int flags)
{
    const int fd = open(path, flags, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool talks_tcp(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}

static bool talks_locally(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}

static bool forks(void)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    return child > 0 && waitpid(child, NULL, 0) == child;
}

static bool reads_a_file(void)
{
    return opens(in_folder("secret"), O_RDONLY);
}

static bool reads_passwords(void)
{
    return opens("/etc/passwd", O_RDONLY);
}

static bool writes_a_file(void)
{
    return opens(in_folder("secret"), O_WRONLY);
}

static bool makes_a_file(void)
{
    return opens(in_folder("new"), O_WRONLY | O_CREAT);
}

static bool makes_a_folder(void)
{
    return mkdir(in_folder("folder"), 0700) == 0 || errno == EEXIST;
}

static bool changes_a_mode(void)
{
    return chmod(in_folder("secret"), 0600) == 0;
}

static bool changes_times(void)
{
    return utimensat(AT_FDCWD, in_folder("secret"), NULL, 0) == 0;
}

static bool links_a_file(void)
{
    char from[PATH_MAX];
    snprintf(from, sizeof from, "%s", in_folder("secret"));
    return link(from, in_folder("link")) == 0 || errno == EEXIST;
}

static bool removes_a_file(void)
{
    return unlink(in_folder("victim")) == 0;
}

static bool makes_code(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static bool turns_data_into_code(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
}

static bool signals_its_parent(void)
{
    return kill(getppid(), SIGCONT) == 0;
}

static bool reads_its_parent(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)getppid());
    return opens(path, O_RDONLY);
}

static bool makes_a_memory_file(void)
{
    return syscall(SYS_memfd_create, "m", 0u) >= 0;
}

static bool sets_a_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_CORE, &limit) == 0 && setrlimit(RLIMIT_CORE, &limit) == 0;
}

static void try_all(void)
{
    const struct {
        const char *what;
        bool (*try)(void);
    } tries[] = {{"socket AF_INET", talks_tcp}, {"socket AF_UNIX", talks_locally}, {"fork", forks},
        {"open to read", reads_a_file}, {"open /etc/passwd", reads_passwords},
        {"open to write", writes_a_file}, {"create", makes_a_file}, {"mkdir", makes_a_folder},
        {"chmod", changes_a_mode}, {"utimensat", changes_times}, {"link", links_a_file},
        {"unlink", removes_a_file}, {"mmap PROT_EXEC", makes_code},
        {"mprotect PROT_EXEC", turns_data_into_code}, {"kill", signals_its_parent},
        {"open /proc/PARENT/environ", reads_its_parent}, {"memfd_create", makes_a_memory_file},
        {"setrlimit", sets_a_limit}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        fprintf(stderr, "%s %s\n", tries[i].try() ? "reached" : "refused", tries[i].what);
}

int jpeg_read_header(j_decompress_ptr decoder, boolean require_image)
{
    static atomic_flag tried = ATOMIC_FLAG_INIT;
    int (*next)(j_decompress_ptr, boolean) = NULL;
    if (getenv("LAP_HOSTILE_EXEC"))
        execl("/bin/echo", "echo", "another program", (char *)NULL);
    else if (getenv("LAP_HOSTILE") && !atomic_flag_test_and_set(&tried))
        try_all();
    *(void **)&next = dlsym(RTLD_NEXT, "jpeg_read_header");
    return next(decoder, require_image);
}

/* Of the variable arguments as many as a system call can have are handed on, as glibc's own does. */
long syscall(long number, ...)
{
    static long (*next)(long, ...);
    const char *missing = getenv("LAP_MISSING");
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (missing && strtol(missing, NULL, 10) == number) {
        errno = ENOSYS;
        return -1;
    }
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void *idle(void *unused)
{
    for (;;)
        pause();
    return unused;
}

__attribute__((constructor)) static void start_early(void)
{
    pthread_t thread;
    if (getenv("LAP_EARLY_THREAD"))
        (void)pthread_create(&thread, NULL, idle, NULL);
}
