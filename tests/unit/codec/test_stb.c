/* PNG, BMP and TGA out: read back by small readers of this file (PNG by lapedge's own decoder). */
#include "run/formats.h"
#include "tests/support/encode_help.h"

#include <stdio.h>

#if LAP_HAVE_STB

#if LAP_HAVE_PNG
#include <zlib.h>

/* In front of zlib's: more than it needs, or so little that nothing fits. */
static bool has_no_room;

uLong deflateBound(z_streamp stream, uLong size)
{
    (void)stream;
    return has_no_room ? 16 : size + size / 4 + 4096;
}

/* What is not compressed to its end is no file, and its memory is given back. */
static void png_that_cannot_be_compressed(void **unused)
{
    (void)unused;
    help_image image = help_make(131, 60, 3, 4);
    lap_write_options o = help_options(&image.view);
    lap_error err;
    uint8_t *bytes;
    size_t size;
    has_no_room = true;
    assert_int_equal(help_encode(&image.view, "png", &o, &bytes, &size, &err), LAP_E_MEMORY);
    has_no_room = false;
    assert_null(bytes);
    assert_int_equal(help_encode(&image.view, "png", &o, &bytes, &size, &err), LAP_OK);
    free(bytes);
    free(image.memory);
}
#endif

static const int sizes[][2] = {{1, 1}, {3, 2}, {2, 300}, {257, 129}, {131, 260}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static unsigned le(const uint8_t *p, int n)
{
    unsigned value = 0;
    while (n-- > 0)
        value = value << 8 | p[n];
    return value;
}

static uint8_t sample(const lap_view *view, int x, int y, int c)
{
    return view->base[y * view->stride + x * view->channels + c];
}

static void encode(const lap_view *view, const char *format, uint8_t **bytes, size_t *size)
{
    lap_write_options o = help_options(view);
    lap_error err;
    assert_int_equal(help_encode(view, format, &o, bytes, size, &err), LAP_OK);
}

static void png_reads_back(void **unused)
{
    (void)unused;
    if (!LAP_HAVE_PNG)
        skip();
    for (int i = 0; i < SIZES; i++)
        for (int channels = 1; channels <= 3; channels += 2) {
            help_image image = help_make(sizes[i][0], sizes[i][1], channels, 4), back;
            uint8_t *bytes;
            size_t size;
            lap_header header;
            lap_damage damage;
            lap_error err;
            encode(&image.view, "png", &bytes, &size);
            assert_int_equal(help_decode(bytes, size, NULL, &back, &header, &damage, &err), LAP_OK);
            assert_int_equal(damage.warnings, 0);
            help_assert_same(&image.view, &back.view);
            free(bytes);
            free(back.memory);
            free(image.memory);
        }
}

static void png_keeps_alpha(void **unused)
{
    (void)unused;
    if (!LAP_HAVE_PNG)
        skip();
    help_image image = help_make(9, 5, 4, 4);
    uint8_t *bytes;
    size_t size;
    encode(&image.view, "png", &bytes, &size);
    assert_int_equal(bytes[25], 6); /* IHDR: colour type RGBA */
    free(bytes);
    free(image.memory);
}

/* Its chunks stand behind signature and IHDR, which are those of a PNG without. */
static void png_keeps_metadata(void **unused)
{
    (void)unused;
    static const uint8_t exif[] = {'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0,
        1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0};
    static const lap_segment segment = {.marker = 0xE1, .data = exif, .size = sizeof exif};
    static const lap_header from = {.segments = &segment, .segment_count = 1, .orientation = 6};
    enum { HEAD = 33 };
    if (!LAP_HAVE_PNG)
        skip();
    help_image image = help_make(131, 60, 3, 4), back;
    lap_write_options o = help_options(&image.view);
    lap_header header;
    lap_damage damage;
    lap_error err;
    uint8_t *without, *with;
    size_t size, more;
    encode(&image.view, "png", &without, &size);
    o.from = &from;
    assert_int_equal(help_encode(&image.view, "png", &o, &with, &more, &err), LAP_OK);
    assert_memory_equal(with, without, HEAD);
    assert_memory_equal(with + HEAD + 4, "eXIf", 4);
    assert_memory_equal(with + HEAD + more - size, without + HEAD, size - HEAD);
    assert_int_equal(help_decode(with, more, NULL, &back, &header, &damage, &err), LAP_OK);
    assert_int_equal(damage.warnings, 0);
    assert_int_equal(header.orientation, 6);
    help_assert_same(&image.view, &back.view);
    free(back.memory);
    free(with);
    free(without);
    free(image.memory);
}

static void bmp_reads_back(void **unused)
{
    (void)unused;
    for (int i = 0; i < SIZES; i++)
        for (int channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
            int width = sizes[i][0], height = sizes[i][1], out = channels == 4 ? 4 : 3;
            help_image image = help_make(width, height, channels, 4);
            uint8_t *bytes;
            size_t size, line = ((size_t)width * (size_t)out + 3) / 4 * 4;
            encode(&image.view, "bmp", &bytes, &size);
            unsigned start = le(bytes + 10, 4);
            assert_memory_equal(bytes, "BM", 2);
            assert_int_equal(le(bytes + 2, 4), size);
            assert_int_equal(le(bytes + 18, 4), width);
            assert_int_equal(le(bytes + 22, 4), height);
            assert_int_equal(le(bytes + 28, 2), 8 * out);
            assert_int_equal(size, start + line * (size_t)height);
            for (int y = 0; y < height; y++) /* bottom row first; blue, green, red, alpha */
                for (int x = 0; x < width; x++)
                    for (int c = 0; c < out; c++)
                        assert_int_equal(bytes[start + (size_t)(height - 1 - y) * line +
                                               (size_t)(x * out + (c < 3 ? 2 - c : 3))],
                            sample(&image.view, x, y, channels == 1 ? 0 : c));
            free(bytes);
            free(image.memory);
        }
}

static void tga_reads_back(void **unused)
{
    (void)unused;
    for (int i = 0; i < SIZES; i++)
        for (int channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
            int width = sizes[i][0], height = sizes[i][1];
            help_image image = help_make(width, height, channels, 4);
            memset(image.view.base, 77, (size_t)(width * channels) / 2); /* something to run-length encode */
            uint8_t *bytes;
            size_t size, at = 18;
            encode(&image.view, "tga", &bytes, &size);
            assert_int_equal(bytes[2], channels == 1 ? 11 : 10);
            assert_int_equal(le(bytes + 12, 2), width);
            assert_int_equal(le(bytes + 14, 2), height);
            assert_int_equal(bytes[16], 8 * channels);
            for (int p = 0; p < width * height;) {
                int count = (bytes[at] & 127) + 1, repeated = bytes[at] & 128;
                at++;
                for (int k = 0; k < count; k++, p++) {
                    int x = p % width, y = height - 1 - p / width;
                    for (int c = 0; c < channels; c++)
                        assert_int_equal(bytes[at + (size_t)(channels == 1 || c == 3 ? c : 2 - c)],
                            sample(&image.view, x, y, c));
                    at += repeated && k < count - 1 ? 0 : (size_t)channels;
                }
            }
            assert_int_equal(at, size);
            free(bytes);
            free(image.memory);
        }
}

static void sizes_are_guarded(void **unused)
{
    (void)unused;
    static const int large[][2] = {{65536, 1}, {1, 65536}, {65535, 65535}, {30000, 30000}};
    static const char *const formats[] = {"png", "bmp", "tga"};
    uint8_t pixel[4];
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        for (size_t f = 0; f < 3; f++) {
            lap_view view = {pixel, 3, large[i][0], large[i][1], 3, 0, LAP_ON_HOST};
            lap_write_options o = help_options(&view);
            lap_encoder *encoder;
            lap_error err;
            lap_code code = lap_encoder_open(NULL, lap_format_find(formats[f]), &o, &encoder, &err);
            assert_int_equal(code, f == 0 && !LAP_HAVE_PNG ? LAP_E_BACKEND : LAP_E_UNSUPPORTED);
        }
}

/* The library itself reports success here. */
static void full_disk_is_seen(void **unused)
{
    (void)unused;
    static const char *const formats[] = {"png", "bmp", "tga"};
    help_image image = help_make(300, 300, 3, 4);
    for (size_t f = LAP_HAVE_PNG ? 0 : 1; f < 3; f++) {
        lap_write_options o = help_options(&image.view);
        lap_sink *sink;
        lap_encoder *encoder;
        lap_chunk chunk = {0};
        lap_error err;
        assert_int_equal(lap_sink_open("/dev/full", NULL, &sink, &err), LAP_OK);
        assert_int_equal(lap_encoder_open(sink, lap_format_find(formats[f]), &o, &encoder, &err), LAP_OK);
        assert_int_equal(
            encoder->memory, 300 * 300 * 3 * (f == 0 ? 4 : 1)); /* PNG: filtered, compressed, copied */
        for (int i = 0, rows = lap_encoder_band_rows(encoder); i * rows < 300; i++) {
            lap_view band = help_band(&image.view, i * rows, rows);
            assert_int_equal(lap_encoder_band(encoder, i, &band, &chunk, &err), LAP_OK);
            assert_int_equal(lap_encoder_append(encoder, i, &chunk, &err), LAP_OK);
        }
        assert_int_equal(lap_encoder_finish(encoder, &err), LAP_E_DISK_FULL);
        lap_chunk_free(&chunk);
        lap_encoder_close(encoder);
        lap_sink_close(sink);
    }
    free(image.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(png_reads_back),
        cmocka_unit_test(png_keeps_alpha),
        cmocka_unit_test(png_keeps_metadata),
#if LAP_HAVE_PNG
        cmocka_unit_test(png_that_cannot_be_compressed),
#endif
        cmocka_unit_test(bmp_reads_back),
        cmocka_unit_test(tga_reads_back),
        cmocka_unit_test(sizes_are_guarded),
        cmocka_unit_test(full_disk_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void says_so(void **unused)
{
    (void)unused;
    uint8_t pixel[3] = {0};
    lap_view view = {pixel, 3, 1, 1, 3, 0, LAP_ON_HOST};
    lap_write_options o = help_options(&view);
    lap_encoder *encoder;
    lap_error err;
    assert_int_equal(lap_encoder_open(NULL, lap_format_find("bmp"), &o, &encoder, &err), LAP_E_BACKEND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
