/* Identifies the folders in which inputs were found: by absolute name without links, device and inode. Each
 * named folder has one entry; so has each folder that contains named files. */
#ifndef LAP_ORIGIN_H
#define LAP_ORIGIN_H

#include "io/map64.h"

typedef struct lap_origin {
    char *name;
    int64_t device, inode;
} lap_origin;

typedef struct lap_origins { /* all zero: empty */
    lap_origin **all;
    size_t count, capacity;
    lap_map64 numbers; /* the given name -> 1 + its index */
} lap_origins;

/* Finds the folder whose name is the first `length` bytes of path ("" is the current one). *origin is NULL if
 * the folder cannot be examined; it lives as long as the origins. LAP_E_MEMORY. */
lap_code lap_origins_find(
    lap_origins *origins, const char *path, size_t length, const lap_origin **origin, lap_error *err);
void lap_origins_free(lap_origins *origins);

/* Fills an entry; false with errno. The caller frees its name. */
bool lap_origin_look(const char *folder, lap_origin *origin);

#endif
