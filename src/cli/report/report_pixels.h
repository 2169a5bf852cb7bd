/* Encodes pixels, scaled down or cut out, as data: URIs for a page. */
#ifndef LAP_CLI_REPORT_PIXELS_H
#define LAP_CLI_REPORT_PIXELS_H

#include <jansson.h>

#include "lapedge.h"

typedef struct lap_box {
    int x, y, width, height;
} lap_box;

/* A binary PNM in memory; the caller frees bytes. */
typedef struct lap_pnm {
    uint8_t *bytes;
    size_t size;
} lap_pnm;

/* How a pixel of a reduced picture is computed from the pixels that it covers. */
typedef enum lap_mean {
    LAP_MEAN_PLAIN,
    LAP_MEAN_SQUARE /* root mean square: thin bright lines on black stay visible */
} lap_mean;

/* What a picture shows: a box of view, or, if `other` is set, of |view - other| in gray. There each pixel is
 * the largest of the samples that it covers, so that no single difference is lost. */
typedef struct lap_picture {
    const lap_view *view, *other;
    lap_box box;
    int width, height; /* size of the picture, at most that of the box */
    lap_mean mean;     /* used without `other` */
} lap_picture;

/* Makes the PNM. LAP_E_MEMORY. */
lap_code lap_pnm_of(const lap_picture *picture, lap_pnm *pnm, lap_error *err);

/* Encodes the picture as a data: URI: as JPEG of that quality, or for quality 0 losslessly as PNG (in a build
 * without PNG: as JPEG of quality 100). */
lap_code lap_data_uri(lap_context *context, const lap_pnm *pnm, int quality, json_t **uri, lap_error *err);

lap_code lap_report_no_memory(lap_error *err); /* fills err with LAP_E_MEMORY and a message */

#endif
