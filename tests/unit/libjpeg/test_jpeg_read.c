/* Pixels and header facts of the JPEG decoder, for every kind that is read. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "libjpeg/jpeg_walk.h"
#include "run/formats.h"
#include "tests/support/jpeg_make.h"
#include "tests/support/temporary.h"

enum { GUARD = 64, POISON = 0x5A };

static const jpeg_kind kinds[] = {
    {.name = "gray", .components = 1, .space = JCS_GRAYSCALE, .sampling = "11"},
    {.name = "gray 2x2", .components = 1, .space = JCS_GRAYSCALE, .sampling = "22"},
    {.name = "gray progressive",
        .components = 1,
        .space = JCS_GRAYSCALE,
        .sampling = "11",
        .progressive = true},
    {.name = "4:4:4", .components = 3, .space = JCS_YCbCr, .sampling = "11 11 11"},
    {.name = "4:2:2", .components = 3, .space = JCS_YCbCr, .sampling = "21 11 11"},
    {.name = "4:2:0", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"},
    {.name = "4:4:0", .components = 3, .space = JCS_YCbCr, .sampling = "12 11 11"},
    {.name = "4:1:1", .components = 3, .space = JCS_YCbCr, .sampling = "41 11 11"},
    {.name = "4:1:0", .components = 3, .space = JCS_YCbCr, .sampling = "42 11 11"},
    {.name = "4:4:1", .components = 3, .space = JCS_YCbCr, .sampling = "14 11 11"},
    {.name = "3x1", .components = 3, .space = JCS_YCbCr, .sampling = "31 11 11"},
    {.name = "1x3", .components = 3, .space = JCS_YCbCr, .sampling = "13 11 11"},
    {.name = "2x2 with 2x1 and 1x2", .components = 3, .space = JCS_YCbCr, .sampling = "22 21 12"},
    {.name = "chroma finer than luma", .components = 3, .space = JCS_YCbCr, .sampling = "11 22 22"},
    {.name = "4:2:0 restarts", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .restart = 3},
    {.name = "4:2:0 progressive",
        .components = 3,
        .space = JCS_YCbCr,
        .sampling = "22 11 11",
        .progressive = true},
    {.name = "4:1:0 progressive",
        .components = 3,
        .space = JCS_YCbCr,
        .sampling = "42 11 11",
        .progressive = true},
    {.name = "4:2:2 progressive restarts",
        .components = 3,
        .space = JCS_YCbCr,
        .sampling = "21 11 11",
        .progressive = true,
        .restart = 2},
    {.name = "4:2:0, one scan each",
        .components = 3,
        .space = JCS_YCbCr,
        .sampling = "22 11 11",
        .separate = true},
    {.name = "4:2:0 arithmetic",
        .components = 3,
        .space = JCS_YCbCr,
        .sampling = "22 11 11",
        .arithmetic = true},
    {.name = "4:4:4 arithmetic progressive",
        .components = 3,
        .space = JCS_YCbCr,
        .sampling = "11 11 11",
        .arithmetic = true,
        .progressive = true},
    {.name = "RGB", .components = 3, .space = JCS_RGB, .sampling = "11 11 11"},
    {.name = "RGB by component names",
        .components = 3,
        .space = JCS_RGB,
        .sampling = "11 11 11",
        .no_adobe = true},
    {.name = "CMYK", .components = 4, .space = JCS_CMYK, .sampling = "11 11 11 11"},
    {.name = "YCCK", .components = 4, .space = JCS_YCCK, .sampling = "22 11 11 22"},
    {.name = "YCCK progressive",
        .components = 4,
        .space = JCS_YCCK,
        .sampling = "21 11 11 21",
        .progressive = true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const int sizes[][2] = {{1, 1}, {7, 5}, {8, 8}, {17, 33}, {64, 48}, {131, 70}};
enum { SIZES = sizeof sizes / sizeof *sizes };

typedef struct picture {
    uint8_t *pixels; /* without gaps */
    lap_header header;
} picture;

/* Decodes in bands of band rows into a guarded buffer with a stride beyond the width. */
static picture decode(const jpeg_bytes *jpeg, bool gray, int band)
{
    picture p = {.pixels = NULL};
    lap_error err = {0};
    lap_damage damage;
    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    lap_read_options options = {.gray = gray, .max_scans = 100, .fail_on = LAP_FAIL_WARNING};
    assert_int_equal(lap_source_memory(jpeg->data, jpeg->size, "made.jpg", &source, &err), LAP_OK);
    if (lap_decoder_open(source, &options, &decoder, &err) != LAP_OK)
        fail_msg("%s", err.message);
    p.header = *lap_decoder_header(decoder);
    size_t line = (size_t)p.header.width * (size_t)p.header.channels, stride = line + GUARD;
    p.pixels = malloc(line * (size_t)p.header.height);
    uint8_t *buffer = malloc(stride * (size_t)(band + 2));
    for (int y = 0; y < p.header.height; y += band) {
        int height = p.header.height - y < band ? p.header.height - y : band;
        lap_view view = {.base = buffer + stride + GUARD / 2,
            .stride = (ptrdiff_t)stride,
            .place = LAP_ON_HOST,
            .width = p.header.width,
            .height = height,
            .channels = p.header.channels};
        memset(buffer, POISON, stride * (size_t)(band + 2));
        if (lap_decoder_rows(decoder, &view, &err) != LAP_OK)
            fail_msg("%s", err.message);
        for (int i = 0; i < height; i++) {
            memcpy(p.pixels + (size_t)(y + i) * line, view.base + i * view.stride, line);
            memset(view.base + i * view.stride, POISON, line);
        }
        for (size_t i = 0; i < stride * (size_t)(band + 2); i++)
            assert_int_equal(buffer[i], POISON);
    }
    assert_int_equal(lap_decoder_finish(decoder, &damage, &err), LAP_OK);
    assert_int_equal(damage.warnings, 0);
    p.header.segments = NULL;
    lap_decoder_close(decoder);
    lap_source_close(source);
    free(buffer);
    return p;
}

/* What djpeg makes of the same bytes. */
static uint8_t *djpeg(const jpeg_bytes *jpeg, bool gray, size_t want)
{
    char path[TEMPORARY_PATH], command[TEMPORARY_PATH + 64];
    int fd = mkstemp(temporary(path, "djpeg")), width = 0, height = 0, depth = 0;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, jpeg->data, jpeg->size), jpeg->size);
    close(fd);
    snprintf(command, sizeof command, "djpeg -dct int %s -pnm %s", gray ? "-grayscale" : "", path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "P%*c %d %d %d", &width, &height, &depth), 3);
    assert_int_equal(fgetc(pipe), '\n');
    uint8_t *pixels = malloc(want + 1);
    assert_int_equal(fread(pixels, 1, want + 1, pipe), want);
    assert_int_equal(pclose(pipe), 0);
    unlink(path);
    return pixels;
}

static void compare(
    const jpeg_kind *kind, int width, int height, const uint8_t *a, const uint8_t *b, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i])
            fail_msg("%s, %dx%d: sample %zu is %d, not %d", kind->name, width, height, i, a[i], b[i]);
}

static void pixels_are_those_of_djpeg(void **state)
{
    (void)state;
    if (system("djpeg -version >/dev/null 2>&1") != 0)
        skip();
    for (int k = 0; k < KINDS; k++)
        for (int s = 0; s < SIZES; s++)
            for (int gray = 0; gray < 2; gray++) {
                if (gray && kinds[k].components == 4) /* djpeg has no gray of inks */
                    continue;
                jpeg_bytes jpeg = jpeg_make(&kinds[k], sizes[s][0], sizes[s][1]);
                picture p = decode(&jpeg, gray, 16);
                size_t size = (size_t)sizes[s][0] * (size_t)sizes[s][1] * (size_t)p.header.channels;
                uint8_t *expected = djpeg(&jpeg, gray, size);
                compare(&kinds[k], sizes[s][0], sizes[s][1], p.pixels, expected, size);
                free(expected);
                free(p.pixels);
                free(jpeg.data);
            }
}

static void bands_do_not_matter(void **state)
{
    (void)state;
    static const int bands[] = {1, 3, 16, 37};
    for (int k = 0; k < KINDS; k++) {
        jpeg_bytes jpeg = jpeg_make(&kinds[k], 131, 70);
        picture whole = decode(&jpeg, false, 70);
        for (size_t b = 0; b < sizeof bands / sizeof *bands; b++) {
            picture p = decode(&jpeg, false, bands[b]);
            compare(&kinds[k], 131, 70, p.pixels, whole.pixels, (size_t)131 * 70 * (size_t)p.header.channels);
            free(p.pixels);
        }
        free(whole.pixels);
        free(jpeg.data);
    }
}

static void header_facts(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        const jpeg_kind *kind = &kinds[k];
        jpeg_bytes jpeg = jpeg_make(kind, 40, 24);
        picture p = decode(&jpeg, false, 24), g = decode(&jpeg, true, 24);
        const lap_header *h = &p.header;
        assert_string_equal(h->format, "jpeg");
        assert_int_equal(h->width, 40);
        assert_int_equal(h->height, 24);
        assert_int_equal(h->components, kind->components);
        assert_int_equal(h->channels, kind->components == 1 ? 1 : 3);
        assert_int_equal(g.header.channels, 1);
        assert_int_equal(h->is_ycc, kind->space == JCS_YCbCr || kind->space == JCS_YCCK);
        assert_int_equal(h->whole, kind->progressive || kind->separate);
        assert_int_equal(h->progressive, kind->progressive);
        assert_int_equal(h->arithmetic, kind->arithmetic);
        assert_int_equal(h->restart_interval, kind->restart);
        assert_int_equal(h->orientation, 1);
        for (int i = 0; i < kind->components; i++)
            assert_int_equal(h->sample_h[i] * 10 + h->sample_v[i],
                (kind->sampling[3 * i] - '0') * 10 + kind->sampling[3 * i + 1] - '0');
        /* Held coefficients count: 2 bytes each. */
        assert_true(h->memory_estimate > (h->whole ? 40u * 24 * 2 : 1000u));
        free(p.pixels);
        free(g.pixels);
        free(jpeg.data);
        /* So do samples: three times a row of blocks of each component. */
        jpeg = jpeg_make(kind, 4000, 24);
        picture wide = decode(&jpeg, false, 24);
        assert_true(wide.header.memory_estimate >= h->memory_estimate + 3u * 8 * (4000 - 48));
        if (!h->whole)
            assert_true(wide.header.memory_estimate < h->memory_estimate + 4000u * 24 * 20);
        free(wide.pixels);
        free(jpeg.data);
    }
}

/* Inks are inverted where Adobe's marker says so, and only there. */
static void inks_become_pixels(void **state)
{
    (void)state;
    jpeg_kind adobe = {.components = 4, .space = JCS_CMYK, .sampling = "11 11 11 11"}, plain = adobe;
    plain.no_adobe = true;
    jpeg_bytes jpeg[2] = {jpeg_make(&adobe, 33, 20), jpeg_make(&plain, 33, 20)};
    struct jpeg_decompress_struct c;
    struct jpeg_error_mgr error;
    uint8_t inks[33 * 20 * 4];
    c.err = jpeg_std_error(&error);
    jpeg_create_decompress(&c);
    jpeg_mem_src(&c, jpeg[0].data, jpeg[0].size);
    jpeg_read_header(&c, TRUE);
    c.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&c);
    while (c.output_scanline < 20) {
        JSAMPROW row = inks + (size_t)c.output_scanline * 33 * 4;
        jpeg_read_scanlines(&c, &row, 1);
    }
    jpeg_destroy_decompress(&c);
    for (int i = 0; i < 2; i++) {
        picture p = decode(&jpeg[i], false, 20), g = decode(&jpeg[i], true, 20);
        for (int x = 0; x < 33 * 20; x++) {
            double rgb[3];
            for (int j = 0; j < 3; j++) {
                double ink = inks[4 * x + j], black = inks[4 * x + 3];
                rgb[j] = i ? (255 - ink) * (255 - black) / 255 : ink * black / 255;
                assert_int_equal(p.pixels[3 * x + j], (int)(rgb[j] + 0.5));
                rgb[j] = p.pixels[3 * x + j];
            }
            double gray = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
            assert_true(g.pixels[x] - gray < 0.51 && gray - g.pixels[x] < 0.51);
        }
        free(p.pixels);
        free(g.pixels);
        free(jpeg[i].data);
    }
}

/* Segments given back are those of the file, and live after its first bytes were read over. */
static void metadata_is_kept(void **state)
{
    (void)state;
    static const uint8_t exif[] = {0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8,
        0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0};
    static const uint8_t others[] = {
        0xFF, 0xE2, 0, 8, 'M', 'P', 'F', 0, 1, 2, 0xFF, 0xFE, 0, 7, 'h', 'e', 'l', 'l', 'o'};
    jpeg_bytes plain = jpeg_make(&kinds[5], 300, 300);
    jpeg_bytes jpeg = {malloc(2 * plain.size + 100), 0};
    memcpy(jpeg.data, plain.data, 2);
    memcpy(jpeg.data + 2, exif, sizeof exif);
    memcpy(jpeg.data + 2 + sizeof exif, others, sizeof others);
    memcpy(jpeg.data + 2 + sizeof exif + sizeof others, plain.data + 2, plain.size - 2);
    jpeg.size = plain.size + sizeof exif + sizeof others;
    memcpy(jpeg.data + jpeg.size, plain.data, plain.size); /* a second picture behind the first */
    jpeg.size += plain.size;

    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    lap_read_options options = {.fail_on = LAP_FAIL_WARNING};
    lap_error err;
    uint8_t *pixels = malloc((size_t)300 * 300 * 3);
    lap_view view = {
        .base = pixels, .stride = 900, .width = 300, .height = 300, .channels = 3, .place = LAP_ON_HOST};
    assert_int_equal(lap_source_memory(jpeg.data, jpeg.size, "two.jpg", &source, &err), LAP_OK);
    assert_int_equal(lap_decoder_open(source, &options, &decoder, &err), LAP_OK);
    assert_int_equal(lap_decoder_rows(decoder, &view, &err), LAP_OK);
    assert_int_equal(lap_decoder_finish(decoder, NULL, &err), LAP_OK);
    memset(jpeg.data, 0, jpeg.size);
    const lap_header *h = lap_decoder_header(decoder);
    assert_int_equal(h->orientation, 6);
    assert_int_equal(h->segment_count, 2);
    assert_int_equal(h->segments[0].marker, 0xE1);
    assert_int_equal(h->segments[0].size, 32);
    assert_memory_equal(h->segments[0].data, exif + 4, 32);
    assert_int_equal(h->segments[1].marker, 0xFE);
    assert_int_equal(h->segments[1].size, 5);
    assert_memory_equal(h->segments[1].data, "hello", 5);
    /* More rows than the image has are a caller's mistake, not a crash. */
    assert_int_equal(lap_decoder_rows(decoder, &view, &err), LAP_E_INTERNAL);
    lap_decoder_close(decoder);
    lap_source_close(source);
    picture p = decode(&plain, false, 300);
    assert_memory_equal(p.pixels, pixels, (size_t)300 * 300 * 3);
    free(p.pixels);
    free(pixels);
    free(jpeg.data);
    free(plain.data);
}

#ifndef __has_feature /* of clang, which says so of MemorySanitizer alone in this way */
#define __has_feature(name) 0
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !__has_feature(memory_sanitizer)
#define MALLOC_IS_GLIBCS
/* malloc's own count of what a decoder took, against what its header promised: at most that; and of libjpeg
 * no more than twice the truth and our own walk, which is promised with each library. A decoder of ours takes
 * less than libjpeg, which may have to take over. */
static void check_estimate(const jpeg_kind *kind, const int shape[2], bool walk_scans, lap_codec_place codec)
{
    jpeg_bytes jpeg = jpeg_make(kind, shape[0], shape[1]);
    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    lap_error err;
    const lap_read_options options = {
        .fail_on = LAP_FAIL_TRUNCATED, .walk_scans = walk_scans, .codec = codec};
    const size_t line = (size_t)shape[0] * 3;
    uint8_t *pixels = malloc(line * (size_t)shape[1]);
    assert_int_equal(lap_source_memory(jpeg.data, jpeg.size, "made.jpg", &source, &err), LAP_OK);
    struct mallinfo2 before = mallinfo2();
    assert_int_equal(lap_decoder_open(source, &options, &decoder, &err), LAP_OK);
    lap_view view = {.base = pixels,
        .stride = (ptrdiff_t)line,
        .place = LAP_ON_HOST,
        .width = shape[0],
        .height = shape[1],
        .channels = lap_decoder_header(decoder)->channels};
    assert_int_equal(lap_decoder_rows(decoder, &view, &err), LAP_OK);
    struct mallinfo2 after = mallinfo2();
    size_t took = after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
    size_t promised = lap_decoder_header(decoder)->memory_estimate;
    const bool is_tight = promised <= 2 * took + (512 << 10) + LAP_JPEG_WALK_MEMORY;
    if (took > promised || (codec == LAP_CODEC_TURBO && !is_tight))
        fail_msg("%s, %dx%d, codec %d: took %zu, promised %zu", kind->name, shape[0], shape[1], codec, took,
            promised);
    lap_decoder_close(decoder);
    lap_source_close(source);
    free(pixels);
    free(jpeg.data);
}

static void estimates_hold(void **state)
{
    (void)state;
    const int shapes[][2] = {{1000, 900}, {7, 3000}, {3000, 7}, {1, 1}};
    for (int k = 0; k < 2 * KINDS; k++)
        for (int s = 0; s < 4; s++) {
            check_estimate(&kinds[k / 2], shapes[s], k % 2, LAP_CODEC_TURBO);
            check_estimate(&kinds[k / 2], shapes[s], k % 2, LAP_CODEC_C);
        }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_are_those_of_djpeg),
        cmocka_unit_test(bands_do_not_matter),
        cmocka_unit_test(header_facts),
        cmocka_unit_test(inks_become_pixels),
        cmocka_unit_test(metadata_is_kept),
#ifdef MALLOC_IS_GLIBCS
        cmocka_unit_test(estimates_hold),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
