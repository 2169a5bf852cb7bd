/* Arrays that grow. */
#ifndef LAP_GROW_H
#define LAP_GROW_H

#include <stddef.h>

/* Returns memory for at least `wanted` elements of `size` bytes: array itself if *capacity suffices, else a
 * moved copy with at least twice the room. Sets *capacity. NULL if out of memory; array is unchanged then. */
void *lap_grow(void *array, size_t *capacity, size_t wanted, size_t size);

#endif
