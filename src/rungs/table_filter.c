/* The filter ladder. */
#include "cpu_simd/cpu.h"
#include "cpu_simd/filter/filter.h"

#if !LAP_HAVE_OPENMP
static const char *no_openmp(void)
{
    return "not built: the compiler that made lapedge has no OpenMP";
}
#endif

#if LAP_HAVE_CUDA
/* Written in cuda/. */
const char *lap_cuda_unavailable(void); /* NULL where there is a device, else the reason */
extern lap_filter_fn lap_filter_cuda_global, lap_filter_cuda_shared2, lap_filter_cuda_shared3,
    lap_filter_cuda_shared4_conflict, lap_filter_cuda_shared4_pad, lap_filter_cuda_shared4_wide,
    lap_filter_cuda_fast;
#define ON_CUDA(function) .available = lap_cuda_unavailable, .run.filter = function
#else
static const char *no_cuda(void)
{
    return "not built: no CUDA compiler was found when lapedge was compiled";
}
#define ON_CUDA(function) .available = no_cuda
#endif

/* On other processors these files are not compiled; available() says so. */
#if defined(__x86_64__)
#define ON_X86(flags_of, function) .flags = flags_of, .run.filter = function
#else
#define ON_X86(flags_of, function) .flags = NULL
#endif

#define FILTER .op = LAP_OP_FILTER

const lap_rung lap_filter_table[] = {
    {FILTER, .name = "c", .family = "c", .what = "plain C, float32, 4 components a pixel: the law",
        .flags = lap_filter_c_flags, .run.filter = lap_filter_c},
    {FILTER, .name = "openmp", .family = "openmp", .what = "the same row function, rows spread over threads",
        .threading = LAP_THREADS_OWN,
#if LAP_HAVE_OPENMP
        .flags = lap_filter_openmp_flags, .run.filter = lap_filter_openmp},
#else
        .available = no_openmp},
#endif
    {FILTER, .name = "sse", .family = "sse",
        .what = "SSE2, one 4-component pixel a vector, threads as openmp", .threading = LAP_THREADS_OWN,
        .available = lap_cpu_no_sse2, ON_X86(lap_filter_sse_flags, lap_filter_sse)},
    {FILTER, .name = "simd", .family = "simd", .resolves = "simd-avx512,simd-avx2,simd-sse41",
        .what = "the fastest on a CPU: integers, sliding sums", .threading = LAP_THREADS_SPLIT},
    {FILTER, .name = "simd-avx512", .family = "simd", .what = "64 samples a vector",
        .threading = LAP_THREADS_SPLIT, .available = lap_cpu_no_avx512,
        ON_X86(lap_filter_avx512_flags, lap_filter_avx512)},
    {FILTER, .name = "simd-avx2", .family = "simd", .what = "32 samples a vector",
        .threading = LAP_THREADS_SPLIT, .available = lap_cpu_no_avx2,
        ON_X86(lap_filter_avx2_flags, lap_filter_avx2)},
    {FILTER, .name = "simd-sse41", .family = "simd", .what = "16 samples a vector",
        .threading = LAP_THREADS_SPLIT, .available = lap_cpu_no_sse41,
        ON_X86(lap_filter_sse41_flags, lap_filter_sse41)},
    {FILTER, .name = "cuda-global", .family = "cuda", .what = "16x16 block, all reads from global memory",
        .device = 1, ON_CUDA(lap_filter_cuda_global)},
    {FILTER, .name = "cuda-shared2", .aliases = "cuda-shared-int", .family = "cuda",
        .what = "byte tile in shared memory, int arithmetic", .device = 1, ON_CUDA(lap_filter_cuda_shared2)},
    {FILTER, .name = "cuda-shared3", .aliases = "cuda-shared-convert", .family = "cuda",
        .what = "byte tile, converted to float at each read", .device = 1, ON_CUDA(lap_filter_cuda_shared3)},
    {FILTER, .name = "cuda-shared4", .aliases = "cuda-shared-float", .family = "cuda",
        .resolves = "cuda-shared4-wide,cuda-shared4-pad,cuda-shared4-conflict",
        .what = "float tile, the best of the three below", .device = 1},
    {FILTER, .name = "cuda-shared4-conflict", .family = "cuda",
        .what = "float tile, 60-word rows: bank conflicts, to be seen", .device = 1,
        ON_CUDA(lap_filter_cuda_shared4_conflict)},
    {FILTER, .name = "cuda-shared4-pad", .family = "cuda",
        .what = "float tile, rows padded: no bank conflicts", .device = 1,
        ON_CUDA(lap_filter_cuda_shared4_pad)},
    {FILTER, .name = "cuda-shared4-wide", .family = "cuda",
        .what = "float tile, 32x8 block: a warp reads one row", .device = 1,
        ON_CUDA(lap_filter_cuda_shared4_wide)},
    {FILTER, .name = "cuda-fast", .family = "cuda", .what = "wide coalesced loads, sliding sums in registers",
        .device = 1, ON_CUDA(lap_filter_cuda_fast)},
    /* No CUDA rung here: the first call takes 110 to 240 ms (H200, CUDA 13.0, 2026-11-22), and a photo is
     * through the CPU before that. */
    {FILTER, .name = "auto", .family = "auto", .resolves = "simd,openmp,c",
        .what = "the fastest that can run here, start-up counted", .threading = LAP_THREADS_SPLIT},
    {0},
};
