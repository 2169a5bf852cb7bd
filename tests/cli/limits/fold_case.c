/* A disk that ignores case, as FAT does: a name that does not exist stands for one that differs only in
 * case. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int open_folder(int folder, const char *path)
{
    return (int)syscall(SYS_openat, folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

/* Replaces the last step of path, if no file has that name, by the name of a file that differs in case. */
static void fold_step(int folder, char *path)
{
    char *slash = strrchr(path, '/'), *step = slash ? slash + 1 : path, around[PATH_MAX] = ".";
    if (faccessat(folder, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
        return;
    if (slash)
        snprintf(around, sizeof around, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    const int fd = open_folder(folder, around);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strcasecmp(entry->d_name, step) == 0)
            strcpy(step, entry->d_name);
    if (dir)
        closedir(dir);
}

static const char *fold(int folder, const char *path, char room[PATH_MAX])
{
    const int why = errno;
    room[0] = '\0';
    for (size_t end = 0; path[end] && strlen(path) < PATH_MAX;) {
        const size_t start = end;
        end += strspn(path + end, "/");
        end += strcspn(path + end, "/");
        strncat(room, path + start, end - start);
        if (room[strlen(room) - 1] != '/')
            fold_step(folder, room);
    }
    errno = why;
    return room;
}

int openat(int folder, const char *path, int flags, ...)
{
    char room[PATH_MAX];
    va_list values;
    va_start(values, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(values, mode_t) : 0;
    va_end(values);
    return (int)syscall(SYS_openat, folder, fold(folder, path, room), flags, mode);
}

int stat(const char *path, struct stat *st)
{
    char room[PATH_MAX];
    return REAL(stat)(fold(AT_FDCWD, path, room), st);
}

int fstatat(int folder, const char *path, struct stat *st, int flags)
{
    char room[PATH_MAX];
    return REAL(fstatat)(folder, fold(folder, path, room), st, flags);
}

int renameat(int from, const char *old, int to, const char *path)
{
    char room[PATH_MAX];
    return REAL(renameat)(from, old, to, fold(to, path, room));
}

int renameat2(int from, const char *old, int to, const char *path, unsigned flags)
{
    char room[PATH_MAX];
    return REAL(renameat2)(from, old, to, fold(to, path, room), flags);
}
