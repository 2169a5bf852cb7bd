/* A photo by way of a device: decoded, turned, filtered, counted and encoded there, as far as the device
 * takes it. Of a photo that is waited for, the CPU does the rest.
 *
 * A photo that nobody waits for comes in pieces: loaded by one thread, enqueued and watched by another
 * (device_slot.h), stored or measured by a third. The file that comes out is, byte by byte, that of
 * lap_run_to_sink, and statistics are those of lap_measure_to. An object belongs to one thread at a time.
 *
 * Here alone a JPEG is put together of a header and a scan. */
#ifndef LAP_PHOTO_DEVICE_H
#define LAP_PHOTO_DEVICE_H

#include "device/device_slot.h"
#include "run/photo.h"
#include "run/run.h"

/* Starts the device on a thread of its own, and meanwhile reads the file's bytes for it to decode; before the
 * decoder is opened. Not to have them is no failure. */
lap_code lap_photo_hold_file(lap_photo *photo, lap_error *err);
/* Until the device has started; before the photo ends. Nothing to wait for is fine. */
void lap_photo_wait_for_device(lap_photo *photo);
/* Filters and counts on the device, and decodes and encodes what the plan has it take, else on the CPU.
 * *is_done: the file is written, or none is wanted; else photo->filtered has the result for the encoder.
 * After the plan of memory. */
lap_code lap_photo_on_device(lap_photo *photo, bool *is_done, lap_error *err);

/* The JPEG of the scan that the slot's photo has on the device (slot NULL: that is in the staging already),
 * up to and without lap_sink_finish. Times are added: download, and what the sink took to encode. */
lap_code lap_photo_bring_jpeg(lap_device_slot *slot, const lap_device_staging *staging,
    const lap_chunk *header, lap_sink *sink, lap_times *times, lap_error *err);

/* ---- in pieces --------------------------------------------------------------------------------- */

typedef struct lap_async_run {
    lap_photo photo; /* what is known of it; its times */
    lap_control control;
    lap_chunk header; /* of the output */
    lap_device_staging *staging;
    const char *in;
    double began_ms;
} lap_async_run;

/* Reads the file into the staging, and plans its way with a rung of a device; order->out NULL: it is only
 * measured. *handled false: it is for lap_run_to_sink or lap_measure_to, which alone judge files. Fails only
 * where the staging cannot be had: LAP_E_DEVICE, LAP_E_MEMORY. The context, in and the staging are used until
 * the run is closed. */
lap_code lap_async_run_load(lap_async_run *run, const lap_run_order *order, const lap_rung *rung,
    lap_device_staging *staging, bool *handled, lap_error *err);
/* It has waited for a device to start, which is none of its time. */
void lap_async_run_restart(lap_async_run *run);
/* Of a photo whose slot is through and whose staging is done: writes the file of this order; the result is
 * that of lap_run_to_sink. */
lap_code lap_async_run_store(lap_async_run *run, const lap_run_order *order, struct stat *read,
    lap_sink **sink, lap_report *report, lap_error *err);
/* Arguments and result are those of lap_measure_to, without profiles and a border left out. */
lap_code lap_async_run_measure(lap_async_run *run, const lap_measure_options *options,
    lap_measurement *measurement, lap_report *report, lap_error *err);
void lap_async_run_close(lap_async_run *run); /* at any point, and twice */

#endif
