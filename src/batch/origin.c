#include "batch/origin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/status.h"

bool lap_origin_look(const char *folder, lap_origin *origin)
{
    struct stat st;
    *origin = (lap_origin){.name = realpath(folder, NULL)};
    if (!origin->name)
        return false;
    errno = ENOTDIR;
    if (stat(origin->name, &st) != 0 || !S_ISDIR(st.st_mode)) {
        const int why = errno;
        free(origin->name);
        origin->name = NULL;
        errno = why;
        return false;
    }
    origin->device = (int64_t)st.st_dev;
    origin->inode = (int64_t)st.st_ino;
    return true;
}

/* Adds an entry, without a name if the folder cannot be examined. NULL: out of memory. */
static lap_origin *add(lap_origins *origins, const char *path, size_t length)
{
    lap_origin **grown = lap_grow(origins->all, &origins->capacity, origins->count + 1, sizeof *origins->all);
    if (!grown)
        return NULL;
    origins->all = grown;
    char *folder = length ? strndup(path, length) : strdup(".");
    lap_origin *origin = folder ? calloc(1, sizeof *origin) : NULL;
    if (origin && !lap_origin_look(folder, origin) && errno == ENOMEM) {
        free(origin);
        origin = NULL;
    }
    free(folder);
    if (origin)
        origins->all[origins->count++] = origin;
    return origin;
}

lap_code lap_origins_find(
    lap_origins *origins, const char *path, size_t length, const lap_origin **origin, lap_error *err)
{
    const uint64_t key = lap_map64_key(path, length);
    const uint64_t *number = lap_map64_find(&origins->numbers, key);
    lap_code code = LAP_OK;
    *origin = NULL;
    if (!number && !add(origins, path, length))
        code = lap_fail(err, LAP_E_MEMORY, "out of memory for the folders of the inputs");
    if (!number && code == LAP_OK)
        code = lap_map64_put(&origins->numbers, key, origins->count, err);
    if (code == LAP_OK)
        *origin = origins->all[number ? *number - 1 : origins->count - 1];
    if (*origin && !(*origin)->name)
        *origin = NULL;
    return code;
}

void lap_origins_free(lap_origins *origins)
{
    for (size_t i = 0; i < origins->count; i++) {
        free(origins->all[i]->name);
        free(origins->all[i]);
    }
    free(origins->all);
    lap_map64_free(&origins->numbers);
    *origins = (lap_origins){0};
}
