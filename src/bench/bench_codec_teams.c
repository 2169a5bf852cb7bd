#include "base/status.h"
#include "bench/bench_codec.h"
#include "run/formats.h"
#include "run/pixels.h"

lap_code lap_bench_teams_create(lap_bench_teams *teams, int threads, lap_error *err)
{
    *teams = (lap_bench_teams){0};
    for (int i = 0; i < LAP_BENCH_TEAMS && 1 << i <= threads; i++) {
        teams->pools[i] = lap_pool_create(1 << i, err);
        if (!teams->pools[i])
            return LAP_E_MEMORY;
        teams->count = i + 1;
    }
    return LAP_OK;
}

void lap_bench_teams_destroy(lap_bench_teams *teams)
{
    for (int i = 0; i < teams->count; i++)
        lap_pool_destroy(teams->pools[i]);
    *teams = (lap_bench_teams){0};
}

lap_code lap_bench_teams_decode(
    lap_bench_teams *teams, const void *bytes, size_t size, const lap_view *pixels, lap_error *err)
{
    lap_code code = LAP_OK;
    teams->scan_ms = 0;
    for (int i = 0; i < LAP_BENCH_TEAMS; i++)
        teams->ms[i] = 0;
    for (int i = 0; i < teams->count && code == LAP_OK; i++) {
        const lap_read_options options = {.max_scans = 100,
            .fail_on = LAP_FAIL_TRUNCATED,
            .decode = LAP_DECODE_PARALLEL,
            .pool = teams->pools[i],
            .threads = 1 << i};
        lap_source *source = NULL;
        lap_decoder *decoder = NULL;
        lap_damage damage;
        const double start = lap_now_ms();
        code = lap_source_memory(bytes, size, "photo", &source, err);
        if (code == LAP_OK)
            code = lap_decoder_open(source, &options, &decoder, err); /* scans the file */
        if (code == LAP_OK && i == 0 && lap_decoder_opens_at(decoder) && decoder->scans == 0)
            teams->scan_ms = lap_now_ms() - start;
        const lap_collect collect = {.decoder = decoder, .turn = LAP_TURN_NONE, .to = pixels};
        if (code == LAP_OK)
            code = lap_collect_image(&collect, &damage, err);
        teams->ms[i] = lap_now_ms() - start;
        lap_decoder_close(decoder);
        lap_source_close(source);
    }
    return code;
}
