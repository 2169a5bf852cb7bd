/* lap_stream: its results on the device equal those of the library on the host, in any order that streams
 * allow, and with every call failing in turn. */
#include "there.h"

#include "tests/kernels/cudacpu/control.h"

enum { WIDTH = 67, HEIGHT = 45 };

static lap_context *context;

typedef struct file {
    void *bytes;
    size_t size;
} file;

/* Unfiltered, in another format. */
static file convert(const file *from, const char *format, bool gray, bool filter)
{
    lap_settings settings = lap_settings_default();
    file to = {0};
    settings.format = format;
    settings.gray = gray;
    settings.filter = filter;
    settings.backend = "c";
    need(lap_run_memory(context, from->bytes, from->size, &to.bytes, &to.size, &settings, NULL, &err) ==
             LAP_OK,
        format);
    return to;
}

static file make_ppm(int channels)
{
    lap_image image = picture(WIDTH, HEIGHT, channels, 0, 5);
    const size_t row = (size_t)(WIDTH * channels);
    file f = {malloc(64 + row * HEIGHT), 0};
    need(f.bytes != NULL, "memory");
    f.size = (size_t)sprintf(f.bytes, "P%d %d %d 255\n", channels == 3 ? 6 : 5, WIDTH, HEIGHT);
    for (int y = 0; y < HEIGHT; y++, f.size += row)
        memcpy((uint8_t *)f.bytes + f.size, image.view.base + y * image.view.stride, row);
    lap_image_destroy(&image);
    return f;
}

/* The pixels of a PPM or PGM, which end it. */
static lap_view pixels_of(const file *ppm, int channels)
{
    const size_t size = (size_t)(WIDTH * HEIGHT * channels);
    return (lap_view){(uint8_t *)ppm->bytes + ppm->size - size, (ptrdiff_t)WIDTH * channels, WIDTH, HEIGHT,
        channels, 0, LAP_ON_HOST};
}

static bool is_same(const file *a, const file *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static bool holds(lap_stream *stream, const lap_view *view, const lap_view *expected)
{
    lap_image image = {0};
    bool same = true;
    need(lap_image_create(&image, expected->width, expected->height, expected->channels, 0, &err) == LAP_OK,
        "memory");
    if (lap_stream_copy(stream, view, &image.view, &err) != LAP_OK)
        same = false;
    for (int y = 0; y < expected->height && same; y++)
        same = memcmp(image.view.base + y * image.view.stride, expected->base + y * expected->stride,
                   (size_t)(expected->width * expected->channels)) == 0;
    lap_image_destroy(&image);
    return same;
}

static bool decodes(lap_stream *stream, const file *f, bool gray, lap_codec_place codec, const char *note)
{
    lap_settings settings = lap_settings_default();
    lap_report report;
    lap_view view = {0};
    settings.gray = gray;
    settings.codec = codec;
    const file ppm = convert(f, gray ? "pgm" : "ppm", gray, false);
    const lap_view expected = pixels_of(&ppm, gray ? 1 : 3);
    bool good = lap_stream_decode(stream, f->bytes, f->size, &settings, &view, &report, &err) == LAP_OK &&
                strcmp(report.note, note) == 0 && report.width == WIDTH && report.channels == view.channels &&
                report.bytes_in == f->size && report.height == HEIGHT && report.status == LAP_DONE &&
                report.warnings == 0 && report.error.code == LAP_OK && report.ms.total > 0 &&
                holds(stream, &view, &expected);
    /* Decodes again, into a caller's view that is not aligned. */
    there t = there_make(0, WIDTH, HEIGHT, gray ? 1 : 3, 0, 3, 1);
    there_put(&t, NULL, NULL);
    good = good && lap_stream_decode(stream, f->bytes, f->size, &settings, &t.view, NULL, &err) == LAP_OK &&
           there_is(&t, &expected, NULL);
    there_free(&t);
    lap_stream_view_destroy(stream, &view);
    free(ppm.bytes);
    return good;
}

/* A file without its end marker causes a warning; with LAP_FAIL_WARNING, it is an error. */
static bool warns(lap_stream *stream, const file *f)
{
    lap_settings settings = lap_settings_default();
    lap_report report;
    lap_view view = {0};
    bool good = lap_stream_decode(stream, f->bytes, f->size - 2, &settings, &view, &report, &err) == LAP_OK &&
                report.status == LAP_WARNED && report.warnings == 1 && strstr(report.warning, "end marker");
    lap_stream_view_destroy(stream, &view);
    settings.fail_on = LAP_FAIL_WARNING;
    memset(&err, 0, sizeof err);
    const lap_code code = lap_stream_decode(stream, f->bytes, f->size - 2, &settings, &view, &report, &err);
    return good && code == LAP_E_TRUNCATED && err.code == code && report.error.code == code &&
           report.status == LAP_FAILED && report.width == 0 && report.ms.total > 0;
}

static void check_decode(lap_stream *stream, const file *ppm, const file *jpg)
{
    check(warns(stream, jpg), "decode: the report says what is odd, and err why it failed");
    check(decodes(stream, jpg, false, LAP_CODEC_AUTO, "decoded on the device"), "decode: libjpeg's pixels");
    check(decodes(stream, jpg, true, LAP_CODEC_CUDA, "decoded on the device"), "decode: the luma alone");
    check(
        decodes(stream, jpg, false, LAP_CODEC_CPU, "decoded on the CPU"), "decode: by the CPU, if asked for");
    check(decodes(stream, ppm, false, LAP_CODEC_CUDA, "decoded on the CPU"), "decode: what is no JPEG");
    lap_settings settings = lap_settings_default();
    lap_view view = {0};
    check(lap_stream_decode(stream, jpg->bytes, jpg->size / 2, &settings, &view, NULL, &err) ==
                  LAP_E_TRUNCATED &&
              !view.base,
        "decode: what is cut is judged by the CPU, and leaves no view");
    there t = there_make(0, WIDTH, HEIGHT - 1, 3, 0, 0, 0);
    check(lap_stream_decode(stream, jpg->bytes, jpg->size, &settings, &t.view, NULL, &err) == LAP_E_DIFFERENT,
        "decode: a view of another size is refused");
    settings.turn = LAP_TURN_90;
    check(lap_stream_decode(stream, jpg->bytes, jpg->size, &settings, &view, NULL, &err) == LAP_E_USAGE,
        "decode: a turn is refused");
    settings = lap_settings_default();
    settings.max_memory = WIDTH * HEIGHT * 3 - 1;
    check(lap_stream_decode(stream, ppm->bytes, ppm->size, &settings, &view, NULL, &err) == LAP_E_LIMIT &&
              !view.base,
        "decode: pixels that the CPU decodes count for the memory limit");
    there_free(&t);
}

static bool encodes(lap_stream *stream, const file *ppm, size_t off, const char *format,
    lap_codec_place codec, const char *note)
{
    lap_settings settings = lap_settings_default();
    lap_report report;
    file out = {0};
    const file expected = convert(ppm, format, false, false);
    const lap_view pixels = pixels_of(ppm, 3);
    there t = there_make(0, WIDTH, HEIGHT, 3, 0, off, 1);
    there_put(&t, &pixels, NULL);
    settings.format = format;
    settings.codec = codec;
    const bool good =
        lap_stream_encode(stream, &t.view, &settings, &out.bytes, &out.size, &report, &err) == LAP_OK &&
        is_same(&out, &expected) && strcmp(report.note, note) == 0 && report.bytes_out == out.size &&
        report.status == LAP_DONE && report.width == WIDTH && report.channels == 3 && report.ms.total > 0;
    there_free(&t);
    free(out.bytes);
    free(expected.bytes);
    return good;
}

static bool encodes_progressive(lap_stream *stream, const file *ppm)
{
    lap_settings settings = lap_settings_default();
    file out = {0}, expected = {0};
    const lap_view pixels = pixels_of(ppm, 3);
    there t = there_make(0, WIDTH, HEIGHT, 3, 0, 0, 0);
    there_put(&t, &pixels, NULL);
    settings.filter = false;
    settings.progressive = true;
    settings.format = "jpg";
    need(lap_run_memory(context, ppm->bytes, ppm->size, &expected.bytes, &expected.size, &settings, NULL,
             &err) == LAP_OK,
        "on the host");
    const bool good =
        lap_stream_encode(stream, &t.view, &settings, &out.bytes, &out.size, NULL, &err) == LAP_OK &&
        is_same(&out, &expected);
    there_free(&t);
    free(out.bytes);
    free(expected.bytes);
    return good;
}

/* err says why there is no file, and may be NULL as the report may. */
static bool says_why(lap_stream *stream, const file *ppm)
{
    lap_settings settings = lap_settings_default();
    lap_report report;
    file out = {0};
    const lap_view pixels = pixels_of(ppm, 3);
    there t = there_make(0, WIDTH, HEIGHT, 3, 0, 0, 0);
    there_put(&t, &pixels, NULL);
    memset(&err, 0, sizeof err);
    settings.quality = 101;
    lap_code code = lap_stream_encode(stream, &t.view, &settings, &out.bytes, &out.size, &report, &err);
    bool good = code == LAP_E_USAGE && err.code == code && strstr(err.message, "quality 101") && !out.bytes &&
                report.status == LAP_FAILED && report.error.code == code;
    good = good && lap_stream_encode(stream, &t.view, &settings, &out.bytes, &out.size, NULL, NULL) == code;
    settings.quality = 90;
    good = good && lap_stream_encode(stream, &t.view, &settings, &out.bytes, &out.size, NULL, NULL) == LAP_OK;
    there_free(&t);
    free(out.bytes);
    return good;
}

static void check_encode(lap_stream *stream, const file *ppm)
{
    check(says_why(stream, ppm), "encode: err says why there is no file");
    check(encodes(stream, ppm, 0, "jpg", LAP_CODEC_AUTO, "encoded on the device") &&
              encodes(stream, ppm, 1, "jpg", LAP_CODEC_CUDA, "encoded on the device"),
        "encode: the CPU's bytes");
    check(encodes(stream, ppm, 1, "jpg", LAP_CODEC_CPU, "encoded on the CPU"),
        "encode: by the CPU, if asked for");
    check(encodes_progressive(stream, ppm), "encode: what the device does not write goes by the CPU");
    check(encodes(stream, ppm, 0, "ppm", LAP_CODEC_AUTO, "encoded on the CPU"), "encode: what is no JPEG");
}

/* Decodes, filters, counts and encodes, as a run does; makes the file of edges, or does not return
 * LAP_OK. Without stats nothing waits between the filter and the encoder. */
static lap_code chain(lap_stream *stream, const file *jpg, file *out, lap_stats *stats)
{
    const lap_settings settings = lap_settings_default();
    lap_view pixels = {0}, source = {0}, edges = {0};
    *out = (file){0};
    lap_code code = lap_stream_decode(stream, jpg->bytes, jpg->size, &settings, &pixels, NULL, &err);
    if (code == LAP_OK)
        code = lap_stream_view_create(
            stream, pixels.width, pixels.height, pixels.channels, LAP_APRON, &source, &err);
    if (code == LAP_OK)
        code = lap_stream_copy(stream, &pixels, &source, &err);
    if (code == LAP_OK)
        code = lap_stream_view_create(stream, source.width, source.height, source.channels, 0, &edges, &err);
    if (code == LAP_OK)
        code = lap_stream_border(stream, &source, LAP_ZERO, &err);
    if (code == LAP_OK)
        code = lap_stream_filter(stream, &source, &edges, "auto", &settings.params, LAP_REFLECT, &err);
    if (code == LAP_OK && stats)
        code = lap_stream_stats(stream, &edges, NULL, -1, stats, &err);
    if (code == LAP_OK)
        code = lap_stream_encode(stream, &edges, &settings, &out->bytes, &out->size, NULL, &err);
    lap_stream_view_destroy(stream, &edges);
    lap_stream_view_destroy(stream, &source);
    lap_stream_view_destroy(stream, &pixels);
    return code;
}

/* The host's result: goes through a PPM, which has no metadata and no sampling, just as pixels have
 * none. */
static file expected_of(const file *jpg, lap_stats *stats)
{
    const file ppm = convert(jpg, "ppm", false, false), edges = convert(&ppm, "ppm", false, true);
    const lap_view pixels = pixels_of(&edges, 3);
    file f = convert(&ppm, "jpg", false, true);
    need(lap_stats_of_view(context, &pixels, "c", 0, -1, stats, &err) == LAP_OK, "on the host");
    free(ppm.bytes);
    free(edges.bytes);
    return f;
}

static void check_failures(const file *jpg)
{
    lap_stats expected_stats, stats;
    const file expected = expected_of(jpg, &expected_stats);
    const uint64_t alive = lap_cudacpu_alive();
    int failed = 0, wrong = 0, leaks = 0, n = 1;
    for (; n < 600; n++) {
        char setting[64];
        lap_stream *stream = NULL;
        file out = {0};
        snprintf(setting, sizeof setting, "devices=2,fail=%d:%d", n, n % 2 ? 2 : 700);
        need(lap_cudacpu_configure(setting) == 0, setting);
        lap_code code = lap_stream_create(context, 0, NULL, &stream, &err);
        if (code == LAP_OK)
            code = chain(stream, jpg, &out, &stats);
        lap_stream_destroy(stream);
        const bool was_reached = lap_cudacpu_count("calls") >= (uint64_t)n;
        leaks += lap_cudacpu_alive() != alive;
        failed += code == LAP_E_DEVICE || code == LAP_E_MEMORY;
        wrong += code == LAP_OK
                     ? !is_same(&out, &expected) || memcmp(&stats, &expected_stats, sizeof stats) != 0
                     : code != LAP_E_DEVICE && code != LAP_E_MEMORY;
        free(out.bytes);
        if (!was_reached)
            break;
    }
    need(lap_cudacpu_configure("devices=2") == 0, "devices=2");
    printf("# %d of %d calls are errors of the library, the others change nothing\n", failed, n);
    check(failed > 40 && n < 600 && wrong == 0 && leaks == 0,
        "each call of a chain fails in turn: an error or the right file, and nothing is left behind");
    free(expected.bytes);
}

static uint64_t on_legacy_stream(void)
{
    return lap_cudacpu_count("legacy launches") + lap_cudacpu_count("legacy copies");
}

/* Each step begins when the steps before it in the caller's stream are done, and needs no other wait. The
 * default stream does not wait for these streams. */
static void check_chains(const file *jpg)
{
    enum { STREAMS = 2, ROUNDS = 8 };
    lap_stats expected_stats, stats;
    const file expected = expected_of(jpg, &expected_stats);
    const uint64_t legacy = on_legacy_stream();
    int wrong = 0;
    for (int i = 0; i < STREAMS; i++) {
        void *cuda = NULL;
        lap_stream *stream = NULL;
        need(lap_cuda_stream_create(i, &cuda, &err) == LAP_OK &&
                 lap_stream_create(context, i, cuda, &stream, &err) == LAP_OK,
            "a stream");
        for (int n = 0; n < ROUNDS; n++) {
            file out = {0};
            wrong += chain(stream, jpg, &out, n % 2 ? &stats : NULL) != LAP_OK || !is_same(&out, &expected) ||
                     (n % 2 && memcmp(&stats, &expected_stats, sizeof stats) != 0);
            free(out.bytes);
        }
        lap_stream_destroy(stream);
        lap_cuda_stream_destroy(i, cuda);
    }
    free(expected.bytes);
    check(wrong == 0, "chains on the caller's streams: the right files");
    check(
        on_legacy_stream() == legacy, "chains on the caller's streams: none of their work on another stream");
}

/* Filters queued on two streams and on the default stream, without waiting in between. */
static void check_streams(void)
{
    enum { STREAMS = 3, PICTURES = 6 };
    const lap_params params = lap_params_default();
    lap_stream *stream[STREAMS] = {0};
    void *cuda[STREAMS] = {0};
    there in[PICTURES], out[PICTURES];
    lap_image source[PICTURES], expected[PICTURES];
    for (int i = 0; i < STREAMS; i++)
        need((i == 0 || lap_cuda_stream_create(1, &cuda[i], &err) == LAP_OK) &&
                 lap_stream_create(context, 1, cuda[i], &stream[i], &err) == LAP_OK,
            "streams");
    for (int i = 0; i < PICTURES; i++) {
        source[i] = picture(20 + 9 * i, 30, 3, 0, (uint32_t)i);
        expected[i] = picture(20 + 9 * i, 30, 3, 0, 0);
        in[i] = there_make(1, 20 + 9 * i, 30, 3, 0, (size_t)i % 2, 0);
        out[i] = there_make(1, 20 + 9 * i, 30, 3, 0, (size_t)i % 2, 0);
        there_put(&in[i], &source[i].view, NULL);
        there_put(&out[i], NULL, NULL);
        need(lap_filter(context, &source[i].view, &expected[i].view, "c", &params, LAP_REPLICATE, &err) ==
                 LAP_OK,
            "on the host");
    }
    bool good = true;
    for (int i = 0; i < PICTURES; i++)
        good = good && lap_stream_filter(stream[i % STREAMS], &in[i].view, &out[i].view,
                           i % 2 ? "cuda-fast" : NULL, &params, LAP_REPLICATE, &err) == LAP_OK;
    for (int i = 0; i < STREAMS; i++)
        good = good && lap_stream_wait(stream[i], &err) == LAP_OK;
    for (int i = 0; i < PICTURES; i++) {
        good = good && there_is(&out[i], &expected[i].view, NULL);
        there_free(&in[i]);
        there_free(&out[i]);
        lap_image_destroy(&source[i]);
        lap_image_destroy(&expected[i]);
    }
    check(good, "two streams and the default one, all queued before any is waited for, on another device");
    for (int i = 0; i < STREAMS; i++) {
        lap_stream_destroy(stream[i]);
        lap_cuda_stream_destroy(1, cuda[i]);
    }
}

static bool refused(lap_code code, lap_code expected, const char *words)
{
    if (code == expected && strstr(err.message, words))
        return true;
    printf("# %s: code %d: %s\n", words, code, err.message);
    return false;
}

static void check_places(lap_stream *stream)
{
    const lap_params params = lap_params_default();
    const lap_settings settings = lap_settings_default();
    lap_image host = picture(30, 20, 3, 0, 1);
    there a = there_make(0, 30, 20, 3, 0, 0, 0), b = there_make(0, 30, 20, 3, 0, 0, 0);
    there far = there_make(1, 30, 20, 3, 0, 0, 0), farther = there_make(1, 30, 20, 3, 0, 0, 0);
    lap_stream *none = NULL;
    lap_stats stats;
    void *out;
    size_t size;
    check(refused(lap_stream_filter(stream, &far.view, &farther.view, "auto", &params, LAP_ZERO, &err),
              LAP_E_USAGE, "input lies on device 1, the stream on device 0") &&
              refused(
                  lap_stream_stats(stream, &far.view, NULL, -1, &stats, &err), LAP_E_USAGE, "on device 1") &&
              refused(lap_stream_encode(stream, &far.view, &settings, &out, &size, NULL, &err), LAP_E_USAGE,
                  "on device 1"),
        "pixels on another device are refused");
    check(refused(
              lap_stream_stats(stream, &host.view, NULL, -1, &stats, &err), LAP_E_USAGE, "in host memory") &&
              refused(lap_stream_copy(stream, &host.view, &host.view, &err), LAP_E_USAGE, "on the device") &&
              refused(lap_stream_border(stream, &a.view, LAP_ZERO, &err), LAP_E_USAGE, "apron"),
        "pixels on the host, and a border without an apron, are refused");
    check(refused(lap_stream_filter(stream, &a.view, &b.view, "c", &params, LAP_ZERO, &err), LAP_E_USAGE,
              "runs on the CPU"),
        "a backend of the CPU is refused");
    check(refused(lap_stream_create(context, 2, NULL, &none, &err), LAP_E_BACKEND, "does not exist") && !none,
        "a device that is not there is refused");
    there_free(&farther);
    there_free(&far);
    there_free(&b);
    there_free(&a);
    lap_image_destroy(&host);
}

static void check_chain(lap_stream *stream, const file *jpg)
{
    enum { ROUNDS = 3 };
    lap_stats expected_stats, stats;
    const file expected = expected_of(jpg, &expected_stats);
    file out = {0};
    uint64_t allocations[ROUNDS];
    bool good = true;
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t before = lap_cudacpu_count("allocations");
        good = good && chain(stream, jpg, &out, &stats) == LAP_OK && is_same(&out, &expected) &&
               memcmp(&stats, &expected_stats, sizeof stats) == 0;
        allocations[i] = lap_cudacpu_count("allocations") - before;
        free(out.bytes);
    }
    check(good, "decode, border, filter, statistics, encode: the file and the numbers of the host");
    check(allocations[1] < allocations[0] && allocations[2] == allocations[1],
        "the memory of the first picture is used again");
    free(expected.bytes);
}

/* Invalid views, copies, borders and pictures: each fails with a message that says so. */
static void check_refusals(lap_stream *stream, const file *jpg)
{
    static const int shapes[][4] = {{0, 1, 1, 0}, {1, 0, 1, 0}, {LAP_MAX_SIDE + 1, 1, 1, 0},
        {1, LAP_MAX_SIDE + 1, 1, 0}, {1, 1, 0, 0}, {1, 1, 5, 0}, {1, 1, 1, 1}};
    bool good = true;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        lap_view view = {.base = (uint8_t *)1};
        const int *s = shapes[i];
        good = good &&
               refused(lap_stream_view_create(stream, s[0], s[1], s[2], s[3], &view, &err), LAP_E_USAGE,
                   "a view cannot have") &&
               !view.base;
    }
    check(good, "views of impossible shapes are refused");
    lap_image host = picture(30, 20, 3, 0, 1);
    there a = there_make(0, 30, 20, 3, 2, 0, 0), b = there_make(0, 30, 20, 1, 0, 0, 0);
    lap_view wide = a.view, narrow = a.view, flat = a.view, none = a.view;
    wide.width = 31;
    flat.height = 19;
    none.base = NULL;
    narrow.stride = 89;
    check(refused(lap_stream_copy(stream, &host.view, &wide, &err), LAP_E_USAGE,
              "cannot copy 30x20x3 to 31x20x3") &&
              refused(lap_stream_copy(stream, &host.view, &flat, &err), LAP_E_USAGE, "to 30x19x3") &&
              refused(lap_stream_copy(stream, &host.view, &b.view, &err), LAP_E_USAGE, "to 30x20x1") &&
              refused(lap_stream_copy(stream, &host.view, &none, &err), LAP_E_USAGE, "views with pixels") &&
              refused(lap_stream_copy(stream, &none, &host.view, &err), LAP_E_USAGE, "views with pixels") &&
              refused(
                  lap_stream_copy(stream, &host.view, &narrow, &err), LAP_E_USAGE, "a stride of 89 bytes") &&
              refused(lap_stream_border(stream, &none, LAP_ZERO, &err), LAP_E_USAGE, "no pixels") &&
              refused(lap_stream_border(stream, &a.view, (lap_border)77, &err), LAP_E_USAGE, "border 77"),
        "copies and borders that cannot be are refused");
    lap_settings settings = lap_settings_default();
    lap_report report;
    lap_view view = {0};
    settings.auto_orient = true;
    check(refused(lap_stream_decode(stream, jpg->bytes, jpg->size, &settings, &view, &report, &err),
              LAP_E_USAGE, "cannot rotate") &&
              report.status == LAP_FAILED && report.error.code == LAP_E_USAGE && report.width == 0 &&
              lap_stream_decode(stream, jpg->bytes, jpg->size, &settings, &view, NULL, NULL) == LAP_E_USAGE,
        "a picture that is to be turned by its tag is refused, with a reason in the report");
    there other = there_make(0, WIDTH, HEIGHT, 1, 0, 0, 0), two = there_make(0, 30, 20, 2, 0, 0, 0);
    void *out;
    size_t size;
    settings = lap_settings_default();
    check(refused(lap_stream_decode(stream, jpg->bytes, jpg->size, &settings, &other.view, NULL, &err),
              LAP_E_DIFFERENT, "the view 67x45x1") &&
              refused(lap_stream_encode(stream, &two.view, &settings, &out, &size, NULL, &err), LAP_E_USAGE,
                  "2 channels") &&
              !out && lap_stream_encode(stream, &two.view, &settings, &out, &size, NULL, NULL) == LAP_E_USAGE,
        "views of other channels than the picture's, and of two, are refused");
    lap_stream_destroy(NULL);
    lap_stream *missing = NULL;
    check(refused(lap_stream_create(context, -1, NULL, &missing, &err), LAP_E_BACKEND, "does not exist") &&
              !missing,
        "a device of a negative number is refused");
    there_free(&two);
    there_free(&other);
    there_free(&b);
    there_free(&a);
    lap_image_destroy(&host);
}

int main(void)
{
    lap_stream *stream = NULL;
    need(lap_cudacpu_configure("devices=2") == 0, "devices=2");
    context = lap_context_create(2, &err);
    need(context && lap_stream_create(context, 0, NULL, &stream, &err) == LAP_OK, "context and stream");
    const file ppm = make_ppm(3), jpg = convert(&ppm, "jpg", false, false);
    check_chain(stream, &jpg);
    check_decode(stream, &ppm, &jpg);
    check_encode(stream, &ppm);
    check_places(stream);
    check_refusals(stream, &jpg);
    lap_stream_destroy(stream);
    check_chains(&jpg);
    check_streams();
    check_failures(&jpg);
    lap_context_destroy(context);
    free(ppm.bytes);
    free(jpg.bytes);
    printf("1..%d\n", number);
    return failures > 0;
}
