/* The keeper: a process outside the sandbox that sets modes, owners, access control lists and times.
 *
 * fchmod, fchown, fsetxattr and futimens also work on descriptors opened for reading, and a system call
 * filter sees only a descriptor's number. So the sandbox refuses these calls with a signal. Its handler sends
 * the descriptor to the keeper, which checks its access mode on a copy that nothing else can change. The
 * keeper sets modes, owners, lists and times only of regular files that were opened for writing. It has the
 * same Landlock rules as the sandbox, and may make only a few system calls. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <ucontext.h>
#include <unistd.h>

#include "cli/sandbox/sandbox.h"

/* It comes from untrusted code. So `call` and `now` are int: not every byte is a valid enum or bool. */
typedef struct request {
    int call; /* SYS_fchmod, SYS_fchown, SYS_fsetxattr or SYS_utimensat */
    int now;  /* SYS_utimensat: to the present time, without times */
    mode_t mode;
    uid_t user;
    gid_t group;
    struct timespec times[2];
    size_t size; /* SYS_fsetxattr: of the list, which follows the request */
} request;

/* The only attribute that the keeper sets, and the most bytes that an attribute may have. */
static const char attribute[] = "system.posix_acl_access";
enum { MAX_LIST = 64 * 1024 };

/* One descriptor sent with a message. There is room for exactly one; the kernel closes any others. */
typedef union passed {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
} passed;

/* ---- the keeper's side -------------------------------------------------------------------------------- */

/* Returns 0 or an errno. */
static int set(const request *r, const void *list, int fd)
{
    struct stat st;
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fstat(fd, &st) != 0)
        return errno;
    if ((flags & O_ACCMODE) == O_RDONLY || !S_ISREG(st.st_mode))
        return EPERM;
    const int rc = r->call == SYS_utimensat   ? futimens(fd, r->now ? NULL : r->times)
                   : r->call == SYS_fchown    ? fchown(fd, r->user, r->group)
                   : r->call == SYS_fsetxattr ? fsetxattr(fd, attribute, list, r->size, 0)
                                              : fchmod(fd, r->mode & 0777);
    return rc != 0 ? errno : 0;
}

static _Noreturn void keep(int sock)
{
    static uint8_t list[MAX_LIST];
    for (;;) {
        request r;
        passed p;
        struct iovec bytes[] = {{&r, sizeof r}, {list, sizeof list}};
        struct msghdr message = {.msg_iov = bytes,
            .msg_iovlen = 2,
            .msg_control = p.room,
            .msg_controllen = CMSG_LEN(sizeof(int))};
        const ssize_t got = recvmsg(sock, &message, MSG_CMSG_CLOEXEC);
        if (got <= 0) /* an empty message, or the other end is closed */
            _exit(0);
        const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        int fd = -1, answer = EBADF;
        if (head && head->cmsg_type == SCM_RIGHTS)
            memcpy(&fd, CMSG_DATA(head), sizeof fd);
        if (fd >= 0 && got >= (ssize_t)sizeof r && (size_t)got - sizeof r == r.size)
            answer = set(&r, list, fd);
        if (fd >= 0)
            close(fd);
        /* The handler reads each answer before its next request. Code that reads no answers must not block
         * the keeper here: descriptors of the socket in transit would keep the socket open for ever. */
        if (send(sock, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            _exit(0);
    }
}

/* ---- the sandbox's side ------------------------------------------------------------------------------- */

static int keeper = -1;
static pid_t keeper_id;

/* Returns 0 or an errno; EIO if the keeper has ended. */
static int ask(const request *r, const void *list, int fd)
{
    static atomic_flag busy = ATOMIC_FLAG_INIT;
    passed p = {.head = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct iovec bytes[] = {{(void *)r, sizeof *r}, {(void *)list, r->size}};
    const struct msghdr message = {
        .msg_iov = bytes, .msg_iovlen = 2, .msg_control = p.room, .msg_controllen = CMSG_LEN(sizeof fd)};
    int answer = EIO;
    memcpy(CMSG_DATA(&p.head), &fd, sizeof fd);
    while (atomic_flag_test_and_set(&busy)) /* a handler must not wait for a lock */
        sched_yield();
    if (sendmsg(keeper, &message, MSG_NOSIGNAL) < 0) /* every signal is blocked here */
        answer = errno == EBADF ? EBADF : EIO;
    else if (read(keeper, &answer, sizeof answer) != sizeof answer)
        answer = EIO;
    atomic_flag_clear(&busy);
    return answer;
}

#if defined(__x86_64__)
static long long argument(const ucontext_t *context, int i)
{
    static const int names[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10};
    return context->uc_mcontext.gregs[names[i]];
}

static void set_result(ucontext_t *context, long long value)
{
    context->uc_mcontext.gregs[REG_RAX] = value;
}
#elif defined(__aarch64__)
static long long argument(const ucontext_t *context, int i)
{
    return (long long)context->uc_mcontext.regs[i];
}

static void set_result(ucontext_t *context, long long value)
{
    context->uc_mcontext.regs[0] = (unsigned long long)value;
}
#else /* there is no filter for this processor, so this never runs */
static long long argument(const ucontext_t *context, int i)
{
    (void)context;
    return i;
}

static void set_result(ucontext_t *context, long long value)
{
    (void)context, (void)value;
}
#endif

/* Replaces the refused call: same arguments, same result. */
static void on_refused(int number, siginfo_t *info, void *at)
{
    ucontext_t *context = at;
    const int before = errno;
    const struct timespec *times = (const struct timespec *)(intptr_t)argument(context, 2);
    request r = {.call = info->si_syscall, .now = !times};
    const void *list = NULL;
    (void)number;
    if (r.call == SYS_fsetxattr) {
        list = (const void *)(intptr_t)argument(context, 2);
        r.size = (size_t)argument(context, 3);
    } else if (r.call == SYS_fchown) {
        r.user = (uid_t)argument(context, 1);
        r.group = (gid_t)argument(context, 2);
    } else if (r.call != SYS_utimensat)
        r.mode = (mode_t)argument(context, 1);
    else if (times)
        memcpy(r.times, times, sizeof r.times);
    const bool is_other =
        r.call == SYS_fsetxattr && strcmp((const char *)(intptr_t)argument(context, 1), attribute) != 0;
    set_result(context, is_other ? -EPERM : -ask(&r, list, (int)argument(context, 0)));
    errno = before;
}

/* ---- start and end
 * -------------------------------------------------------------------------------------------
 */

/* Closes the descriptors that the keeper does not need: another process may wait until a pipe is closed. The
 * keeper ends with the sandbox, not on Ctrl-C. */
static _Noreturn void begin_keeping(int sock)
{
    enum { CLOSE_RANGE = 436 };
    sigset_t all;
    lap_error err;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (dup2(sock, 0) != 0 || syscall(CLOSE_RANGE, 1u, ~0u, 0u) != 0 ||
        lap_sandbox_limit_keeper(&err) != LAP_OK)
        _exit(1);
    keep(0);
}

/* Ends the keeper and waits for it. Otherwise each run would leave a zombie in a container whose first
 * process does not reap orphans. */
static void end_keeper(void)
{
    const struct msghdr empty = {0};
    if (sendmsg(keeper, &empty, MSG_NOSIGNAL) == 0)
        (void)waitpid(keeper_id, NULL, 0);
}

lap_code lap_sandbox_keep(int *sock, lap_error *err)
{
    struct sigaction action = {.sa_sigaction = on_refused, .sa_flags = SA_SIGINFO};
    sigset_t refused;
    char text[160];
    int pair[2];
    sigemptyset(&refused);
    sigaddset(&refused, SIGSYS);
    sigfillset(&action.sa_mask);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return lap_sandbox_failed(err, LAP_E_BACKEND, strerror(errno));
    keeper_id = fork();
    if (keeper_id == 0)
        begin_keeping(pair[1]);
    const int why = errno;
    close(pair[1]);
    keeper = *sock = pair[0];
    if (keeper_id > 0 && atexit(end_keeper) == 0 && sigaction(SIGSYS, &action, NULL) == 0 &&
        sigprocmask(SIG_UNBLOCK, &refused, NULL) == 0)
        return LAP_OK;
    close(pair[0]);
    snprintf(
        text, sizeof text, "cannot start the process that sets modes, owners and times: %s", strerror(why));
    return lap_sandbox_failed(err, LAP_E_BACKEND, text);
}
