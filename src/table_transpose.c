/* The transpose ladder. */
#include "../cpu_simd/cpu.h"
#include "../cpu_simd/ops.h"

/* On other processors these files are not compiled; available() says so. */
#if defined(__x86_64__)
#define ON_X86(name) .flags = name##_flags, .run.transpose = name
#else
#define ON_X86(name) .flags = NULL
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
    {TRANSPOSE, .name = "auto", .family = "auto", .resolves = "simd,c",
        .what = "the fastest for pixels in host memory", .threading = LAP_THREADS_SPLIT},
    {0},
};
