/* Whether the JPEG library that is linked writes what our own encoders write: another library, or another
 * version of it, may round otherwise, and then no file may be made by one of them in part or in turn. Thread
 * safe. */
#ifndef LAP_KNOWN_ENCODING_H
#define LAP_KNOWN_ENCODING_H

/* NULL, or the reason why not. At the first call small synthetic pictures, of every kind that we encode, are
 * encoded by the library and by our plain C; every other encoder of ours is compared with that by the tests.
 */
const char *lap_known_encoding_differs(void);

#endif
