/* Counts pixels on the device where they lie. */
#ifndef LAP_STATS_H
#define LAP_STATS_H

#include "rungs/run_views.h"

/* Counts the values of a view on a device, 1 to 4 channels, with a rung that runs there (NULL: the fastest).
 * Adds to counts. Waits for the stream. */
lap_code lap_count_on_device(const lap_view *view, const char *backend, lap_views_space *space, void *stream,
    uint64_t counts[4][256], lap_error *err);

#endif
