/* Whole pictures from memory: by whom, and the pixels that libjpeg-turbo gives, in gray and in colour, as
 * they are stored and upright, by one thread and by several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>

#include "base/image.h"
#include "lapedge.h"
#include "lapedge_program.h"
#include "tests/support/jpeg_make.h"

typedef struct pixels_kind {
    jpeg_kind jpeg;
    bool is_ours;
} pixels_kind;

static const pixels_kind kinds[] = {
    {{.name = "gray", .components = 1, .space = JCS_GRAYSCALE, .sampling = "11"}, true},
    {{.name = "4:4:4", .components = 3, .space = JCS_YCbCr, .sampling = "11 11 11"}, true},
    {{.name = "4:2:2", .components = 3, .space = JCS_YCbCr, .sampling = "21 11 11"}, true},
    {{.name = "4:2:0", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"}, true},
    {{.name = "4:2:0, restarts", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .restart = 7},
        true},
    {{.name = "4:4:0", .components = 3, .space = JCS_YCbCr, .sampling = "12 11 11"}, true},
    {{.name = "4:1:1", .components = 3, .space = JCS_YCbCr, .sampling = "41 11 11"}, true},
    {{.name = "4:1:0", .components = 3, .space = JCS_YCbCr, .sampling = "42 11 11"}, false},
    {{.name = "RGB", .components = 3, .space = JCS_RGB, .sampling = "11 11 11"}, true},
    {{.name = "progressive",
         .components = 3,
         .space = JCS_YCbCr,
         .sampling = "22 11 11",
         .progressive = true},
        true},
    {{.name = "CMYK", .components = 4, .space = JCS_CMYK, .sampling = "11 11 11 11"}, true},
    {{.name = "YCCK", .components = 4, .space = JCS_YCCK, .sampling = "22 11 11 22"}, true},
};
enum { KINDS = sizeof kinds / sizeof *kinds, WIDTH = 171, HEIGHT = 205 };

/* The file with an EXIF segment of one tag behind its SOI. */
static jpeg_bytes with_orientation(const jpeg_bytes *file, int orientation)
{
    const uint8_t exif[] = {0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1,
        0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, (uint8_t)orientation, 0, 0, 0, 0, 0, 0};
    jpeg_bytes out = {malloc(file->size + sizeof exif), file->size + sizeof exif};
    memcpy(out.data, file->data, 2);
    memcpy(out.data + 2, exif, sizeof exif);
    memcpy(out.data + 2 + sizeof exif, file->data + 2, file->size - 2);
    return out;
}

/* What stands at (x, y) of the upright picture stands here in the stored one (EXIF 2.3, tag 0x0112). */
static const uint8_t *stored_at(const lap_view *stored, int orientation, int x, int y)
{
    const int right = stored->width - 1, bottom = stored->height - 1;
    const int at[9][2] = {{0}, {x, y}, {right - x, y}, {right - x, bottom - y}, {x, bottom - y}, {y, x},
        {y, bottom - x}, {right - y, bottom - x}, {right - y, x}};
    return stored->base + at[orientation][1] * stored->stride +
           (ptrdiff_t)at[orientation][0] * stored->channels;
}

static lap_pixels *decode(
    const jpeg_bytes *file, lap_settings settings, lap_codec_place codec, lap_code *code, lap_error *err)
{
    lap_context *context = lap_context_create(settings.threads, NULL);
    lap_pixels *pixels = NULL;
    uint8_t *copy = malloc(file->size); /* of just this size, and gone afterwards */
    memcpy(copy, file->data, file->size);
    settings.codec = codec;
    assert_non_null(context);
    *err = (lap_error){0};
    *code = lap_pixels_decode(context, copy, file->size, &settings, &pixels, err);
    assert_int_equal(*code == LAP_OK, pixels != NULL);
    free(copy);
    lap_context_destroy(context);
    return pixels;
}

static void check_note(const pixels_kind *kind, const lap_settings *s, const char *note)
{
    const bool is_turbo = strstr(note, "by turbo") != NULL;
    const bool in_parallel = strstr(note, "in parallel") != NULL;
    if (is_turbo == kind->is_ours || in_parallel != (kind->is_ours && s->decode == LAP_DECODE_PARALLEL))
        fail_msg("%s: %s", kind->jpeg.name, note);
}

static void check_picture(
    const pixels_kind *kind, const jpeg_bytes *file, lap_settings s, int orientation, int n)
{
    (void)n;
    lap_error err;
    lap_code code;
    lap_settings plain = s;
    plain.auto_orient = false;
    plain.threads = 1;
    plain.decode = LAP_DECODE_SERIAL;
    lap_pixels *reference = decode(file, plain, LAP_CODEC_TURBO, &code, &err);
    lap_pixels *pixels = decode(file, s, LAP_CODEC_C, &code, &err);
    if (!reference || !pixels)
        fail_msg("%s: %s", kind->jpeg.name, err.message);
    check_note(kind, &s, lap_pixels_note(pixels));
    assert_non_null(strstr(lap_pixels_note(reference), "by turbo"));
    const lap_view *stored = lap_pixels_view(reference), *v = lap_pixels_view(pixels);
    const int turn = s.auto_orient ? orientation : 1;
    assert_int_equal(v->channels, s.gray || kind->jpeg.components == 1 ? 1 : 3);
    assert_int_equal(v->width, turn > 4 ? HEIGHT : WIDTH);
    assert_int_equal(v->height, turn > 4 ? WIDTH : HEIGHT);
    assert_true(v->stride >= (ptrdiff_t)v->width * v->channels);
    for (int y = 0; y < v->height; y++)
        for (int x = 0; x < v->width; x++)
            if (memcmp(v->base + y * v->stride + (ptrdiff_t)x * v->channels, stored_at(stored, turn, x, y),
                    (size_t)v->channels) != 0)
                fail_msg("%s, orientation %d: pixel %d, %d", kind->jpeg.name, turn, x, y);
    lap_pixels_free(reference);
    lap_pixels_free(pixels);
}

/* Calls check with each kind of file in each orientation, numbered, with settings that take turns. */
static void each_kind(
    void (*check)(const pixels_kind *kind, const jpeg_bytes *file, lap_settings s, int orientation, int n))
{
    static const int threads[] = {1, 2, 3, 7};
    enum { TIMES = 6 };
    int n = 0;
    for (int k = 0; k < KINDS; k++) {
        jpeg_bytes file = jpeg_make(&kinds[k].jpeg, WIDTH, HEIGHT);
        for (int orientation = 1; orientation <= 8; orientation++) {
            jpeg_bytes turned = with_orientation(&file, orientation);
            for (int i = 0; i < TIMES; i++, n++) {
                lap_settings s = lap_settings_default();
                s.gray = i % 2;
                s.auto_orient = i / 3;
                s.threads = threads[n % 4];
                s.decode = (n + orientation) % 3 ? LAP_DECODE_PARALLEL : LAP_DECODE_SERIAL;
                s.codec = (k + orientation) % 2 ? LAP_CODEC_C : LAP_CODEC_AUTO;
                check(&kinds[k], &turned, s, orientation, n);
            }
            free(turned.data);
        }
        free(file.data);
    }
}

static void pixels_of_all_kinds(void **state)
{
    (void)state;
    each_kind(check_picture);
}

static atomic_int whole_images; /* made since the last look */

lap_code __real_lap_image_create(
    lap_image *image, int width, int height, int channels, int apron, lap_error *err);
lap_code __wrap_lap_image_create(
    lap_image *image, int width, int height, int channels, int apron, lap_error *err);
lap_code __wrap_lap_image_create(
    lap_image *image, int width, int height, int channels, int apron, lap_error *err)
{
    whole_images += width * height >= WIDTH * HEIGHT;
    return __real_lap_image_create(image, width, height, channels, apron, err);
}

/* The limit of memory counts one. */
static void an_upright_picture_is_one_image(void **state)
{
    (void)state;
    jpeg_bytes file = jpeg_make(&kinds[3].jpeg, WIDTH, HEIGHT);
    for (int orientation = 1; orientation <= 8; orientation++) {
        jpeg_bytes turned = with_orientation(&file, orientation);
        lap_settings s = lap_settings_default();
        lap_error err;
        lap_code code;
        s.auto_orient = true;
        s.threads = 1;
        whole_images = 0;
        lap_pixels_free(decode(&turned, s, LAP_CODEC_C, &code, &err));
        assert_int_equal(code, LAP_OK);
        assert_int_equal(whole_images, 1);
        free(turned.data);
    }
    free(file.data);
}

/* ---- into a caller's view ---- */

enum { GUARD = 0xA5, PAD = 13 };

/* What lap_pixels_decode gives, in the channels that are asked for. */
static uint8_t sample_of(const lap_view *v, int channels, int x, int y, int c)
{
    const uint8_t *p = v->base + y * v->stride + (ptrdiff_t)x * v->channels;
    if (channels == v->channels)
        return p[c];
    return v->channels == 1 ? *p : (uint8_t)((19595U * p[0] + 38470U * p[1] + 7471U * p[2] + 32768) >> 16);
}

static void check_view(const pixels_kind *kind, const lap_view *expected, const lap_view *v, int channels)
{
    const int wanted = channels ? channels : expected->channels;
    assert_int_equal(v->channels, wanted);
    assert_int_equal(v->width, expected->width);
    assert_int_equal(v->height, expected->height);
    for (int y = 0; y < v->height; y++)
        for (int i = 0; i < v->width * wanted; i++)
            if (v->base[y * v->stride + i] != sample_of(expected, wanted, i / wanted, y, i % wanted))
                fail_msg("%s: pixel %d, %d of %d channels", kind->jpeg.name, i / wanted, y, wanted);
}

/* Member by member: what a struct holds between its members is unspecified. */
static void assert_same_view(const lap_view *a, const lap_view *b)
{
    assert_ptr_equal(a->base, b->base);
    assert_int_equal(a->stride, b->stride);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->apron, b->apron);
    assert_int_equal(a->place, b->place);
}

/* Into new memory, and into the caller's, of which only the pixels are written. */
static void check_views(
    const pixels_kind *kind, const jpeg_bytes *file, lap_settings s, int orientation, int n)
{
    static const int wanted[] = {0, 1, 3};
    const int channels = wanted[n % 3];
    (void)orientation;
    lap_error err = {0};
    lap_code code;
    lap_report report;
    lap_pixels *expected = decode(file, s, s.codec, &code, &err);
    lap_context *context = lap_context_create(s.threads, NULL);
    assert_non_null(expected);
    assert_non_null(context);
    const lap_view *e = lap_pixels_view(expected);
    lap_view made = {.channels = channels, .place = LAP_ON_HOST}, sized = made;
    if (lap_decode_size(context, file->data, file->size, &s, &sized, &err) != LAP_OK ||
        lap_decode_view(context, file->data, file->size, &s, &made, &report, &err) != LAP_OK)
        fail_msg("%s: %s", kind->jpeg.name, err.message);
    assert_null(sized.base);
    sized.base = made.base;
    assert_same_view(&sized, &made);
    assert_int_equal(made.stride, made.width * made.channels);
    assert_int_equal(report.width, made.width);
    assert_int_equal(report.channels, made.channels);
    assert_int_equal(report.status, LAP_DONE);
    check_view(kind, e, &made, channels);
    const size_t row = (size_t)made.width * (size_t)made.channels, stride = row + PAD;
    uint8_t *memory = malloc(stride * (size_t)made.height + PAD);
    memset(memory, GUARD, stride * (size_t)made.height + PAD);
    lap_view own = {memory + PAD, (ptrdiff_t)stride, made.width, made.height, channels, 0, LAP_ON_HOST};
    if (lap_decode_view(context, file->data, file->size, &s, &own, NULL, &err) != LAP_OK)
        fail_msg("%s: %s", kind->jpeg.name, err.message);
    check_view(kind, e, &own, channels);
    for (int y = 0; y <= made.height; y++)
        for (size_t i = 0; i < PAD; i++)
            assert_int_equal(memory[(size_t)y * stride + i], GUARD);
    free(memory);
    free(made.base);
    lap_pixels_free(expected);
    lap_context_destroy(context);
}

static void views_of_all_kinds(void **state)
{
    (void)state;
    each_kind(check_views);
}

/* Refused before any work: neither the view nor what it points to changes. */
static void refused_views(void **state)
{
    (void)state;
    uint8_t memory[64] = {7}, same[64] = {7};
    jpeg_bytes file = jpeg_make(&kinds[3].jpeg, 5, 4);
    jpeg_bytes turned = with_orientation(&file, 6);
    lap_context *context = lap_context_create(1, NULL);
    const lap_view good = {memory, 15, 5, 4, 3, 0, LAP_ON_HOST};
    const struct {
        lap_view view;
        lap_code code;
        lap_turn turn;
        bool upright;
        lap_codec_place codec;
        uint64_t max_memory;
        size_t cut;
        const char *message; /* NULL: not looked at */
    } cases[] = {
        {.view = {memory, 15, 4, 5, 3, 0, LAP_ON_HOST}, .code = LAP_E_DIFFERENT},
        {.view = good, .code = LAP_E_DIFFERENT, .upright = true},
        {.view = {memory, 14, 5, 4, 3, 0, LAP_ON_HOST}, .code = LAP_E_USAGE},
        {.view = {memory, 15, 5, 4, 3, 0, 0},
            .code = LAP_E_USAGE,
            .message = "the view lies on device 0; see lap_stream_decode; for host memory, set place to "
                       "LAP_ON_HOST"},
        {.view = {memory, 15, 5, 4, 3, LAP_APRON, LAP_ON_HOST},
            .code = LAP_E_USAGE,
            .message = "the view has an apron, which decoding does not fill; set apron to 0"},
        {.view = {memory, 20, 5, 4, 4, 0, LAP_ON_HOST}, .code = LAP_E_USAGE},
        {.view = {.place = LAP_ON_HOST, .channels = 2}, .code = LAP_E_USAGE},
        {.view = good, .code = LAP_E_USAGE, .turn = LAP_TURN_90},
        {.view = good, .code = LAP_E_USAGE, .codec = LAP_CODEC_CUDA},
        {.view = good, .code = LAP_E_LIMIT, .max_memory = 100},
        {.view = {.place = LAP_ON_HOST}, .code = LAP_E_TRUNCATED, .cut = 200},
        {.view = {.place = LAP_ON_HOST}, .code = LAP_E_TRUNCATED, .cut = 20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_settings s = lap_settings_default();
        lap_view view = cases[i].view;
        lap_error err = {0};
        lap_report report;
        s.turn = cases[i].turn;
        s.auto_orient = cases[i].upright;
        s.codec = cases[i].codec;
        s.max_memory = cases[i].max_memory;
        const lap_code code =
            lap_decode_view(context, turned.data, turned.size - cases[i].cut, &s, &view, &report, &err);
        if (code != cases[i].code)
            fail_msg("case %zu: code %d: %s", i, code, err.message);
        if (cases[i].message)
            assert_string_equal(err.message, cases[i].message);
        assert_int_equal(report.status, LAP_FAILED);
        assert_int_equal(report.error.code, code);
        assert_same_view(&view, &cases[i].view);
        assert_memory_equal(memory, same, sizeof memory);
        const lap_code of_size =
            lap_decode_size(context, turned.data, turned.size - cases[i].cut, &s, &view, &err);
        if (of_size == LAP_OK ? code != LAP_E_TRUNCATED : of_size != (view.base ? LAP_E_USAGE : code))
            fail_msg("case %zu: code %d of the size: %s", i, of_size, err.message);
    }
    lap_context_destroy(context);
    free(turned.data);
    free(file.data);
}

/* The least limit of memory, to 64 bytes, within which a view is decoded. */
static uint64_t least_memory(lap_context *context, const jpeg_bytes *file, lap_settings s, int channels)
{
    uint64_t below = 1, fits = 1 << 24;
    while (fits - below > 64) {
        lap_view view = {.channels = channels, .place = LAP_ON_HOST};
        s.max_memory = (below + fits) / 2;
        const lap_code code = lap_decode_view(context, file->data, file->size, &s, &view, NULL, NULL);
        if (code != LAP_OK)
            assert_int_equal(code, LAP_E_LIMIT);
        *(code == LAP_OK ? &fits : &below) = s.max_memory;
        free(code == LAP_OK ? view.base : NULL);
    }
    assert_true(fits < 1 << 24);
    return fits;
}

/* What libjpeg-turbo can decode within a limit is decoded, into whichever channels: other channels than those
 * of the file take one more image of the file's. */
static void short_memory(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        uint64_t plain = 0;
        jpeg_bytes file = jpeg_make(&kinds[k].jpeg, WIDTH, HEIGHT);
        lap_context *context = lap_context_create(3, NULL);
        assert_non_null(context);
        for (int channels = 0; channels <= 3; channels++) {
            lap_settings s = lap_settings_default();
            if (channels == 2)
                continue;
            s.decode = LAP_DECODE_SERIAL;
            s.codec = LAP_CODEC_TURBO;
            const uint64_t turbo = least_memory(context, &file, s, channels);
            plain = channels == 0 ? turbo : plain;
            if (turbo > plain + 3 * WIDTH * HEIGHT + 128)
                fail_msg("%s, %d channels: %llu bytes, and as stored %llu", kinds[k].jpeg.name, channels,
                    (unsigned long long)turbo, (unsigned long long)plain);
            s.decode = LAP_DECODE_PARALLEL;
            s.codec = LAP_CODEC_C;
            const uint64_t ours = least_memory(context, &file, s, channels);
            if (ours > turbo + 64)
                fail_msg("%s, %d channels: %llu bytes, and by turbo %llu", kinds[k].jpeg.name, channels,
                    (unsigned long long)ours, (unsigned long long)turbo);
        }
        lap_context_destroy(context);
        free(file.data);
    }
}

/* Damage: the verdict, the message and the pixels of libjpeg-turbo. */
static void damaged_pictures(void **state)
{
    (void)state;
    int refused = 0, accepted = 0;
    jpeg_bytes file = jpeg_make(&kinds[4].jpeg, WIDTH, HEIGHT);
    for (unsigned i = 0; i < 300; i++) {
        jpeg_bytes bad = {malloc(file.size), file.size};
        lap_error errs[2];
        lap_code codes[2];
        lap_settings s = lap_settings_default();
        memcpy(bad.data, file.data, file.size);
        bad.data[file.size - 1 - (size_t)(i * 7919) % (file.size / 2)] ^= (uint8_t)(1 << i % 8);
        bad.size -= i % 5 ? 0 : i * 3;
        s.fail_on = i % 2 ? LAP_FAIL_NONE : LAP_FAIL_TRUNCATED;
        s.threads = 1 + (int)i % 4;
        s.decode = LAP_DECODE_SERIAL;
        lap_pixels *a = decode(&bad, s, LAP_CODEC_TURBO, &codes[0], &errs[0]);
        s.decode = i % 3 ? LAP_DECODE_PARALLEL : LAP_DECODE_SERIAL;
        lap_pixels *b = decode(&bad, s, LAP_CODEC_C, &codes[1], &errs[1]);
        assert_int_equal(codes[0], codes[1]);
        assert_string_equal(errs[0].message, errs[1].message);
        refused += !a;
        accepted += a != NULL;
        for (int y = 0; a && y < HEIGHT; y++)
            assert_memory_equal(lap_pixels_view(a)->base + y * lap_pixels_view(a)->stride,
                lap_pixels_view(b)->base + y * lap_pixels_view(b)->stride, WIDTH * 3);
        lap_pixels_free(a);
        lap_pixels_free(b);
        free(bad.data);
    }
    assert_in_range(refused, 10, 290);
    assert_in_range(accepted, 10, 290);
    free(file.data);
}

static void no_picture(void **state)
{
    (void)state;
    lap_error err;
    lap_code code;
    const jpeg_bytes none = {(uint8_t *)"no picture", 10};
    assert_null(decode(&none, lap_settings_default(), LAP_CODEC_AUTO, &code, &err));
    assert_int_equal(code, LAP_E_NOT_IMAGE);
    lap_settings s = lap_settings_default();
    jpeg_bytes file = jpeg_make(&kinds[3].jpeg, WIDTH, HEIGHT);
    s.max_memory = 1000;
    assert_null(decode(&file, s, LAP_CODEC_AUTO, &code, &err));
    assert_int_equal(code, LAP_E_LIMIT);
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_of_all_kinds),
        cmocka_unit_test(an_upright_picture_is_one_image),
        cmocka_unit_test(views_of_all_kinds),
        cmocka_unit_test(refused_views),
        cmocka_unit_test(short_memory),
        cmocka_unit_test(damaged_pictures),
        cmocka_unit_test(no_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
