/* To be preloaded: a JPEG library that makes another file of the small picture by which lapedge finds out
 * whether it rounds as the device does (src/device/known_codec.c), and of no other. */
#define _GNU_SOURCE
#include <stdio.h>

#include <dlfcn.h>
#include <jpeglib.h>

enum { WIDTH = 61, HEIGHT = 45 };

void jpeg_set_quality(j_compress_ptr cinfo, int quality, boolean force)
{
    void (*real)(j_compress_ptr, int, boolean);
    *(void **)&real = dlsym(RTLD_NEXT, "jpeg_set_quality");
    real(cinfo, quality - (cinfo->image_width == WIDTH && cinfo->image_height == HEIGHT), force);
}
