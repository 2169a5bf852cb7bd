/* The histogram ladder. */
#include "../cpu_simd/ops.h"

const lap_rung lap_histogram_table[] = {
    {.op = LAP_OP_HISTOGRAM,
        .name = "c",
        .family = "c",
        .what = "one counter a value and channel",
        .flags = lap_histogram_c_flags,
        .run.histogram = lap_histogram_c},
    {.op = LAP_OP_HISTOGRAM,
        .name = "auto",
        .family = "auto",
        .resolves = "c",
        .what = "the fastest for host memory"},
    {0},
};
