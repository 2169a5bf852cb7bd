#include "bench/bench_coders.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"

lap_code lap_coders_bench_begin(lap_coders_bench *b, lap_bench_run *bench, lap_op op, lap_error *err)
{
    lap_rung_info coder;
    *b = (lap_coders_bench){.bench = bench, .op = op};
    for (; b->count < LAP_CODER_ROWS && lap_coder_at(op, b->count, &coder); b->count++) {
        lap_coder_times *row = &b->rows[b->count];
        row->name = coder.name;
        snprintf(row->reason, sizeof row->reason, "%.190s", coder.reason ? coder.reason : "");
        row->times = calloc((size_t)bench->options->runs, sizeof *row->times);
        if (!row->times)
            return lap_fail(err, LAP_E_MEMORY, "bench: no memory for the times");
    }
    return LAP_OK;
}

void lap_coders_bench_report(const lap_coders_bench *b, const lap_bench_row *shape)
{
    const int runs = b->bench->options->runs;
    for (int i = 0; i < b->count; i++) {
        const lap_coder_times *coder = &b->rows[i];
        lap_bench_row row = lap_bench_row_of(&(lap_rung){.op = b->op, .name = coder->name});
        row.threads = 1;
        row.width = shape->width;
        row.height = shape->height;
        row.channels = shape->channels;
        row.resolved = !coder->reason[0] || coder->differs ? coder->name : NULL;
        if (coder->reason[0]) {
            row.reason = coder->reason;
        } else {
            row.times_ms = coder->times;
            row.runs = runs;
            lap_bench_fill_row(b->bench, LAP_ON_HOST, b->bytes, b->pixel_count, &row);
            row.roof_share = lap_summarize(b->rows[0].times, runs).median / row.median_ms;
        }
        b->bench->each(b->bench->user, &row);
    }
}

void lap_coders_bench_end(lap_coders_bench *b)
{
    for (int i = 0; i < LAP_CODER_ROWS; i++)
        free(b->rows[i].times);
}
