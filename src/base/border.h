/* Fills the apron of two pixels. On the host, only border.c implements the border rule. */
#ifndef LAP_BORDER_H
#define LAP_BORDER_H

#include "lapedge.h"

/* Returns the index of the sample to use for index i in a line of n samples; -1: use the value of the zero or
 * constant border. i may have any value; n >= 1. */
int lap_border_index(int i, int n, lap_border border);
/* Fills the whole apron of a view that shows a whole image. */
void lap_border_fill(const lap_view *view, lap_border border);

typedef struct lap_band { /* rows of an image in memory with an apron */
    lap_view view;        /* the view's interior begins with row y of the image */
    int y, image_height;
    lap_border border;
} lap_band;
/* Writes rows y .. y + rows->height - 1 of the image to the interior of rows. */
typedef lap_code lap_rows_fn(void *user, const lap_view *rows, int y, lap_error *err);

/* Fills a band's rows, and two rows above and two below: with real neighbours, or by the border rule. Copies
 * rows above image row `have` from the band `before`, which holds them and may share memory with this band;
 * if `before` is NULL, copies no rows. Calls bring for all other rows; with LAP_WRAP, also for rows at the
 * opposite end of the image. */
lap_code lap_border_band(
    const lap_band *band, const lap_band *before, int have, lap_rows_fn *bring, void *user, lap_error *err);

#endif
