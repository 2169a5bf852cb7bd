/* What batch.c and batch_names.c share: the state of one run, and the names and folders of its outputs. */
#ifndef LAP_BATCH_H
#define LAP_BATCH_H

#include <limits.h>

#include "commit.h"
#include "context.h"
#include "control.h"
#include "map64.h"
#include "walk.h"

typedef struct batch {
    lap_context *context;
    const lap_batch_options *options;
    const lap_settings *settings;
    lap_settings as_jpeg; /* the same with format "jpg" */
    lap_batch_counts *counts;
    lap_batch_fn *each;
    void *user;
    lap_control control;
    uint32_t shards;
    int jobs;
    lap_executor *executor;
    lap_manifest *manifest;
    lap_group group;
    lap_map64 outputs; /* hash of an output's path -> inputs that want it */
    lap_map64 inputs;  /* hash of device and inode: never to be overwritten */
    lap_error stop;    /* why the run ends early */
    bool sync;         /* outputs are to survive a power cut */
    bool stopping;     /* fail_fast has struck */
    double began_ms, ticked_ms;
    char last_folder[PATH_MAX]; /* made and swept already */
} batch;

/* relative with the extension of settings->format, if one is set; false if it does not fit. */
bool lap_batch_output_name(const lap_settings *settings, const char *relative, char *name, size_t size);
/* The folder of output, with its parents; temporary files that dead runs left in it are removed. */
lap_code lap_batch_make_folder(batch *b, const char *output, lap_error *err);
/* Makes out_dir with its parents; LAP_E_WRITE where it is no folder or not writable. */
lap_code lap_batch_make_out_dir(const char *out_dir, lap_error *err);
/* LAP_E_USAGE for an output folder that is one of the inputs, LAP_E_MISSING for a folder or file that is
 * not there when it is the only operand. */
lap_code lap_batch_check_operands(const lap_batch_options *options, lap_error *err);
/* The bytes of files_from, malloc'ed; *list NULL where there is none. */
lap_code lap_batch_read_list(const lap_batch_options *options, char **list, size_t *size, lap_error *err);

#endif
