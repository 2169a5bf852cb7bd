/* What the files of the JPEG decoder share: jpeg_decoder.c decodes from the first row on, jpeg_own_part.c
 * from any row on. */
#ifndef LAP_JPEG_OWN_H
#define LAP_JPEG_OWN_H

#include <pthread.h>

#include "codec/codec.h"
#include "jpeg/decode_ladder.h"
#include "jpeg/decode_rows.h"

typedef struct lap_own_decoder { /* decoder->first of a picture that is ours */
    const lap_jpeg_frame *frame;
    const lap_decode_rung *rung;
    lap_row_decoder *rows; /* made for the first row */
    union {
        lap_jpeg_frame sequential;
        lap_jpeg_script script; /* of a progressive one */
    } header;
    bool is_progressive;
    size_t memory_without, held_without; /* the decoder's memory_estimate and held, if it were not ours */
    pthread_mutex_t lock;                /* of held, while it is made */
    lap_held *held;                      /* all coefficients; made for the first row that anybody asks for */
} lap_own_decoder;

/* Of a progressive picture: its coefficients, decoded by the calling thread and others that come here.
 * *is_fine: nothing in its scans was odd. */
lap_code lap_own_coefficients(const lap_decoder *decoder, bool *is_fine, lap_error *err);
/* What the rows of the picture come from, once that is done. */
lap_row_source lap_own_source(const lap_decoder *decoder);

/* Decoders that begin at a row, of pictures that are ours, and of others. */
extern const lap_decoder_ops lap_own_part_decoder;

#endif
