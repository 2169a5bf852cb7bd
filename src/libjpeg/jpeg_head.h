/* Makes the header of a JPEG file for our own encoders, which write the scan. It is the header that
 * jpeg_write.c writes, with the parameters that the scan must use. */
#ifndef LAP_JPEG_HEAD_H
#define LAP_JPEG_HEAD_H

#include "codec/codec.h"

typedef struct lap_jpeg_head {
    lap_chunk header;      /* from SOI to the scan header; the caller frees it with lap_chunk_free */
    int components;        /* 1 or 3 */
    int h[3], v[3];        /* sampling factors of each component */
    uint16_t quant[2][64]; /* for luma and chroma, row by row; the same twice if there is one component */
    int interval;          /* MCUs of a restart interval; 0: no restart markers */
    int band_rows;         /* rows of pixels of an interval, if there are several */
} lap_jpeg_head;

/* The end of a file, after its scan. */
extern const uint8_t lap_jpeg_end[2];

/* Thread safe. LAP_E_UNSUPPORTED, LAP_E_USAGE or LAP_E_MEMORY, as lap_encoder_open. */
lap_code lap_jpeg_head_make(const lap_write_options *options, lap_jpeg_head *head, lap_error *err);

#endif
