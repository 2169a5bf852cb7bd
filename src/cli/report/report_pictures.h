/* What photo, edges and differences of a report have in common. */
#ifndef LAP_CLI_REPORT_PICTURES_H
#define LAP_CLI_REPORT_PICTURES_H

#include "cli/report/report.h"
#include "cli/report/report_pixels.h"

/* What makes a page of 5 MB at most, with the chart library's 0.2 MB. Sizes as base64: 4/3 of the bytes; PNG
 * hardly shrinks noise. */
enum {
    LAP_REPORT_WIDEST = 1600,            /* of the pictures */
    LAP_REPORT_MAX_URI = 750 * 1000,     /* of one of them; quality gives way */
    LAP_REPORT_CROP = 192,               /* side of a detail */
    LAP_REPORT_DETAILS = 3,              /* of the edges, and of each difference */
    LAP_REPORT_CROPS = 6,                /* details of photo and edges in all */
    LAP_REPORT_OVERVIEW = 640,           /* width of a difference as a whole */
    LAP_REPORT_DIFFERENCES = 1200 * 1000 /* for all of them */
};
_Static_assert(2 * LAP_REPORT_MAX_URI +
                       2 * LAP_REPORT_CROPS * (3 * LAP_REPORT_CROP * LAP_REPORT_CROP + 2000) / 3 * 4 +
                       LAP_REPORT_DIFFERENCES <
                   4700 * 1000,
    "the page stays below 5 MB");

lap_box lap_report_whole(const lap_view *view);
json_t *lap_report_box(lap_box box); /* {x, y, width, height} */
/* Of a view at that width; 1 at least. */
int lap_report_scaled_height(const lap_view *view, int width);
/* The heaviest boxes of a grid in falling order, by their sums of |a - b|, or of a where b is NULL; boxes
 * without weight are left out. Returns how many there are. */
int lap_report_heaviest(const lap_view *a, const lap_view *b, lap_box boxes[LAP_REPORT_DETAILS]);
/* lap_report_add_pictures, with a mean for the second view scaled down. */
lap_code lap_report_add_views(json_t *report, lap_context *context, const lap_view *photo,
    const lap_view *edges, lap_mean mean, lap_error *err);
/* That box of both with every pixel, unless it is there or there are enough. */
lap_code lap_report_add_crop(json_t *pictures, lap_context *context, const lap_view *photo,
    const lap_view *edges, lap_box box, lap_error *err);
/* lapedge.stats/1 without profiles, unless the report has statistics. */
lap_code lap_report_add_statistics(json_t *report, lap_context *context, const char *path,
    const lap_view *photo, const lap_view *edges, lap_error *err);

#endif
