/* One image on its way from decoder to encoder: what pipeline.c plans and the threads share.
 *
 * Band k covers rows k * band_rows and up of the output. Its pixels lie in slot k % slot_count, with
 * two rows above and below, or in `whole`. Results belong to a thread where the encoder works in
 * parallel (the chunk is all that outlives the step), else to a slot. */
#ifndef LAP_PIPELINE_STATE_H
#define LAP_PIPELINE_STATE_H

#include "base/image.h"
#include "codec/codec.h"
#include "run/device_way.h"
#include "run/lossless_way.h"
#include "run/pipeline.h"
#include "rungs/run_rung.h"

typedef struct lap_slot {
    lap_image pixels;
    lap_chunk chunk;
    bool ready; /* filtered, and encoded if the encoder is parallel: may be appended */
} lap_slot;

typedef struct lap_pipeline {
    /* the plan, fixed before the team starts */
    const lap_settings *settings;
    const lap_control *control;
    const lap_pipeline_hooks *hooks; /* or NULL */
    lap_pool *pool;
    lap_decoder *decoder;
    lap_header from; /* what the encoder keeps of the input, sampling turned too */
    lap_encoder *encoder;
    lap_write_options write; /* that the encoder was opened with */
    lap_meta_drops drops;    /* metadata that the output lacks */
    const lap_rung *rung;    /* NULL: pixels pass */
    lap_turn turn;
    int width, height, channels; /* after the turn */
    int band_rows, bands;
    int threads;      /* team members at most */
    bool parallel;    /* the encoder encodes bands independently */
    bool holds_whole; /* pixels are collected in whole */
    bool by_parts;    /* threads decode the bands that they filter, part_bands below each other */
    lap_device_way device;
    lap_lossless_way lossless;
    bool filters_whole; /* the rung takes no bands: results lie in filtered */
    lap_image whole;    /* all turned pixels, or empty: bands are decoded into slots */
    lap_image filtered; /* all results of a rung that takes no bands, or empty */
    lap_slot *slots;
    lap_image *results; /* one per thread, or one per slot; unused without a host rung */
    lap_image *strips;  /* by parts: source rows of each thread */
    int slot_count, result_count, part_bands, ahead; /* the last: bands under way at once */

    /* under the lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int members;                    /* threads that joined */
    int decoded, started, appended; /* bands so far */
    bool decoding, appending;       /* somebody is at it */
    lap_code code;                  /* first failure */
    lap_error err;
    lap_times ms; /* decode includes reading, encode writing; parted at the end */
    lap_damage damage;
} lap_pipeline;

/* Chooses slots, results and threads, of pipe->threads at most, so that all that the file takes (*need bytes)
 * is within `limit`; LAP_E_LIMIT where one thread takes more. */
lap_code lap_pipeline_plan(lap_pipeline *pipe, uint64_t limit, uint64_t *need, lap_error *err);
/* Memory for the slots and results of the plan. */
lap_code lap_pipeline_reserve(lap_pipeline *pipe, lap_error *err);
void lap_pipeline_release(lap_pipeline *pipe);
/* Decodes, turns and, for a rung that takes no bands, filters everything into whole and filtered. */
lap_code lap_pipeline_collect(lap_pipeline *pipe, lap_error *err);
/* Runs the bands through to the encoder; returns the first failure. */
lap_code lap_pipeline_bands(lap_pipeline *pipe, lap_error *err);
/* After the last row: late damage. */
lap_code lap_pipeline_finish_decoding(lap_pipeline *pipe, lap_error *err);

static inline int lap_pipeline_band_rows(const lap_pipeline *p, int band)
{
    return p->height - band * p->band_rows < p->band_rows ? p->height - band * p->band_rows : p->band_rows;
}

#endif
