/* Memory in large pages, for buffers that are filled once and then used up: hundreds of page faults less
 * each, of which sixteen threads at a time take long. Thread safe. */
#ifndef LAP_PAGES_H
#define LAP_PAGES_H

#include <stddef.h>

/* Bytes on a boundary of 64, not cleared, for free(); large ones in whole large pages, where the system has
 * them to give. NULL: out of memory. */
void *lap_pages_alloc(size_t bytes);

/* Bytes that are 0, on a boundary of 64, for lap_pages_release() alone. From 2 MB on each page is cleared
 * when it is touched for the first time, by whichever thread touches it. NULL: out of memory. */
void *lap_pages_zeroed(size_t bytes);
void lap_pages_release(void *memory, size_t bytes); /* the same number; memory NULL is fine */

/* Like realloc() with the first USED bytes kept, and large pages from 2 MB on; below that on malloc's own
 * boundary, as a heap with small blocks on larger boundaries, each soon freed, comes to have holes that grow
 * with the number of files. BYTES > 0. NULL: out of memory, and MEMORY stays. */
void *lap_pages_resize(void *memory, size_t used, size_t bytes);

#endif
