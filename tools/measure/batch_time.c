/* batch_time SECONDS PHOTO...: photos per second of batches on a stream, from memory to memory. Each line
 * has: the work, photos per call, calls, photos per second, microseconds per photo for which the device
 * uploads, decodes, filters, encodes and downloads, "equal" if the bytes equal those of one call per photo,
 * and calls times photos divided by the seconds since the program began, which is the rate of a whole run if
 * there is only one line. COUNTS: photos per call ("1 32 1024"). WORK: only one of decode, both (decode,
 * filter, encode), encode. */
#include <lapedge.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1024, KINDS = 3 };
enum kind { DECODE, BOTH, ENCODE };
static const char *const kinds[KINDS] = {"decode", "both", "encode"};
static const char *const names[KINDS] = {"decode", "decode, filter, encode", "encode"};

static const void *files[MOST];
static size_t sizes[MOST], out_sizes[MOST];
static void *out[MOST];
static lap_view views[MOST];
static lap_report reports[2][MOST]; /* of decoding, of encoding */
static lap_error error;
static double began;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "batch_time: %s: %s %s\n", what, error.subject, error.message);
    exit(1);
}

static void *read_file(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    void *bytes = malloc(64 << 20);
    *size = in && bytes ? fread(bytes, 1, 64 << 20, in) : 0;
    if (!in || *size == 0)
        fail(path);
    fclose(in);
    return realloc(bytes, *size);
}

/* One batch. The views are allocated once and used again, as a pipeline does. */
static void work(lap_stream *s, size_t count, enum kind kind, const lap_settings *settings)
{
    lap_code code = LAP_OK;
    if (kind == DECODE)
        code = lap_stream_decode_batch(s, files, sizes, count, settings, views, reports[0], &error);
    else if (kind == BOTH || !views[0].base)
        code = lap_stream_edges_batch(s, files, sizes, count, settings, views, reports[0], &error);
    if (code == LAP_OK && kind != DECODE)
        code = lap_stream_encode_batch(s, views, count, settings, out, out_sizes, reports[1], &error);
    if (code != LAP_OK)
        fail("a batch");
}

/* How long the last call took on the device, per photo. */
static void print_stages(size_t count, enum kind kind)
{
    lap_times sum = {0};
    for (size_t i = kind == ENCODE ? count : 0; i < count * (kind == DECODE ? 1 : 2); i++) {
        const lap_times *ms = &reports[i / count][i % count].ms;
        sum.upload += ms->upload;
        sum.decode += ms->decode;
        sum.filter += ms->filter;
        sum.encode += ms->encode;
        sum.download += ms->download;
    }
    const double us = 1000 / (double)count;
    printf("\t%.1f %.1f %.1f %.1f %.1f", us * sum.upload, us * sum.decode, us * sum.filter, us * sum.encode,
        us * sum.download);
}

static void free_outputs(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(out[i]);
        out[i] = NULL;
    }
}

/* Compares the first photos with calls for one photo. */
static int is_equal(lap_stream *s, size_t count, const lap_settings *settings)
{
    int equal = 1;
    for (size_t i = 0; i < count && i < 4; i++) {
        lap_view view = {0};
        void *bytes;
        size_t size;
        if (lap_stream_edges_batch(s, &files[i], &sizes[i], 1, settings, &view, NULL, &error) != LAP_OK ||
            lap_stream_encode(s, &view, settings, &bytes, &size, NULL, &error) != LAP_OK)
            fail("one photo");
        equal = equal && size == out_sizes[i] && memcmp(bytes, out[i], size) == 0;
        free(bytes);
        lap_stream_view_destroy(s, &view);
    }
    return equal;
}

static void measure(lap_stream *s, size_t count, enum kind kind, const lap_settings *settings, double seconds)
{
    size_t calls = 0;
    int equal = 1;
    work(s, count, kind, settings); /* allocates */
    if (kind != DECODE)
        equal = is_equal(s, count, settings);
    free_outputs(count);
    const double start = now();
    double passed = 0;
    for (; passed < seconds; passed = now() - start, calls++) {
        work(s, count, kind, settings);
        free_outputs(count);
    }
    const double photos = (double)(calls * count);
    printf("%s\t%zu\t%zu\t%.0f", names[kind], count, calls, photos / passed);
    print_stages(count, kind);
    printf("\t%s\t%.0f\n", equal ? "equal" : "NOT EQUAL", photos / (now() - began));
    fflush(stdout);
    for (size_t i = 0; i < count; i++)
        lap_stream_view_destroy(s, &views[i]);
    memset(views, 0, sizeof views);
}

int main(int argc, char **argv)
{
    const lap_settings settings = lap_settings_default();
    const char *counts = getenv("COUNTS"), *only = getenv("WORK");
    lap_stream *stream = NULL;
    began = now();
    if (argc < 3)
        return fprintf(stderr, "batch_time SECONDS PHOTO...\n"), 2;
    counts = counts ? counts : "1 32 1024";
    const char *last = strrchr(counts, ' '); /* the largest */
    for (int i = 0; i < atoi(last ? last : counts) && i < MOST; i++) {
        const int photo = 2 + i % (argc - 2);
        files[i] = read_file(argv[photo], &sizes[i]);
    }
    lap_context *context = lap_context_create(0, &error);
    if (!context || lap_stream_create(context, 0, NULL, &stream, &error) != LAP_OK)
        fail("a stream");
    for (int kind = 0; kind < KINDS; kind++) {
        char *at = (char *)counts;
        for (unsigned long count; (count = strtoul(at, &at, 10)) > 0;)
            if (count <= MOST && (!only || strcmp(only, kinds[kind]) == 0))
                measure(stream, count, (enum kind)kind, &settings, atof(argv[1]));
    }
    lap_stream_destroy(stream);
    lap_context_destroy(context);
    return 0;
}
