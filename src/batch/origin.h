/* The folders that inputs were found in, by what they can be known again: absolute name without links, device
 * and inode. One for each folder that was named, and for files that were named one for each of their
 * folders. */
#ifndef LAP_ORIGIN_H
#define LAP_ORIGIN_H

#include "io/map64.h"

typedef struct lap_origin {
    char *name;
    int64_t device, inode;
} lap_origin;

typedef struct lap_origins { /* zeroed is empty */
    lap_origin **all;
    size_t count, capacity;
    lap_map64 numbers; /* name as it was given -> its number, from 1 */
} lap_origins;

/* The folder whose name is the first `length` bytes of path ("" is the current one). *origin is NULL if it
 * cannot be examined, and lives as long as the origins. LAP_E_MEMORY. */
lap_code lap_origins_find(
    lap_origins *origins, const char *path, size_t length, const lap_origin **origin, lap_error *err);
void lap_origins_free(lap_origins *origins);

/* Fills one; false with errno. Its name is malloc'ed. */
bool lap_origin_look(const char *folder, lap_origin *origin);

#endif
