/* The launches of the JPEG decoder and encoder, for one picture and for several. */
#include "plans.h"

enum { MULTIPROCESSORS = 2, MOST = 3, EVENTS = 10 };

typedef struct size {
    int width, height, h, v; /* h 0: gray */
    size_t bytes;            /* of the scan */
} size;

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Allocates what all pictures need, from which each takes its share. */
typedef struct memory {
    char *device, *pinned;
    size_t device_used, pinned_used;
    lap_cuda_table table;
    void *events[EVENTS], *stream;
} memory;

static memory memory_new(void)
{
    memory m = {0};
    void *device, *pinned;
    need(lap_cuda_alloc(0, 4 << 20, &device, &err) == LAP_OK &&
             lap_cuda_pinned_alloc(0, 2 << 20, &pinned, &err) == LAP_OK &&
             lap_cuda_stream_create(0, &m.stream, &err) == LAP_OK,
        "memory");
    m.device = device;
    m.pinned = pinned;
    for (int i = 0; i < EVENTS; i++)
        need(lap_cuda_event_create(0, &m.events[i], &err) == LAP_OK, "an event");
    return m;
}

static void memory_free(memory *m)
{
    go_on();
    for (int i = 0; i < EVENTS; i++)
        lap_cuda_event_destroy(0, m->events[i]);
    lap_cuda_stream_destroy(0, m->stream);
    lap_cuda_free(0, m->device);
    lap_cuda_pinned_free(m->pinned);
}

static void *share_of(char *all, size_t *used, size_t bytes, size_t most)
{
    void *mine = all + *used;
    *used += (bytes + 255) / 256 * 256;
    need(*used <= most, "memory of the test");
    return mine;
}

static void *on_device(memory *m, size_t bytes)
{
    return share_of(m->device, &m->device_used, bytes, 4 << 20);
}

static void *on_host(memory *m, size_t bytes)
{
    return share_of(m->pinned, &m->pinned_used, bytes, 2 << 20);
}

static void make_table(memory *m, size_t row)
{
    m->table = (lap_cuda_table){on_host(m, MOST * row), on_device(m, MOST * row)};
}

static lap_view view_of(int width, int height, int channels)
{
    return (lap_view){(uint8_t *)((uintptr_t)1 << 40), ((ptrdiff_t)width * channels + 127) / 128 * 128, width,
        height, channels, 0, 0};
}

/* ---- decoding ------------------------------------------------------------------------------------- */

typedef struct decoding {
    lap_cuda_jpeg_plan plans[MOST];
    lap_view views[MOST];
    lap_cuda_jpeg_photo photos[MOST];
} decoding;

static void prepare_decoding(
    decoding *d, memory *m, const size *sizes, int count, const lap_cuda_jpeg_tuning *tuning)
{
    m->device_used = m->pinned_used = 0;
    make_table(m, LAP_CUDA_JPEG_DECODE_ROW);
    for (int i = 0; i < count; i++) {
        const size *s = &sizes[i];
        const lap_jpeg_frame frame = frame_of(s->width, s->height, s->h, s->v);
        lap_cuda_jpeg_plan *p = &d->plans[i];
        need(lap_cuda_jpeg_decode_plan(&frame, false, s->bytes, tuning, p), "a plan");
        d->views[i] = view_of(s->width, s->height, p->channels);
        d->photos[i] = (lap_cuda_jpeg_photo){on_host(m, s->bytes), on_host(m, p->staging_bytes),
            on_device(m, p->workspace_bytes), on_host(m, sizeof(lap_cuda_jpeg_result)), p, &d->views[i]};
    }
}

static size_t codes_bytes(unsigned count)
{
    return (6 * sizeof(lap_huff_code) + 15) / 16 * 16 + count * 8192ul;
}

/* The ways from samples to pixels, in the order of their launches: gray; then h, v, and whether chroma is
 * replicated. */
static const struct {
    int h, v;
    bool is_plain;
} ways[] = {
    {0, 0, false}, {1, 1, false}, {1, 2, false}, {2, 1, false}, {2, 1, true}, {2, 2, false}, {2, 2, true}};

static void expect_decoding(const decoding *d, const size *sizes, int count, char *text)
{
    const lap_cuda_jpeg_tuning *t = &d->plans[0].tuning;
    unsigned uploads = 0, bytes = 0, groups = 0, lanes = 0, subs = 0, blocks = 0, codes = 0, ac = 0,
             tasks = 0;
    const unsigned n = (unsigned)count;
    for (int i = 0; i < count; i++) {
        const lap_cuda_jpeg_plan *p = &d->plans[i];
        const unsigned mine = parts(p->subs, (unsigned)t->group);
        uploads = larger(uploads, smaller(parts(sizes[i].bytes, 4096), 8));
        bytes = larger(bytes, parts(sizes[i].bytes, 4096));
        groups = larger(groups, mine);
        lanes = larger(lanes, smaller(mine, (unsigned)t->chain_lanes));
        subs = larger(subs, parts(p->subs, 256));
        blocks = larger(blocks, parts(p->blocks, 2048));
        codes = larger(codes, p->code_count);
        ac = larger(ac, p->ac_count);
        tasks = larger(tasks, parts((uint64_t)parts(p->mcus, 32) * (unsigned)p->frame.huffman.blocks, 8));
    }
    text[0] = 0;
    if (count > 1)
        add_launch(text, uploads, n, 256, 1, 0);
    add_launch(text, bytes, n, 256, 1, 0);
    add_launch(text, 2, n, 256, 1, 0);
    add_launch(text, bytes, n, 256, 1, 0);
    add_launch(text, parts(groups, 128), n, 128, 1, codes_bytes(codes));
    add_launch(text, parts(lanes, 128), n, 128, 1, codes_bytes(codes));
    add_launch(text, subs, n, 256, 1, 0);
    add_launch(text, 1, n, 256, 1, 0);
    add_launch(text, subs, n, 256, 1, codes_bytes(codes));
    add_launch(text, blocks, n, 256, 1, 0);
    add_launch(text, 1, n, 256, 1, 0);
    add_launch(text, blocks, n, 256, 1, 0);
    add_launch(text, smaller(tasks, larger(4 * MULTIPROCESSORS / n, 1)), n, 256, 1,
        (3 * 64 + 256 * 33) * 4ul + codes_bytes(ac));
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        int width = 0, height = 0;
        for (int i = 0; i < count; i++) {
            const bool is_plain = sizes[i].h == 2 && (sizes[i].width + 1) / 2 <= 2;
            if (sizes[i].h == ways[w].h && sizes[i].v == ways[w].v && is_plain == ways[w].is_plain) {
                width = (int)larger((unsigned)width, (unsigned)sizes[i].width);
                height = (int)larger((unsigned)height, (unsigned)sizes[i].height);
            }
        }
        if (width)
            add_launch(text, parts((uint64_t)width, 256),
                parts((uint64_t)height, 8 * (ways[w].v ? (unsigned)ways[w].v : 1)) * n, 32, 8, 0);
    }
    if (count > 1)
        add_launch(text, parts(n * 5, 256), 1, 256, 1, 0);
}

static bool decodes(memory *m, const size *sizes, int count, const lap_cuda_jpeg_tuning *tuning)
{
    static decoding d;
    char text[TEXT], what[120];
    begin("");
    prepare_decoding(&d, m, sizes, count, tuning);
    expect_decoding(&d, sizes, count, text);
    snprintf(what, sizeof what, "%d pictures to decode, the first of %dx%d, %dx%d", count, sizes->width,
        sizes->height, sizes->h, sizes->v);
    const lap_code code = lap_cuda_jpeg_decode_enqueue(
        d.photos, count, count > 1 ? &m->table : NULL, m->stream, m->events, &err);
    if (code)
        printf("# %s\n", err.message);
    bool good = code == LAP_OK && launched(text, what) && lap_cudacpu_count("cudaEventRecord") == EVENTS;
    good = good && lap_cudacpu_count("cudaMemcpyAsync") == (count > 1 ? 1 : 3) &&
           lap_cudacpu_count("stream syncs") == 0;
    return good && lap_cudacpu_count("allocations") == 0 &&
           lap_cudacpu_count("legacy launches") + lap_cudacpu_count("legacy copies") == 0;
}

static const size photos[] = {{8, 8, 0, 0, 4096}, {257, 9, 0, 0, 4097}, {256, 8, 1, 1, 32 * 256},
    {100, 17, 1, 2, 32 * 256 + 1}, {4, 9, 2, 1, 33}, {5, 8, 2, 1, 2}, {4, 16, 2, 2, 70000},
    {5, 17, 2, 2, 4096 * 8}, {513, 33, 2, 2, 4096 * 8 + 1}, {512, 256, 0, 0, 1024},
    {520, 256, 0, 0, 32 * 8 * 128}, {300, 100, 1, 1, 32 * 8 * 128 + 1}};
enum { PHOTOS = sizeof photos / sizeof *photos };

static void check_decoding(memory *m)
{
    const lap_cuda_jpeg_tuning few = {.sub_bits = 128, .group = 1, .chain_lanes = 200};
    bool good = true;
    for (int i = 0; i < PHOTOS; i++)
        good = decodes(m, &photos[i], 1, NULL) && decodes(m, &photos[i], 1, &few) && good;
    check(good, "a picture is decoded");
    good = true;
    for (int i = 0; i + MOST <= PHOTOS; i++)
        good = decodes(m, &photos[i], 2, NULL) && decodes(m, &photos[i], 3, &few) && good;
    check(good, "several pictures are decoded in the same launches");
}

static bool decoding_refused(memory *m, decoding *d, int count, const char *words)
{
    begin("");
    const lap_code code =
        lap_cuda_jpeg_decode_enqueue(d->photos, count, &m->table, m->stream, m->events, &err);
    const bool good =
        code == LAP_E_USAGE && strcmp(err.message, words) == 0 && lap_cudacpu_count("calls") == 0;
    if (!good)
        printf("# code %d, \"%s\", expected \"%s\"\n", code, err.message, words);
    return good;
}

static void check_decoding_refused(memory *m)
{
    static decoding d;
    static const char *const names[] = {
        "", "upload", "bytes", "guess", "chains", "blocks", "dc", "pixels", "colour", "result", ""};
    bool good = true;
    for (int i = -1; i < 10; i++)
        good = strcmp(lap_cuda_jpeg_stage(i), names[i + 1]) == 0 && good;
    begin("");
    prepare_decoding(&d, m, photos + 6, MOST, NULL);
    good = decoding_refused(m, &d, 0, "0 pictures in the same launches") &&
           decoding_refused(m, &d, -1, "-1 pictures in the same launches") && good;
    good = decoding_refused(m, &d, 257, "257 pictures in the same launches") && good;
    for (int i = 0; i < MOST; i++)
        for (int k = 0; k < 6; k++) {
            const lap_view before = d.views[i];
            lap_view *v = &d.views[i];
            v->width += k == 0;
            v->height -= k == 1;
            v->channels = k == 2 ? 1 : v->channels;
            v->base += k == 3 ? 4 : 0;
            v->stride += k == 4 ? 4 : 0;
            v->place = k == 5 && i > 0;
            if (k < 5 || i > 0)
                good =
                    decoding_refused(m, &d, MOST, "the view's size or channels differ from the picture's") &&
                    good;
            *v = before;
        }
    check(good, "pictures that are not decoded");
    /* The call that fails is the last one. */
    good = true;
    for (int count = 1; count <= 2; count++)
        for (int n = 1;; n++) {
            char setting[60];
            snprintf(setting, sizeof setting, "fail=%d:700,", n);
            begin(setting);
            prepare_decoding(&d, m, photos + 6, count, NULL);
            const lap_code code =
                lap_cuda_jpeg_decode_enqueue(d.photos, count, &m->table, m->stream, m->events, &err);
            const int calls = (int)lap_cudacpu_count("calls");
            if (calls < n) {
                good = good && code == LAP_OK && n > 30;
                break;
            }
            /* The number of multiprocessors only makes it faster. */
            if (code == LAP_OK ? lap_cudacpu_count("cudaDeviceGetAttribute") != 1
                               : code != LAP_E_DEVICE || calls != n) {
                printf("# call %d of %d pictures: code %d after %d calls\n", n, count, code, calls);
                good = false;
            }
        }
    check(good, "decoding ends at the first call that fails");
    begin("");
    prepare_decoding(&d, m, photos + 6, 1, NULL);
    void *some[EVENTS] = {m->events[0], NULL, NULL, m->events[1]};
    good = lap_cuda_jpeg_decode_enqueue(d.photos, 1, NULL, m->stream, some, &err) == LAP_OK &&
           lap_cudacpu_count("cudaEventRecord") == 2;
    begin("");
    good = lap_cuda_jpeg_decode_enqueue(d.photos, 1, NULL, m->stream, NULL, &err) == LAP_OK && good &&
           lap_cudacpu_count("cudaEventRecord") == 0;
    check(good, "events that are not asked for");
}

/* ---- encoding ------------------------------------------------------------------------------------- */

typedef struct encoding {
    lap_cuda_jpeg_encode_plan plans[MOST];
    lap_view views[MOST];
    lap_cuda_jpeg_picture pictures[MOST];
} encoding;

typedef struct target {
    int width, height, channels, h, v;
    int chroma_h; /* of the first chroma component, 0: 1 */
    bool is_odd;  /* rows that do not begin on 8 bytes */
} target;

static void prepare_encoding(encoding *e, memory *m, const target *targets, int count, bool downloads)
{
    m->device_used = m->pinned_used = 0;
    make_table(m, LAP_CUDA_JPEG_ENCODE_ROW);
    for (int i = 0; i < count; i++) {
        const target *t = &targets[i];
        lap_cuda_jpeg_encode_plan *p = &e->plans[i];
        lap_cuda_jpeg_target wanted = target_of(t->width, t->height, t->channels, t->h, t->v);
        wanted.sample_h[1] = t->chroma_h ? t->chroma_h : 1;
        wanted.restart_interval = 5;
        need(lap_cuda_jpeg_encode_plan_make(&wanted, 0, p), "a plan");
        e->views[i] = view_of(t->width, t->height, t->channels);
        e->views[i].base += t->is_odd ? 4 : 0;
        e->pictures[i] = (lap_cuda_jpeg_picture){p, &e->views[i], on_device(m, p->workspace_bytes),
            downloads ? on_host(m, p->capacity) : NULL, on_host(m, sizeof(lap_cuda_jpeg_encoded))};
    }
}

static bool is_wide(const target *t)
{
    return !t->is_odd && t->channels != 4 && t->h <= 2 && t->v <= 2 && t->chroma_h < 2;
}

static void expect_encoding(const encoding *e, const target *targets, int count, bool downloads, char *text)
{
    static const int wide[][3] = {{1, 1, 1}, {3, 1, 1}, {3, 1, 2}, {3, 2, 1}, {3, 2, 2}};
    const unsigned n = (unsigned)count;
    unsigned simple_across = 0, simple_down = 0, blocks = 0, capacity = 0;
    text[0] = 0;
    for (int w = 0; w < 5; w++) {
        unsigned across = 0, rows = 0;
        for (int i = 0; i < count; i++) {
            const target *t = &targets[i];
            if (!is_wide(t) || t->channels != wide[w][0] || t->h != wide[w][1] || t->v != wide[w][2])
                continue;
            /* Planes reach to whole blocks; a group is a row of chroma samples. */
            const unsigned h = (unsigned)t->h, v = (unsigned)t->v, width = (unsigned)t->width,
                           height = (unsigned)t->height;
            const bool has_chroma = t->channels == 3;
            across = larger(across, has_chroma ? 8 * h * parts(width, 8 * h) : 8 * parts(width, 8));
            rows = larger(rows, has_chroma ? 8 * parts(height, 8 * v) : 8 * parts(height, 8));
        }
        if (across)
            add_launch(text, parts(across, 2048), smaller(rows, 32768) * n, 256, 1, 0);
    }
    for (int i = 0; i < count; i++) {
        const lap_cuda_jpeg_encode_plan *p = &e->plans[i];
        if (!is_wide(&targets[i])) {
            simple_across = larger(simple_across, 8 * parts((uint64_t)targets[i].width, 8));
            simple_down = larger(simple_down, 8 * parts((uint64_t)targets[i].height, 8));
        }
        blocks = larger(blocks, p->blocks);
        capacity = larger(capacity, (unsigned)p->capacity);
    }
    if (simple_across)
        add_launch(text, parts(simple_across, 1024), smaller(simple_down, 32768) * 3 * n, 256, 1, 0);
    add_launch(text, smaller(parts(blocks, 32), 12 * MULTIPROCESSORS), n, 256, 1, 0);
    add_launch(text, blocks / 1024 + 1, n, 256, 1, 0);
    add_launch(text, 1, n, 256, 1, 0);
    add_launch(text, 1, n, 256, 1, 0);
    add_launch(text, parts(blocks, 256), n, 256, 1, 0);
    if (count > 1)
        add_launch(text, parts(capacity / 16, 2048), n, 256, 1, 0);
    add_launch(text, parts(blocks, 64), n, 256, 1, 0);
    add_launch(text, parts(capacity / 16, 256), n, 256, 1, 0);
    add_launch(text, 1, n, 256, 1, 0);
    add_launch(text, parts(capacity / 16, 256), n, 256, 1, 0);
    if (count > 1 || downloads)
        add_launch(text, parts(8, n), n, 256, 1, 0);
}

static bool encodes(memory *m, const target *targets, int count, bool downloads)
{
    static encoding e;
    char text[TEXT], what[120];
    begin("");
    prepare_encoding(&e, m, targets, count, downloads);
    expect_encoding(&e, targets, count, downloads, text);
    snprintf(what, sizeof what, "%d pictures to encode, the first of %dx%dx%d, %dx%d", count, targets->width,
        targets->height, targets->channels, targets->h, targets->v);
    const lap_code code = lap_cuda_jpeg_encode_enqueue(
        e.pictures, count, count > 1 ? &m->table : NULL, m->stream, m->events, &err);
    if (code)
        printf("# %s\n", err.message);
    bool good = code == LAP_OK && launched(text, what) &&
                lap_cudacpu_count("cudaEventRecord") == LAP_CUDA_JPEG_ENCODE_STAGES + 1;
    good = good && lap_cudacpu_count("cudaMemcpyAsync") == 1 &&
           lap_cudacpu_count("cudaMemsetAsync") == (count == 1);
    return good && lap_cudacpu_count("stream syncs") == 0 && lap_cudacpu_count("allocations") == 0 &&
           lap_cudacpu_count("legacy launches") + lap_cudacpu_count("legacy copies") == 0;
}

static const target targets[] = {{8, 8, 1, 1, 1, 0, false}, {257, 9, 1, 1, 1, 0, false},
    {256, 128, 1, 1, 1, 0, false}, {2049, 8, 1, 1, 1, 0, false}, {100, 17, 3, 1, 1, 0, false},
    {100, 17, 3, 1, 2, 0, false}, {2040, 9, 3, 2, 1, 0, false}, {2049, 9, 3, 2, 1, 0, false},
    {33, 33, 3, 2, 2, 0, false}, {33, 33, 3, 2, 2, 0, true}, {33, 33, 4, 2, 2, 0, false},
    {1025, 10, 4, 1, 1, 0, false}, {256, 256, 1, 1, 1, 0, false}, {64, 40, 3, 4, 1, 0, false},
    {64, 40, 3, 1, 4, 0, false}, {64, 40, 3, 2, 2, 2, false}, {9, 9, 1, 1, 1, 0, true}};
enum { TARGETS = sizeof targets / sizeof *targets };

static void check_encoding(memory *m)
{
    bool good = true;
    for (int i = 0; i < TARGETS; i++)
        good = encodes(m, &targets[i], 1, true) && encodes(m, &targets[i], 1, false) && good;
    check(good, "a picture is encoded");
    good = true;
    for (int i = 0; i + MOST <= TARGETS; i++)
        good = encodes(m, &targets[i], 2, false) && encodes(m, &targets[i], 3, true) && good;
    check(good, "several pictures are encoded in the same launches");
}

static void check_encoding_refused(memory *m)
{
    static encoding e;
    static const char *const names[] = {"planes", "dct", "places", "bits", "stuffing", "download"};
    static const int counts[] = {0, -1, 257};
    bool good = !lap_cuda_jpeg_encode_stage(-1) && !lap_cuda_jpeg_encode_stage(6);
    for (int i = 0; i < 6; i++)
        good = strcmp(lap_cuda_jpeg_encode_stage(i), names[i]) == 0 && good;
    for (int i = 0; i < 4; i++) {
        char text[80];
        begin("");
        prepare_encoding(&e, m, targets, MOST, false);
        snprintf(text, sizeof text,
            i < 3 ? "%d pictures in the same launches" : "pictures of several devices in the same launches",
            i < 3 ? counts[i] : 0);
        e.views[2].place = i == 3;
        good = lap_cuda_jpeg_encode_enqueue(
                   e.pictures, i < 3 ? counts[i] : MOST, &m->table, m->stream, NULL, &err) == LAP_E_USAGE &&
               strcmp(err.message, text) == 0 && lap_cudacpu_count("calls") == 0 && good;
    }
    check(good, "pictures that are not encoded");
    good = true;
    for (int count = 1; count <= 2; count++)
        for (int n = 1;; n++) {
            char setting[60];
            snprintf(setting, sizeof setting, "fail=%d:700,", n);
            begin(setting);
            prepare_encoding(&e, m, targets + 8, count, true);
            const lap_code code =
                lap_cuda_jpeg_encode_enqueue(e.pictures, count, &m->table, m->stream, m->events, &err);
            const int calls = (int)lap_cudacpu_count("calls");
            if (calls < n) {
                good = good && code == LAP_OK && n > 25;
                break;
            }
            if (code == LAP_OK ? lap_cudacpu_count("cudaDeviceGetAttribute") != 1
                               : code != LAP_E_DEVICE || calls != n) {
                printf("# call %d of %d pictures: code %d after %d calls\n", n, count, code, calls);
                good = false;
            }
        }
    check(good, "encoding ends at the first call that fails");
}

void check_jpeg(void)
{
    go_on();
    const uint64_t before = lap_cudacpu_alive();
    memory m = memory_new();
    check_decoding(&m);
    check_decoding_refused(&m);
    check_encoding(&m);
    check_encoding_refused(&m);
    memory_free(&m);
    check(lap_cudacpu_alive() == before, "coding leaves nothing behind");
}
