/* The names that files_from lists, as often as a run goes over them.
 *
 * A small list is read once and held in memory, and so is a pipe, which cannot be read again. A large file is
 * read piece by piece, each time anew: what it takes does not depend on its size. */
#ifndef LAP_LIST_H
#define LAP_LIST_H

#include "lapedge.h"

typedef struct lap_list lap_list;

/* *list is NULL if the options have none. limit: bytes that the run may take, of which the list holds at most
 * half; 0: no limit. LAP_E_LIMIT: a pipe with more than that; LAP_E_MISSING, LAP_E_UNREADABLE, LAP_E_MEMORY.
 */
lap_code lap_list_open(const lap_batch_options *options, uint64_t limit, lap_list **list, lap_error *err);
void lap_list_close(lap_list *list); /* NULL is fine */

/* From the first name on. */
lap_code lap_list_begin(lap_list *list, lap_error *err);
/* *name: the next one that is not empty, good until the next call; NULL at the end. Of one that is longer
 * than any path can be its first PATH_MAX bytes. LAP_E_CHANGED: somebody wrote to the list since it was
 * opened. */
lap_code lap_list_next(lap_list *list, const char **name, lap_error *err);
/* What a list (or NULL) leaves of the limit: 0 where there is none. */
uint64_t lap_list_leaves(const lap_list *list, uint64_t limit);

#endif
