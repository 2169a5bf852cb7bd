#include "device/device_slot.h"

#include <stdlib.h>

#include "base/status.h"
#include "cuda/device/device_rungs.h"
#include "cuda/device/queue.h"
#include "device/device_turn.h"
#include "rungs/backend.h"

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

bool lap_device_may_be(const char **reason)
{
    return lap_device_possible(reason);
}

int lap_device_to_start(void)
{
    return lap_cuda_to_start();
}

lap_code lap_device_open(int device, size_t *unused, lap_error *err)
{
    lap_device_info info = {0};
    const lap_code code = lap_cuda_info(device, &info, err);
    *unused = info.free_bytes;
    return code;
}

bool lap_device_pins(int device)
{
    return lap_cuda_may_pin(device);
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

/* Decoding is over before counting begins, and that before encoding, so one workspace does for all; then
 * source and result. What is to be turned is decoded where the result will be. */
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

static size_t counter_bytes(void)
{
    return (lap_cuda_scratch_bytes(0, 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool lay_out(const lap_device_staging *c, layout *l)
{
    const size_t counters = c->is_counted ? 2 * counter_bytes() : 0;
    const size_t a = c->decode.workspace_bytes, b = c->encode.workspace_bytes, ab = a > b ? a : b;
    size_t source, result, stored;
    *l = (layout){0};
    if (!lap_cuda_view_bytes(c->width, c->height, c->channels, LAP_APRON, &source) ||
        !lap_cuda_view_bytes(c->width, c->height, c->channels, 0, &result) ||
        !lap_device_stored_bytes(c->width, c->height, c->channels, c->turn, &stored) ||
        !next_part(&l->source, ab > counters ? ab : counters))
        return false;
    l->result = l->source;
    if (!next_part(&l->result, source))
        return false;
    l->bytes = l->result;
    return next_part(&l->bytes, result > stored ? result : stored);
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

/* ---- the way of a photo ------------------------------------------------------------------------- */

typedef struct pictures { /* stored: as in the file; the source itself where nothing is to be turned */
    lap_view stored, source, result;
} pictures;

static pictures place(const lap_device_slot *l, const lap_device_staging *c, const layout *at)
{
    uint8_t *memory = l->memory;
    pictures p;
    p.source = lap_cuda_view_in(l->device, memory + at->source, c->width, c->height, c->channels, LAP_APRON);
    p.result = lap_cuda_view_in(l->device, memory + at->result, c->width, c->height, c->channels, 0);
    p.stored = c->turn == LAP_TURN_NONE ? p.source
                                        : lap_device_stored_in(l->device, memory + at->result, c->width,
                                              c->height, c->channels, c->turn);
    return p;
}

static lap_code decode(lap_device_slot *l, const lap_device_staging *c, const pictures *p, lap_error *err)
{
    void *marks[LAP_CUDA_JPEG_STAGES + 1] = {0};
    marks[0] = l->marks[BEGIN];
    marks[1] = l->marks[UP];
    marks[LAP_CUDA_JPEG_STAGES] = l->marks[DECODED];
    return lap_cuda_jpeg_decode_enqueue(&c->decode, c->file.bytes + c->decode.frame.scan_begin,
        c->tables.bytes, l->memory, &p->stored, c->decoded, l->stream, marks, err);
}

static lap_code filter(lap_device_slot *l, const lap_device_staging *c, const pictures *p,
    const lap_rung *rung, const lap_params *params, lap_border border, lap_error *err)
{
    const lap_exec exec = {.threads = 1, .stream = l->stream, .err = err};
    lap_code code = LAP_OK;
    if (c->turn != LAP_TURN_NONE)
        code = lap_device_turn(&p->stored, &p->source, c->turn, l->stream, err);
    if (code == LAP_OK)
        code = lap_cuda_border(&p->source, border, l->stream, err);
    return code == LAP_OK ? rung->run.filter(&p->source, &p->result, params, &exec) : code;
}

static lap_code count(lap_device_slot *l, const lap_device_staging *c, const pictures *p, lap_error *err)
{
    const lap_view *views[] = {&p->source, &p->result};
    const lap_rung *rung;
    lap_code code = lap_rung_find_on_device(LAP_OP_HISTOGRAM, NULL, l->device, &rung, err);
    for (int i = 0; i < 2 && code == LAP_OK; i++) {
        uint8_t *counter = (uint8_t *)l->memory + (size_t)i * counter_bytes();
        const lap_exec exec = {.threads = 1, .stream = l->stream, .scratch = counter, .err = err};
        code = lap_cuda_clear(l->device, counter, LAP_SCRATCH_HEAD, l->stream, err);
        if (code == LAP_OK)
            code = rung->run.histogram(views[i], NULL, &exec);
        if (code == LAP_OK)
            code = lap_cuda_copy(l->device, c->counts[i], counter, sizeof c->counts[i], l->stream, err);
    }
    return code;
}

static lap_code encode(lap_device_slot *l, const lap_device_staging *c, const pictures *p, lap_error *err)
{
    void *marks[LAP_CUDA_JPEG_ENCODE_STAGES + 1] = {0};
    marks[0] = l->marks[FILTERED];
    marks[LAP_CUDA_JPEG_ENCODE_STAGES - 1] = l->marks[ENCODED];
    marks[LAP_CUDA_JPEG_ENCODE_STAGES] = l->marks[DOWN];
    return lap_cuda_jpeg_encode_enqueue(
        &c->encode, &p->result, l->memory, c->scan.bytes, NULL, c->encoded, l->stream, marks, err);
}

/* Of a photo that is not encoded. */
static lap_code mark_end(lap_device_slot *l, lap_error *err)
{
    lap_code code = LAP_OK;
    for (int i = FILTERED; i < MARKS && code == LAP_OK; i++)
        code = lap_cuda_event_record(l->device, l->marks[i], l->stream, err);
    return code;
}

lap_code lap_device_slot_start(lap_device_slot *l, const lap_device_staging *c, const lap_rung *rung,
    const lap_params *params, lap_border border, lap_error *err)
{
    layout at;
    if (!lay_out(c, &at) || at.bytes > l->room)
        return lap_fail(err, LAP_E_INTERNAL, "a slot without room for its photo");
    const pictures p = place(l, c, &at);
    lap_cuda_range_begin("lapedge: decode");
    lap_code code = decode(l, c, &p, err);
    lap_cuda_range_end();
    lap_cuda_range_begin("lapedge: filter");
    code = code == LAP_OK ? filter(l, c, &p, rung, params, border, err) : code;
    lap_cuda_range_end();
    if (code == LAP_OK && c->is_counted)
        code = count(l, c, &p, err);
    lap_cuda_range_begin("lapedge: encode");
    if (code == LAP_OK)
        code = c->is_encoded ? encode(l, c, &p, err) : mark_end(l, err);
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
