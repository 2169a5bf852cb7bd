/* Arrays that grow. */
#ifndef LAP_GROW_H
#define LAP_GROW_H

#include <stddef.h>

/* Memory for at least `wanted` elements of `size` bytes: the array itself where *capacity has that room, else
 * moved, with at least twice the room, *capacity set. NULL where memory is out: the array is as it was. */
void *lap_grow(void *array, size_t *capacity, size_t wanted, size_t size);

#endif
