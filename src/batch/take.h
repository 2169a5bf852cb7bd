/* Selects the files of a folder that a run processes, and counts the others. Thread safe. */
#ifndef LAP_TAKE_H
#define LAP_TAKE_H

#include "lapedge_program.h"

typedef enum lap_taking {
    LAP_TAKE_NO,
    LAP_TAKE_LEFT_OUT, /* --exclude matches it */
    LAP_TAKE_YES,
    LAP_TAKE_DOUBT /* the content decides: no extension, or a ._ file of macOS */
} lap_taking;

typedef struct lap_candidate { /* a file or folder that a walk has found */
    const char *name;
    const char *relative; /* path below the named folder */
    const char *path;     /* path for opening it */
    const char *twin;     /* its path below a second folder, whose name patterns may use too; or NULL */
    bool is_folder;
} lap_candidate;

/* Judges a candidate. others (may be NULL) gets a bit for each pattern that matches. For a folder that is not
 * excluded returns LAP_TAKE_YES. */
lap_taking lap_take_judge(
    const lap_batch_take *take, const lap_candidate *candidate, lap_batch_others *others);
/* LAP_E_USAGE: an entry of take->extensions is not the extension of a readable image format. take may be
 * NULL. */
lap_code lap_take_check(const lap_batch_take *take, lap_error *err);
/* Whether this file in an open folder begins like a JPEG; without follow, a link does not. */
bool lap_take_begins_like_jpeg(int folder, const char *name, bool follow);
/* Whether this file (folder: as for openat) is an AppleDouble file, by its name ._* and its first bytes.
 * macOS keeps metadata of NAME in ._NAME on disks of other systems. */
bool lap_take_is_apple_double(int folder, const char *name);
/* Counts a file that was not selected; a hidden file only if it is an AppleDouble file. others may be
 * NULL. */
void lap_take_note(lap_batch_others *others, int folder, const char *name);

#endif
