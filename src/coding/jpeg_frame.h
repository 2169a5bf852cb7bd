/* What the header of a Huffman JPEG says that a decoder without the JPEG library needs. */
#ifndef LAP_JPEG_FRAME_H
#define LAP_JPEG_FRAME_H

#include "coding/huffman_walk.h"

enum { LAP_JPEG_COMPONENTS = 4 }; /* at most */

typedef struct lap_jpeg_frame {
    int width, height; /* pixels, 1 .. 65500 */
    int components;    /* 1: gray; 3: YCbCr or RGB; 4: YCCK or CMYK */
    bool is_ycc;       /* the first three are Y, Cb and Cr */
    bool is_inverted;  /* of four: 255 is no ink, as Adobe's programs have it */
    int sample_h[LAP_JPEG_COMPONENTS], sample_v[LAP_JPEG_COMPONENTS]; /* 1 .. 4 */
    uint16_t quant[LAP_JPEG_COMPONENTS][64];                          /* in zigzag order; 0 does not occur */
    lap_huff_layout huffman; /* of its only scan, which has all the components */
    int restart_interval;    /* MCUs, 0: none */
    uint64_t scan_begin;     /* bytes from the start of the file to the scan's first */
} lap_jpeg_frame;

#endif
