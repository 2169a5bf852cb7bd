/* A photo's pixels in memory of your own, and a JPEG of them: all in memory, on one thread. */
#include <lapedge.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(const lap_error *error)
{
    char text[800];
    fprintf(stderr, "pipeline-example: %s\n", lap_error_text(error, text, sizeof text));
    return 1;
}

int main(int argc, char **argv)
{
    static unsigned char photo[64 << 20];
    lap_settings settings = lap_settings_default();
    lap_error error = {0};
    lap_view pixels = {.place = LAP_ON_HOST, .channels = 3}; /* base NULL: lapedge allocates them */
    void *file = NULL;
    size_t size = 0;
    FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL, *out;
    if (!in) {
        fprintf(stderr, "usage: pipeline-example IN.jpg OUT.jpg\n");
        return 2;
    }
    const size_t photo_size = fread(photo, 1, sizeof photo, in);
    fclose(in);
    settings.auto_orient = true;
    settings.quality = 85;
    settings.subsampling = LAP_SUB_420;
    lap_context *context = lap_context_create(1, &error);
    if (!context)
        return fail(&error);
    lap_code code = lap_decode_view(context, photo, photo_size, &settings, &pixels, NULL, &error);
    if (code == LAP_OK) {
        printf("%d x %d, the first pixel is %d %d %d\n", pixels.width, pixels.height, pixels.base[0],
            pixels.base[1], pixels.base[2]);
        code = lap_encode(&pixels, &settings, &file, &size, &error);
    }
    free(pixels.base);
    lap_context_destroy(context);
    if (code != LAP_OK)
        return fail(&error);
    out = fopen(argv[2], "wb");
    const int written = out && fwrite(file, 1, size, out) == size && fclose(out) == 0;
    free(file);
    return written ? 0 : 1;
}
