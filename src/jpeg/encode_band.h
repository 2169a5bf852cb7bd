/* Encodes a band of pixels with our own encoder. A band is a restart interval, or the next part of a scan
 * without restart markers. */
#ifndef LAP_ENCODE_BAND_H
#define LAP_ENCODE_BAND_H

#include "codec/codec.h"
#include "cpu_simd/jpeg/encode.h"

typedef struct lap_band_encoder { /* used by one thread at a time; state begins as zeros */
    const lap_encode_plan *plan;
    lap_encode_fn *run;
    lap_encode_join_fn *join; /* used only by encode_join.h */
    lap_encode_state state;
    int first;                  /* first MCU to encode in the next MCU row; 0, except at the start of a
                                 * band that is encoded separately */
    const lap_control *control; /* or NULL */
} lap_band_encoder;

/* Resets the state: the next block begins a restart interval. */
void lap_band_encoder_restart(lap_band_encoder *encoder);
/* Encodes rows and appends the bytes to chunk. rows must begin at a row of MCUs and contain whole MCU rows;
 * only the last one of the picture may be cut off. Uses LAP_ENCODE_WORK bytes of stack. LAP_E_MEMORY, or what
 * lap_control_check returns. */
lap_code lap_band_encode(lap_band_encoder *encoder, const lap_view *rows, lap_chunk *chunk, lap_error *err);
/* Ends an interval: pads its last byte with ones. */
lap_code lap_band_encoder_finish(lap_band_encoder *encoder, lap_chunk *chunk, lap_error *err);

#endif
