/* The members of lap_stream. */
#ifndef LAP_DEVICE_STREAM_H
#define LAP_DEVICE_STREAM_H

#include <pthread.h>

#include "base/rung.h"
#include "device/device_slot.h"
#include "rungs/run_views.h"

enum { LAP_STREAM_WINDOWS = 3, LAP_STREAM_LANES = 16 };
/* A file that needs no more than this host memory is brought to pinned memory first. */
#define LAP_STREAM_PINNED ((size_t)64 << 20)
/* A photo that needs no more than this device memory may take a lane. */
#define LAP_STREAM_LANE ((size_t)512 << 20)

/* What codes a photo that goes alone. The copy from or to pageable memory that CUDA makes holds up the other
 * streams, and pinning takes as long as several photos; so the file of a lane's first photo is copied from
 * where it is, or to where it goes, and those that follow by way of pinned memory. */
typedef struct lap_lane {
    lap_device_slot *slot;
    lap_device_staging *pinned;
    lap_device_staging *paged; /* where `pinned` does not serve */
    int photos;                /* number of photos that it was asked to code */
    bool is_taken;
} lap_lane;

struct lap_stream {
    lap_context *context;
    int device;
    void *stream;
    lap_views_space space;
    lap_lane own;                     /* on this stream */
    pthread_mutex_t lock;             /* for the next four: */
    pthread_cond_t given;             /* a lane is returned, or lanes are closed */
    lap_lane lanes[LAP_STREAM_LANES]; /* on streams of their own, for large photos of a batch */
    bool is_short;                    /* of memory: the rest of the batch does without lanes */
    /* for those of a batch, a row for each window of run/stream_photos.c; NULL until they are needed */
    lap_device_staging *small[LAP_STREAM_WINDOWS][LAP_DEVICE_CHAIN];
};

/* LAP_E_USAGE unless the view has pixels on the stream's device. The message begins with `which`. */
lap_code lap_stream_check(const lap_stream *stream, const lap_view *view, const char *which, lap_error *err);

/* Returns a lane for the calling thread; waits while all are taken. NULL: there is no memory for one. */
lap_lane *lap_stream_lane_take(lap_stream *stream);
void lap_stream_lane_give(lap_stream *stream, lap_lane *lane);
/* Waits until no lane is taken, and frees them; no other is made until is_short is reset. */
void lap_stream_lanes_free(lap_stream *stream);

#endif
