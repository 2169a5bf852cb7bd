/* The matrix-vector ladder. The first row is the reference. */
#include "rungs/table.h"

#define HOST .op = LAP_OP_MATVEC, .threading = LAP_THREADS_SPLIT
#define CUDA .op = LAP_OP_MATVEC, .family = "cuda"

const lap_rung lap_matvec_table[] = {
    {HOST, .name = "c", .family = "c", .what = "one accumulator per row: the reference",
        LAP_ON_HOST_CPU(matvec, lap_matvec_c)},
    {.op = LAP_OP_MATVEC,
        .name = "openmp",
        .family = "openmp",
        .what = "the plain loop, rows spread over threads",
        LAP_ON_OPENMP(matvec, lap_matvec_openmp)},
    {HOST, .name = "simd", .family = "simd", .resolves = "simd-avx512,simd-avx2,simd-sse41,simd-neon",
        .what = "16 partial sums per row, 4 rows per load of x"},
    {HOST, .name = "simd-avx512", .family = "simd", .what = "the same in 64-byte vectors",
        LAP_ON_X86(matvec, lap_matvec_simd_avx512, lap_cpu_no_avx512)},
    {HOST, .name = "simd-avx2", .family = "simd", .what = "the same in 32-byte vectors",
        LAP_ON_X86(matvec, lap_matvec_simd_avx2, lap_cpu_no_avx2)},
    {HOST, .name = "simd-sse41", .family = "simd", .what = "the same in 16-byte vectors",
        LAP_ON_X86(matvec, lap_matvec_simd_sse41, lap_cpu_no_sse41)},
    {HOST, .name = "simd-neon", .family = "simd", .what = "the same in 16-byte vectors of aarch64",
        LAP_ON_ARM(matvec, lap_matvec_simd_neon)},
    {CUDA, .name = "cuda-simple", .what = "1.0: one thread per row", .unchecked = true,
        LAP_ON_CUDA(matvec, lap_matvec_cuda_simple)},
    {CUDA, .name = "cuda-strided", .what = "1.1: neighbouring threads 513 rows apart", .unchecked = true,
        LAP_ON_CUDA(matvec, lap_matvec_cuda_strided)},
    {CUDA, .name = "cuda-tile-x", .what = "2: pieces of x in shared memory", .unchecked = true,
        LAP_ON_CUDA(matvec, lap_matvec_cuda_tile_x)},
    {CUDA, .name = "cuda-tile-ax", .what = "3: squares of the matrix too, 32-way conflict", .unchecked = true,
        LAP_ON_CUDA(matvec, lap_matvec_cuda_tile_ax)},
    {CUDA, .name = "cuda-tile-pad", .what = "3 with rows of 33: no bank conflict", .unchecked = true,
        LAP_ON_CUDA(matvec, lap_matvec_cuda_tile_pad)},
    {CUDA, .name = "cuda-unrolled", .what = "1.0 with 32 loads in flight per thread", .unchecked = true,
        LAP_ON_CUDA(matvec, lap_matvec_cuda_unrolled)},
    {CUDA, .name = "cuda-fast", .what = "threads along the row, four rows per block, 16-byte loads",
        LAP_ON_CUDA(matvec, lap_matvec_cuda_fast)},
    {HOST, .name = "auto", .family = "auto", .resolves = "simd,c", .what = "the fastest for host memory"},
    {0},
};
