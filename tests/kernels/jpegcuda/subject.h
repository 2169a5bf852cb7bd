/* One picture decoded by libjpeg and by the device, for the tests and the bench. */
#ifndef JPEGCUDA_SUBJECT_H
#define JPEGCUDA_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/jpeg/decode.h"

typedef struct picture { /* rows without padding; free(pixels) */
    int width, height, channels;
    uint8_t *pixels;
} picture;

typedef enum verdict { FINE, WARNED, REFUSED } verdict;
/* Decodes as lapedge's decoder does: ISLOW, fancy upsampling, RGB or gray. pixels is NULL if REFUSED. */
verdict libjpeg_decode(const uint8_t *bytes, size_t size, bool gray, picture *out);

/* 0: decoded; > 0: bits of lap_huff_odd; NOT_OURS: the plan or the header says no; BROKEN: a CUDA call
 * failed, or bytes outside of the pixels were written. pixels NULL unless 0. */
enum { NOT_OURS = -1, BROKEN = -2 };
int device_decode(
    const uint8_t *bytes, size_t size, bool gray, const lap_cuda_jpeg_tuning *tuning, picture *out);

typedef struct device_picture {
    const uint8_t *bytes;
    size_t size;
    bool gray;
    int odd;     /* as device_decode returns it */
    picture got; /* likewise */
} device_picture;
/* The same for up to LAP_CUDA_JPEG_PHOTOS pictures in the same launches. */
void device_decode_batch(device_picture *pictures, int count, const lap_cuda_jpeg_tuning *tuning);

/* "" or the first difference, in a static buffer */
const char *picture_difference(const picture *a, const picture *b);

#endif
