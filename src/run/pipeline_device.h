/* A photo whose backend runs on a device, coded there as well. */
#ifndef LAP_PIPELINE_DEVICE_H
#define LAP_PIPELINE_DEVICE_H

#include "run/pipeline_state.h"

/* Finds pipe->rung by the settings, and says in pipe->device whether JPEGs are coded where it runs.
 * LAP_E_BACKEND where the settings ask for that and it cannot be had, LAP_E_USAGE where the backend is one of
 * the CPU; else as lap_rung_find. */
lap_code lap_pipeline_plan_device(lap_pipeline *pipe, lap_error *err);
/* Starts the device on a thread of its own, and meanwhile reads the file's bytes for it to decode; before the
 * decoder is opened. Not to have them is no failure. */
lap_code lap_pipeline_hold_file(lap_pipeline *pipe, lap_source *source, lap_error *err);
/* Until the device has started; before pipe ends. Nothing to wait for is fine. */
void lap_pipeline_wait_for_device(lap_pipeline *pipe);
/* Decodes and turns everything into pipe->whole, on the CPU. */
lap_code lap_pipeline_collect_source(lap_pipeline *pipe, lap_error *err);
/* Decodes, filters and encodes, on the device whatever it takes, else on the CPU. *done: the file is written,
 * or none is wanted; else pipe->filtered has the result for the encoder. After the plan of memory. */
lap_code lap_pipeline_device(lap_pipeline *pipe, lap_sink *sink, bool *done, lap_error *err);

#endif
