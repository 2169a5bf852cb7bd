/* one_run RUNG WIDTH HEIGHT CHANNELS [KERNEL [clamp|abs]]: runs a CUDA filter rung three times on synthetic
 * pixels, for a profiler to look at the last. */
#include <stdlib.h>
#include <string.h>

#include "base/image.h"
#include "cuda/device/device.h"
#include "rungs/backend.h"

static int fail(const char *what, const lap_error *err)
{
    fprintf(stderr, "one_run: %s: %s\n", what, err->message);
    return 1;
}

int main(int argc, char **argv)
{
    lap_error err = {0};
    const lap_rung *rung;
    lap_image image = {0};
    lap_view in = {0}, out = {0};
    lap_params params = lap_params_default();
    const lap_exec exec = {.threads = 1, .err = &err};
    uint64_t noise = 1;
    if (argc < 5 || argc > 7)
        return fail(
            "usage", &(lap_error){.message = "one_run RUNG WIDTH HEIGHT CHANNELS [KERNEL [clamp|abs]]"});
    const int width = atoi(argv[2]), height = atoi(argv[3]), channels = atoi(argv[4]);
    if (lap_rung_find(LAP_OP_FILTER, argv[1], &rung, &err) != LAP_OK ||
        (argc > 5 && lap_kernel_parse(argv[5], &params.kernel, &err) != LAP_OK))
        return fail(argv[1], &err);
    params.range = argc > 6 && strcmp(argv[6], "abs") == 0 ? LAP_ABS : LAP_CLAMP;
    if (lap_image_create(&image, width, height, channels, 0, &err) != LAP_OK)
        return fail("image", &err);
    for (size_t i = 0; i < image.bytes; i++) {
        noise = noise * 6364136223846793005u + 1442695040888963407u;
        ((uint8_t *)image.memory)[i] = (uint8_t)(noise >> 56);
    }
    lap_code code = lap_cuda_view_create(0, width, height, channels, LAP_APRON, &in, &err);
    if (!code)
        code = lap_cuda_view_create(0, width, height, channels, 0, &out, &err);
    if (!code)
        code = lap_cuda_upload(&image.view, &in, NULL, &err);
    if (!code)
        code = lap_cuda_border(&in, LAP_ZERO, NULL, &err);
    for (int i = 0; i < 3 && !code; i++)
        code = rung->run.filter(&in, &out, &params, &exec);
    if (!code)
        code = lap_cuda_sync(0, NULL, &err);
    lap_cuda_view_destroy(&in);
    lap_cuda_view_destroy(&out);
    lap_image_destroy(&image);
    return code ? fail(argv[1], &err) : 0;
}
