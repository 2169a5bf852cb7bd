/* Runs one photo, for callers that publish the output later (folders sync in groups) or that want a report
 * when they measure. */
#ifndef LAP_RUN_H
#define LAP_RUN_H

#include "io/sink.h"

typedef struct lap_run_order { /* one photo and its settings */
    lap_context *context;
    const char *in;
    const lap_tree *tree; /* out is a name below it; NULL: a path */
    const char *out;      /* NULL: write nothing */
    const lap_settings *settings;
    bool left_by_device; /* a device gave up decoding it: the CPU decodes it (photo.h) */
} lap_run_order;

/* As lap_run_file, but *sink is finished and not yet published (NULL on failure), and out may be the input.
 * The caller publishes and closes the sink. *read: the input's stat when it was opened; untouched if it is
 * not a file; may be NULL. err may be &report->error. */
lap_code lap_run_to_sink(
    const lap_run_order *order, struct stat *read, lap_sink **sink, lap_report *report, lap_error *err);

/* As lap_measure_file. Fills report as far as known, without bytes_in and bytes_out if mask_border > 0. err
 * may be &report->error. */
lap_code lap_measure_to(const lap_run_order *order, const lap_measure_options *options,
    lap_measurement *measurement, lap_report *report, lap_error *err);

/* Checks that the backend, the codec and the kind of transform are available here: LAP_E_USAGE,
 * LAP_E_BACKEND. */
lap_code lap_run_check_backend(const lap_settings *settings, lap_error *err);

#endif
