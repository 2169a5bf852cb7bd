/* The histogram ladder. */
#include "../cpu_simd/ops.h"

#define HISTOGRAM .op = LAP_OP_HISTOGRAM

const lap_rung lap_histogram_table[] = {
    {HISTOGRAM, .name = "c", .family = "c", .what = "one counter a value and channel: the law",
        .threading = LAP_THREADS_SPLIT, .flags = lap_histogram_c_flags, .run.histogram = lap_histogram_c},
    {HISTOGRAM, .name = "simd", .family = "simd", .what = "two samples an increment, several tables",
        .threading = LAP_THREADS_SPLIT, .flags = lap_histogram_pairs_flags,
        .run.histogram = lap_histogram_pairs},
    {HISTOGRAM, .name = "auto", .family = "auto", .resolves = "simd",
        .what = "the fastest for pixels in host memory", .threading = LAP_THREADS_SPLIT},
    {0},
};
