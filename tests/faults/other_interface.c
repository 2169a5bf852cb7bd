/* Preloaded: a libjpeg of another interface than the one that the program was built with, as far as it comes:
 * it refuses the program's objects, by the number that the message has in that interface. With OTHER_SIZE set
 * it refuses their size. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include <jerror.h>

enum { OTHER = JPEG_LIB_VERSION == 62 ? 80 : 62, MORE = 40 };

static void refuse(j_common_ptr cinfo, int version, size_t size)
{
    cinfo->mem = NULL;
    if (getenv("OTHER_SIZE")) {
        cinfo->err->msg_code = JERR_BAD_STRUCT_SIZE + 1;
        cinfo->err->msg_parm.i[0] = (int)size + MORE;
        cinfo->err->msg_parm.i[1] = (int)size;
    } else {
        cinfo->err->msg_code = JERR_BAD_LIB_VERSION + 1;
        cinfo->err->msg_parm.i[0] = OTHER;
        cinfo->err->msg_parm.i[1] = version;
    }
    cinfo->err->error_exit(cinfo);
}

void jpeg_CreateDecompress(j_decompress_ptr cinfo, int version, size_t size)
{
    refuse((j_common_ptr)cinfo, version, size);
}

void jpeg_CreateCompress(j_compress_ptr cinfo, int version, size_t size)
{
    refuse((j_common_ptr)cinfo, version, size);
}
