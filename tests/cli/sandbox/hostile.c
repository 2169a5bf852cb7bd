/* Preloaded: a JPEG decoder that was taken over. At the first header it reads it tries what no decoder needs,
 * and prints "reached WHAT" or "refused WHAT" for each. hostile_tries.h has the tries.
 *
 * LAP_HOSTILE=FOLDER: a folder that is no business of the run, with the files `secret` and `victim`.
 * LAP_HOSTILE_INPUT=FILE: an input of the run. LAP_HOSTILE_OUT=FOLDER: where its outputs go.
 * LAP_HOSTILE_PROCESS=PID: a process that is no business of the run.
 * LAP_HOSTILE_READ=1: tries at the first bytes of a JPEG that are read, instead of at a decoder's header.
 * LAP_HOSTILE_EXEC=1: starts another program in the place of this one, and tries nothing else.
 * LAP_MISSING=N: the system call of this number is not there. LAP_EARLY_THREAD=1: a thread before main.
 * LAP_NO_FORK=1: no process can be started. LAP_LOST_KEEPER=1: the sandbox's other process has died.
 * LAP_DEAF=1: asks the sandbox's other process until it takes nothing more, reads no answer, and ends.
 * LAP_LANDLOCK=N: a kernel with version N of Landlock, where this one has a newer one. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jpeglib.h>

#include "hostile_tries.h"

static void try_all(void)
{
    static atomic_flag tried = ATOMIC_FLAG_INIT;
    if (!getenv("LAP_HOSTILE") || atomic_flag_test_and_set(&tried))
        return;
    for (const hostile_try *t = hostile_tries; t->what; t++)
        fprintf(stderr, "%s %s\n", t->reaches() ? "reached" : "refused", t->what);
}

/* Each question carries the socket itself, so that it stays open as long as a question waits in it. */
static void ask_and_leave(void)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } passed = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    char question[64] = "";
    struct iovec bytes = {question, sizeof question};
    const struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &passed, .msg_controllen = CMSG_LEN(sizeof(int))};
    struct stat st;
    int sock = 0, refused = 0;
    while (sock < 64 && (fstat(sock, &st) != 0 || !S_ISSOCK(st.st_mode)))
        sock++;
    memcpy(CMSG_DATA(&passed.head), &sock, sizeof sock);
    while (refused < 20)
        if (sendmsg(sock, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
            refused++;
            usleep(10000);
        }
    _exit(9);
}

int jpeg_read_header(j_decompress_ptr decoder, boolean require_image)
{
    int (*next)(j_decompress_ptr, boolean) = NULL;
    if (getenv("LAP_HOSTILE_EXEC"))
        execl("/bin/echo", "echo", "another program", (char *)NULL);
    else if (getenv("LAP_DEAF"))
        ask_and_leave();
    else
        try_all();
    *(void **)&next = dlsym(RTLD_NEXT, "jpeg_read_header");
    return next(decoder, require_image);
}

ssize_t read(int fd, void *bytes, size_t size)
{
    ssize_t (*next)(int, void *, size_t) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "read");
    const ssize_t got = next(fd, bytes, size);
    if (got > 2 && memcmp(bytes, "\xff\xd8\xff", 3) == 0 && getenv("LAP_HOSTILE_READ"))
        try_all();
    return got;
}

/* Of the variable arguments as many as a system call can have are handed on, as glibc's own does. */
long syscall(long number, ...)
{
    enum { LANDLOCK_CREATE_RULESET = 444, ASK_VERSION = 1 };
    static long (*next)(long, ...);
    const char *missing = getenv("LAP_MISSING"), *version = getenv("LAP_LANDLOCK");
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
    const long got = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    const long older = version ? strtol(version, NULL, 10) : got;
    return number == LANDLOCK_CREATE_RULESET && a[2] == ASK_VERSION && older < got ? older : got;
}

pid_t fork(void)
{
    pid_t (*next)(void) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "fork");
    if (!getenv("LAP_NO_FORK"))
        return next();
    errno = EAGAIN;
    return -1;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    ssize_t (*next)(int, const struct msghdr *, int) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "sendmsg");
    if (!getenv("LAP_LOST_KEEPER"))
        return next(fd, message, flags);
    errno = EPIPE;
    return -1;
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
