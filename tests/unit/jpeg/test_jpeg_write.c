/* The JPEG encoder against libjpeg itself: whatever bands and threads, the file must be the one that a
 * single compressor writes. */
#include "tests/support/encode_help.h"
#include "run/formats.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include <jpeglib.h>

/* ---- libjpeg alone ----------------------------------------------------------------------------- */

static void reference(const lap_view *view, int quality, const int h[3], const int v[3], int interval,
    unsigned char **bytes, unsigned long *size)
{
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr error;
    cinfo.err = jpeg_std_error(&error);
    jpeg_create_compress(&cinfo);
    *bytes = NULL;
    jpeg_mem_dest(&cinfo, bytes, size);
    cinfo.image_width = (JDIMENSION)view->width;
    cinfo.image_height = (JDIMENSION)view->height;
    cinfo.input_components = view->channels;
    cinfo.in_color_space = view->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&cinfo);
    jpeg_set_quality(&cinfo, quality, TRUE);
    for (int i = 0; i < cinfo.num_components; i++) {
        cinfo.comp_info[i].h_samp_factor = h[i];
        cinfo.comp_info[i].v_samp_factor = v[i];
    }
    cinfo.restart_interval = (unsigned)interval;
    jpeg_start_compress(&cinfo, TRUE);
    for (int y = 0; y < view->height; y++) {
        JSAMPROW row = view->base + y * view->stride;
        jpeg_write_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
}

typedef struct kind {
    lap_subsampling subsampling;
    int h[3], v[3];
} kind;

static const kind kinds[] = {
    {LAP_SUB_444, {1, 1, 1}, {1, 1, 1}},
    {LAP_SUB_422, {2, 1, 1}, {1, 1, 1}},
    {LAP_SUB_420, {2, 1, 1}, {2, 1, 1}},
};

/* interval -1: whatever the encoder chose. */
static void check(
    int width, int height, int channels, const kind *k, int quality, lap_restart restart, bool marked)
{
    help_image image = help_make(width, height, channels, 7);
    lap_write_options o = help_options(&image.view);
    static const int one[3] = {1, 1, 1};
    uint8_t *ours;
    size_t our_size;
    unsigned char *theirs;
    unsigned long their_size;
    lap_error err;
    o.quality = quality;
    o.subsampling = k->subsampling;
    o.restart = restart;
    assert_int_equal(help_encode(&image.view, "jpg", &o, &ours, &our_size, &err), LAP_OK);
    int interval = help_restart_interval(ours, our_size);
    assert_int_equal(interval != 0, marked);
    reference(&image.view, quality, channels == 1 ? one : k->h, channels == 1 ? one : k->v, interval, &theirs,
        &their_size);
    assert_int_equal(our_size, their_size);
    assert_memory_equal(ours, theirs, our_size);
    free(ours);
    free(theirs);
    free(image.memory);
}

static void equals_one_compressor(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int channels = 1; channels <= 3; channels += 2) {
            check(333, 300, channels, &kinds[k], 90, LAP_RESTART_AUTO, true);
            check(333, 300, channels, &kinds[k], 90, LAP_RESTART_ON, true);
            check(333, 300, channels, &kinds[k], 90, LAP_RESTART_OFF, false);
            check(47, 1500, channels, &kinds[k], 35, LAP_RESTART_AUTO, true); /* more than 8 markers */
            check(64, 256, channels, &kinds[k], 100, LAP_RESTART_AUTO, true); /* bands of equal height */
            check(64, 257, channels, &kinds[k], 1, LAP_RESTART_AUTO, true);   /* a last band of one row */
        }
}

static void small_images_have_one_band(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        check(1, 1, 3, &kinds[k], 90, LAP_RESTART_AUTO, false);
        check(1, 1, 1, &kinds[k], 90, LAP_RESTART_ON, true);
        check(200, 128, 3, &kinds[k], 90, LAP_RESTART_AUTO, false);
        check(200, 128, 3, &kinds[k], 90, LAP_RESTART_ON, true);
        check(200, 128, 3, &kinds[k], 90, LAP_RESTART_OFF, false);
    }
}

static void widest_image(void **unused)
{
    (void)unused;
    /* 8188 MCUs a row: 8 rows of MCUs fit 16 bits. */
    check(65500, 70, 3, &kinds[0], 50, LAP_RESTART_AUTO, true);
    check(65500, 70, 1, &kinds[0], 50, LAP_RESTART_OFF, false);
    check(8, 65500, 1, &kinds[0], 50, LAP_RESTART_AUTO, true);
}

static void sides_have_a_limit(void **unused)
{
    (void)unused;
    uint8_t pixel[3] = {0};
    for (int i = 0; i < 2; i++) {
        lap_view view = {pixel, 3, i ? 65501 : 1, i ? 1 : 65501, 3, 0, LAP_ON_HOST};
        lap_write_options o = help_options(&view);
        lap_error err;
        lap_encoder *encoder;
        assert_int_equal(
            lap_encoder_open(NULL, lap_format_find("jpg"), &o, &encoder, &err), LAP_E_UNSUPPORTED);
        assert_non_null(strstr(err.message, "65500"));
        assert_null(encoder);
    }
}

/* ---- threads ----------------------------------------------------------------------------------- */

typedef struct team {
    lap_encoder *encoder;
    const lap_view *view;
    lap_chunk *chunks;
    atomic_int next, failed;
    int bands;
} team;

static void *team_member(void *argument)
{
    team *t = argument;
    lap_error err;
    for (int i; (i = atomic_fetch_add(&t->next, 1)) < t->bands;) {
        int rows = lap_encoder_band_rows(t->encoder);
        lap_view band = help_band(t->view, i * rows, rows);
        if (lap_encoder_band(t->encoder, i, &band, &t->chunks[i], &err) != LAP_OK)
            atomic_fetch_add(&t->failed, 1);
    }
    return NULL;
}

static void threads_do_not_show(void **unused)
{
    (void)unused;
    enum { MEMBERS = 4 };
    help_image image = help_make(150, 2100, 3, 3);
    lap_write_options o = help_options(&image.view);
    uint8_t *expected;
    size_t expected_size, size;
    void *bytes;
    lap_error err;
    assert_int_equal(help_encode(&image.view, "jpg", &o, &expected, &expected_size, &err), LAP_OK);

    lap_sink *sink;
    team t = {.view = &image.view};
    pthread_t members[MEMBERS];
    assert_int_equal(lap_sink_memory(&sink, &err), LAP_OK);
    assert_int_equal(lap_encoder_open(sink, lap_format_find("jpg"), &o, &t.encoder, &err), LAP_OK);
    assert_true(lap_encoder_is_parallel(t.encoder));
    t.bands = (2100 - 1) / lap_encoder_band_rows(t.encoder) + 1;
    t.chunks = calloc((size_t)t.bands, sizeof *t.chunks);
    for (int i = 0; i < MEMBERS; i++)
        assert_int_equal(pthread_create(&members[i], NULL, team_member, &t), 0);
    for (int i = 0; i < MEMBERS; i++)
        pthread_join(members[i], NULL);
    assert_int_equal(t.failed, 0);
    for (int i = 0; i < t.bands; i++) {
        assert_int_equal(lap_encoder_append(t.encoder, i, &t.chunks[i], &err), LAP_OK);
        lap_chunk_free(&t.chunks[i]);
    }
    assert_int_equal(lap_encoder_finish(t.encoder, &err), LAP_OK);
    lap_sink_take(sink, &bytes, &size);
    assert_int_equal(size, expected_size);
    assert_memory_equal(bytes, expected, size);
    lap_encoder_close(t.encoder);
    lap_sink_close(sink);
    free(t.chunks);
    free(bytes);
    free(expected);
    free(image.memory);
}

/* ---- what is in the file ------------------------------------------------------------------------ */

static void pixels_do_not_depend_on_restart(void **unused)
{
    (void)unused;
    help_image image = help_make(123, 400, 3, 5), decoded[2];
    for (int i = 0; i < 2; i++) {
        lap_write_options o = help_options(&image.view);
        uint8_t *bytes;
        size_t size;
        lap_header header;
        lap_damage damage;
        lap_error err;
        o.restart = i ? LAP_RESTART_AUTO : LAP_RESTART_OFF;
        o.subsampling = LAP_SUB_420;
        assert_int_equal(help_encode(&image.view, "jpg", &o, &bytes, &size, &err), LAP_OK);
        assert_int_equal(help_decode(bytes, size, NULL, &decoded[i], &header, &damage, &err), LAP_OK);
        assert_int_equal(damage.warnings, 0);
        assert_int_equal(header.restart_interval != 0, i);
        free(bytes);
    }
    help_assert_same(&decoded[0].view, &decoded[1].view);
    free(decoded[0].memory);
    free(decoded[1].memory);
    free(image.memory);
}

static void alpha_is_dropped(void **unused)
{
    (void)unused;
    help_image rgb = help_make(60, 200, 3, 9), rgba = help_make(60, 200, 4, 1);
    uint8_t *bytes[2];
    size_t size[2];
    lap_error err;
    for (int y = 0; y < 200; y++)
        for (int x = 0; x < 60; x++)
            memcpy(rgba.view.base + y * rgba.view.stride + 4 * x, rgb.view.base + y * rgb.view.stride + 3 * x,
                3);
    lap_write_options o = help_options(&rgb.view);
    assert_int_equal(help_encode(&rgb.view, "jpg", &o, &bytes[0], &size[0], &err), LAP_OK);
    o.channels = 4;
    assert_int_equal(help_encode(&rgba.view, "jpg", &o, &bytes[1], &size[1], &err), LAP_OK);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
    free(rgb.memory);
    free(rgba.memory);
}

static void same_sampling_where_it_can_be(void **unused)
{
    (void)unused;
    static const struct {
        int h[3], v[3], out_h[3], out_v[3];
    } cases[] = {
        {{2, 1, 1}, {2, 1, 1}, {2, 1, 1}, {2, 1, 1}},
        {{2, 1, 1}, {1, 1, 1}, {2, 1, 1}, {1, 1, 1}},
        {{1, 1, 1}, {2, 1, 1}, {1, 1, 1}, {2, 1, 1}},
        {{4, 1, 1}, {1, 1, 1}, {4, 1, 1}, {1, 1, 1}},
        {{4, 1, 1}, {2, 1, 1}, {4, 1, 1}, {2, 1, 1}},
        {{2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}}, /* reduced */
        {{3, 2, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, /* 3:2 cannot be written */
        {{4, 2, 1}, {2, 2, 1}, {1, 1, 1}, {1, 1, 1}}, /* 13 blocks are too many */
        {{0, 0, 0}, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}},
    };
    help_image image = help_make(100, 150, 3, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_header from = {.components = 3, .is_ycc = true}, got;
        lap_write_options o = help_options(&image.view);
        help_image decoded;
        lap_damage damage;
        lap_error err;
        uint8_t *bytes;
        size_t size;
        memcpy(from.sample_h, cases[i].h, sizeof cases[i].h);
        memcpy(from.sample_v, cases[i].v, sizeof cases[i].v);
        o.subsampling = LAP_SUB_SAME;
        o.from = &from;
        assert_int_equal(help_encode(&image.view, "jpg", &o, &bytes, &size, &err), LAP_OK);
        assert_int_equal(help_decode(bytes, size, NULL, &decoded, &got, &damage, &err), LAP_OK);
        assert_memory_equal(got.sample_h, cases[i].out_h, sizeof cases[i].out_h);
        assert_memory_equal(got.sample_v, cases[i].out_v, sizeof cases[i].out_v);
        free(decoded.memory);
        free(bytes);
    }
    free(image.memory);
}

/* Markers of the file after SOI up to the first table, as letters: J jfif E exif X xmp I icc 3 app13 C com.
 */
static void spell_segments(const uint8_t *bytes, char *letters)
{
    for (size_t i = 2; bytes[i] == 0xFF && bytes[i + 1] != 0xDB;
         i += 2 + (size_t)(bytes[i + 2] << 8 | bytes[i + 3])) {
        const char *name = (const char *)bytes + i + 4;
        switch (bytes[i + 1]) {
        case 0xE0:
            *letters++ = 'J';
            break;
        case 0xE1:
            *letters++ = strcmp(name, "Exif") == 0 ? 'E' : 'X';
            break;
        case 0xE2:
            *letters++ = strcmp(name, "ICC_PROFILE") == 0 ? 'I' : '?';
            break;
        case 0xED:
            *letters++ = '3';
            break;
        case 0xFE:
            *letters++ = 'C';
            break;
        default:
            *letters++ = '?';
            break;
        }
    }
    *letters = 0;
}

static void metadata_is_kept(void **unused)
{
    (void)unused;
    static const uint8_t com[] = "hello", xmp[] = "http://ns.adobe.com/xap/1.0/", iptc[] = "Photoshop 3.0",
                         mpf[] = "MPF";
    /* little-endian TIFF, one IFD with one entry: orientation 6 */
    static const uint8_t exif[] = {'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0,
        1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0};
    uint8_t icc[14 + 128] = "ICC_PROFILE";
    icc[12] = icc[13] = 1;
    memcpy(icc + 14 + 16, "RGB ", 4);
    const lap_segment segments[] = {{.marker = 0xFE, .data = com, .size = sizeof com},
        {.marker = 0xE1, .data = xmp, .size = sizeof xmp}, {.marker = 0xE2, .data = mpf, .size = sizeof mpf},
        {.marker = 0xE2, .data = icc, .size = sizeof icc},
        {.marker = 0xE1, .data = exif, .size = sizeof exif},
        {.marker = 0xED, .data = iptc, .size = sizeof iptc}};
    lap_header from = {.components = 3, .is_ycc = false, .segments = segments, .segment_count = 6}, got;
    static const struct {
        int channels;
        bool strip, oriented;
        const char *letters, *space;
        int orientation;
    } cases[] = {{3, false, false, "JECXI3", "RGB ", 6}, {3, false, true, "JECXI3", "RGB ", 1},
        {1, false, false, "JECX3", "RGB ", 6}, {1, false, false, "JECXI3", "GRAY", 6},
        {3, false, false, "JECX3", "CMYK", 6}, {3, true, false, "J", "RGB ", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int height = 20; height <= 200; height += 180) { /* one band, and several */
            help_image image = help_make(30, height, cases[i].channels, 2), decoded;
            lap_write_options o = help_options(&image.view);
            lap_damage damage;
            lap_error err;
            uint8_t *bytes;
            size_t size;
            char letters[16];
            memcpy(icc + 14 + 16, cases[i].space, 4);
            o.from = &from;
            o.strip = cases[i].strip;
            o.oriented = cases[i].oriented;
            assert_int_equal(help_encode(&image.view, "jpg", &o, &bytes, &size, &err), LAP_OK);
            spell_segments(bytes, letters);
            assert_string_equal(letters, cases[i].letters);
            assert_int_equal(help_decode(bytes, size, NULL, &decoded, &got, &damage, &err), LAP_OK);
            assert_int_equal(got.orientation, cases[i].orientation);
            free(decoded.memory);
            free(bytes);
            free(image.memory);
        }
    assert_int_equal(exif[24], 6); /* the input's bytes are left alone */
}

/* The bytes of the first APP13 segment of what is written for this one. */
static void check_resources(const void *in, size_t in_size, const void *out, size_t out_size)
{
    const lap_segment segment = {.marker = 0xED, .data = in, .size = in_size};
    lap_header from = {.components = 3, .segments = &segment, .segment_count = 1};
    help_image image = help_make(8, 8, 3, 2);
    lap_write_options o = help_options(&image.view);
    lap_error err;
    uint8_t *bytes;
    size_t size;
    o.from = &from;
    assert_int_equal(help_encode(&image.view, "jpg", &o, &bytes, &size, &err), LAP_OK);
    assert_int_equal(bytes[21], 0xED); /* SOI, APP0 of 18 bytes, FF */
    assert_int_equal(bytes[22] << 8 | bytes[23], out_size + 2);
    assert_memory_equal(bytes + 24, out, out_size);
    free(bytes);
    free(image.memory);
}

static void photoshop_thumbnails_are_dropped(void **unused)
{
    (void)unused;
#define NAME "Photoshop 3.0\0"
#define IPTC                     \
    "8BIM\x04\x04\0\0\0\0\0\x03" \
    "abc\0"
#define NAMED                        \
    "8BIM\x04\x05\x02xy\0\0\0\0\x02" \
    "de"
#define THUMB                    \
    "8BIM\x04\x0c\0\0\0\0\0\x05" \
    "photo\0"
#define CHECK(in, out) check_resources(in, sizeof(in) - 1, out, sizeof(out) - 1)
    CHECK(NAME IPTC NAMED, NAME IPTC NAMED);
    CHECK(NAME THUMB IPTC THUMB NAMED, NAME IPTC NAMED);
    CHECK(NAME IPTC "8BIM\x04\x09\0\0\0\0\0\x04"
                    "phot",
        NAME IPTC);
    CHECK(NAME IPTC "8BIM\x04\x04\0\0\xff\xff\xff\xff"
                    "abcd",
        NAME IPTC "8BIM\x04\x04\0\0\xff\xff\xff\xff"
                  "abcd");
    CHECK(NAME "8BIM\x04\x0c\xff", NAME "8BIM\x04\x0c\xff");
    CHECK(NAME, NAME);
}

/* ---- misuse and stopping ------------------------------------------------------------------------- */

static void stops_when_cancelled(void **unused)
{
    (void)unused;
    atomic_int cancel = 1;
    lap_control control = {.cancel = &cancel};
    help_image image = help_make(50, 300, 3, 2);
    for (int i = 0; i < 2; i++) {
        lap_write_options o = help_options(&image.view);
        uint8_t *bytes;
        size_t size;
        lap_error err;
        o.control = &control;
        o.restart = i ? LAP_RESTART_OFF : LAP_RESTART_AUTO;
        assert_int_equal(help_encode(&image.view, "jpg", &o, &bytes, &size, &err), LAP_E_CANCELLED);
    }
    free(image.memory);
}

static void wrong_bands_are_refused(void **unused)
{
    (void)unused;
    help_image image = help_make(50, 300, 3, 2);
    lap_write_options o = help_options(&image.view);
    lap_sink *sink;
    lap_encoder *encoder;
    lap_chunk chunk = {0};
    lap_error err;
    assert_int_equal(lap_sink_memory(&sink, &err), LAP_OK);
    assert_int_equal(lap_encoder_open(sink, lap_format_find("jpg"), &o, &encoder, &err), LAP_OK);
    lap_view band = help_band(&image.view, 0, 100);
    assert_int_equal(lap_encoder_band(encoder, 0, &band, &chunk, &err), LAP_E_INTERNAL);
    assert_int_equal(lap_encoder_band(encoder, -1, &image.view, &chunk, &err), LAP_E_INTERNAL);
    assert_int_equal(lap_encoder_append(encoder, 1, &chunk, &err), LAP_E_INTERNAL);
    assert_int_equal(lap_encoder_finish(encoder, &err), LAP_E_INTERNAL);
    assert_int_equal(lap_sink_bytes(sink), 0);
    lap_encoder_close(encoder);
    lap_sink_close(sink);
    o.quality = 101;
    assert_int_equal(lap_encoder_open(NULL, lap_format_find("jpg"), &o, &encoder, &err), LAP_E_USAGE);
    assert_int_equal(lap_encoder_open(NULL, lap_format_find("gif"), &o, &encoder, &err), LAP_E_USAGE);
    free(image.memory);
}

/* All bands by strips of this many rows, from the last band to the first where their order is free. */
static lap_code encode_strips(const lap_view *view, lap_encoder *encoder, int strip, lap_error *err)
{
    const int rows = lap_encoder_band_rows(encoder), bands = (view->height - 1) / rows + 1;
    lap_chunk *chunks = calloc((size_t)bands, sizeof *chunks);
    lap_code code = LAP_OK;
    assert_non_null(chunks);
    for (int i = 0; i < bands && code == LAP_OK; i++) {
        const int index = lap_encoder_is_parallel(encoder) ? bands - 1 - i : i;
        const lap_view band = help_band(view, index * rows, rows);
        lap_band_work work = {.index = index, .chunk = &chunks[index]};
        for (int y = 0; y < band.height && code == LAP_OK; y += strip) {
            const lap_view some = help_band(&band, y, strip);
            code = lap_encoder_rows(encoder, &work, &some, err);
        }
    }
    for (int i = 0; i < bands && code == LAP_OK; i++)
        code = lap_encoder_append(encoder, i, &chunks[i], err);
    for (int i = 0; i < bands; i++)
        lap_chunk_free(&chunks[i]);
    free(chunks);
    return code == LAP_OK ? lap_encoder_finish(encoder, err) : code;
}

/* The picture's file by `codec`, its bands encoded from the last to the first where their order is free. */
static lap_code encode_backwards(
    const lap_view *view, const lap_write_options *options, void **bytes, size_t *size, lap_error *err)
{
    lap_sink *sink;
    lap_encoder *encoder = NULL;
    assert_int_equal(lap_sink_memory(&sink, err), LAP_OK);
    lap_code code = lap_encoder_open(sink, LAP_FORMAT_JPG, options, &encoder, err);
    *bytes = NULL;
    if (code == LAP_OK) {
        assert_int_equal(lap_encoder_is_parallel(encoder), !options->in_order &&
                                                               options->codec != LAP_CODEC_TURBO &&
                                                               view->height > lap_encoder_band_rows(encoder));
        code = encode_strips(view, encoder, lap_encoder_row_step(encoder), err);
    }
    if (code == LAP_OK)
        code = lap_sink_finish(sink, false, NULL, err);
    if (code == LAP_OK)
        lap_sink_take(sink, bytes, size);
    lap_encoder_close(encoder);
    lap_sink_close(sink);
    return code;
}

/* Returns how many coders ran. */
static int check_joined(const lap_view *view, const lap_header *from, int quality)
{
    lap_write_options o = help_options(view);
    uint8_t *expected;
    size_t expected_size, size;
    lap_error err;
    int ran = 0;
    o.restart = LAP_RESTART_OFF;
    o.subsampling = LAP_SUB_SAME;
    o.from = from;
    o.quality = quality;
    o.codec = LAP_CODEC_TURBO;
    assert_int_equal(help_encode(view, "jpg", &o, &expected, &expected_size, &err), LAP_OK);
    for (int codec = LAP_CODEC_C; codec <= LAP_CODEC_NEON; codec++)
        for (int in_order = 0; in_order < 2; in_order++) {
            void *bytes;
            o.codec = (lap_codec_place)codec;
            o.in_order = in_order;
            const lap_code code = encode_backwards(view, &o, &bytes, &size, &err);
            assert_true(code == LAP_OK || (code == LAP_E_BACKEND && codec != LAP_CODEC_C));
            if (code == LAP_OK) {
                assert_int_equal(size, expected_size);
                assert_memory_equal(bytes, expected, size);
                ran++;
            }
            free(bytes);
        }
    free(expected);
    return ran;
}

static void fill(help_image *image, int how)
{
    const lap_view *v = &image->view;
    for (int y = 0; y < v->height && how > 0; y++)
        for (int x = 0; x < v->width * v->channels; x++)
            v->base[y * v->stride + x] =
                how == 1 ? 200 : (uint8_t)(((x / v->channels / 8 + y / 8) % 2) * 255); /* flat; 8 x 8 */
}

/* Bands apart: units and bands that end short, a band of one row, bits of every number left over, bytes of
 * 0xFF. */
static void joined_bands_equal_one_compressor(void **unused)
{
    (void)unused;
    static const int luma[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}}; /* across, down */
    static const int sizes[][2] = {{1, 700}, {127, 257}, {128, 129}, {129, 300}, {300, 531}, {47, 1500}};
    static const int channels[] = {1, 3, 4};
    lap_header from = {.is_ycc = true, .components = 3, .sample_h = {1, 1, 1}, .sample_v = {1, 1, 1}};
    int ran = 0, least = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int c = 0; c < 3; c++)
            for (int how = 0; how < 3; how++) {
                help_image image = help_make(sizes[i][0], sizes[i][1], channels[c], (unsigned)i);
                fill(&image, how);
                for (int s = 0; s < 5; s++, least += 2) {
                    from.sample_h[0] = luma[s][0];
                    from.sample_v[0] = luma[s][1];
                    ran += check_joined(&image.view, &from, how ? 90 : 20 + 20 * s);
                }
                free(image.memory);
            }
    assert_true(ran >= least); /* c runs everywhere, in both orders */
}

static void strips_do_not_show(void **unused)
{
    (void)unused;
    help_image image = help_make(150, 301, 3, 2);
    for (int i = 0; i < 12; i++) {
        lap_write_options o = help_options(&image.view);
        uint8_t *expected;
        void *bytes;
        size_t expected_size, size;
        lap_sink *sink;
        lap_encoder *encoder;
        lap_error err;
        o.restart = i % 2 ? LAP_RESTART_AUTO : LAP_RESTART_OFF;
        o.subsampling = i / 2 % 2 ? LAP_SUB_420 : LAP_SUB_444;
        o.codec = LAP_CODEC_C;
        assert_int_equal(help_encode(&image.view, "jpg", &o, &expected, &expected_size, &err), LAP_OK);
        assert_int_equal(lap_sink_memory(&sink, &err), LAP_OK);
        assert_int_equal(lap_encoder_open(sink, LAP_FORMAT_JPG, &o, &encoder, &err), LAP_OK);
        const int step = lap_encoder_row_step(encoder);
        assert_int_equal(step, o.subsampling == LAP_SUB_420 ? 16 : 8);
        assert_int_equal(encode_strips(&image.view, encoder, (1 + i / 4) * step, &err), LAP_OK);
        assert_int_equal(lap_sink_finish(sink, false, NULL, &err), LAP_OK);
        lap_sink_take(sink, &bytes, &size);
        assert_int_equal(size, expected_size);
        assert_memory_equal(bytes, expected, size);
        lap_encoder_close(encoder);
        lap_sink_close(sink);
        free(bytes);
        free(expected);
    }
    free(image.memory);
}

/* Too many rows, rows between the steps, whole bands alone; and what a stop leaves is freed. */
static void wrong_strips_are_refused(void **unused)
{
    (void)unused;
    help_image image = help_make(50, 300, 3, 2);
    lap_write_options o = help_options(&image.view);
    lap_encoder *encoder;
    lap_chunk chunk = {0};
    lap_error err;
    o.codec = LAP_CODEC_C;
    assert_int_equal(lap_encoder_open(NULL, LAP_FORMAT_JPG, &o, &encoder, &err), LAP_OK);
    const int step = lap_encoder_row_step(encoder);
    lap_band_work work = {.index = 1, .chunk = &chunk};
    for (int i = 0; i < 2; i++) {
        const lap_view wrong =
            help_band(&image.view, 0, i ? step - 1 : lap_encoder_band_rows(encoder) + step);
        assert_int_equal(lap_encoder_rows(encoder, &work, &wrong, &err), LAP_E_INTERNAL);
    }
    lap_view some = help_band(&image.view, 0, step);
    assert_int_equal(lap_encoder_rows(encoder, &work, &some, &err), LAP_OK);
    assert_int_equal(work.next_row, step);
    assert_true(chunk.size > 0);
    lap_encoder_close(encoder);
    o.codec = LAP_CODEC_TURBO;
    assert_int_equal(lap_encoder_open(NULL, LAP_FORMAT_JPG, &o, &encoder, &err), LAP_OK);
    assert_int_equal(lap_encoder_row_step(encoder), 0);
    work = (lap_band_work){.chunk = &chunk};
    assert_int_equal(lap_encoder_rows(encoder, &work, &some, &err), LAP_E_INTERNAL);
    lap_encoder_close(encoder);
    lap_chunk_free(&chunk);
    free(image.memory);
}

static void formats_have_names(void **unused)
{
    (void)unused;
    assert_int_equal(lap_format_of_path("a/b.x/photo.JPEG"), LAP_FORMAT_JPG);
    assert_int_equal(lap_format_of_path("photo.tar.Png"), LAP_FORMAT_PNG);
    assert_int_equal(lap_format_of_path("a/.hidden.pgm"), LAP_FORMAT_PGM);
    assert_int_equal(lap_format_of_path("a/.jpg"), LAP_FORMAT_UNKNOWN);
    assert_int_equal(lap_format_of_path("a.jpg/b"), LAP_FORMAT_UNKNOWN);
    assert_int_equal(lap_format_of_path("a.gif"), LAP_FORMAT_UNKNOWN);
    assert_int_equal(lap_format_of_path("a."), LAP_FORMAT_UNKNOWN);
    assert_int_equal(lap_format_of_path(""), LAP_FORMAT_UNKNOWN);
    assert_int_equal(lap_format_find("jpeg"), LAP_FORMAT_JPG);
    assert_int_equal(lap_format_find(""), LAP_FORMAT_UNKNOWN);
    assert_int_equal(lap_format_find("jpg,png"), LAP_FORMAT_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_one_compressor),
        cmocka_unit_test(small_images_have_one_band),
        cmocka_unit_test(widest_image),
        cmocka_unit_test(sides_have_a_limit),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(pixels_do_not_depend_on_restart),
        cmocka_unit_test(alpha_is_dropped),
        cmocka_unit_test(same_sampling_where_it_can_be),
        cmocka_unit_test(metadata_is_kept),
        cmocka_unit_test(photoshop_thumbnails_are_dropped),
        cmocka_unit_test(stops_when_cancelled),
        cmocka_unit_test(wrong_bands_are_refused),
        cmocka_unit_test(joined_bands_equal_one_compressor),
        cmocka_unit_test(strips_do_not_show),
        cmocka_unit_test(wrong_strips_are_refused),
        cmocka_unit_test(formats_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
