/* The lines about the compiler and the libraries, beside what the libraries' own headers and files say. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jpeglib.h>
#if LAP_HAVE_PNG
#include <png.h>
#endif
#include <xxhash.h>

#include "lapedge.h"

#define TEXT_OF(token) #token
#define TEXT(macro) TEXT_OF(macro)

/* Searches the library's file for "libjpeg-turbo version 2.1.5 (build ...". False: it is not there. */
static bool jpeg_in_file(char name[64])
{
    static const char says[] = "libjpeg-turbo version ";
    Dl_info info;
    struct jpeg_error_mgr *(*const function)(struct jpeg_error_mgr *) = jpeg_std_error;
    void *address;
    memcpy(&address, &function, sizeof address);
    assert_true(dladdr(address, &info) != 0);
    FILE *f = fopen(info.dli_fname, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    const size_t size = (size_t)ftell(f);
    char *bytes = malloc(size);
    assert_non_null(bytes);
    rewind(f);
    assert_int_equal(fread(bytes, 1, size, f), size);
    fclose(f);
    const char *at = memmem(bytes, size, says, sizeof says - 1);
    /* a program that has the library inside has other texts like this one */
    const bool is_found = at && strstr(info.dli_fname, ".so");
    if (is_found)
        snprintf(
            name, 64, "libjpeg-turbo %.*s", (int)strcspn(at + sizeof says - 1, " "), at + sizeof says - 1);
    free(bytes);
    return is_found;
}

static void add(char *text, const char *runs, const char *built)
{
    char line[200];
    snprintf(line, sizeof line, strcmp(runs, built) == 0 ? "%s%s" : "%s%s (built with %s)", *text ? "\n" : "",
        runs, built);
    strcat(text, line);
}

static void lines_agree_with_the_libraries(void **state)
{
    (void)state;
    char expected[800] = "", jpeg[64], png[64], xxhash[64], built[64];
    const unsigned n = XXH_versionNumber();
#ifdef __clang__
    snprintf(built, sizeof built, "clang %d.%d.%d", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    snprintf(built, sizeof built, "gcc %s", __VERSION__);
#endif
    add(expected, built, built);
#ifdef LIBJPEG_TURBO_VERSION
    snprintf(built, sizeof built, "libjpeg-turbo %s", TEXT(LIBJPEG_TURBO_VERSION));
#else
    skip();
#endif
    if (!jpeg_in_file(jpeg))
        skip();
    add(expected, jpeg, built);
#if LAP_HAVE_PNG
    snprintf(png, sizeof png, "libpng %s", png_get_libpng_ver(NULL));
    add(expected, png, "libpng " PNG_LIBPNG_VER_STRING);
#else
    snprintf(png, sizeof png, "libpng: not built in, PNG is not read");
    add(expected, png, png);
#endif
    const char *stb =
        LAP_HAVE_STB ? "stb_image_write" : "stb_image_write: not built in, PNG, BMP and TGA are not written";
    const char *openmp = LAP_HAVE_OPENMP ? "OpenMP" : "OpenMP: not built in";
    const char *cuda = LAP_HAVE_CUDA ? "CUDA" : "CUDA: not built in";
    add(expected, stb, stb);
    snprintf(xxhash, sizeof xxhash, "xxHash %u.%u.%u", n / 10000, n / 100 % 100, n % 100);
    snprintf(
        built, sizeof built, "xxHash %d.%d.%d", XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE);
    add(expected, xxhash, built);
    add(expected, openmp, openmp);
    add(expected, cuda, cuda);
    for (int i = 0; i < 2; i++) /* the second call adds nothing */
        assert_string_equal(lap_build_info(), expected);
    assert_string_equal(lap_version(), LAP_VERSION);
    assert_int_equal(lap_version_number(), LAP_VERSION_NUMBER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_agree_with_the_libraries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
