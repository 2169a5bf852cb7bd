/* A libjpeg destination manager that writes to a lap_chunk: the encoder writes straight into the chunk, which
 * doubles when it is full. cinfo->err must be a lap_jpeg_error, which reports when memory runs out. */
#ifndef LAP_JPEG_DEST_H
#define LAP_JPEG_DEST_H

#include "codec/codec.h"
#include "libjpeg/jpeg_error.h"

typedef struct lap_jpeg_dest {
    struct jpeg_destination_mgr base; /* first member: cinfo->dest points here */
    lap_chunk *chunk;
} lap_jpeg_dest;

void lap_jpeg_dest_init(j_compress_ptr cinfo, lap_jpeg_dest *dest);
/* Lets the encoder append to chunk from now on. */
void lap_jpeg_dest_set(j_compress_ptr cinfo, lap_chunk *chunk);
/* Sets chunk->size to the number of bytes written so far. */
void lap_jpeg_dest_flush(j_compress_ptr cinfo);

#endif
