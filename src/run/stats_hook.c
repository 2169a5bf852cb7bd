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

lap_code lap_run_tallies_init(lap_run_tallies *t, lap_error *err)
{
    *t = (lap_run_tallies){.hooks = {.band = count_band, .again = count_again, .user = t}};
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
