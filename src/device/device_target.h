/* What the device's encoder has to know of a header that the CPU writes. */
#ifndef LAP_DEVICE_TARGET_H
#define LAP_DEVICE_TARGET_H

#include <string.h>

#include "cuda/jpeg/encode.h"
#include "jpeg/jpeg_parts.h"

static inline lap_cuda_jpeg_target lap_device_target(
    int width, int height, int channels, const lap_jpeg_parts *parts)
{
    lap_cuda_jpeg_target target = {
        .width = width, .height = height, .channels = channels, .restart_interval = parts->interval};
    for (int c = 0; c < 3; c++) {
        target.sample_h[c] = c < parts->components ? parts->h[c] : 1;
        target.sample_v[c] = c < parts->components ? parts->v[c] : 1;
    }
    memcpy(target.quant, parts->quant, sizeof target.quant);
    return target;
}

#endif
