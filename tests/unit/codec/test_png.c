/* PNG in: every kind of sample that PNG has, damage at every place. Files are made with libpng. */
#include "run/formats.h"
#include "tests/support/encode_help.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>

#if LAP_HAVE_PNG

#include <png.h>
#include <zlib.h>

typedef struct file {
    uint8_t bytes[200000];
    size_t size;
} file;

static void collect(png_structp png, png_bytep bytes, size_t size)
{
    file *to = png_get_io_ptr(png);
    assert_true(size <= sizeof to->bytes - to->size);
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

static void flush(png_structp png)
{
    (void)png;
}

enum { WIDTH = 37, HEIGHT = 29 };

/* The 16-bit value of channel c at (x, y); fewer bits take the upper ones. */
static unsigned value(int x, int y, int c)
{
    return (unsigned)(x * 1771 + y * 2339 + c * 20011 + x * y * 31) & 0xFFFF;
}

static png_color palette_entry(int i)
{
    return (png_color){(png_byte)(i * 5), (png_byte)(255 - i), (png_byte)(i * 31)};
}

static int channels_of(int type)
{
    return type == PNG_COLOR_TYPE_RGB          ? 3
           : type == PNG_COLOR_TYPE_RGBA       ? 4
           : type == PNG_COLOR_TYPE_GRAY_ALPHA ? 2
                                               : 1;
}

static void fill_row(uint8_t *row, int y, int type, int depth)
{
    int channels = channels_of(type);
    memset(row, 0, WIDTH * 8);
    for (int i = 0; i < WIDTH * channels; i++) {
        unsigned v = value(i / channels, y, i % channels) >> (16 - depth);
        if (depth == 16) {
            row[2 * i] = (uint8_t)(v >> 8);
            row[2 * i + 1] = (uint8_t)v;
        } else {
            int bit = i * depth;
            row[bit / 8] |= (uint8_t)(v << (8 - depth - bit % 8));
        }
    }
}

static void make(file *to, int type, int depth, bool interlaced, bool transparent, bool metadata)
{
    static uint8_t rows[HEIGHT][WIDTH * 8];
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_color palette[256];
    to->size = 0;
    png_set_write_fn(png, to, collect, flush);
    png_set_IHDR(png, info, WIDTH, HEIGHT, depth, type, interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
        PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    for (int i = 0; i < 256; i++)
        palette[i] = palette_entry(i);
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 1 << depth);
    static png_byte alpha[1] = {0};
    static png_color_16 key = {0, 1, 1, 1, 1};
    if (transparent)
        png_set_tRNS(png, info, alpha, type == PNG_COLOR_TYPE_PALETTE ? 1 : 0, &key);
    if (metadata) {
        static png_byte exif[] = {
            'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0};
        png_set_eXIf_1(png, info, sizeof exif, exif);
    }
    png_write_info(png, info);
    int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++)
        for (int y = 0; y < HEIGHT; y++) {
            fill_row(rows[y], y, type, depth);
            png_write_row(png, rows[y]);
        }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
}

static int expected(int x, int y, int c, int type, int depth)
{
    if (type == PNG_COLOR_TYPE_PALETTE) {
        png_color entry = palette_entry((int)(value(x, y, 0) >> (16 - depth)));
        return c == 0 ? entry.red : c == 1 ? entry.green : entry.blue;
    }
    unsigned v = value(x, y, c) >> (16 - depth), most = (1u << depth) - 1;
    return (int)((v * 255 + most / 2) / most);
}

static int luma(const int rgb[3])
{
    return (19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + 32768) >> 16;
}

static void every_kind(void **unused)
{
    (void)unused;
    static const struct {
        int type, depths[6];
    } kinds[] = {
        {PNG_COLOR_TYPE_GRAY, {1, 2, 4, 8, 16}},
        {PNG_COLOR_TYPE_PALETTE, {1, 2, 4, 8}},
        {PNG_COLOR_TYPE_RGB, {8, 16}},
        {PNG_COLOR_TYPE_GRAY_ALPHA, {8, 16}},
        {PNG_COLOR_TYPE_RGBA, {8, 16}},
    };
    static file png;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int d = 0; kinds[k].depths[d]; d++)
            for (int variant = 0; variant < 8; variant++) {
                int type = kinds[k].type, depth = kinds[k].depths[d];
                bool interlaced = variant & 1, gray = variant & 2, alpha = type & PNG_COLOR_MASK_ALPHA;
                bool transparent = (variant & 4) && !alpha;
                lap_read_options options = {.gray = gray, .fail_on = LAP_FAIL_TRUNCATED};
                help_image image;
                lap_header header;
                lap_damage damage;
                lap_error err;
                make(&png, type, depth, interlaced, transparent, false);
                if (help_decode(png.bytes, png.size, &options, &image, &header, &damage, &err) != LAP_OK)
                    fail_msg("type %d depth %d variant %d: %s", type, depth, variant, err.message);
                bool colour = type & PNG_COLOR_MASK_COLOR;
                assert_string_equal(header.format, "png");
                assert_int_equal(header.whole, interlaced);
                assert_int_equal(header.components, channels_of(type));
                assert_int_equal(header.channels, gray || !colour ? 1 : 3);
                assert_int_equal(damage.warnings, alpha || transparent);
                for (int y = 0; y < HEIGHT; y++)
                    for (int x = 0; x < WIDTH; x++) {
                        int want[3];
                        for (int c = 0; c < 3; c++)
                            want[c] =
                                colour ? expected(x, y, c, type, depth) : expected(x, y, 0, type, depth);
                        if (gray && colour)
                            want[0] = luma(want);
                        for (int c = 0; c < header.channels; c++)
                            assert_int_equal(
                                image.view.base[y * image.view.stride + x * header.channels + c], want[c]);
                    }
                free(image.memory);
            }
}

static lap_code decode(const file *png, lap_fail_on fail_on, help_image *image, lap_damage *damage)
{
    lap_read_options options = {.fail_on = fail_on};
    lap_header header;
    lap_error err = {0};
    *damage = (lap_damage){0};
    lap_code code = help_decode(png->bytes, png->size, &options, image, &header, damage, &err);
    assert_int_equal(err.code, code);
    return code;
}

static void cut_anywhere(void **unused)
{
    (void)unused;
    static file png;
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        make(&png, PNG_COLOR_TYPE_RGB, 8, interlaced, false, false);
        size_t whole = png.size;
        for (png.size = 0; png.size < whole; png.size++) {
            help_image image;
            lap_damage damage;
            lap_code code = decode(&png, LAP_FAIL_TRUNCATED, &image, &damage);
            assert_int_equal(code, png.size < 8 ? LAP_E_NOT_IMAGE : LAP_E_TRUNCATED);
            free(image.memory);
        }
    }
}

static bool is_whole(const lap_view *v)
{
    for (int y = 0; y < v->height; y++)
        for (int i = 0; i < v->width * v->channels; i++)
            if (v->base[y * v->stride + i] != expected(i / 3, y, i % 3, PNG_COLOR_TYPE_RGB, 8))
                return false;
    return v->channels == 3;
}

static void damage_anywhere(void **unused)
{
    (void)unused;
    static file png;
    make(&png, PNG_COLOR_TYPE_RGB, 8, false, false, false);
    /* Every byte is under some CRC, or is one, or a length. The last CRC is of a chunk without contents:
     * libpng 1.6.39 looks at it, 1.6.48 does not, and the picture is whole then. */
    const size_t unseen = png_access_version_number() > 10639 ? png.size - 4 : png.size;
    for (size_t i = 8; i < png.size; i++) {
        help_image image;
        lap_damage damage;
        png.bytes[i] ^= 0x10;
        lap_code code = decode(&png, LAP_FAIL_TRUNCATED, &image, &damage);
        png.bytes[i] ^= 0x10;
        const bool refused = code == LAP_E_DAMAGED || code == LAP_E_TRUNCATED;
        if (!refused && (i < unseen || code != LAP_OK || !is_whole(&image.view)))
            fail_msg("byte %zu: %s", i, lap_code_name(code));
        free(image.memory);
    }
}

static void damage_let_through(void **unused)
{
    (void)unused;
    static file png;
    make(&png, PNG_COLOR_TYPE_RGB, 8, false, false, false);
    help_image image;
    lap_damage damage;
    png.size = png.size * 2 / 3;
    assert_int_equal(decode(&png, LAP_FAIL_NONE, &image, &damage), LAP_OK);
    assert_true(damage.truncated);
    assert_int_equal(damage.warnings, 1);
    assert_int_equal(image.memory[0], expected(0, 0, 0, PNG_COLOR_TYPE_RGB, 8));
    assert_int_equal(image.memory[WIDTH * HEIGHT * 3 - 1], 0);
    free(image.memory);
}

static void transparency_can_be_refused(void **unused)
{
    (void)unused;
    static file png;
    help_image image;
    lap_damage damage;
    make(&png, PNG_COLOR_TYPE_RGBA, 8, false, false, false);
    assert_int_equal(decode(&png, LAP_FAIL_WARNING, &image, &damage), LAP_E_UNSUPPORTED);
    free(image.memory);
    make(&png, PNG_COLOR_TYPE_RGB, 8, false, false, false);
    assert_int_equal(decode(&png, LAP_FAIL_WARNING, &image, &damage), LAP_OK);
    free(image.memory);
}

static void limits_and_cancel(void **unused)
{
    (void)unused;
    static file png;
    atomic_int cancel = 1;
    lap_control control = {.cancel = &cancel};
    const lap_read_options few = {.max_pixels = WIDTH * HEIGHT - 1}, stopped = {.control = &control};
    help_image image;
    lap_header header;
    lap_damage damage;
    lap_error err;
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        make(&png, PNG_COLOR_TYPE_RGB, 8, interlaced, false, false);
        assert_int_equal(help_decode(png.bytes, png.size, &few, &image, &header, &damage, &err), LAP_E_LIMIT);
        assert_int_equal(
            help_decode(png.bytes, png.size, &stopped, &image, &header, &damage, &err), LAP_E_CANCELLED);
        free(image.memory);
    }
}

/* A chunk may claim any length: it is believed up to 8 MB, and text is not read into memory at all. */
static void claims_cost_nothing(void **unused)
{
    (void)unused;
    static const char *const names[] = {"tEXt", "zTXt", "iTXt", "sPLT", "iCCP", "eXIf", "abCd"};
    static const uint8_t claim[] = {0x7F, 0xFF, 0xFF, 0xFF};
    enum { AFTER_IHDR = 33 };
    static file png;
    const lap_read_options any = {.fail_on = LAP_FAIL_TRUNCATED};
    help_image image = {0};
    lap_header header;
    lap_damage damage;
    lap_error err;
    struct rlimit before, tight;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    tight = before;
#ifndef __SANITIZE_ADDRESS__
    tight.rlim_cur = 512 << 20; /* with less than it claims nobody can succeed by memory */
#endif
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        make(&png, PNG_COLOR_TYPE_RGB, 8, false, false, false);
        memcpy(png.bytes + AFTER_IHDR, claim, 4);
        memcpy(png.bytes + AFTER_IHDR + 4, names[i], 4);
        memcpy(png.bytes + AFTER_IHDR + 8, "a name\0\0\0\0\0", 11);
        lap_code code = help_decode(png.bytes, png.size, &any, &image, &header, &damage, &err);
        if (code != LAP_E_TRUNCATED && code != LAP_E_LIMIT)
            fail_msg("%s: %s: %s", names[i], lap_code_name(code), err.message);
    }
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
}

/* Chunks that are not known are passed over, up to the size that any chunk may have. */
static void a_chunk_has_a_limit(void **unused)
{
    (void)unused;
    enum { HEAD = 33, MOST = 8000000, ROOM = MOST + 1 + 12 };
    static file png;
    make(&png, PNG_COLOR_TYPE_RGB, 8, false, false, false);
    uint8_t *large = calloc(1, png.size + ROOM);
    assert_non_null(large);
    for (unsigned more = 0; more <= 1; more++) {
        const unsigned length = MOST + more;
        lap_read_options options = {.fail_on = LAP_FAIL_TRUNCATED};
        lap_header header;
        lap_damage damage = {0};
        lap_error err;
        help_image image;
        memcpy(large, png.bytes, HEAD);
        png_save_uint_32(large + HEAD, length);
        memcpy(large + HEAD + 4, "prVt", 4);
        png_save_uint_32(large + HEAD + 8 + length, (png_uint_32)crc32(0, large + HEAD + 4, 4 + length));
        memcpy(large + HEAD + 12 + length, png.bytes + HEAD, png.size - HEAD);
        lap_code code = help_decode(large, png.size + 12 + length, &options, &image, &header, &damage, &err);
        assert_int_equal(code, LAP_OK);
        free(image.memory);
        assert_int_equal(damage.warnings, more);
        assert_string_equal(damage.first, more ? "prVt: chunk data is too large" : "");
        memset(large + HEAD + 8, 0, length + 4);
    }
    free(large);
}

/* EXIF arrives as the APP1 segment of a JPEG, and goes on into one. */
static void exif_is_kept(void **unused)
{
    (void)unused;
    static file png;
    lap_source *source;
    lap_decoder *decoder;
    lap_error err;
    lap_read_options options = {.fail_on = LAP_FAIL_TRUNCATED};
    make(&png, PNG_COLOR_TYPE_RGB, 8, false, false, true);
    assert_int_equal(lap_source_memory(png.bytes, png.size, "test input", &source, &err), LAP_OK);
    assert_int_equal(lap_decoder_open(source, &options, &decoder, &err), LAP_OK);
    const lap_header *header = lap_decoder_header(decoder);
    assert_int_equal(header->orientation, 6);
    assert_int_equal(header->segment_count, 1);
    assert_int_equal(header->segments[0].marker, 0xE1);
    assert_memory_equal(header->segments[0].data, "Exif\0\0II", 8);

    help_image image = help_make(20, 20, 3, 1);
    lap_write_options o = help_options(&image.view);
    uint8_t *jpeg;
    size_t size;
    o.from = header;
    assert_int_equal(help_encode(&image.view, "jpg", &o, &jpeg, &size, &err), LAP_OK);
    assert_memory_equal(jpeg + 24, "Exif\0\0II", 8); /* SOI, APP0 of 18 bytes, marker and length */
    free(jpeg);
    free(image.memory);
    lap_decoder_close(decoder);
    lap_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(damage_anywhere),
        cmocka_unit_test(damage_let_through),
        cmocka_unit_test(transparency_can_be_refused),
        cmocka_unit_test(limits_and_cancel),
        cmocka_unit_test(claims_cost_nothing),
        cmocka_unit_test(a_chunk_has_a_limit),
        cmocka_unit_test(exif_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void is_refused(void **unused)
{
    (void)unused;
    lap_header header;
    lap_damage damage;
    lap_error err;
    help_image image;
    assert_int_not_equal(
        help_decode("\x89PNG\r\n\x1a\n........", 16, NULL, &image, &header, &damage, &err), LAP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
