/* The memory that this process may use. */
#ifndef LAP_MEMORY_H
#define LAP_MEMORY_H

#include "lapedge_program.h"

/* The smallest memory limit of the process's control groups, versions 1 and 2; UINT64_MAX if there is no
 * limit. Paths begin with root, which is "" except in tests. */
uint64_t lap_memory_of_groups(const char *root);

#endif
