/* The scaffold of a build without CUDA: there is no device, and every function that needs one fails. The
 * table has a line for each function, and says what it does.
 *
 * These are functions, not one struct of function pointers that a build with CUDA fills. With a struct, all
 * callers in src/device, src/rungs and src/bench would go through it, the linker would not report a forgotten
 * member, and a call without a check for a device would crash instead of failing with LAP_E_BACKEND. */
#include "base/status.h"
#include "cuda/device/device_rungs.h"
#include "cuda/device/queue.h"
#include "cuda/jpeg/decode.h"
#include "cuda/jpeg/encode.h"

/* No function here uses its parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static const char not_built[] = "not built: lapedge was compiled without CUDA";

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

/* clang-format off */
#define DOES(name, parameters, statement) name parameters { statement; }
#define FAILS(name, parameters) lap_code DOES(name, parameters, return refuse(err))
#define FAILS_WITH(name, parameters, result) lap_code DOES(name, parameters, result; return refuse(err))
#define DOES_NOTHING(name, parameters) void DOES(name, parameters, )

bool DOES(lap_device_at, (int i, lap_device_info *info, const char **reason),
    return lap_cuda_count(reason) > 0)
bool DOES(lap_device_possible, (const char **reason), return lap_cuda_count(reason) > 0)
int DOES(lap_cuda_to_start, (void), return 1)
FAILS(lap_cuda_info, (int device, lap_device_info *info, lap_error *err))

/* memory */
FAILS_WITH(lap_cuda_alloc, (int device, size_t bytes, void **memory, lap_error *err), *memory = NULL)
DOES_NOTHING(lap_cuda_free, (int device, void *memory))
DOES_NOTHING(lap_cuda_kept_begin, (void))
DOES_NOTHING(lap_cuda_kept_end, (void))
FAILS_WITH(lap_cuda_pinned_alloc, (int device, size_t bytes, void **memory, lap_error *err), *memory = NULL)
DOES_NOTHING(lap_cuda_pinned_free, (void *memory))
bool DOES(lap_cuda_may_pin, (int device), return false)
FAILS(lap_cuda_pin, (int device, void *memory, size_t bytes, lap_error *err))
DOES_NOTHING(lap_cuda_unpin, (void *memory))
FAILS(lap_cuda_copy, (int device, void *to, const void *from, size_t bytes, void *stream, lap_error *err))
FAILS(lap_cuda_clear, (int device, void *memory, size_t bytes, void *stream, lap_error *err))

/* streams and events */
FAILS(lap_cuda_sync, (int device, void *stream, lap_error *err))
FAILS_WITH(lap_cuda_stream_create, (int device, void **stream, lap_error *err), *stream = NULL)
DOES_NOTHING(lap_cuda_stream_destroy, (int device, void *stream))
FAILS_WITH(lap_cuda_event_create, (int device, void **event, lap_error *err), *event = NULL)
DOES_NOTHING(lap_cuda_event_destroy, (int device, void *event))
FAILS(lap_cuda_event_record, (int device, void *event, void *stream, lap_error *err))
FAILS_WITH(lap_cuda_event_happened, (int device, void *event, bool *happened, lap_error *err),
    *happened = false)
FAILS_WITH(lap_cuda_event_ms, (int device, void *from, void *to, double *ms, lap_error *err), *ms = 0)
DOES_NOTHING(lap_cuda_range_begin, (const char *name))
DOES_NOTHING(lap_cuda_range_end, (void))

/* views */
FAILS_WITH(lap_cuda_view_create, (int device, int width, int height, int channels, int apron, lap_view *view,
    lap_error *err), *view = (lap_view){0})
DOES_NOTHING(lap_cuda_view_destroy, (lap_view *view))
FAILS_WITH(lap_cuda_view_take, (int device, int width, int height, int channels, int apron, void *stream,
    lap_view *view, lap_error *err), *view = (lap_view){0})
DOES_NOTHING(lap_cuda_view_give, (lap_view *view))
bool DOES(lap_cuda_view_bytes, (int width, int height, int channels, int apron, size_t *bytes), return false)
lap_view DOES(lap_cuda_view_in, (int device, void *memory, int width, int height, int channels, int apron),
    return (lap_view){0})
FAILS(lap_cuda_upload, (const lap_view *host, const lap_view *device, void *stream, lap_error *err))
FAILS(lap_cuda_download, (const lap_view *device, const lap_view *host, void *stream, lap_error *err))
FAILS(lap_cuda_view_copy, (const lap_view *from, const lap_view *to, void *stream, lap_error *err))
FAILS(lap_cuda_check_place, (const lap_view *view, const char *which, lap_error *err))
FAILS(lap_cuda_border, (const lap_view *view, lap_border border, void *stream, lap_error *err))
FAILS(lap_cuda_mirror, (const lap_view *in, const lap_view *out, bool left_right, void *stream,
    lap_error *err))

/* rungs and their times */
FAILS(lap_cuda_time, (int device, const lap_cuda_job *jobs, int count, int runs, lap_error *err))
int DOES(lap_cuda_rotation, (int device, size_t set_bytes), return 1)
size_t DOES(lap_cuda_scratch_bytes, (size_t n, size_t size), return 0)
lap_code DOES(lap_cuda_copy_kernel, (const lap_view *in, const lap_view *out, const lap_exec *exec),
    return refuse(exec->err))
lap_code DOES(lap_cuda_copy_shared, (const lap_view *in, const lap_view *out, const lap_exec *exec),
    return refuse(exec->err))

/* JPEG */
bool DOES(lap_cuda_jpeg_decode_plan, (const lap_jpeg_frame *frame, bool gray, size_t scan_bytes,
    const lap_cuda_jpeg_tuning *tuning, lap_cuda_jpeg_plan *plan), return false)
DOES_NOTHING(lap_cuda_jpeg_decode_stage_tables, (const lap_cuda_jpeg_plan *plan, void *staging, bool is_kept))
FAILS(lap_cuda_jpeg_decode_enqueue, (const lap_cuda_jpeg_photo *photos, int count,
    const lap_cuda_table *table, void *stream, void *const *events, lap_error *err))
bool DOES(lap_cuda_jpeg_encode_plan_make, (const lap_cuda_jpeg_target *target, size_t capacity,
    lap_cuda_jpeg_encode_plan *plan), return false)
FAILS(lap_cuda_jpeg_encode_enqueue, (const lap_cuda_jpeg_picture *pictures, int count,
    const lap_cuda_table *table, void *stream, void *const *events, lap_error *err))
const void *DOES(lap_cuda_jpeg_encode_scan, (const lap_cuda_jpeg_encode_plan *plan, const void *workspace),
    return NULL)
    /* clang-format on */
