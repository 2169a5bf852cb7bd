/* Finds the edges of a photo: in memory, and of pixels that the caller owns. */
#include <lapedge.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(const lap_error *error)
{
    char text[800];
    fprintf(stderr, "example: %s\n", lap_error_text(error, text, sizeof text));
    return 1;
}

/* A white square on black: its edges are where the filter answers. They become a JPEG in memory. */
static lap_code square(lap_context *context, lap_error *error)
{
    static uint8_t pixels[16 * 16], edges[16 * 16];
    void *file = NULL;
    size_t size = 0;
    for (int y = 4; y < 12; y++)
        for (int x = 4; x < 12; x++)
            pixels[16 * y + x] = 255;
    const lap_view in = {
        .base = pixels, .stride = 16, .width = 16, .height = 16, .channels = 1, .place = LAP_ON_HOST};
    lap_view out = in;
    out.base = edges;
    const lap_params params = lap_params_default();
    const lap_settings settings = lap_settings_default();
    lap_code code = lap_filter(context, &in, &out, "auto", &params, LAP_ZERO, error);
    if (code == LAP_OK)
        code = lap_encode(&out, &settings, &file, &size, error);
    if (code == LAP_OK)
        printf("square: corner %d, middle %d; as a JPEG %zu bytes\n", edges[16 * 4 + 4], edges[16 * 8 + 8],
            size);
    free(file);
    return code;
}

int main(int argc, char **argv)
{
    lap_error error = {0};
    lap_report report;
    if (argc != 3) {
        fprintf(stderr, "usage: example IN.jpg OUT.jpg\n");
        return 2;
    }
    lap_context *context = lap_context_create(0, &error);
    if (!context)
        return fail(&error);
    const lap_settings settings = lap_settings_default();
    lap_code code = lap_run_file(context, argv[1], argv[2], &settings, &report, &error);
    if (code == LAP_OK) {
        printf("%s: %d x %d, %s\n", argv[2], report.width, report.height, report.resolved);
        code = square(context, &error);
    }
    lap_context_destroy(context);
    return code == LAP_OK ? 0 : fail(&error);
}
