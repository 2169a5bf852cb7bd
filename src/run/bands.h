/* Moves the bands of a photo from decoder to encoder, with a team of threads that shares a small ring of
 * cells. A cell holds what one band needs: its source rows with halo and apron, the encoded chunk, and its
 * counts.
 *
 * In order: one thread at a time decodes, one at a time appends, and all threads filter and encode. By parts:
 * each thread decodes a run of adjacent bands, and filters and encodes them while they are in the cache; only
 * encoded bands wait for those before them. Either way a band is final only once it is appended. An encoder
 * that takes rows gets each strip of a band as soon as it is filtered. */
#ifndef LAP_BANDS_H
#define LAP_BANDS_H

#include "base/counts.h"
#include "base/image.h"
#include "run/plan.h"

typedef struct lap_bands_job {
    const lap_plan *plan;
    lap_pool *pool;
    const lap_control *control;
    lap_decoder *decoder;
    lap_encoder *encoder;
    const lap_view *whole;    /* all source pixels, with their apron; NULL: decode them */
    const lap_view *result;   /* all pixels, filtered; NULL: filter them */
    lap_photo_counts *counts; /* counts are added here; NULL: count nothing */
    lap_times *ms;            /* adds times: decode includes reading, encode writing */
    lap_damage *damage;       /* receives the damage that the decoder tolerated, if bands are decoded here */
} lap_bands_job;

/* Decodes, filters, encodes and appends all bands. */
lap_code lap_bands_run(const lap_bands_job *job, lap_error *err);

#endif
