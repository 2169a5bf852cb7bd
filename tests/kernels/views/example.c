/* Finds the edges of a photo on a GPU: only compressed bytes travel, pixels stay there. */
#include <lapedge.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(const lap_error *error)
{
    char text[800];
    fprintf(stderr, "gpu-example: %s\n", lap_error_text(error, text, sizeof text));
    return 1;
}

/* pixels may be any view on the device: of a program's own kernels, or of another library. */
static lap_code edges_of(
    lap_stream *stream, const lap_view *pixels, void **file, size_t *size, lap_error *error)
{
    const lap_settings settings = lap_settings_default();
    lap_stats stats;
    lap_view edges;
    lap_code code =
        lap_stream_view_create(stream, pixels->width, pixels->height, pixels->channels, 0, &edges, error);
    if (code == LAP_OK)
        code = lap_stream_filter(stream, pixels, &edges, "auto", &settings.params, LAP_ZERO, error);
    if (code == LAP_OK)
        code = lap_stream_stats(stream, &edges, "auto", -1, &stats, error);
    if (code == LAP_OK)
        printf("%d x %d, mean of the first channel %.3f\n", edges.width, edges.height, stats.channel[0].mean);
    if (code == LAP_OK)
        code = lap_stream_encode(stream, &edges, &settings, file, size, NULL, error);
    lap_stream_view_destroy(stream, &edges);
    return code;
}

int main(int argc, char **argv)
{
    static unsigned char photo[64 << 20];
    const lap_settings settings = lap_settings_default();
    lap_error error = {0};
    lap_stream *stream;
    lap_view pixels = {0};
    void *file = NULL;
    size_t size = 0;
    FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL, *out;
    if (!in) {
        fprintf(stderr, "usage: gpu-example IN.jpg OUT.jpg\n");
        return 2;
    }
    const size_t photo_size = fread(photo, 1, sizeof photo, in);
    fclose(in);
    lap_context *context = lap_context_create(0, &error);
    if (!context || lap_stream_create(context, 0, NULL, &stream, &error) != LAP_OK)
        return fail(&error);
    lap_code code = lap_stream_decode(stream, photo, photo_size, &settings, &pixels, NULL, &error);
    if (code == LAP_OK)
        code = edges_of(stream, &pixels, &file, &size, &error);
    lap_stream_view_destroy(stream, &pixels);
    lap_stream_destroy(stream);
    lap_context_destroy(context);
    if (code != LAP_OK)
        return fail(&error);
    out = fopen(argv[2], "wb");
    const int written = out && fwrite(file, 1, size, out) == size && fclose(out) == 0;
    free(file);
    return written ? 0 : 1;
}
