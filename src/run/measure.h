/* Statistics of one image, with a report as a run has one. */
#ifndef LAP_MEASURE_H
#define LAP_MEASURE_H

#include "run/run.h"

/* As lap_measure_file. report: as far as it is known; of pictures that are held whole neither bytes nor
 * warnings. err may be &report->error. */
lap_code lap_measure_to(const lap_run_order *order, const lap_measure_options *options,
    lap_measurement *measurement, lap_report *report, lap_error *err);

#endif
