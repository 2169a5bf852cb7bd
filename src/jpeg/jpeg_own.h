/* What the files of the JPEG decoder share: jpeg_decoder.c decodes from the first row on, jpeg_own_part.c
 * from any row on. */
#ifndef LAP_JPEG_OWN_H
#define LAP_JPEG_OWN_H

#include "codec/codec.h"
#include "jpeg/decode_ladder.h"
#include "jpeg/decode_rows.h"

typedef struct lap_own_decoder { /* decoder->first of a picture that is ours */
    lap_jpeg_frame frame;
    const lap_decode_rung *rung;
    lap_row_decoder *rows; /* made for the first row */
} lap_own_decoder;

/* Decoders that begin at a row, of pictures that are ours, and of others. */
extern const lap_decoder_ops lap_own_part_decoder;

#endif
