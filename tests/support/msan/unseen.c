/* Functions of the C library that MemorySanitizer's runtime does not know: it does not know what they
 * write, or what they pass to callbacks, and would report every use of these bytes. Linked into the
 * programs of `make test-msan`. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <sanitizer/msan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        abort();
    return function;
}

/* By calls that it knows. */
int scandirat(int folder, const char *name, struct dirent ***entries, int (*wanted)(const struct dirent *),
    int (*order)(const struct dirent **, const struct dirent **))
{
    const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    struct dirent **all = NULL;
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        if (wanted && !wanted(entry))
            continue;
        struct dirent **more = realloc(all, (count + 1) * sizeof *all), *copy = calloc(1, sizeof *copy);
        if (!more || !copy)
            abort();
        memcpy(copy, entry, entry->d_reclen < sizeof *copy ? entry->d_reclen : sizeof *copy);
        all = more;
        all[count++] = copy;
    }
    closedir(dir);
    if (count)
        qsort(all, count, sizeof *all, (int (*)(const void *, const void *))(void *)order);
    *entries = all;
    return (int)count;
}

static void known(FTSENT *entry)
{
    if (!entry)
        return;
    __msan_unpoison(entry, sizeof *entry);
    __msan_unpoison(entry->fts_name, entry->fts_namelen + 1u);
    __msan_unpoison_string(entry->fts_path);
    __msan_unpoison_string(entry->fts_accpath);
    if (entry->fts_statp)
        __msan_unpoison(entry->fts_statp, sizeof *entry->fts_statp);
}

static int (*fts_order)(const FTSENT **, const FTSENT **);

static int known_order(const FTSENT **a, const FTSENT **b)
{
    __msan_unpoison_param(2);
    __msan_unpoison(a, sizeof *a);
    __msan_unpoison(b, sizeof *b);
    known((FTSENT *)*a);
    known((FTSENT *)*b);
    return fts_order(a, b);
}

FTS *fts_open(char *const *paths, int options, int (*order)(const FTSENT **, const FTSENT **))
{
    FTS *(*open_really)(char *const *, int, int (*)(const FTSENT **, const FTSENT **)) = real("fts_open");
    fts_order = order;
    return open_really(paths, options, order ? known_order : NULL);
}

FTSENT *fts_read(FTS *tree)
{
    FTSENT *(*read_really)(FTS *) = real("fts_read");
    FTSENT *entry = read_really(tree);
    known(entry);
    return entry;
}

typedef struct known_cookie {
    void *cookie;
    cookie_write_function_t *write;
} known_cookie;

/* The C library fills a stream's buffer unseen. */
static ssize_t known_write(void *stream, const char *bytes, size_t size)
{
    __msan_unpoison_param(3);
    const known_cookie *known_stream = stream;
    __msan_unpoison(known_stream, sizeof *known_stream);
    __msan_unpoison(bytes, size);
    return known_stream->write(known_stream->cookie, bytes, size);
}

/* For streams that are only written. */
FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions)
{
    FILE *(*open_really)(void *, const char *, cookie_io_functions_t) = real("fopencookie");
    known_cookie *stream = malloc(sizeof *stream);
    if (!stream || functions.read || functions.seek || functions.close)
        abort();
    *stream = (known_cookie){cookie, functions.write};
    return open_really(stream, mode, (cookie_io_functions_t){.write = known_write});
}

static __nftw_func_t each;

static int known_each(const char *path, const struct stat *st, int type, struct FTW *place)
{
    __msan_unpoison_param(4);
    __msan_unpoison_string(path);
    __msan_unpoison(st, sizeof *st);
    __msan_unpoison(place, sizeof *place);
    return each(path, st, type, place);
}

int nftw(const char *root, __nftw_func_t function, int descriptors, int flags)
{
    int (*nftw_really)(const char *, __nftw_func_t, int, int) = real("nftw");
    each = function;
    return nftw_really(root, known_each, descriptors, flags);
}
