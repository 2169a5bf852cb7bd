/* JPEGs of every kind for the tests, made by libjpeg from a fixed picture. */
#ifndef JPEG_MAKE_H
#define JPEG_MAKE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

typedef struct jpeg_kind {
    const char *name;
    int components;                         /* of the given pixels: 1, 3 or 4 */
    J_COLOR_SPACE space;                    /* in the file */
    const char *sampling;                   /* "22 11 11": h and v of each component */
    bool progressive, arithmetic, separate; /* separate: a scan for each component */
    int restart;                            /* MCUs */
    bool no_adobe;
} jpeg_kind;

typedef struct jpeg_bytes {
    uint8_t *data;
    unsigned long size;
} jpeg_bytes;

/* Smooth shapes with some noise: every kind of coefficient occurs, and sizes stay small. */
static inline uint8_t jpeg_sample(int x, int y, int c)
{
    uint32_t noise = (uint32_t)x * 73856093u ^ (uint32_t)y * 19349663u ^ (uint32_t)c * 83492791u;
    noise = noise * 1664525u + 1013904223u;
    return (uint8_t)((x * (3 + c) + y * (5 - c) + (x / 9 ^ y / 7) * 16 + (int)(noise >> 28)) & 255);
}

static inline jpeg_bytes jpeg_make(const jpeg_kind *kind, int width, int height)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr error;
    jpeg_bytes out = {NULL, 0};
    memset(&c, 0, sizeof c);
    c.err = jpeg_std_error(&error);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &out.data, &out.size);
    c.image_width = (JDIMENSION)width;
    c.image_height = (JDIMENSION)height;
    c.input_components = kind->components;
    c.in_color_space = kind->components == 1 ? JCS_GRAYSCALE : kind->components == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&c);
    jpeg_set_colorspace(&c, kind->space);
    jpeg_set_quality(&c, 85, TRUE);
    for (int i = 0; i < c.num_components; i++) {
        c.comp_info[i].h_samp_factor = kind->sampling[3 * i] - '0';
        c.comp_info[i].v_samp_factor = kind->sampling[3 * i + 1] - '0';
    }
    if (kind->no_adobe)
        c.write_Adobe_marker = FALSE;
    c.arith_code = kind->arithmetic;
    c.optimize_coding = !kind->arithmetic;
    c.restart_interval = (unsigned)kind->restart;
    jpeg_scan_info scans[4];
    if (kind->separate) {
        for (int i = 0; i < c.num_components; i++)
            scans[i] = (jpeg_scan_info){.comps_in_scan = 1, .component_index = {i}, .Se = 63};
        c.scan_info = scans;
        c.num_scans = c.num_components;
    }
    if (kind->progressive)
        jpeg_simple_progression(&c);
    jpeg_start_compress(&c, TRUE);
    uint8_t *row = malloc((size_t)width * 4);
    for (int y = 0; y < height; y++) {
        for (int i = 0; i < width * kind->components; i++)
            row[i] = jpeg_sample(i / kind->components, y, i % kind->components);
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    free(row);
    return out;
}

#endif
