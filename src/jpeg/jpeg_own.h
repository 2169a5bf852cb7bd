/* The state of a picture that our own decoder decodes. Three files share it: jpeg_decoder.c decodes from the
 * first row on, jpeg_own_scan.c finds where rows begin, and jpeg_own_part.c decodes from any row on. */
#ifndef LAP_JPEG_OWN_H
#define LAP_JPEG_OWN_H

#include <pthread.h>

#include "codec/codec.h"
#include "coding/entropy_scan.h"
#include "jpeg/decode_rows.h"
#include "jpeg/ladders.h"

typedef struct lap_own_decoder { /* decoder->first, if our decoder is used */
    const lap_jpeg_frame *frame;
    const lap_coder *rung;
    lap_decode_plan *plan; /* made before the first row */
    lap_row_decoder *rows; /* made before the first row */
    union {
        lap_jpeg_frame sequential;
        lap_jpeg_script script; /* if is_progressive */
    } header;
    bool is_progressive;
    size_t memory_without; /* the value of memory_estimate without our decoder */
    pthread_mutex_t lock;  /* guards the creation of plan and held, and idle */
    lap_held *held;        /* all coefficients; made when the first row is requested */
    lap_row_decoder *idle; /* row decoders of finished parts, for the next parts */
    /* Where rows of MCUs begin. Empty unless the picture is sequential and can be opened at any row. */
    lap_scan_plan scan;
    lap_scan_index index;
} lap_own_decoder;

/* Decodes all coefficients of a progressive picture; threads that call it at the same time share the work.
 * *is_fine: all scans are valid. */
lap_code lap_own_coefficients(const lap_decoder *decoder, bool *is_fine, lap_error *err);
/* Fills *source for a row decoder, with the held coefficients if there are any. The first call makes the
 * plan. LAP_E_MEMORY. */
lap_code lap_own_source(const lap_decoder *decoder, lap_row_source *source, lap_error *err);
/* Gets an idle row decoder for a part, or opens one. The caller calls lap_row_decoder_seek before it decodes.
 * LAP_E_MEMORY. */
lap_code lap_own_take_rows(const lap_decoder *decoder, lap_row_decoder **rows, lap_error *err);
void lap_own_give_rows(const lap_decoder *decoder, lap_row_decoder *rows); /* makes it idle; NULL is fine */
/* Returns how many threads may decode the picture, including the caller's. */
int lap_own_threads(const lap_decoder *decoder);
/* If options and header make parallel decoding of a sequential picture worthwhile, indexes its scan. Sets
 * decoder->opens if the picture can be opened at any row; else decoder->how may say why it cannot. */
lap_code lap_own_scan(lap_decoder *decoder, lap_error *err);

/* The decoder of a part of the picture, beginning at any row. */
extern const lap_decoder_ops lap_own_part_decoder;

#endif
