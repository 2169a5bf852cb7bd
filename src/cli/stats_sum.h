/* Statistics of many images together: grey ones, and those with colours. */
#ifndef LAP_CLI_STATS_SUM_H
#define LAP_CLI_STATS_SUM_H

#include "lapedge.h"

typedef struct lap_stats_sum {
    uint64_t photos;
    uint64_t input[4][256], edges[4][256]; /* how often each value occurs in each channel */
} lap_stats_sum;

void lap_stats_sum_add(lap_stats_sum *sum, const lap_run_stats *stats);
/* False, and *stats zero, where there is nothing in it; of edges without a pixel channels is 0. */
bool lap_stats_sum_result(const lap_stats_sum *sum, int channels, int threshold, lap_run_stats *stats);
/* Of all channels of a picture together. */
lap_channel_stats lap_stats_of_channels(const lap_stats *stats);

#endif
