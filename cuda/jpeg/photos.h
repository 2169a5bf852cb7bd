/* The most pictures in the same launches of the decoder or the encoder, and the bytes of a picture's row in a
 * table. */
#ifndef LAP_CUDA_JPEG_PHOTOS_H
#define LAP_CUDA_JPEG_PHOTOS_H

/* A single picture is passed as a kernel parameter, so that kernels find it without a load. Several pictures
 * have rows in a table in device memory. */
enum { LAP_CUDA_JPEG_PHOTOS = 256, LAP_CUDA_JPEG_DECODE_ROW = 512, LAP_CUDA_JPEG_ENCODE_ROW = 1536 };

#endif
