/* Decodes every file that verdicts.tsv lists, under the default limits, and compares what became of it.
 * Takes the folder from LAPEDGE_CORPUS. `verdicts FOLDER` prints the table as it would be today.
 * A third test compares the pixels of what was accepted with djpeg's. Prints TAP.
 * `verdicts FOLDER COUNT SEED` prints a line for each file and for COUNT damaged variants of it: verdict,
 * message, hash of the pixels. tests/fuzz/versions compares these lines between versions of libjpeg-turbo. */
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "run/formats.h"

static const char table_path[] = "tests/fuzz/corpus/verdicts.tsv";

typedef struct result {
    lap_error err;
    lap_damage damage;
    uint8_t *pixels;
    size_t size;
    bool is_jpeg;
} result;

/* The kind as the table spells it: ok, warned, or the error's. */
static const char *decode_source(lap_source *source, lap_code code, result *r)
{
    lap_decoder *decoder = NULL;
    lap_settings defaults = lap_settings_default();
    lap_read_options options = {.max_pixels = defaults.max_pixels,
        .max_memory = defaults.max_memory,
        .max_scans = defaults.max_scans,
        .fail_on = defaults.fail_on};
    if (code == LAP_OK)
        code = lap_decoder_open(source, &options, &decoder, &r->err);
    if (code == LAP_OK) {
        const lap_header *h = lap_decoder_header(decoder);
        r->is_jpeg = strcmp(h->format, "jpeg") == 0;
        r->size = (size_t)h->width * (size_t)h->height * (size_t)h->channels;
        r->pixels = malloc(r->size);
        lap_view view = {.base = r->pixels,
            .stride = (ptrdiff_t)h->width * h->channels,
            .width = h->width,
            .height = h->height,
            .channels = h->channels,
            .place = LAP_ON_HOST};
        code = r->pixels ? lap_decoder_rows(decoder, &view, &r->err) : LAP_E_MEMORY;
        if (code == LAP_OK)
            code = lap_decoder_finish(decoder, &r->damage, &r->err);
    }
    lap_decoder_close(decoder);
    lap_source_close(source);
    return code != LAP_OK ? lap_code_name(code) : r->damage.warnings ? "warned" : "ok";
}

static const char *decode(const char *path, result *r)
{
    lap_source *source = NULL;
    memset(r, 0, sizeof *r);
    lap_code code = lap_source_open(path, &source, &r->err);
    return decode_source(source, code, r);
}

static bool is_as_djpeg(const char *path, const result *r)
{
    char command[4200];
    int width, height, depth;
    snprintf(command, sizeof command, "djpeg -dct int -pnm '%s' 2>/dev/null", path);
    FILE *pipe = popen(command, "r");
    uint8_t *pixels = malloc(r->size + 1);
    bool same = pipe && pixels && fscanf(pipe, "P%*c %d %d %d", &width, &height, &depth) == 3 &&
                fgetc(pipe) == '\n' && fread(pixels, 1, r->size + 1, pipe) == r->size &&
                memcmp(pixels, r->pixels, r->size) == 0;
    if (pipe)
        pclose(pipe);
    free(pixels);
    return same;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Calls each(path, path below root) for every .jpg; returns their number. */
static int walk(char *root, void (*each)(const char *path, const char *name))
{
    char *roots[] = {root, NULL};
    int files = 0;
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    for (FTSENT *entry; tree && (entry = fts_read(tree)) != NULL;) {
        const char *dot = strrchr(entry->fts_name, '.');
        if (entry->fts_info != FTS_F || !dot || (strcmp(dot, ".jpg") != 0 && strcmp(dot, ".jpeg") != 0))
            continue;
        if (each)
            each(entry->fts_path, entry->fts_path + strlen(root) + 1);
        files++;
    }
    if (tree)
        fts_close(tree);
    return files;
}

static void print_row(const char *path, const char *name)
{
    result r;
    printf("%s\t%s\n", name, decode(path, &r));
    free(r.pixels);
}

/* ---- damaged variants ----------------------------------------------------------------------------- */

static int variants;
static uint32_t seed;

static uint32_t random_below(size_t count)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)seed * count) >> 32);
}

/* One bit flipped, or 16 bytes overwritten, or an end cut off, or some bytes put in or taken out; returns the
 * new size. There is room for 16 bytes more. */
static size_t damage(uint8_t *bytes, size_t size)
{
    const size_t at = random_below(size), count = 1 + random_below(16);
    switch (random_below(8)) {
    case 0:
        return at;
    case 1:
        for (size_t i = at; i < size && i < at + 16; i++)
            bytes[i] = (uint8_t)random_below(255);
        return size;
    case 2:
        memmove(bytes + at + count, bytes + at, size - at);
        for (size_t i = 0; i < count; i++)
            bytes[at + i] = (uint8_t)random_below(255);
        return size + count;
    case 3:
        if (size - at <= count)
            return at;
        memmove(bytes + at, bytes + at + count, size - at - count);
        return size - count;
    default:
        bytes[at] ^= (uint8_t)(1 << random_below(8));
        return size;
    }
}

static void print_variant(const uint8_t *bytes, size_t size, const char *name, int number)
{
    lap_source *source = NULL;
    result r = {.size = 0};
    lap_code code = lap_source_memory(bytes, size, "x", &source, &r.err);
    const char *kind = decode_source(source, code, &r);
    const bool is_accepted = strcmp(kind, "ok") == 0 || strcmp(kind, "warned") == 0;
    printf("%s#%d\t%s\t%s%s\t%016llx\n", name, number, kind, r.err.message, r.damage.first,
        is_accepted ? (unsigned long long)XXH3_64bits(r.pixels, r.size) : 0);
    free(r.pixels);
}

static void print_variants(const char *path, const char *name)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        exit(1);
    const size_t size = (size_t)ftell(file);
    uint8_t *whole = malloc(size + 1), *bytes = malloc(size + 17);
    rewind(file);
    if (!whole || !bytes || fread(whole, 1, size, file) != size)
        exit(1);
    fclose(file);
    for (int number = 0; number <= (size > 0 ? variants : 0); number++) {
        memcpy(bytes, whole, size);
        print_variant(bytes, number == 0 ? size : damage(bytes, size), name, number);
    }
    free(whole);
    free(bytes);
}

static int check(char *root)
{
    bool has_djpeg = system("djpeg -version >/dev/null 2>&1") == 0;
    int rows = 0, changed = 0, other_pixels = 0, compared = 0;
    char line[1024], path[4096];
    FILE *table = fopen(table_path, "r");
    if (!table) {
        printf("Bail out! %s: cannot be opened\n", table_path);
        return 1;
    }
    printf("1..3\n");
    while (fgets(line, sizeof line, table)) {
        char *name = strtok(line, "\t\n"), *expected = strtok(NULL, "\t\n");
        if (!name || !expected || *name == '#')
            continue;
        rows++;
        result r;
        snprintf(path, sizeof path, "%s/%s", root, name);
        const char *kind = decode(path, &r);
        if (strcmp(kind, expected) != 0) {
            printf("# %s: %s, expected %s; %s\n", name, kind, expected, r.err.message);
            changed++;
        } else if (has_djpeg && r.is_jpeg && (strcmp(kind, "ok") == 0 || strcmp(kind, "warned") == 0)) {
            compared++;
            if (!is_as_djpeg(path, &r)) {
                printf("# %s: pixels differ from djpeg's\n", name);
                other_pixels++;
            }
        }
        free(r.pixels);
    }
    fclose(table);
    int files = walk(root, NULL);
    printf("%s 1 - %d verdicts are as listed\n", rows && !changed ? "ok" : "not ok", rows);
    printf("%s 2 - each of %d files is listed\n", files == rows ? "ok" : "not ok", files);
    if (has_djpeg)
        printf(
            "%s 3 - pixels of %d files are djpeg's\n", compared && !other_pixels ? "ok" : "not ok", compared);
    else
        printf("ok 3 - pixels of accepted files are djpeg's # SKIP djpeg was not found\n");
    return changed || other_pixels || files != rows;
}

int main(int argc, char **argv)
{
    char *corpus = getenv("LAPEDGE_CORPUS");
    if (argc == 4) {
        variants = atoi(argv[2]);
        seed = (uint32_t)strtoul(argv[3], NULL, 10);
        return walk(argv[1], print_variants) == 0;
    }
    if (argc > 1) {
        puts("# file\tstatus under the default settings");
        return walk(argv[1], print_row) == 0;
    }
    if (!corpus) {
        puts("1..1\nok 1 - verdicts over a corpus of odd JPEGs # SKIP LAPEDGE_CORPUS is not set");
        return 0;
    }
    return check(corpus);
}
