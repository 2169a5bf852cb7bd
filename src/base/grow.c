#include "base/grow.h"

#include <stdlib.h>

#include "base/status.h"

void *lap_grow(void *array, size_t *capacity, size_t wanted, size_t size)
{
    size_t room, bytes;
    if (array && wanted <= *capacity)
        return array;
    if (!lap_mul(*capacity, 2, &room) || room < wanted)
        room = wanted;
    void *grown = lap_mul(room, size, &bytes) ? realloc(array, bytes ? bytes : 1) : NULL;
    if (grown)
        *capacity = room;
    return grown;
}
