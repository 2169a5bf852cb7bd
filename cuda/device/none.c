/* The scaffold of a build without CUDA: there is no device, and whatever needs one fails. */
#include "base/status.h"
#include "cuda/device/device_rungs.h"
#include "cuda/device/queue.h"
#include "cuda/jpeg/decode.h"
#include "cuda/jpeg/encode.h"

static const char not_built[] = "not built: no CUDA compiler was found when lapedge was compiled";

static lap_code refuse(lap_error *err)
{
    return lap_fail(err, LAP_E_BACKEND, "CUDA: %s", not_built);
}

const char *lap_cuda_unavailable(void)
{
    return not_built;
}

int lap_cuda_count(const char **reason)
{
    if (reason)
        *reason = not_built;
    return 0;
}

bool lap_device_at(int i, lap_device_info *info, const char **reason)
{
    (void)i, (void)info;
    return lap_cuda_count(reason) > 0;
}

bool lap_device_possible(const char **reason)
{
    return lap_cuda_count(reason) > 0;
}

int lap_cuda_to_start(void)
{
    return 1;
}

lap_code lap_cuda_info(int device, lap_device_info *info, lap_error *err)
{
    (void)device, (void)info;
    return refuse(err);
}

lap_code lap_cuda_alloc(int device, size_t bytes, void **memory, lap_error *err)
{
    (void)device, (void)bytes;
    *memory = NULL;
    return refuse(err);
}

void lap_cuda_free(int device, void *memory)
{
    (void)device, (void)memory;
}

lap_code lap_cuda_pinned_alloc(int device, size_t bytes, void **memory, lap_error *err)
{
    (void)device, (void)bytes;
    *memory = NULL;
    return refuse(err);
}

void lap_cuda_pinned_free(void *memory)
{
    (void)memory;
}

bool lap_cuda_may_pin(int device)
{
    (void)device;
    return false;
}

lap_code lap_cuda_pin(int device, void *memory, size_t bytes, lap_error *err)
{
    (void)device, (void)memory, (void)bytes;
    return refuse(err);
}

void lap_cuda_unpin(void *memory)
{
    (void)memory;
}

lap_code lap_cuda_copy(int device, void *to, const void *from, size_t bytes, void *stream, lap_error *err)
{
    (void)device, (void)to, (void)from, (void)bytes, (void)stream;
    return refuse(err);
}

lap_code lap_cuda_sync(int device, void *stream, lap_error *err)
{
    (void)device, (void)stream;
    return refuse(err);
}

lap_code lap_cuda_stream_create(int device, void **stream, lap_error *err)
{
    (void)device;
    *stream = NULL;
    return refuse(err);
}

void lap_cuda_stream_destroy(int device, void *stream)
{
    (void)device, (void)stream;
}

lap_code lap_cuda_view_create(
    int device, int width, int height, int channels, int apron, lap_view *view, lap_error *err)
{
    (void)device, (void)width, (void)height, (void)channels, (void)apron;
    *view = (lap_view){0};
    return refuse(err);
}

void lap_cuda_view_destroy(lap_view *view)
{
    (void)view;
}

lap_code lap_cuda_upload(const lap_view *host, const lap_view *device, void *stream, lap_error *err)
{
    (void)host, (void)device, (void)stream;
    return refuse(err);
}

lap_code lap_cuda_download(const lap_view *device, const lap_view *host, void *stream, lap_error *err)
{
    (void)device, (void)host, (void)stream;
    return refuse(err);
}

lap_code lap_cuda_view_copy(const lap_view *from, const lap_view *to, void *stream, lap_error *err)
{
    (void)from, (void)to, (void)stream;
    return refuse(err);
}

lap_code lap_cuda_check_place(const lap_view *view, const char *which, lap_error *err)
{
    (void)view, (void)which;
    return refuse(err);
}

lap_code lap_cuda_border(const lap_view *view, lap_border border, void *stream, lap_error *err)
{
    (void)view, (void)border, (void)stream;
    return refuse(err);
}

lap_code lap_cuda_mirror(
    const lap_view *in, const lap_view *out, bool left_right, void *stream, lap_error *err)
{
    (void)in, (void)out, (void)left_right, (void)stream;
    return refuse(err);
}

lap_code lap_cuda_event_create(int device, void **event, lap_error *err)
{
    (void)device;
    *event = NULL;
    return refuse(err);
}

void lap_cuda_event_destroy(int device, void *event)
{
    (void)device, (void)event;
}

lap_code lap_cuda_event_record(int device, void *event, void *stream, lap_error *err)
{
    (void)device, (void)event, (void)stream;
    return refuse(err);
}

lap_code lap_cuda_event_happened(int device, void *event, bool *happened, lap_error *err)
{
    (void)device, (void)event;
    *happened = false;
    return refuse(err);
}

lap_code lap_cuda_event_ms(int device, void *from, void *to, double *ms, lap_error *err)
{
    (void)device, (void)from, (void)to;
    *ms = 0;
    return refuse(err);
}

lap_code lap_cuda_clear(int device, void *memory, size_t bytes, void *stream, lap_error *err)
{
    (void)device, (void)memory, (void)bytes, (void)stream;
    return refuse(err);
}

void lap_cuda_range_begin(const char *name)
{
    (void)name;
}

void lap_cuda_range_end(void)
{
}

bool lap_cuda_view_bytes(int width, int height, int channels, int apron, size_t *bytes)
{
    (void)width, (void)height, (void)channels, (void)apron, (void)bytes;
    return false;
}

lap_view lap_cuda_view_in(int device, void *memory, int width, int height, int channels, int apron)
{
    (void)device, (void)memory, (void)width, (void)height, (void)channels, (void)apron;
    return (lap_view){0};
}

lap_code lap_cuda_time(int device, const lap_cuda_job *jobs, int count, int runs, lap_error *err)
{
    (void)device, (void)jobs, (void)count, (void)runs;
    return refuse(err);
}

int lap_cuda_rotation(int device, size_t set_bytes)
{
    (void)device, (void)set_bytes;
    return 1;
}

size_t lap_cuda_scratch_bytes(size_t n, size_t size)
{
    (void)n, (void)size;
    return 0;
}

lap_code lap_cuda_copy_kernel(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    (void)in, (void)out;
    return refuse(exec->err);
}

lap_code lap_cuda_copy_shared(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    (void)in, (void)out;
    return refuse(exec->err);
}

bool lap_cuda_jpeg_decode_plan(const lap_jpeg_frame *frame, bool gray, size_t scan_bytes,
    const lap_cuda_jpeg_tuning *tuning, lap_cuda_jpeg_plan *plan)
{
    (void)frame, (void)gray, (void)scan_bytes, (void)tuning, (void)plan;
    return false;
}

void lap_cuda_jpeg_decode_stage_tables(const lap_cuda_jpeg_plan *plan, void *staging, bool is_kept)
{
    (void)plan, (void)staging, (void)is_kept;
}

lap_code lap_cuda_jpeg_decode_enqueue(const lap_cuda_jpeg_plan *plan, const void *scan, const void *staging,
    void *workspace, const lap_view *pixels, lap_cuda_jpeg_result *result, void *stream, void *const *events,
    lap_error *err)
{
    (void)plan, (void)scan, (void)staging, (void)workspace, (void)pixels, (void)result, (void)stream;
    (void)events;
    return refuse(err);
}

bool lap_cuda_jpeg_encode_plan_make(
    const lap_cuda_jpeg_target *target, size_t capacity, lap_cuda_jpeg_encode_plan *plan)
{
    (void)target, (void)capacity, (void)plan;
    return false;
}

lap_code lap_cuda_jpeg_encode_enqueue(const lap_cuda_jpeg_encode_plan *plan, const lap_view *pixels,
    void *workspace, void *scan, const void **scan_on_device, lap_cuda_jpeg_encoded *result, void *stream,
    void *const *events, lap_error *err)
{
    (void)plan, (void)pixels, (void)workspace, (void)scan, (void)scan_on_device, (void)result, (void)stream;
    (void)events;
    return refuse(err);
}
