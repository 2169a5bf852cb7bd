/* Counting pixels where they lie, and as they pass: the tally that the pipeline's hook adds bands to. */
#ifndef LAP_STATS_H
#define LAP_STATS_H

#include <pthread.h>

#include "rungs/backend.h"
#include "rungs/run_views.h"

/* Counts of a view on a device, 1 to 4 channels, by a rung that runs there (NULL: the fastest), added to
 * counts; has waited for the stream. */
lap_code lap_count_on_device(const lap_view *view, const char *backend, lap_views_space *space, void *stream,
    uint64_t counts[4][256], lap_error *err);

typedef struct lap_tally {
    const lap_rung *rung; /* of the histogram ladder, on the host */
    pthread_mutex_t lock; /* of what follows */
    uint64_t counts[4][256];
    int channels; /* 0: nothing was added yet */
} lap_tally;

/* backend: a host rung of the histogram ladder, or "auto". */
lap_code lap_tally_init(lap_tally *tally, const char *backend, lap_error *err);
void lap_tally_destroy(lap_tally *tally);
/* Adds the interior of a host view; from any thread, several at once. All views of a tally have the
 * same number of channels. */
lap_code lap_tally_add(lap_tally *tally, const lap_view *view);
/* Adds what was counted elsewhere. */
void lap_tally_add_counts(lap_tally *tally, uint64_t counts[4][256], int channels);
/* Nothing was added yet. Not while others add. */
void lap_tally_clear(lap_tally *tally);
/* The statistics of all that was added. */
lap_code lap_tally_stats(lap_tally *tally, int threshold, lap_stats *stats, lap_error *err);

#endif
