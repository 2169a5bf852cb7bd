/* The transpose ladder. */
#include "cpu_simd/cpu.h"
#include "cpu_simd/ladders.h"

/* On other processors these files are not compiled; available() says so. */
#if defined(__x86_64__)
#define ON_X86(name) .flags = name##_flags, .run.transpose = name
#else
#define ON_X86(name) .flags = NULL
#endif

#if LAP_HAVE_CUDA
#include "cuda/device/ladders.h"
#define ON_CUDA(name) .device = 1, .available = lap_cuda_unavailable, .run.transpose = name
#else
static const char *no_cuda(void)
{
    return "not built: no CUDA compiler was found when lapedge was compiled";
}
#define ON_CUDA(name) .device = 1, .available = no_cuda
#endif

#define TRANSPOSE .op = LAP_OP_TRANSPOSE

const lap_rung lap_transpose_table[] = {
    {TRANSPOSE, .name = "c", .family = "c", .what = "reads rows, writes columns: the law",
        .threading = LAP_THREADS_SPLIT, .flags = lap_transpose_c_flags, .run.transpose = lap_transpose_c},
    {TRANSPOSE, .name = "simd", .family = "simd", .resolves = "simd-avx2,simd-sse41",
        .what = "blocks turned in registers, results written by whole lines", .threading = LAP_THREADS_SPLIT},
    {TRANSPOSE, .name = "simd-avx2", .family = "simd",
        .what = "16x32 bytes, 8x8 pixels or 4x8 floats a block", .threading = LAP_THREADS_SPLIT,
        .available = lap_cpu_no_avx2, ON_X86(lap_transpose_simd_avx2)},
    {TRANSPOSE, .name = "simd-sse41", .family = "simd",
        .what = "16x16 bytes, 8x8 pixels or 4x4 floats a block", .threading = LAP_THREADS_SPLIT,
        .available = lap_cpu_no_sse41, ON_X86(lap_transpose_simd_sse41)},
    {TRANSPOSE, .name = "cuda-naive", .family = "cuda", .what = "coalesced reads, scattered writes",
        ON_CUDA(lap_transpose_cuda_naive)},
    {TRANSPOSE, .name = "cuda-naive-write", .family = "cuda", .what = "scattered reads, coalesced writes",
        ON_CUDA(lap_transpose_cuda_naive_write)},
    {TRANSPOSE, .name = "cuda-shared", .family = "cuda",
        .what = "16x16 tile in shared memory, coalesced both ways", ON_CUDA(lap_transpose_cuda_shared)},
    {TRANSPOSE, .name = "cuda-shared32", .family = "cuda",
        .what = "32x32 tile: a column is one bank, to be seen", ON_CUDA(lap_transpose_cuda_shared32)},
    {TRANSPOSE, .name = "cuda-padded", .family = "cuda", .what = "32x33 tile: no bank conflicts",
        ON_CUDA(lap_transpose_cuda_padded)},
    {TRANSPOSE, .name = "cuda-fast", .family = "cuda", .what = "blocks turned in registers, 16-byte accesses",
        ON_CUDA(lap_transpose_cuda_fast)},
    {TRANSPOSE, .name = "auto", .family = "auto", .resolves = "simd,c",
        .what = "the fastest for pixels in host memory", .threading = LAP_THREADS_SPLIT},
    {0},
};
