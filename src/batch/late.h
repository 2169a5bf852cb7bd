/* Detects photos that a run in place replaced after the first walk of a folder run: their outputs would be
 * edge maps of edge maps. A run in place writes a line to its record before it renames. So after a photo was
 * read, the record in its folder tells whether the file that was read is an output. If there is no record,
 * this costs one failed system call per photo, on the thread that read it. */
#ifndef LAP_LATE_H
#define LAP_LATE_H

#include "batch/executor.h"
#include "batch/known.h"

typedef struct lap_late { /* all zero: nothing was noticed */
    lap_known known;      /* what the records of runs in place say */
    lap_map64 counted;    /* hashes of the paths of inputs that the first walk counted in others->made */
    lap_map64 unread;     /* hashes of folders whose record cannot be read, and was reported */
} lap_late;

/* Notes an input that the first walk has counted. LAP_E_MEMORY. */
lap_code lap_late_note(lap_late *late, const char *path, lap_error *err);
/* Counts the input of a finished job in others->made (and ours) if it was an output of a run in place when it
 * was read, and was not counted before. LAP_E_UNREADABLE: its record cannot be read; *is_new: this is the
 * first input of its folder for which that is returned. LAP_E_MEMORY. */
lap_code lap_late_look(
    lap_late *late, const lap_job *job, lap_batch_others *others, bool *is_new, lap_error *err);
void lap_late_free(lap_late *late);

#endif
