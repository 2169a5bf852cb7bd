#include "bench/bench_image.h"

/* Size of the lab sheet's photo. */
enum { DEFAULT_WIDTH = 4992, DEFAULT_HEIGHT = 3744 };

static void tile(const lap_view *photo, const lap_view *to)
{
    for (int y = 0; y < to->height; y++) {
        const uint8_t *from = photo->base + (y % photo->height) * photo->stride;
        uint8_t *row = to->base + y * to->stride;
        for (int x = 0, at = 0; x < to->width; x++) {
            const uint8_t *pixel = from + (size_t)(x % photo->width) * (size_t)photo->channels;
            for (int c = 0; c < to->channels; c++, at++)
                row[at] = c == 3 ? 255 : pixel[c < photo->channels ? c : 0];
        }
    }
}

static void synthesize(const lap_view *to)
{
    uint32_t state = 2463534242u; /* Marsaglia's xorshift32, with his seed */
    for (int y = 0; y < to->height; y++) {
        uint8_t *row = to->base + y * to->stride;
        for (int i = 0; i < to->width * to->channels; i++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            row[i] = (uint8_t)((y + i / to->channels) / 32 % 224 + (int)(state >> 27));
        }
    }
}

static lap_code read_photo(const lap_bench_options *options, lap_pixels **photo, lap_error *err)
{
    const lap_settings settings = {.gray = options->channels == 1, .fail_on = LAP_FAIL_TRUNCATED};
    lap_context *context = lap_context_create(1, err);
    if (!context)
        return LAP_E_MEMORY;
    const lap_code code = lap_pixels_read(context, options->image, &settings, photo, err);
    lap_context_destroy(context);
    return code;
}

lap_code lap_bench_image(const lap_bench_options *options, lap_image *image, lap_error *err)
{
    lap_pixels *photo = NULL;
    int width = options->width ? options->width : DEFAULT_WIDTH;
    int height = options->height ? options->height : DEFAULT_HEIGHT;
    lap_code code = LAP_OK;
    if (options->image) {
        code = read_photo(options, &photo, err);
        if (code == LAP_OK && !options->width) {
            width = lap_pixels_view(photo)->width;
            height = lap_pixels_view(photo)->height;
        }
    }
    if (code == LAP_OK)
        code = lap_image_create(image, width, height, options->channels, LAP_APRON, err);
    if (code == LAP_OK && options->image)
        tile(lap_pixels_view(photo), &image->view);
    else if (code == LAP_OK)
        synthesize(&image->view);
    lap_pixels_free(photo);
    return code;
}
