/* The members of lap_stream. */
#ifndef LAP_DEVICE_STREAM_H
#define LAP_DEVICE_STREAM_H

#include <pthread.h>

#include "base/rung.h"
#include "device/device_slot.h"
#include "rungs/run_views.h"

enum { LAP_STREAM_WINDOWS = 3, LAP_STREAM_LANES = 16 };
/* A file that needs no more than this host memory is copied to pinned memory first. */
#define LAP_STREAM_PINNED ((size_t)64 << 20)
/* A photo that needs no more than this device memory may use a lane. */
#define LAP_STREAM_LANE ((size_t)512 << 20)

/* Decodes or encodes one photo at a time. While CUDA copies from or to pageable memory, the other streams
 * wait; but pinning memory takes as long as coding several photos. So a lane copies the file of its first
 * photo directly from or to the caller's memory, and the files of later photos through pinned memory. */
typedef struct lap_lane {
    lap_device_slot *slot;
    lap_device_staging *pinned;
    lap_device_staging *paged; /* for files that are not copied through pinned memory */
    int photos;                /* number of photos that it was given so far */
    bool is_taken;
} lap_lane;

struct lap_stream {
    lap_context *context;
    int device;
    void *stream;
    lap_views_space space;
    lap_lane own;                     /* on this stream */
    pthread_mutex_t lock;             /* guards the next four */
    pthread_cond_t given;             /* a lane is returned, or lanes are closed */
    lap_lane lanes[LAP_STREAM_LANES]; /* each on a separate stream, for large photos of a batch */
    bool is_short;                    /* memory ran short: the rest of the batch uses no lanes */
    /* for small photos of a batch: one row for each window of run/stream_photos.c; NULL until needed */
    lap_device_staging *small[LAP_STREAM_WINDOWS][LAP_DEVICE_CHAIN];
};

/* LAP_E_USAGE unless the view has pixels on the stream's device. The message begins with `which`. */
lap_code lap_stream_check(const lap_stream *stream, const lap_view *view, const char *which, lap_error *err);

/* Returns a lane for the calling thread; waits while all lanes are in use. NULL: there is no memory for
 * one. */
lap_lane *lap_stream_lane_take(lap_stream *stream);
void lap_stream_lane_give(lap_stream *stream, lap_lane *lane);
/* Waits until no lane is in use, and frees all lanes; creates no others until is_short is reset. */
void lap_stream_lanes_free(lap_stream *stream);

#endif
