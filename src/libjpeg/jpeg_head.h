/* The head of a JPEG file, for an encoder that makes the scan itself: the header as jpeg_write.c writes it,
 * and what a scan must keep to so that header, scan and end marker are the file that it would write. */
#ifndef LAP_JPEG_HEAD_H
#define LAP_JPEG_HEAD_H

#include "codec/codec.h"

typedef struct lap_jpeg_head {
    lap_chunk header;      /* from SOI to the scan header; lap_chunk_free is the caller's */
    int components;        /* 1 or 3 */
    int h[3], v[3];        /* sampling factors of each */
    uint16_t quant[2][64]; /* of luma and chroma, row by row; the same twice where there is one component */
    int interval;          /* MCUs of a restart interval, 0: no markers */
    int band_rows;         /* rows of pixels of an interval, where there are several */
} lap_jpeg_head;

/* Thread safe. LAP_E_UNSUPPORTED, _USAGE or _MEMORY as lap_encoder_open. */
lap_code lap_jpeg_head_make(const lap_write_options *options, lap_jpeg_head *head, lap_error *err);

#endif
