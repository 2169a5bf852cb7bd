/* Filling the apron of two pixels: the only place that knows the border rule (host side). */
#ifndef LAP_BORDER_H
#define LAP_BORDER_H

#include "lapedge.h"

/* Source index for index i of a line of n samples; -1 means the value of zero or constant. Any i, n >= 1. */
int lap_border_index(int i, int n, lap_border border);
/* The whole apron of a view that shows a whole image. */
void lap_border_fill(const lap_view *view, lap_border border);

typedef struct lap_band { /* rows of an image in memory with an apron */
    lap_view view;        /* its interior: row y of the image and those below it */
    int y, image_height;
    lap_border border;
} lap_band;
/* Rows y .. y + rows->height - 1 of the image into the interior of rows. */
typedef lap_code lap_rows_fn(void *user, const lap_view *rows, int y, lap_error *err);

/* Fills a band: its rows, and the two around them, which are its neighbours in the image or follow the border
 * rule. Rows that lie above `have` are copied from `before`, a band that holds them, and that may lie in the
 * same memory; NULL: there are none. The others are brought, with LAP_WRAP those of the other end too. */
lap_code lap_border_band(
    const lap_band *band, const lap_band *before, int have, lap_rows_fn *bring, void *user, lap_error *err);

#endif
