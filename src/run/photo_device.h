/* Processes a photo on a device: decodes, rotates or mirrors, filters, counts and encodes it there, as far as
 * the device can. If it cannot decode a photo, the CPU decodes the file and sends the pixels, the device
 * repeats the other steps, and the CPU encodes if the device cannot.
 *
 * A caller waits for the photo, or runs it in pieces: one thread loads it, another enqueues and watches it
 * (device_slot.h), a third stores or measures it. The output is byte for byte the same as from
 * lap_run_to_sink, and statistics are the same as from lap_measure_to. If the device gives up a photo that
 * runs in pieces, the staging is returned for the next photo, and a caller runs the photo again and waits for
 * it: lap_run_order.left_by_device. An object belongs to one thread at a time.
 *
 * Only this file puts a JPEG together from a header and a scan. */
#ifndef LAP_PHOTO_DEVICE_H
#define LAP_PHOTO_DEVICE_H

#include "device/device_slot.h"
#include "run/photo.h"
#include "run/run.h"

/* Starts the device on another thread, and reads the file's bytes for the device to decode. Call it before
 * the decoder is opened. LAP_OK also if the file is too large to be held: the CPU decodes then. */
lap_code lap_photo_hold_file(lap_photo *photo, lap_error *err);
/* Waits until the device has started. Call it before the photo is destroyed. Returns at once if no device is
 * starting. */
void lap_photo_wait_for_device(lap_photo *photo);
/* Filters and counts on the device; decodes and encodes there too if the plan says so, else on the CPU.
 * *is_done: the file is written, or no file was requested; else photo->filtered holds the result for the
 * encoder. Call it after lap_plan_memory. */
lap_code lap_photo_on_device(lap_photo *photo, bool *is_done, lap_error *err);

/* Writes a JPEG from its header and the scan that the device made; slot NULL: the scan is already in the
 * staging. Does not call lap_sink_finish. Adds times: the download, and writing as encode. */
lap_code lap_photo_bring_jpeg(lap_device_slot *slot, const lap_device_staging *staging,
    const lap_chunk *header, lap_sink *sink, lap_times *times, lap_error *err);

/* ---- in pieces: several threads ---------------------------------------------------------------- */

typedef struct lap_async_run {
    lap_photo photo;
    lap_chunk header; /* of the output */
    lap_device_staging *staging;
    const char *in;
    double began_ms;
} lap_async_run;

/* Reads the file into the staging, and plans its steps with a device's rung. order->out NULL: it is only
 * measured. *handled false: call lap_run_to_sink or lap_measure_to instead, which also report errors of the
 * file. Fails only if the staging cannot be allocated: LAP_E_DEVICE, LAP_E_MEMORY. Uses the context,
 * order->in and the staging until the run is closed. */
lap_code lap_async_run_load(lap_async_run *run, const lap_run_order *order, const lap_rung *rung,
    lap_device_staging *staging, bool *handled, lap_error *err);
/* Restarts its clock and moves its deadline: waiting for a device to start does not count. */
void lap_async_run_restart(lap_async_run *run);
/* Writes the output of a photo that the device has finished. Arguments and result are those of
 * lap_run_to_sink. */
lap_code lap_async_run_store(lap_async_run *run, const lap_run_order *order, struct stat *read,
    lap_sink **sink, lap_report *report, lap_error *err);
/* Computes the statistics of such a photo. Arguments and result are those of lap_measure_to, except that it
 * computes no profiles and ignores mask_border. */
lap_code lap_async_run_measure(lap_async_run *run, const lap_measure_options *options,
    lap_measurement *measurement, lap_report *report, lap_error *err);
void lap_async_run_close(lap_async_run *run); /* may be called at any point, and more than once */

#endif
