/* encode_check [--all=SAMPLING] [--cases=N] [--seed=N] [--only=NAME/N]: compares every rung of the ladder
 * `encode` that can run here with libjpeg, byte for byte. --only: the rungs whose names begin so, on each Nth
 * case. TAP on stdout.
 *
 * Without --all, a covering array: every width and every height from 1 to 70 with each sampling and each
 * fill, at random qualities, and more groups. With --all, the full product for one sampling: every width
 * with every height and fill, each at six qualities. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>

#include "cpu_simd/cpu.h"
#include "encode_case.h"

typedef struct rung {
    const char *name;
    const char *(*missing)(void);
    lap_encode_fn *run;
} rung;

static const char *always(void)
{
    return NULL;
}

static const rung rungs[] = {
    {"c", always, lap_encode_c},
#if defined(__x86_64__)
    {"avx2", lap_cpu_no_avx2_bits, lap_encode_avx2},
#endif
#if defined(__x86_64__)
    {"avx512", lap_cpu_no_avx512vbmi2, lap_encode_avx512},
    {"avx512 by stores", lap_cpu_no_avx512vbmi2, lap_encode_avx512_stores},
    {"avx512 by scatter", lap_cpu_no_avx512vbmi2, lap_encode_avx512_scatter},
#endif
#if defined(__aarch64__)
    {"neon", lap_cpu_no_neon, lap_encode_neon},
#endif
};
enum { RUNGS = sizeof rungs / sizeof *rungs, SIDE = 70 };

static int tests, failures, every = 1, seen;
static char only[20];
static long cases[RUNGS], failed[RUNGS];
static char first_failure[RUNGS][300];

static void need(bool ok, const char *what)
{
    if (!ok) {
        printf("Bail out! %s\n", what);
        exit(1);
    }
}

static bool is_chosen(const rung *r)
{
    return strncmp(r->name, only, strlen(only)) == 0;
}

static void compare(const encode_case *c)
{
    lap_image image;
    size_t size, begin;
    if (seen++ % every != 0)
        return;
    need(lap_image_create(&image, c->width, c->height, c->channels, 0, NULL) == LAP_OK, "memory");
    case_fill(c, &image.view);
    uint8_t *file = case_reference(c, &image.view, &size, &begin);
    const size_t expected = size - begin - 2;
    for (int i = 0; i < RUNGS; i++) {
        lap_chunk scan = {0};
        size_t at = 0;
        if (!is_chosen(&rungs[i]) || rungs[i].missing())
            continue;
        need(case_encode(c, &image.view, rungs[i].run, &scan), "our encoder refuses the case");
        while (at < scan.size && at < expected && scan.data[at] == file[begin + at])
            at++;
        cases[i]++;
        if (at != expected || scan.size != expected) {
            char text[200];
            case_describe(c, text);
            if (failed[i]++ == 0)
                snprintf(first_failure[i], sizeof first_failure[i],
                    "%s: %zu bytes instead of %zu, the first difference at %zu", text, scan.size, expected,
                    at);
        }
        lap_chunk_free(&scan);
    }
    free(file);
    lap_image_destroy(&image);
}

static void report(const char *what)
{
    for (int i = 0; i < RUNGS; i++) {
        const char *missing = rungs[i].missing();
        if (!is_chosen(&rungs[i]))
            continue;
        tests++;
        if (missing) {
            printf("ok %d - %s, %s # SKIP %s\n", tests, rungs[i].name, what, missing);
        } else {
            const bool ok = failed[i] == 0 && cases[i] > 0;
            printf("%s %d - %s, %s: %ld cases\n", ok ? "ok" : "not ok", tests, rungs[i].name, what, cases[i]);
            if (!ok)
                printf("# %ld failed; the first: %s\n", failed[i], first_failure[i]);
            failures += !ok;
        }
        cases[i] = failed[i] = 0;
    }
    fflush(stdout);
}

static const int qualities[] = {1, 25, 50, 75, 90, 100};
enum { QUALITIES = sizeof qualities / sizeof *qualities };

static encode_case some_case(int sampling, int fill, int width, int height, uint64_t *seed)
{
    encode_case c = {.width = width, .height = height, .sampling = sampling, .fill = fill};
    c.seed = case_random(seed);
    c.channels = case_samplings[sampling].components == 1 ? 1 : case_random(seed) % 4 == 0 ? 4 : 3;
    const unsigned pick = (unsigned)(case_random(seed) % 12);
    c.quality = pick < QUALITIES ? qualities[pick] : 1 + (int)(case_random(seed) % 100);
    c.interval_rows = (int)(case_random(seed) % 3);
    return c;
}

static void report_sizes(int sampling, const char *which)
{
    char what[100];
    snprintf(what, sizeof what, "%s, %s 1 to %d", case_samplings[sampling].name, which, SIDE);
    report(what);
}

/* Every width, each with a different height, at a random quality; 37 has no divisor in common with 70. */
static void check_sizes(int sampling, uint64_t seed)
{
    for (int width = 1; width <= SIDE; width++)
        for (int fill = 0; fill < CASE_FILLS; fill++) {
            const int height = 1 + (width * 37 + fill * 11) % SIDE;
            const encode_case c = some_case(sampling, fill, width, height, &seed);
            compare(&c);
        }
    report_sizes(sampling, "sizes");
}

static void check_product(int sampling, uint64_t seed)
{
    for (int width = 1; width <= SIDE; width++)
        for (int height = 1; height <= SIDE; height++)
            for (int fill = 0; fill < CASE_FILLS; fill++) {
                encode_case c = some_case(sampling, fill, width, height, &seed);
                for (int q = 0; q < QUALITIES; q++) {
                    c.quality = qualities[q];
                    compare(&c);
                }
            }
    report_sizes(sampling, "all sizes, fills and six qualities,");
}

/* Widths around the units and groups of pixels, one row, one column, and the largest width. */
static void check_large(uint64_t seed)
{
    static const int sizes[][2] = {{255, 20}, {256, 33}, {257, 17}, {511, 40}, {513, 31}, {320, 129},
        {1, 300}, {1000, 1}, {65500, 9}, {65499, 17}, {640, 480}, {192, 64}, {248, 24}, {250, 40}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int s = 0; s < CASE_SAMPLINGS; s++)
            for (int f = 0; f < (sizes[i][0] > 10000 ? 1 : CASE_FILLS); f++) {
                const encode_case c =
                    some_case(s, (f + (int)i) % CASE_FILLS, sizes[i][0], sizes[i][1], &seed);
                compare(&c);
            }
    report("large pictures");
}

static void check_qualities(uint64_t seed)
{
    for (int quality = 1; quality <= 100; quality++)
        for (int s = 0; s < CASE_SAMPLINGS; s++) {
            encode_case c = some_case(s, (quality + s) % CASE_FILLS, 83, 37, &seed);
            c.quality = quality;
            compare(&c);
        }
    report("every quality");
}

/* ---- what an encoder may touch ------------------------------------------------------------------- */

enum { GUARD = 0xA5, GUARD_BYTES = 4096 };

/* Pages between inaccessible ones: a read past the last pixel, or before the first, ends the program. */
static uint8_t *fenced(size_t size, bool at_end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size + page - 1) / page;
    uint8_t *all = mmap(NULL, (pages + 2) * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(all != MAP_FAILED && mprotect(all + page, pages * page, PROT_READ | PROT_WRITE) == 0, "memory");
    return all + page + (at_end ? pages * page - size : 0);
}

static bool is_guard(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != GUARD)
            return false;
    return true;
}

/* Encodes one row of MCUs with the rung itself: its pixels are at the edge of their pages, its output is
 * between guard bytes, its work memory is poisoned and fenced. */
static bool stays_inside(const encode_case *c, lap_encode_fn *run, bool at_end)
{
    const lap_encode_target target = case_target(c);
    lap_encode_plan plan;
    need(lap_encode_plan_make(&target, &plan), "the plan");
    const size_t row = (size_t)c->width * (size_t)c->channels, size = row * (size_t)c->height;
    uint8_t *pixels = fenced(size, at_end), *work = fenced(LAP_ENCODE_WORK, true);
    const lap_view view = {pixels, (ptrdiff_t)row, c->width, c->height, c->channels, 0, LAP_ON_HOST};
    const size_t room = (size_t)(LAP_ENCODE_UNIT_BLOCKS * LAP_ENCODE_BLOCK_BYTES) + LAP_ENCODE_SLACK;
    uint8_t *out = malloc(GUARD_BYTES + room + GUARD_BYTES);
    need(out != NULL, "memory");
    case_fill(c, &view);
    memset(work, GUARD, LAP_ENCODE_WORK);
    lap_encode_state state = {.work = work};
    const int unit = lap_encode_unit_mcus(&plan);
    bool ok = true;
    for (int first = 0; first < plan.mcus && ok; first += unit) {
        const int count = plan.mcus - first < unit ? plan.mcus - first : unit;
        const lap_encode_rows rows = {pixels, (ptrdiff_t)row, c->height};
        memset(out, GUARD, GUARD_BYTES + room + GUARD_BYTES);
        const size_t bytes = run(&plan, &state, &rows, first, count, out + GUARD_BYTES);
        const size_t most = (size_t)(count * plan.mcu_blocks * LAP_ENCODE_BLOCK_BYTES);
        ok = bytes <= most && is_guard(out, GUARD_BYTES) &&
             is_guard(
                 out + GUARD_BYTES + bytes + LAP_ENCODE_SLACK, room - bytes - LAP_ENCODE_SLACK + GUARD_BYTES);
    }
    free(out); /* the fenced pages stay: few, and the program ends soon */
    return ok;
}

static void check_bounds(uint64_t seed)
{
    static const int widths[] = {1, 7, 63, 64, 65, 129, 255, 256, 257, 300};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (int s = 0; s < CASE_SAMPLINGS; s++)
            for (int i = 0; i < RUNGS; i++) {
                const int most = 8 * case_samplings[s].v;
                encode_case c = some_case(s, (int)(case_random(&seed) % CASE_FILLS), widths[w],
                    w % 2 ? most : 1 + (int)(case_random(&seed) % (unsigned)most), &seed);
                c.interval_rows = 0;
                if (!is_chosen(&rungs[i]) || rungs[i].missing() || seen++ % every != 0)
                    continue;
                cases[i]++;
                if (!stays_inside(&c, rungs[i].run, true) || !stays_inside(&c, rungs[i].run, false)) {
                    if (failed[i]++ == 0)
                        case_describe(&c, first_failure[i]);
                }
            }
    report("nothing outside is read or written");
}

static void check_by_chance(int count, uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        const int width = 1 + (int)(case_random(&seed) % 400), height = 1 + (int)(case_random(&seed) % 100);
        const encode_case c = some_case((int)(case_random(&seed) % CASE_SAMPLINGS),
            (int)(case_random(&seed) % CASE_FILLS), width, height, &seed);
        compare(&c);
    }
    report("by chance");
}

/* Takes 420 for 4:2:0, since names of files in a Makefile have no colons. */
static int sampling_named(const char *asked)
{
    for (int s = 0; s < CASE_SAMPLINGS; s++) {
        char name[8];
        size_t n = 0;
        for (const char *c = case_samplings[s].name; *c; c++)
            if (*c != ':')
                name[n++] = *c;
        name[n] = '\0';
        if (strcmp(name, asked) == 0)
            return s;
    }
    need(false, "--all= takes gray, 444, 422, 420, 440 or 411");
    return -1;
}

int main(int argc, char **argv)
{
    int count = 300, product = -1;
    uint64_t seed = 26;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--all=", 6) == 0)
            product = sampling_named(argv[i] + 6);
        else if (strncmp(argv[i], "--cases=", 8) == 0)
            count = atoi(argv[i] + 8);
        else if (strncmp(argv[i], "--seed=", 7) == 0)
            seed = strtoull(argv[i] + 7, NULL, 10);
        else
            need(sscanf(argv[i], "--only=%19[^/]/%d", only, &every) == 2 && every > 0,
                "usage: encode_check [--all=SAMPLING] [--cases=N] [--seed=N] [--only=NAME/N]");
    }
    printf("# seed %llu\n", (unsigned long long)seed);
    if (product >= 0) {
        check_product(product, seed);
    } else {
        for (int s = 0; s < CASE_SAMPLINGS; s++)
            check_sizes(s, seed + (uint64_t)s);
        check_qualities(seed);
        check_bounds(seed);
        check_large(seed);
        check_by_chance(count, seed);
    }
    printf("1..%d\n", tests);
    return failures > 0;
}
