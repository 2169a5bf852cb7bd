/* The members of lap_stream. */
#ifndef LAP_DEVICE_STREAM_H
#define LAP_DEVICE_STREAM_H

#include "base/rung.h"
#include "device/device_slot.h"
#include "rungs/run_views.h"

struct lap_stream {
    lap_context *context;
    int device;
    void *stream;
    lap_views_space space;
    lap_device_slot *slot;                       /* on this stream */
    lap_device_staging *staging;                 /* for a photo that is decoded or encoded alone */
    lap_device_staging *small[LAP_DEVICE_CHAIN]; /* for those of a batch; NULL until they are needed */
};

/* LAP_E_USAGE unless the view has pixels on the stream's device. The message begins with `which`. */
lap_code lap_stream_check(const lap_stream *stream, const lap_view *view, const char *which, lap_error *err);

#endif
