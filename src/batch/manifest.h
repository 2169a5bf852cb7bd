/* What earlier runs left in OUTDIR/.lapedge/: one JSON-lines file per run, all read at start.
 *
 * A line says either that an output is about to appear under its name ("begin") or that it is whole
 * ("done", with what it was made from). Both say which file that is: device, inode, size, time and the XXH3
 * of its content. A file that stands under an output's name is ours if it is one of these, or has the size
 * and content of one (a folder that was copied or restored); of lines that older versions wrote the size
 * decides. Any other file is left alone. Links are not followed. */
#ifndef LAP_MANIFEST_H
#define LAP_MANIFEST_H

#include "io/place.h"

typedef struct lap_manifest lap_manifest;

typedef enum lap_made { /* what is known of a file under an output's name */
    LAP_MADE_UNKNOWN,   /* no line names this output */
    LAP_MADE_CHANGED,   /* lines do, and mean another file */
    LAP_MADE_OURS,      /* ours, but unfinished or made from something else */
    LAP_MADE_SAME       /* ours, from this input with these settings */
} lap_made;

/* Reads every manifest of the tree, which need not be there (then nothing is known) and must outlive the
 * manifest. LAP_E_EXISTS where .lapedge is a link. */
lap_code lap_manifest_open(
    const lap_tree *tree, uint64_t settings_hash, lap_manifest **manifest, lap_error *err);
void lap_manifest_close(lap_manifest *manifest); /* NULL is fine */
/* Reads what other runs have written since. */
lap_code lap_manifest_refresh(lap_manifest *manifest, lap_error *err);

/* there: the regular file under the last part of the output's name in folder, an open one. It is read only
 * where its content decides; then *content becomes its XXH3, else 0. */
lap_made lap_manifest_find(const lap_manifest *manifest, const char *output, const struct stat *input,
    int folder, const struct stat *there, uint64_t *content);

/* The same, and where the verdict is unknown or changed, once more after a look at what other runs have
 * written. */
lap_made lap_manifest_judge(lap_manifest *manifest, const char *output, const struct stat *input, int folder,
    const struct stat *there, uint64_t *content);
/* LAP_E_EXISTS with the words for a file that is not ours. */
lap_code lap_made_refuse(lap_made made, const char *path, lap_error *err);

typedef struct lap_manifest_line { /* what became of an output, and from which input */
    const char *output, *input;
    int64_t inode, size, mtime_s, mtime_ns; /* of the output; 0 where an old line does not say */
} lap_manifest_line;
/* Anything but LAP_OK ends the reading. */
typedef lap_code lap_manifest_fn(void *user, const lap_manifest_line *line, lap_error *err);
/* Every output that was finished, each time that it was. */
lap_code lap_manifest_each(lap_manifest *manifest, lap_manifest_fn *each, void *user, lap_error *err);

/* Queue a line; lap_manifest_flush writes what is queued in one append (and syncs it if asked), or
 * nothing: a failed flush takes back what it had written. Either way the queue is empty afterwards. The
 * run's own file is made at the first flush. Outputs are relative to the folder; made and content: the
 * finished file. ahead: the number of further bytes that have to fit on the disk later on, else the flush
 * fails now (where the file system can promise that). */
lap_code lap_manifest_begin(
    lap_manifest *manifest, const char *output, const struct stat *made, uint64_t content, lap_error *err);
lap_code lap_manifest_done(lap_manifest *manifest, const char *output, const char *input,
    const struct stat *in, const struct stat *made, uint64_t content, lap_error *err);
lap_code lap_manifest_flush(lap_manifest *manifest, bool sync, size_t ahead, lap_error *err);

#endif
