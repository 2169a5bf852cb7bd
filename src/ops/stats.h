/* Counting pixels where they lie. */
#ifndef LAP_STATS_H
#define LAP_STATS_H

#include "rungs/run_views.h"

/* Counts of a view on a device, 1 to 4 channels, by a rung that runs there (NULL: the fastest), added to
 * counts; has waited for the stream. */
lap_code lap_count_on_device(const lap_view *view, const char *backend, lap_views_space *space, void *stream,
    uint64_t counts[4][256], lap_error *err);

#endif
