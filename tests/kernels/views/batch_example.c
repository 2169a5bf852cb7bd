/* The edges of many photos on a GPU: batch-example PHOTO... writes PHOTO.edges.jpg for each. */
#include <lapedge.h>

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 256 }; /* photos of a batch; the library divides it as the device needs it */

static const void *files[MOST];
static void *edges[MOST];
static size_t sizes[MOST], edges_sizes[MOST];
static lap_view views[MOST];
static lap_report reports[MOST];

static void *read_file(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    void *bytes = malloc(64 << 20);
    *size = in && bytes ? fread(bytes, 1, 64 << 20, in) : 0; /* 0 bytes are an error of this photo alone */
    if (in)
        fclose(in);
    return bytes;
}

static int write_file(const char *photo, const void *bytes, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.edges.jpg", photo);
    FILE *out = fopen(path, "wb");
    return out && fwrite(bytes, 1, size, out) == size && fclose(out) == 0;
}

/* Photos to pixels of edges, and those to files, all on the device. */
static int run(lap_stream *stream, char **photos, size_t count)
{
    const lap_settings settings = lap_settings_default();
    size_t good = 0;
    for (size_t i = 0; i < count; i++)
        files[i] = read_file(photos[i], &sizes[i]);
    (void)lap_stream_edges_batch(stream, files, sizes, count, &settings, views, reports, NULL);
    for (size_t i = 0; i < count; i++) {
        free((void *)files[i]);
        if (reports[i].error.code != LAP_OK) {
            printf("%s: %s\n", photos[i], reports[i].error.message);
            continue;
        }
        photos[good] = photos[i];
        views[good++] = views[i];
    }
    (void)lap_stream_encode_batch(stream, views, good, &settings, edges, edges_sizes, NULL, NULL);
    size_t written = 0;
    for (size_t i = 0; i < good; i++) {
        written += edges[i] && write_file(photos[i], edges[i], edges_sizes[i]);
        free(edges[i]);
        lap_stream_view_destroy(stream, &views[i]);
    }
    printf("%d of %d photos done\n", (int)written, (int)count);
    return written < count;
}

int main(int argc, char **argv)
{
    lap_error error = {0};
    lap_stream *stream = NULL;
    char text[800];
    lap_context *context = lap_context_create(0, &error);
    if (argc > 1 + MOST || !context || lap_stream_create(context, 0, NULL, &stream, &error) != LAP_OK) {
        fprintf(stderr, "batch-example: %s\n", lap_error_text(&error, text, sizeof text));
        return 2;
    }
    const int status = run(stream, argv + 1, (size_t)(argc - 1));
    lap_stream_destroy(stream);
    lap_context_destroy(context);
    return status;
}
