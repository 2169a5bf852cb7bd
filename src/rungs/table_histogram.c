/* The histogram ladder. */
#include "cpu_simd/ladders.h"

#if LAP_HAVE_CUDA
#include "cuda/device/ladders.h"
#define ON_CUDA(name) .device = 1, .available = lap_cuda_unavailable, .run.histogram = name
#else
static const char *no_cuda(void)
{
    return "not built: no CUDA compiler was found when lapedge was compiled";
}
#define ON_CUDA(name) .device = 1, .available = no_cuda
#endif

#define HISTOGRAM .op = LAP_OP_HISTOGRAM

const lap_rung lap_histogram_table[] = {
    {HISTOGRAM, .name = "c", .family = "c", .what = "one counter a value and channel: the law",
        .threading = LAP_THREADS_SPLIT, .flags = lap_histogram_c_flags, .run.histogram = lap_histogram_c},
    {HISTOGRAM, .name = "simd", .family = "simd", .what = "two samples an increment, several tables",
        .threading = LAP_THREADS_SPLIT, .flags = lap_histogram_pairs_flags,
        .run.histogram = lap_histogram_pairs},
    {HISTOGRAM, .name = "cuda-shared", .family = "cuda", .what = "a histogram a block in shared memory",
        ON_CUDA(lap_histogram_cuda_shared)},
    {HISTOGRAM, .name = "cuda-fast", .family = "cuda",
        .what = "counters a lane: no two lanes meet, 16-byte loads", ON_CUDA(lap_histogram_cuda_fast)},
    {HISTOGRAM, .name = "auto", .family = "auto", .resolves = "simd",
        .what = "the fastest for pixels in host memory", .threading = LAP_THREADS_SPLIT},
    {0},
};
