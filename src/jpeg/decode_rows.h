/* Decodes rows of pixels with our own decoder, from a file in memory, or from all coefficients of a
 * progressive picture. At anything invalid or unsupported it stops before the first row that depends on it;
 * libjpeg-turbo then decides whether that is an error. */
#ifndef LAP_DECODE_ROWS_H
#define LAP_DECODE_ROWS_H

#include "jpeg/decode_held.h"
#include "lapedge.h"

typedef struct lap_row_decoder lap_row_decoder; /* used by one thread at a time */

typedef struct lap_row_source {
    const lap_decode_plan *plan; /* plan and file must outlive the decoder */
    const uint8_t *bytes;
    size_t size;
    size_t scan_begin; /* offset in the file of the scan's first byte */
    const lap_decode_stages *stages;
    bool gray;            /* output luma only; for an RGB file, luma is computed from RGB */
    const lap_held *held; /* all coefficients, decoded; NULL: decode them from the file */
} lap_row_source;

/* Returns how many bytes a decoder needs at most for a picture of this width, without plan and file. */
size_t lap_row_decoder_memory(int width);
/* LAP_E_MEMORY. */
lap_code lap_row_decoder_open(const lap_row_source *source, lap_row_decoder **decoder, lap_error *err);
void lap_row_decoder_close(lap_row_decoder *decoder); /* NULL is fine */

typedef struct lap_row_start { /* where a row of MCUs begins */
    int mcu_row;
    size_t byte;   /* offset in the file of the byte that holds the row's first bit */
    unsigned bit;  /* position of that bit in the byte; 0 is the most significant */
    int16_t dc[4]; /* DC predictions for its first MCU */
} lap_row_start;
/* Decoding continues at START, and the next row of pixels is ROW. If all coefficients are held, only START's
 * mcu_row is used. The caller has checked that everything before it is valid. */
void lap_row_decoder_seek(lap_row_decoder *decoder, const lap_row_start *start, int row);

/* A list of idle decoders of one picture, NULL if it is empty. */
void lap_row_decoder_push(lap_row_decoder **idle, lap_row_decoder *decoder);
lap_row_decoder *lap_row_decoder_pop(lap_row_decoder **idle); /* NULL if it is empty */

/* Decodes the next rows into ROWS, which has the picture's width, and 1 channel if source->gray is set, else
 * 3. Returns how many rows were filled. Fewer than rows->height: the data that follows is invalid or
 * unsupported, and no further row can be decoded. The picture's last row is filled only if the end marker
 * follows the scan. */
int lap_row_decoder_rows(lap_row_decoder *decoder, const lap_view *rows);

#endif
