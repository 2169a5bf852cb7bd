/* Many calls leave nothing behind: decodes and encodes a small photo on the host and on a device, alone and
 * in a batch, whole and broken. cudacpu_leaks [CALLS]. */
#include <dirent.h>
#include <unistd.h>

#include "there.h"

#include "tests/kernels/cudacpu/control.h"

size_t __sanitizer_get_current_allocated_bytes(void);

/* ROUND: calls of the library for HOST photos on the host and one on the device. */
enum { SIDE = 12, PHOTOS = 3, HOST = 9, ROUND = 2 * HOST + 2, WARM_UP = 400 };

typedef struct state {
    lap_context *context;
    lap_stream *stream;
    const void *files[PHOTOS]; /* the last is cut */
    size_t sizes[PHOTOS];
} state;

static lap_settings settings;

static bool host_calls(const state *s, int i)
{
    const int k = i % PHOTOS;
    lap_view view = {.place = LAP_ON_HOST};
    lap_report report;
    void *file = NULL;
    size_t size;
    lap_code code = lap_decode_view(s->context, s->files[k], s->sizes[k], &settings, &view, &report, &err);
    if (code == LAP_OK)
        code = lap_encode(&view, &settings, &file, &size, &err);
    free(view.base);
    free(file);
    return (code == LAP_OK) == (k < PHOTOS - 1);
}

static bool device_calls(const state *s, int i)
{
    const int k = i % PHOTOS;
    lap_view view = {0};
    void *file = NULL;
    size_t size;
    lap_code code = lap_stream_decode(s->stream, s->files[k], s->sizes[k], &settings, &view, NULL, &err);
    if (code == LAP_OK)
        code = lap_stream_encode(s->stream, &view, &settings, &file, &size, NULL, &err);
    lap_stream_view_destroy(s->stream, &view);
    free(file);
    return (code == LAP_OK) == (k < PHOTOS - 1);
}

static bool batch_calls(const state *s)
{
    lap_view views[PHOTOS] = {0};
    void *files[PHOTOS];
    size_t sizes[PHOTOS];
    const lap_code code =
        lap_stream_edges_batch(s->stream, s->files, s->sizes, PHOTOS, &settings, views, NULL, &err);
    bool good =
        code != LAP_OK && !views[PHOTOS - 1].base &&
        lap_stream_encode_batch(s->stream, views, PHOTOS - 1, &settings, files, sizes, NULL, &err) == LAP_OK;
    for (int i = 0; i < PHOTOS; i++) {
        lap_stream_view_destroy(s->stream, &views[i]);
        if (good && i < PHOTOS - 1)
            free(files[i]);
    }
    return good;
}

typedef struct held {
    size_t heap, pages, files;
    uint64_t device;
} held;

static size_t resident_pages(void)
{
    size_t all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    need(f && fscanf(f, "%zu %zu", &all, &resident) == 2, "/proc/self/statm");
    fclose(f);
    return resident;
}

static size_t open_files(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    need(folder != NULL, "/proc/self/fd");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static held what_is_held(void)
{
    return (held){.heap = __sanitizer_get_current_allocated_bytes(),
        .pages = resident_pages(),
        .files = open_files(),
        .device = lap_cudacpu_alive()};
}

static int call(const state *s, int first, int end)
{
    int wrong = 0;
    for (int i = first; i < end; i++) {
        for (int k = 0; k < HOST; k++)
            wrong += !host_calls(s, i + k);
        wrong += !device_calls(s, i);
        wrong += i % 8 == 0 && !batch_calls(s);
    }
    return wrong;
}

static void make_files(state *s)
{
    for (int i = 0; i < PHOTOS; i++) {
        lap_image image = picture(SIDE + i, SIDE, 3, 0, (uint32_t)i);
        void *file;
        need(lap_encode(&image.view, &settings, &file, &s->sizes[i], &err) == LAP_OK, "a file");
        s->files[i] = file;
        lap_image_destroy(&image);
    }
    s->sizes[PHOTOS - 1] /= 2;
}

/* Freed memory that the sanitizer keeps would hide how much the process grows. */
static void without_quarantine(char **argv)
{
    static const char few[] = "quarantine_size_mb=1:thread_local_quarantine_size_kb=64";
    const char *given = getenv("ASAN_OPTIONS");
    char options[600];
    if (given && strstr(given, few))
        return;
    snprintf(options, sizeof options, "%s%s%s", given ? given : "", given ? ":" : "", few);
    if (setenv("ASAN_OPTIONS", options, 1) == 0)
        execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    const int calls = argc > 1 ? atoi(argv[1]) : 6000;
    char text[160];
    state s = {0};
    without_quarantine(argv);
    settings = lap_settings_default();
    need(lap_cudacpu_configure("devices=1") == 0, "devices=1");
    s.context = lap_context_create(2, &err);
    need(s.context && lap_stream_create(s.context, 0, NULL, &s.stream, &err) == LAP_OK, "a stream");
    make_files(&s);
    int wrong = call(&s, 0, WARM_UP);
    const held before = what_is_held();
    wrong += call(&s, WARM_UP, WARM_UP + (calls + ROUND - 1) / ROUND);
    const held after = what_is_held();
    snprintf(text, sizeof text, "%d calls: %d are wrong", calls, wrong);
    check(wrong == 0, text);
    snprintf(text, sizeof text, "the heap has %+td bytes more", (ptrdiff_t)(after.heap - before.heap));
    check(after.heap < before.heap + 1024, text);
    snprintf(text, sizeof text, "the process has %+td pages more", (ptrdiff_t)(after.pages - before.pages));
    check(after.pages < before.pages + 4096, text);
    check(after.files == before.files && after.device == before.device,
        "no more files are open, and no more memory, streams and events of the device exist");
    lap_stream_destroy(s.stream);
    lap_context_destroy(s.context);
    for (int i = 0; i < PHOTOS; i++)
        free((void *)(uintptr_t)s.files[i]);
    printf("1..%d\n", number);
    return failures > 0;
}
