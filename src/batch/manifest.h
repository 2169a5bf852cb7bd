/* What earlier runs left in OUTDIR/.lapedge/: one JSON-lines file per run, all read at start.
 *
 * A line says either that an output is about to appear under its name ("begin") or that it is whole
 * ("done", with what it was made from). Both say which file that is: device, inode, size, time and the XXH3
 * of its content.
 *
 * Which file under an output's name is up to date, and so is not touched, device, inode, size and time
 * decide. A file is only replaced if its size and content are those of a line, whichever inode it has now (a
 * folder may have been copied or restored), and only if that line is believed: its file belongs to the
 * current user or to root, and not everybody may write it or .lapedge. Links are not followed.
 *
 * Lines of early versions have no hash. What they name is replaced by the same content alone. */
#ifndef LAP_MANIFEST_H
#define LAP_MANIFEST_H

#include "batch/manifest_line.h"
#include "batch/origin.h"
#include "io/target.h"
#include "run/settings.h"

typedef struct lap_manifest lap_manifest;

typedef enum lap_made {  /* what is known of a file under an output's name */
    LAP_MADE_UNKNOWN,    /* no line names this output */
    LAP_MADE_CHANGED,    /* lines do, and mean another file */
    LAP_MADE_UNBELIEVED, /* a line that is not believed means this file */
    LAP_MADE_UNHASHED,   /* a line without a hash may mean this file */
    LAP_MADE_OURS,       /* ours, but unfinished or made from something else */
    LAP_MADE_SAME        /* ours, from this input with these settings */
} lap_made;

/* Reads every manifest of the tree, which need not be there (then nothing is known) and must outlive the
 * manifest. LAP_E_EXISTS where .lapedge is a link. */
lap_code lap_manifest_open(
    const lap_tree *tree, const lap_settings_mark *settings, lap_manifest **manifest, lap_error *err);
void lap_manifest_close(lap_manifest *manifest); /* NULL is fine */
/* Reads what other runs have written since. */
lap_code lap_manifest_refresh(lap_manifest *manifest, lap_error *err);

typedef struct lap_standing { /* the regular file under an output's name */
    const char *output;
    int folder; /* an open one, where the last part of the name is */
    const struct stat *there, *input;
} lap_standing;
/* The file is read only where its content decides. *content becomes its XXH3 if a line that is believed has
 * been recognised by it, else 0. LAP_E_MEMORY, LAP_E_UNREADABLE: there is no verdict. */
lap_code lap_manifest_find(const lap_manifest *manifest, const lap_standing *standing, lap_made *made,
    uint64_t *content, lap_error *err);
/* The same, and unless it is ours, once more after a look at what other runs have written. */
lap_code lap_manifest_judge(
    lap_manifest *manifest, const lap_standing *standing, lap_made *made, uint64_t *content, lap_error *err);
/* LAP_E_EXISTS with the words for a file that may not be replaced. */
lap_code lap_made_refuse(lap_made made, const char *path, lap_error *err);

/* Anything but LAP_OK ends the reading. */
typedef lap_code lap_manifest_fn(void *user, const lap_manifest_line *line, lap_error *err);
/* Every output that was finished, each time that it was, of records that are believed. */
lap_code lap_manifest_each(lap_manifest *manifest, lap_manifest_fn *each, void *user, lap_error *err);
/* After lap_manifest_each: how many files of records are not believed, whether these are all, and why the
 * first of them is not. */
size_t lap_manifest_unbelieved(const lap_manifest *manifest, bool *is_all, lap_error *why);

typedef struct lap_manifest_input { /* what an output was made from */
    const char *path;
    const struct stat *stat;
    const lap_origin *origin; /* or NULL: not known */
    size_t below;             /* where in path its name below the origin begins */
} lap_manifest_input;

typedef struct lap_manifest_output { /* a finished file */
    const char *name;                /* relative to the folder */
    const struct stat *made;
    uint64_t content;
    bool is_whole; /* its photo was read without a warning; false: not known */
} lap_manifest_output;

/* Queue a line; lap_manifest_flush writes what is queued in one append (and syncs it if asked), or
 * nothing: a failed flush takes back what it had written. Either way the queue is empty afterwards. The
 * run's own file is made at the first flush. ahead: the number of further bytes that have to fit on the disk
 * later on, else the flush fails now (where the file system can promise that). */
lap_code lap_manifest_begin(lap_manifest *manifest, const lap_manifest_output *output, lap_error *err);
lap_code lap_manifest_done(lap_manifest *manifest, const lap_manifest_output *output,
    const lap_manifest_input *input, lap_error *err);
lap_code lap_manifest_flush(lap_manifest *manifest, bool sync, size_t ahead, lap_error *err);

#endif
