/* The CUDA devices of this machine: their number, their abilities, and their start. Thread safe. */
#ifndef LAP_DEVICES_H
#define LAP_DEVICES_H

#include "lapedge.h"

/* The number of usable devices. */
int lap_device_count(void);
/* The same as lap_device_possible, for callers that do not include cuda/. */
bool lap_device_may_be(const char **reason);
/* The number of devices that CUDA initialises when it starts, on which the start time depends. Starts
 * nothing. */
int lap_device_to_start(void);
/* Starts the device, which takes a few hundred milliseconds. *unused: bytes of its free memory. */
lap_code lap_device_open(int device, size_t *unused, lap_error *err);
/* Whether stagings allocate memory as usual and then pin it. Starts nothing. */
bool lap_device_pins(int device);

/* Coding on a device is allowed only if it produces the same bytes and pixels as the JPEG library here
 * (libjpeg/known_picture.h). */
enum { LAP_DEVICE_DECODES = 1, LAP_DEVICE_ENCODES = 2, LAP_DEVICE_CODES = 3 };

/* Returns NULL, or why the device cannot do all of `directions`: there is no device, or it would round
 * differently from the CPU. */
const char *lap_device_codec_unavailable(unsigned directions);
/* The same for the codec that settings name. LAP_E_BACKEND if they require a device's codec, and it is
 * unavailable. */
lap_code lap_device_codec_choose(
    lap_codec_place codec, unsigned directions, const char **unavailable, lap_error *err);

#endif
