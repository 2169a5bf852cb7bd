/* The filter ladder. The first row is the reference that all others are compared with. */
#include "rungs/table.h"

#define FILTER .op = LAP_OP_FILTER
#define SIMD FILTER, .family = "simd", .threading = LAP_THREADS_SPLIT, .integers = true
#define CUDA FILTER, .family = "cuda"

const lap_rung lap_filter_table[] = {
    {FILTER, .name = "c", .family = "c", .what = "plain C, float32, 4 components per pixel: the reference",
        LAP_ON_HOST_CPU(filter, lap_filter_c)},
    {FILTER, .name = "openmp", .family = "openmp", .what = "the same row function, rows spread over threads",
        LAP_ON_OPENMP(filter, lap_filter_openmp)},
    {FILTER, .name = "sse", .family = "sse",
        .what = "SSE2, one 4-component pixel per vector, threads as openmp", .threading = LAP_THREADS_OWN,
        LAP_ON_X86(filter, lap_filter_sse, lap_cpu_no_sse2)},
    {SIMD, .name = "simd", .resolves = "simd-avx512,simd-avx2,simd-sse41",
        .what = "the fastest on a CPU: integers, sliding sums"},
    {SIMD, .name = "simd-avx512", .what = "64 samples per vector",
        LAP_ON_X86(filter, lap_filter_simd_avx512, lap_cpu_no_avx512)},
    {SIMD, .name = "simd-avx2", .what = "32 samples per vector",
        LAP_ON_X86(filter, lap_filter_simd_avx2, lap_cpu_no_avx2)},
    {SIMD, .name = "simd-sse41", .what = "16 samples per vector",
        LAP_ON_X86(filter, lap_filter_simd_sse41, lap_cpu_no_sse41)},
    {CUDA, .name = "cuda-global", .what = "16x16 block, all reads from global memory",
        LAP_ON_CUDA(filter, lap_filter_cuda_global)},
    {CUDA, .name = "cuda-shared2", .aliases = "cuda-shared-int",
        .what = "byte tile in shared memory, int arithmetic", .integers = true,
        LAP_ON_CUDA(filter, lap_filter_cuda_shared2)},
    {CUDA, .name = "cuda-shared3", .aliases = "cuda-shared-convert",
        .what = "byte tile, converted to float at each read", LAP_ON_CUDA(filter, lap_filter_cuda_shared3)},
    {CUDA, .name = "cuda-shared4", .aliases = "cuda-shared-float",
        .resolves = "cuda-shared4-wide,cuda-shared4-pad,cuda-shared4-conflict",
        .what = "float tile, the best of the three below", .device = 1},
    {CUDA, .name = "cuda-shared4-conflict", .what = "float tile, 60-word rows, to show bank conflicts",
        LAP_ON_CUDA(filter, lap_filter_cuda_shared4_conflict)},
    {CUDA, .name = "cuda-shared4-pad", .what = "float tile, rows padded: no bank conflicts",
        LAP_ON_CUDA(filter, lap_filter_cuda_shared4_pad)},
    {CUDA, .name = "cuda-shared4-wide", .what = "float tile, 32x8 block: a warp reads one row",
        LAP_ON_CUDA(filter, lap_filter_cuda_shared4_wide)},
    {CUDA, .name = "cuda-fast", .what = "wide coalesced loads, sliding sums in registers", .integers = true,
        LAP_ON_CUDA(filter, lap_filter_cuda_fast)},
    /* No CUDA rung here: the first call takes 110 to 240 ms (H200, CUDA 13.0, 2026-11-22), and a photo is
     * through the CPU before that. */
    {FILTER, .name = "auto", .family = "auto", .resolves = "simd,openmp,c",
        .what = "the fastest that can run here, start-up counted", .threading = LAP_THREADS_SPLIT},
    {0},
};
