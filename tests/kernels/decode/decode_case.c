#include "decode_case.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "base/luma.h"

void decode_describe(const decode_case *c, char text[300])
{
    static const char *const tables[] = {"standard", "optimized", "hand-made"};
    static const char *const values[] = {"of pixels", "by chance", "at limits"};
    static const char *const scripts[] = {
        "one scan", "usual", "spectral", "deep", "apart", "turned", "by chance", "unfinished"};
    static const char *const colours[] = {"usual", "YCbCr by Adobe", "YCbCr by nothing", "RGB by Adobe",
        "RGB by names", "CMYK of Adobe", "CMYK", "YCCK", "odd RGB", "odd inks"};
    char picture[200];
    case_describe(&c->picture, picture);
    snprintf(text, 300,
        "%s; %s tables, values %s, %d MCUs a restart, quantisers of %d bits, scans: %s, colours: %s", picture,
        tables[c->tables], values[c->values], c->interval, c->wide_quant ? 16 : 8, scripts[c->script],
        colours[c->colours]);
}

static bool has_inks(const decode_case *c)
{
    return c->colours == CMYK_OF_ADOBE || c->colours == CMYK_PLAIN || c->colours == YCCK_OF_ADOBE ||
           c->colours == ODD_INKS;
}

void decode_set_colours(decode_case *c, decode_colours colours)
{
    c->colours = colours;
    c->picture.channels = has_inks(c) ? 4 : 3;
}

/* ---- tables -------------------------------------------------------------------------------------- */

/* Codes of 1 to 16 bits for all symbols, in random order. Units: codes of 16 bits. */
static void set_table(JHUFF_TBL *table, const uint8_t *symbols, int count, uint64_t *seed)
{
    int left = 65535, lengths[256];
    uint8_t order[256];
    memcpy(order, symbols, (size_t)count);
    memset(table->bits, 0, sizeof table->bits);
    for (int i = 0; i < count; i++) {
        int length = 1 + (int)(case_random(seed) % 16);
        while (length < 16 && (1 << (16 - length)) > left - (count - i - 1))
            length++;
        left -= 1 << (16 - length);
        lengths[i] = length;
        const int other = (int)(case_random(seed) % (unsigned)(i + 1));
        const uint8_t symbol = order[i];
        order[i] = order[other];
        order[other] = symbol;
    }
    int at = 0;
    for (int length = 1; length <= 16; length++)
        for (int i = 0; i < count; i++)
            if (lengths[i] == length) {
                table->bits[length]++;
                table->huffval[at++] = order[i];
            }
    table->sent_table = FALSE;
}

static void set_tables(struct jpeg_compress_struct *out, uint64_t *seed)
{
    uint8_t dc[12], ac[162];
    int count = 0;
    for (int i = 0; i < 12; i++)
        dc[i] = (uint8_t)i;
    ac[count++] = 0x00;
    ac[count++] = 0xF0;
    for (int run = 0; run < 16; run++)
        for (int size = 1; size <= 10; size++)
            ac[count++] = (uint8_t)(run << 4 | size);
    for (int i = 0; i < 2; i++) {
        set_table(out->dc_huff_tbl_ptrs[i], dc, 12, seed);
        set_table(out->ac_huff_tbl_ptrs[i], ac, count, seed);
    }
}

/* ---- scans --------------------------------------------------------------------------------------- */

enum { MOST_SCANS = 100 };

typedef struct scan_list {
    jpeg_scan_info scans[MOST_SCANS];
    int count;
} scan_list;

typedef struct band {
    int first, last, high, low;
} band;

/* Of one component. */
static void add(scan_list *list, int component, band b)
{
    list->scans[list->count++] = (jpeg_scan_info){.comps_in_scan = 1,
        .component_index = {component},
        .Ss = b.first,
        .Se = b.last,
        .Ah = b.high,
        .Al = b.low};
}

/* A scan of the DC values of components `first` and up. */
static void add_dc(scan_list *list, int first, int count, int high, int low)
{
    add(list, first, (band){0, 0, high, low});
    list->scans[list->count - 1].comps_in_scan = count;
    for (int i = 0; i < count; i++)
        list->scans[list->count - 1].component_index[i] = first + i;
}

static void list_spectral(scan_list *list, int components)
{
    add_dc(list, 0, components, 0, 0);
    for (int c = 0; c < components; c++) {
        add(list, c, (band){1, 2, 0, 0});
        add(list, c, (band){3, 9, 0, 0});
        add(list, c, (band){10, 63, 0, 0});
    }
}

static void list_deep(scan_list *list, int components)
{
    enum { DEPTH = 5 };
    add_dc(list, 0, components, 0, DEPTH);
    for (int c = 0; c < components; c++)
        add(list, c, (band){1, 63, 0, DEPTH});
    for (int low = DEPTH - 1; low >= 0; low--) {
        for (int c = 0; c < components; c++)
            add(list, c, (band){1, 63, low + 1, low});
        add_dc(list, 0, components, low + 1, low);
    }
}

static void list_apart(scan_list *list, int components)
{
    for (int c = 0; c < components; c++)
        add_dc(list, c, 1, 0, 2);
    for (int c = 0; c < components; c++)
        add(list, c, (band){1, 63, 0, 1});
    for (int low = 1; low >= 0; low--)
        for (int c = components - 1; c >= 0; c--)
            add_dc(list, c, 1, low + 1, low);
    for (int c = components - 1; c >= 0; c--)
        add(list, c, (band){1, 63, 1, 0});
}

static void list_turned(scan_list *list, int components)
{
    for (int c = components - 1; c >= 0; c--) {
        add_dc(list, c, 1, 0, 0);
        add(list, c, (band){6, 63, 0, 2});
        add(list, c, (band){1, 5, 0, 0});
        add(list, c, (band){6, 63, 2, 1});
        add(list, c, (band){6, 63, 1, 0});
    }
}

/* missing[c][b]: bits of band b that are still missing; 14: all. Band 0 is DC. Each band progresses
 * independently, and two neighbours with the same number of missing bits may share a scan. */
static void list_by_chance(scan_list *list, int components, uint64_t *seed)
{
    enum { BANDS = 4, NONE = 14, LARGEST = 6 };
    static const int ends[BANDS + 1] = {0, 1, 4, 20, 64};
    const int many = MOST_SCANS / (components < 4 ? 3 : 10); /* so that there are at most LAP_SCRIPT_SCANS */
    int missing[MAX_COMPS_IN_SCAN][BANDS], left = components * BANDS;
    for (int c = 0; c < MAX_COMPS_IN_SCAN; c++)
        for (int b = 0; b < BANDS; b++)
            missing[c][b] = NONE;
    while (left > 0) {
        const int c = (int)(case_random(seed) % (unsigned)components), b = (int)(case_random(seed) % BANDS);
        const int had = missing[c][b];
        if (had == 0 || (b > 0 && missing[c][0] == NONE))
            continue;
        const bool is_late = list->count > many;
        const int low = had < NONE ? had - 1 : is_late ? 0 : (int)(case_random(seed) % LARGEST);
        int count = 1;
        if (b == 0)
            while (c + count < components && missing[c + count][0] == had && case_random(seed) % 3)
                count++;
        else
            while (b + count < BANDS && missing[c][b + count] == had && case_random(seed) % 2)
                count++;
        const int high = had == NONE ? 0 : had;
        if (b == 0)
            add_dc(list, c, count, high, low);
        else
            add(list, c, (band){ends[b], ends[b + count] - 1, high, low});
        for (int i = 0; i < count; i++)
            missing[b == 0 ? c + i : c][b == 0 ? 0 : b + i] = low;
        left -= low == 0 ? count : 0;
    }
}

static void set_script(
    struct jpeg_compress_struct *out, decode_script script, scan_list *list, uint64_t *seed)
{
    const int components = out->num_components;
    list->count = 0;
    switch (script) {
    case ONE_SCAN:
        return;
    case USUAL_SCANS:
        jpeg_simple_progression(out);
        return;
    case SPECTRAL_SCANS:
        list_spectral(list, components);
        break;
    case DEEP_SCANS:
        list_deep(list, components);
        break;
    case APART_SCANS:
        list_apart(list, components);
        break;
    case TURNED_SCANS:
        list_turned(list, components);
        break;
    case SCANS_BY_CHANCE:
        list_by_chance(list, components, seed);
        break;
    default:
        list_deep(list, components);
        list->count -= 1 + (int)(case_random(seed) % 4);
        break;
    }
    out->scan_info = list->scans;
    out->num_scans = list->count;
}

/* ---- values -------------------------------------------------------------------------------------- */

enum { LARGEST = 1023 };

static int value_by_chance(decode_values kind, int k, uint64_t *seed)
{
    const uint64_t random = case_random(seed);
    const int bits = (int)(random % 11), magnitude = (int)(random >> 16 & ((1u << bits) - 1));
    const int value = random >> 8 & 1 ? magnitude : -magnitude;
    if (kind == VALUES_AT_LIMITS)
        return random % 5 == 0 ? (random >> 8 & 1 ? LARGEST : -LARGEST) : 0;
    if (k == 0)
        return value / 8;
    return (int)(random >> 40 & 63) > k ? value / (1 + k / 2) : k == 63 && random >> 50 & 1 ? 1 : 0;
}

static void put_blocks(struct jpeg_compress_struct *out, jvirt_barray_ptr array, int component,
    decode_values kind, uint64_t *seed)
{
    const jpeg_component_info *info = &out->comp_info[component];
    for (JDIMENSION y = 0; y < info->height_in_blocks; y++) {
        JBLOCKARRAY row = out->mem->access_virt_barray((j_common_ptr)out, array, y, 1, TRUE);
        for (JDIMENSION x = 0; x < info->width_in_blocks; x++)
            for (int k = 0; k < DCTSIZE2; k++)
                row[0][x][k] = (JCOEF)value_by_chance(kind, k, seed);
    }
}

static unsigned divided(int pixels, int h, int most)
{
    return (unsigned)((pixels * h + 8 * most - 1) / (8 * most));
}

static void write_values(struct jpeg_compress_struct *out, const decode_case *c, uint64_t *seed)
{
    jvirt_barray_ptr arrays[MAX_COMPS_IN_SCAN];
    const case_sampling *s = &case_samplings[c->picture.sampling];
    for (int i = 0; i < out->num_components; i++) {
        jpeg_component_info *info = &out->comp_info[i];
        info->width_in_blocks = divided(c->picture.width, info->h_samp_factor, s->h);
        info->height_in_blocks = divided(c->picture.height, info->v_samp_factor, s->v);
        const JDIMENSION h = (JDIMENSION)info->h_samp_factor, v = (JDIMENSION)info->v_samp_factor;
        arrays[i] = out->mem->request_virt_barray((j_common_ptr)out, JPOOL_IMAGE, TRUE,
            (info->width_in_blocks + h - 1) / h * h, (info->height_in_blocks + v - 1) / v * v, v);
    }
    jpeg_write_coefficients(out, arrays);
    for (int i = 0; i < out->num_components; i++)
        put_blocks(out, arrays[i], i, c->values, seed);
}

static void write_pixels(struct jpeg_compress_struct *out, const decode_case *c)
{
    lap_image image;
    if (lap_image_create(&image, c->picture.width, c->picture.height, c->picture.channels, 0, NULL) != LAP_OK)
        abort();
    case_fill(&c->picture, &image.view);
    jpeg_start_compress(out, TRUE);
    while (out->next_scanline < out->image_height) {
        JSAMPROW line = image.view.base + (ptrdiff_t)out->next_scanline * image.view.stride;
        jpeg_write_scanlines(out, &line, 1);
    }
    lap_image_destroy(&image);
}

static void set_wide_quant(struct jpeg_compress_struct *out, uint64_t *seed)
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < DCTSIZE2; k++) {
            const uint64_t random = case_random(seed);
            out->quant_tbl_ptrs[i]->quantval[k] =
                (UINT16)(random % 4 ? 1 + (random >> 8) % 300 : 1 + (random >> 8) % 65535);
        }
}

/* It would warn that 16-bit quantisers are coarse. */
static void say_nothing(j_common_ptr cinfo, int level)
{
    (void)cinfo;
    (void)level;
}

static void set_colours(struct jpeg_compress_struct *out, const decode_case *c)
{
    const case_sampling *s = &case_samplings[c->picture.sampling];
    const bool is_rgb = c->colours == RGB_BY_ADOBE || c->colours == RGB_BY_NAMES || c->colours == ODD_RGB;
    out->input_components = c->picture.channels;
    out->in_color_space = c->picture.channels == 1   ? JCS_GRAYSCALE
                          : c->picture.channels == 3 ? JCS_RGB
                          : has_inks(c)              ? JCS_CMYK
                                                     : JCS_EXT_RGBX;
    jpeg_set_defaults(out);
    if (c->colours == YCCK_OF_ADOBE)
        jpeg_set_colorspace(out, JCS_YCCK);
    if (is_rgb)
        jpeg_set_colorspace(out, JCS_RGB);
    for (int i = 0; i < out->num_components; i++) {
        out->comp_info[i].h_samp_factor = i % 3 ? 1 : s->h;
        out->comp_info[i].v_samp_factor = i % 3 ? 1 : s->v;
        if (is_rgb && c->colours != RGB_BY_NAMES)
            out->comp_info[i].component_id = i + 1;
    }
    if (c->colours != USUAL_COLOURS) {
        out->write_JFIF_header = FALSE;
        out->write_Adobe_marker =
            c->colours != RGB_BY_NAMES && c->colours != YCC_BY_NOTHING && c->colours != CMYK_PLAIN;
    }
}

/* Adobe's segment says 1 for four components, and 2 for three. */
static void make_odd(const decode_case *c, uint8_t *file)
{
    enum { TRANSFORM = 11 };
    size_t at = 2;
    while (memcmp(file + at, "Adobe", 5) != 0)
        at++;
    file[at + TRANSFORM] = c->colours == ODD_INKS ? 1 : 2;
}

uint8_t *decode_file(const decode_case *c, size_t *size)
{
    struct jpeg_compress_struct out = {0};
    struct jpeg_error_mgr error;
    unsigned char *bytes = NULL;
    unsigned long bytes_size = 0;
    uint64_t seed = c->picture.seed;
    out.err = jpeg_std_error(&error);
    error.emit_message = say_nothing;
    jpeg_create_compress(&out);
    jpeg_mem_dest(&out, &bytes, &bytes_size);
    out.image_width = (JDIMENSION)c->picture.width;
    out.image_height = (JDIMENSION)c->picture.height;
    set_colours(&out, c);
    jpeg_set_quality(&out, c->picture.quality, !c->wide_quant);
    out.restart_interval = (unsigned)c->interval;
    scan_list list;
    set_script(&out, c->script, &list, &seed);
    out.optimize_coding = c->tables == OPTIMIZED_TABLES;
    if (c->tables == TABLES_BY_CHANCE)
        set_tables(&out, &seed);
    if (c->wide_quant)
        set_wide_quant(&out, &seed);
    if (c->values == VALUES_OF_PIXELS)
        write_pixels(&out, c);
    else
        write_values(&out, c, &seed);
    jpeg_finish_compress(&out);
    jpeg_destroy_compress(&out);
    if (c->colours >= OUR_COLOURS)
        make_odd(c, bytes);
    *size = bytes_size;
    return bytes;
}

/* ---- libjpeg-turbo ------------------------------------------------------------------------------- */

typedef struct library_error {
    struct jpeg_error_mgr base;
    jmp_buf jump;
} library_error;

static void on_error(j_common_ptr cinfo)
{
    longjmp(((library_error *)(void *)cinfo->err)->jump, 1);
}

static void on_message(j_common_ptr cinfo, int level)
{
    if (level < 0)
        cinfo->err->num_warnings++;
}

/* Converts inks to pixels in place; the result has fewer bytes. */
static void row_of_inks(const struct jpeg_decompress_struct *in, uint8_t *row, bool gray)
{
    for (JDIMENSION x = 0; x < in->output_width; x++) {
        unsigned left[4];
        for (int i = 0; i < 4; i++)
            left[i] = in->saw_Adobe_marker ? row[4 * x + (unsigned)i] : 255U - row[4 * x + (unsigned)i];
        for (int i = 0; i < 3; i++)
            left[i] = (2 * left[i] * left[3] + 255) / 510; /* a quotient that ends in .5 does not occur */
        if (gray)
            row[x] = lap_luma(left[0], left[1], left[2]);
        for (unsigned i = 0; i < 3 && !gray; i++)
            row[3 * x + i] = (uint8_t)left[i];
    }
}

static void read_row(j_decompress_ptr in, bool gray, decode_reference *r)
{
    uint8_t inks[4 * 65535];
    const size_t row = (size_t)r->width * (size_t)r->channels;
    uint8_t *to = r->pixels + (size_t)in->output_scanline * row;
    const bool has_inks = in->out_color_space == JCS_CMYK;
    JSAMPROW line = has_inks ? inks : to;
    jpeg_read_scanlines(in, &line, 1);
    if (has_inks) {
        row_of_inks(in, inks, gray);
        memcpy(to, inks, row);
    }
    r->rows = (int)in->output_scanline;
}

static void read_all(j_decompress_ptr in, const uint8_t *file, size_t size, bool gray, decode_reference *r)
{
    jpeg_mem_src(in, file, size);
    jpeg_read_header(in, TRUE);
    in->out_color_space = in->num_components == 4           ? JCS_CMYK
                          : gray || in->num_components == 1 ? JCS_GRAYSCALE
                                                            : JCS_RGB;
    jpeg_start_decompress(in);
    r->width = (int)in->output_width;
    r->height = (int)in->output_height;
    r->channels = gray || in->num_components == 1 ? 1 : 3;
    r->pixels = calloc((size_t)r->height, (size_t)r->width * (size_t)r->channels);
    while (in->output_scanline < in->output_height)
        read_row(in, gray, r);
    jpeg_finish_decompress(in);
}

void decode_by_library(const uint8_t *file, size_t size, bool gray, decode_reference *r)
{
    struct jpeg_decompress_struct in = {0};
    library_error error;
    *r = (decode_reference){0};
    in.err = jpeg_std_error(&error.base);
    error.base.error_exit = on_error;
    error.base.emit_message = on_message;
    jpeg_create_decompress(&in);
    if (setjmp(error.jump) == 0)
        read_all(&in, file, size, gray, r);
    else
        r->failed = true;
    r->warnings = error.base.num_warnings;
    jpeg_destroy_decompress(&in);
}
