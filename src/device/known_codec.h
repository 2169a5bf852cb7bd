/* Whether JPEGs can be coded on a device with the bytes that the JPEG library makes here: another library, or
 * another version of it, may round otherwise than the codec of cuda/jpeg. Thread safe. */
#ifndef LAP_KNOWN_CODEC_H
#define LAP_KNOWN_CODEC_H

#include "lapedge.h"

/* NULL, or why not: there is no device, or its files would not be those of the CPU. A small synthetic picture
 * is coded at the first call and compared with what libjpeg-turbo 2.1 makes of it. */
const char *lap_device_codec_unavailable(void);
/* The same for a codec that may be a device's. LAP_E_BACKEND where it has to be one and cannot. */
lap_code lap_device_codec_choose(lap_codec_place codec, const char **unavailable, lap_error *err);

#endif
