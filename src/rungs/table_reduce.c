/* The reduction ladder. The first row is the reference. */
#include "rungs/table.h"

#define REDUCE .op = LAP_OP_REDUCE
#define SIMD REDUCE, .family = "simd", .threading = LAP_THREADS_SPLIT
#define CUDA REDUCE, .family = "cuda"

const lap_rung lap_reduce_table[] = {
    {REDUCE, .name = "c", .family = "c", .what = "one accumulator, first value to last: the reference",
        LAP_ON_HOST_CPU(reduce, lap_reduce_c)},
    {REDUCE, .name = "pairwise", .family = "c", .what = "runs of 128 values, their sums added in a tree",
        LAP_ON_HOST_CPU(reduce, lap_reduce_pairwise)},
    {REDUCE, .name = "openmp", .family = "openmp", .what = "the plain loop, one share per thread",
        LAP_ON_OPENMP(reduce, lap_reduce_openmp)},
    {SIMD, .name = "simd", .resolves = "simd-avx512,simd-avx2,simd-sse41,simd-neon",
        .what = "32 partial sums side by side, floats widened to double every 1024 values"},
    {SIMD, .name = "simd-avx512", .what = "the same in 64-byte vectors",
        LAP_ON_X86(reduce, lap_reduce_simd_avx512, lap_cpu_no_avx512)},
    {SIMD, .name = "simd-avx2", .what = "the same in 32-byte vectors",
        LAP_ON_X86(reduce, lap_reduce_simd_avx2, lap_cpu_no_avx2)},
    {SIMD, .name = "simd-sse41", .what = "the same in 16-byte vectors",
        LAP_ON_X86(reduce, lap_reduce_simd_sse41, lap_cpu_no_sse41)},
    {SIMD, .name = "simd-neon", .what = "the same in 16-byte vectors of aarch64",
        LAP_ON_ARM(reduce, lap_reduce_simd_neon)},
    {CUDA, .name = "cuda-global", .what = "halving in global memory, 128 values per block",
        LAP_ON_CUDA(reduce, lap_reduce_cuda_global)},
    {CUDA, .name = "cuda-divergent", .what = "neighbours first, in shared memory: lanes of a warp diverge",
        LAP_ON_CUDA(reduce, lap_reduce_cuda_divergent)},
    {CUDA, .name = "cuda-interleaved", .what = "the same by the first threads: bank conflicts",
        LAP_ON_CUDA(reduce, lap_reduce_cuda_interleaved)},
    {CUDA, .name = "cuda-shared", .what = "halving in shared memory",
        LAP_ON_CUDA(reduce, lap_reduce_cuda_shared)},
    {CUDA, .name = "cuda-dynamic", .what = "the same, shared memory sized at the launch",
        LAP_ON_CUDA(reduce, lap_reduce_cuda_dynamic)},
    {CUDA, .name = "cuda-first-add", .what = "two values per thread, added as they are loaded",
        LAP_ON_CUDA(reduce, lap_reduce_cuda_first_add)},
    {CUDA, .name = "cuda-shuffle", .what = "warps add by shuffles: one barrier instead of seven",
        LAP_ON_CUDA(reduce, lap_reduce_cuda_shuffle)},
    {CUDA, .name = "cuda-grid", .what = "as many blocks as fit walk the array, many values per thread",
        LAP_ON_CUDA(reduce, lap_reduce_cuda_grid)},
    {CUDA, .name = "cuda-wide", .what = "16 bytes per load", LAP_ON_CUDA(reduce, lap_reduce_cuda_wide)},
    {CUDA, .name = "cuda-unrolled", .what = "four loads in flight per thread",
        LAP_ON_CUDA(reduce, lap_reduce_cuda_unrolled)},
    {CUDA, .name = "cuda-fast", .what = "many values per thread, 16-byte loads, shuffles, one launch",
        LAP_ON_CUDA(reduce, lap_reduce_cuda_fast)},
    {REDUCE, .name = "auto", .family = "auto", .resolves = "simd,pairwise",
        .what = "the fastest accurate sum of host memory", .threading = LAP_THREADS_SPLIT},
    {0},
};
