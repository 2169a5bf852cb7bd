/* To be preloaded: a JPEG library that rounds otherwise in the small pictures by which lapedge finds out
 * whether it does (src/jpeg/known_encoding.c), and in no other. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include <dlfcn.h>
#include <jpeglib.h>

enum { WIDTH = 37, HEIGHT = 27, CHANNELS = 3 };

JDIMENSION jpeg_write_scanlines(j_compress_ptr cinfo, JSAMPARRAY lines, JDIMENSION count)
{
    JDIMENSION (*real)(j_compress_ptr, JSAMPARRAY, JDIMENSION);
    unsigned char other[WIDTH * CHANNELS];
    JSAMPROW row = other;
    *(void **)&real = dlsym(RTLD_NEXT, "jpeg_write_scanlines");
    if (cinfo->image_width != WIDTH || cinfo->image_height != HEIGHT || count == 0 ||
        cinfo->input_components != CHANNELS)
        return real(cinfo, lines, count);
    memcpy(other, lines[0], sizeof other);
    other[0] ^= 64;
    return real(cinfo, &row, 1) + real(cinfo, lines + 1, count - 1);
}
