#include "hostile_tries.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* Of newer kernels; the numbers are the same everywhere. */
enum { OPENAT2 = 437, FCHMODAT2 = 452, PIDFD_OPEN = 434 };

/* ---- where -------------------------------------------------------------------------------------------- */

static const char *joined(const char *folder, const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

static const char *elsewhere(const char *name)
{
    return joined(getenv("LAP_HOSTILE"), name);
}

static const char *out(const char *name)
{
    return joined(getenv("LAP_HOSTILE_OUT"), name);
}

static const char *input(void)
{
    return getenv("LAP_HOSTILE_INPUT");
}

static pid_t somebody(void)
{
    return (pid_t)atol(getenv("LAP_HOSTILE_PROCESS"));
}

/* ---- short ways --------------------------------------------------------------------------------------- */

/* Whether fd is one; it is closed. */
static bool got(int fd)
{
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool opens(const char *path, int flags)
{
    return got(open(path, flags, 0600));
}

/* Whether it is there and does what it is asked, on a descriptor that is closed then. */
static bool does(int fd, int (*what)(int fd))
{
    const bool done = fd >= 0 && what(fd) == 0;
    if (fd >= 0)
        close(fd);
    return done;
}

static bool on_input(int (*what)(int fd))
{
    return does(open(input(), O_RDONLY), what);
}

static bool on_secret(int (*what)(int fd)) /* by the access mode that needs no right */
{
    return does(open(elsewhere("secret"), O_ACCMODE), what);
}

static bool is_end_of(pid_t child)
{
    if (child == 0)
        _exit(0);
    return child > 0 && waitpid(child, NULL, 0) == child;
}

/* ---- open --------------------------------------------------------------------------------------------- */

static bool reads_a_file(void)
{
    return opens(elsewhere("secret"), O_RDONLY);
}

static bool reads_passwords(void)
{
    return opens("/etc/passwd", O_RDONLY);
}

static bool reads_from_the_root(void)
{
    const int root = open("/", O_PATH);
    const bool opened = got(openat(root, elsewhere("secret") + 1, O_RDONLY));
    return got(root) && opened;
}

static bool reads_through_proc(void)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "/proc/self/root%s", elsewhere("secret"));
    return opens(path, O_RDONLY);
}

static bool reads_its_parent(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)getppid());
    return opens(path, O_RDONLY);
}

static bool sees_its_parents_files(void)
{
    char path[64], to[64];
    snprintf(path, sizeof path, "/proc/%d/fd/0", (int)getppid());
    return readlink(path, to, sizeof to) > 0;
}

static bool writes_a_file(void)
{
    return opens(elsewhere("secret"), O_WRONLY);
}

static bool writes_its_code(void)
{
    return opens("/proc/self/mem", O_RDWR);
}

static bool makes_a_file(void)
{
    return opens(elsewhere("new"), O_WRONLY | O_CREAT);
}

static bool makes_a_nameless_file(void)
{
    return opens(out(""), O_WRONLY | O_TMPFILE);
}

static bool makes_a_program_of_its_owner(void)
{
    struct stat st;
    const int fd = open(out("tool"), O_WRONLY | O_CREAT, 04755);
    return fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & S_ISUID) && unlink(out("tool")) == 0 && got(fd);
}

static bool opens_for_nothing(void)
{
    return opens(elsewhere("secret"), O_ACCMODE);
}

static bool opens_an_input_for_nothing(void)
{
    return opens(input(), O_ACCMODE);
}

static bool opens_by_the_older_call(void)
{
#ifdef SYS_open
    return got((int)syscall(SYS_open, elsewhere("secret"), O_ACCMODE, 0));
#else
    return opens(elsewhere("secret"), O_ACCMODE);
#endif
}

static bool opens_a_driver(void)
{
    return opens("/dev/full", O_ACCMODE);
}

static bool reads_a_driver(void)
{
    return opens("/dev/zero", O_RDONLY);
}

static bool opens_by_openat2(void)
{
    const uint64_t how[3] = {O_RDONLY};
    return got((int)syscall(OPENAT2, AT_FDCWD, input(), how, sizeof how));
}

static bool opens_without_access_time(void)
{
    return opens(input(), O_RDONLY | O_NOATIME);
}

static bool opens_asynchronously(void)
{
    return opens(input(), O_RDONLY | O_ASYNC);
}

/* ---- what is in files --------------------------------------------------------------------------------- */

/* Empties the file by `way`, and where it can, fills it again: the run goes on. */
static bool empties(const char *path, int (*way)(const char *path))
{
    static char bytes[4 << 20];
    struct stat st;
    const int fd = open(path, O_RDONLY);
    const ssize_t size = fd < 0 ? 0 : pread(fd, bytes, sizeof bytes, 0);
    const bool seen = fd >= 0 && fstat(fd, &st) == 0;
    got(fd);
    if (way(path) != 0)
        return false;
    const int again = open(path, O_WRONLY);
    if (again >= 0 && write(again, bytes, (size_t)size) == size && seen)
        futimens(again, (struct timespec[]){st.st_atim, st.st_mtim});
    got(again);
    return true;
}

static int by_opening(const char *path)
{
    return got(open(path, O_RDONLY | O_TRUNC)) ? 0 : -1;
}

static int by_opening_to_write(const char *path)
{
    return got(open(path, O_WRONLY | O_TRUNC)) ? 0 : -1;
}

static int by_opening_for_nothing(const char *path)
{
    return got(open(path, O_ACCMODE | O_TRUNC)) ? 0 : -1;
}

static int by_creating(const char *path)
{
    return got(creat(path, 0600)) ? 0 : -1;
}

static int by_name(const char *path)
{
    return truncate(path, 0);
}

static bool empties_a_file(void)
{
    return empties(elsewhere("secret"), by_opening);
}

static bool empties_a_file_to_write(void)
{
    return empties(elsewhere("secret"), by_opening_to_write);
}

static bool empties_a_file_for_nothing(void)
{
    return empties(elsewhere("secret"), by_opening_for_nothing);
}

static bool empties_a_file_by_creat(void)
{
    return empties(elsewhere("secret"), by_creating);
}

static bool empties_a_file_by_name(void)
{
    return empties(elsewhere("secret"), by_name);
}

static bool empties_an_input(void)
{
    return empties(input(), by_opening);
}

static bool empties_an_input_by_name(void)
{
    return empties(input(), by_name);
}

static int sends(int fd)
{
    const int to = open("/dev/null", O_WRONLY);
    return sendfile(to, fd, NULL, 1) == 1 && got(to) ? 0 : -1;
}

static bool sends_a_file(void)
{
    return on_input(sends);
}

static int copies(int fd)
{
    (void)fd; /* with none, what matters is whether the kernel would look at it */
    return copy_file_range(-1, NULL, -1, NULL, 1, 0) < 0 && errno == EBADF ? 0 : -1;
}

static bool copies_a_range(void)
{
    return on_input(copies);
}

/* ---- names -------------------------------------------------------------------------------------------- */

static bool makes_a_folder(void)
{
    return mkdir(elsewhere("folder"), 0700) == 0 && rmdir(elsewhere("folder")) == 0;
}

static bool is_made(int rc, const char *path)
{
    return rc == 0 && unlink(path) == 0;
}

static bool links_a_file(void)
{
    return is_made(link(elsewhere("secret"), elsewhere("link")), elsewhere("link"));
}

static bool links_into_the_output(void)
{
    return is_made(link(elsewhere("secret"), out("link")), out("link"));
}

static bool links_a_descriptor(void)
{
    char name[64];
    const int fd = open(elsewhere("secret"), O_PATH);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    const bool linked =
        is_made(linkat(AT_FDCWD, name, AT_FDCWD, out("link"), AT_SYMLINK_FOLLOW), out("link"));
    return got(fd) && linked;
}

static bool makes_a_symbolic_link(void)
{
    return is_made(symlink("/etc/passwd", out("symlink")), out("symlink"));
}

static bool makes_a_fifo(void)
{
    return is_made(mkfifo(out("fifo"), 0600), out("fifo"));
}

static bool renames_a_file(void)
{
    return rename(elsewhere("secret"), elsewhere("other")) == 0 &&
           rename(elsewhere("other"), elsewhere("secret")) == 0;
}

static bool moves_into_the_output(void)
{
    return rename(elsewhere("secret"), out("moved")) == 0 && rename(out("moved"), elsewhere("secret")) == 0;
}

static bool removes_a_file(void)
{
    return unlink(elsewhere("victim")) == 0;
}

static bool changes_its_folder(void)
{
    return chdir(".") == 0;
}

/* ---- modes, owners, times ----------------------------------------------------------------------------- */

static int to_the_same_mode(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? fchmod(fd, st.st_mode & 0777) : -1;
}

static int to_the_same_times(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? futimens(fd, (struct timespec[]){st.st_atim, st.st_mtim}) : -1;
}

static int to_this_time(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && futimens(fd, NULL) == 0
               ? futimens(fd, (struct timespec[]){st.st_atim, st.st_mtim})
               : -1;
}

static int to_the_same_owner(int fd)
{
    return fchown(fd, (uid_t)-1, (gid_t)-1);
}

static int to_an_attribute(int fd)
{
    return fsetxattr(fd, "user.mine", "x", 1, 0);
}

static int to_a_list(int fd) /* which says as much as a mode of 0777 */
{
    static const unsigned char list[] = {2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 4, 0, 7, 0, 255, 255,
        255, 255, 32, 0, 7, 0, 255, 255, 255, 255};
    return fsetxattr(fd, "system.posix_acl_access", list, sizeof list, 0);
}

static bool changes_an_inputs_attribute(void)
{
    return on_input(to_an_attribute);
}

static bool changes_an_inputs_list(void)
{
    return on_input(to_a_list);
}

static bool changes_an_inputs_attribute_by_name(void)
{
    return setxattr(input(), "user.mine", "x", 1, 0) == 0;
}

static bool reads_an_attribute_by_name(void)
{
    return getxattr(elsewhere("secret"), "user.mine", NULL, 0) >= 0 || errno != EPERM;
}

static bool changes_a_mode(void)
{
    return chmod(elsewhere("secret"), 0600) == 0;
}

static bool changes_a_mode_by_a_folder(void)
{
    struct stat st;
    return stat(input(), &st) == 0 && fchmodat(AT_FDCWD, input(), st.st_mode & 0777, 0) == 0;
}

static bool changes_a_mode_by_fchmodat2(void)
{
    if (syscall(FCHMODAT2, AT_FDCWD, elsewhere("secret"), 0600, 0) == 0)
        return true;
    return errno == ENOSYS; /* no such kernel */
}

static bool changes_times(void)
{
    return utimensat(AT_FDCWD, elsewhere("secret"), NULL, 0) == 0;
}

static bool changes_an_inputs_times_by_name(void)
{
    struct stat st;
    return stat(input(), &st) == 0 &&
           utimensat(AT_FDCWD, input(), (struct timespec[]){st.st_atim, st.st_mtim}, 0) == 0;
}

static bool changes_a_mode_opened_for_nothing(void)
{
    return on_secret(to_the_same_mode);
}

static bool changes_times_opened_for_nothing(void)
{
    return on_secret(to_the_same_times);
}

static bool changes_an_inputs_mode(void)
{
    return on_input(to_the_same_mode);
}

static bool changes_an_inputs_times(void)
{
    return on_input(to_the_same_times);
}

static bool changes_an_inputs_times_to_now(void)
{
    return on_input(to_this_time);
}

static bool changes_an_inputs_owner(void)
{
    return on_input(to_the_same_owner);
}

/* While fd is looked at by somebody else, it becomes another one. */
static bool changes_a_mode_in_between(void)
{
    const int to_write = open(out("mine"), O_WRONLY | O_CREAT, 0600), to_read = open(input(), O_RDONLY);
    const int at = fcntl(to_write, F_DUPFD_CLOEXEC, 64);
    const bool swapped = dup2(to_read, at) == at || dup3(to_read, at, O_CLOEXEC) == at;
    const bool changed = swapped && to_the_same_mode(at) == 0;
    (void)unlink(out("mine"));
    const bool opened[] = {got(at), got(to_read), got(to_write)}; /* each is closed */
    return changed && opened[0] && opened[1] && opened[2];
}

/* ---- descriptors -------------------------------------------------------------------------------------- */

static int leases(int fd)
{
    return fcntl(fd, F_SETLEASE, F_RDLCK) == 0 ? fcntl(fd, F_SETLEASE, F_UNLCK) : -1;
}

static int owns(int fd)
{
    return fcntl(fd, F_SETOWN, somebody());
}

static int owns_by_the_newer_command(int fd)
{
    const struct f_owner_ex owner = {F_OWNER_PID, somebody()};
    return fcntl(fd, F_SETOWN_EX, &owner);
}

static int chooses_a_signal(int fd)
{
    return fcntl(fd, F_SETSIG, SIGKILL);
}

static int asks_for_signals(int fd)
{
    return fcntl(fd, F_SETFL, O_ASYNC);
}

static int stops_waiting(int fd)
{
    return fcntl(fd, F_SETFL, O_NONBLOCK);
}

static int locks(int fd)
{
    const struct flock lock = {.l_type = F_RDLCK};
    return fcntl(fd, F_SETLK, &lock);
}

static int locks_whole(int fd)
{
    return flock(fd, LOCK_SH);
}

static int stops_waiting_by_ioctl(int fd)
{
    int on = 1;
    return ioctl(fd, FIONBIO, &on);
}

static bool leases_an_input(void)
{
    return on_input(leases);
}

static bool owns_a_descriptor(void)
{
    return on_input(owns);
}

static bool owns_a_descriptor_ex(void)
{
    return on_input(owns_by_the_newer_command);
}

static bool sets_a_signal(void)
{
    return on_input(chooses_a_signal);
}

static bool sets_asynchronous(void)
{
    return on_input(asks_for_signals);
}

static bool sets_non_blocking(void)
{
    return on_input(stops_waiting);
}

static bool locks_an_input(void)
{
    return on_input(locks);
}

static bool locks_an_input_whole(void)
{
    return on_input(locks_whole);
}

static bool sets_non_blocking_by_ioctl(void)
{
    return on_input(stops_waiting_by_ioctl);
}

static int asks_for_changes(int fd)
{
    return fcntl(fd, F_NOTIFY, DN_MODIFY);
}

static bool watches_a_folder(void)
{
    return does(open("/sys/devices/system/cpu", O_RDONLY | O_DIRECTORY), asks_for_changes);
}

static bool watches_by_inotify(void)
{
    return got(inotify_init1(0));
}

/* A socket that is open, or a new one. */
static int some_socket(void)
{
    struct stat st;
    int pair[2];
    for (int fd = 3; fd < 64; fd++)
        if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
            return fd;
    return socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0 && got(pair[1]) ? pair[0] : -1;
}

static bool replaces_a_socket(void)
{
    const int fd = some_socket();
    return fd >= 0 && dup2(STDERR_FILENO, fd) == fd && got(fd);
}

static bool closes_a_socket(void)
{
    return close(some_socket()) == 0;
}

/* ---- other processes ---------------------------------------------------------------------------------- */

static bool talks_tcp(void)
{
    return got(socket(AF_INET, SOCK_STREAM, 0));
}

static bool talks_locally(void)
{
    return got(socket(AF_UNIX, SOCK_STREAM, 0));
}

static bool talks_to_the_kernel(void)
{
    return got(socket(AF_NETLINK, SOCK_RAW, 0));
}

static bool has_a_pair_of_sockets(void)
{
    int pair[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && got(pair[0]) && got(pair[1]);
}

static bool shares_memory(void)
{
    const int id = shmget(IPC_PRIVATE, 4096, 0600);
    return id >= 0 && shmctl(id, IPC_RMID, NULL) == 0;
}

static bool forks(void)
{
    return is_end_of(fork());
}

static bool forks_by_clone(void)
{
    return is_end_of((pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L));
}

static bool forks_by_clone3(void)
{
    struct clone_args how = {.exit_signal = SIGCHLD};
    return is_end_of((pid_t)syscall(SYS_clone3, &how, sizeof how));
}

static bool signals_its_parent(void)
{
    return kill(getppid(), SIGCONT) == 0;
}

static bool signals_a_thread(void)
{
    return syscall(SYS_tgkill, somebody(), somebody(), SIGCONT) == 0;
}

static bool queues_a_signal(void)
{
    return sigqueue(somebody(), SIGCONT, (union sigval){0}) == 0;
}

static bool signals_by_a_descriptor(void)
{
    return got((int)syscall(PIDFD_OPEN, somebody(), 0));
}

/* The whole way: data in a pipe kills the owner that its other end was given. */
static bool signals_by_a_pipe(void)
{
    struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    const bool done = fcntl(ends[0], F_SETOWN, somebody()) == 0 && fcntl(ends[0], F_SETSIG, SIGTERM) == 0 &&
                      fcntl(ends[0], F_SETFL, O_ASYNC) == 0 && write(ends[1], "x", 1) == 1;
    bool gone = false;
    for (int i = 0; done && !gone && i < 100; i++) {
        gone = kill(somebody(), 0) != 0 && errno == ESRCH; /* its parent waits for it */
        nanosleep(&moment, NULL);
    }
    const bool opened[] = {got(ends[0]), got(ends[1])}; /* each is closed */
    return opened[0] && opened[1] && gone;
}

static bool moves_a_process(void)
{
    cpu_set_t set;
    return sched_getaffinity(somebody(), sizeof set, &set) == 0 &&
           sched_setaffinity(somebody(), sizeof set, &set) == 0;
}

static bool sets_a_priority(void)
{
    return setpriority(PRIO_PROCESS, (id_t)somebody(), getpriority(PRIO_PROCESS, (id_t)somebody())) == 0;
}

static bool sets_a_scheduler(void)
{
    const struct sched_param none = {0};
    return sched_setscheduler(somebody(), SCHED_OTHER, &none) == 0;
}

static bool reads_a_limit(void)
{
    struct rlimit limit;
    return prlimit(somebody(), RLIMIT_CORE, NULL, &limit) == 0;
}

static bool sets_a_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_CORE, &limit) == 0 && setrlimit(RLIMIT_CORE, &limit) == 0;
}

static bool reads_memory_by_a_call(void)
{
    char from[1] = {1}, to[1] = {0};
    const struct iovec local = {to, 1}, remote = {from, 1};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

/* ---- itself ------------------------------------------------------------------------------------------- */

static bool makes_memory(int protection)
{
    void *page = mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page != MAP_FAILED && munmap(page, 4096) == 0;
}

static bool makes_code(void)
{
    return makes_memory(PROT_READ | PROT_EXEC);
}

static bool makes_writable_code(void)
{
    return makes_memory(PROT_READ | PROT_WRITE | PROT_EXEC);
}

static int maps_as_code(int fd)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    return page != MAP_FAILED ? munmap(page, 4096) : -1;
}

static bool makes_code_of_an_input(void)
{
    return on_input(maps_as_code);
}

static bool turns_data_into_code(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
}

static bool makes_a_memory_file(void)
{
    return got((int)syscall(SYS_memfd_create, "m", 0u));
}

static bool becomes_a_user(void)
{
    return setuid(getuid()) == 0;
}

static bool lets_itself_be_dumped(void)
{
    return prctl(PR_SET_DUMPABLE, 1) == 0;
}

/* ---- all ---------------------------------------------------------------------------------------------- */

/* What kills the process comes last. */
const hostile_try hostile_tries[] = {{"open to read", reads_a_file}, {"open /etc/passwd", reads_passwords},
    {"open from the root", reads_from_the_root}, {"open /proc/self/root", reads_through_proc},
    {"open /proc/PARENT/environ", reads_its_parent}, {"readlink /proc/PARENT/fd/0", sees_its_parents_files},
    {"open to write", writes_a_file}, {"open /proc/self/mem to write", writes_its_code},
    {"create", makes_a_file}, {"open O_TMPFILE", makes_a_nameless_file},
    {"create setuid", makes_a_program_of_its_owner}, {"open mode 3", opens_for_nothing},
    {"open mode 3, an input", opens_an_input_for_nothing}, {"open(2) mode 3", opens_by_the_older_call},
    {"open mode 3, a driver", opens_a_driver}, {"open a driver", reads_a_driver},
    {"openat2", opens_by_openat2}, {"open O_NOATIME", opens_without_access_time},
    {"open O_ASYNC", opens_asynchronously}, {"open O_TRUNC", empties_a_file},
    {"open O_WRONLY O_TRUNC", empties_a_file_to_write}, {"open mode 3 O_TRUNC", empties_a_file_for_nothing},
    {"creat", empties_a_file_by_creat}, {"truncate", empties_a_file_by_name},
    {"open O_TRUNC, an input", empties_an_input}, {"truncate, an input", empties_an_input_by_name},
    {"sendfile", sends_a_file}, {"copy_file_range", copies_a_range}, {"mkdir", makes_a_folder},
    {"link", links_a_file}, {"link into the output", links_into_the_output},
    {"linkat of a descriptor", links_a_descriptor}, {"symlink", makes_a_symbolic_link},
    {"mkfifo", makes_a_fifo}, {"rename", renames_a_file}, {"rename into the output", moves_into_the_output},
    {"unlink", removes_a_file}, {"chdir", changes_its_folder}, {"chmod", changes_a_mode},
    {"fchmodat, an input", changes_a_mode_by_a_folder}, {"fchmodat2", changes_a_mode_by_fchmodat2},
    {"utimensat", changes_times}, {"utimensat, an input", changes_an_inputs_times_by_name},
    {"fchmod by mode 3", changes_a_mode_opened_for_nothing},
    {"futimens by mode 3", changes_times_opened_for_nothing}, {"fchmod, an input", changes_an_inputs_mode},
    {"futimens, an input", changes_an_inputs_times},
    {"futimens to now, an input", changes_an_inputs_times_to_now},
    {"fchown, an input", changes_an_inputs_owner}, {"fchmod of what was replaced", changes_a_mode_in_between},
    {"fsetxattr, an input", changes_an_inputs_attribute},
    {"fsetxattr of a list, an input", changes_an_inputs_list},
    {"setxattr, an input", changes_an_inputs_attribute_by_name}, {"getxattr", reads_an_attribute_by_name},
    {"F_SETLEASE", leases_an_input}, {"F_SETOWN", owns_a_descriptor}, {"F_SETOWN_EX", owns_a_descriptor_ex},
    {"F_SETSIG", sets_a_signal}, {"F_SETFL O_ASYNC", sets_asynchronous},
    {"F_SETFL O_NONBLOCK", sets_non_blocking}, {"F_SETLK", locks_an_input}, {"flock", locks_an_input_whole},
    {"ioctl FIONBIO", sets_non_blocking_by_ioctl}, {"F_NOTIFY", watches_a_folder},
    {"inotify", watches_by_inotify}, {"dup2 over a socket", replaces_a_socket},
    {"close of a socket", closes_a_socket}, {"socket AF_INET", talks_tcp}, {"socket AF_UNIX", talks_locally},
    {"socket AF_NETLINK", talks_to_the_kernel}, {"socketpair", has_a_pair_of_sockets},
    {"shmget", shares_memory}, {"fork", forks}, {"clone", forks_by_clone}, {"clone3", forks_by_clone3},
    {"kill", signals_its_parent}, {"tgkill", signals_a_thread}, {"sigqueue", queues_a_signal},
    {"pidfd_open", signals_by_a_descriptor}, {"sched_setaffinity", moves_a_process},
    {"setpriority", sets_a_priority}, {"sched_setscheduler", sets_a_scheduler}, {"prlimit", reads_a_limit},
    {"setrlimit", sets_a_limit}, {"process_vm_readv", reads_memory_by_a_call}, {"mmap PROT_EXEC", makes_code},
    {"mmap PROT_WRITE PROT_EXEC", makes_writable_code}, {"mmap PROT_EXEC, an input", makes_code_of_an_input},
    {"mprotect PROT_EXEC", turns_data_into_code}, {"memfd_create", makes_a_memory_file},
    {"setuid", becomes_a_user}, {"PR_SET_DUMPABLE", lets_itself_be_dumped},
    {"a signal by a pipe", signals_by_a_pipe}, {NULL, NULL}};
