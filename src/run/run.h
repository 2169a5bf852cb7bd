/* One photo, for callers that publish in their own time (folders sync in groups) or want a report of what is
 * measured. */
#ifndef LAP_RUN_H
#define LAP_RUN_H

#include "io/sink.h"

typedef struct lap_run_order { /* one photo, and what is to be done with it */
    lap_context *context;
    const char *in;
    const lap_tree *tree; /* out is a name below it; NULL: a path */
    const char *out;      /* NULL: nothing is written */
    const lap_settings *settings;
} lap_run_order;

/* As lap_run_file, but *sink is finished and not published (NULL on failure), and out may be in. The caller
 * publishes and closes the sink. *read: the input as it was when it was opened; untouched where it is no
 * file; may be NULL. err may be &report->error. */
lap_code lap_run_to_sink(
    const lap_run_order *order, struct stat *read, lap_sink **sink, lap_report *report, lap_error *err);

/* As lap_measure_file. report: as far as it is known; of pictures that are held whole neither bytes nor
 * warnings. err may be &report->error. */
lap_code lap_measure_to(const lap_run_order *order, const lap_measure_options *options,
    lap_measurement *measurement, lap_report *report, lap_error *err);

/* Whether the backend, the codec and the kind of turn of settings can be had here: LAP_E_USAGE,
 * LAP_E_BACKEND.
 */
lap_code lap_run_check_backend(const lap_settings *settings, lap_error *err);

#endif
