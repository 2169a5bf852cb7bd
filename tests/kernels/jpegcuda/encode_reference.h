/* A photo's edges, and the scan that the CPU's encoder makes of them. */
#ifndef ENCODE_REFERENCE_H
#define ENCODE_REFERENCE_H

#include "base/image.h"
#include "cuda/jpeg/encode.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lap_reference {
    lap_image edges;
    lap_cuda_jpeg_target target;
    uint8_t *file;
    const uint8_t *scan; /* in file: from behind the scan header to the end marker */
    size_t scan_bytes;
} lap_reference;

/* The edges of a JPEG file (laplace5, border zero, quality 90, the file's sampling). Never freed. */
lap_code lap_reference_make(const char *file, lap_reference *reference, lap_error *err);
/* Reads the device's parameters from the header of a JPEG file; returns where its scan begins. */
size_t lap_reference_target(const uint8_t *file, size_t size, int channels, lap_cuda_jpeg_target *target);

#ifdef __cplusplus
}
#endif
#endif
