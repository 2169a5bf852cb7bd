/* Memory in large pages, for buffers that are filled once and then consumed. Large pages save hundreds of
 * page faults per buffer, which are slow if sixteen threads have them at the same time. Thread safe. */
#ifndef LAP_PAGES_H
#define LAP_PAGES_H

#include <stddef.h>

/* Allocates bytes aligned to 64, not cleared; release with free(). Large blocks are aligned to large pages,
 * if the system has some. NULL: out of memory. */
void *lap_pages_alloc(size_t bytes);

/* Allocates zeroed bytes aligned to 64; release only with lap_pages_release(). From 2 MB on, the kernel
 * clears each page when a thread first touches it. NULL: out of memory. */
void *lap_pages_zeroed(size_t bytes);
void lap_pages_release(void *memory, size_t bytes); /* bytes: as allocated; memory NULL is fine */

/* Like realloc(), but keeps only the first USED bytes, and uses large pages from 2 MB on. Smaller blocks have
 * malloc's alignment: with larger alignment, many short-lived blocks would leave holes in the heap that grow
 * with the number of files. BYTES > 0. NULL: out of memory; MEMORY is unchanged. */
void *lap_pages_resize(void *memory, size_t used, size_t bytes);

#endif
