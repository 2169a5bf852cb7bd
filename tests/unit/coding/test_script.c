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
    int count;
} file;

static size_t segment(const uint8_t *at)
{
    return 2 + (size_t)(at[2] << 8 | at[3]);
}

static file make(const jpeg_kind *kind)
{
    file f = {.bytes = jpeg_make(kind, 75, 61)};
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

/* True if it is legal. */
static bool check(const file *f, const jpeg_bytes *bytes, const int *order, int count, int threads)
{
    static lap_jpeg_script script;
    const bool is_ours = is_legal(f, bytes, order, count);
    assert_int_equal(lap_jpeg_script_read(bytes->data, bytes->size, &script), is_ours);
    if (is_ours)
        assert_int_equal(script.count, count);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_scan_left_out_twice_and_earlier),
        cmocka_unit_test(scans_in_any_order),
        cmocka_unit_test(other_bands_and_bits),
        cmocka_unit_test(cut_and_continued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
