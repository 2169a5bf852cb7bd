/* What the files of the JPEG decoder share: jpeg_decoder.c decodes from the first row on, jpeg_own_scan.c
 * looks where rows begin, jpeg_own_part.c decodes from any row on. */
#ifndef LAP_JPEG_OWN_H
#define LAP_JPEG_OWN_H

#include "codec/codec.h"
#include "coding/entropy_scan.h"
#include "jpeg/decode_ladder.h"
#include "jpeg/decode_rows.h"

typedef struct lap_own_decoder { /* decoder->first of a picture that is ours */
    lap_jpeg_frame frame;
    const lap_decode_rung *rung;
    lap_decode_plan *plan; /* made for the first row, or for all who begin at a row */
    lap_row_decoder *rows; /* made for the first row */
    /* where rows of MCUs begin; empty unless the decoder opens at any row */
    lap_scan_plan scan;
    lap_scan_index index;
} lap_own_decoder;

/* Fills source; makes the plan where there is none. LAP_E_MEMORY. */
lap_code lap_own_source(const lap_decoder *whole, lap_row_source *source, lap_error *err);
/* Looks through the scan of a picture that is ours, if options and header speak for decoding it in several
 * places. decoder->opens and ->how say how it went. */
lap_code lap_own_scan(lap_decoder *decoder, lap_error *err);

/* Decoders that begin at a row. */
extern const lap_decoder_ops lap_own_part_decoder;

#endif
