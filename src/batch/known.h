/* Recognises outputs of lapedge by the records in folders: those of folder runs (.lapedge/) and of runs in
 * place. An output is recognised by its device, inode, size and time, or else by its content.
 *
 * These facts only decide whether a walk skips a file, or counts it as already filtered. They are never a
 * reason to replace or remove a file, so it does not matter who wrote a record. */
#ifndef LAP_KNOWN_H
#define LAP_KNOWN_H

#include <sys/stat.h>

#include "io/map64.h"

typedef struct lap_known { /* all zero: nothing is known */
    lap_map64 facts;
} lap_known;

/* Reads the lines that folder runs have added to folder/.lapedge/ since the last call. *is_there: the folder
 * of records exists. shown is the folder's path, for messages. LAP_E_UNREADABLE, LAP_E_MEMORY. */
lap_code lap_known_runs(lap_known *known, int folder, const char *shown, bool *is_there, lap_error *err);
/* The same for the record of runs in place. */
lap_code lap_known_in_place(lap_known *known, int folder, const char *shown, lap_error *err);
void lap_known_free(lap_known *known);

typedef enum lap_known_as {
    LAP_KNOWN_NOT,
    LAP_KNOWN_TURNED,  /* an output of transform */
    LAP_KNOWN_FILTERED /* an output of a filter */
} lap_known_as;

/* Judges the file `there` under a name in an open folder. Reads the file's content only if a known output has
 * the same size, but a different inode or time. LAP_E_MEMORY. */
lap_code lap_known_judge(const lap_known *known, int folder, const char *name, const struct stat *there,
    lap_known_as *as, lap_error *err);
/* The same for a file whose content (XXH3) is known; NULL: judges without the content. */
lap_known_as lap_known_find(
    const lap_known *known, const char *name, const struct stat *there, const uint64_t *content);

#endif
