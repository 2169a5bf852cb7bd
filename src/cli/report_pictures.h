/* What photo, edges and differences of a report have in common. */
#ifndef LAP_CLI_REPORT_PICTURES_H
#define LAP_CLI_REPORT_PICTURES_H

#include "report.h"
#include "report_pixels.h"

/* A page of 5 MB at most: two pictures of 0.6 MB, three pairs of crops of 0.2 MB (PNG hardly shrinks
 * noise), the chart library's 0.2 MB, and differences while there is room, all but the library times 4/3 as
 * base64. */
enum {
    LAP_REPORT_WIDEST = 1600,            /* of the pictures */
    LAP_REPORT_LARGEST_URI = 800 * 1000, /* of one of them; quality gives way */
    LAP_REPORT_CROP = 256,               /* side of a detail */
    LAP_REPORT_CROPS = 3,                /* details of the picture, and of each difference */
    LAP_REPORT_OVERVIEW = 640,           /* width of a difference as a whole */
    LAP_REPORT_DIFFERENCES = 1600 * 1000 /* for all of them */
};
_Static_assert(2 * LAP_REPORT_LARGEST_URI +
                       2 * LAP_REPORT_CROPS * (3 * LAP_REPORT_CROP * LAP_REPORT_CROP + 2000) / 3 * 4 +
                       LAP_REPORT_DIFFERENCES <
                   4800 * 1000,
    "the page stays below 5 MB");

lap_box lap_report_whole(const lap_view *view);
json_t *lap_report_box(lap_box box); /* {x, y, width, height} */
/* Of a view at that width; 1 at least. */
int lap_report_scaled_height(const lap_view *view, int width);
/* The heaviest boxes of a grid in falling order, by their sums of |a - b|, or of a where b is NULL; boxes
 * without weight are left out. Returns how many there are. */
int lap_report_heaviest(const lap_view *a, const lap_view *b, lap_box boxes[LAP_REPORT_CROPS]);
/* lapedge.stats/1 without profiles, unless the report has statistics. */
lap_code lap_report_add_statistics(json_t *report, lap_context *context, const char *path,
    const lap_view *photo, const lap_view *edges, lap_error *err);

#endif
