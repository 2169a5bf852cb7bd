/* How many pictures the decoder and the encoder take in the same launches, and the table of them. */
#ifndef LAP_CUDA_JPEG_PHOTOS_H
#define LAP_CUDA_JPEG_PHOTOS_H

/* A single picture is a parameter of the kernels, which then load nothing to find it. Several pictures
 * have rows in a table in device memory. */
enum { LAP_CUDA_JPEG_PHOTOS = 256, LAP_CUDA_JPEG_DECODE_ROW = 512, LAP_CUDA_JPEG_ENCODE_ROW = 1536 };

#endif
