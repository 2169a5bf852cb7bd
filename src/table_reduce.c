/* The reduction ladder. */
#include "../cpu_simd/ops.h"

#if !LAP_HAVE_OPENMP
static const char *no_openmp(void)
{
    return "not built: the compiler that made lapedge has no OpenMP";
}
#endif

const lap_rung lap_reduce_table[] = {
    {.op = LAP_OP_REDUCE,
        .name = "c",
        .family = "c",
        .what = "one accumulator, first value to last",
        .flags = lap_reduce_c_flags,
        .run.reduce = lap_reduce_c},
    {.op = LAP_OP_REDUCE,
        .name = "pairwise",
        .family = "c",
        .what = "runs of 128 values, their sums added in a tree",
        .flags = lap_reduce_pairwise_flags,
        .run.reduce = lap_reduce_pairwise},
    {.op = LAP_OP_REDUCE,
        .name = "openmp",
        .family = "openmp",
        .what = "the plain loop, a share a thread",
        .threading = LAP_THREADS_OWN,
#if LAP_HAVE_OPENMP
        .flags = lap_reduce_openmp_flags,
        .run.reduce = lap_reduce_openmp},
#else
        .available = no_openmp},
#endif
    {.op = LAP_OP_REDUCE,
        .name = "auto",
        .family = "auto",
        .resolves = "pairwise",
        .what = "the fastest accurate sum of host memory"},
    {0},
};
