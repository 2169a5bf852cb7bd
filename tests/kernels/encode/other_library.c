/* To be preloaded: a JPEG library that rounds differently, but only in the small pictures with which
 * lapedge tests the library (src/libjpeg/known_picture.c). OTHER names the direction, `encodes` or
 * `decodes`; default: both. With WHERE=large it rounds differently in all pictures but these, so that
 * lapedge does not notice. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlfcn.h>
#include <jpeglib.h>

enum { WIDTH = 37, HEIGHT = 27, CHANNELS = 3 };

static int is_other(const char *direction, JDIMENSION width, JDIMENSION height, JDIMENSION count)
{
    const char *only = getenv("OTHER");
    const int is_small = width == WIDTH && height == HEIGHT;
    return is_small == !getenv("WHERE") && count > 0 && (!only || strcmp(only, direction) == 0);
}

JDIMENSION jpeg_write_scanlines(j_compress_ptr cinfo, JSAMPARRAY lines, JDIMENSION count)
{
    JDIMENSION (*real)(j_compress_ptr, JSAMPARRAY, JDIMENSION);
    static unsigned char other[65500 * CHANNELS];
    JSAMPROW row = other;
    *(void **)&real = dlsym(RTLD_NEXT, "jpeg_write_scanlines");
    if (!is_other("encodes", cinfo->image_width, cinfo->image_height, count) ||
        cinfo->input_components != CHANNELS)
        return real(cinfo, lines, count);
    memcpy(other, lines[0], CHANNELS * (size_t)cinfo->image_width);
    other[0] ^= 64;
    return real(cinfo, &row, 1) + real(cinfo, lines + 1, count - 1);
}

JDIMENSION jpeg_read_scanlines(j_decompress_ptr cinfo, JSAMPARRAY lines, JDIMENSION count)
{
    JDIMENSION (*real)(j_decompress_ptr, JSAMPARRAY, JDIMENSION);
    *(void **)&real = dlsym(RTLD_NEXT, "jpeg_read_scanlines");
    const JDIMENSION got = real(cinfo, lines, count);
    if (is_other("decodes", cinfo->image_width, cinfo->image_height, got))
        lines[0][0] ^= 1;
    return got;
}
