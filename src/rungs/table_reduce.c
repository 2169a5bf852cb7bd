/* The reduction ladder. */
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
#define ON_X86(name) .flags = name##_flags, .run.reduce = name
#else
#define ON_X86(name) .flags = NULL
#endif

#if LAP_HAVE_CUDA
#include "cuda/device/ladders.h"
#define ON_CUDA(name) .device = 1, .available = lap_cuda_unavailable, .run.reduce = name
#else
static const char *no_cuda(void)
{
    return "not built: no CUDA compiler was found when lapedge was compiled";
}
#define ON_CUDA(name) .device = 1, .available = no_cuda
#endif

#define REDUCE .op = LAP_OP_REDUCE

const lap_rung lap_reduce_table[] = {
    {REDUCE, .name = "c", .family = "c", .what = "one accumulator, first value to last: the law",
        .flags = lap_reduce_c_flags, .run.reduce = lap_reduce_c},
    {REDUCE, .name = "pairwise", .family = "c", .what = "runs of 128 values, their sums added in a tree",
        .flags = lap_reduce_pairwise_flags, .run.reduce = lap_reduce_pairwise},
    {REDUCE, .name = "openmp", .family = "openmp", .what = "the plain loop, a share a thread",
        .threading = LAP_THREADS_OWN,
#if LAP_HAVE_OPENMP
        .flags = lap_reduce_openmp_flags, .run.reduce = lap_reduce_openmp},
#else
        .available = no_openmp},
#endif
    {REDUCE, .name = "simd", .family = "simd", .resolves = "simd-avx512,simd-avx2,simd-sse41",
        .what = "32 partial sums side by side, floats widened to double every 1024 values",
        .threading = LAP_THREADS_SPLIT},
    {REDUCE, .name = "simd-avx512", .family = "simd", .what = "the same in 64-byte vectors",
        .threading = LAP_THREADS_SPLIT, .available = lap_cpu_no_avx512, ON_X86(lap_reduce_simd_avx512)},
    {REDUCE, .name = "simd-avx2", .family = "simd", .what = "the same in 32-byte vectors",
        .threading = LAP_THREADS_SPLIT, .available = lap_cpu_no_avx2, ON_X86(lap_reduce_simd_avx2)},
    {REDUCE, .name = "simd-sse41", .family = "simd", .what = "the same in 16-byte vectors",
        .threading = LAP_THREADS_SPLIT, .available = lap_cpu_no_sse41, ON_X86(lap_reduce_simd_sse41)},
    {REDUCE, .name = "cuda-global", .family = "cuda", .what = "halving in global memory, 128 values a block",
        ON_CUDA(lap_reduce_cuda_global)},
    {REDUCE, .name = "cuda-shared", .family = "cuda", .what = "halving in shared memory",
        ON_CUDA(lap_reduce_cuda_shared)},
    {REDUCE, .name = "cuda-dynamic", .family = "cuda", .what = "the same, shared memory sized at the launch",
        ON_CUDA(lap_reduce_cuda_dynamic)},
    {REDUCE, .name = "cuda-fast", .family = "cuda",
        .what = "many values a thread, 16-byte loads, shuffles, one launch", ON_CUDA(lap_reduce_cuda_fast)},
    {REDUCE, .name = "auto", .family = "auto", .resolves = "simd,pairwise",
        .what = "the fastest accurate sum of host memory", .threading = LAP_THREADS_SPLIT},
    {0},
};
