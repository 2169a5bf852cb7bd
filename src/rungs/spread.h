/* Host rungs of the smaller ladders over the threads of a pool, as the threading of their row says. */
#ifndef LAP_SPREAD_H
#define LAP_SPREAD_H

#include "base/pool.h"
#include "rungs/backend.h"

/* Each takes the arguments of the rung; exec->threads members at most work, pool may be NULL: then the
 * calling thread alone. Results are those of the rung itself, except that the sum of a float or double
 * array is the sum of its parts' sums. */
lap_code lap_spread_transpose(
    const lap_rung *rung, const lap_view *in, const lap_view *out, const lap_exec *exec, lap_pool *pool);
lap_code lap_spread_reduce(
    const lap_rung *rung, const lap_array *in, double *sum, const lap_exec *exec, lap_pool *pool);
lap_code lap_spread_histogram(
    const lap_rung *rung, const lap_view *in, uint64_t counts[4][256], const lap_exec *exec, lap_pool *pool);
lap_code lap_spread_matvec(const lap_rung *rung, const lap_gemv *g, const lap_exec *exec, lap_pool *pool);

#endif
