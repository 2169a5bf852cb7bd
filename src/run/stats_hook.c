#include "run/stats_hook.h"

static lap_code count_band(void *user, const lap_view *source, const lap_view *result)
{
    lap_run_tallies *t = user;
    lap_code code = lap_tally_add(&t->input, source);
    return code == LAP_OK ? lap_tally_add(&t->edges, result) : code;
}

static void count_again(void *user)
{
    lap_run_tallies *t = user;
    lap_tally_clear(&t->input);
    lap_tally_clear(&t->edges);
}

static void take_counts(void *user, uint64_t source[4][256], uint64_t result[4][256], int channels)
{
    lap_run_tallies *t = user;
    lap_tally_add_counts(&t->input, source, channels);
    lap_tally_add_counts(&t->edges, result, channels);
}

lap_code lap_run_tallies_init(lap_run_tallies *t, lap_error *err)
{
    *t = (lap_run_tallies){
        .hooks = {.band = count_band, .again = count_again, .counts = take_counts, .user = t}};
    lap_code code = lap_tally_init(&t->input, "auto", err);
    return code == LAP_OK ? lap_tally_init(&t->edges, "auto", err) : code;
}

lap_code lap_run_tallies_result(lap_run_tallies *t, int threshold, lap_run_stats *stats, lap_error *err)
{
    lap_code code = lap_tally_stats(&t->input, threshold, &stats->input, err);
    return code == LAP_OK ? lap_tally_stats(&t->edges, threshold, &stats->edges, err) : code;
}

void lap_run_tallies_destroy(lap_run_tallies *t)
{
    lap_tally_destroy(&t->input);
    lap_tally_destroy(&t->edges);
}
