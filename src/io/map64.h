/* A map from 64-bit hashes to 64-bit values; 16 bytes per entry, at most half full. Key 0 is not allowed. */
#ifndef LAP_MAP64_H
#define LAP_MAP64_H

#include "lapedge.h"

typedef struct lap_map64 { /* all zero: empty */
    struct lap_map64_entry {
        uint64_t key, value;
    } * entries;
    size_t count, capacity; /* capacity: a power of two, or 0 */
} lap_map64;

/* Returns a pointer to the value, or NULL. */
uint64_t *lap_map64_find(const lap_map64 *map, uint64_t key);
/* Sets or replaces the value of a key. */
lap_code lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err);
void lap_map64_free(lap_map64 *map);

/* A key for some bytes, never 0 (XXH3). */
uint64_t lap_map64_key(const void *bytes, size_t size);
uint64_t lap_map64_name_key(const char *name);

#endif
