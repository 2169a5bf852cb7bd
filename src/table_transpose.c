/* The transpose ladder. */
#include "../cpu_simd/ops.h"

const lap_rung lap_transpose_table[] = {
    {.op = LAP_OP_TRANSPOSE,
        .name = "c",
        .family = "c",
        .what = "reads rows, writes columns",
        .flags = lap_transpose_c_flags,
        .run.transpose = lap_transpose_c},
    {.op = LAP_OP_TRANSPOSE,
        .name = "auto",
        .family = "auto",
        .resolves = "c",
        .what = "the fastest for host memory"},
    {0},
};
