#include <ctype.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>
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
#define JPEG_BUILT "libjpeg-turbo " TEXT(LIBJPEG_TURBO_VERSION)
#else
#define JPEG_BUILT "libjpeg " TEXT(JPEG_LIB_VERSION)
#endif

#if LAP_HAVE_PNG
#define PNG_BUILT "libpng " PNG_LIBPNG_VER_STRING
#else
#define PNG_BUILT "libpng: not built in, PNG is not read"
#endif

#if LAP_HAVE_STB
#define STB "stb_image_write"
#else
#define STB "stb_image_write: not built in, PNG, BMP and TGA are not written"
#endif

#define XXHASH_BUILT \
    "xxHash " TEXT(XXH_VERSION_MAJOR) "." TEXT(XXH_VERSION_MINOR) "." TEXT(XXH_VERSION_RELEASE)

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

/* ---- the loaded libraries, which may be newer than those of the build ---------------------------------- */

typedef struct library {
    const char *inside; /* an address inside the library */
    bool is_linked_in;  /* statically: the library that lapedge was built with */
    char name[64];      /* "libjpeg-turbo 2.1.5"; empty: unknown */
} library;

static char build_info[800];

/* libjpeg-turbo and mozjpeg have no call that returns their version. But their constants contain a text to
 * search for: "libjpeg-turbo version 2.1.5 (build 20230203)". */
__attribute__((no_sanitize("address"))) static void search(library *l, const char *text, size_t size)
{
    static const char *const names[] = {"libjpeg-turbo", "mozjpeg"};
    static const char middle[] = " version ";
    const size_t more = sizeof middle - 1;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        const size_t length = strlen(names[n]);
        for (size_t i = 0; i + length + more + 16 < size; i++) {
            size_t k = 0, end = i + length + more;
            while (k < length + more && text[i + k] == (k < length ? names[n][k] : middle[k - length]))
                k++;
            if (k < length + more || !isdigit((unsigned char)text[end]))
                continue;
            while (end < size && end < i + 48 && (isalnum((unsigned char)text[end]) || text[end] == '.'))
                end++;
            snprintf(l->name, sizeof l->name, "%s %.*s", names[n], (int)(end - i - length - more),
                text + i + length + more);
            return;
        }
    }
}

static bool is_in(const struct dl_phdr_info *info, const char *address)
{
    bool is_it = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const char *begin = (const char *)(info->dlpi_addr + p->p_vaddr);
        is_it |= p->p_type == PT_LOAD && address >= begin && address < begin + p->p_memsz;
    }
    return is_it;
}

static int look_into(struct dl_phdr_info *info, size_t size, void *argument)
{
    library *l = argument;
    const bool is_it = is_in(info, l->inside);
    (void)size;
    l->is_linked_in = is_it && is_in(info, build_info);
    for (int i = 0; is_it && !l->is_linked_in && i < info->dlpi_phnum && !*l->name; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_R) && !(p->p_flags & PF_W))
            search(l, (const char *)(info->dlpi_addr + p->p_vaddr), p->p_filesz);
    }
    return is_it;
}

static void jpeg_that_runs(library *l)
{
    struct jpeg_error_mgr error;
    jpeg_std_error(&error);
    l->inside = error.jpeg_message_table[JMSG_VERSION];
    (void)dl_iterate_phdr(look_into, l);
    if (l->is_linked_in)
        snprintf(l->name, sizeof l->name, "%s", JPEG_BUILT);
    else if (!*l->name) /* the Independent JPEG Group's: "9e  16-Jan-2022" */
        snprintf(l->name, sizeof l->name, "libjpeg %.*s", (int)strcspn(l->inside, " "), l->inside);
}

/* ---- all lines ------------------------------------------------------------------------------------ */

/* Adds a line: the loaded library, and the one that lapedge was built with, if it is different. */
static void add(const char *runs, const char *built)
{
    const size_t length = strlen(build_info);
    const bool same = strcmp(runs, built) == 0;
    snprintf(build_info + length, sizeof build_info - length, "%s%s%s%s%s", length ? "\n" : "", runs,
        same ? "" : " (built with ", same ? "" : built, same ? "" : ")");
}

static void compose(void)
{
    library jpeg = {.name = ""};
    char png[64] = PNG_BUILT, xxhash[64];
    const unsigned n = XXH_versionNumber();
    jpeg_that_runs(&jpeg);
#if LAP_HAVE_PNG
    snprintf(png, sizeof png, "libpng %s", png_get_libpng_ver(NULL));
#endif
    snprintf(xxhash, sizeof xxhash, "xxHash %u.%u.%u", n / 10000, n / 100 % 100, n % 100);
    add(COMPILER, COMPILER);
    add(jpeg.name, JPEG_BUILT);
    add(png, PNG_BUILT);
    add(STB, STB);
    add(xxhash, XXHASH_BUILT);
    add(OPENMP, OPENMP);
    add(CUDA, CUDA);
}

const char *lap_build_info(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, compose);
    return build_info;
}
