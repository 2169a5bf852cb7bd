/* The matrix-vector ladder. */
#include "cpu_simd/cpu.h"
#include "cpu_simd/ladders.h"

#if !LAP_HAVE_OPENMP
static const char *no_openmp(void)
{
    return "not built: the compiler that made lapedge has no OpenMP";
}
#endif

/* On other processors these files are not compiled; available() says so. */
#if defined(__x86_64__)
#define ON_X86(name) .flags = name##_flags, .run.matvec = name
#else
#define ON_X86(name) .flags = NULL
#endif

#if LAP_HAVE_CUDA
#include "cuda/device/ladders.h"
#define ON_CUDA(name) .device = 1, .available = lap_cuda_unavailable, .run.matvec = name
#else
static const char *no_cuda(void)
{
    return "not built: no CUDA compiler was found when lapedge was compiled";
}
#define ON_CUDA(name) .device = 1, .available = no_cuda
#endif

#define MATVEC .op = LAP_OP_MATVEC

const lap_rung lap_matvec_table[] = {
    {MATVEC, .name = "c", .family = "c", .what = "one accumulator a row: the law",
        .threading = LAP_THREADS_SPLIT, .flags = lap_matvec_c_flags, .run.matvec = lap_matvec_c},
    {MATVEC, .name = "openmp", .family = "openmp", .what = "the plain loop, rows spread over threads",
        .threading = LAP_THREADS_OWN,
#if LAP_HAVE_OPENMP
        .flags = lap_matvec_openmp_flags, .run.matvec = lap_matvec_openmp},
#else
        .available = no_openmp},
#endif
    {MATVEC, .name = "simd", .family = "simd", .resolves = "simd-avx512,simd-avx2,simd-sse41",
        .what = "16 partial sums a row, 4 rows a load of x", .threading = LAP_THREADS_SPLIT},
    {MATVEC, .name = "simd-avx512", .family = "simd", .what = "the same in 64-byte vectors",
        .threading = LAP_THREADS_SPLIT, .available = lap_cpu_no_avx512, ON_X86(lap_matvec_simd_avx512)},
    {MATVEC, .name = "simd-avx2", .family = "simd", .what = "the same in 32-byte vectors",
        .threading = LAP_THREADS_SPLIT, .available = lap_cpu_no_avx2, ON_X86(lap_matvec_simd_avx2)},
    {MATVEC, .name = "simd-sse41", .family = "simd", .what = "the same in 16-byte vectors",
        .threading = LAP_THREADS_SPLIT, .available = lap_cpu_no_sse41, ON_X86(lap_matvec_simd_sse41)},
    {MATVEC, .name = "cuda-simple", .family = "cuda", .what = "1.0: a thread a row",
        ON_CUDA(lap_matvec_cuda_simple)},
    {MATVEC, .name = "cuda-strided", .family = "cuda", .what = "1.1: neighbouring threads 513 rows apart",
        ON_CUDA(lap_matvec_cuda_strided)},
    {MATVEC, .name = "cuda-tile-x", .family = "cuda", .what = "2: pieces of x in shared memory",
        ON_CUDA(lap_matvec_cuda_tile_x)},
    {MATVEC, .name = "cuda-tile-ax", .family = "cuda",
        .what = "3: squares of the matrix too, 32-way conflict", ON_CUDA(lap_matvec_cuda_tile_ax)},
    {MATVEC, .name = "cuda-fast", .family = "cuda",
        .what = "threads along the row, four rows a block, 16-byte loads", ON_CUDA(lap_matvec_cuda_fast)},
    {MATVEC, .name = "auto", .family = "auto", .resolves = "simd,c", .what = "the fastest for host memory",
        .threading = LAP_THREADS_SPLIT},
    {0},
};
