#include "io/sink_temp.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "io/sink.h"

static const char prefix[] = ".lapedge-";
enum { MAX_LINKS = 40, MAX_TRIES = 100, FOREIGN_AGE_S = 24 * 60 * 60 };

typedef struct temp_owner {
    unsigned host;
    long pid;
    unsigned long long start;
} temp_owner;

typedef struct temp_new { /* where a file is created */
    int folder;
    char *path; /* of that folder */
} temp_new;

static const unsigned long long GONE = 1; /* no process starts in the first tick after boot */

/* Start time of a process in ticks since boot; GONE for a zombie; 0: unknown. */
static unsigned long long start_of(long pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    if (size <= 0)
        return 0;
    text[size] = 0;
    /* The program's name, in brackets, may contain spaces and brackets: so count fields from the last
     * bracket. The third field is the state, the 22nd the start time; proc(5). */
    char *at = strrchr(text, ')');
    if (!at || at[1] != ' ')
        return 0;
    if (at[2] == 'Z' || at[2] == 'X')
        return GONE;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

static unsigned host_hash(void)
{
    char text[2 * HOST_NAME_MAX + 2] = "";
    gethostname(text, HOST_NAME_MAX);
    text[HOST_NAME_MAX] = 0;
    size_t used = strlen(text);
    ssize_t more = readlink("/proc/self/ns/pid", text + used, HOST_NAME_MAX);
    if (more > 0)
        used += (size_t)more;
    unsigned hash = 2166136261u; /* FNV-1a, 32 bits */
    for (size_t i = 0; i < used; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

/* Identifies this process. Cached, since reading /proc takes longer than the rest of opening a file; read
 * again after a fork. */
static temp_owner owner_self(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static temp_owner self;
    pthread_mutex_lock(&lock);
    long pid = (long)getpid();
    if (self.pid != pid)
        self = (temp_owner){host_hash(), pid, start_of(pid)};
    temp_owner found = self;
    pthread_mutex_unlock(&lock);
    return found;
}

char *lap_temp_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

char *lap_temp_resolve(const char *path)
{
    char *now = strdup(path);
    for (int links = 0; now; links++) {
        char to[PATH_MAX];
        ssize_t size = readlink(now, to, sizeof to - 1);
        if (size < 0) { /* no link (EINVAL) or no such file (ENOENT): `now` is the final name */
            if (errno == EINVAL || errno == ENOENT)
                return now;
            break;
        }
        if (links >= MAX_LINKS) {
            errno = ELOOP;
            break;
        }
        to[size] = 0;
        const char *slash = strrchr(now, '/');
        size_t keep = to[0] == '/' || !slash ? 0 : (size_t)(slash - now) + 1;
        char *next = malloc(keep + (size_t)size + 1);
        if (!next)
            break;
        memcpy(next, now, keep);
        memcpy(next + keep, to, (size_t)size + 1);
        free(now);
        now = next;
    }
    int why = errno;
    free(now);
    errno = why;
    return NULL;
}

/* ---- the files of this process, for a process that must end at once ------------------------------ */

/* Paths of temporary files; NULL: a free place. The signal handler that stops the process at once reads them,
 * so no lock protects them: the thread that takes a path out of its place owns the path. If no place is free,
 * the file is created without one: if the process is stopped, the next run removes the file. */
enum { HELD = 4096 };
static _Atomic(char *) held[HELD];
static atomic_int creating; /* calls of lap_temp_create under way */
static atomic_bool is_abandoned;
_Static_assert(ATOMIC_POINTER_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_BOOL_LOCK_FREE == 2,
    "a signal handler must not wait for a lock");

/* Stores the path in a free place, and returns the place. -1: no place is free, and the path was freed. */
static int hold(char *path)
{
    static atomic_uint turn;
    const unsigned first = atomic_fetch_add(&turn, 1);
    for (unsigned i = 0; i < HELD; i++) {
        char *empty = NULL;
        if (atomic_compare_exchange_strong(&held[(first + i) % HELD], &empty, path))
            return (int)((first + i) % HELD);
    }
    free(path);
    return -1;
}

void lap_temp_forget(lap_temp *temp)
{
    if (temp->held >= 0)
        free(atomic_exchange(&held[temp->held], NULL));
    free(temp->name);
    *temp = (lap_temp){.held = -1};
}

void lap_abandon_outputs(void)
{
    enum { PATIENCE_MS = 100 }; /* the interrupted thread may be creating a file, so do not wait for ever */
    atomic_store(&is_abandoned, true);
    for (int i = 0; i < PATIENCE_MS && atomic_load(&creating) > 0; i++)
        (void)poll(NULL, 0, 1);
    for (int i = 0; i < HELD; i++) {
        const char *path = atomic_exchange(&held[i], NULL); /* never freed: a signal handler must not call
                                                               free */
        if (path)
            (void)unlink(path);
    }
}

/* ---- creating ------------------------------------------------------------------------------------ */

/* Returns 0 or an errno. */
static int create(const temp_new *new, unsigned random, lap_temp *temp, int *fd)
{
    const temp_owner self = owner_self();
    char *path = NULL;
    *temp = (lap_temp){.held = -1};
    if (asprintf(&path, "%s/%s%08x-%ld-%llx-%08x.tmp", new->path, prefix, self.host, self.pid, self.start,
            random) < 0)
        return ENOMEM;
    temp->name = strdup(strrchr(path, '/') + 1);
    if (!temp->name) {
        free(path);
        return ENOMEM;
    }
    temp->held = hold(path);
    *fd = openat(new->folder, temp->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    const int why = *fd >= 0 ? 0 : errno;
    if (why)
        lap_temp_forget(temp);
    return why;
}

bool lap_temp_create(int folder, const char *target, lap_temp *temp, int *fd)
{
    const temp_new new = {folder, lap_temp_folder(target)};
    int why = new.path ? EEXIST : ENOMEM;
    *temp = (lap_temp){.held = -1};
    atomic_fetch_add(&creating, 1);
    if (atomic_load(&is_abandoned))
        why = ECANCELED;
    for (int i = 0; i < MAX_TRIES && why == EEXIST; i++) {
        unsigned random = 0;
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            random = (unsigned)clock() + (unsigned)i;
        why = create(&new, random, temp, fd);
    }
    atomic_fetch_sub(&creating, 1);
    free(new.path);
    errno = why;
    return why == 0;
}

/* ---- removing those of dead processes ------------------------------------------------------------ */

/* Parses one field of a name, up to the character that ends it. */
static bool parse_field(const char **at, int base, char last, unsigned long long *value)
{
    char *end;
    if (!isxdigit((unsigned char)**at)) /* strtoull would accept spaces and signs */
        return false;
    errno = 0;
    *value = strtoull(*at, &end, base);
    *at = end + 1;
    return errno == 0 && *end == last;
}

static bool parse_name(const char *name, temp_owner *owner)
{
    unsigned long long host, pid, random;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *at = name + sizeof prefix - 1;
    if (!parse_field(&at, 16, '-', &host) || !parse_field(&at, 10, '-', &pid) ||
        !parse_field(&at, 16, '-', &owner->start) || !parse_field(&at, 16, '.', &random))
        return false;
    owner->host = (unsigned)host;
    owner->pid = (long)pid;
    return strcmp(at, "tmp") == 0 && host <= UINT_MAX && pid > 0 && pid <= INT_MAX;
}

static bool is_dead(const temp_owner *owner, const temp_owner *self, const struct stat *file)
{
    if (owner->host != self->host)
        return difftime(time(NULL), file->st_mtime) > FOREIGN_AGE_S;
    unsigned long long now = start_of(owner->pid);
    if (now == 0 || owner->start == 0) /* dead, or no /proc, or hidden from this user */
        return kill((pid_t)owner->pid, 0) != 0 && errno == ESRCH;
    return now != owner->start;
}

char *lap_sink_folder(const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
        return NULL;
    char *target = lap_temp_resolve(path), *folder = target ? lap_temp_folder(target) : NULL;
    free(target);
    return folder;
}

int lap_temp_sweep(int folder)
{
    int at = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = at < 0 ? NULL : fdopendir(at);
    if (!dir) {
        if (at >= 0)
            close(at);
        return 0;
    }
    temp_owner self = owner_self();
    int removed = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        temp_owner owner;
        struct stat file;
        if (parse_name(entry->d_name, &owner) &&
            fstatat(at, entry->d_name, &file, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(file.st_mode) &&
            is_dead(&owner, &self, &file) && unlinkat(at, entry->d_name, 0) == 0)
            removed++;
    }
    closedir(dir);
    return removed;
}

int lap_sink_sweep(const char *folder)
{
    int at = open(*folder ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return 0;
    int removed = lap_temp_sweep(at);
    close(at);
    return removed;
}
