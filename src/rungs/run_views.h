/* Runs device rungs on pixels that are already on a device. Only lap_views_download transfers pixels to the
 * host. The caller owns memory and streams; an object belongs to one thread at a time. Errors: LAP_E_MEMORY,
 * LAP_E_DEVICE, and LAP_E_USAGE if a view's memory is not where its place says. */
#ifndef LAP_RUN_VIEWS_H
#define LAP_RUN_VIEWS_H

#include "base/rung.h"

/* Device memory for copies of views that rungs cannot use directly: without an apron, or not aligned. Kept
 * from call to call, for one stream. All zero: empty. */
typedef struct lap_views_space {
    lap_view source, result;
} lap_views_space;

/* No enqueued work may still use it. */
void lap_views_space_free(lap_views_space *space);
/* Sets *view to a view in space, as large as like and on its device. If memory must grow, waits for the
 * stream. */
lap_code lap_views_result(
    lap_views_space *space, const lap_view *like, void *stream, lap_view *view, lap_error *err);

/* Whether base and stride are multiples of 128 bytes, as rungs require (cuda/device/device.h). */
bool lap_view_is_aligned(const lap_view *view);
/* LAP_E_USAGE unless the view's memory is on the device that its place names. The message begins with
 * `which`. */
lap_code lap_views_check(const lap_view *view, const char *which, lap_error *err);

typedef struct lap_views_filter {
    const lap_rung *rung;
    const lap_params *params;
    lap_border border; /* how the apron is filled */
} lap_views_filter;
/* This function and the next only enqueue: keep the views until the stream has done the work. Fills the apron
 * of in and filters; both views must be aligned. */
lap_code lap_views_fill_and_filter(
    const lap_views_filter *filter, const lap_view *in, const lap_view *out, const lap_exec *exec);
/* The same for several pairs; `rows` are as in lap_view_pairs, and have room for all pairs. */
lap_code lap_views_fill_and_filter_many(
    const lap_views_filter *filter, const lap_view_pairs *pairs, const lap_exec *exec);
/* The same for a view of any alignment, through copies in space. If in has an apron, it is used as given. */
lap_code lap_views_run_filter(const lap_views_filter *filter, lap_views_space *space, const lap_view *in,
    const lap_view *out, void *stream, lap_error *err);
/* Adds to counts. Waits for the stream. */
lap_code lap_views_histogram(const lap_rung *rung, lap_views_space *space, const lap_view *view,
    uint64_t counts[4][256], void *stream, lap_error *err);
/* Copies the interior from a device to the host. Waits for the stream. */
lap_code lap_views_download(const lap_view *view, const lap_view *host, void *stream, lap_error *err);
lap_code lap_views_wait(int device, void *stream, lap_error *err);

#endif
