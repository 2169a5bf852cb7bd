/* The rows of a picture by a decoder of our own, from a file that is held in memory, or from all coefficients
 * of a progressive one. Whatever is odd ends it before any row that depends on it: it never judges a file. */
#ifndef LAP_DECODE_ROWS_H
#define LAP_DECODE_ROWS_H

#include "jpeg/decode_held.h"
#include "lapedge.h"

typedef struct lap_row_decoder lap_row_decoder; /* of one thread */

typedef struct lap_row_source {
    const lap_decode_plan *plan; /* and the file: they stay there as long as the decoder is open */
    const uint8_t *bytes;
    size_t size;
    size_t scan_begin; /* of the file: the first byte of its scan */
    const lap_decode_stages *stages;
    bool gray;            /* the luma alone, if need be of RGB */
    const lap_held *held; /* all coefficients, decoded; NULL: they come from the file */
} lap_row_source;

/* Bytes that a decoder of a picture of this width takes at most, beside plan and file. */
size_t lap_row_decoder_memory(int width);
/* LAP_E_MEMORY. */
lap_code lap_row_decoder_open(const lap_row_source *source, lap_row_decoder **decoder, lap_error *err);
void lap_row_decoder_close(lap_row_decoder *decoder); /* NULL is fine */

typedef struct lap_row_start { /* where a row of MCUs begins */
    int mcu_row;
    size_t byte;   /* of the file: the one that its first bit lies in */
    unsigned bit;  /* of that byte, 0 the uppermost */
    int16_t dc[4]; /* prediction for its first MCU */
} lap_row_start;
/* Before the first row: goes on there (of a held picture mcu_row alone counts); the next row of
 * pixels is ROW. The caller has seen that everything before it is in order. */
void lap_row_decoder_seek(lap_row_decoder *decoder, const lap_row_start *start, int row);

/* The next rows into ROWS, which has the picture's width and 1 or 3 channels as source->gray has it. Returns
 * how many were filled; fewer than rows->height: something odd comes next, and no further row can be had. The
 * last row of the picture is filled only if its end marker follows the scan. */
int lap_row_decoder_rows(lap_row_decoder *decoder, const lap_view *rows);

#endif
