/* Whether the JPEG library that is linked decodes to the pixels that our own decoders give: another library,
 * or another version of it, may round otherwise, and then no picture may be decoded by one of them in part or
 * in turn. Thread safe. */
#ifndef LAP_KNOWN_DECODING_H
#define LAP_KNOWN_DECODING_H

/* NULL, or the reason why not. At the first call small synthetic pictures, of every kind that we decode, are
 * encoded by the library, and decoded by it and by our plain C; every other decoder of ours is compared with
 * that by the tests. */
const char *lap_known_decoding_differs(void);

#endif
