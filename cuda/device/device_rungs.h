/* The device rungs of all ladders; base/rung.h documents their contracts at the function types; each kernel
 * has a file.
 *
 * Device memory: rows of transposed views begin on 128-byte boundaries (device.h); arrays and matrices need
 * only the alignment of their type. Reductions never write to their input.
 *
 * With exec->scratch, reductions and histograms leave their result at its beginning and return without
 * waiting: a sum in the array's own type (cuda-fast: a double), counts added to uint64_t[4][256]. Scratch is
 * device memory of lap_cuda_scratch_bytes, 256-byte aligned, its first LAP_SCRATCH_HEAD bytes zeroed before
 * the first use; one use at a time. Without scratch they allocate, wait and return the result. */
#ifndef LAP_DEVICE_RUNGS_H
#define LAP_DEVICE_RUNGS_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LAP_SCRATCH_HEAD = 16 * 1024 };
/* Returns the bytes of scratch that suffice for every rung: for a reduction of n values of `size` bytes, or
 * with n = 0 for a histogram. */
size_t lap_cuda_scratch_bytes(size_t n, size_t size);

extern lap_filter_fn lap_filter_cuda_global, lap_filter_cuda_shared2, lap_filter_cuda_shared3,
    lap_filter_cuda_shared4_conflict, lap_filter_cuda_shared4_pad, lap_filter_cuda_shared4_wide,
    lap_filter_cuda_global_int, lap_filter_cuda_pixels, lap_filter_cuda_words, lap_filter_cuda_box_sum,
    lap_filter_cuda_slide, lap_filter_cuda_pairs, lap_filter_cuda_shuffle, lap_filter_cuda_fast;

extern lap_filter_many_fn lap_filter_cuda_fast_many;

extern lap_transpose_fn lap_transpose_cuda_naive, lap_transpose_cuda_naive_write, lap_transpose_cuda_shared,
    lap_transpose_cuda_padded16, lap_transpose_cuda_shared32, lap_transpose_cuda_padded,
    lap_transpose_cuda_padded_rows, lap_transpose_cuda_fast;
/* Ceilings: the same launches as cuda-naive and cuda-shared, but each element is copied to the same position.
 */
lap_code lap_cuda_copy_kernel(const lap_view *in, const lap_view *out, const lap_exec *exec);
lap_code lap_cuda_copy_shared(const lap_view *in, const lap_view *out, const lap_exec *exec);

extern lap_reduce_fn lap_reduce_cuda_global, lap_reduce_cuda_divergent, lap_reduce_cuda_interleaved,
    lap_reduce_cuda_shared, lap_reduce_cuda_dynamic, lap_reduce_cuda_first_add, lap_reduce_cuda_shuffle,
    lap_reduce_cuda_grid, lap_reduce_cuda_wide, lap_reduce_cuda_unrolled, lap_reduce_cuda_fast;
extern lap_histogram_fn lap_histogram_cuda_shared, lap_histogram_cuda_fast;
extern lap_matvec_fn lap_matvec_cuda_simple, lap_matvec_cuda_strided, lap_matvec_cuda_tile_x,
    lap_matvec_cuda_tile_ax, lap_matvec_cuda_tile_pad, lap_matvec_cuda_unrolled, lap_matvec_cuda_fast;

#ifdef __cplusplus
}
#endif
#endif
