/* The ends of a pipeline: what is known before the first band, and after the last one. */
#ifndef LAP_PIPELINE_ENDS_H
#define LAP_PIPELINE_ENDS_H

#include "run/pipeline_state.h"

/* Header facts, and what the output will be like: pipe->decoder, turn, width, height, channels. */
lap_code lap_pipeline_open_decoder(lap_pipeline *pipe, lap_source *source, lap_error *err);
/* pipe->from and write, from these. */
void lap_pipeline_plan_output(lap_pipeline *pipe);
/* What is known by now; sink may be unfinished, or NULL. */
void lap_pipeline_report(
    const lap_pipeline *pipe, const lap_source *source, const lap_sink *sink, lap_report *report);

#endif
