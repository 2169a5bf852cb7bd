/* Device rungs on pixels that lie on a device already: nothing goes over the bus. Memory and streams are the
 * caller's; an object belongs to one thread at a time. Errors: LAP_E_MEMORY, LAP_E_DEVICE, and LAP_E_USAGE
 * where a view does not lie where it says. */
#ifndef LAP_RUN_VIEWS_H
#define LAP_RUN_VIEWS_H

#include "base/rung.h"

/* Device memory for copies of what rungs cannot work on in place: views without an apron, or not aligned.
 * Kept from call to call, for one stream. Zeroed: none yet. */
typedef struct lap_views_space {
    lap_view source, result;
} lap_views_space;

/* Nothing may be under way in it. */
void lap_views_space_free(lap_views_space *space);
/* *view: of the size of like, in space, on like's device. Waits for the stream where memory has to grow. */
lap_code lap_views_result(
    lap_views_space *space, const lap_view *like, void *stream, lap_view *view, lap_error *err);

/* Base and stride are multiples of 128 bytes, as rungs want it (cuda/device/device.h). */
bool lap_view_is_aligned(const lap_view *view);
/* LAP_E_USAGE, with the word `which` in front, unless the view's memory is that of the device in its place.
 */
lap_code lap_views_check(const lap_view *view, const char *which, lap_error *err);

typedef struct lap_views_filter {
    const lap_rung *rung;
    const lap_params *params;
    lap_border border; /* how the apron is filled */
} lap_views_filter;
/* Enqueued, as is the next: the views are in use until the stream has come past this. Fills the apron of in
 * and filters; both views lie as rungs want them. */
lap_code lap_views_fill_and_filter(
    const lap_views_filter *filter, const lap_view *in, const lap_view *out, const lap_exec *exec);
/* The same for views that lie anywhere; an apron that in has stays as it is. */
lap_code lap_views_run_filter(const lap_views_filter *filter, lap_views_space *space, const lap_view *in,
    const lap_view *out, void *stream, lap_error *err);
/* Adds to counts, and has waited. */
lap_code lap_views_histogram(const lap_rung *rung, lap_views_space *space, const lap_view *view,
    uint64_t counts[4][256], void *stream, lap_error *err);
/* Interiors, from a device to the host, and has waited. */
lap_code lap_views_download(const lap_view *view, const lap_view *host, void *stream, lap_error *err);
lap_code lap_views_wait(int device, void *stream, lap_error *err);

#endif
