/* The fields of a Huffman JPEG's header that our own decoders need. */
#ifndef LAP_JPEG_FRAME_H
#define LAP_JPEG_FRAME_H

#include "coding/huffman_walk.h"

enum { LAP_JPEG_COMPONENTS = 4 }; /* the most components */

typedef struct lap_jpeg_frame {
    int width, height; /* pixels, 1 .. 65500 */
    int components;    /* 1: gray; 3: YCbCr or RGB; 4: YCCK or CMYK */
    bool is_ycc;       /* the first three are Y, Cb and Cr */
    bool is_inverted;  /* with four components: 255 means no ink, as Adobe's programs write it */
    int sample_h[LAP_JPEG_COMPONENTS], sample_v[LAP_JPEG_COMPONENTS]; /* 1 .. 4 */
    uint16_t quant[LAP_JPEG_COMPONENTS][64];                          /* in zigzag order; 0 does not occur */
    lap_huff_layout huffman; /* tables of the only scan, which has all components */
    int restart_interval;    /* MCUs; 0: no restart markers */
    uint64_t scan_begin;     /* offset in the file of the scan's first byte */
} lap_jpeg_frame;

#endif
