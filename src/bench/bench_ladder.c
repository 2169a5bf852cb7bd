#include "bench/bench_ladder.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "cuda/device/device.h"

const char *lap_bench_refusal(char message[160], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, 160, format, arguments);
    va_end(arguments);
    return message;
}

lap_resources lap_bench_resources(const lap_ladder *ladder)
{
    lap_resources use = {
        .exec = ladder->exec, .pool = ladder->pool, .device = ladder->bench->options->device};
    use.exec.scratch = NULL; /* only for the timed runs */
    return use;
}

static lap_bench_row row_of(const lap_ladder *ladder, const lap_rung *rung)
{
    lap_bench_row row = lap_bench_row_of(rung);
    row.width = ladder->width;
    row.height = ladder->height;
    row.channels = ladder->channels;
    row.type = ladder->type;
    row.flops_per_byte = ladder->flops_per_byte;
    return row;
}

void lap_bench_ladder_shape(lap_ladder *ladder, const lap_view *picture)
{
    ladder->width = picture->width;
    ladder->height = picture->height;
    ladder->channels = picture->channels;
    ladder->pixels = (double)picture->width * picture->height;
}

lap_code lap_bench_ladder_memcpy(lap_ladder *ladder, size_t bytes, lap_error *err)
{
    /* Far larger than every cache, so more memory would not change the result. */
    const size_t enough = (size_t)256 << 20;
    lap_bench_row row = row_of(ladder, &(lap_rung){.op = ladder->op});
    row.flops_per_byte = NAN;
    ladder->bench->c_ms = 0; /* not known yet for this ladder */
    lap_code code = lap_bench_memcpy(
        ladder->bench, &row, bytes < enough ? bytes : enough, bytes < enough ? ladder->pixels : NAN, err);
    const bool counts = isfinite(ladder->flops_per_byte) && ladder->flops_per_byte > 0;
    return code == LAP_OK && counts ? lap_bench_peak(ladder->bench, &row, err) : code;
}

/* ---- host -------------------------------------------------------------------------------------- */

/* Reports a row, and keeps it for other names of the same rung. Refusals are not kept. */
static void report(lap_ladder *ladder, const lap_bench_row *row)
{
    ladder->bench->each(ladder->bench->user, row);
    if (row->reason || ladder->done_count == LAP_BENCH_DONE)
        return;
    lap_bench_row *done = &ladder->done[ladder->done_count];
    double *times = calloc((size_t)row->runs, sizeof *times);
    if (!times)
        return; /* the rung is measured again under another name */
    memcpy(times, row->times_ms, (size_t)row->runs * sizeof *times);
    *done = *row;
    done->times_ms = times;
    ladder->done_count++;
}

/* Reports the current rung's rows again under another name; false if it was not measured yet. */
static bool report_again(lap_ladder *ladder, const char *name)
{
    bool found = false;
    for (int i = 0; i < ladder->done_count; i++) {
        lap_bench_row row = ladder->done[i];
        if (strcmp(row.resolved, ladder->rung->name) != 0)
            continue;
        row.backend = name;
        ladder->bench->each(ladder->bench->user, &row);
        found = true;
    }
    return found;
}

static lap_code run_on_host(void *argument, lap_times *stages, lap_error *err)
{
    (void)stages; /* only device rungs have stages, which events time */
    lap_ladder *ladder = argument;
    ladder->exec.err = err;
    return ladder->host(ladder, ladder->turn++, err);
}

static lap_code bench_host(lap_ladder *ladder, lap_bench_row row, int threads, lap_error *err)
{
    char message[160];
    lap_bench_run *bench = ladder->bench;
    ladder->exec = ladder->form;
    ladder->exec.threads = threads;
    ladder->exec.err = err;
    ladder->pool = threads > 1 ? bench->pool : NULL;
    ladder->is_on_device = false;
    row.threads = threads;
    row.reason = ladder->differs(ladder, &row, message);
    if (!row.reason) {
        ladder->turn = 0;
        const lap_bench_work work = {run_on_host, ladder, ladder->bytes, ladder->pixels, ladder->times[0]};
        lap_code code = lap_bench_time(bench, &work, &row, err);
        if (code != LAP_OK)
            return code;
        if (ladder->rung == lap_rung_reference(ladder->op) && threads == 1) {
            bench->c_ms = row.median_ms;
            row.speedup = 1;
        }
        if (ladder->finish_host)
            code = ladder->finish_host(ladder, &row, err);
        if (code != LAP_OK)
            return code;
    }
    report(ladder, &row);
    return LAP_OK;
}

/* ---- device ------------------------------------------------------------------------------------ */

static lap_code run_on_device(void *argument, int turn, void *stream, lap_error *err)
{
    lap_ladder *ladder = argument;
    ladder->exec.stream = stream;
    ladder->exec.err = err;
    return ladder->device(ladder, turn, stream, err);
}

static lap_code copy_on_device(void *argument, int turn, void *stream, lap_error *err)
{
    lap_ladder *ladder = argument;
    return ladder->device_copy(ladder, turn, stream, err);
}

static lap_code copy_by_kernel(void *argument, int turn, void *stream, lap_error *err)
{
    lap_ladder *ladder = argument;
    return ladder->device_copy_kernel(ladder, turn, stream, err);
}

static lap_code copy_by_tiles(void *argument, int turn, void *stream, lap_error *err)
{
    lap_ladder *ladder = argument;
    return ladder->device_copy_shared(ladder, turn, stream, err);
}

static void report_copy(lap_ladder *ladder, const char *name, const double *times)
{
    lap_bench_run *bench = ladder->bench;
    lap_bench_row row = row_of(ladder, &(lap_rung){.op = ladder->op});
    row.backend = row.resolved = name;
    row.flops_per_byte = NAN;
    row.times_ms = times;
    row.runs = bench->options->runs;
    lap_bench_fill_row(bench, bench->options->device, ladder->copy_bytes, ladder->pixels, &row);
    row.kernel_ms = row.median_ms;
    row.speedup = NAN;
    if (bench->ceiling_gb_per_s[1] == 0) {
        bench->ceiling_gb_per_s[1] = row.gb_per_s;
        row.roof_share = 1;
    }
    bench->each(bench->user, &row);
}

/* Times the rung; and the copies, if the device's ceiling is not known yet. */
static lap_code time_on_device(lap_ladder *ladder, lap_error *err)
{
    lap_bench_run *bench = ladder->bench;
    const int runs = bench->options->runs, device = bench->options->device;
    const lap_cuda_job jobs[LAP_LADDER_TIMES] = {{run_on_device, ladder, ladder->times[0]},
        {copy_on_device, ladder, ladder->times[1]}, {copy_by_kernel, ladder, ladder->times[2]},
        {copy_by_tiles, ladder, ladder->times[3]}};
    const bool wants_copy = ladder->device_copy && bench->ceiling_gb_per_s[1] == 0;
    const int count = !wants_copy ? 1 : !ladder->device_copy_kernel ? 2 : LAP_LADDER_TIMES;
    /* Jobs that run in turns all run under the same conditions. But if a job runs separately, each run finds
     * the cache full of bytes that the previous run wrote, and its time includes writing that many bytes back
     * to memory. If the copy ran in turns with the rung, its time would depend on the rung: during a slow
     * rung, the bytes that the copy left in the cache can be written back. */
    const int at_once = ladder->times_apart ? 1 : count;
    lap_code code = LAP_OK;
    for (int i = 0; code == LAP_OK && i < count; i += at_once)
        code = lap_cuda_time(device, &jobs[i], at_once, runs, err);
    if (code == LAP_OK && count > 1)
        report_copy(ladder, "copy", ladder->times[1]);
    if (code == LAP_OK && count > 2) {
        report_copy(ladder, "copy-kernel", ladder->times[2]);
        report_copy(ladder, "copy-shared", ladder->times[3]);
    }
    return code;
}

static lap_code bench_device(lap_ladder *ladder, lap_bench_row row, lap_error *err)
{
    char message[160];
    lap_bench_run *bench = ladder->bench;
    lap_code code = LAP_OK;
    ladder->exec = ladder->form;
    ladder->exec.threads = 1;
    ladder->exec.unchecked = row.form != NULL;
    ladder->exec.err = err;
    ladder->pool = NULL;
    ladder->is_on_device = true;
    row.reason = ladder->differs(ladder, &row, message);
    if (!row.reason) {
        if (!ladder->is_prepared)
            code = ladder->prepare_device(ladder, err);
        ladder->is_prepared = true;
        if (code == LAP_OK)
            code = time_on_device(ladder, err);
        if (code != LAP_OK)
            return code;
        row.times_ms = ladder->times[0];
        row.runs = bench->options->runs;
        lap_bench_fill_row(bench, bench->options->device, ladder->bytes, ladder->pixels, &row);
        row.kernel_ms = row.median_ms;
        if (ladder->finish_device)
            code = ladder->finish_device(ladder, &row, err);
        if (code != LAP_OK)
            return code;
    }
    report(ladder, &row);
    return LAP_OK;
}

/* ---- the loop ---------------------------------------------------------------------------------- */

static lap_code bench_rung(void *user, const lap_rung *listed, const lap_rung *rung, const char *reason,
    const lap_error *why, lap_error *err)
{
    lap_ladder *ladder = user;
    lap_bench_run *bench = ladder->bench;
    lap_bench_row row = row_of(ladder, listed);
    const bool is_named = bench->options->backends != NULL;
    lap_code code = LAP_OK;
    if (listed->resolves && !is_named && !ladder->lists_families)
        return LAP_OK;
    if (!rung && !reason)
        return lap_error_set(err, why);
    if (!rung) {
        row.reason = reason;
        bench->each(bench->user, &row);
        return LAP_OK;
    }
    ladder->rung = rung;
    row.resolved = ladder->rung->name;
    row.flags = ladder->rung->flags;
    if (report_again(ladder, listed->name))
        return LAP_OK;
    if (ladder->rung->device) {
        code = bench_device(ladder, row, err);
        row.form = "unchecked";
        if (code == LAP_OK && ladder->has_unchecked && ladder->rung->unchecked)
            code = bench_device(ladder, row, err);
        return code;
    }
    code = bench_host(ladder, row, 1, err);
    /* The reference always runs on one thread. */
    const bool spreads =
        ladder->rung->threading != LAP_THREADS_ONE && ladder->rung != lap_rung_reference(ladder->op);
    if (code == LAP_OK && spreads && bench->threads > 1)
        code = bench_host(ladder, row, bench->threads, err);
    return code;
}

lap_code lap_bench_ladder(lap_ladder *ladder, lap_error *err)
{
    lap_bench_run *bench = ladder->bench;
    const size_t runs = (size_t)bench->options->runs;
    double *times = calloc(LAP_LADDER_TIMES * runs, sizeof *times);
    if (!times)
        return lap_fail(err, LAP_E_MEMORY, "bench: no memory for %zu timings", LAP_LADDER_TIMES * runs);
    for (size_t i = 0; i < LAP_LADDER_TIMES; i++)
        ladder->times[i] = times + i * runs;
    const lap_code code =
        lap_rung_walk(ladder->op, bench->options->backends, &bench->control, bench_rung, ladder, err);
    while (ladder->done_count > 0)
        free((void *)ladder->done[--ladder->done_count].times_ms);
    free(times);
    return code;
}
