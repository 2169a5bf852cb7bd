/* Which scans make a complete progressive picture, each bit once and in order: against the rules of T.81,
 * G.1.1.1, written down here once more; and whatever our decoder takes has the pixels of libjpeg-turbo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coding/jpeg_frame_read.h"
#include "lapedge.h"
#include "lapedge_program.h"
#include "tests/support/jpeg_make.h"

enum { MOST = 12, COMPONENTS = 3 };

typedef struct piece { /* a scan, with the tables before it */
    const uint8_t *at;
    size_t size, sos; /* its SOS segment begins at `at + sos` */
} piece;

typedef struct file { /* head, scans, EOI */
    jpeg_bytes bytes;
    size_t head; /* up to the first scan's tables */
    piece scans[MOST];
    int count, restart;
} file;

static size_t segment(const uint8_t *at)
{
    return 2 + (size_t)(at[2] << 8 | at[3]);
}

static file make(const jpeg_kind *kind)
{
    file f = {.bytes = jpeg_make(kind, 75, 61), .restart = kind->restart};
    const uint8_t *at = f.bytes.data + 2, *begin = NULL;
    while (at[1] != 0xD9) {
        if (!begin && (at[1] == 0xC4 || at[1] == 0xDD || at[1] == 0xDA))
            begin = at;
        const bool is_scan = at[1] == 0xDA;
        const uint8_t *sos = at;
        f.head = f.count == 0 && begin ? (size_t)(begin - f.bytes.data) : f.head;
        at += segment(at);
        if (!is_scan)
            continue;
        while (at[0] != 0xFF || at[1] == 0 || (at[1] & 0xF8) == 0xD0)
            at++;
        assert_in_range(f.count, 0, MOST - 1);
        f.scans[f.count++] = (piece){begin, (size_t)(at - begin), (size_t)(sos - begin)};
        begin = NULL;
    }
    return f;
}

/* The scans with these numbers. */
static jpeg_bytes put_together(const file *f, const int *order, int count)
{
    jpeg_bytes out = {malloc(f->bytes.size * 3), f->head};
    memcpy(out.data, f->bytes.data, f->head);
    for (int i = 0; i < count; i++) {
        const piece *scan = &f->scans[order[i]];
        memcpy(out.data + out.size, scan->at, scan->size);
        out.size += scan->size;
    }
    memcpy(out.data + out.size, "\xFF\xD9", 2);
    out.size += 2;
    return out;
}

/* Where the parameters of a scan lie in a file of put_together: Ns and what follows. */
static uint8_t *parameters(const file *f, const jpeg_bytes *bytes, const int *order, int i)
{
    size_t at = f->head;
    for (int k = 0; k < i; k++)
        at += f->scans[order[k]].size;
    return bytes->data + at + f->scans[order[i]].sos + 4;
}

/* The rules, scan by scan. left[c][k]: low bits of a coefficient that are missing; -1: all. */
static bool is_legal(const file *f, const jpeg_bytes *bytes, const int *order, int count)
{
    int left[COMPONENTS][64];
    memset(left, -1, sizeof left);
    for (int i = 0; i < count; i++) {
        const uint8_t *p = parameters(f, bytes, order, i), *q = p + 1 + 2 * p[0];
        const int first = q[0], last = q[1], high = q[2] >> 4, low = q[2] & 15;
        if (last > 63 || first > last || (first == 0 && last > 0) || (first > 0 && p[0] > 1) || low > 13 ||
            (high > 0 && high != low + 1))
            return false;
        for (int n = 0; n < p[0]; n++) {
            int *const of = left[p[1 + 2 * n] - 1];
            if (first > 0 && of[0] < 0)
                return false;
            for (int k = first; k <= last; k++) {
                if (of[k] != (high > 0 ? high : -1))
                    return false;
                of[k] = low;
            }
        }
    }
    for (int c = 0; c < COMPONENTS; c++)
        for (int k = 0; k < 64; k++)
            if (left[c][k] != 0)
                return false;
    return true;
}

static lap_pixels *decode(const jpeg_bytes *bytes, lap_codec_place codec, int threads)
{
    lap_context *context = lap_context_create(threads, NULL);
    lap_settings settings = lap_settings_default();
    lap_pixels *pixels = NULL;
    lap_error err = {0};
    settings.codec = codec;
    settings.threads = threads;
    settings.decode = LAP_DECODE_PARALLEL;
    settings.fail_on = LAP_FAIL_NONE;
    assert_non_null(context);
    lap_pixels_decode(context, bytes->data, bytes->size, &settings, &pixels, &err);
    lap_context_destroy(context);
    return pixels;
}

static void assert_same_pixels(const jpeg_bytes *bytes, bool is_ours, int threads)
{
    lap_pixels *ours = decode(bytes, LAP_CODEC_C, threads), *turbo = decode(bytes, LAP_CODEC_TURBO, 1);
    assert_int_equal(ours != NULL, turbo != NULL);
    if (ours) {
        const lap_view *a = lap_pixels_view(ours), *b = lap_pixels_view(turbo);
        assert_int_equal(strstr(lap_pixels_note(ours), "by turbo") == NULL, is_ours);
        for (int y = 0; y < b->height; y++)
            assert_memory_equal(
                a->base + y * a->stride, b->base + y * b->stride, (size_t)b->width * (size_t)b->channels);
    }
    assert_true(ours || !is_ours);
    lap_pixels_free(ours);
    lap_pixels_free(turbo);
}

/* Each scan as it stands in the file, and where its data lie: up to the next scan's tables, or the end. */
static void same_scans(
    const file *f, const jpeg_bytes *bytes, const int *order, int count, const lap_jpeg_script *script)
{
    size_t end = f->head;
    assert_int_equal(script->count, count);
    assert_int_equal(script->frame.restart_interval, 0);
    assert_int_equal(script->frame.scan_begin, script->scans[0].begin);
    for (int i = 0; i < count; i++) {
        const uint8_t *p = parameters(f, bytes, order, i), *q = p + 1 + 2 * p[0];
        const lap_script_scan *scan = &script->scans[i];
        end += f->scans[order[i]].size;
        assert_int_equal(scan->begin, q + 3 - bytes->data);
        assert_int_equal(scan->end, end);
        assert_int_equal(scan->components, p[0]);
        for (int n = 0; n < p[0]; n++)
            assert_int_equal(scan->component[n], p[1 + 2 * n] - 1);
        assert_true(scan->first == q[0] && scan->last == q[1]);
        assert_true(scan->high == q[2] >> 4 && scan->low == (q[2] & 15));
        assert_int_equal(scan->interval, f->restart);
    }
}

/* True if it is legal. */
static bool check(const file *f, const jpeg_bytes *bytes, const int *order, int count, int threads)
{
    static lap_jpeg_script script;
    const bool is_ours = is_legal(f, bytes, order, count);
    assert_int_equal(lap_jpeg_script_read(bytes->data, bytes->size, &script), is_ours);
    if (is_ours)
        same_scans(f, bytes, order, count, &script);
    assert_same_pixels(bytes, is_ours, threads);
    return is_ours;
}

static bool check_order(const file *f, const int *order, int count, int threads)
{
    jpeg_bytes bytes = put_together(f, order, count);
    const bool is_ours = check(f, &bytes, order, count, threads);
    free(bytes.data);
    return is_ours;
}

static const jpeg_kind kinds[] = {
    {.components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .progressive = true},
    {.components = 3, .space = JCS_YCbCr, .sampling = "11 11 11", .progressive = true, .restart = 3},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void each_scan_left_out_twice_and_earlier(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        file f = make(&kinds[kind]);
        int order[2 * MOST] = {0}, legal = 0;
        assert_int_equal(f.count, 10);
        for (int i = 0; i < f.count; i++)
            order[i] = i;
        assert_true(check_order(&f, order, f.count, 2));
        for (int i = 0; i < f.count; i++) {
            int n = 0;
            for (int k = 0; k < f.count; k++)
                if (k != i)
                    order[n++] = k;
            assert_false(check_order(&f, order, n, 2));
            for (n = 0; n <= f.count; n++)
                order[n] = n <= i ? n : n - 1;
            assert_false(check_order(&f, order, n, 3));
            for (int to = 0; to < i; to++) {
                for (n = 0; n < f.count; n++)
                    order[n] = n < to || n > i ? n : n == to ? i : n - 1;
                legal += check_order(&f, order, n, 1 + to % 3);
            }
        }
        assert_in_range(legal, 5, 40);
        free(f.bytes.data);
    }
}

static void scans_in_any_order(void **state)
{
    enum { TRIES = 400 };
    (void)state;
    uint64_t seed = 27;
    int legal = 0;
    file f = make(&kinds[0]);
    for (int i = 0; i < TRIES; i++) {
        int order[MOST] = {0};
        for (int k = 0; k < f.count; k++)
            order[k] = k;
        for (int swaps = 1 + i % 4; swaps > 0; swaps--) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const int a = (int)(seed >> 33) % (f.count - 1);
            const int kept = order[a];
            order[a] = order[a + 1];
            order[a + 1] = kept;
        }
        legal += check_order(&f, order, f.count, 1 + i % 3);
    }
    assert_in_range(legal, TRIES / 10, TRIES * 9 / 10);
    free(f.bytes.data);
}

/* Band and bits of each scan changed to every value. What libjpeg-turbo makes of them is its own. */
static void other_bands_and_bits(void **state)
{
    static lap_jpeg_script script;
    (void)state;
    file f = make(&kinds[0]);
    int order[MOST] = {0};
    for (int i = 0; i < f.count; i++)
        order[i] = i;
    jpeg_bytes bytes = put_together(&f, order, f.count);
    for (int i = 0; i < f.count; i++) {
        uint8_t *p = parameters(&f, &bytes, order, i), *q = p + 1 + 2 * p[0];
        for (int field = 0; field < 3; field++) {
            const uint8_t kept = q[field];
            for (int value = 0; value < 256; value++) {
                q[field] = (uint8_t)value;
                assert_int_equal(lap_jpeg_script_read(bytes.data, bytes.size, &script),
                    is_legal(&f, &bytes, order, f.count));
                if (value % 16 == field || value == kept + 1)
                    assert_same_pixels(&bytes, is_legal(&f, &bytes, order, f.count), 2);
            }
            q[field] = kept;
        }
    }
    free(bytes.data);
    free(f.bytes.data);
}

/* What does not end in an end marker, or has a second frame or a size segment. */
static void cut_and_continued(void **state)
{
    static lap_jpeg_script script;
    (void)state;
    file f = make(&kinds[0]);
    jpeg_bytes longer = {malloc(f.bytes.size + 20), f.bytes.size};
    memcpy(longer.data, f.bytes.data, f.bytes.size);
    assert_true(lap_jpeg_script_read(longer.data, longer.size, &script));
    for (size_t cut = 1; cut < 40; cut++) /* no end marker */
        assert_false(lap_jpeg_script_read(longer.data, longer.size - cut, &script));
    longer.data[longer.size - 1] = 0xC2; /* a second frame */
    memcpy(longer.data + longer.size, "\x00\x04\x08\x00\xFF\xD9", 6);
    assert_false(lap_jpeg_script_read(longer.data, longer.size + 6, &script));
    longer.data[longer.size - 1] = 0xDC; /* a size segment */
    memcpy(longer.data + longer.size, "\x00\x04\x00\x3D\xFF\xD9", 6);
    assert_false(lap_jpeg_script_read(longer.data, longer.size + 6, &script));
    free(longer.data);
    free(f.bytes.data);
}

/* The first scan and its tables, then `more` bytes of segments, then the others. */
static jpeg_bytes with_segments(const file *f, const uint8_t *more, size_t size)
{
    const size_t at = f->head + f->scans[0].size;
    jpeg_bytes out = {malloc(f->bytes.size + size), f->bytes.size + size};
    memcpy(out.data, f->bytes.data, at);
    memcpy(out.data + at, more, size);
    memcpy(out.data + at + size, f->bytes.data + at, f->bytes.size - at);
    return out;
}

static bool is_taken_with(const file *f, const uint8_t *more, size_t size, lap_jpeg_script *script)
{
    jpeg_bytes bytes = with_segments(f, more, size);
    const bool is_taken = lap_jpeg_script_read(bytes.data, bytes.size, script);
    free(bytes.data);
    return is_taken;
}

/* Segments between scans have at most a megabyte, their tables and parameters included. */
static void much_between_scans(void **state)
{
    enum { MEGABYTE = 1 << 20 };
    static lap_jpeg_script script;
    (void)state;
    file f = make(&kinds[0]);
    size_t own = segment(f.scans[0].at + f.scans[0].sos); /* the parameters of the first one, too */
    for (int i = 1; i < f.count; i++)
        own += f.scans[i].sos + segment(f.scans[i].at + f.scans[i].sos);
    uint8_t *more = calloc(MEGABYTE, 1);
    for (int beyond = 0; beyond < 2; beyond++) {
        const size_t size = MEGABYTE - own + (size_t)beyond;
        for (size_t at = 0, n; at < size; at += n) {
            n = size - at < 60000 ? size - at : 50000; /* the last one has at least 10,000 */
            memcpy(more + at, (uint8_t[]){0xFF, 0xEF, (uint8_t)((n - 2) >> 8), (uint8_t)(n - 2)}, 4);
        }
        assert_int_equal(is_taken_with(&f, more, size, &script), !beyond);
    }
    free(more);
    free(f.bytes.data);
}

/* New quantisers after a component's first scan change nothing; what changes the colours is refused. */
static void changes_between_scans(void **state)
{
    static lap_jpeg_script script, other;
    uint8_t quant[69] = {0xFF, 0xDB, 0, 67, 0}, adobe[16] = {0xFF, 0xEE, 0, 14, 'A', 'd', 'o', 'b', 'e'};
    (void)state;
    file f = make(&kinds[0]);
    memset(quant + 5, 77, 64);
    assert_true(lap_jpeg_script_read(f.bytes.data, f.bytes.size, &script));
    assert_true(is_taken_with(&f, quant, sizeof quant, &other));
    assert_memory_equal(other.frame.quant, script.frame.quant, sizeof script.frame.quant);
    assert_int_equal(other.frame.is_ycc, true);
    for (int transform = 0; transform < 3; transform++) /* JFIF's segment decides */
        for (int is_jfif = 0; is_jfif < 2; is_jfif++) {
            adobe[15] = (uint8_t)transform;
            f.bytes.data[3] = is_jfif ? 0xE0 : 0xEC;
            assert_int_equal(is_taken_with(&f, adobe, sizeof adobe, &other), is_jfif || transform == 1);
        }
    free(f.bytes.data);
}

/* A gray file with a scan for each coefficient, DC in `dc_scans`. */
static jpeg_bytes many_scans(int dc_scans)
{
    struct jpeg_compress_struct c = {0};
    struct jpeg_error_mgr error;
    jpeg_scan_info scans[70];
    jpeg_bytes out = {NULL, 0};
    uint8_t line[16] = {0}, *row = line;
    int n = 0;
    for (int i = dc_scans; i > 0; i--, n++)
        scans[n] = (jpeg_scan_info){.comps_in_scan = 1, .Ah = n ? i : 0, .Al = i - 1};
    for (int k = 1; k < 64; k++)
        scans[n++] = (jpeg_scan_info){.comps_in_scan = 1, .Ss = k, .Se = k};
    c.err = jpeg_std_error(&error);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &out.data, &out.size);
    c.image_width = c.image_height = 16;
    c.input_components = 1;
    c.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&c);
    c.scan_info = scans;
    c.num_scans = n;
    jpeg_start_compress(&c, TRUE);
    for (int y = 0; y < 16; y++) {
        for (int x = 0; x < 16; x++)
            line[x] = jpeg_sample(x, y, 0);
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return out;
}

static void as_many_scans_as_there_is_room_for(void **state)
{
    static lap_jpeg_script script;
    (void)state;
    for (int beyond = 0; beyond < 2; beyond++) {
        jpeg_bytes bytes = many_scans(1 + beyond);
        assert_int_equal(lap_jpeg_script_read(bytes.data, bytes.size, &script), !beyond);
        assert_int_equal(script.count, LAP_SCRIPT_SCANS);
        assert_same_pixels(&bytes, !beyond, 2);
        free(bytes.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_scan_left_out_twice_and_earlier),
        cmocka_unit_test(scans_in_any_order),
        cmocka_unit_test(other_bands_and_bits),
        cmocka_unit_test(cut_and_continued),
        cmocka_unit_test(much_between_scans),
        cmocka_unit_test(changes_between_scans),
        cmocka_unit_test(as_many_scans_as_there_is_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
