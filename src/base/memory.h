/* How much memory this process may use. */
#ifndef LAP_MEMORY_H
#define LAP_MEMORY_H

#include "lapedge_program.h"

/* The smallest limit of the control groups that the process is in, versions 1 and 2, with the files below
 * root
 * ("" but in tests); UINT64_MAX where there is none. */
uint64_t lap_memory_of_groups(const char *root);

#endif
