#include "make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

unsigned make_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

const char *make_sampling_name(make_sampling sampling)
{
    static const char *const names[] = {"gray", "4:4:4", "4:2:2", "4:2:0", "4:4:0", "4:1:1"};
    return names[sampling];
}

const char *make_name(const make_kind *k)
{
    static const char *const tables[] = {"standard", "optimised", "longest", "mixed"};
    static const char *const contents[] = {"photo", "noise", "flat", "stripes"};
    static char text[160];
    snprintf(text, sizeof text, "%dx%d %s quality %d restart %d tables %s %s seed %u", k->width, k->height,
        make_sampling_name(k->sampling), k->quality, k->restart, tables[k->tables], contents[k->content],
        k->seed);
    return text;
}

static uint8_t sample(const make_kind *kind, int x, int y, int c)
{
    uint32_t noise = (uint32_t)x * 73856093u ^ (uint32_t)y * 19349663u ^ (uint32_t)c * 83492791u ^ kind->seed;
    noise = noise * 1664525u + 1013904223u;
    noise ^= noise >> 15;
    noise *= 2246822519u;
    switch (kind->content) {
    case NOISE:
        return (uint8_t)(noise >> 24);
    case FLAT:
        return (uint8_t)(kind->seed * 40 + 128 + c * 3);
    case STRIPES:
        return (x / 3 + y / 5) % 2 ? 255 : 0;
    default:
        return (uint8_t)((x * (3 + c) + y * (5 - c) + (x / 9 ^ y / 7) * 16 + (int)(noise >> 28)) & 255);
    }
}

/* Replaces a table's codes: first_length bits for the first symbol, the others as `spread` says. */
static void set_codes(JHUFF_TBL *t, bool is_dc, bool is_mixed, unsigned *seed)
{
    const int count = is_dc ? 12 : 256;
    memset(t->bits, 0, sizeof t->bits);
    for (int i = 0; i < count; i++) /* a permutation */
        t->huffval[i] = (UINT8)i;
    for (int i = count - 1; i > 0; i--) {
        const int j = (int)(make_random(seed) % (unsigned)(i + 1));
        const UINT8 swap = t->huffval[i];
        t->huffval[i] = t->huffval[j];
        t->huffval[j] = swap;
    }
    if (!is_mixed) {
        t->bits[1] = 1;
        t->bits[16] = (UINT8)(count - 1);
    } else if (is_dc) {
        t->bits[2] = 1;
        t->bits[4] = 3;
        t->bits[11] = 4;
        t->bits[13] = 4;
    } else {
        t->bits[3] = 3;
        t->bits[6] = 10;
        t->bits[9] = 43;
        t->bits[11] = 80;
        t->bits[12] = 60;
        t->bits[15] = 60;
    }
}

static void set_tables(struct jpeg_compress_struct *c, const make_kind *kind)
{
    unsigned seed = kind->seed + 17;
    c->optimize_coding = kind->tables == OPTIMISED;
    for (int i = 0; i < 2 && (kind->tables == LONGEST || kind->tables == MIXED); i++) {
        set_codes(c->dc_huff_tbl_ptrs[i], true, kind->tables == MIXED, &seed);
        set_codes(c->ac_huff_tbl_ptrs[i], false, kind->tables == MIXED, &seed);
    }
}

static void set_up(struct jpeg_compress_struct *c, const make_kind *kind)
{
    static const int h[] = {1, 1, 2, 2, 1, 4}, v[] = {1, 1, 1, 2, 2, 1};
    c->image_width = (JDIMENSION)kind->width;
    c->image_height = (JDIMENSION)kind->height;
    c->input_components = kind->sampling == GRAY ? 1 : 3;
    c->in_color_space = kind->sampling == GRAY ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(c);
    jpeg_set_quality(c, kind->quality, TRUE);
    c->comp_info[0].h_samp_factor = h[kind->sampling];
    c->comp_info[0].v_samp_factor = v[kind->sampling];
    c->restart_interval = (unsigned)kind->restart;
    set_tables(c, kind);
}

make_bytes make_jpeg(const make_kind *kind)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr error;
    make_bytes out = {NULL, 0};
    memset(&c, 0, sizeof c);
    c.err = jpeg_std_error(&error);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &out.data, &out.size);
    set_up(&c, kind);
    jpeg_start_compress(&c, TRUE);
    uint8_t *row = malloc((size_t)kind->width * 3);
    for (int y = 0; row && y < kind->height; y++) {
        for (int i = 0; i < kind->width * c.input_components; i++)
            row[i] = sample(kind, i / c.input_components, y, i % c.input_components);
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    free(row);
    return out;
}

static void set_values(
    struct jpeg_compress_struct *c, jvirt_barray_ptr *arrays, make_value_fn *value, unsigned seed)
{
    for (int i = 0; i < c->num_components; i++) {
        const jpeg_component_info *info = &c->comp_info[i];
        for (JDIMENSION y = 0; y < info->height_in_blocks; y++) {
            JBLOCKARRAY rows = c->mem->access_virt_barray((j_common_ptr)c, arrays[i], y, 1, TRUE);
            for (JDIMENSION x = 0; x < info->width_in_blocks; x++)
                for (int k = 0; k < DCTSIZE2; k++)
                    rows[0][x][k] = (JCOEF)value(i, (int)(y * info->width_in_blocks + x), k, seed);
        }
    }
}

static make_bytes write_values(const make_kind *kind, int quant, make_value_fn *value, bool zeros)
{
    static const int h[] = {1, 1, 2, 2, 1}, v[] = {1, 1, 1, 2, 2};
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr error;
    jvirt_barray_ptr arrays[3];
    unsigned flat[DCTSIZE2];
    make_bytes out = {NULL, 0};
    memset(&c, 0, sizeof c);
    c.err = jpeg_std_error(&error);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &out.data, &out.size);
    set_up(&c, kind);
    for (int k = 0; k < DCTSIZE2; k++)
        flat[k] = (unsigned)quant;
    jpeg_add_quant_table(&c, 0, flat, 100, FALSE);
    jpeg_add_quant_table(&c, 1, flat, 100, FALSE);
    for (int i = 0; i < c.num_components; i++) {
        const JDIMENSION across =
            (JDIMENSION)((kind->width + 8 * h[kind->sampling] - 1) / (8 * h[kind->sampling]));
        const JDIMENSION down =
            (JDIMENSION)((kind->height + 8 * v[kind->sampling] - 1) / (8 * v[kind->sampling]));
        arrays[i] = c.mem->request_virt_barray((j_common_ptr)&c, JPOOL_IMAGE, TRUE,
            across * (JDIMENSION)c.comp_info[i].h_samp_factor,
            down * (JDIMENSION)c.comp_info[i].v_samp_factor, (JDIMENSION)c.comp_info[i].v_samp_factor);
    }
    for (int i = 0; zeros && i < 2; i++) { /* a 0 for what occurs, and 16 bits for the rest */
        unsigned seed = 1;
        set_codes(c.dc_huff_tbl_ptrs[i], true, false, &seed);
        set_codes(c.ac_huff_tbl_ptrs[i], false, false, &seed);
        for (int j = 0; j < 12; j++)
            c.dc_huff_tbl_ptrs[i]->huffval[j] = (UINT8)j;
        for (int j = 0; j < 256; j++)
            c.ac_huff_tbl_ptrs[i]->huffval[j] = (UINT8)(j ^ (i + 1)); /* size 1 or 2 comes first */
    }
#if JPEG_LIB_VERSION >= 70 /* interface 80 writes these into the header */
    c.jpeg_width = c.image_width;
    c.jpeg_height = c.image_height;
#endif
    jpeg_write_coefficients(&c, arrays);
    set_values(&c, arrays, value, kind->seed);
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return out;
}

make_bytes make_from_values(const make_kind *kind, int quant, make_value_fn *value)
{
    return write_values(kind, quant, value, false);
}

static int never_in_step(int component, int block, int k, unsigned seed)
{
    (void)block;
    (void)seed;
    return k == 0 ? 0 : component ? -3 : -1;
}

make_bytes make_out_of_step(int width, int height)
{
    const make_kind kind = {width, height, S422, 90, 0, STANDARD, FLAT, 0};
    return write_values(&kind, 1, never_in_step, true);
}
