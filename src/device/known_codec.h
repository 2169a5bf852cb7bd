/* Whether the JPEG library that is linked rounds as the codec of cuda/jpeg does: another library, or another
 * version of it, may write other bytes for the same pixels. Thread safe. */
#ifndef LAP_KNOWN_CODEC_H
#define LAP_KNOWN_CODEC_H

/* NULL, or the reason why the device's files would not be those of the CPU here. A small synthetic picture is
 * coded at the first call and compared with what libjpeg-turbo 2.1 makes of it. */
const char *lap_known_codec_differs(void);
/* NULL, or why JPEGs are not coded on a device: that, or there is none. */
const char *lap_device_codec_unavailable(void);

#endif
