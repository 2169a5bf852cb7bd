/* How fast a CUDA device codes one photo, alone or on several streams at once: the work of the codec bench.
 * All memory is made before, all results can be compared with the CPU's. One host thread drives all streams,
 * and does for each photo what has to be done on the host: header, plan, tables. An object belongs to one
 * thread at a time. In a build without CUDA nothing can be created (LAP_E_BACKEND). */
#ifndef LAP_DEVICE_RATES_H
#define LAP_DEVICE_RATES_H

#include "base/rung.h"

typedef enum lap_rate {
    LAP_RATE_UP,     /* the JPEG's scan over the bus to the device, from pinned memory */
    LAP_RATE_DOWN,   /* the finished scan over the bus to pinned memory */
    LAP_RATE_BOTH,   /* both at once */
    LAP_RATE_COPY,   /* as many bytes as the pixels have, from device memory to device memory */
    LAP_RATE_DECODE, /* JPEG in pinned memory to interleaved pixels on the device */
    LAP_RATE_ENCODE, /* pixels on the device to the finished scan in pinned memory */
    LAP_RATE_CHAIN,  /* JPEG in pinned memory, decoded, filtered, encoded, to the finished scan there */
    LAP_RATE_COUNT
} lap_rate;

typedef struct lap_rate_photo { /* what the CPU makes of a photo; used as long as the object lives */
    const void *file;           /* JPEG */
    size_t size;
    const lap_view *pixels; /* decoded */
    const lap_view *edges;  /* filtered, as large */
    const void *out;        /* encoded: a JPEG that ends with EOI */
    size_t out_size;
    const lap_rung *rung; /* filter backend on the device */
    lap_params params;
    lap_border border;
} lap_rate_photo;

typedef struct lap_device_rates lap_device_rates;

/* streams: most that will be asked for. *rates is NULL after a failure, which is LAP_E_UNSUPPORTED where the
 * photo is not for the device. */
lap_code lap_device_rates_create(
    int device, const lap_rate_photo *photo, int streams, lap_device_rates **rates, lap_error *err);
void lap_device_rates_destroy(lap_device_rates *rates); /* NULL is fine */

/* Bytes that the work reads and writes, each counted once. */
size_t lap_device_rates_bytes(const lap_device_rates *rates, lap_rate rate);
/* Does the work `photos` times, by turns on the first `streams` streams; *ms: wall-clock time of all, divided
 * by photos. */
lap_code lap_device_rates_time(
    lap_device_rates *rates, lap_rate rate, int streams, int photos, double *ms, lap_error *err);
/* Puts the wrong picture where these streams' results of this work will be, so that work that does nothing
 * shows. */
lap_code lap_device_rates_spoil(lap_device_rates *rates, lap_rate rate, int streams, lap_error *err);
/* Whether each of these streams' last results of this work is the CPU's; copies have none and are the same.
 */
lap_code lap_device_rates_compare(
    lap_device_rates *rates, lap_rate rate, int streams, bool *same, lap_error *err);

#endif
