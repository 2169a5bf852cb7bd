/* Checks that the linked JPEG library rounds like libjpeg-turbo. Our own coders, on the CPU and on devices,
 * output the bytes and pixels of libjpeg-turbo, but another library or version may round differently. Then
 * our encoders, or our decoders, are disabled, so that results never mix two ways of rounding. Thread safe.
 */
#ifndef LAP_KNOWN_PICTURE_H
#define LAP_KNOWN_PICTURE_H

/* Returns NULL if the library encodes like libjpeg-turbo, else the reason why our encoders are disabled. The
 * first call has the library encode small synthetic pictures of every kind that we encode, and compares the
 * bytes with known hashes of libjpeg-turbo's. Later calls return the same result. If memory ran out, that is
 * the reason returned, and the next call tries again. */
const char *lap_known_encoding_differs(void);
/* The same for decoding. The test files are made from synthetic coefficients, so that the rounding of the
 * library's encoder has no influence. */
const char *lap_known_decoding_differs(void);

#endif
