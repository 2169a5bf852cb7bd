/* The CUDA devices of this machine: how many, what they can do, and their start. Thread safe. */
#ifndef LAP_DEVICES_H
#define LAP_DEVICES_H

#include "lapedge.h"

/* Devices that can be used. */
int lap_device_count(void);
/* lap_device_possible, for callers that do not see the devices themselves. */
bool lap_device_may_be(const char **reason);
/* Of which number the time depends that a start takes. Starts nothing. */
int lap_device_to_start(void);
/* Starts the device, which takes some hundred milliseconds. *unused: bytes of its memory. */
lap_code lap_device_open(int device, size_t *unused, lap_error *err);
/* Whether stagings pin their memory themselves. Starts nothing. */
bool lap_device_pins(int device);

/* Whether JPEGs can be coded on a device with the bytes and pixels that the JPEG library makes here
 * (libjpeg/known_picture.h). */
enum { LAP_DEVICE_DECODES = 1, LAP_DEVICE_ENCODES = 2, LAP_DEVICE_CODES = 3 };

/* NULL, or why not all of these: there is no device, or it would round otherwise than the CPU. */
const char *lap_device_codec_unavailable(unsigned directions);
/* The same for a codec that may be a device's. LAP_E_BACKEND where it has to be one and cannot. */
lap_code lap_device_codec_choose(
    lap_codec_place codec, unsigned directions, const char **unavailable, lap_error *err);

#endif
