/* Images that own their pixels, and views on them. An image made with an apron has its interior on a
 * 64-byte boundary and a stride that is a multiple of 64. */
#ifndef LAP_IMAGE_H
#define LAP_IMAGE_H

#include "lapedge.h"

typedef struct lap_image {
    lap_view view;
    void *memory; /* the block to free; NULL if the image is empty */
    size_t bytes; /* allocated */
} lap_image;

/* Allocates host memory, not cleared. width, height >= 1; channels 1..8. LAP_E_MEMORY; LAP_E_LIMIT if the
 * size does not fit a size_t. */
lap_code lap_image_create(lap_image *image, int width, int height, int channels, int apron, lap_error *err);
void lap_image_destroy(lap_image *image); /* the image may be empty or all zero */

/* Returns rows y0 .. y0 + height - 1 of a view, with its apron: rows beyond the cut are real neighbours. */
lap_view lap_view_rows(const lap_view *view, int y0, int height);
/* Returns the view without `by` pixels at each side. A negative `by` adds -by pixels at each side, which
 * belong to the view's apron or to the picture around it. The result has no apron. */
lap_view lap_view_inset(const lap_view *view, int by);
void lap_view_copy(const lap_view *from, const lap_view *to); /* copies the interior; on the host */

#endif
