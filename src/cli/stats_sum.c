#include "cli/stats_sum.h"

enum { BINS = 256 };

static void add(uint64_t counts[4][BINS], const lap_stats *stats)
{
    for (int c = 0; c < stats->channels; c++)
        for (int v = 0; v < BINS; v++)
            counts[c][v] += stats->channel[c].histogram[v];
}

void lap_stats_sum_add(lap_stats_sum *sum, const lap_run_stats *stats)
{
    sum->photos++;
    add(sum->input, &stats->input);
    add(sum->edges, &stats->edges);
}

/* A copy, since counts are not const there. */
static bool result(const uint64_t from[4][BINS], int channels, int threshold, lap_stats *stats)
{
    uint64_t counts[4][BINS] = {{0}};
    for (int c = 0; c < channels; c++)
        for (int v = 0; v < BINS; v++)
            counts[c][v] = from[c][v];
    *stats = (lap_stats){.threshold = threshold};
    return lap_stats_of_counts(counts, channels, threshold, stats, NULL) == LAP_OK;
}

bool lap_stats_sum_result(const lap_stats_sum *sum, int channels, int threshold, lap_run_stats *stats)
{
    *stats = (lap_run_stats){0};
    if (sum->photos == 0 || !result(sum->input, channels, threshold, &stats->input))
        return false;
    if (!result(sum->edges, channels, threshold, &stats->edges))
        stats->edges.channels = 0;
    return true;
}

lap_channel_stats lap_stats_of_channels(const lap_stats *stats)
{
    uint64_t counts[4][BINS] = {{0}};
    lap_stats all = {0};
    for (int c = 0; c < stats->channels; c++)
        for (int v = 0; v < BINS; v++)
            counts[0][v] += stats->channel[c].histogram[v];
    (void)lap_stats_of_counts(counts, 1, stats->threshold, &all, NULL); /* zero where nothing is counted */
    return all.channel[0];
}
