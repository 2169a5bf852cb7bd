/* Pixels as pictures inside a page: scaled down or cut out, encoded, as data: URIs. */
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

/* What a pixel of a picture scaled down is, of all that fall on it. */
typedef enum lap_mean {
    LAP_MEAN_PLAIN,
    LAP_MEAN_SQUARE /* root mean square: thin bright lines on black stay visible */
} lap_mean;

/* What a picture shows: a box of view, or with `other` of |view - other| in gray, where a pixel is the
 * largest of all samples that fall on it, so that no single one vanishes. */
typedef struct lap_picture {
    const lap_view *view, *other;
    lap_box box;
    int width, height; /* of the picture: at most those of the box */
    lap_mean mean;     /* without `other` */
} lap_picture;

/* LAP_E_MEMORY. */
lap_code lap_pnm_of(const lap_picture *picture, lap_pnm *pnm, lap_error *err);

/* The picture as a data: URI: JPEG of that quality, or with quality 0 exactly, as PNG (in a build without
 * PNG as JPEG of quality 100). */
lap_code lap_data_uri(lap_context *context, const lap_pnm *pnm, int quality, json_t **uri, lap_error *err);

lap_code lap_report_no_memory(lap_error *err); /* LAP_E_MEMORY, with a message */

#endif
