/* Times the codec on a device: one photo alone and several at once, with the limits of the bus and of the
 * device's memory. Compares each result with the CPU's before and after timing it. */
#include <math.h>
#include <stdlib.h>

#include "base/status.h"
#include "bench/bench_codec.h"
#include "cuda/device/device.h"
#include "device/devices.h"

enum { MAX_STREAMS = 16, MAX_TURNS = 64, COPIES = 20 };

/* Long compared with the time that the streams need to fill and drain. */
static const double run_ms = 50;

typedef struct device_row {
    const char *name;
    lap_rate rate, roof; /* roof: the copy that limits this work if nothing but the bus does */
    int streams;
} device_row;

/* Each kind of work runs on one stream first; its time determines how many photos a run needs. */
static const device_row rows[LAP_CODEC_DEVICE_ROWS] = {
    {"copy-up", LAP_RATE_UP, LAP_RATE_UP, 1},
    {"copy-down", LAP_RATE_DOWN, LAP_RATE_DOWN, 1},
    {"copy-both", LAP_RATE_BOTH, LAP_RATE_BOTH, 1},
    {"copy-device", LAP_RATE_COPY, LAP_RATE_COPY, 1},
    {"decode-cuda", LAP_RATE_DECODE, LAP_RATE_UP, 1},
    {"decode-cuda", LAP_RATE_DECODE, LAP_RATE_UP, 4},
    {"decode-cuda", LAP_RATE_DECODE, LAP_RATE_UP, 8},
    {"decode-cuda", LAP_RATE_DECODE, LAP_RATE_UP, MAX_STREAMS},
    {"encode-cuda", LAP_RATE_ENCODE, LAP_RATE_DOWN, 1},
    {"encode-cuda", LAP_RATE_ENCODE, LAP_RATE_DOWN, 4},
    {"encode-cuda", LAP_RATE_ENCODE, LAP_RATE_DOWN, 8},
    {"encode-cuda", LAP_RATE_ENCODE, LAP_RATE_DOWN, MAX_STREAMS},
    {"chain-cuda", LAP_RATE_CHAIN, LAP_RATE_BOTH, 1},
    {"chain-cuda", LAP_RATE_CHAIN, LAP_RATE_BOTH, 4},
    {"chain-cuda", LAP_RATE_CHAIN, LAP_RATE_BOTH, 8},
    {"chain-cuda", LAP_RATE_CHAIN, LAP_RATE_BOTH, MAX_STREAMS},
};

static bool is_alone(int i)
{
    return rows[i].streams == 1;
}

static void refuse(lap_codec_device *d, int row, const char *why)
{
    if (!d->reason[row][0])
        snprintf(d->reason[row], sizeof d->reason[row], "%.190s", why);
}

lap_code lap_codec_device_begin(lap_codec_device *d, lap_bench_run *bench, lap_error *err)
{
    *d = (lap_codec_device){.bench = bench, .is_on = !lap_cuda_unavailable()};
    if (!d->is_on)
        return LAP_OK;
    const char *why = lap_device_codec_unavailable(LAP_DEVICE_CODES);
    lap_code code = lap_rung_find(LAP_OP_FILTER, "cuda-fast", &d->rung, err);
    for (int i = 0; i < LAP_CODEC_DEVICE_ROWS && code == LAP_OK; i++) {
        d->times[i] = calloc((size_t)bench->options->runs, sizeof **d->times);
        if (!d->times[i])
            code = lap_fail(err, LAP_E_MEMORY, "bench: no memory for the timings");
        if (why)
            refuse(d, i, why);
    }
    return code;
}

static lap_code check(lap_codec_device *d, lap_bench_rates *rates, int i, lap_error *err)
{
    bool same = false;
    const lap_code code = lap_bench_rates_compare(rates, rows[i].rate, rows[i].streams, &same, err);
    if (code == LAP_OK && !same) {
        d->differs[i] = true;
        refuse(d, i, "differs from the CPU's result");
    }
    return code;
}

static lap_code time_row(lap_codec_device *d, lap_bench_rates *rates, int i, double *alone_ms, lap_error *err)
{
    const int streams = rows[i].streams, runs = d->bench->options->runs;
    const lap_rate rate = rows[i].rate;
    double ms = 0;
    lap_code code = lap_bench_rates_spoil(rates, rate, streams, err);
    if (code == LAP_OK)
        code = lap_bench_rates_time(rates, rate, streams, streams, &ms, err);
    if (code == LAP_OK)
        code = check(d, rates, i, err);
    if (code == LAP_OK && !d->differs[i]) /* the device is warm now */
        code = lap_bench_rates_time(rates, rate, streams, streams, &ms, err);
    if (is_alone(i))
        *alone_ms = ms;
    const int turns = rate <= LAP_RATE_COPY ? COPIES : (int)fmin(MAX_TURNS, fmax(2, run_ms / *alone_ms));
    for (int run = 0; run < runs && code == LAP_OK && !d->differs[i]; run++) {
        code = lap_bench_rates_time(rates, rate, streams, streams * turns, &ms, err);
        d->times[i][run] += ms;
    }
    if (code == LAP_OK && !d->differs[i])
        code = check(d, rates, i, err);
    d->bytes[i] += lap_bench_rates_bytes(rates, rate);
    return code;
}

void lap_codec_device_photo(lap_codec_device *d, const lap_rate_photo *photo)
{
    lap_bench_rates *rates = NULL;
    lap_rate_photo with_rung = *photo;
    lap_error err = {0};
    double alone_ms = 1;
    if (!d->is_on || d->reason[0][0])
        return;
    with_rung.rung = d->rung;
    d->width = photo->pixels->width;
    d->height = photo->pixels->height;
    d->channels = photo->pixels->channels;
    d->pixel_count += (double)d->width * d->height;
    d->photos++;
    lap_code code = lap_bench_rates_create(d->bench->options->device, &with_rung, MAX_STREAMS, &rates, &err);
    for (int i = 0; i < LAP_CODEC_DEVICE_ROWS && code == LAP_OK; i++)
        code = time_row(d, rates, i, &alone_ms, &err);
    lap_bench_rates_destroy(rates);
    for (int i = 0; i < LAP_CODEC_DEVICE_ROWS && code != LAP_OK; i++)
        refuse(d, i, err.message);
}

static int roof_of(int i)
{
    int roof = 0;
    while (rows[roof].rate != rows[i].roof)
        roof++;
    return roof;
}

static void report_row(lap_codec_device *d, int i, double medians[LAP_CODEC_DEVICE_ROWS])
{
    lap_bench_row row = lap_bench_row_of(&(lap_rung){.op = LAP_OP_CODEC, .name = rows[i].name});
    row.threads = rows[i].streams;
    row.width = d->photos == 1 ? d->width : (int)(d->pixel_count / (d->photos ? d->photos : 1));
    row.height = d->photos == 1 ? d->height : d->photos;
    row.channels = d->channels;
    if (d->reason[i][0]) {
        row.reason = d->reason[i];
        row.resolved = d->differs[i] ? row.backend : NULL;
    } else {
        row.resolved = row.backend;
        row.times_ms = d->times[i];
        row.runs = d->bench->options->runs;
        lap_bench_fill_row(d->bench, LAP_ON_HOST, d->bytes[i], d->pixel_count, &row);
        medians[i] = row.end_to_end_ms = row.median_ms;
        if (rows[i].rate != LAP_RATE_COPY) /* a copy within the device does not use the bus */
            row.roof_share = medians[roof_of(i)] / row.median_ms;
    }
    d->bench->each(d->bench->user, &row);
}

void lap_codec_device_end(lap_codec_device *d, bool is_reported)
{
    double medians[LAP_CODEC_DEVICE_ROWS] = {0};
    for (int i = 0; i < LAP_CODEC_DEVICE_ROWS && d->is_on && is_reported; i++)
        report_row(d, i, medians);
    for (int i = 0; i < LAP_CODEC_DEVICE_ROWS; i++)
        free(d->times[i]);
}
