/* Runs a fuzz target without libFuzzer: over images made here, their mutants from a fixed seed, the inputs of
 * tests/fuzz/kept/TARGET.hex, and the files under LAPEDGE_CORPUS. With a folder as argument it writes the
 * made and the kept ones there instead, as seeds. Prints TAP; a fault ends the program, which tests/run
 * counts as a failure.
 *
 * A file of kept inputs has one in each line, in hexadecimal: what libFuzzer found new ways through the
 * target with, from the seeds made here (tools/test/keep-fuzz). */
#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>
#if LAP_HAVE_PNG
#include <png.h>
#endif

#include "fuzz.h"
#include "tests/support/edge.h"
#include "tests/support/jpeg_make.h"

enum { MUTANTS = 3000 };
#if FUZZ_MEMORY
#include <stdatomic.h>
extern _Atomic size_t fuzz_largest; /* largest.c */
enum { MOST_MEMORY = 48 << 20 };    /* the targets set limits of 16 and 32 MB to what is decoded */
#endif

static const jpeg_kind kinds[] = {
    {.name = "gray", .components = 1, .space = JCS_GRAYSCALE, .sampling = "11"},
    {.name = "ycc444", .components = 3, .space = JCS_YCbCr, .sampling = "11 11 11"},
    {.name = "ycc420", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .restart = 2},
    {.name = "ycc410", .components = 3, .space = JCS_YCbCr, .sampling = "42 11 11"},
    {.name = "scans", .components = 3, .space = JCS_YCbCr, .sampling = "21 11 11", .separate = true},
    {.name = "progressive", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .progressive = true},
    {.name = "progressive restarts",
        .components = 3,
        .space = JCS_YCbCr,
        .sampling = "11 11 11",
        .progressive = true,
        .restart = 4},
    {.name = "progressive gray",
        .components = 1,
        .space = JCS_GRAYSCALE,
        .sampling = "11",
        .progressive = true},
    {.name = "arithmetic", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .arithmetic = true},
    {.name = "rgb", .components = 3, .space = JCS_RGB, .sampling = "11 11 11"},
    {.name = "cmyk", .components = 4, .space = JCS_CMYK, .sampling = "11 11 11 11"},
    {.name = "ycck", .components = 4, .space = JCS_YCCK, .sampling = "22 11 11 22", .progressive = true},
};
enum { KINDS = sizeof kinds / sizeof *kinds, ALL = KINDS + 2 };

/* With a small EXIF segment behind the start marker, so that its bytes are met too. */
static jpeg_bytes make(int k)
{
    static const uint8_t exif[] = "\xFF\xE1\0\x4C"
                                  "Exif\0\0II*\0\x08\0\0\0"
                                  "\2\0"
                                  "\x12\1\3\0\1\0\0\0\6\0\0\0"
                                  "\x69\x87\4\0\1\0\0\0\x26\0\0\0"
                                  "\x38\0\0\0"
                                  "\1\0"
                                  "\2\xA0\3\0\1\0\0\0\x10\0\0\0"
                                  "\0\0\0\0"
                                  "\1\0"
                                  "\1\2\4\0\1\0\0\0\x10\0\0";
    jpeg_bytes plain = jpeg_make(&kinds[k], 37, 21), jpeg = {NULL, 0};
    jpeg.size = plain.size + sizeof exif;
    jpeg.data = malloc(jpeg.size);
    memcpy(jpeg.data, plain.data, 2);
    memcpy(jpeg.data + 2, exif, sizeof exif);
    memcpy(jpeg.data + 2 + sizeof exif, plain.data + 2, plain.size - 2);
    free(plain.data);
    return jpeg;
}

/* The other formats recognised by content: a small PNM, and a PNG. */
static jpeg_bytes make_other(int k)
{
    static const char pnm[] = "P6 # a comment\n5 3\n255\n0123456789abcdefghijklmnopqrstuvwxyz0123456789";
    jpeg_bytes made = {malloc(4096), sizeof pnm - 1};
    memcpy(made.data, pnm, sizeof pnm - 1);
#if LAP_HAVE_PNG
    png_alloc_size_t size = 4096;
    png_image image = {.version = PNG_IMAGE_VERSION, .width = 5, .height = 3, .format = PNG_FORMAT_RGB};
    if (k && png_image_write_to_memory(&image, made.data, &size, 0, pnm + 10, 0, NULL))
        made.size = size;
#else
    (void)k;
#endif
    return made;
}

/* Targets of text bring their own beginnings. */
__attribute__((weak)) extern const char *const fuzz_texts[];

static int kinds_count(void)
{
    int count = 0;
    if (!fuzz_texts)
        return ALL;
    while (fuzz_texts[count])
        count++;
    return count;
}

static jpeg_bytes make_any(int k)
{
    if (fuzz_texts) {
        jpeg_bytes text = {(uint8_t *)strdup(fuzz_texts[k]), strlen(fuzz_texts[k])};
        return text;
    }
    return k < KINDS ? make(k) : make_other(k - KINDS);
}

/* The target may keep to the letter of its contract: behind size bytes nothing may be read. */
static void call(const uint8_t *data, size_t size)
{
    const uint8_t *copy = at_edge(data, size);
#if FUZZ_MEMORY
    atomic_store(&fuzz_largest, 0);
#endif
    LLVMFuzzerTestOneInput(copy, size);
#if FUZZ_MEMORY
    FUZZ_REQUIRE(atomic_load(&fuzz_largest) <= MOST_MEMORY + size);
#endif
}

static void run_mutants(void)
{
    uint32_t seed = 12345;
    for (int i = 0; i < MUTANTS; i++) {
        jpeg_bytes jpeg = make_any(i % kinds_count());
        for (int n = i % 7; n > 0; n--) {
            seed = seed * 1664525u + 1013904223u;
            uint32_t at = seed >> 4;
            /* Half of the changes hit the first 200 bytes: headers. */
            at %= n & 1 && jpeg.size > 200 ? 200 : (uint32_t)jpeg.size;
            seed = seed * 1664525u + 1013904223u;
            jpeg.data[at] = (uint8_t)(seed >> 24);
        }
        seed = seed * 1664525u + 1013904223u;
        call(jpeg.data, i % 5 == 4 ? (seed >> 8) % jpeg.size : jpeg.size);
        free(jpeg.data);
    }
}

static int run_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1);
    int good = file && data && fread(data, 1, size, file) == size;
    if (good)
        call(data, size);
    if (file)
        fclose(file);
    free(data);
    return good;
}

static int run_corpus(char *root)
{
    char *roots[] = {root, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    int files = 0;
    if (!tree)
        return 0;
    for (FTSENT *entry; (entry = fts_read(tree)) != NULL;)
        if (entry->fts_info == FTS_F)
            files += run_file(entry->fts_path, (size_t)entry->fts_statp->st_size);
    fts_close(tree);
    return files;
}

/* FOLDER/NAME, or FOLDER/NAMENUMBER where the number is not negative. */
static void write_seed(const char *folder, const char *name, int number, const jpeg_bytes *bytes)
{
    char path[4096];
    snprintf(path, sizeof path, number < 0 ? "%s/%s" : "%s/%s%d", folder, name, number);
    FILE *file = fopen(path, "wb");
    const int good = file && fwrite(bytes->data, 1, bytes->size, file) == bytes->size;
    if (!file || fclose(file) != 0 || !good) {
        perror(path);
        exit(1);
    }
}

/* The next line of a file of kept inputs as bytes; false at the end. */
static int read_kept(FILE *kept, char **line, size_t *room, jpeg_bytes *bytes)
{
    const ssize_t length = getline(line, room, kept);
    bytes->size = length > 0 ? (size_t)length / 2 : 0;
    bytes->data = malloc(bytes->size + 1);
    for (size_t i = 0; length > 0 && i < bytes->size; i++) {
        unsigned value = 0;
        FUZZ_REQUIRE(sscanf(*line + 2 * i, "%2x", &value) == 1);
        bytes->data[i] = (uint8_t)value;
    }
    if (length <= 0)
        free(bytes->data);
    return length > 0;
}

/* Each of them to the target, or into a file of the folder. */
static int use_kept(const char *folder)
{
    FILE *kept = fopen("tests/fuzz/kept/" FUZZ_TARGET ".hex", "r");
    char *line = NULL;
    size_t room = 0;
    int count = 0;
    jpeg_bytes bytes;
    while (kept && read_kept(kept, &line, &room, &bytes)) {
        count++;
        if (folder)
            write_seed(folder, "kept", count, &bytes);
        else
            call(bytes.data, bytes.size);
        free(bytes.data);
    }
    free(line);
    if (kept)
        fclose(kept);
    return count;
}

static int write_seeds(const char *folder)
{
    for (int k = 0; k < kinds_count(); k++) {
        jpeg_bytes made = make_any(k);
        const char *name = fuzz_texts ? "text" : k < KINDS ? kinds[k].name : k == KINDS ? "pnm" : "png";
        write_seed(folder, name, fuzz_texts ? k : -1, &made);
        free(made.data);
    }
    use_kept(folder);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return write_seeds(argv[1]);
    char *corpus = getenv("LAPEDGE_CORPUS");
    printf("1..3\n");
    fflush(stdout);
    run_mutants();
    printf("ok 1 - %d made and mutated images\n", MUTANTS);
    fflush(stdout);
    const int kept = use_kept(NULL);
    printf("%s 2 - %d kept inputs\n", kept ? "ok" : "not ok", kept);
    fflush(stdout);
    if (!corpus) {
        printf("ok 3 - files of the corpus # SKIP LAPEDGE_CORPUS is not set\n");
        return kept == 0;
    }
    int files = run_corpus(corpus);
    printf("%s 3 - %d files of the corpus\n", files ? "ok" : "not ok", files);
    return files == 0 || kept == 0;
}
