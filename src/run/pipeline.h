/* One image: source -> bands -> [turn] -> filter -> [statistics] -> encoder -> sink.
 *
 * Streaming: a team of threads shares a small ring of slots. A slot holds one band of source rows
 * with its halo and apron, the filtered band, and the encoded chunk. One thread at a time decodes,
 * one at a time appends, all filter and encode; where the decoder has parts, all decode too. Whole images are
 * held only where the work needs it: a turn that changes the order of rows, a device, an encoder that wants
 * everything. */
#ifndef LAP_PIPELINE_H
#define LAP_PIPELINE_H

#include "base/budget.h"
#include "base/pool.h"
#include "codec/codec.h"

typedef struct lap_pipeline_hooks {
    /* Called for each band with its source pixels and its result, from any thread, or NULL. */
    lap_code (*band)(void *user, const lap_view *source, const lap_view *result);
    /* All bands so far do not count, and come again. Not NULL where band is not. */
    void (*again)(void *user);
    /* Called instead, once, with how often each value occurs in source and result, counts[channel][value],
     * where both lie on a device; or NULL. */
    void (*counts)(void *user, uint64_t source[4][256], uint64_t result[4][256], int channels);
    void *user;
} lap_pipeline_hooks;

/* Reads source, writes sink up to and without lap_sink_finish. The caller has checked the settings
 * (lap_settings_check). Of budget (NULL: it is alone) the file takes what it needs before it takes memory for
 * pixels. report is filled as far as known. */
lap_code lap_pipeline_run(lap_source *source, lap_sink *sink, const lap_settings *settings, lap_pool *pool,
    lap_budget *budget, lap_control *control, const lap_pipeline_hooks *hooks, lap_report *report,
    lap_error *err);

#endif
