/* What every_fault does with a photo: a case for each way through the library. */
#include "lapedge_program.h"
#include "tests/faults/each.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

enum { WIDTH = 48, HEIGHT = 272 };

/* ---- inputs ------------------------------------------------------------------------------------ */

static void put_pnm(const char *path, int width, int height, int channels, uint32_t seed)
{
    const size_t count = (size_t)width * (size_t)height * (size_t)channels;
    uint8_t *bytes = malloc(count + 64);
    const size_t head =
        (size_t)sprintf((char *)bytes, "P%d\n%d %d\n255\n", channels == 1 ? 5 : 6, width, height);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[head + i] = (uint8_t)(i / 7 + i % 3 * 40 + (seed >> 27));
    }
    each_put(path, bytes, head + count);
    free(bytes);
}

static void convert(const char *from, const char *to, bool progressive)
{
    lap_settings s = lap_settings_default();
    s.filter = s.sync = false;
    s.progressive = progressive;
    s.subsampling = LAP_SUB_420;
    if (lap_run_file(each_context, from, to, &s, NULL, NULL) != LAP_OK)
        abort();
}

static size_t segment(uint8_t *to, int marker, const void *bytes, size_t size)
{
    to[0] = 0xff;
    to[1] = (uint8_t)marker;
    to[2] = (uint8_t)((size + 2) >> 8);
    to[3] = (uint8_t)(size + 2);
    memcpy(to + 4, bytes, size);
    return size + 4;
}

/* A photo with a tag to turn it, a profile, XMP, IPTC and a comment. */
static void tag(const char *from, const char *to)
{
    static const uint8_t exif[] = {'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0,
        1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0};
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta/>", text[] = "a comment",
                      iptc[] = "Photoshop 3.0\0"
                               "8BIM\x04\x04\0\0\0\0\0\x03"
                               "abc";
    uint8_t profile[14 + 144] = "ICC_PROFILE\0\1\1";
    size_t size, at = 2;
    uint8_t *photo = each_get(from, &size), *tagged = malloc(size + 1000);
    profile[14 + 3] = 144;
    memcpy(profile + 14 + 12, "mntrRGB XYZ ", 12);
    memcpy(profile + 14 + 36, "acsp", 4);
    memcpy(tagged, photo, 2);
    at += segment(tagged + at, 0xe1, exif, sizeof exif);
    at += segment(tagged + at, 0xe1, xmp, sizeof xmp);
    at += segment(tagged + at, 0xe2, profile, sizeof profile);
    at += segment(tagged + at, 0xed, iptc, sizeof iptc);
    at += segment(tagged + at, 0xfe, text, sizeof text);
    memcpy(tagged + at, photo + 2, size - 2);
    each_put(to, tagged, at + size - 2);
    free(photo);
    free(tagged);
}

/* A progressive photo whose first quantisation table is another one from its second scan on. */
static void redefine(const char *from, const char *to)
{
    size_t size, table = 0, scan = 0;
    uint8_t *photo = each_get(from, &size), *odd = malloc(2 * size);
    for (size_t i = 0, scans = 0; i + 1 < size && !scan; i++) {
        const int marker = photo[i] == 0xff ? photo[i + 1] : 0;
        table = marker == 0xdb && !table ? i : table;
        scan = marker == 0xda && scans++ == 1 ? i : 0;
    }
    const size_t length = 2 + ((size_t)photo[table + 2] << 8 | photo[table + 3]);
    memcpy(odd, photo, scan);
    memcpy(odd + scan, photo + table, length);
    odd[scan + 5]++;
    memcpy(odd + scan + length, photo + scan, size - scan);
    each_put(to, odd, size + length);
    free(photo);
    free(odd);
}

void each_prepare(void)
{
    put_pnm("rgb.ppm", WIDTH, HEIGHT, 3, 1);
    put_pnm("other.ppm", WIDTH, HEIGHT, 3, 2);
    put_pnm("gray.pgm", 30, 20, 1, 3);
    put_pnm("gray2.pgm", 30, 20, 1, 5);
    put_pnm("small.ppm", 32, 32, 3, 4);
    convert("rgb.ppm", "plain.jpg", false);
    tag("plain.jpg", "tagged.jpg");
    convert("small.ppm", "in/a.jpg", false);
    convert("small.ppm", "in/sub/progressive.jpg", true);
    convert("gray.pgm", "in/sub/gray.jpg", false);
    convert("small.ppm", "in/sub/b.png", false);
    convert("small.ppm", "there/a.jpg", false);
    convert("gray2.pgm", "there/sub/gray.jpg", false);
    convert("gray.pgm", "odd/caf\xe9.jpg", false);
    convert("rgb.ppm", "rgb.png", false);
    tag("in/a.jpg", "turned.jpg");
    redefine("in/sub/progressive.jpg", "tables.jpg");
    size_t size;
    void *photo = each_get("in/a.jpg", &size);
    each_put("cut.jpg", photo, size / 2);
    free(photo);
    each_put("list", "in/a.jpg\nin/sub/gray.jpg\n", 25);
    each_put("kernel", "1 1 1 1 1 1 1 1 1 1 1 1 -24 1 1 1 1 1 1 1 1 1 1 1 1", 51);
}

/* ---- one photo ----------------------------------------------------------------------------------- */

void each_add(each_result *r, const void *bytes, size_t size)
{
    r->digest = XXH3_64bits_withSeed(bytes, size, r->digest);
}

void each_add_stats(each_result *r, const lap_stats *stats)
{
    for (int c = 0; c < stats->channels; c++) {
        each_add(r, stats->channel[c].histogram, sizeof stats->channel[c].histogram);
        each_add(r, &stats->channel[c].stddev, sizeof(double));
    }
}

static void run_file(each_result *r, const char *in, const char *out, const lap_settings *settings)
{
    lap_report report;
    r->code = lap_run_file(each_context, in, out, settings, &report, &r->err);
    if (r->code == LAP_OK) {
        each_add(r, &report.bytes_out, sizeof report.bytes_out);
        each_add(r, report.warning, strlen(report.warning));
    }
}

lap_settings each_plain(void)
{
    lap_settings s = lap_settings_default();
    s.backend = each_backend;
    s.sync = false;
    return s;
}

static void synced(each_result *r)
{
    lap_settings s = each_plain();
    s.sync = s.preserve = true;
    run_file(r, "tagged.jpg", "out/o.jpg", &s);
}

static void to_png(each_result *r)
{
    const lap_settings s = each_plain();
    run_file(r, "tagged.jpg", "out/o.png", &s);
}

static void from_png(each_result *r)
{
    lap_settings s = each_plain();
    s.gray = true;
    run_file(r, "rgb.png", "out/o.pgm", &s);
}

static void to_bmp(each_result *r)
{
    const lap_settings s = each_plain();
    run_file(r, "rgb.ppm", "out/o.bmp", &s);
}

static void to_tsv(each_result *r)
{
    const lap_settings s = each_plain();
    run_file(r, "in/a.jpg", "out/o.tsv", &s);
}

static void turned(each_result *r)
{
    lap_settings s = each_plain();
    s.auto_orient = true;
    run_file(r, "tagged.jpg", "out/o.jpg", &s);
}

static void turned_without_loss(each_result *r)
{
    lap_settings s = each_plain();
    s.filter = false;
    s.auto_orient = true;
    s.lossless = LAP_LOSSLESS_AUTO;
    run_file(r, "turned.jpg", "out/o.jpg", &s);
}

static void turned_and_trimmed(each_result *r)
{
    lap_settings s = each_plain();
    s.filter = false;
    s.turn = LAP_TURN_TRANSVERSE;
    s.lossless = LAP_LOSSLESS_TRIM;
    s.progressive = true;
    run_file(r, "in/sub/gray.jpg", "out/o.jpg", &s);
}

/* Blocks are moved, do not fit, and pixels are coded. */
static void turned_by_pixels_after_all(each_result *r)
{
    lap_settings s = each_plain();
    s.filter = false;
    s.turn = LAP_TURN_90;
    s.lossless = LAP_LOSSLESS_AUTO;
    run_file(r, "tables.jpg", "out/o.jpg", &s);
}

static void progressive(each_result *r)
{
    lap_settings s = each_plain();
    s.progressive = s.optimize = true;
    s.strip = true;
    run_file(r, "in/sub/progressive.jpg", "out/o.jpg", &s);
}

static void progressive_by_parts(each_result *r)
{
    lap_settings s = each_plain();
    s.decode = LAP_DECODE_PARALLEL;
    run_file(r, "in/sub/progressive.jpg", "out/o.jpg", &s);
}

static void by_parts(each_result *r)
{
    lap_settings s = each_plain();
    s.decode = LAP_DECODE_PARALLEL;
    run_file(r, "plain.jpg", "out/o.jpg", &s);
}

static void parts_of_a_whole(each_result *r)
{
    lap_settings s = each_plain();
    s.decode = LAP_DECODE_PARALLEL;
    s.turn = LAP_TURN_90;
    s.border = LAP_WRAP;
    run_file(r, "plain.jpg", "out/o.ppm", &s);
}

static void there_is_one(void)
{
    size_t size;
    void *photo = each_get("tagged.jpg", &size);
    each_put("out/o.jpg", photo, size);
    free(photo);
}

static void in_place(each_result *r)
{
    lap_settings s = each_plain();
    s.in_place = true;
    run_file(r, "out/o.jpg", "out/o.jpg", &s);
}

static void not_replaced(each_result *r)
{
    lap_settings s = each_plain();
    s.no_clobber = true;
    run_file(r, "in/a.jpg", "out/new.jpg", &s);
}

static void with_stats(each_result *r)
{
    lap_settings s = each_plain();
    lap_run_stats stats;
    s.stats = &stats;
    run_file(r, "plain.jpg", "out/o.jpg", &s);
    if (r->code == LAP_OK) {
        each_add_stats(r, &stats.input);
        each_add_stats(r, &stats.edges);
    }
}

static void in_memory(each_result *r)
{
    static uint8_t photo[1 << 16];
    static size_t size;
    size_t out_size;
    void *out;
    const lap_settings s = each_plain();
    if (size == 0) { /* the first time nothing fails */
        void *bytes = each_get("in/a.jpg", &size);
        memcpy(photo, bytes, size < sizeof photo ? size : sizeof photo);
        free(bytes);
    }
    r->code = lap_run_memory(each_context, photo, size, &out, &out_size, &s, NULL, &r->err);
    if (r->code == LAP_OK)
        each_add(r, out, out_size);
    else if (out)
        r->digest = 1; /* nothing is left to free */
    free(out);
}

static void damaged(each_result *r)
{
    lap_settings s = each_plain();
    s.fail_on = LAP_FAIL_NONE;
    run_file(r, "cut.jpg", "out/o.jpg", &s);
}

/* ---- what is found out ---------------------------------------------------------------------------- */

static void measured(each_result *r)
{
    float weights[WIDTH + HEIGHT];
    lap_measurement m = {0};
    const lap_settings s = each_plain();
    for (int i = 0; i < WIDTH + HEIGHT; i++)
        weights[i] = (float)(i % 5);
    const lap_measure_options o = {.threshold = 9,
        .profiles = true,
        .weights = weights,
        .weight_count = WIDTH + HEIGHT,
        .mask_border = 2};
    r->code = lap_measure_file(each_context, "plain.jpg", &s, &o, &m, &r->err);
    if (r->code == LAP_OK) {
        each_add_stats(r, &m.stats.edges);
        each_add(r, m.rows, HEIGHT * sizeof *m.rows);
        each_add(r, m.columns, WIDTH * sizeof *m.columns);
    }
    lap_measurement_free(&m);
}

static void informed(each_result *r)
{
    static const char *const names[] = {"tagged.jpg", "rgb.png", "gray.pgm"};
    for (int i = 0; i < 3 && r->code == LAP_OK; i++) {
        lap_info info;
        r->code = lap_info_read(names[i], &info, &r->err);
        if (r->code == LAP_OK)
            each_add(r, &info.bytes, sizeof info.bytes);
    }
}

lap_pixels *each_pixels(each_result *r, const char *name)
{
    lap_pixels *pixels = NULL;
    const lap_settings s = each_plain();
    if (r->code == LAP_OK)
        r->code = lap_pixels_read(each_context, name, &s, &pixels, &r->err);
    return pixels;
}

static void different(each_result *r)
{
    lap_difference d;
    lap_pixels *a = each_pixels(r, "plain.jpg"), *b = each_pixels(r, "other.ppm");
    if (r->code == LAP_OK)
        r->code = lap_compare_views(lap_pixels_view(a), lap_pixels_view(b), 2, true, &d, &r->err);
    if (r->code == LAP_OK) {
        each_add(r, &d.ssim, sizeof d.ssim);
        r->code = lap_heatmap_write("out/map.png", lap_pixels_view(a), lap_pixels_view(b), 0, 0, &r->err);
    }
    lap_pixels_free(a);
    lap_pixels_free(b);
}

static void callers_pixels(each_result *r)
{
    enum { W = 20, H = 12 };
    static uint8_t in[(W + 4) * (H + 4)], out[W * H];
    static float rows[H], columns[W];
    lap_stats stats;
    const lap_params params = lap_params_default();
    for (int i = 0; i < (W + 4) * (H + 4); i++)
        in[i] = (uint8_t)(i * i / 3);
    const lap_view from = {in + 2 * (W + 4) + 2, W + 4, W, H, 1, LAP_APRON, LAP_ON_HOST};
    const lap_view to = {out, W, W, H, 1, 0, LAP_ON_HOST};
    r->code = lap_filter(each_context, &from, &to, each_backend, &params, LAP_ZERO, &r->err);
    if (r->code == LAP_OK)
        r->code = lap_stats_of_view(each_context, &to, each_backend, 0, -1, &stats, &r->err);
    if (r->code == LAP_OK)
        r->code = lap_profiles(each_context, &to, NULL, NULL, rows, columns, &r->err);
    if (r->code == LAP_OK) {
        each_add(r, out, sizeof out);
        each_add_stats(r, &stats);
        each_add(r, rows, sizeof rows);
        each_add(r, columns, sizeof columns);
    }
}

static void own_context(each_result *r)
{
    lap_context *context = lap_context_create(3, &r->err);
    const lap_settings s = each_plain();
    r->code = context ? LAP_OK : r->err.code;
    if (context)
        r->code = lap_run_file(context, "rgb.ppm", "out/o.jpg", &s, NULL, &r->err);
    lap_context_destroy(context);
}

static void beside(each_result *r)
{
    static const char *const others[] = {"in/a.jpg", "rgb.ppm", "-"};
    r->code = lap_side_check("out/log", others, 3, &r->err);
    if (r->code == LAP_OK)
        r->code = lap_side_write("out/log", "words", 5, true, &r->err);
}

static void a_kernel(each_result *r)
{
    lap_kernel kernel;
    r->code = lap_kernel_parse("kernel", &kernel, &r->err);
    if (r->code == LAP_OK)
        each_add(r, kernel.h, sizeof kernel.h);
}

const each_case each_photo[] = {CASE(synced), LOSES(to_png, 1 /* stb_image_write */), CASE(from_png),
    CASE(to_bmp), CASE(to_tsv), CASE(turned), CASE(turned_without_loss), CASE(turned_and_trimmed),
    CASE(turned_by_pixels_after_all), CASE(progressive), CASE(progressive_by_parts), CASE(by_parts),
    CASE(parts_of_a_whole), AFTER(there_is_one, in_place), AFTER(there_is_one, not_replaced),
    CASE(with_stats), CASE(in_memory), CASE(damaged), CASE(measured), CASE(informed),
    LOSES(different, 1 /* stb_image_write */), CASE(callers_pixels), CASE(own_context), CASE(beside),
    CASE(a_kernel), END};
