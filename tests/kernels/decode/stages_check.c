/* stages_check [--seed=N] [--share=N] [--only=NAME/N]: compares each stage of every rung of the ladder
 * `decode` that can run here with that of plain C, and the inverse DCT also with libjpeg-turbo's, in vectors
 * or (stages_c.sh) in C. --share: run one N-th of the cases; --only: of the rungs whose names begin so. TAP
 * on stdout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../encode/encode_case.h"
#include "coding/zigzag.h"
#include "jpeg/ladders.h"

enum {
    SLACK = LAP_DECODE_SLACK,
    GROUP = LAP_DECODE_GROUP,
    UNIT = LAP_DECODE_UNIT_BLOCKS,
    STRIDE = UNIT * 8 + SLACK, /* of samples */
    GUARD = 0xA5
};

static int tests, failures;
static uint64_t seed = 27;
static int share = 1;
static char only[20];

static int below(int n)
{
    return (int)(case_random(&seed) % (uint64_t)n);
}

static void need(bool ok, const char *what)
{
    if (!ok) {
        printf("Bail out! %s\n", what);
        exit(1);
    }
}

static void say(const lap_coder *rung, const char *what, long cases, long wrong, const char *first)
{
    tests++;
    failures += wrong > 0;
    printf("%s %d - %s, %s: %ld cases\n", wrong ? "not ok" : "ok", tests, rung->name, what, cases);
    if (wrong)
        printf("# %ld wrong; the first: %s\n", wrong, first);
    fflush(stdout);
}

/* Returns size bytes that end where their pages end, with `before` bytes in front; all are filled with
 * GUARD. Kept for the next call with the same slot. */
static uint8_t *fenced(int slot, size_t before, size_t size)
{
    enum { SLOTS = 8, PAGES = 8 };
    static uint8_t *pages[SLOTS];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = PAGES * page;
    need(slot < SLOTS && before + size <= room, "fence too small");
    if (!pages[slot]) {
        uint8_t *p = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        need(p != MAP_FAILED && mprotect(p + room, page, PROT_NONE) == 0, "memory");
        pages[slot] = p;
    }
    memset(pages[slot], GUARD, room);
    return pages[slot] + room - size;
}

static bool is_guard(const uint8_t *p, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (p[i] != GUARD)
            return false;
    return true;
}

/* ---- coefficients to samples --------------------------------------------------------------------- */

typedef struct set { /* of blocks, natural order */
    int count;
    int16_t value[UNIT][64];
    uint16_t quant[64];
    uint8_t last[UNIT];
} set;

typedef struct samples {
    _Alignas(64) uint8_t row[10][STRIDE]; /* the first and the last are not written to */
} samples;

static void find_last(set *s, int spare)
{
    for (int b = 0; b < s->count; b++) {
        int last = 63;
        while (last > 0 && s->value[b][lap_zigzag[last]] == 0)
            last--;
        s->last[b] = (uint8_t)(last + below(spare) < 63 ? last + below(spare) : 63);
        while (s->last[b] < last)
            s->last[b]++;
    }
}

static bool run_inverse(const lap_decode_stages *stages, const set *s, samples *out)
{
    static _Alignas(64) int16_t coefficients[UNIT * 64];
    uint16_t quant[64];
    uint8_t last[UNIT] = {0};
    memset(coefficients, 0, sizeof coefficients);
    memset(out, GUARD, sizeof *out);
    memcpy(last, s->last, (size_t)s->count);
    for (int k = 0; k < 64; k++) {
        quant[stages->index[k]] = s->quant[lap_zigzag[k]];
        for (int b = 0; b < s->count; b++)
            coefficients[64 * b + stages->index[k]] = s->value[b][lap_zigzag[k]];
    }
    const lap_decode_blocks blocks = {coefficients, last, quant, s->count};
    return stages->inverse(&blocks, out->row[1], STRIDE);
}

static const char *judge_samples(const set *s, const samples *expected, const samples *got)
{
    if (!is_guard(got->row[0], STRIDE) || !is_guard(got->row[9], STRIDE))
        return "writes rows above or below";
    for (int y = 1; y <= 8; y++)
        if (memcmp(expected->row[y], got->row[y], 8 * (size_t)s->count) != 0)
            return "has other samples";
    for (int y = 1; y <= 8; y++)
        if (8 * s->count + SLACK < STRIDE &&
            !is_guard(got->row[y] + 8 * s->count + SLACK, (size_t)(STRIDE - SLACK - 8 * s->count)))
            return "writes beyond the slack";
    return NULL;
}

/* Makes `used` coefficients with products up to about `most`. */
static void fill_by_chance(set *s, int most, int used, int most_quant)
{
    memset(s, 0, sizeof *s);
    s->count = 1 + below(UNIT);
    for (int i = 0; i < 64; i++)
        s->quant[i] = (uint16_t)(1 + below(most_quant));
    for (int b = 0; b < s->count; b++)
        for (int k = 0; k < used; k++) {
            const int i = lap_zigzag[k], high = most / s->quant[i];
            const int value = below(2 * high + 1) - high;
            s->value[b][i] = (int16_t)(value > 32767 ? 32767 : value < -32768 ? -32768 : value);
        }
    find_last(s, below(3) == 0 ? 8 : 1);
}

/* One coefficient, or some, at a limit or one beyond. */
static void fill_at_limits(set *s)
{
    static const int limits[] = {
        1, 511, 512, 2047, 2048, 4095, 4096, 16383, 16384, 32767, 32768, 65535, 65536};
    static const int quants[] = {1, 2, 16, 255, 16384, 32767, 32768, 65535};
    const int limit = limits[below(sizeof limits / sizeof *limits)];
    memset(s, 0, sizeof *s);
    s->count = 1 + below(UNIT);
    for (int i = 0; i < 64; i++)
        s->quant[i] = (uint16_t)quants[below(below(2) ? 2 : (int)(sizeof quants / sizeof *quants))];
    for (int b = 0; b < s->count; b++)
        for (int n = below(3) ? 1 : below(64); n >= 0; n--) {
            const int i = below(64), value = limit / s->quant[i] + below(3) - 1;
            s->value[b][i] = (int16_t)(below(2) ? value : -value);
        }
    find_last(s, 1);
}

/* Checks that each rung accepts what plain C accepts, with the same samples. */
static void check_inverse(const lap_coder *rung)
{
    static set s;
    static samples expected, got;
    long cases = 0, wrong = 0, taken = 0;
    char first[200] = "";
    for (int i = 0; i < 40000 / share; i++) {
        const int used[] = {1, 2, 6, 10, 11, 20, 64};
        if (i % 4 == 3)
            fill_at_limits(&s);
        else
            fill_by_chance(&s, 1 << below(15), used[below(7)], i % 8 == 0 ? 65535 : 1 + below(255));
        if (!run_inverse(&lap_decode_c, &s, &expected))
            continue;
        taken++;
        const bool is_taken = run_inverse(rung->stages, &s, &got);
        const char *why = is_taken ? judge_samples(&s, &expected, &got) : "is refused";
        cases++;
        if (why && wrong++ == 0)
            snprintf(first, sizeof first, "set %d of %d blocks: %s", i, s.count, why);
    }
    need(taken > 5000 / share, "too few sets are within the range");
    say(rung, "inverse DCT against plain C", cases, wrong, first);
}

/* ---- the same by libjpeg-turbo ------------------------------------------------------------------- */

static void say_nothing(j_common_ptr cinfo, int level)
{
    (void)cinfo;
    (void)level;
}

/* A gray file of these blocks, malloc'ed. */
static uint8_t *file_of(const set *s, size_t *size)
{
    struct jpeg_compress_struct out = {0};
    struct jpeg_error_mgr error;
    unsigned char *bytes = NULL;
    unsigned long bytes_size = 0;
    unsigned quant[64];
    out.err = jpeg_std_error(&error);
    error.emit_message = say_nothing;
    jpeg_create_compress(&out);
    jpeg_mem_dest(&out, &bytes, &bytes_size);
    out.image_width = (JDIMENSION)s->count * 8;
    out.image_height = 8;
    out.input_components = 1;
    out.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&out);
    for (int i = 0; i < 64; i++)
        quant[i] = s->quant[i];
    jpeg_add_quant_table(&out, 0, quant, 100, FALSE);
    jvirt_barray_ptr arrays[1];
    arrays[0] =
        out.mem->request_virt_barray((j_common_ptr)&out, JPOOL_IMAGE, TRUE, (JDIMENSION)s->count, 1, 1);
    jpeg_write_coefficients(&out, arrays);
    JBLOCKARRAY rows = out.mem->access_virt_barray((j_common_ptr)&out, arrays[0], 0, 1, TRUE);
    for (int b = 0; b < s->count; b++)
        memcpy(rows[0][b], s->value[b], sizeof s->value[b]);
    jpeg_finish_compress(&out);
    jpeg_destroy_compress(&out);
    *size = bytes_size;
    return bytes;
}

static void samples_by_library(const set *s, samples *out)
{
    struct jpeg_decompress_struct in = {0};
    struct jpeg_error_mgr error;
    size_t size;
    uint8_t *file = file_of(s, &size);
    in.err = jpeg_std_error(&error);
    jpeg_create_decompress(&in);
    jpeg_mem_src(&in, file, size);
    jpeg_read_header(&in, TRUE);
    jpeg_start_decompress(&in);
    for (int y = 1; y <= 8; y++) {
        JSAMPROW row = out->row[y];
        jpeg_read_scanlines(&in, &row, 1);
    }
    jpeg_finish_decompress(&in);
    jpeg_destroy_decompress(&in);
    free(file);
}

/* Its coefficients have at most 10 bits, its differences of DC 11. */
static void limit_bits(set *s)
{
    for (int b = 0; b < s->count; b++)
        for (int i = 0; i < 64; i++)
            s->value[b][i] = (int16_t)(s->value[b][i] < -1023  ? -1023
                                       : s->value[b][i] > 1023 ? 1023
                                                               : s->value[b][i]);
}

/* The environment variable JSIMD_FORCENONE restricts libjpeg-turbo to its C code. */
static void check_library(const lap_coder *rung)
{
    const char *form = getenv("JSIMD_FORCENONE") ? "C" : "vectors";
    static set s;
    static samples expected, got;
    long cases = 0, wrong = 0;
    char first[200] = "", what[80];
    for (int i = 0; i < 6000 / share; i++) {
        if (i % 4 == 3)
            fill_at_limits(&s);
        else
            fill_by_chance(&s, 1 << below(15), below(2) ? 64 : 1 + below(20), i % 8 == 0 ? 65535 : 64);
        limit_bits(&s);
        if (!run_inverse(rung->stages, &s, &got))
            continue;
        samples_by_library(&s, &expected);
        const char *why = judge_samples(&s, &expected, &got);
        cases++;
        if (why && wrong++ == 0)
            snprintf(first, sizeof first, "set %d of %d blocks: %s", i, s.count, why);
    }
    need(cases > 1000 / share, "too few sets are taken");
    snprintf(what, sizeof what, "inverse DCT against libjpeg-turbo's %s", form);
    say(rung, what, cases, wrong, first);
}

/* ---- samples to pixels --------------------------------------------------------------------------- */

/* A row of samples with the slack that its contract allows, and no more. */
static const uint8_t *row_of_samples(int slot, int width)
{
    uint8_t *row = fenced(slot, SLACK, (size_t)width + SLACK);
    const int kind = below(3);
    for (int i = -SLACK; i < width + SLACK; i++) {
        const int random = below(256);
        row[i] = (uint8_t)(kind == 0 ? random : kind == 1 ? (random & 1) * 255 : 255 - (random & 3) * 85);
    }
    return row;
}

static void fill_row(lap_decode_row *row, int width, int shape)
{
    const bool h2 = shape & 1, v2 = shape & 2;
    *row = (lap_decode_row){.width = width,
        .h2 = h2,
        .v2 = v2,
        .upper = below(2),
        .is_ycc = !(shape & 4),
        .black = shape & 8 ? row_of_samples(7, width) : NULL,
        .is_inverted = shape & 16};
    row->chroma_width = h2 ? (width + 1) / 2 : width;
    row->y = row_of_samples(0, width);
    for (int c = 0; c < 2; c++) {
        row->near[c] = row_of_samples(1 + c, row->chroma_width);
        row->far[c] = v2 ? row_of_samples(3 + c, row->chroma_width) : NULL;
    }
}

static const char *compare_row(const lap_decode_stages *stages, const lap_decode_row *row)
{
    const size_t bytes = 3 * (size_t)row->width;
    uint8_t *expected = fenced(5, SLACK, bytes), *got = fenced(6, SLACK, bytes);
    lap_decode_c.pixels(row, expected);
    stages->pixels(row, got);
    return !is_guard(got - SLACK, SLACK)       ? "writes before the row"
           : memcmp(expected, got, bytes) != 0 ? "has other pixels"
                                               : NULL;
}

static void check_pixels(const lap_coder *rung)
{
    static const int wide[] = {
        255, 256, 257, 1023, 1024, 1025, 1026, 1087, 2047, 2048, 2049, 2050, 2051, 4999};
    enum { NARROW = 130, WIDTHS = NARROW + sizeof wide / sizeof *wide, SHAPES = 32 };
    long cases = 0, wrong = 0;
    char first[200] = "";
    for (int shape = 0; shape < SHAPES; shape++)
        for (int i = 0; i < WIDTHS; i++)
            for (int again = 0; again < 6; again++) {
                const int width = i < NARROW ? i + 1 : wide[i - NARROW];
                lap_decode_row row;
                fill_row(&row, width, shape);
                const char *why = compare_row(rung->stages, &row);
                cases++;
                if (why && wrong++ == 0)
                    snprintf(first, sizeof first, "%d pixels, shape %d: %s", width, shape, why);
            }
    say(rung, "pixels against plain C", cases, wrong, first);
}

/* ---- bytes without the zeros behind 0xFF --------------------------------------------------------- */

static void check_unstuff(const lap_coder *rung)
{
    long cases = 0, wrong = 0;
    char first[200] = "";
    for (int i = 0; i < 20000 / share; i++) {
        const size_t size = (size_t)below(i % 10 ? 300 : 3000);
        const int rare = 1 << below(9);
        uint8_t *in = fenced(0, 0, size), *expected = fenced(1, 0, size + SLACK);
        for (size_t k = 0; k < size; k++)
            in[k] = (uint8_t)(below(rare) ? below(255) : 0xFF);
        for (size_t k = 1; k < size; k++)
            if (in[k - 1] == 0xFF && below(i % 3 ? 400 : 2))
                in[k] = 0;
        size_t taken = 0, expected_taken = 0;
        const size_t bytes = lap_decode_c.unstuff(in, size, expected, &expected_taken);
        uint8_t *got = fenced(2, 0, size + SLACK);
        const size_t got_bytes = rung->stages->unstuff(in, size, got, &taken);
        cases++;
        if ((bytes != got_bytes || taken != expected_taken || memcmp(expected, got, bytes) != 0) &&
            wrong++ == 0)
            snprintf(first, sizeof first, "%zu bytes: %zu from %zu, not %zu from %zu", size, got_bytes, taken,
                bytes, expected_taken);
    }
    say(rung, "zeros removed, against plain C", cases, wrong, first);
}

/* ---- all ----------------------------------------------------------------------------------------- */

static void for_rungs(void (*check)(const lap_coder *))
{
    const lap_coder *rung;
    for (int i = 0; (rung = lap_coders_row(&lap_decoders, i)) != NULL; i++)
        if (rung->stages && strncmp(rung->name, only, strlen(only)) == 0 && rung->available() == NULL)
            check(rung);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--seed=", 7) == 0)
            seed = strtoull(argv[i] + 7, NULL, 10);
        else if (strncmp(argv[i], "--share=", 8) == 0 && atoi(argv[i] + 8) > 0)
            share = atoi(argv[i] + 8);
        else
            need(sscanf(argv[i], "--only=%19[^/]/%d", only, &share) == 2 && share > 0,
                "usage: stages_check [--seed=N] [--share=N] [--only=NAME/N]");
    printf("# seed %llu\n", (unsigned long long)seed);
    for_rungs(check_library);
    for_rungs(check_inverse);
    for_rungs(check_pixels);
    for_rungs(check_unstuff);
    printf("1..%d\n", tests);
    return failures > 0;
}
