/* A band of pixels by an encoder of our own: what stands in the scan between two restart markers, or the next
 * part of a scan without them. */
#ifndef LAP_ENCODE_BAND_H
#define LAP_ENCODE_BAND_H

#include "codec/codec.h"
#include "cpu_simd/jpeg/encode.h"

typedef struct lap_band_encoder { /* of one thread; state is zeroed */
    const lap_encode_plan *plan;
    lap_encode_fn *run;
    lap_encode_join_fn *join; /* for what encode_join.h declares */
    lap_encode_state state;
    int first;                  /* MCU with which the next row of them begins: 0 but for bands apart */
    const lap_control *control; /* or NULL */
} lap_band_encoder;

/* The first block that comes is the first of an interval. */
void lap_band_encoder_restart(lap_band_encoder *encoder);
/* Appends to chunk. rows begins at a row of MCUs and, unless it reaches the end of the picture, has whole
 * ones. Takes LAP_ENCODE_WORK bytes of stack. LAP_E_MEMORY, or what control says. */
lap_code lap_band_encode(lap_band_encoder *encoder, const lap_view *rows, lap_chunk *chunk, lap_error *err);
/* Fills the last byte: the end of an interval. */
lap_code lap_band_encoder_finish(lap_band_encoder *encoder, lap_chunk *chunk, lap_error *err);

#endif
