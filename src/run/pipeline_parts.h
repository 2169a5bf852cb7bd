/* Runs whose decoder has parts (codec.h). */
#ifndef LAP_PIPELINE_PARTS_H
#define LAP_PIPELINE_PARTS_H

#include "run/pipeline_state.h"

/* What bands by parts take: slots hold chunks only, results belong to threads. False where even one thread
 * takes more than limit, fixed included. */
bool lap_pipeline_plan_parts(lap_pipeline *pipe, size_t fixed, uint64_t limit, uint64_t *need);
lap_code lap_pipeline_reserve_parts(lap_pipeline *pipe, lap_error *err);
/* lap_pipeline_bands. */
lap_code lap_pipeline_bands_by_parts(lap_pipeline *pipe, lap_error *err);
/* All rows into whole, turned. */
lap_code lap_pipeline_collect_parts(lap_pipeline *pipe, lap_error *err);

#endif
