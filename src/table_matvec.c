/* The matrix-vector ladder. */
#include "../cpu_simd/ops.h"

#if !LAP_HAVE_OPENMP
static const char *no_openmp(void)
{
    return "not built: the compiler that made lapedge has no OpenMP";
}
#endif

const lap_rung lap_matvec_table[] = {
    {.op = LAP_OP_MATVEC,
        .name = "c",
        .family = "c",
        .what = "one accumulator a row",
        .flags = lap_matvec_c_flags,
        .run.matvec = lap_matvec_c},
    {.op = LAP_OP_MATVEC,
        .name = "openmp",
        .family = "openmp",
        .what = "the plain loop, rows spread over threads",
        .threading = LAP_THREADS_OWN,
#if LAP_HAVE_OPENMP
        .flags = lap_matvec_openmp_flags,
        .run.matvec = lap_matvec_openmp},
#else
        .available = no_openmp},
#endif
    {.op = LAP_OP_MATVEC,
        .name = "auto",
        .family = "auto",
        .resolves = "openmp,c",
        .what = "the fastest for host memory"},
    {0},
};
