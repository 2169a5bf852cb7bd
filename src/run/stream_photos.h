/* Photos that are decoded or encoded on a lap_stream. Small photos are processed in chains (device_slot.h);
 * larger ones, and those of a chain that failed, one by one. The CPU codes photos that the device cannot
 * code, several at once on the context's threads. */
#ifndef LAP_STREAM_PHOTOS_H
#define LAP_STREAM_PHOTOS_H

#include <pthread.h>

#include "device/device_stream.h"
#include "run/pixels.h"

typedef struct lap_stream_work lap_stream_work;

typedef struct lap_stream_photo { /* one of these photos; do not move it while it is open */
    lap_stream_work *work;
    size_t number;
    lap_device_staging *staging; /* for a chain; NULL: the photo is processed alone */
    bool is_planned;             /* the staging has a plan for it */
    bool is_chained, is_done;    /* is_chained: a chain has run it; is_done: the device has coded it */
    lap_code code;
    lap_error why;
    double start, begun;        /* when begin was called, and when it had returned */
    lap_report *report, unread; /* report: the caller's, or unread */
    lap_whole whole;            /* the file that is decoded */
    bool is_new;                /* its view was allocated here */
    lap_jpeg_head head;         /* of the file that is encoded; empty if the device does not encode */
} lap_stream_photo;

/* Calls for different photos run at the same time. */
typedef lap_code lap_stream_step(lap_stream_photo *photo, lap_error *err);

struct lap_stream_work {
    lap_stream *stream;
    const lap_settings *settings; /* complete */
    bool on_device;               /* the device should code; see lap_stream_choose */
    lap_views_filter filter;      /* applied after decoding; rung NULL: no filter */
    /* decoding, or encoding: arrays for `count` photos */
    size_t count;
    const void *const *files;
    const size_t *sizes;
    lap_view *views;
    const lap_view *pixels;
    void **out;
    size_t *out_sizes;
    /* begin opens a photo, and plans it into the staging if it has one; finish codes what no chain has coded,
     * and closes the photo, also after begin failed. */
    lap_stream_step *begin, *finish;
    bool (*is_right)(const lap_device_staging *staging); /* whether a chain has coded it */
    pthread_mutex_t lock; /* held by the thread that uses the stream, its slot or its staging */
};

/* Sets work->on_device. LAP_E_BACKEND: the device was requested but cannot run. */
lap_code lap_stream_choose(lap_stream_work *work, unsigned direction, lap_error *err);
/* Plans the photo for a chain if it is small. */
void lap_stream_plan(lap_stream_photo *photo, const lap_device_wish *wish, const void *file, size_t size);
/* Codes all photos, or none if code is a failure, which why describes. Fills in the reports, if not NULL; the
 * result and err are the first failure by number. */
lap_code lap_stream_photos(
    lap_stream_work *work, lap_code code, lap_error *why, lap_report *reports, lap_error *err);

#endif
