/* What the header of a sequential Huffman JPEG says that a decoder without the JPEG library needs. */
#ifndef LAP_JPEG_FRAME_H
#define LAP_JPEG_FRAME_H

#include "coding/huffman_walk.h"

typedef struct lap_jpeg_frame {
    int width, height;            /* pixels, 1 .. 65500 */
    int components;               /* 1 (gray) or 3 (YCbCr) */
    int sample_h[3], sample_v[3]; /* 1 .. 4 */
    uint16_t quant[3][64];        /* of each component, in zigzag order; 0 does not occur */
    lap_huff_layout huffman;      /* of its only scan, which has all the components */
    int restart_interval;         /* MCUs, 0: none */
    uint64_t scan_begin;          /* bytes from the start of the file to the scan's first */
} lap_jpeg_frame;

#endif
