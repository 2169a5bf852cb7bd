/* Runs a rung of any ladder, on the host or on a device, on pixels and numbers in host memory. Spreads rows
 * over the threads of a pool if the row's threading allows it; uploads a device rung's data, and downloads
 * its result. Thread safe. */
#ifndef LAP_RUN_RUNG_H
#define LAP_RUN_RUNG_H

#include "base/pool.h"
#include "rungs/backend.h"

typedef struct lap_resources { /* what a rung may use; all zero: the calling thread, device 0 */
    lap_exec exec;             /* threads: the most; err: gets the message of a failure, or NULL */
    lap_pool *pool;            /* the pool's threads help; NULL: the calling thread works alone */
    int device;                /* where device rungs run */
    lap_times *times;          /* or NULL; a device rung on pixels sets upload, filter and download */
} lap_resources;

/* Each function takes the arguments of its rung, in host memory, and computes the rung's result. There is one
 * exception: the sum of a float or double array is the sum of its pieces' sums. On failure use->exec.err has
 * the reason.
 *
 * Filter: a host rung reads the apron of in, which the caller has filled; for a device rung this fills the
 * device's apron, by border. */
lap_code lap_rung_filter(const lap_rung *rung, const lap_resources *use, const lap_view *in,
    const lap_view *out, const lap_params *params, lap_border border);
lap_code lap_rung_transpose(
    const lap_rung *rung, const lap_resources *use, const lap_view *in, const lap_view *out);
lap_code lap_rung_reduce(const lap_rung *rung, const lap_resources *use, const lap_array *in, double *sum);
lap_code lap_rung_histogram(
    const lap_rung *rung, const lap_resources *use, const lap_view *in, uint64_t counts[4][256]);
/* If a rung writes nothing, y is unchanged, on a device too. */
lap_code lap_rung_matvec(const lap_rung *rung, const lap_resources *use, const lap_gemv *g);

/* Starts the device if one of the listed rungs (NULL: all) of a ladder can run there. Call it first, so that
 * no rung's time includes the start. */
void lap_rung_start_device(lap_op op, const char *list, int device);

#endif
