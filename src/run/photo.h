/* One photo: load it, work on it, store it.
 *
 * load: reads the header and makes the plan. work: moves bands from decoder to encoder (bands.h), or runs the
 * whole photo on a device (photo_device.h), or moves its coded blocks (lossless.h). store: finishes the
 * output, and reports. */
#ifndef LAP_PHOTO_H
#define LAP_PHOTO_H

#include <pthread.h>

#include "base/context.h"
#include "base/counts.h"
#include "base/image.h"
#include "device/device_staging.h"
#include "io/sink.h"
#include "run/plan.h"
#include "run/run.h"

/* Whether a JPEG is rotated or mirrored without decoding its pixels (lossless.h). */
typedef struct lap_lossless_way {
    bool is_demanded;   /* fail rather than re-encode pixels */
    bool is_taken;      /* try the lossless transform; may become false */
    bool done;          /* the file was written without loss */
    bool loses;         /* no setting asks for re-encoding, but the JPEG's blocks cannot be moved */
    const char *reason; /* why pixels are re-encoded instead; else NULL */
    char room[160];     /* may hold the text of reason */
    bool trims;         /* partial MCUs are left out: width and height are smaller */
    int width, height;  /* size of the picture before the transform */
} lap_lossless_way;

typedef struct lap_photo { /* do not move it once it is loaded */
    /* from the order */
    lap_context *context;
    lap_settings settings; /* checked; read until lap_photo_open returns, then only the plan is read */
    lap_control control;
    bool left_by_device; /* a device gave up decoding it: the CPU decodes it, and sends the pixels */
    /* the caller closes and frees these */
    lap_source *source;
    lap_sink *sink;           /* NULL: write nothing */
    lap_photo_counts *counts; /* counts are added here; or NULL */

    lap_plan plan;
    lap_decoder *decoder;
    lap_encoder *encoder;
    lap_image whole;    /* all pixels, rotated or mirrored as planned; or empty */
    lap_image filtered; /* the whole result of a rung that filters only whole images; or empty */
    lap_lossless_way lossless;
    lap_meta_drops drops; /* metadata that the output lacks */
    struct {
        bool is_starting; /* the thread `starter` runs; join it */
        pthread_t starter;
        const uint8_t *file; /* the input's bytes, or NULL */
        size_t file_size;
        bool decoded, encoded; /* on the device */
    } device;

    int width, height, channels; /* of the output */
    lap_times ms;                /* decode includes reading, encode writing; the report separates them */
    lap_damage damage;
} lap_photo;

/* Returns a photo for this order; its time limit counts from start_ms. Without an output its format is
 * LAP_FORMAT_NOTHING. */
lap_photo lap_photo_of(const lap_run_order *order, double start_ms);
/* Loads the photo, and processes it until the output is encoded; returns only then. Frees what it allocated.
 * Fills report as far as known, after a failure too. Call lap_photo_store next. */
lap_code lap_photo_run(lap_photo *photo, lap_report *report, lap_error *err);
/* Opens the decoder, and completes the plan from its header. Call it after lap_plan_settings. */
lap_code lap_photo_open(lap_photo *photo, lap_error *err);
/* Decodes all pixels into photo->whole on the CPU, rotated or mirrored as planned. */
lap_code lap_photo_collect(lap_photo *photo, lap_error *err);
/* LAP_E_UNSUPPORTED if a JPEG or PNG output loses metadata of the input and fail_on is LAP_FAIL_WARNING. Call
 * it after the last row. */
lap_code lap_photo_refuse_losses(const lap_photo *photo, lap_error *err);
/* Fills report with what is known so far. */
void lap_photo_report(const lap_photo *photo, lap_report *report);
/* Computes the statistics of the counts. */
lap_code lap_photo_stats(
    lap_photo_counts *counts, int channels, int threshold, lap_run_stats *stats, lap_error *err);
/* After the output is written: computes statistics of the counts if the plan requests them, calls
 * lap_sink_finish with the plan's settings, and completes the report. */
lap_code lap_photo_store(const lap_photo *photo, lap_report *report, lap_error *err);

#endif
