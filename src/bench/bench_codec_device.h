/* The rows of the codec bench for a CUDA device; without a device these functions do nothing. */
#ifndef LAP_BENCH_CODEC_DEVICE_H
#define LAP_BENCH_CODEC_DEVICE_H

#include "bench/bench.h"
#include "bench/bench_rates.h"

enum { LAP_CODEC_DEVICE_ROWS = 16 };

typedef struct lap_codec_device {
    lap_bench_run *bench;
    bool is_on;
    const lap_rung *rung; /* the filter of LAP_RATE_CHAIN */
    double *times[LAP_CODEC_DEVICE_ROWS];
    size_t bytes[LAP_CODEC_DEVICE_ROWS];
    bool differs[LAP_CODEC_DEVICE_ROWS];
    char reason[LAP_CODEC_DEVICE_ROWS][200]; /* empty: timed */
    double pixel_count;
    int photos, width, height, channels; /* photos so far; shape of the last one */
} lap_codec_device;

lap_code lap_codec_device_begin(lap_codec_device *device, lap_bench_run *bench, lap_error *err);
/* Does all rows' work on one photo, and adds to the times; ignores photo->rung. A failure becomes the reason
 * of its rows. */
void lap_codec_device_photo(lap_codec_device *device, const lap_rate_photo *photo);
void lap_codec_device_end(lap_codec_device *device, bool is_reported);

#endif
