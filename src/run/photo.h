/* One photo: loaded, worked on, stored.
 *
 * load: the header is read, and the plan made. work: bands from decoder to encoder (bands.h), or the whole
 * photo on a device (photo_device.h), or its coded blocks moved (lossless.h). What came of it is told here.
 */
#ifndef LAP_PHOTO_H
#define LAP_PHOTO_H

#include <pthread.h>

#include "base/context.h"
#include "base/counts.h"
#include "base/image.h"
#include "device/device_staging.h"
#include "io/sink.h"
#include "run/plan.h"

/* Whether a JPEG is turned without decoding its pixels (lossless.h). */
typedef struct lap_lossless_way {
    bool is_demanded;   /* no pixels are coded instead */
    bool is_taken;      /* so far */
    bool done;          /* the file was written so */
    const char *reason; /* why pixels are coded anew instead; else NULL */
    char room[160];     /* that the reason may stand in */
    bool trims;         /* partial MCUs are left out: width and height are what stays */
    int width, height;  /* of the stored picture */
} lap_lossless_way;

typedef struct lap_photo {
    /* what is to be done, by the caller */
    lap_context *context;
    const lap_settings *settings; /* checked; until it is open: the plan has what the work needs of them */
    lap_control *control;         /* or NULL */
    lap_source *source;
    lap_sink *sink;           /* up to and without lap_photo_store; NULL: nothing is written */
    lap_photo_counts *counts; /* counts are added here; or NULL */

    lap_plan plan;
    lap_decoder *decoder;
    lap_encoder *encoder;
    lap_image whole;    /* all pixels, turned; or empty */
    lap_image filtered; /* all results of a rung that takes no bands; or empty */
    lap_lossless_way lossless;
    lap_meta_drops drops; /* metadata that the output lacks */
    struct {
        bool is_starting; /* by starter, which is to be joined */
        pthread_t starter;
        const uint8_t *file; /* the input's bytes, or NULL */
        size_t file_size;
        bool decoded, encoded; /* there */
    } device;

    int width, height, channels; /* of what comes out */
    lap_times ms;                /* decode includes reading, encode writing; parted in the report */
    lap_damage damage;
} lap_photo;

/* All of it, synchronously; frees what it made. report is filled as far as known. */
lap_code lap_photo_run(lap_photo *photo, lap_report *report, lap_error *err);
/* Header and plan; lap_plan_settings has been there. */
lap_code lap_photo_open(lap_photo *photo, lap_error *err);
/* Decodes and turns everything into photo->whole, on the CPU. */
lap_code lap_photo_collect(lap_photo *photo, lap_error *err);
/* LAP_E_DAMAGED if a JPEG or PNG loses metadata of the input and that is to fail. Call it after the last row.
 */
lap_code lap_photo_refuse_losses(const lap_photo *photo, lap_error *err);
/* What is known by now. */
void lap_photo_report(const lap_photo *photo, lap_report *report);
/* The statistics of what was counted. */
lap_code lap_photo_stats(
    lap_photo_counts *counts, int channels, int threshold, lap_run_stats *stats, lap_error *err);
/* What is left when the output is written: statistics, if the plan has some, and lap_sink_finish as it
 * says; what that adds to the report. */
lap_code lap_photo_store(
    const lap_photo *photo, lap_photo_counts *counts, lap_report *report, lap_error *err);

#endif
