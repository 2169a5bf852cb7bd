/* What the batch files share: the state of one run, its claims on names, and the folders of its outputs. */
#ifndef LAP_BATCH_H
#define LAP_BATCH_H

#include <limits.h>

#include "base/context.h"
#include "base/control.h"
#include "batch/group.h"
#include "batch/jobs.h"
#include "batch/prune.h"
#include "batch/walk.h"
#include "io/map64.h"

typedef struct batch {
    lap_context *context;
    const lap_batch_options *options;
    const lap_settings *settings;
    lap_settings variants[4]; /* the same, with format "jpg" (bit 0), each file synced by itself (bit 1) */
    lap_batch_fn *each;
    void *user;
    uint32_t shards;
    lap_batch_load load;
    lap_jobs jobs;
    lap_tree tree; /* the output folder */
    lap_manifest *manifest;
    unsigned renewed; /* lines for outputs that were moved or copied, and are known by their content */
    lap_group group;
    lap_prune *prune;     /* or NULL */
    lap_map64 claims;     /* outputs that several inputs want (batch_judge.c) */
    lap_map64 endangered; /* inputs that stand where an output is to stand: device and inode */
    lap_map64 folders;    /* of outputs: path -> what is done about it already */
    lap_origins origins;
    lap_error stop; /* why the run ends early */
    bool sync;      /* outputs are to survive a power cut */
    bool stopping;  /* fail_fast has struck */
} batch;

/* relative with the extension of settings->format, if one is set, and as flat and suffix ask; false if it
 * does not fit. */
bool lap_batch_output_name(const lap_batch_options *options, const lap_settings *settings,
    const char *relative, char *name, size_t size);
/* out_dir and a name below it; false if they do not fit. */
bool lap_batch_output_path(const batch *b, const char *relative, char *path, size_t size);
/* LAP_E_USAGE where the output would have an extension that names no known format. Without one it is a JPEG.
 */
lap_code lap_batch_check_format(
    const lap_settings *settings, const char *input, const char *output, lap_error *err);
uint64_t lap_batch_key(const char *relative);
uint64_t lap_batch_inode(const struct stat *st);
bool lap_batch_is_ours(const batch *b, const char *relative);

/* The first walk: counts what is to come, and fills claims and endangered. */
lap_code lap_batch_look(batch *b, lap_list *list, lap_error *err);
/* Claims of a name: 0 for one input, n > 1 for n different ones, LAP_REPEATED for one input that was
 * named several times (then, after the first question, LAP_TAKEN). */
enum { LAP_REPEATED = 0, LAP_TAKEN = 1 };

/* What is to happen with an input: LAP_DONE, it is to be worked on, and may replace what job->seen says;
 * LAP_SKIPPED, *why says why, or it is up to date and *why is empty; LAP_FAILED. Of the job, output, relative
 * and where the input was found are filled in already. */
lap_status lap_batch_judge(batch *b, const lap_walk_entry *entry, lap_job *job, lap_error *why);
/* Removes, once a run, what dead runs left in the folder of an output; it need not exist. */
lap_code lap_batch_sweep_folder(batch *b, const char *relative, lap_error *err);
/* Makes the folder of an output, with its parents. *apart: it lies on another file system than the output
 * folder. LAP_E_EXISTS: a link is in the way. */
lap_code lap_batch_make_folder(batch *b, const char *relative, bool *apart, lap_error *err);
/* Makes out_dir with its parents; LAP_E_WRITE where it is no folder or not writable. */
lap_code lap_batch_make_out_dir(const char *out_dir, lap_error *err);
/* LAP_E_USAGE for an output folder that is one of the inputs, or holds the only one under its output's name;
 * LAP_E_MISSING for a folder or file that is not there when it is the only operand. */
lap_code lap_batch_check_operands(
    const lap_batch_options *options, const lap_settings *settings, lap_error *err);

#endif
