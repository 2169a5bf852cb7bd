/* The transpose ladder. The first row is the reference. */
#include "rungs/table.h"

#define HOST .op = LAP_OP_TRANSPOSE, .threading = LAP_THREADS_SPLIT
#define CUDA .op = LAP_OP_TRANSPOSE, .family = "cuda"

const lap_rung lap_transpose_table[] = {
    {HOST, .name = "c", .family = "c", .what = "reads rows, writes columns: the reference",
        LAP_ON_HOST_CPU(transpose, lap_transpose_c)},
    {HOST, .name = "simd", .family = "simd", .resolves = "simd-avx2,simd-sse41,simd-neon",
        .what = "blocks transposed in registers, results written in whole lines"},
    {HOST, .name = "simd-avx2", .family = "simd", .what = "blocks of 16x32 bytes, 8x8 pixels or 4x8 floats",
        LAP_ON_X86(transpose, lap_transpose_simd_avx2, lap_cpu_no_avx2)},
    {HOST, .name = "simd-sse41", .family = "simd", .what = "blocks of 16x16 bytes, 8x8 pixels or 4x4 floats",
        LAP_ON_X86(transpose, lap_transpose_simd_sse41, lap_cpu_no_sse41)},
    {HOST, .name = "simd-neon", .family = "simd", .what = "the same blocks as simd-sse41, on aarch64",
        LAP_ON_ARM(transpose, lap_transpose_simd_neon)},
    {CUDA, .name = "cuda-naive", .what = "coalesced reads, scattered writes",
        LAP_ON_CUDA(transpose, lap_transpose_cuda_naive)},
    {CUDA, .name = "cuda-naive-write", .what = "scattered reads, coalesced writes",
        LAP_ON_CUDA(transpose, lap_transpose_cuda_naive_write)},
    {CUDA, .name = "cuda-shared", .what = "16x16 tile in shared memory, coalesced both ways",
        LAP_ON_CUDA(transpose, lap_transpose_cuda_shared)},
    {CUDA, .name = "cuda-padded16", .what = "16x17 tile: bank conflicts of 2 ways instead of 8",
        LAP_ON_CUDA(transpose, lap_transpose_cuda_padded16)},
    {CUDA, .name = "cuda-shared32", .what = "32x32 tile whose columns are one bank each, to show conflicts",
        LAP_ON_CUDA(transpose, lap_transpose_cuda_shared32)},
    {CUDA, .name = "cuda-padded", .what = "32x33 tile: no bank conflicts",
        LAP_ON_CUDA(transpose, lap_transpose_cuda_padded)},
    {CUDA, .name = "cuda-padded-rows", .what = "32x33 tile with 32x8 threads, 4 elements each",
        LAP_ON_CUDA(transpose, lap_transpose_cuda_padded_rows)},
    {CUDA, .name = "cuda-fast", .what = "blocks transposed in registers, 16-byte accesses",
        LAP_ON_CUDA(transpose, lap_transpose_cuda_fast)},
    {HOST, .name = "auto", .family = "auto", .resolves = "simd,c",
        .what = "the fastest for pixels in host memory"},
    {0},
};
