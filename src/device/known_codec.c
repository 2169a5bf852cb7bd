#include "device/known_codec.h"

#include "base/status.h"
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

lap_code lap_device_codec_choose(
    lap_codec_place codec, unsigned directions, const char **unavailable, lap_error *err)
{
    *unavailable = lap_device_codec_unavailable(directions);
    if (codec == LAP_CODEC_CUDA && *unavailable)
        return lap_fail(err, LAP_E_BACKEND, "codec 'cuda' cannot run here: %s", *unavailable);
    return LAP_OK;
}
