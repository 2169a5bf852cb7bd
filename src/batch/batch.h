/* Shared by the batch files: the state of one run, its claims on names, and the folders of its outputs. */
#ifndef LAP_BATCH_H
#define LAP_BATCH_H

#include <limits.h>

#include "base/context.h"
#include "base/control.h"
#include "batch/group.h"
#include "batch/jobs.h"
#include "batch/late.h"
#include "batch/prune.h"
#include "batch/walk.h"
#include "io/map64.h"

typedef struct batch {
    lap_context *context;
    const lap_batch_options *options;
    const lap_settings *settings;
    lap_settings variants[4]; /* copies: bit 0 sets format "jpg", bit 1 syncs each file separately */
    lap_batch_fn *each;
    void *user;
    uint32_t shards;
    lap_batch_load load;
    lap_jobs jobs;
    lap_tree tree; /* the output folder */
    lap_manifest *manifest;
    lap_group group;
    lap_prune *prune;     /* or NULL */
    lap_late late;        /* inputs that were filtered in place */
    lap_map64 claims;     /* outputs claimed by several inputs (batch_judge.c) */
    lap_map64 endangered; /* inputs at the place of an output: device and inode */
    lap_map64 folders;    /* folders of outputs: path -> what was done there already */
    lap_origins origins;
    lap_error unwritable; /* why no file can be created in the output folder; LAP_OK: files can be created */
    bool is_left;         /* an output was not written for that reason (dry run: would not be written) */
    const char *around;   /* an input folder that contains the output folder, perhaps through a mount; or
                             NULL */
    bool sync;            /* outputs must survive a power cut */
} batch;

/* Makes the output's name from relative, the extension of settings->format (if set), and the options flat and
 * suffix. False if it does not fit. */
bool lap_batch_output_name(const lap_batch_options *options, const lap_settings *settings,
    const char *relative, char *name, size_t size);
/* Joins out_dir and a name below it; false if they do not fit. */
bool lap_batch_output_path(const batch *b, const char *relative, char *path, size_t size);
/* LAP_E_USAGE: the output's extension names no known format. Without an extension the output is a JPEG. */
lap_code lap_batch_check_format(
    const lap_settings *settings, const char *input, const char *output, lap_error *err);
uint64_t lap_batch_key(const char *relative);
uint64_t lap_batch_inode(const struct stat *st);
bool lap_batch_is_ours(const batch *b, const char *relative);

/* Sets *around to the first input folder that contains the output folder, also through links, or to NULL.
 * LAP_E_WRITE: a folder cannot be examined. */
lap_code lap_batch_around(const lap_batch_options *options, const char **around, lap_error *err);
/* The first walk: counts the inputs, and fills claims and endangered. */
lap_code lap_batch_look(batch *b, lap_list *list, lap_error *err);
/* Values in claims: n > 1 if n different inputs have this output name; LAP_REPEATED if one input was named
 * several times, and LAP_TAKEN once it was handled. A name that was claimed once has no entry. */
enum { LAP_REPEATED = 0, LAP_TAKEN = 1 };

/* Whether an input was handled already, under this or another name. */
bool lap_batch_is_repeated(batch *b, const lap_walk_entry *entry);
/* Decides what to do with an input. LAP_DONE: process it; its output may replace the file in job->seen.
 * LAP_SKIPPED: *why has the reason; if *why is empty, the output is up to date, or skip_existing keeps it.
 * LAP_FAILED: *why has the error. The job's output, relative and input folder must already be filled in. */
lap_status lap_batch_judge(batch *b, const lap_walk_entry *entry, lap_job *job, lap_error *why);
/* Removes temporary files that stopped runs left in an output's folder, once per run. The folder need not
 * exist. */
lap_code lap_batch_sweep_folder(batch *b, const char *relative, lap_error *err);
/* Creates an output's folder and its parents. *apart: whether that folder is on a different file system than
 * the output folder. LAP_E_EXISTS: a link is in the way. */
lap_code lap_batch_make_folder(batch *b, const char *relative, bool *apart, lap_error *err);
/* For a dry run: checks the innermost folder of an output that exists below the output folder. If no file can
 * be created there, sets *unwritable to the reason, once for each folder; otherwise sets it to LAP_OK.
 * LAP_E_MEMORY. */
lap_code lap_batch_foresee_folder(batch *b, const char *relative, lap_error *unwritable, lap_error *err);
/* Creates out_dir and its parents; a dry run only checks whether that is possible. *unwritable: why no file
 * can be created in an out_dir that exists; LAP_OK if files can be created. LAP_E_WRITE: it is not a folder,
 * or cannot be created. */
lap_code lap_batch_make_out_dir(const char *out_dir, bool dry_run, lap_error *unwritable, lap_error *err);
/* LAP_E_USAGE: the output folder is an input, or the only input is a file that would be its own output.
 * LAP_E_MISSING: the only operand does not exist. */
lap_code lap_batch_check_operands(
    const lap_batch_options *options, const lap_settings *settings, lap_error *err);

#endif
