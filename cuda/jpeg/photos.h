/* How many pictures the decoder and the encoder take in the same launches. */
#ifndef LAP_CUDA_JPEG_PHOTOS_H
#define LAP_CUDA_JPEG_PHOTOS_H

/* A kernel has them all as its parameters, so that the single picture is a batch of one, and loads nothing to
 * find its own: those of the encoder, with quantisers, fill the 4 KB that parameters may take. */
enum { LAP_CUDA_JPEG_PHOTOS = 8 };

#endif
