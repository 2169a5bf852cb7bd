#include "bench/bench_rates.h"

#include <stdlib.h>
#include <string.h>

#include "base/image.h"
#include "base/status.h"
#include "coding/jpeg_frame_read.h"
#include "cuda/device/device.h"
#include "device/device_slot.h"

enum { EOI_BYTES = 2 };

typedef struct lane { /* a slot with all memory that its photos need */
    lap_device_slot *slot;
    lap_device_staging *staging;
    lap_view source, result; /* `result` is overwritten before a run and compared after it */
    void *memory;            /* on the device, for copies over the bus */
} lane;

struct lap_bench_rates {
    int device, lane_count;
    lap_rate_photo photo;
    lane *lanes;
    void *stream, *down_stream; /* for copies; the second for downloads during uploads */
    lap_jpeg_head head;         /* head of the CPU's file */
    size_t scan_begin;          /* offset of the scan in the photo's file */
    const uint8_t *expected;    /* the scan of photo.out */
    size_t expected_size;
};

/* ---- plans ----------------------------------------------------------------------------------------- */

/* T.81, figure A.6: reorders coefficients from zigzag order to row by row. */
static void unzigzag(const uint16_t from[64], uint16_t to[64])
{
    for (int i = 0, x = 0, y = 0; i < 64; i++) {
        to[8 * y + x] = from[i];
        const bool up = (x + y) % 2 == 0;
        int *along = up ? &x : &y, *back = up ? &y : &x;
        if (*along == 7)
            (*back)++;
        else {
            (*along)++;
            *back -= *back > 0;
        }
    }
}

/* Reads the encoder's settings and the expected scan from the CPU's file. */
static bool read_expected(lap_bench_rates *r, lap_jpeg_frame *f)
{
    const lap_rate_photo *photo = &r->photo;
    if (!lap_jpeg_frame_read(photo->out, photo->out_size, f) || f->scan_begin + EOI_BYTES > photo->out_size ||
        f->width != photo->edges->width || f->height != photo->edges->height)
        return false;
    r->head.components = f->components;
    r->head.interval = f->restart_interval;
    for (int c = 0; c < f->components; c++) {
        r->head.h[c] = f->components > 1 ? f->sample_h[c] : 1;
        r->head.v[c] = f->components > 1 ? f->sample_v[c] : 1;
    }
    unzigzag(f->quant[0], r->head.quant[0]);
    unzigzag(f->quant[f->components > 1 ? 1 : 0], r->head.quant[1]);
    r->expected = (const uint8_t *)photo->out + f->scan_begin;
    r->expected_size = photo->out_size - f->scan_begin - EOI_BYTES;
    return lap_jpeg_frame_read(photo->file, photo->size, f) && (r->scan_begin = f->scan_begin) < photo->size;
}

static lap_device_wish wish_of(const lap_bench_rates *r, const lane *l, lap_rate rate)
{
    return (lap_device_wish){.source = rate == LAP_RATE_ENCODE ? NULL : &l->source,
        .result = rate == LAP_RATE_DECODE ? NULL : &l->result,
        .width = r->photo.pixels->width,
        .height = r->photo.pixels->height,
        .channels = r->photo.pixels->channels,
        .filters = rate == LAP_RATE_CHAIN,
        .head = rate == LAP_RATE_DECODE ? NULL : &r->head,
        .capacity = r->expected_size + r->expected_size / 8};
}

/* Plans the photo. Called again for each photo, although all are the same, because a real run plans each one.
 */
static lap_code plan(lap_bench_rates *r, lane *l, lap_rate rate, lap_error *err)
{
    const lap_device_wish wish = wish_of(r, l, rate);
    bool handled = false;
    lap_code code = lap_device_staging_plan(l->staging, &wish, &handled, err);
    if (code == LAP_OK && (!handled || l->staging->is_encoded != (rate != LAP_RATE_DECODE)))
        code = lap_fail(err, LAP_E_UNSUPPORTED, "the device cannot decode or encode this photo");
    return code;
}

/* ---- memory ---------------------------------------------------------------------------------------- */

static lap_code open_lane(lap_bench_rates *r, lane *l, lap_error *err)
{
    const int device = r->device;
    const lap_view *p = r->photo.pixels;
    const size_t bytes = r->photo.size > r->expected_size ? r->photo.size : r->expected_size;
    lap_code code = lap_device_slot_create(device, &l->slot, err);
    if (code == LAP_OK)
        lap_device_slot_without_times(l->slot);
    if (code == LAP_OK)
        code = lap_device_staging_create(device, LAP_HOST_PINNED, 0, &l->staging, err);
    if (code == LAP_OK)
        code = lap_device_staging_file(l->staging, r->photo.size, err);
    if (code == LAP_OK) {
        memcpy(l->staging->file.bytes, r->photo.file, r->photo.size);
        l->staging->file_bytes = r->photo.size;
        code = lap_cuda_alloc(device, bytes, &l->memory, err);
    }
    if (code == LAP_OK)
        code = lap_cuda_view_create(device, p->width, p->height, p->channels, LAP_APRON, &l->source, err);
    if (code == LAP_OK)
        code = lap_cuda_view_create(device, p->width, p->height, p->channels, 0, &l->result, err);
    if (code == LAP_OK)
        code = plan(r, l, LAP_RATE_CHAIN, err); /* needs the most memory */
    if (code == LAP_OK)
        code = lap_device_slot_resize(l->slot, lap_device_slot_needs(l->staging), err);
    return code == LAP_OK ? lap_device_slot_wait(l->slot, err) : code;
}

static void close_lane(int device, lane *l)
{
    lap_cuda_view_destroy(&l->result);
    lap_cuda_view_destroy(&l->source);
    lap_cuda_free(device, l->memory);
    lap_device_staging_destroy(l->staging);
    lap_device_slot_destroy(l->slot);
}

static lap_code set_up(lap_bench_rates *r, int slots, lap_error *err)
{
    lap_jpeg_frame *frame = malloc(sizeof *frame);
    r->lanes = calloc((size_t)slots, sizeof *r->lanes);
    lap_code code = !frame || !r->lanes ? lap_fail(err, LAP_E_MEMORY, "out of memory")
                    : read_expected(r, frame)
                        ? LAP_OK
                        : lap_fail(err, LAP_E_UNSUPPORTED, "the device cannot decode or encode this photo");
    free(frame);
    if (code == LAP_OK)
        code = lap_cuda_stream_create(r->device, &r->stream, err);
    if (code == LAP_OK)
        code = lap_cuda_stream_create(r->device, &r->down_stream, err);
    for (; r->lane_count < slots && code == LAP_OK; r->lane_count++)
        code = open_lane(r, &r->lanes[r->lane_count], err);
    return code;
}

lap_code lap_bench_rates_create(
    int device, const lap_rate_photo *photo, int slots, lap_bench_rates **rates, lap_error *err)
{
    lap_bench_rates *r = calloc(1, sizeof *r);
    *rates = NULL;
    if (!r)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    r->device = device;
    r->photo = *photo;
    const lap_code code = set_up(r, slots, err);
    if (code == LAP_OK)
        *rates = r;
    else
        lap_bench_rates_destroy(r);
    return code;
}

void lap_bench_rates_destroy(lap_bench_rates *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->lane_count; i++)
        close_lane(r->device, &r->lanes[i]);
    lap_cuda_stream_destroy(r->device, r->down_stream);
    lap_cuda_stream_destroy(r->device, r->stream);
    free(r->lanes);
    free(r);
}

/* ---- work ------------------------------------------------------------------------------------------ */

static size_t pixel_bytes(const lap_bench_rates *r)
{
    const lap_view *p = r->photo.pixels;
    return (size_t)p->width * (size_t)p->height * (size_t)p->channels; /* cannot overflow: it is in memory */
}

/* Enqueues the copies of the work: scans in the lane's pinned memory, pixels on the device. */
static lap_code copy(lap_bench_rates *r, lane *l, lap_rate rate, lap_error *err)
{
    lap_code code = LAP_OK;
    if (rate == LAP_RATE_COPY)
        return lap_cuda_copy(r->device, l->source.base, l->result.base, pixel_bytes(r), r->stream, err);
    if (rate != LAP_RATE_DOWN)
        code = lap_cuda_copy(r->device, l->memory, l->staging->file.bytes + r->scan_begin,
            r->photo.size - r->scan_begin, r->stream, err);
    if (rate != LAP_RATE_UP && code == LAP_OK)
        code = lap_cuda_copy(
            r->device, l->staging->scan.bytes, l->memory, r->expected_size, r->down_stream, err);
    return code;
}

static lap_code enqueue(lap_bench_rates *r, lane *l, lap_rate rate, lap_error *err)
{
    const lap_views_filter filter = {r->photo.rung, &r->photo.params, r->photo.border};
    if (rate <= LAP_RATE_COPY)
        return copy(r, l, rate, err);
    const lap_device_staging *const staging = l->staging;
    const lap_code code = plan(r, l, rate, err);
    return code == LAP_OK ? lap_device_slot_start(l->slot, &staging, 1, &filter, err) : code;
}

/* Waits even after a failure, because the device may still use memory that is freed next. */
static lap_code wait_for_all(lap_bench_rates *r, int slots, lap_code code, lap_error *err)
{
    void *const streams[] = {r->stream, r->down_stream};
    for (int i = 0; i < slots + 2; i++) {
        lap_error *why = code == LAP_OK ? err : NULL;
        const lap_code waited = i < slots ? lap_device_slot_wait(r->lanes[i].slot, why)
                                          : lap_cuda_sync(r->device, streams[i - slots], why);
        code = code == LAP_OK ? waited : code;
    }
    return code;
}

lap_code lap_bench_rates_time(
    lap_bench_rates *r, lap_rate rate, int slots, int photos, double *ms, lap_error *err)
{
    lap_code code = LAP_OK;
    const double start = lap_now_ms();
    for (int i = 0; i < photos && code == LAP_OK; i++) {
        lane *l = &r->lanes[i % slots];
        if (i >= slots) /* wait for the slot's previous photo; copies need not wait */
            code = rate > LAP_RATE_COPY ? lap_device_slot_wait(l->slot, err) : LAP_OK;
        if (code == LAP_OK)
            code = enqueue(r, l, rate, err);
    }
    code = wait_for_all(r, slots, code, err);
    *ms = (lap_now_ms() - start) / photos;
    return code;
}

size_t lap_bench_rates_bytes(const lap_bench_rates *r, lap_rate rate)
{
    const size_t in = r->photo.size - r->scan_begin, pixels = pixel_bytes(r), out = r->expected_size;
    const size_t bytes[LAP_RATE_COUNT] = {in, out, in + out, 2 * pixels, in + pixels, pixels + out, in + out};
    return bytes[rate];
}

/* ---- checking results ------------------------------------------------------------------------------ */

lap_code lap_bench_rates_spoil(lap_bench_rates *r, lap_rate rate, int slots, lap_error *err)
{
    lap_code code = LAP_OK;
    for (int i = 0; i < slots && code == LAP_OK; i++) {
        lane *l = &r->lanes[i];
        memset(l->staging->verdicts.bytes, 0xFF, l->staging->verdicts.room);
        memset(l->staging->scan.bytes, 0, l->staging->scan.room);
        if (rate == LAP_RATE_DECODE || rate == LAP_RATE_CHAIN)
            code = lap_cuda_upload(r->photo.edges, &l->source, r->stream, err);
        if (rate == LAP_RATE_CHAIN && code == LAP_OK)
            code = lap_cuda_upload(r->photo.pixels, &l->result, r->stream, err);
        if (rate == LAP_RATE_ENCODE && code == LAP_OK) /* the input of the encoder */
            code = lap_cuda_upload(r->photo.edges, &l->result, r->stream, err);
    }
    return wait_for_all(r, 0, code, err);
}

static lap_code same_pixels(lap_bench_rates *r, lane *l, const lap_view *scratch, bool *same, lap_error *err)
{
    const lap_view *p = r->photo.pixels;
    const size_t row = (size_t)p->width * (size_t)p->channels;
    lap_code code = lap_cuda_download(&l->source, scratch, r->stream, err);
    if (code == LAP_OK)
        code = lap_cuda_sync(r->device, r->stream, err);
    for (int y = 0; y < p->height && code == LAP_OK && *same; y++)
        *same = memcmp(p->base + y * p->stride, scratch->base + y * scratch->stride, row) == 0;
    return code;
}

static bool same_scan(const lap_bench_rates *r, const lane *l)
{
    return lap_device_staging_has_scan(l->staging) && l->staging->encoded->bytes == r->expected_size &&
           memcmp(l->staging->scan.bytes, r->expected, r->expected_size) == 0;
}

lap_code lap_bench_rates_compare(lap_bench_rates *r, lap_rate rate, int slots, bool *same, lap_error *err)
{
    const lap_view *p = r->photo.pixels;
    lap_image scratch = {0};
    *same = true;
    if (rate <= LAP_RATE_COPY)
        return LAP_OK;
    lap_code code = lap_image_create(&scratch, p->width, p->height, p->channels, 0, err);
    for (int i = 0; i < slots && code == LAP_OK && *same; i++) {
        lane *l = &r->lanes[i];
        if (rate != LAP_RATE_ENCODE)
            *same = lap_cuda_jpeg_odd(l->staging->decoded) == 0;
        if (rate == LAP_RATE_DECODE)
            code = same_pixels(r, l, &scratch.view, same, err);
        else
            *same = *same && same_scan(r, l);
    }
    lap_image_destroy(&scratch);
    return code;
}
