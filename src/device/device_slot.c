#include "device/device_slot.h"

#include <stdlib.h>

#include "base/status.h"
#include "cuda/device/queue.h"

enum mark { BEGIN, UP, DECODED, FILTERED, ENCODED, DOWN, MARKS };
enum { ALIGNMENT = 256 };

struct lap_device_slot {
    int device;
    void *stream, *memory;
    size_t room;
    void *marks[MARKS];
};

int lap_device_count(void)
{
    return lap_cuda_count(NULL);
}

lap_code lap_device_open(int device, size_t *unused, lap_error *err)
{
    lap_device_info info = {0};
    const lap_code code = lap_cuda_info(device, &info, err);
    *unused = info.free_bytes;
    return code;
}

void lap_device_slot_abandon(lap_device_slot *l)
{
    free(l);
}

lap_code lap_device_slot_create(int device, lap_device_slot **slot, lap_error *err)
{
    lap_device_slot *l = calloc(1, sizeof *l);
    *slot = NULL;
    if (!l)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    l->device = device;
    lap_code code = lap_cuda_stream_create(device, &l->stream, err);
    for (int i = 0; i < MARKS && code == LAP_OK; i++)
        code = lap_cuda_event_create(device, &l->marks[i], err);
    if (code == LAP_OK)
        *slot = l;
    else
        lap_device_slot_destroy(l);
    return code;
}

void lap_device_slot_destroy(lap_device_slot *l)
{
    if (!l)
        return;
    lap_cuda_free(l->device, l->memory);
    for (int i = 0; i < MARKS; i++)
        lap_cuda_event_destroy(l->device, l->marks[i]);
    lap_cuda_stream_destroy(l->device, l->stream);
    free(l);
}

/* Decoding is over before encoding begins, so one workspace does for both; then source and result. */
typedef struct layout {
    size_t source, result, bytes;
} layout;

static bool next_part(size_t *at, size_t bytes)
{
    if (!lap_add(*at, bytes, at) || !lap_add(*at, ALIGNMENT - 1, at))
        return false;
    *at = *at / ALIGNMENT * ALIGNMENT;
    return true;
}

static bool lay_out(const lap_device_staging *c, layout *l)
{
    const size_t a = c->decode.workspace_bytes, b = c->encode.workspace_bytes;
    size_t source, result;
    *l = (layout){0};
    if (!lap_cuda_view_bytes(c->width, c->height, c->channels, LAP_APRON, &source) ||
        !lap_cuda_view_bytes(c->width, c->height, c->channels, 0, &result) ||
        !next_part(&l->source, a > b ? a : b))
        return false;
    l->result = l->source;
    if (!next_part(&l->result, source))
        return false;
    l->bytes = l->result;
    return next_part(&l->bytes, result);
}

size_t lap_device_slot_needs(const lap_device_staging *staging)
{
    layout l;
    return lay_out(staging, &l) ? l.bytes : 0;
}

size_t lap_device_slot_room(const lap_device_slot *slot)
{
    return slot->room;
}

lap_code lap_device_slot_resize(lap_device_slot *l, size_t bytes, lap_error *err)
{
    if (bytes == l->room)
        return LAP_OK;
    lap_cuda_free(l->device, l->memory);
    l->memory = NULL;
    l->room = 0;
    if (bytes == 0)
        return LAP_OK;
    lap_code code = lap_cuda_alloc(l->device, bytes, &l->memory, err);
    /* Kernels read whole vectors, and what nobody wrote is better the same each time. */
    if (code == LAP_OK)
        code = lap_cuda_clear(l->device, l->memory, bytes, l->stream, err);
    if (code == LAP_OK)
        l->room = bytes;
    return code;
}

static lap_code encode(
    lap_device_slot *l, const lap_device_staging *c, const lap_view *result, lap_error *err)
{
    void *marks[LAP_CUDA_JPEG_ENCODE_STAGES + 1] = {0};
    marks[0] = l->marks[FILTERED];
    marks[LAP_CUDA_JPEG_ENCODE_STAGES - 1] = l->marks[ENCODED];
    marks[LAP_CUDA_JPEG_ENCODE_STAGES] = l->marks[DOWN];
    return lap_cuda_jpeg_encode_enqueue(
        &c->encode, result, l->memory, c->scan.bytes, NULL, c->encoded, l->stream, marks, err);
}

lap_code lap_device_slot_start(lap_device_slot *l, const lap_device_staging *c, const lap_rung *rung,
    const lap_params *params, lap_border border, lap_error *err)
{
    layout at;
    void *marks[LAP_CUDA_JPEG_STAGES + 1] = {0};
    const lap_exec exec = {.threads = 1, .stream = l->stream, .err = err};
    if (!lay_out(c, &at) || at.bytes > l->room)
        return lap_fail(err, LAP_E_INTERNAL, "a slot without room for its photo");
    uint8_t *memory = l->memory;
    const lap_view source =
        lap_cuda_view_in(l->device, memory + at.source, c->width, c->height, c->channels, LAP_APRON);
    const lap_view result =
        lap_cuda_view_in(l->device, memory + at.result, c->width, c->height, c->channels, 0);
    marks[0] = l->marks[BEGIN];
    marks[1] = l->marks[UP];
    marks[LAP_CUDA_JPEG_STAGES] = l->marks[DECODED];
    lap_cuda_range_begin("lapedge: decode");
    lap_code code = lap_cuda_jpeg_decode_enqueue(&c->decode, c->file.bytes + c->decode.frame.scan_begin,
        c->tables.bytes, memory, &source, c->decoded, l->stream, marks, err);
    lap_cuda_range_end();
    lap_cuda_range_begin("lapedge: filter");
    if (code == LAP_OK)
        code = lap_cuda_border(&source, border, l->stream, err);
    if (code == LAP_OK)
        code = rung->run.filter(&source, &result, params, &exec);
    lap_cuda_range_end();
    lap_cuda_range_begin("lapedge: encode");
    code = code == LAP_OK ? encode(l, c, &result, err) : code;
    lap_cuda_range_end();
    return code;
}

lap_code lap_device_slot_is_through(lap_device_slot *l, bool *through, lap_error *err)
{
    return lap_cuda_event_happened(l->device, l->marks[DOWN], through, err);
}

lap_code lap_device_slot_times(lap_device_slot *l, lap_times *times, lap_error *err)
{
    double *const to[] = {&times->upload, &times->decode, &times->filter, &times->encode, &times->download};
    lap_code code = LAP_OK;
    for (int i = 0; i < MARKS - 1 && code == LAP_OK; i++) {
        double ms;
        code = lap_cuda_event_ms(l->device, l->marks[i], l->marks[i + 1], &ms, err);
        *to[i] += code == LAP_OK ? ms : 0;
    }
    return code;
}
