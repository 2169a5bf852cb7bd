/* Whether the JPEG library that is linked rounds as libjpeg-turbo does, whose bytes and pixels our own coders
 * give, on the CPU and on devices: another library, or another version of it, may round otherwise. Then ours
 * are off in that direction, so that no file and no picture is made by two roundings in part or in turn.
 * Thread safe. */
#ifndef LAP_KNOWN_PICTURE_H
#define LAP_KNOWN_PICTURE_H

/* NULL, or the reason why not. At the first call the library encodes small synthetic pixels, of every kind
 * that we encode; known are the bytes that libjpeg-turbo makes of them. */
const char *lap_known_encoding_differs(void);
/* The same for pixels. The files that are decoded are made of synthetic coefficients, so that no rounding of
 * the library's encoder plays a part. */
const char *lap_known_decoding_differs(void);

#endif
