#include "device/devices.h"

#include "base/status.h"
#include "cuda/device/device.h"
#include "libjpeg/known_picture.h"

int lap_device_count(void)
{
    return lap_cuda_count(NULL);
}

bool lap_device_may_be(const char **reason)
{
    return lap_device_possible(reason);
}

int lap_device_to_start(void)
{
    return lap_cuda_to_start();
}

lap_code lap_device_open(int device, size_t *unused, lap_error *err)
{
    lap_device_info info = {0};
    const lap_code code = lap_cuda_info(device, &info, err);
    *unused = info.free_bytes;
    return code;
}

bool lap_device_pins(int device)
{
    return lap_cuda_may_pin(device);
}

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
