/* The bands of a photo on their way from decoder to encoder, by a team of threads that shares a small ring of
 * cells. A cell holds what one band needs: its source rows with halo and apron, the encoded chunk, and its
 * counts.
 *
 * In order: one thread at a time decodes, one at a time appends, all filter and encode. By parts: each thread
 * decodes some bands that lie below each other, filters and encodes them while they are in the cache, and
 * only encoded bands wait for those before them. Either way a band counts once it is appended, and not
 * before; and an encoder that takes rows as they come gets each strip of a band when it is filtered. */
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
    const lap_view *whole;    /* all source pixels, with their apron; NULL: they are decoded */
    const lap_view *result;   /* all of them filtered; NULL: they are not yet */
    lap_photo_counts *counts; /* counts are added here; NULL: none are wanted */
    lap_times *ms;            /* times are added here: decode includes reading, encode writing */
    lap_damage *damage;       /* what the decoder let through, if it decodes here */
} lap_bands_job;

/* All bands, decoded, filtered, encoded and appended. */
lap_code lap_bands_run(const lap_bands_job *job, lap_error *err);

#endif
