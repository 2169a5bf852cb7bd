#include "device/known_codec.h"

#include "cuda/device/device.h"
#include "libjpeg/known_picture.h"

const char *lap_device_codec_unavailable(unsigned directions)
{
    const char *why = lap_cuda_unavailable();
    if (!why && directions & LAP_DEVICE_DECODES)
        why = lap_known_decoding_differs();
    if (!why && directions & LAP_DEVICE_ENCODES)
        why = lap_known_encoding_differs();
    return why;
}
