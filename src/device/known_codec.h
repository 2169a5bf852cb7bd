/* Whether JPEGs can be coded on a device with the bytes and pixels that the JPEG library makes here
 * (libjpeg/known_picture.h). Thread safe. */
#ifndef LAP_KNOWN_CODEC_H
#define LAP_KNOWN_CODEC_H

#include "lapedge.h"

enum { LAP_DEVICE_DECODES = 1, LAP_DEVICE_ENCODES = 2, LAP_DEVICE_CODES = 3 };

/* NULL, or why not all of these: there is no device, or it would round otherwise than the CPU. */
const char *lap_device_codec_unavailable(unsigned directions);
/* The same for a codec that may be a device's. LAP_E_BACKEND where it has to be one and cannot. */
lap_code lap_device_codec_choose(
    lap_codec_place codec, unsigned directions, const char **unavailable, lap_error *err);

#endif
