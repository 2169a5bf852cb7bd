/* Batches of photos on a lap_stream: each photo has the pixels, bytes and errors that it has alone on the
 * host, whatever the others are, and with every call failing in turn. */
#include "there.h"

#include "tests/kernels/cudacpu/control.h"

#ifdef LAP_FEW_SIZES
enum { MOST = 31, MANY = 20 };
static const int counts[] = {1, 9, MOST};
#else
enum { MOST = 200, MANY = 60 };
static const int counts[] = {1, 2, 9, 64, 65, MOST};
#endif

typedef struct photo {
    uint8_t *bytes; /* with malloc, so that reading past its end is noticed */
    size_t size;
    lap_code code;   /* of lap_decode_view, */
    lap_view pixels; /* and what it gives, */
    lap_view edges;  /* filtered */
} photo;

static lap_context *context;
static lap_settings settings;
static photo photos[MOST];
static const void *files[MOST];
static size_t sizes[MOST];
static lap_view views[MOST];
static lap_report reports[MOST];

/* ---- photos, and what the host makes of them ------------------------------------------------------ */

static void encode_photo(photo *p, int i)
{
    static const int quality[] = {90, 35, 100};
    const int width = i % 50 == 24 ? 900 : 1 + i * 13 % 61, height = i % 50 == 24 ? 700 : 1 + i * 29 % 47;
    lap_image image = picture(width, height, i % 7 == 5 ? 1 : 3, 0, (uint32_t)i);
    lap_settings s = lap_settings_default();
    void *file;
    s.quality = quality[i % 3];
    s.subsampling = (lap_subsampling)(1 + i % 3);
    s.restart = (lap_restart)(i % 3);
    s.progressive = i % 10 == 6;
    s.format = i % 30 == 8 ? "png" : "jpg";
    need(lap_encode(&image.view, &s, &file, &p->size, &err) == LAP_OK, "a file");
    lap_image_destroy(&image);
    if (i % 20 == 7)
        p->size /= 2; /* cut */
    if (i % 20 == 17)
        ((uint8_t *)file)[p->size - 3 - p->size % 7] ^= 16; /* damaged, perhaps */
    if (i % 30 == 28)
        p->size = (size_t)i % 3; /* no image */
    if (i % 30 == 18)
        p->size -= 2; /* without an end marker */
    p->bytes = malloc(p->size ? p->size : 1);
    need(p->bytes != NULL, "memory");
    memcpy(p->bytes, file, p->size);
    free(file);
}

static void decode_on_host(photo *p)
{
    p->pixels = (lap_view){.place = LAP_ON_HOST};
    p->code = lap_decode_view(context, p->bytes, p->size, &settings, &p->pixels, NULL, NULL);
    if (p->code != LAP_OK)
        return;
    p->edges = p->pixels;
    p->edges.base = malloc((size_t)p->pixels.stride * (size_t)p->pixels.height);
    need(p->edges.base && lap_filter(context, &p->pixels, &p->edges, "c", &settings.params, settings.border,
                              &err) == LAP_OK,
        "the edges");
}

static void make_photos(void)
{
    for (int i = 0; i < MOST; i++) {
        encode_photo(&photos[i], i);
        decode_on_host(&photos[i]);
        files[i] = photos[i].bytes;
        sizes[i] = photos[i].size;
    }
}

/* ---- batches -------------------------------------------------------------------------------------- */

static bool is_there(const lap_view *view, const lap_view *expected)
{
    lap_image image = {0};
    bool same = view->width == expected->width && view->height == expected->height &&
                view->channels == expected->channels;
    need(lap_image_create(&image, expected->width, expected->height, expected->channels, 0, &err) == LAP_OK,
        "memory");
    same = same && lap_cuda_download(view, &image.view, NULL, &err) == LAP_OK &&
           lap_cuda_sync(view->place, NULL, &err) == LAP_OK;
    for (int y = 0; y < expected->height && same; y++)
        same = memcmp(image.view.base + y * image.view.stride, expected->base + y * expected->stride,
                   (size_t)(expected->width * expected->channels)) == 0;
    lap_image_destroy(&image);
    return same;
}

typedef lap_code decoder(lap_stream *stream, const void *const files[], const size_t sizes[], size_t count,
    const lap_settings *settings, lap_view views[], lap_report reports[], lap_error *err);

static const lap_view *expected_of(const photo *p, decoder *decode)
{
    return decode == lap_stream_edges_batch ? &p->edges : &p->pixels;
}

/* The number of photos from `first` on that are not as on the host. */
static int wrong_ones(int first, int count, decoder *decode)
{
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        const photo *p = &photos[first + i];
        const lap_report *r = &reports[i];
        bool good = r->error.code == p->code && (r->status == LAP_FAILED) == (p->code != LAP_OK) &&
                    r->bytes_in == p->size;
        if (p->code != LAP_OK)
            good = good && !views[i].base && r->width == 0;
        else
            good = good && is_there(&views[i], expected_of(p, decode)) && r->width == p->pixels.width &&
                   !r->resolved == (decode == lap_stream_decode_batch);
        if (!good)
            printf("# photo %d: code %d, expected %d: %s\n", first + i, (int)r->error.code, (int)p->code,
                r->error.message);
        wrong += !good;
    }
    return wrong;
}

static lap_code first_failure(int first, int count)
{
    for (int i = 0; i < count; i++)
        if (photos[first + i].code != LAP_OK)
            return photos[first + i].code;
    return LAP_OK;
}

static void free_views(lap_stream *stream, int count)
{
    for (int i = 0; i < count; i++)
        lap_stream_view_destroy(stream, &views[i]);
}

static void check_batch(lap_stream *stream, int first, int count, decoder *decode)
{
    char text[160];
    int there = 0;
    memset(views, 0, sizeof views);
    memset(&err, 0, sizeof err);
    const uint64_t before = lap_cudacpu_count("cudaLaunchKernel");
    const lap_code code =
        decode(stream, files + first, sizes + first, (size_t)count, &settings, views, reports, &err);
    const uint64_t launches = lap_cudacpu_count("cudaLaunchKernel") - before;
    const int wrong = wrong_ones(first, count, decode);
    for (int i = 0; i < count; i++)
        there += strcmp(reports[i].note, "decoded on the device") == 0;
    snprintf(text, sizeof text, "%s of %d photos: %d wrong, %d decoded on the device, %d launches",
        decode == lap_stream_edges_batch ? "edges" : "a batch", count, wrong, there, (int)launches);
    check(wrong == 0 && code == first_failure(first, count) && err.code == code &&
              (count < 10 || there * 10 > count * 6) && (int)launches < 40 + count,
        text);
    free_views(stream, count);
}

/* Into views of the caller, which are not aligned: other bytes do not change. */
static void check_views(lap_stream *stream, decoder *decode)
{
    static there given[MANY];
    int wrong = 0, used = 0;
    for (int i = 0; i < MANY; i++) {
        const photo *p = &photos[i];
        if (p->code != LAP_OK)
            continue;
        given[used] = there_make(0, p->pixels.width, p->pixels.height, p->pixels.channels, 0,
            (size_t)used % 3 * 5, (size_t)used % 4);
        there_put(&given[used], NULL, NULL);
        files[used] = p->bytes;
        sizes[used] = p->size;
        views[used] = given[used].view;
        used++;
    }
    const lap_code code = decode(stream, files, sizes, (size_t)used, &settings, views, NULL, &err);
    for (int i = 0, k = 0; i < MANY; i++)
        if (photos[i].code == LAP_OK) {
            const lap_view *expected = expected_of(&photos[i], decode);
            wrong += !there_is(&given[k], expected, NULL);
            k++;
        }
    check(code == LAP_OK && wrong == 0, "a batch into views of the caller, of any alignment");
    for (int i = 0; i < used; i++)
        there_free(&given[i]);
    for (int i = 0; i < MOST; i++) {
        files[i] = photos[i].bytes;
        sizes[i] = photos[i].size;
    }
}

/* ---- photos that go alone ------------------------------------------------------------------------- */

enum { ALONE = 20, COMMENT = 65533, COMMENTS = 24 };

/* The photo with comments that make its file too long for a chain. */
static void *with_comments(const photo *p, size_t *size)
{
    const size_t each = COMMENT + 2;
    uint8_t *made = malloc(p->size + COMMENTS * each);
    need(made != NULL, "memory");
    memcpy(made, p->bytes, 2);
    for (size_t i = 0; i < COMMENTS; i++) {
        uint8_t *at = made + 2 + i * each;
        memset(at, 'c', each);
        memcpy(at, (uint8_t[]){0xFF, 0xFE, COMMENT >> 8, COMMENT & 255}, 4);
    }
    memcpy(made + 2 + COMMENTS * each, p->bytes + 2, p->size - 2);
    *size = p->size + COMMENTS * each;
    return made;
}

/* They go on several CUDA streams at once; one after the other if there is no memory for those. */
static void check_alone(decoder *decode)
{
    static const char *const settings_of[] = {"devices=2,slow=cudaMemcpyAsync:3", "devices=2,memory=250K",
        "devices=2,fail=cudaStreamCreateWithFlags:1:2,slow=cudaMemcpyAsync:3",
        "devices=2,fail=cudaMallocHost:30:2", "devices=2,fail=cudaMallocHost:34:2",
        "devices=2,fail=cudaMallocHost:40:2", "devices=2,fail=cudaMalloc:18:2",
        "devices=2,fail=cudaMalloc:16:2", "devices=2,fail=cudaMalloc:20:2"};
    lap_context *many = lap_context_create(ALONE, &err);
    const void *alone[ALONE];
    size_t alone_sizes[ALONE];
    const photo *of[ALONE];
    int count = 0;
    need(many != NULL, "a context");
    for (int i = 0; count < ALONE; i++)
        if (photos[i].code == LAP_OK && photos[i].bytes[0] == 0xFF) {
            alone[count] = with_comments(&photos[i], &alone_sizes[count]);
            of[count++] = &photos[i];
        }
    for (size_t k = 0; k < sizeof settings_of / sizeof *settings_of; k++) {
        lap_stream *stream = NULL;
        char text[160];
        need(lap_stream_create(many, 0, NULL, &stream, &err) == LAP_OK, "a stream");
        need(lap_cudacpu_configure(settings_of[k]) == 0, settings_of[k]);
        int wrong = 0;
        memset(views, 0, sizeof views);
        for (int turn = 0; turn < 2; turn++) { /* the second from pinned memory */
            wrong += decode(stream, alone, alone_sizes, ALONE, &settings, views, reports, &err) != LAP_OK;
            for (int i = 0; i < ALONE; i++)
                wrong += !is_there(&views[i], expected_of(of[i], decode)) || reports[i].ms.total <= 0;
        }
        const int lanes = (int)lap_cudacpu_count("cudaStreamCreateWithFlags");
        snprintf(text, sizeof text, "%d photos alone, %s: %d wrong, %d lanes", ALONE, settings_of[k], wrong,
            lanes);
        check(wrong == 0 && (k > 0 || lanes > 1), text);
        need(lap_cudacpu_configure("devices=2") == 0, "devices=2");
        free_views(stream, ALONE);
        lap_stream_destroy(stream);
    }
    for (int i = 0; i < ALONE; i++)
        free((void *)(uintptr_t)alone[i]);
    lap_context_destroy(many);
}

/* Views of the wrong size, and wrong settings. */
static void check_refusals(lap_stream *stream)
{
    enum { COUNT = 4 };
    there given = there_make(0, 5, 5, 3, 0, 0, 0);
    lap_settings s = settings;
    memset(views, 0, sizeof views);
    views[2] = given.view;
    lap_code code = lap_stream_decode_batch(stream, files, sizes, COUNT, &s, views, reports, &err);
    check(code == LAP_E_DIFFERENT && err.code == code && strstr(err.message, "the view 5x5x3") &&
              reports[2].error.code == code && reports[1].status == LAP_DONE &&
              is_there(&views[3], &photos[3].pixels),
        "a view of another size is its photo's failure alone");
    views[2] = (lap_view){0};
    free_views(stream, COUNT);
    there_free(&given);
    s.auto_orient = true;
    code = lap_stream_decode_batch(stream, files, sizes, COUNT, &s, views, reports, &err);
    check(code == LAP_E_USAGE && strstr(err.message, "cannot rotate") && reports[3].error.code == code &&
              reports[3].status == LAP_FAILED && !views[3].base,
        "settings that no photo can have fail for all");
    s = settings;
    s.backend = "c";
    code = lap_stream_edges_batch(stream, files, sizes, COUNT, &s, views, NULL, &err);
    check(code == LAP_E_USAGE && strstr(err.message, "runs on the CPU") && !views[0].base,
        "edges: a backend of the CPU is refused");
    s = settings;
    s.filter = false; /* edges_batch filters all the same */
    s.params.threshold = 256;
    code = lap_stream_edges_batch(stream, files, sizes, COUNT, &s, views, NULL, &err);
    check(code == LAP_E_USAGE && !views[0].base, "edges: a threshold out of range is refused");
    check(lap_stream_decode_batch(stream, files, sizes, 0, &settings, views, reports, &err) == LAP_OK &&
              lap_stream_encode_batch(stream, views, 0, &settings, NULL, NULL, NULL, &err) == LAP_OK,
        "batches of no photo");
}

/* A context that is cancelled. */
static void check_cancelled(void)
{
    lap_context *other = lap_context_create(2, &err);
    lap_stream *stream = NULL;
    need(other && lap_stream_create(other, 0, NULL, &stream, &err) == LAP_OK, "a stream");
    lap_context_cancel(other);
    memset(views, 0, sizeof views);
    check(lap_stream_decode_batch(stream, files, sizes, 5, &settings, views, reports, &err) ==
                  LAP_E_CANCELLED &&
              reports[4].error.code == LAP_E_CANCELLED && !views[4].base,
        "a cancelled context begins no photo");
    there t = there_make(0, 30, 20, 3, 0, 0, 0);
    void *file[2];
    size_t size[2];
    const lap_view pixels[2] = {t.view, t.view};
    check(
        lap_stream_encode_batch(stream, pixels, 2, &settings, file, size, reports, &err) == LAP_E_CANCELLED &&
            !file[0] && !file[1] && reports[1].error.code == LAP_E_CANCELLED,
        "nor does it encode one");
    there_free(&t);
    lap_stream_destroy(stream);
    lap_context_destroy(other);
}

/* ---- encoding ------------------------------------------------------------------------------------- */

typedef struct encoded {
    there at[MOST];
    void *file[MOST];
    size_t size[MOST];
} encoded;

static void check_encode(lap_stream *stream, int count, const lap_settings *s, const char *what)
{
    static encoded e;
    int used = 0, wrong = 0, there = 0;
    char text[160];
    for (int i = 0; i < count; i++) {
        if (photos[i].code != LAP_OK)
            continue;
        const lap_view *pixels = &photos[i].edges;
        e.at[used] = there_make(
            0, pixels->width, pixels->height, pixels->channels, 0, (size_t)used % 3, (size_t)used % 4);
        there_put(&e.at[used], pixels, NULL);
        views[used] = e.at[used].view;
        used++;
    }
    const uint64_t before = lap_cudacpu_count("cudaLaunchKernel");
    const lap_code code =
        lap_stream_encode_batch(stream, views, (size_t)used, s, e.file, e.size, reports, &err);
    const int launches = (int)(lap_cudacpu_count("cudaLaunchKernel") - before);
    for (int i = 0, k = 0; i < count; i++) {
        void *expected = NULL;
        size_t size;
        if (photos[i].code != LAP_OK)
            continue;
        need(lap_encode(&photos[i].edges, s, &expected, &size, &err) == LAP_OK, "on the host");
        wrong += !e.file[k] || e.size[k] != size || memcmp(e.file[k], expected, size) != 0 ||
                 reports[k].bytes_out != size || reports[k].status != LAP_DONE;
        there += strcmp(reports[k].note, "encoded on the device") == 0;
        free(expected);
        free(e.file[k]);
        there_free(&e.at[k]);
        k++;
    }
    snprintf(text, sizeof text, "%d of %s: %d wrong, %d encoded on the device, %d launches", used, what,
        wrong, there, launches);
    const bool is_own = !s->format && !s->progressive && s->codec == LAP_CODEC_AUTO;
    check(
        code == LAP_OK && wrong == 0 && launches < 20 + used && (is_own ? there * 10 > used * 9 : there == 0),
        text);
}

static void check_encodings(lap_stream *stream)
{
    static const int few[] = {1, 3, 30, MOST};
    lap_settings s = lap_settings_default();
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
        s.quality = 100 - 20 * (int)i;
        s.subsampling = (lap_subsampling)i;
        check_encode(stream, few[i], &s, "files");
    }
    s = lap_settings_default();
    s.progressive = true;
    check_encode(stream, 20, &s, "progressive files");
    s = lap_settings_default();
    s.format = "ppm";
    check_encode(stream, 20, &s, "other files");
    s = lap_settings_default();
    s.codec = LAP_CODEC_CPU;
    check_encode(stream, 20, &s, "files of the CPU's");
    void *file[3] = {NULL, &s, NULL};
    size_t size[3];
    there t = there_make(0, 30, 20, 3, 0, 0, 0), two = there_make(0, 30, 20, 2, 0, 0, 0);
    there_put(&t, NULL, NULL);
    s = lap_settings_default();
    const lap_view mixed[3] = {t.view, two.view, t.view};
    check(lap_stream_encode_batch(stream, mixed, 3, &s, file, size, reports, &err) == LAP_E_USAGE &&
              file[0] && !file[1] && file[2] && size[0] == size[2] && reports[1].error.code == LAP_E_USAGE &&
              reports[2].status == LAP_DONE,
        "a view that cannot be encoded is its own failure alone");
    free(file[0]);
    free(file[2]);
    there_free(&two);
    there_free(&t);
}

/* Pictures whose scan may be too long for a chain, and the file that the host makes of them. */
enum { LARGE = 3, LARGE_SIDE = 690 };
static struct {
    lap_settings settings;
    there at;
    lap_view pixels[LARGE];
    void *file;
    size_t size;
} large;

static void make_large(void)
{
    lap_image image = picture(LARGE_SIDE, LARGE_SIDE, 3, 0, 7);
    large.settings = lap_settings_default();
    large.settings.subsampling = LAP_SUB_444;
    large.at = there_make(0, LARGE_SIDE, LARGE_SIDE, 3, 0, 0, 0);
    there_put(&large.at, &image.view, NULL);
    need(lap_encode(&image.view, &large.settings, &large.file, &large.size, &err) == LAP_OK, "on the host");
    for (int i = 0; i < LARGE; i++)
        large.pixels[i] = large.at.view;
    lap_image_destroy(&image);
}

static bool is_large_file(const void *file, size_t size)
{
    return file && size == large.size && memcmp(file, large.file, size) == 0;
}

/* They go on several CUDA streams at once; one after the other if there is no memory for those. */
static void check_encode_alone(void)
{
    static const char *const settings_of[] = {"devices=2,slow=cudaMemcpyAsync:30",
        "devices=2,slow=cudaMemcpyAsync:30", /* again, to pinned memory */
        "devices=2,memory=12M", "devices=2,fail=cudaStreamCreateWithFlags:1:2",
        "devices=2,fail=cudaMallocHost:2:2", "devices=2,fail=cudaMalloc:1:2"};
    lap_stream *stream = NULL;
    void *file[LARGE];
    size_t size[LARGE];
    for (size_t k = 0; k < sizeof settings_of / sizeof *settings_of; k++) {
        char text[160];
        int wrong = 0, there = 0;
        if (k != 1)
            need(lap_stream_create(context, 0, NULL, &stream, &err) == LAP_OK, "a stream");
        need(lap_cudacpu_configure(settings_of[k]) == 0, settings_of[k]);
        const lap_code code =
            lap_stream_encode_batch(stream, large.pixels, LARGE, &large.settings, file, size, reports, &err);
        for (int i = 0; i < LARGE; i++) {
            wrong += !is_large_file(file[i], size[i]);
            there += strcmp(reports[i].note, "encoded on the device") == 0;
            free(file[i]);
        }
        const int lanes = (int)lap_cudacpu_count("cudaStreamCreateWithFlags");
        snprintf(text, sizeof text, "%d large pictures to files, %s: %d wrong, %d encoded there, %d lanes",
            LARGE, settings_of[k], wrong, there, lanes);
        check(code == LAP_OK && wrong == 0 && there == LARGE && (k > 0 || lanes > 0), text);
        need(lap_cudacpu_configure("devices=2") == 0, "devices=2");
        if (k != 0)
            lap_stream_destroy(stream);
    }
}

/* ---- faults --------------------------------------------------------------------------------------- */

static void check_faults(int first, int count, int step)
{
    const uint64_t alive = lap_cudacpu_alive();
    int failed = 0, wrong = 0, leaks = 0, whole = 0, n = 1;
    char text[160];
    for (bool goes_on = true; goes_on && n < 4000; n += step) {
        lap_stream *stream = NULL;
        char setting[64];
        int its;
        need(lap_cudacpu_configure("devices=2") == 0 &&
                 lap_stream_create(context, 0, NULL, &stream, &err) == LAP_OK,
            "a stream");
        snprintf(setting, sizeof setting, "devices=2,fail=%d:%d", n, n % 2 ? 2 : 700);
        need(lap_cudacpu_configure(setting) == 0, setting);
        memset(views, 0, sizeof views);
        (void)lap_stream_edges_batch(
            stream, files + first, sizes + first, (size_t)count, &settings, views, reports, &err);
        goes_on = lap_cudacpu_count("calls") >= (uint64_t)n;
        need(lap_cudacpu_configure("devices=2") == 0, "devices=2");
        its = 0;
        for (int i = 0; i < count; i++) {
            const lap_code code = reports[i].error.code, expected = photos[first + i].code;
            const bool is_fault = code == LAP_E_DEVICE || code == LAP_E_MEMORY;
            wrong += code == LAP_OK ? !is_there(&views[i], &photos[first + i].edges)
                                    : (code != expected && !is_fault) || views[i].base;
            its += is_fault;
        }
        free_views(stream, count);
        lap_stream_destroy(stream);
        failed += its > 0;
        whole += its == 0;
        leaks += lap_cudacpu_alive() != alive;
    }
    snprintf(text, sizeof text,
        "each %d. of %d calls fails: in %d batches photos fail, in %d none does; %d wrong, %d leaks", step, n,
        failed, whole, wrong, leaks);
    check(failed > 3 && whole > 3 && n < 4000 && wrong == 0 && leaks == 0, text);
}

/* The same for encoding: a chain of small pictures, and large ones beside each other. */
static void check_encode_faults(int step)
{
    enum { SMALL = 5, ALL = SMALL + 2 };
    const uint64_t alive = lap_cudacpu_alive();
    lap_view pixels[ALL];
    void *expected, *file[ALL];
    size_t expected_size, size[ALL];
    int failed = 0, wrong = 0, whole = 0, n = 1;
    char text[160];
    const lap_view *small = &photos[1].edges;
    there t = there_make(0, small->width, small->height, small->channels, 0, 0, 0);
    there_put(&t, small, NULL);
    need(lap_encode(small, &large.settings, &expected, &expected_size, &err) == LAP_OK, "on the host");
    for (int i = 0; i < ALL; i++)
        pixels[i] = i < SMALL ? t.view : large.pixels[i - SMALL];
    for (bool goes_on = true; goes_on && n < 4000; n += step) {
        lap_stream *stream = NULL;
        char setting[64];
        int its = 0;
        need(lap_stream_create(context, 0, NULL, &stream, &err) == LAP_OK, "a stream");
        snprintf(setting, sizeof setting, "devices=2,fail=%d:%d", n, n % 2 ? 2 : 700);
        need(lap_cudacpu_configure(setting) == 0, setting);
        (void)lap_stream_encode_batch(stream, pixels, ALL, &large.settings, file, size, reports, &err);
        goes_on = lap_cudacpu_count("calls") >= (uint64_t)n;
        need(lap_cudacpu_configure("devices=2") == 0, "devices=2");
        for (int i = 0; i < ALL; i++) {
            const lap_code code = reports[i].error.code;
            const bool is_right =
                i < SMALL ? file[i] && size[i] == expected_size && memcmp(file[i], expected, size[i]) == 0
                          : is_large_file(file[i], size[i]);
            its += code != LAP_OK;
            wrong += code == LAP_OK ? !is_right : file[i] || (code != LAP_E_DEVICE && code != LAP_E_MEMORY);
            free(file[i]);
        }
        lap_stream_destroy(stream);
        failed += its > 0;
        whole += its == 0;
    }
    there_free(&t);
    free(expected);
    snprintf(text, sizeof text,
        "encoding: each %d. of %d calls fails: in %d batches pictures fail, in %d none does; %d wrong", step,
        n, failed, whole, wrong);
    check(failed > 0 && whole > 1 && n < 4000 && wrong == 0 && lap_cudacpu_alive() == alive, text);
}

/* Without pinned memory, or without memory for a chain, each photo goes alone. */
static void check_short_of_memory(void)
{
    static const char *const settings_of[] = {
        "devices=2,fail=cudaMallocHost:1:2", "devices=2,fail=cudaMallocHost:30:2"};
    for (size_t k = 0; k < sizeof settings_of / sizeof *settings_of; k++) {
        lap_stream *stream = NULL;
        memset(views, 0, sizeof views);
        need(lap_stream_create(context, 0, NULL, &stream, &err) == LAP_OK, "a stream");
        need(lap_cudacpu_configure(settings_of[k]) == 0, settings_of[k]);
        (void)lap_stream_decode_batch(stream, files, sizes, MANY, &settings, views, reports, &err);
        need(lap_cudacpu_configure("devices=2") == 0, "devices=2");
        check(wrong_ones(0, MANY, lap_stream_decode_batch) == 0, settings_of[k]);
        free_views(stream, MANY);
        lap_stream_destroy(stream);
    }
}

/* The device is lost on the way: photos fail, and none is called done without its pixels. */
static void check_lost(int count)
{
    int failed = 0, wrong = 0, n = 1;
    char text[120];
    for (int before = -1; before != failed && n < 2000; n += 9) {
        lap_stream *stream = NULL;
        char setting[64];
        before = failed;
        need(lap_cudacpu_configure("devices=2") == 0 &&
                 lap_stream_create(context, 0, NULL, &stream, &err) == LAP_OK,
            "a stream");
        snprintf(setting, sizeof setting, "devices=2,lost=%d:700", n);
        need(lap_cudacpu_configure(setting) == 0, setting);
        memset(views, 0, sizeof views);
        const lap_code code =
            lap_stream_edges_batch(stream, files, sizes, (size_t)count, &settings, views, reports, &err);
        for (int i = 0; i < count; i++) {
            const lap_code its = reports[i].error.code;
            wrong += (its != photos[i].code && its != LAP_E_DEVICE) || (its != LAP_OK && views[i].base);
        }
        failed += code == LAP_E_DEVICE;
        need(lap_cudacpu_configure("devices=2") == 0, "devices=2");
        for (int i = 0; i < count; i++)
            wrong += reports[i].error.code == LAP_OK && !is_there(&views[i], &photos[i].edges);
        free_views(stream, count);
        lap_stream_destroy(stream);
    }
    snprintf(text, sizeof text, "a device that is lost: %d batches fail, %d photos are wrong", failed, wrong);
    check(failed > 2 && n < 2000 && wrong == 0, text);
}

/* The time limit is one photo's: what it waits for the others does not count. */
static void check_time(void)
{
    enum { COUNT = 7 }; /* the last is progressive */
    lap_settings s = settings;
    lap_stream *stream = NULL;
    s.timeout_s = 1;
    memset(views, 0, sizeof views);
    need(lap_stream_create(context, 0, NULL, &stream, &err) == LAP_OK, "a stream");
    need(lap_cudacpu_configure("devices=2,slow=cudaLaunchKernel:100") == 0, "a slow device");
    const lap_code code = lap_stream_decode_batch(stream, files, sizes, COUNT, &s, views, reports, &err);
    need(lap_cudacpu_configure("devices=2") == 0, "devices=2");
    check(code == LAP_OK && strcmp(reports[COUNT - 1].note, "decoded on the CPU") == 0 &&
              reports[COUNT - 1].ms.total > 1000 && wrong_ones(0, COUNT, lap_stream_decode_batch) == 0,
        "a photo that waits longer than its time limit has all of it");
    free_views(stream, COUNT);
    lap_stream_destroy(stream);
}

int main(void)
{
    lap_stream *stream = NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    need(lap_cudacpu_configure("devices=2") == 0, "devices=2");
    settings = lap_settings_default();
    settings.border = LAP_REFLECT;
    context = lap_context_create(3, &err);
    need(context && lap_stream_create(context, 0, NULL, &stream, &err) == LAP_OK, "context and stream");
    make_photos();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        check_batch(stream, (int)i % 3 * (MOST - counts[i]) / 2, counts[i], lap_stream_decode_batch);
        check_batch(stream, (int)(i + 1) % 3 * (MOST - counts[i]) / 2, counts[i], lap_stream_edges_batch);
    }
    check_views(stream, lap_stream_decode_batch);
    check_views(stream, lap_stream_edges_batch);
    check_refusals(stream);
    check_encodings(stream);
    lap_stream_destroy(stream);
    check_cancelled();
    check_alone(lap_stream_decode_batch);
    check_alone(lap_stream_edges_batch);
    make_large();
    check_encode_alone();
    check_short_of_memory();
    check_time();
    check_lost(9);
    check_faults(0, 9, 3);
    check_encode_faults(29);
    there_free(&large.at);
    free(large.file);
    for (int i = 0; i < MOST; i++) {
        free(photos[i].bytes);
        free(photos[i].pixels.base);
        free(photos[i].edges.base);
    }
    lap_context_destroy(context);
    printf("1..%d\n", number);
    return failures > 0;
}
