/* A picture that a decoder of our own does, and what the files that decode it share: jpeg_decoder.c decodes
 * from the first row on, jpeg_own_scan.c looks where rows begin, jpeg_own_part.c decodes from any row on. */
#ifndef LAP_JPEG_OWN_H
#define LAP_JPEG_OWN_H

#include <pthread.h>

#include "codec/codec.h"
#include "coding/entropy_scan.h"
#include "jpeg/decode_ladder.h"
#include "jpeg/decode_rows.h"

typedef struct lap_own_decoder { /* decoder->first of a picture that is ours */
    const lap_jpeg_frame *frame;
    const lap_decode_rung *rung;
    lap_decode_plan *plan; /* made for the first row */
    lap_row_decoder *rows; /* made for the first row */
    union {
        lap_jpeg_frame sequential;
        lap_jpeg_script script; /* of a progressive one */
    } header;
    bool is_progressive;
    size_t memory_without, held_without; /* the decoder's memory_estimate and held, if it were not ours */
    pthread_mutex_t lock;                /* of plan and held, while they are made */
    lap_held *held;                      /* all coefficients; made for the first row that anybody asks for */
    /* where rows of MCUs begin; empty unless a sequential picture opens at any row */
    lap_scan_plan scan;
    lap_scan_index index;
} lap_own_decoder;

/* Of a progressive picture: its coefficients, decoded by the calling thread and others that come here.
 * *is_fine: nothing in its scans was odd. */
lap_code lap_own_coefficients(const lap_decoder *decoder, bool *is_fine, lap_error *err);
/* What the rows of the picture come from, coefficients if they are there; makes the plan where there is none.
 * LAP_E_MEMORY. */
lap_code lap_own_source(const lap_decoder *decoder, lap_row_source *source, lap_error *err);
/* How many threads may decode the picture, the calling one counted. */
int lap_own_threads(const lap_decoder *decoder);
/* Looks through the scan of a sequential picture that is ours, if options and header speak for decoding it in
 * several places. decoder->opens and ->how say how it went. */
lap_code lap_own_scan(lap_decoder *decoder, lap_error *err);

/* Decoders that begin at a row. */
extern const lap_decoder_ops lap_own_part_decoder;

#endif
