/* Statistics that ride on a run: two tallies behind the pipeline's hook. */
#ifndef LAP_STATS_HOOK_H
#define LAP_STATS_HOOK_H

#include "ops/stats.h"
#include "run/pipeline.h"

typedef struct lap_run_tallies {
    lap_tally input, edges;
    lap_pipeline_hooks hooks; /* for lap_pipeline_run; refers to this struct, which must stay where it is */
} lap_run_tallies;

lap_code lap_run_tallies_init(lap_run_tallies *tallies, lap_error *err);
/* After the run; threshold: for the share above it, or -1. */
lap_code lap_run_tallies_result(
    lap_run_tallies *tallies, int threshold, lap_run_stats *stats, lap_error *err);
void lap_run_tallies_destroy(lap_run_tallies *tallies); /* zeroed ones are fine */

#endif
