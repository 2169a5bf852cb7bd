/* The members of lap_stream. */
#ifndef LAP_DEVICE_STREAM_H
#define LAP_DEVICE_STREAM_H

#include "base/rung.h"
#include "device/device_slot.h"
#include "rungs/run_views.h"

enum { LAP_STREAM_WINDOWS = 3 };

struct lap_stream {
    lap_context *context;
    int device;
    void *stream;
    lap_views_space space;
    lap_device_slot *slot;       /* on this stream */
    lap_device_staging *staging; /* for a photo that is decoded or encoded alone */
    /* for those of a batch, a row for each window of run/stream_photos.c; NULL until they are needed */
    lap_device_staging *small[LAP_STREAM_WINDOWS][LAP_DEVICE_CHAIN];
};

/* LAP_E_USAGE unless the view has pixels on the stream's device. The message begins with `which`. */
lap_code lap_stream_check(const lap_stream *stream, const lap_view *view, const char *which, lap_error *err);

#endif
