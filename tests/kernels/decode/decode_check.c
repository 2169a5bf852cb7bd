/* decode_check [--all | --share=N | --fewer] [--progressive] [--cases=N] [--damaged=N] [--seed=N] [FILE...]:
 * compares every rung of the ladder `decode` that can run here with libjpeg-turbo, sample for sample. TAP
 * on stdout. The files are decoded too.
 *
 * Without --all, a covering array: every width and every height from 1 to 70 with each sampling and each
 * fill, everything else random. With --all, every width with every height; with --share, every N-th of
 * the files that are not damaged. --fewer: a fifth of these, 60 random files and 400 damaged ones.
 * --progressive: only progressive files. Of the corpus every eighth file; all with CORPUS_WHOLE=1. */
#include <ftw.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <sys/mman.h>
#include <unistd.h>

#include "base/pool.h"
#include "coding/jpeg_frame_read.h"
#include "cpu_simd/cpu.h"
#include "decode_case.h"
#include "jpeg/decode_rows.h"

typedef struct rung {
    const char *name;
    const char *(*missing)(void);
    const lap_decode_stages *stages;
} rung;

static const char *always(void)
{
    return NULL;
}

static const rung rungs[] = {
    {"c", always, &lap_decode_c},
#if defined(__x86_64__)
    {"avx2", lap_cpu_no_avx2_bits, &lap_decode_avx2},
#endif
#if defined(__x86_64__)
    {"avx512", lap_cpu_no_avx512vbmi2, &lap_decode_avx512},
#endif
#if defined(__aarch64__)
    {"neon", lap_cpu_no_neon, &lap_decode_neon},
#endif
};
enum { RUNGS = sizeof rungs / sizeof *rungs, SIDE = 70 };

static int tests, failures, share = 1, corpus_share = 8;
static long cases[RUNGS], failed[RUNGS], decoded[RUNGS];
static char first_failure[RUNGS][500];

static void need(bool ok, const char *what)
{
    if (!ok) {
        printf("Bail out! %s\n", what);
        exit(1);
    }
}

static void report(const char *what)
{
    for (int i = 0; i < RUNGS; i++) {
        const char *missing = rungs[i].missing();
        tests++;
        if (missing) {
            printf("ok %d - %s, %s # SKIP %s\n", tests, rungs[i].name, what, missing);
        } else {
            const bool ok = failed[i] == 0 && cases[i] > 0;
            printf("%s %d - %s, %s: %ld cases, %ld to the end\n", ok ? "ok" : "not ok", tests, rungs[i].name,
                what, cases[i], decoded[i]);
            if (!ok)
                printf("# %ld failed; the first: %s\n", failed[i], first_failure[i]);
            failures += !ok;
        }
        cases[i] = failed[i] = decoded[i] = 0;
    }
    fflush(stdout);
}

/* ---- one file ------------------------------------------------------------------------------------ */

/* Memory that ends where its pages end: an access after it ends the program. It is kept for the next
 * call. */
typedef struct fence {
    uint8_t *pages;
    size_t size;
} fence;

static uint8_t *fenced(fence *f, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size + page - 1) / page;
    if (f->size < pages * page) {
        if (f->pages)
            munmap(f->pages, f->size + page);
        f->size = pages * page;
        f->pages = mmap(NULL, f->size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        need(f->pages != MAP_FAILED && mprotect(f->pages, f->size, PROT_READ | PROT_WRITE) == 0, "memory");
    }
    return f->pages + f->size - size;
}

typedef struct outcome {
    bool is_ours;
    int rows;
} outcome;

enum { GUARD = 0xA5 };

/* Decodes all coefficients of a progressive file with one or more threads, whose number changes from call
 * to call. NULL: its scans are not valid. */
typedef struct crew {
    lap_held *held;
    atomic_bool is_odd;
} crew;

static void help(void *argument)
{
    crew *c = argument;
    bool is_fine = false;
    need(lap_held_work(c->held, &is_fine, NULL) == LAP_OK, "coefficients");
    if (!is_fine)
        atomic_store(&c->is_odd, true);
}

static lap_held *hold(const lap_held_source *source)
{
    static const int threads[] = {1, 2, 3, 7, 16};
    enum { POOLS = sizeof threads / sizeof *threads };
    static lap_pool *pools[POOLS];
    static unsigned next;
    const unsigned i = next++ % POOLS;
    crew c = {.held = NULL};
    if (!pools[i])
        pools[i] = lap_pool_create(threads[i], NULL);
    need(pools[i] && lap_held_open(source, &c.held, NULL) == LAP_OK, "memory");
    lap_pool_team(pools[i], threads[i], help, &c);
    if (!atomic_load(&c.is_odd))
        return c.held;
    lap_held_close(c.held);
    return NULL;
}

/* Decodes all rows, in pieces of random height. */
static outcome decode_rows(const lap_jpeg_frame *frame, lap_row_source *source, const lap_view *view)
{
    lap_row_decoder *decoder = NULL;
    outcome o = {false, 0};
    lap_decode_plan *plan = malloc(sizeof *plan);
    need(plan != NULL, "memory");
    o.is_ours = lap_decode_plan_make(frame, source->stages->index, plan);
    source->plan = plan;
    source->scan_begin = (size_t)frame->scan_begin;
    if (o.is_ours)
        need(lap_row_decoder_open(source, &decoder, NULL) == LAP_OK, "memory");
    uint64_t seed = source->size;
    bool goes_on = o.is_ours;
    while (goes_on && o.rows < view->height) {
        const int most = view->height - o.rows, some = 1 + (int)(case_random(&seed) % 40);
        const lap_view piece = lap_view_rows(view, o.rows, some < most ? some : most);
        const int got = lap_row_decoder_rows(decoder, &piece);
        o.rows += got;
        goes_on = got == piece.height;
    }
    lap_row_decoder_close(decoder);
    free(plan);
    return o;
}

static outcome decode(const uint8_t *bytes, size_t size, const rung *r, bool gray, const lap_view *view)
{
    static lap_jpeg_script script;
    lap_jpeg_frame frame;
    lap_row_source source = {.bytes = bytes, .size = size, .stages = r->stages, .gray = gray};
    if (lap_jpeg_frame_read(bytes, size, &frame))
        return decode_rows(&frame, &source, view);
    if (!lap_jpeg_script_read(bytes, size, &script) || !lap_decode_takes(&script.frame))
        return (outcome){false, 0};
    const lap_held_source all = {.script = &script, .bytes = bytes, .size = size, .stages = r->stages};
    lap_held *held = hold(&all);
    source.held = held;
    const outcome o = held ? decode_rows(&script.frame, &source, view) : (outcome){true, 0};
    lap_held_close(held);
    return o;
}

typedef enum outlook { DECODED, ANYTHING, REFUSED } outlook;

/* Checks that the rows are the library's, and that all rows are there if the library does not warn.
 * Returns NULL, or what is wrong. */
static const char *judge(const decode_reference *r, const outcome *o, const lap_view *view, outlook expected)
{
    const size_t row = (size_t)r->width * (size_t)r->channels;
    if (expected == REFUSED)
        return o->is_ours ? "is taken" : NULL;
    if (expected == DECODED && (!o->is_ours || o->rows != r->height))
        return "is not decoded to its end";
    if (o->rows > r->rows)
        return "has more rows than the library's";
    if (o->is_ours && o->rows == r->height && (r->warnings > 0 || r->failed))
        return "is decoded to its end, and the library complains";
    for (int y = 0; y < o->rows; y++)
        if (memcmp(view->base + y * view->stride, r->pixels + (size_t)y * row, row) != 0)
            return "has other pixels";
    for (size_t i = (size_t)o->rows * row; i < (size_t)view->height * row; i++)
        if (view->base[i] != GUARD)
            return "writes rows that it does not deliver";
    return NULL;
}

static void compare(const uint8_t *file, size_t size, bool gray, outlook expected, const char *name)
{
    static fence in, out;
    decode_reference reference;
    decode_by_library(file, size, gray, &reference);
    uint8_t *bytes = fenced(&in, size);
    memcpy(bytes, file, size);
    const size_t total = (size_t)reference.height * (size_t)reference.width * (size_t)reference.channels;
    for (int i = 0; i < RUNGS && total > 0; i++) {
        if (rungs[i].missing())
            continue;
        const lap_view view = {fenced(&out, total), (ptrdiff_t)reference.width * reference.channels,
            reference.width, reference.height, reference.channels, 0, LAP_ON_HOST};
        memset(view.base, GUARD, total);
        const outcome o = decode(bytes, size, &rungs[i], gray, &view);
        const char *wrong = judge(&reference, &o, &view, expected);
        cases[i]++;
        decoded[i] += o.is_ours && o.rows == reference.height;
        if (wrong && failed[i]++ == 0)
            snprintf(first_failure[i], sizeof first_failure[i], "%s%s: %s (%d of %d rows)", name,
                gray ? ", gray" : "", wrong, o.rows, reference.height);
    }
    free(reference.pixels);
}

/* ---- files that are in order --------------------------------------------------------------------- */

static decode_case some_case(int sampling, int fill, int width, int height, uint64_t *seed)
{
    static const int qualities[] = {1, 25, 50, 75, 90, 100}, intervals[] = {0, 0, 0, 1, 2, 3, 7, 16, 17, 100};
    decode_case c = {
        .picture = {.width = width, .height = height, .sampling = sampling, .fill = fill, .channels = 3}};
    c.picture.seed = case_random(seed);
    if (case_samplings[sampling].components == 1)
        c.picture.channels = 1;
    const unsigned pick = (unsigned)(case_random(seed) % 12);
    c.picture.quality = pick < 6 ? qualities[pick] : 1 + (int)(case_random(seed) % 100);
    c.interval = intervals[case_random(seed) % 10];
    c.tables = (decode_tables)(case_random(seed) % TABLE_KINDS);
    return c;
}

static void compare_case(const decode_case *c, bool gray, outlook expected)
{
    static int asked;
    size_t size;
    char text[300];
    if (asked++ % share != 0)
        return;
    uint8_t *file = decode_file(c, &size);
    decode_describe(c, text);
    compare(file, size, gray, expected, text);
    free(file);
}

/* Every width, each with a different height; 37 has no divisor in common with 70. */
static void check_sizes(int sampling, bool all, uint64_t seed)
{
    char what[100];
    for (int width = 1; width <= SIDE; width++)
        for (int height = 1; height <= SIDE; height++)
            for (int fill = 0; fill < CASE_FILLS; fill++) {
                if (!all && height != 1 + (width * 37 + fill * 11) % SIDE)
                    continue;
                const decode_case c = some_case(sampling, fill, width, height, &seed);
                compare_case(&c, case_random(&seed) % 8 == 0, DECODED);
            }
    snprintf(what, sizeof what, "%s, sizes 1 to %d", case_samplings[sampling].name, SIDE);
    report(what);
}

/* Components of every kind that a file can have, with each sampling: every width, each with a different
 * height, in one scan and in several. Files of which libjpeg warns are left to it. */
static void check_colours(bool all, uint64_t seed)
{
    const int rounds = all ? 40 : 2;
    char what[100];
    for (int colours = USUAL_COLOURS + 1; colours < COLOURS; colours++) {
        for (int s = 1; s < CASE_SAMPLINGS; s++)
            for (int i = 0; i < rounds * SIDE; i++) {
                const int width = 1 + i % SIDE, height = 1 + (width * 37 + i / SIDE * 11) % SIDE;
                decode_case c = some_case(s, (i + s) % CASE_FILLS, width, height, &seed);
                decode_set_colours(&c, (decode_colours)colours);
                if (i >= rounds / 2 * SIDE) {
                    c.script = (decode_script)(1 + case_random(&seed) % (COMPLETE_SCRIPTS - 1));
                    c.tables = OPTIMIZED_TABLES;
                }
                compare_case(&c, i % 5 == 0, colours < OUR_COLOURS ? DECODED : REFUSED);
            }
        snprintf(what, sizeof what, "colours of kind %d, sizes 1 to %d", colours, SIDE);
        report(what);
    }
}

/* Each script with each sampling: random sizes, fills, qualities and restart markers. Unfinished scripts
 * are left to the library, which then smooths blocks. */
static void check_scripts(int rounds, uint64_t seed)
{
    static const int qualities[] = {1, 100, 50, 95, 10};
    char what[100];
    for (int script = USUAL_SCANS; script < SCRIPTS; script++) {
        for (int i = 0; i < rounds; i++)
            for (int s = 0; s < CASE_SAMPLINGS; s++) {
                const int width = 1 + (int)(case_random(&seed) % SIDE);
                const int height = 1 + (int)(case_random(&seed) % SIDE);
                decode_case c = some_case(s, (i + s) % CASE_FILLS, width, height, &seed);
                c.script = (decode_script)script;
                c.tables = OPTIMIZED_TABLES;
                c.picture.quality = qualities[i % 5];
                compare_case(&c, i % 8 == 7, script < COMPLETE_SCRIPTS ? DECODED : REFUSED);
            }
        snprintf(what, sizeof what, "progressive, script %d", script);
        report(what);
    }
}

/* Every width, and every height, from 1 to 70. */
static void check_progressive_sizes(uint64_t seed)
{
    for (int side = 1; side <= SIDE; side++)
        for (int s = 0; s < CASE_SAMPLINGS; s++) {
            decode_case c = some_case(s, (side + s) % CASE_FILLS, side, 1 + side * 37 % SIDE, &seed);
            c.script = (decode_script)(1 + (side + s) % (COMPLETE_SCRIPTS - 1));
            c.tables = OPTIMIZED_TABLES;
            compare_case(&c, false, DECODED);
        }
    report("progressive, sizes 1 to 70");
}

static void check_progressive_large(uint64_t seed)
{
    static const int sizes[][2] = {
        {513, 310}, {1040, 700}, {65500, 9}, {9, 3000}, {1025, 17}, {640, 1200}, {127, 511}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int s = 0; s < CASE_SAMPLINGS; s++) {
            decode_case c = some_case(s, (5 * s + (int)i) % CASE_FILLS, sizes[i][0], sizes[i][1], &seed);
            c.script = (decode_script)(1 + (i + (size_t)s) % (COMPLETE_SCRIPTS - 1));
            c.tables = OPTIMIZED_TABLES;
            compare_case(&c, s == 3, DECODED);
        }
    report("progressive, large pictures");
}

static void check_progressive_values(int count, uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        const int width = 1 + (int)(case_random(&seed) % 100), height = 1 + (int)(case_random(&seed) % 100);
        decode_case c = some_case(i % CASE_SAMPLINGS, 0, width, height, &seed);
        if (c.picture.sampling > 0)
            decode_set_colours(&c, (decode_colours)(i / CASE_SAMPLINGS % OUR_COLOURS));
        c.values = (decode_values)(1 + case_random(&seed) % 2);
        c.wide_quant = case_random(&seed) % 8 == 0;
        c.script = (decode_script)(1 + case_random(&seed) % (SCRIPTS - 1));
        c.tables = OPTIMIZED_TABLES;
        compare_case(&c, case_random(&seed) % 4 == 0, ANYTHING);
    }
    report("progressive, coefficients by chance");
}

static void check_large(uint64_t seed)
{
    static const int sizes[][2] = {{255, 20}, {256, 33}, {257, 17}, {511, 40}, {513, 31}, {320, 129},
        {1, 300}, {1000, 1}, {65500, 9}, {65499, 17}, {640, 480}, {9, 2000}, {248, 24}, {250, 40}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int s = 0; s < CASE_SAMPLINGS; s++)
            for (int f = 0; f < (sizes[i][0] > 10000 ? 1 : CASE_FILLS); f++) {
                decode_case c = some_case(s, (f + (int)i) % CASE_FILLS, sizes[i][0], sizes[i][1], &seed);
                if (s > 0)
                    decode_set_colours(&c, (decode_colours)((f + s) % (2 * OUR_COLOURS) / 2));
                compare_case(&c, f % 5 == 4, DECODED);
            }
    report("large pictures");
}

static void check_qualities(uint64_t seed)
{
    for (int quality = 1; quality <= 100; quality++)
        for (int s = 0; s < CASE_SAMPLINGS; s++) {
            decode_case c = some_case(s, (quality + s) % CASE_FILLS, 83, 37, &seed);
            c.picture.quality = quality;
            compare_case(&c, false, DECODED);
        }
    report("every quality");
}

/* Random coefficients leave the range in which libjpeg-turbo's vectors equal its C code; from that row
 * on, our decoders refuse them. Values within the range, like the `small` ones, must be decoded. */
static void check_values(int count, uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        const int width = 1 + (int)(case_random(&seed) % 100), height = 1 + (int)(case_random(&seed) % 100);
        decode_case c = some_case(i % CASE_SAMPLINGS, 0, width, height, &seed);
        if (c.picture.sampling > 0)
            decode_set_colours(&c, (decode_colours)(i / CASE_SAMPLINGS % OUR_COLOURS));
        c.values = (decode_values)(1 + case_random(&seed) % 2);
        c.wide_quant = case_random(&seed) % 8 == 0;
        compare_case(&c, case_random(&seed) % 4 == 0, ANYTHING);
        c.values = VALUES_BY_CHANCE;
        c.wide_quant = false;
        c.picture.quality = 100;
        compare_case(&c, false, ANYTHING);
    }
    report("coefficients by chance");
}

static void check_by_chance(int count, uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        const int width = 1 + (int)(case_random(&seed) % 400), height = 1 + (int)(case_random(&seed) % 100);
        const decode_case c = some_case((int)(case_random(&seed) % CASE_SAMPLINGS),
            (int)(case_random(&seed) % CASE_FILLS), width, height, &seed);
        compare_case(&c, case_random(&seed) % 4 == 0, DECODED);
    }
    report("by chance");
}

/* ---- files that are not -------------------------------------------------------------------------- */

static size_t scan_of(const uint8_t *file)
{
    size_t at = 2;
    while (file[at + 1] != 0xDA)
        at += 2 + (size_t)(file[at + 2] << 8 | file[at + 3]);
    return at + 2 + (size_t)(file[at + 2] << 8 | file[at + 3]);
}

/* Damages the data in place, but not the header; returns the new size. */
static size_t damage(uint8_t *file, size_t size, uint64_t *seed)
{
    const size_t scan = scan_of(file), length = size - scan, at = scan + case_random(seed) % length;
    const size_t some = 1 + case_random(seed) % 4, rest = size - at;
    switch (case_random(seed) % 8) {
    case 0:
        return at; /* cut */
    case 1:
        file[at] = 0xFF;
        return size;
    case 2:
        file[at] = (uint8_t)case_random(seed);
        return size;
    case 3: /* some bytes are missing */
        memmove(file + at, file + at + (some < rest ? some : rest), rest - (some < rest ? some : rest));
        return size - (some < rest ? some : rest);
    case 4: /* a marker */
        file[at] = 0xFF;
        if (at + 1 < size)
            file[at + 1] = (uint8_t)(0xD0 + case_random(seed) % 10);
        return size;
    case 5: /* bytes from elsewhere */
        memmove(file + at, file + scan, some < rest ? some : rest);
        return size;
    default: /* one bit */
        file[at] ^= (uint8_t)(1u << case_random(seed) % 8);
        return size;
    }
}

static void check_damaged(int count, bool progressive, uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        const int width = 1 + (int)(case_random(&seed) % 150), height = 1 + (int)(case_random(&seed) % 150);
        decode_case c = some_case((int)(case_random(&seed) % (CASE_SAMPLINGS - 1)),
            (int)(case_random(&seed) % CASE_FILLS), width, height, &seed);
        size_t size;
        char text[300], name[340];
        if (c.picture.sampling > 0)
            decode_set_colours(&c, (decode_colours)(i % (2 * OUR_COLOURS) / 2));
        if (progressive) {
            c.script = (decode_script)(1 + case_random(&seed) % (COMPLETE_SCRIPTS - 1));
            c.tables = OPTIMIZED_TABLES;
        }
        uint8_t *file = decode_file(&c, &size);
        decode_describe(&c, text);
        snprintf(name, sizeof name, "damaged file %d of %s", i, text);
        size = damage(file, size, &seed);
        compare(file, size, case_random(&seed) % 8 == 0, ANYTHING, name);
        free(file);
    }
    report(progressive ? "progressive, damaged files" : "damaged files");
}

/* Each row of MCUs is an interval; one marker after the other is replaced by a wrong one. All rows that
 * do not depend on the row of MCUs after it must be decoded. */
static void check_each_row(uint64_t seed)
{
    for (int s = 0; s < CASE_SAMPLINGS - 1; s++) {
        const int high = 8 * case_samplings[s].v, mcu_rows = 7;
        decode_case c = some_case(s, 3, 90, high * mcu_rows - 3, &seed);
        size_t size;
        int row = 0;
        c.interval = (90 - 1) / (8 * case_samplings[s].h) + 1;
        uint8_t *file = decode_file(&c, &size);
        for (size_t at = scan_of(file); at + 1 < size; at++) {
            if (file[at] != 0xFF || file[at + 1] < 0xD0 || file[at + 1] > 0xD9)
                continue;
            const int above = row + 1 < mcu_rows ? row + 1 : row;
            const int sure = above * high - (case_samplings[s].v == 2 ? 2 : 0);
            row++;
            const uint8_t kept = file[at + 1];
            char name[100];
            snprintf(name, sizeof name, "%s, row of MCUs %d", case_samplings[s].name, row);
            file[at + 1] = 0xD0 + (kept + 3) % 8;
            compare(file, size, false, ANYTHING, name);
            file[at + 1] = kept;
            for (int i = 0; i < RUNGS; i++) {
                lap_image image;
                need(lap_image_create(
                         &image, c.picture.width, c.picture.height, c.picture.channels, 0, NULL) == LAP_OK,
                    "memory");
                file[at + 1] = 0xD0 + (kept + 3) % 8;
                const outcome o = rungs[i].missing() ? (outcome){true, sure}
                                                     : decode(file, size, &rungs[i], false, &image.view);
                file[at + 1] = kept;
                if (!rungs[i].missing() && o.rows != sure && failed[i]++ == 0)
                    snprintf(first_failure[i], sizeof first_failure[i], "%s: %d rows instead of %d", name,
                        o.rows, sure);
                lap_image_destroy(&image);
            }
        }
        need(row == mcu_rows, "markers");
        free(file);
    }
    report("something odd behind each row of MCUs");
}

/* ---- other files --------------------------------------------------------------------------------- */

static void compare_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    need(f && fseek(f, 0, SEEK_END) == 0, path);
    const size_t size = (size_t)ftell(f);
    uint8_t *bytes = malloc(size + !size); /* no more: a sanitizer sees what is read beyond */
    rewind(f);
    need(bytes && fread(bytes, 1, size, f) == size, path);
    fclose(f);
    compare(bytes, size, false, ANYTHING, path);
    compare(bytes, size, true, ANYTHING, path);
    free(bytes);
}

static bool is_jpeg(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcasecmp(path + length - 4, ".jpg") == 0;
}

static int compare_entry(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
    static int seen;
    (void)stat;
    (void)ftw;
    if (type == FTW_F && is_jpeg(path) && seen++ % corpus_share == 0)
        compare_file(path);
    return 0;
}

static void check_corpus(const char *folder)
{
    enum { OPEN_FOLDERS = 8 };
    need(nftw(folder, compare_entry, OPEN_FOLDERS, FTW_PHYS) == 0, folder);
    report("the corpus");
}

static void check_all_sequential(bool all, int count, int damaged, uint64_t seed)
{
    for (int s = 0; s < CASE_SAMPLINGS; s++)
        check_sizes(s, all, seed + (uint64_t)s);
    check_colours(all, seed);
    check_qualities(seed);
    check_large(seed);
    check_values(count, seed);
    check_by_chance(count, seed);
    check_damaged(damaged, false, seed);
    check_each_row(seed);
}

static void check_all_progressive(bool all, int count, int damaged, uint64_t seed)
{
    check_scripts(all ? 1000 : 40, seed);
    check_progressive_sizes(seed);
    check_progressive_large(seed);
    check_progressive_values(count, seed);
    check_damaged(damaged, true, seed);
}

int main(int argc, char **argv)
{
    bool all = false, files = false, sequential = true;
    int count = 300, damaged = 2000;
    uint64_t seed = 27;
    const char *corpus = getenv("LAPEDGE_CORPUS");
    if (getenv("CORPUS_WHOLE"))
        corpus_share = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0)
            all = true;
        else if (strncmp(argv[i], "--share=", 8) == 0 && atoi(argv[i] + 8) > 0)
            share = atoi(argv[i] + 8);
        else if (strcmp(argv[i], "--fewer") == 0)
            share = 5, count = 60, damaged = 400;
        else if (strcmp(argv[i], "--progressive") == 0)
            sequential = false;
        else if (strncmp(argv[i], "--cases=", 8) == 0)
            count = atoi(argv[i] + 8);
        else if (strncmp(argv[i], "--damaged=", 10) == 0)
            damaged = atoi(argv[i] + 10);
        else if (strncmp(argv[i], "--seed=", 7) == 0)
            seed = strtoull(argv[i] + 7, NULL, 10);
        else {
            compare_file(argv[i]);
            files = true;
        }
    }
    if (files) {
        report("files");
        printf("1..%d\n", tests);
        return failures > 0;
    }
    printf("# seed %llu\n", (unsigned long long)seed);
    if (sequential)
        check_all_sequential(all, count, damaged, seed);
    check_all_progressive(all, count, damaged, seed);
    if (corpus && *corpus)
        check_corpus(corpus);
    printf("1..%d\n", tests);
    return failures > 0;
}
