/* A photo whose backend runs on a device, coded there as well. */
#ifndef LAP_PHOTO_DEVICE_H
#define LAP_PHOTO_DEVICE_H

#include "run/photo.h"

/* Starts the device on a thread of its own, and meanwhile reads the file's bytes for it to decode; before the
 * decoder is opened. Not to have them is no failure. */
lap_code lap_photo_hold_file(lap_photo *photo, lap_error *err);
/* Until the device has started; before the photo ends. Nothing to wait for is fine. */
void lap_photo_wait_for_device(lap_photo *photo);
/* Decodes, filters, counts and encodes, on the device whatever it takes, else on the CPU. *is_done: the file
 * is written, or none is wanted; else photo->filtered has the result for the encoder. After the plan of
 * memory. */
lap_code lap_photo_on_device(lap_photo *photo, bool *is_done, lap_error *err);

/* photo.c: decodes and turns everything into photo->whole, on the CPU. */
lap_code lap_photo_collect(lap_photo *photo, lap_error *err);

#endif
