/* Measures how fast the slots of a CUDA device (device/device_slot.h) code one photo, alone or several at
 * once, for the codec bench. All memory is allocated beforehand, and all results can be compared with the
 * CPU's. One host thread drives all slots, and does the host's part for each photo: header, plan, tables. An
 * object belongs to one thread at a time. */
#ifndef LAP_BENCH_RATES_H
#define LAP_BENCH_RATES_H

#include "base/rung.h"

typedef enum lap_rate {
    LAP_RATE_UP,     /* copy the JPEG's scan from pinned memory to the device */
    LAP_RATE_DOWN,   /* copy the finished scan to pinned memory */
    LAP_RATE_BOTH,   /* both at once */
    LAP_RATE_COPY,   /* copy the pixels' number of bytes within the device's memory */
    LAP_RATE_DECODE, /* decode a JPEG in pinned memory to interleaved pixels on the device */
    LAP_RATE_ENCODE, /* encode pixels on the device to the finished scan in pinned memory */
    LAP_RATE_CHAIN,  /* decode, filter and encode: from a JPEG to a finished scan, both in pinned memory */
    LAP_RATE_COUNT
} lap_rate;

typedef struct lap_rate_photo { /* a photo and the CPU's results; must outlive the object */
    const void *file;           /* JPEG */
    size_t size;
    const lap_view *pixels; /* decoded */
    const lap_view *edges;  /* filtered, of the same size */
    const void *out;        /* encoded: a JPEG that ends with EOI */
    size_t out_size;
    const lap_rung *rung; /* filter backend on the device */
    lap_params params;
    lap_border border;
} lap_rate_photo;

typedef struct lap_bench_rates lap_bench_rates;

/* slots: the largest number of slots that later calls use. *rates is NULL after a failure; LAP_E_UNSUPPORTED
 * if the device cannot code the photo. */
lap_code lap_bench_rates_create(
    int device, const lap_rate_photo *photo, int slots, lap_bench_rates **rates, lap_error *err);
void lap_bench_rates_destroy(lap_bench_rates *rates); /* NULL is fine */

/* Bytes that the work reads and writes, each counted once. */
size_t lap_bench_rates_bytes(const lap_bench_rates *rates, lap_rate rate);
/* Does the work `photos` times, on the first `slots` slots in turn; *ms: wall time divided by photos. */
lap_code lap_bench_rates_time(
    lap_bench_rates *rates, lap_rate rate, int slots, int photos, double *ms, lap_error *err);
/* Overwrites the results of these slots with a wrong picture, so that work that does nothing is detected. */
lap_code lap_bench_rates_spoil(lap_bench_rates *rates, lap_rate rate, int slots, lap_error *err);
/* *same: whether each slot's last result of this work equals the CPU's. Copies have no result: true. */
lap_code lap_bench_rates_compare(
    lap_bench_rates *rates, lap_rate rate, int slots, bool *same, lap_error *err);

#endif
