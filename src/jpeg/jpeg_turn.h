/* Turning a JPEG without decoding its pixels: its blocks are moved and mirrored, by TurboJPEG. */
#ifndef LAP_JPEG_TURN_H
#define LAP_JPEG_TURN_H

#include "codec/codec.h"
#include "jpeg/jpeg_scan.h"

/* NULL where it can be done here; else why not. */
const char *lap_jpeg_turn_unavailable(void);

/* Blocks are mirrored in whole MCUs, so what is left of one at the right or lower edge has no place where
 * that edge becomes the left or upper one. width and height of the stored picture are cut to what can be
 * turned; false where that is nothing. *whole: nothing is cut. */
bool lap_jpeg_turn_trim(const lap_jpeg_scan *scan, lap_turn turn, int *width, int *height, bool *whole);
/* Bytes that turning such a file of `size` bytes takes, about. */
uint64_t lap_jpeg_turn_memory(const lap_jpeg_scan *scan, size_t size);
/* Scans in the whole file; *missing: a component is in none of them. */
int lap_jpeg_turn_scans(const lap_jpeg_scan *scan, const uint8_t *bytes, size_t size, bool *missing);

typedef struct lap_jpeg_turned {
    uint8_t *bytes; /* a JPEG without metadata */
    size_t size;
    bool is_plain; /* bytes are malloc's, not TurboJPEG's */
    bool odd;      /* TurboJPEG had something to say about the input's data */
} lap_jpeg_turned;

/* bytes: a whole JPEG. o: progressive and optimize count. LAP_E_UNSUPPORTED where TurboJPEG does not do it;
 * LAP_E_CANCELLED, LAP_E_TIMEOUT, LAP_E_MEMORY. */
lap_code lap_jpeg_turn(const uint8_t *bytes, size_t size, lap_turn turn, bool trim,
    const lap_write_options *o, lap_jpeg_turned *turned, lap_error *err);
/* With the metadata and the density that o asks for. */
lap_code lap_jpeg_turned_write(
    const lap_jpeg_turned *turned, const lap_write_options *o, lap_sink *sink, lap_error *err);
void lap_jpeg_turned_free(lap_jpeg_turned *turned); /* zeroed is fine */

#endif
