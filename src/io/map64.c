#include "io/map64.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/status.h"

static struct lap_map64_entry *entry_of(const lap_map64 *map, uint64_t key)
{
    size_t i = key & (map->capacity - 1);
    while (map->entries[i].key && map->entries[i].key != key)
        i = (i + 1) & (map->capacity - 1);
    return &map->entries[i];
}

uint64_t *lap_map64_find(const lap_map64 *map, uint64_t key)
{
    struct lap_map64_entry *e = map->capacity ? entry_of(map, key) : NULL;
    return e && e->key ? &e->value : NULL;
}

static lap_code grow(lap_map64 *map, lap_error *err)
{
    lap_map64 bigger = {.count = map->count, .capacity = map->capacity ? 2 * map->capacity : 1024};
    bigger.entries = calloc(bigger.capacity, sizeof *bigger.entries);
    if (!bigger.entries)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for a table of %zu entries", bigger.capacity);
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].key)
            *entry_of(&bigger, map->entries[i].key) = map->entries[i];
    free(map->entries);
    *map = bigger;
    return LAP_OK;
}

lap_code lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err)
{
    lap_code code = 2 * (map->count + 1) > map->capacity ? grow(map, err) : LAP_OK;
    if (code != LAP_OK)
        return code;
    struct lap_map64_entry *e = entry_of(map, key);
    map->count += !e->key;
    *e = (struct lap_map64_entry){key, value};
    return LAP_OK;
}

void lap_map64_free(lap_map64 *map)
{
    free(map->entries);
    *map = (lap_map64){0};
}

uint64_t lap_map64_key(const void *bytes, size_t size)
{
    uint64_t hash = XXH3_64bits(bytes, size);
    return hash ? hash : 1;
}

uint64_t lap_map64_name_key(const char *name)
{
    return lap_map64_key(name, strlen(name));
}
