/* Which files of a folder are taken, and what is known of the others. Thread safe. */
#ifndef LAP_TAKE_H
#define LAP_TAKE_H

#include "lapedge_program.h"

typedef enum lap_taking {
    LAP_TAKE_NO,
    LAP_TAKE_YES,
    LAP_TAKE_DOUBT /* by content: one without an extension, or one of macOS's ._ twins */
} lap_taking;

/* name: the file's; path: below the folder operand. */
lap_taking lap_take_file(const lap_batch_take *take, const char *name, const char *path);
/* Whether a folder is left out by --exclude. */
bool lap_take_excludes(const lap_batch_take *take, const char *name, const char *path);
/* Whether an open folder has a file of this name that begins like a JPEG. */
bool lap_take_begins_like_jpeg(int folder, const char *name);
/* Counts a file that is not taken; hidden ones do not count. others may be NULL. */
void lap_take_note(lap_batch_others *others, const char *name);
/* Whether an open folder holds outputs of a folder run. */
bool lap_take_is_output(int folder);

#endif
