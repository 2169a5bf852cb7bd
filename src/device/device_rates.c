#include "device/device_rates.h"

#include <stdlib.h>
#include <string.h>

#include "base/image.h"
#include "base/status.h"
#include "cuda/device/device.h"
#include "cuda/jpeg/decode.h"
#include "cuda/jpeg/encode.h"
#include "jpeg/jpeg_frame_read.h"

enum { EOI_BYTES = 2 };

typedef struct slot { /* of one stream: everything that a photo needs on its way */
    void *stream;
    lap_cuda_jpeg_plan plan; /* made anew for each photo, as for different photos */
    void *decode_memory, *encode_memory;
    void *staging; /* pinned, as are the next three */
    uint8_t *scan;
    lap_cuda_jpeg_result *decoded;
    lap_cuda_jpeg_encoded *encoded;
    lap_view source, result;
    bool is_staged;
} slot;

struct lap_device_rates {
    int device, slot_count;
    lap_rate_photo photo;
    uint8_t *file; /* pinned */
    slot *slots;
    void *down_stream; /* for copies down while others go up */
    lap_jpeg_frame frame;
    lap_cuda_jpeg_plan plan;
    lap_cuda_jpeg_encode_plan encode_plan;
    const uint8_t *expected; /* scan of photo.out */
    size_t expected_size;
};

/* ---- what the device has to do --------------------------------------------------------------------- */

static bool plan_decode(lap_device_rates *r, lap_cuda_jpeg_plan *plan)
{
    return lap_jpeg_frame_read(r->file, r->photo.size, &r->frame) && r->frame.scan_begin < r->photo.size &&
           lap_cuda_jpeg_decode_plan(&r->frame, false, r->photo.size - r->frame.scan_begin, NULL, plan);
}

/* T.81, figure A.6: place in the row by row order of each coefficient in zigzag order. */
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

/* The encoder does what the CPU's file says that the CPU did. */
static bool plan_encode(lap_device_rates *r)
{
    const lap_rate_photo *photo = &r->photo;
    lap_jpeg_frame *f = &r->frame;
    if (!lap_jpeg_frame_read(photo->out, photo->out_size, f) || f->scan_begin + EOI_BYTES > photo->out_size ||
        f->width != photo->edges->width || f->height != photo->edges->height)
        return false;
    lap_cuda_jpeg_target target = {.width = f->width,
        .height = f->height,
        .channels = photo->edges->channels,
        .restart_interval = f->restart_interval};
    for (int c = 0; c < 3; c++) {
        target.sample_h[c] = c < f->components && f->components > 1 ? f->sample_h[c] : 1;
        target.sample_v[c] = c < f->components && f->components > 1 ? f->sample_v[c] : 1;
    }
    unzigzag(f->quant[0], target.quant[0]);
    unzigzag(f->quant[f->components > 1 ? 1 : 0], target.quant[1]);
    r->expected = (const uint8_t *)photo->out + f->scan_begin;
    r->expected_size = photo->out_size - f->scan_begin - EOI_BYTES;
    return lap_cuda_jpeg_encode_plan_make(&target, r->expected_size + r->expected_size / 8, &r->encode_plan);
}

/* ---- memory ---------------------------------------------------------------------------------------- */

static lap_code open_slot(lap_device_rates *r, slot *s, lap_error *err)
{
    const int device = r->device;
    const lap_view *p = r->photo.pixels;
    lap_code code = lap_cuda_stream_create(device, &s->stream, err);
    if (code == LAP_OK)
        code = lap_cuda_alloc(device, r->plan.workspace_bytes, &s->decode_memory, err);
    if (code == LAP_OK)
        code = lap_cuda_alloc(device, r->encode_plan.workspace_bytes, &s->encode_memory, err);
    if (code == LAP_OK)
        code = lap_cuda_pinned_alloc(device, r->plan.staging_bytes, &s->staging, err);
    if (code == LAP_OK)
        code = lap_cuda_pinned_alloc(device, r->encode_plan.capacity, (void **)&s->scan, err);
    if (code == LAP_OK)
        code = lap_cuda_pinned_alloc(device, sizeof *s->decoded, (void **)&s->decoded, err);
    if (code == LAP_OK)
        code = lap_cuda_pinned_alloc(device, sizeof *s->encoded, (void **)&s->encoded, err);
    if (code == LAP_OK)
        code = lap_cuda_view_create(device, p->width, p->height, p->channels, LAP_APRON, &s->source, err);
    if (code == LAP_OK)
        code = lap_cuda_view_create(device, p->width, p->height, p->channels, 0, &s->result, err);
    if (code == LAP_OK)
        code = lap_cuda_upload(r->photo.edges, &s->result, s->stream, err);
    return code == LAP_OK ? lap_cuda_sync(device, s->stream, err) : code;
}

static void close_slot(int device, slot *s)
{
    lap_cuda_view_destroy(&s->result);
    lap_cuda_view_destroy(&s->source);
    lap_cuda_pinned_free(s->encoded);
    lap_cuda_pinned_free(s->decoded);
    lap_cuda_pinned_free(s->scan);
    lap_cuda_pinned_free(s->staging);
    lap_cuda_free(device, s->encode_memory);
    lap_cuda_free(device, s->decode_memory);
    lap_cuda_stream_destroy(device, s->stream);
}

static lap_code set_up(lap_device_rates *r, int streams, lap_error *err)
{
    lap_code code = lap_cuda_pinned_alloc(r->device, r->photo.size, (void **)&r->file, err);
    if (code != LAP_OK)
        return code;
    memcpy(r->file, r->photo.file, r->photo.size);
    if (!plan_encode(r) || !plan_decode(r, &r->plan) || r->plan.channels != r->photo.pixels->channels)
        return lap_fail(err, LAP_E_UNSUPPORTED, "the device does not code this photo");
    r->slots = calloc((size_t)streams, sizeof *r->slots);
    if (!r->slots)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    code = lap_cuda_stream_create(r->device, &r->down_stream, err);
    for (; r->slot_count < streams && code == LAP_OK; r->slot_count++)
        code = open_slot(r, &r->slots[r->slot_count], err);
    return code;
}

lap_code lap_device_rates_create(
    int device, const lap_rate_photo *photo, int streams, lap_device_rates **rates, lap_error *err)
{
    lap_device_rates *r = calloc(1, sizeof *r);
    *rates = NULL;
    if (!r)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    r->device = device;
    r->photo = *photo;
    const lap_code code = set_up(r, streams, err);
    if (code == LAP_OK)
        *rates = r;
    else
        lap_device_rates_destroy(r);
    return code;
}

void lap_device_rates_destroy(lap_device_rates *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->slot_count; i++)
        close_slot(r->device, &r->slots[i]);
    lap_cuda_stream_destroy(r->device, r->down_stream);
    lap_cuda_pinned_free(r->file);
    free(r->slots);
    free(r);
}

/* ---- work ------------------------------------------------------------------------------------------ */

static size_t pixel_bytes(const lap_device_rates *r)
{
    const lap_view *p = r->photo.pixels;
    return (size_t)p->width * (size_t)p->height * (size_t)p->channels; /* a decoded image: it fits */
}

static lap_code decode(lap_device_rates *r, slot *s, lap_error *err)
{
    if (!plan_decode(r, &s->plan))
        return lap_fail(err, LAP_E_UNSUPPORTED, "the device does not code this photo");
    lap_cuda_jpeg_decode_stage_tables(&s->plan, s->staging, s->is_staged);
    s->is_staged = true;
    return lap_cuda_jpeg_decode_enqueue(&s->plan, r->file + r->frame.scan_begin, s->staging, s->decode_memory,
        &s->source, s->decoded, s->stream, NULL, err);
}

static lap_code encode(lap_device_rates *r, slot *s, lap_error *err)
{
    return lap_cuda_jpeg_encode_enqueue(
        &r->encode_plan, &s->result, s->encode_memory, s->scan, NULL, s->encoded, s->stream, NULL, err);
}

static lap_code filter(lap_device_rates *r, slot *s, lap_error *err)
{
    const lap_exec exec = {.threads = 1, .stream = s->stream, .err = err};
    const lap_code code = lap_cuda_border(&s->source, r->photo.border, s->stream, err);
    return code == LAP_OK ? r->photo.rung->run.filter(&s->source, &s->result, &r->photo.params, &exec) : code;
}

static lap_code copy_over_bus(lap_device_rates *r, slot *s, lap_rate rate, lap_error *err)
{
    lap_code code = LAP_OK;
    if (rate != LAP_RATE_DOWN) {
        const size_t begin = r->plan.frame.scan_begin;
        code = lap_cuda_copy(
            r->device, s->decode_memory, r->file + begin, r->photo.size - begin, s->stream, err);
    }
    if (rate != LAP_RATE_UP && code == LAP_OK)
        code = lap_cuda_copy(r->device, s->scan, s->encode_memory, r->expected_size, r->down_stream, err);
    return code;
}

static lap_code enqueue(lap_device_rates *r, slot *s, lap_rate rate, lap_error *err)
{
    lap_code code = LAP_OK;
    if (rate == LAP_RATE_COPY)
        return lap_cuda_copy(r->device, s->source.base, s->result.base, pixel_bytes(r), s->stream, err);
    if (rate < LAP_RATE_COPY)
        return copy_over_bus(r, s, rate, err);
    if (rate != LAP_RATE_ENCODE)
        code = decode(r, s, err);
    if (rate == LAP_RATE_CHAIN && code == LAP_OK)
        code = filter(r, s, err);
    if (rate != LAP_RATE_DECODE && code == LAP_OK)
        code = encode(r, s, err);
    return code;
}

lap_code lap_device_rates_time(
    lap_device_rates *r, lap_rate rate, int streams, int photos, double *ms, lap_error *err)
{
    lap_code code = LAP_OK;
    const double start = lap_now_ms();
    for (int i = 0; i < photos && code == LAP_OK; i++) {
        slot *s = &r->slots[i % streams];
        if (i >= streams) /* its photo before this one has to be done; copies may queue up */
            code = rate > LAP_RATE_COPY ? lap_cuda_sync(r->device, s->stream, err) : LAP_OK;
        if (code == LAP_OK)
            code = enqueue(r, s, rate, err);
    }
    for (int i = 0; i <= streams; i++) { /* after a failure too: nothing may be freed while it is in use */
        void *stream = i < streams ? r->slots[i].stream : r->down_stream;
        const lap_code waited = lap_cuda_sync(r->device, stream, code == LAP_OK ? err : NULL);
        code = code == LAP_OK ? waited : code;
    }
    *ms = (lap_now_ms() - start) / photos;
    return code;
}

size_t lap_device_rates_bytes(const lap_device_rates *r, lap_rate rate)
{
    const size_t in = r->photo.size - (size_t)r->plan.frame.scan_begin, pixels = pixel_bytes(r),
                 out = r->expected_size;
    const size_t bytes[LAP_RATE_COUNT] = {in, out, in + out, 2 * pixels, in + pixels, pixels + out, in + out};
    return bytes[rate];
}

/* ---- right or wrong -------------------------------------------------------------------------------- */

lap_code lap_device_rates_spoil(lap_device_rates *r, lap_rate rate, int streams, lap_error *err)
{
    lap_code code = LAP_OK;
    for (int i = 0; i < streams && code == LAP_OK; i++) {
        slot *s = &r->slots[i];
        memset(s->decoded, 0xFF, sizeof *s->decoded);
        memset(s->encoded, 0xFF, sizeof *s->encoded);
        memset(s->scan, 0, r->encode_plan.capacity);
        if (rate == LAP_RATE_DECODE || rate == LAP_RATE_CHAIN)
            code = lap_cuda_upload(r->photo.edges, &s->source, s->stream, err);
        if (rate == LAP_RATE_CHAIN && code == LAP_OK)
            code = lap_cuda_upload(r->photo.pixels, &s->result, s->stream, err);
        if (rate == LAP_RATE_ENCODE && code == LAP_OK) /* in case a chain before this one went wrong */
            code = lap_cuda_upload(r->photo.edges, &s->result, s->stream, err);
        if (code == LAP_OK)
            code = lap_cuda_sync(r->device, s->stream, err);
    }
    return code;
}

static lap_code same_pixels(lap_device_rates *r, slot *s, const lap_view *scratch, bool *same, lap_error *err)
{
    const lap_view *p = r->photo.pixels;
    const size_t row = (size_t)p->width * (size_t)p->channels;
    lap_code code = lap_cuda_download(&s->source, scratch, s->stream, err);
    if (code == LAP_OK)
        code = lap_cuda_sync(r->device, s->stream, err);
    for (int y = 0; y < p->height && code == LAP_OK && *same; y++)
        *same = memcmp(p->base + y * p->stride, scratch->base + y * scratch->stride, row) == 0;
    return code;
}

static bool same_scan(const lap_device_rates *r, const slot *s)
{
    return !s->encoded->overflow && s->encoded->bytes == r->expected_size &&
           memcmp(s->scan, r->expected, r->expected_size) == 0;
}

lap_code lap_device_rates_compare(lap_device_rates *r, lap_rate rate, int streams, bool *same, lap_error *err)
{
    const lap_view *p = r->photo.pixels;
    lap_image scratch = {0};
    *same = true;
    if (rate <= LAP_RATE_COPY)
        return LAP_OK;
    lap_code code = lap_image_create(&scratch, p->width, p->height, p->channels, 0, err);
    for (int i = 0; i < streams && code == LAP_OK && *same; i++) {
        slot *s = &r->slots[i];
        if (rate != LAP_RATE_ENCODE)
            *same = lap_cuda_jpeg_odd(s->decoded) == 0;
        if (rate == LAP_RATE_DECODE)
            code = same_pixels(r, s, &scratch.view, same, err);
        else
            *same = *same && same_scan(r, s);
    }
    lap_image_destroy(&scratch);
    return code;
}
