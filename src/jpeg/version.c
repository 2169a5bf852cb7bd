#include <stdio.h>

#include <jpeglib.h>
#if LAP_HAVE_PNG
#include <png.h>
#endif
#include <xxhash.h>

#include "lapedge.h"

#define TEXT_OF(token) #token
#define TEXT(macro) TEXT_OF(macro)

#if defined(__clang__)
#define COMPILER "clang " TEXT(__clang_major__) "." TEXT(__clang_minor__) "." TEXT(__clang_patchlevel__)
#else
#define COMPILER "gcc " __VERSION__
#endif

#if defined(LIBJPEG_TURBO_VERSION)
#define JPEG "libjpeg-turbo " TEXT(LIBJPEG_TURBO_VERSION)
#else
#define JPEG "libjpeg " TEXT(JPEG_LIB_VERSION)
#endif

#if LAP_HAVE_PNG
#define PNG "libpng " PNG_LIBPNG_VER_STRING
#else
#define PNG "libpng: not built in, PNG is not read"
#endif

#if LAP_HAVE_STB
#define STB "stb_image_write"
#else
#define STB "stb_image_write: not built in, PNG, BMP and TGA are not written"
#endif

#define XXHASH "xxHash " TEXT(XXH_VERSION_MAJOR) "." TEXT(XXH_VERSION_MINOR) "." TEXT(XXH_VERSION_RELEASE)

#if LAP_HAVE_OPENMP
#define OPENMP "OpenMP"
#else
#define OPENMP "OpenMP: not built in"
#endif

#if LAP_HAVE_CUDA
#define CUDA "CUDA"
#else
#define CUDA "CUDA: not built in"
#endif

const char *lap_version(void)
{
    return LAP_VERSION;
}

int lap_version_number(void)
{
    return LAP_VERSION_NUMBER;
}

const char *lap_build_info(void)
{
    return COMPILER "\n" JPEG "\n" PNG "\n" STB "\n" XXHASH "\n" OPENMP "\n" CUDA;
}
