/* The rung contract: what a rung of a ladder receives, and what its row in a table contains.
 *
 * Contract of every run function: the caller has checked the arguments; views are at the row's place (host or
 * device); in and out do not overlap; the function writes only out's interior; several threads may call it at
 * once with different outputs; it returns LAP_OK, LAP_E_MEMORY or LAP_E_DEVICE. */
#ifndef LAP_RUNG_H
#define LAP_RUNG_H

#include "lapedge.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lap_split { /* where a converting rung spent its time, summed, in ms */
    double convert, loop;
} lap_split;

typedef enum lap_omp_loop { LAP_OMP_Y, LAP_OMP_X, LAP_OMP_WINDOW } lap_omp_loop;

typedef struct lap_exec {  /* how to run, not what to compute; all zero is a valid default */
    int threads;           /* the most threads; 0 means 1 */
    void *stream;          /* cudaStream_t on a device */
    lap_split *split;      /* or NULL */
    lap_omp_loop omp_loop; /* openmp: which loop is parallel (lab sheet, 1.2: docs/claims.md) */
    int block_x, block_y;  /* cuda-global: block shape, 0: 16x16 (lab sheet, 2.1) */
    bool past_caches;      /* the result is larger than the caches, so stores may bypass them */
    bool unchecked;        /* matvec: skip bounds checks; sizes must be multiples of 32 */
    void *scratch;  /* reduce, histogram on a device: see cuda/device/device_rungs.h; NULL: the rung allocates
                       it */
    lap_error *err; /* where a device rung writes its message, or NULL */
} lap_exec;

/* The apron of in is filled. 1, 3 or 4 channels. */
typedef lap_code lap_filter_fn(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec);
typedef struct lap_view_pair {
    lap_view in, out;
} lap_view_pair;
typedef struct lap_view_pairs { /* pairs of views on one device, to be filtered in few launches */
    lap_view_pair *rows;        /* in pinned memory; must stay unchanged until the stream has done the work */
    void *there;                /* device memory for a copy of the rows; must stay as long */
    int count;
} lap_view_pairs;
/* Fills the apron of each `in` by the border, and filters it. */
typedef lap_code lap_filter_many_fn(
    const lap_view_pairs *pairs, lap_border border, const lap_params *params, const lap_exec *exec);
/* out(x, y) = in(y, x); elements of `channels` = 1, 3, 4 or 8 bytes; out is height x width. Strides may be
 * negative, for rows from the last to the first: this mirrors at no extra cost. */
typedef lap_code lap_transpose_fn(const lap_view *in, const lap_view *out, const lap_exec *exec);

typedef struct lap_array { /* n values, natural alignment */
    const void *base;
    size_t n;
    bool is_double;
    int place;
} lap_array;
/* Stores the sum of the values in `sum`, in the array's precision unless the row's description says
 * otherwise. */
typedef lap_code lap_reduce_fn(const lap_array *in, double *sum, const lap_exec *exec);

/* counts[c][v] += number of samples of channel c with value v; 1..4 channels; counts on the host. */
typedef lap_code lap_histogram_fn(const lap_view *in, uint64_t counts[4][256], const lap_exec *exec);

typedef struct lap_gemv { /* y = A x, row-major float32 */
    const float *a;
    size_t lda; /* floats from one row to the next, >= cols */
    size_t rows, cols;
    const float *x;
    float *y;
    int place;
} lap_gemv;
typedef lap_code lap_matvec_fn(const lap_gemv *g, const lap_exec *exec);

typedef enum lap_threading {
    LAP_THREADS_ONE,  /* always one thread */
    LAP_THREADS_OWN,  /* the rung starts up to exec->threads threads itself */
    LAP_THREADS_SPLIT /* one thread per call; rungs/run_rung.h spreads rows over threads */
} lap_threading;

typedef struct lap_rung {
    lap_op op;
    const char *name, *aliases, *family, *resolves, *what, *flags;
    int device;     /* 0: runs on host views; 1: on views of a CUDA device */
    bool integers;  /* filter: computes in integers where the kernel allows it */
    bool unchecked; /* matvec: has a form without bounds checks */
    lap_threading threading;
    lap_filter_many_fn *filter_many; /* filter on a device: several pictures in few launches; or NULL */
    const char *(*available)(void);  /* returns NULL if it can run here, else the reason; may be slow */
    union {
        lap_filter_fn *filter;
        lap_transpose_fn *transpose;
        lap_reduce_fn *reduce;
        lap_histogram_fn *histogram;
        lap_matvec_fn *matvec;
    } run; /* unset if the row resolves to another, or is not built */
} lap_rung;

#ifdef __cplusplus
}
#endif
#endif
