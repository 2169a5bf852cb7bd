/* What earlier runs left in OUTDIR/.lapedge/: one JSON-lines file a run, all read at start.
 *
 * A line says either that an output is about to appear under its name ("begin") or that it is whole
 * ("done", with what it was made from). Whoever finds an output without a line of ours leaves it alone.
 * In memory an output is 16 bytes, so that a folder of a million photos costs little. */
#ifndef LAP_MANIFEST_H
#define LAP_MANIFEST_H

#include <sys/stat.h>

#include "lapedge.h"

typedef struct lap_manifest lap_manifest;

typedef enum lap_made { /* what is known of an output */
    LAP_MADE_UNKNOWN,   /* no line of ours */
    LAP_MADE_OURS,      /* ours, but unfinished or made from something else */
    LAP_MADE_SAME       /* ours, from this input with these settings */
} lap_made;

/* Reads every manifest of the folder; out_dir need not exist (then nothing is known). */
lap_code lap_manifest_open(
    const char *out_dir, uint64_t settings_hash, lap_manifest **manifest, lap_error *err);
void lap_manifest_close(lap_manifest *manifest); /* NULL is fine */

/* out_size: of the file that now stands under the output's name. */
lap_made lap_manifest_find(
    const lap_manifest *manifest, const char *output, const struct stat *input, off_t out_size);

/* Queue a line; lap_manifest_flush writes what is queued in one append (and syncs it if asked), or
 * nothing: a failed flush takes back what it had written. Either way the queue is empty afterwards. The
 * run's own file is made at the first flush. Outputs are relative to the folder. ahead: so many bytes more
 * are to fit on the disk later on, else the flush fails now (where the file system can promise that). */
lap_code lap_manifest_begin(lap_manifest *manifest, const char *output, lap_error *err);
lap_code lap_manifest_done(lap_manifest *manifest, const char *output, const char *input,
    const struct stat *in, uint64_t out_size, lap_error *err);
lap_code lap_manifest_flush(lap_manifest *manifest, bool sync, size_t ahead, lap_error *err);

#endif
