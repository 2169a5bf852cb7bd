/* The one place that runs a rung, of any ladder, on the host or on a device, for pixels and numbers in host
 * memory: rows are spread over the threads of a pool as the row's threading says, and a device rung's data
 * is uploaded and its result downloaded. Thread safe. */
#ifndef LAP_RUN_RUNG_H
#define LAP_RUN_RUNG_H

#include "base/pool.h"
#include "rungs/backend.h"

typedef struct lap_resources { /* what a rung may use; zeroed: the calling thread, device 0 */
    lap_exec exec;    /* threads: at most; err: where a failure is explained, or NULL; form of the rung */
    lap_pool *pool;   /* whose threads help; NULL: the calling thread alone */
    int device;       /* that device rungs run on */
    lap_times *times; /* a device rung of pixels sets upload, filter and download; or NULL */
} lap_resources;

/* Each takes the arguments of its rung, which lie on the host. Results are those of the rung itself, except
 * that the sum of a float or double array is the sum of its pieces' sums. On failure use->exec.err says why.
 *
 * Filter: a host rung reads the apron of in, which is filled; a device fills its own, by border. */
lap_code lap_rung_filter(const lap_rung *rung, const lap_resources *use, const lap_view *in,
    const lap_view *out, const lap_params *params, lap_border border);
lap_code lap_rung_transpose(
    const lap_rung *rung, const lap_resources *use, const lap_view *in, const lap_view *out);
lap_code lap_rung_reduce(const lap_rung *rung, const lap_resources *use, const lap_array *in, double *sum);
lap_code lap_rung_histogram(
    const lap_rung *rung, const lap_resources *use, const lap_view *in, uint64_t counts[4][256]);
/* A rung that writes nothing leaves y as it was, on a device too. */
lap_code lap_rung_matvec(const lap_rung *rung, const lap_resources *use, const lap_gemv *g);

/* Starts the device if one of the listed rungs (NULL: all) of a ladder can run there, so that the start is
 * not part of any rung's time. */
void lap_rung_start_device(lap_op op, const char *list, int device);

#endif
