#include "device/device_photo.h"

#include <stdlib.h>

#include "base/status.h"
#include "cuda/device/device.h"
#include "cuda/jpeg/decode.h"
#include "device/device_target.h"
#include "device/device_turn.h"
#include "device/known_codec.h"
#include "jpeg/jpeg_frame_read.h"

enum { ALIGNMENT = 256 };

struct lap_device_photo {
    int device;
    void *stream;
    bool is_own; /* stream and views */
    lap_view source, result;
    void *workspace; /* on the device, of decoder and encoder in turn; kept for the next picture */
    size_t workspace_bytes;
};

const char *lap_device_codec_unavailable(void)
{
    const char *reason = lap_cuda_unavailable();
    return reason ? reason : lap_known_codec_differs();
}

lap_code lap_device_photo_create_on(int device, void *stream, lap_device_photo **photo, lap_error *err)
{
    *photo = calloc(1, sizeof **photo);
    if (!*photo)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    (*photo)->device = device;
    (*photo)->stream = stream;
    return LAP_OK;
}

lap_code lap_device_photo_create(
    int device, int width, int height, int channels, lap_device_photo **photo, lap_error *err)
{
    lap_code code = lap_device_photo_create_on(device, NULL, photo, err);
    lap_device_photo *p = *photo;
    if (code != LAP_OK)
        return code;
    p->is_own = true;
    code = lap_cuda_stream_create(device, &p->stream, err);
    if (code == LAP_OK)
        code = lap_cuda_view_create(device, width, height, channels, LAP_APRON, &p->source, err);
    if (code == LAP_OK)
        code = lap_cuda_view_create(device, width, height, channels, 0, &p->result, err);
    if (code != LAP_OK) {
        lap_device_photo_destroy(p);
        *photo = NULL;
    }
    return code;
}

void lap_device_photo_use(lap_device_photo *p, const lap_view *source, const lap_view *result)
{
    p->source = source ? *source : (lap_view){0};
    p->result = result ? *result : (lap_view){0};
}

void lap_device_photo_destroy(lap_device_photo *p)
{
    if (!p)
        return;
    lap_cuda_free(p->device, p->workspace);
    if (p->is_own) {
        lap_cuda_view_destroy(&p->result);
        lap_cuda_view_destroy(&p->source);
        lap_cuda_stream_destroy(p->device, p->stream);
    }
    free(p);
}

/* Nothing is under way: each step has waited. */
static lap_code reserve(lap_device_photo *p, size_t bytes, lap_error *err)
{
    if (bytes <= p->workspace_bytes)
        return LAP_OK;
    lap_cuda_free(p->device, p->workspace);
    p->workspace_bytes = 0;
    lap_code code = lap_cuda_alloc(p->device, bytes, &p->workspace, err);
    p->workspace_bytes = code == LAP_OK ? bytes : 0;
    return code;
}

static lap_code finish(lap_device_photo *p, lap_code code, double start, double *ms, lap_error *err)
{
    /* After a failure too: nothing may be freed while it is in use. */
    const lap_code waited = lap_cuda_sync(p->device, p->stream, code == LAP_OK ? err : NULL);
    *ms += lap_now_ms() - start;
    return code == LAP_OK ? waited : code;
}

/* ---- in ---------------------------------------------------------------------------------------- */

/* Host memory that one decoding takes: for tables, and for the verdict. */
typedef struct decode_memory {
    void *staging;
    lap_cuda_jpeg_result *result;
} decode_memory;

/* A picture that is to be turned is decoded into the workspace, behind what the decoder works in. */
static lap_code reserve_pixels(
    lap_device_photo *p, size_t workspace_bytes, lap_turn turn, lap_view *pixels, lap_error *err)
{
    const lap_view *source = &p->source;
    size_t behind, bytes;
    *pixels = *source;
    if (turn == LAP_TURN_NONE)
        return reserve(p, workspace_bytes, err);
    if (!lap_add(workspace_bytes, ALIGNMENT - 1, &behind) ||
        !lap_device_stored_bytes(source->width, source->height, source->channels, turn, &bytes) ||
        !lap_add(behind, bytes, &bytes))
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    lap_code code = reserve(p, bytes, err);
    behind = behind / ALIGNMENT * ALIGNMENT;
    if (code == LAP_OK)
        *pixels = lap_device_stored_in(p->device, (uint8_t *)p->workspace + behind, source->width,
            source->height, source->channels, turn);
    return code;
}

static lap_code decode(lap_device_photo *p, const lap_cuda_jpeg_plan *plan, const uint8_t *scan,
    lap_turn turn, decode_memory *m, bool *mine, double *ms, lap_error *err)
{
    const double start = lap_now_ms();
    lap_view pixels;
    lap_code code = reserve_pixels(p, plan->workspace_bytes, turn, &pixels, err);
    m->staging = aligned_alloc(16, (plan->staging_bytes + 15) / 16 * 16);
    m->result = calloc(1, sizeof *m->result);
    if (code == LAP_OK && (!m->staging || !m->result))
        code = lap_fail(err, LAP_E_MEMORY, "out of memory: %zu bytes", plan->staging_bytes);
    if (code != LAP_OK)
        return code;
    lap_cuda_jpeg_decode_stage_tables(plan, m->staging, false);
    code = lap_cuda_jpeg_decode_enqueue(
        plan, scan, m->staging, p->workspace, &pixels, m->result, p->stream, NULL, err);
    if (code == LAP_OK && turn != LAP_TURN_NONE)
        code = lap_device_turn(&pixels, &p->source, turn, p->stream, err);
    code = finish(p, code, start, ms, err);
    *mine = code == LAP_OK && lap_cuda_jpeg_odd(m->result) == 0;
    return code;
}

lap_code lap_device_photo_decode(lap_device_photo *p, const uint8_t *file, size_t size, bool gray,
    lap_turn turn, bool *mine, lap_times *times, lap_error *err)
{
    const bool swap = lap_turn_transposes(turn);
    const int width = swap ? p->source.height : p->source.width;
    const int height = swap ? p->source.width : p->source.height;
    lap_cuda_jpeg_plan *plan = malloc(sizeof *plan);
    lap_jpeg_frame *frame = malloc(sizeof *frame);
    decode_memory m = {0};
    lap_code code = LAP_OK;
    *mine = false;
    if (!plan || !frame)
        code = lap_fail(err, LAP_E_MEMORY, "out of memory");
    else if (lap_jpeg_frame_read(file, size, frame) && frame->scan_begin < size && frame->width == width &&
             frame->height == height &&
             lap_cuda_jpeg_decode_plan(frame, gray, size - frame->scan_begin, NULL, plan) &&
             plan->channels == p->source.channels)
        code = decode(p, plan, file + frame->scan_begin, turn, &m, mine, &times->decode, err);
    free(m.staging);
    free(m.result);
    free(plan);
    free(frame);
    return code;
}

lap_code lap_device_photo_upload(
    lap_device_photo *p, const lap_view *pixels, lap_times *times, lap_error *err)
{
    const double start = lap_now_ms();
    return finish(p, lap_cuda_upload(pixels, &p->source, p->stream, err), start, &times->upload, err);
}

/* ---- between ----------------------------------------------------------------------------------- */

lap_code lap_device_photo_filter(lap_device_photo *p, const lap_rung *rung, const lap_params *params,
    lap_border border, lap_times *times, lap_error *err)
{
    const double start = lap_now_ms();
    const lap_exec exec = {.threads = 1, .stream = p->stream, .err = err};
    lap_code code = lap_cuda_border(&p->source, border, p->stream, err);
    if (code == LAP_OK)
        code = rung->run.filter(&p->source, &p->result, params, &exec);
    return finish(p, code, start, &times->filter, err);
}

lap_code lap_device_photo_count(lap_device_photo *p, const lap_rung *rung, uint64_t source[4][256],
    uint64_t result[4][256], lap_times *times, lap_error *err)
{
    const double start = lap_now_ms();
    const lap_exec exec = {.threads = 1, .stream = p->stream, .err = err};
    lap_code code = rung->run.histogram(&p->source, source, &exec);
    if (code == LAP_OK)
        code = rung->run.histogram(&p->result, result, &exec);
    return finish(p, code, start, &times->filter, err);
}

/* ---- out --------------------------------------------------------------------------------------- */

static lap_code encode(lap_device_photo *p, const lap_cuda_jpeg_encode_plan *plan,
    lap_cuda_jpeg_encoded *encoded, lap_chunk *scan, bool *mine, lap_times *times, lap_error *err)
{
    const void *on_device = NULL;
    double start = lap_now_ms();
    lap_code code = lap_cuda_jpeg_encode_enqueue(
        plan, &p->result, p->workspace, NULL, &on_device, encoded, p->stream, NULL, err);
    code = finish(p, code, start, &times->encode, err);
    *mine = code == LAP_OK && !encoded->overflow;
    if (code == LAP_OK && *mine)
        code = lap_chunk_reserve(scan, encoded->bytes, err);
    if (code != LAP_OK || !*mine)
        return code;
    start = lap_now_ms();
    code = lap_cuda_copy(p->device, scan->data + scan->size, on_device, encoded->bytes, p->stream, err);
    code = finish(p, code, start, &times->download, err);
    scan->size += code == LAP_OK ? encoded->bytes : 0;
    return code;
}

lap_code lap_device_photo_encode(lap_device_photo *p, const lap_jpeg_parts *parts, lap_chunk *scan,
    bool *mine, lap_times *times, lap_error *err)
{
    const lap_view *result = &p->result;
    const lap_cuda_jpeg_target target =
        lap_device_target(result->width, result->height, result->channels, parts);
    lap_cuda_jpeg_encode_plan plan;
    lap_cuda_jpeg_encoded encoded = {0};
    *mine = false;
    if (!lap_cuda_jpeg_encode_plan_make(&target, 0, &plan))
        return LAP_OK;
    lap_code code = reserve(p, plan.workspace_bytes, err);
    if (code == LAP_OK)
        code = encode(p, &plan, &encoded, scan, mine, times, err);
    return code;
}

lap_code lap_device_photo_download(
    lap_device_photo *p, const lap_view *pixels, lap_times *times, lap_error *err)
{
    const double start = lap_now_ms();
    return finish(p, lap_cuda_download(&p->result, pixels, p->stream, err), start, &times->download, err);
}
