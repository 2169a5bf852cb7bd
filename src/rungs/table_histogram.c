/* The histogram ladder. The first row is the reference. */
#include "rungs/table.h"

#define HOST .op = LAP_OP_HISTOGRAM, .threading = LAP_THREADS_SPLIT
#define CUDA .op = LAP_OP_HISTOGRAM, .family = "cuda"

const lap_rung lap_histogram_table[] = {
    {HOST, .name = "c", .family = "c", .what = "one counter per value and channel: the reference",
        LAP_ON_HOST_CPU(histogram, lap_histogram_c)},
    {HOST, .name = "simd", .family = "simd", .what = "two samples per increment, several tables",
        LAP_ON_HOST_CPU(histogram, lap_histogram_simd)},
    {CUDA, .name = "cuda-shared", .what = "one histogram per block in shared memory",
        LAP_ON_CUDA(histogram, lap_histogram_cuda_shared)},
    {CUDA, .name = "cuda-fast", .what = "counters per lane: lanes of a warp never collide; 16-byte loads",
        LAP_ON_CUDA(histogram, lap_histogram_cuda_fast)},
    {HOST, .name = "auto", .family = "auto", .resolves = "simd",
        .what = "the fastest for pixels in host memory"},
    {0},
};
