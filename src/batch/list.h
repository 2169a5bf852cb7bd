/* Iterates over the names in files_from, any number of times.
 *
 * A small list is read once and kept in memory; so is a pipe, which cannot be read again. A large file is
 * read again each time, piece by piece, so that memory does not depend on its size. */
#ifndef LAP_LIST_H
#define LAP_LIST_H

#include "base/control.h"
#include "lapedge.h"

typedef struct lap_list lap_list;

/* *list is NULL if the options have no list. limit is the number of bytes that the run may use (0: no limit);
 * the list uses at most half. control ends the wait for a pipe. LAP_E_LIMIT: a pipe has more than that.
 * LAP_E_MISSING, LAP_E_UNREADABLE, LAP_E_MEMORY, LAP_E_CANCELLED. */
lap_code lap_list_open(const lap_batch_options *options, uint64_t limit, const lap_control *control,
    lap_list **list, lap_error *err);
void lap_list_close(lap_list *list); /* does nothing for NULL */
/* Returns the list's path for comparing it with other files: /dev/stdin for "-", which would also mean
 * standard output. NULL: the options have no list. */
const char *lap_list_path(const lap_batch_options *options);

/* Goes back to the first name. */
lap_code lap_list_begin(lap_list *list, lap_error *err);
/* Sets *name to the next name that is not empty, or to NULL at the end; it is valid until the next call. A
 * name longer than any path may be cut to PATH_MAX bytes. LAP_E_CHANGED: the list was modified after it was
 * opened. */
lap_code lap_list_next(lap_list *list, const char **name, lap_error *err);
/* Returns the limit minus what the list (or NULL) uses; 0 if there is no limit. */
uint64_t lap_list_leaves(const lap_list *list, uint64_t limit);

#endif
