/* Which files of a folder are taken, and what is known of the others. Thread safe. */
#ifndef LAP_TAKE_H
#define LAP_TAKE_H

#include "lapedge_program.h"

typedef enum lap_taking {
    LAP_TAKE_NO,
    LAP_TAKE_LEFT_OUT, /* --exclude matches it */
    LAP_TAKE_YES,
    LAP_TAKE_DOUBT /* by content: one without an extension, or one of macOS's ._ twins */
} lap_taking;

typedef struct lap_candidate { /* a file or a folder that a walk has come to */
    const char *name;
    const char *relative; /* below the folder that was named */
    const char *path;     /* as the walk opens it */
    bool is_folder;
} lap_candidate;

/* others: gets a bit for each pattern that matches; NULL: nobody asks. A folder that is not left out is
 * LAP_TAKE_YES. */
lap_taking lap_take_judge(
    const lap_batch_take *take, const lap_candidate *candidate, lap_batch_others *others);
/* LAP_E_USAGE where one of take->extensions is not that of an image that is read. take may be NULL. */
lap_code lap_take_check(const lap_batch_take *take, lap_error *err);
/* Whether an open folder has a file of this name that begins like a JPEG. */
bool lap_take_begins_like_jpeg(int folder, const char *name);
/* Counts a file that is not taken; hidden ones do not count. others may be NULL. */
void lap_take_note(lap_batch_others *others, const char *name);
/* Whether an open folder holds outputs of a folder run. */
bool lap_take_is_output(int folder);

#endif
