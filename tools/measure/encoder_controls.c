/* encoder_controls PIXELS.ppm RUNS: finds what bounds the encoder avx512 on this machine, without counters.
 *
 * A few units of the picture are encoded from the caches, as the encoder does it, but with instructions added
 * to one stage whose results are not used. If the stage is limited by what such an instruction needs (a port,
 * or a place in the processor's front end), each of them takes time; if not, they take none. The bytes remain
 * those of lap_encode_avx512, which is checked. Prints JSON; tools/measure/encoder-bounds builds and runs
 * it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

#include "cpu_simd/cpu.h"
#include "cpu_simd/jpeg/encode_unit.h"
#include "lapedge.h"
#include "libjpeg/jpeg_head.h"

enum { UNITS = 48, MOST_RUNS = 2000, IN_A_ROW = 3, CHAIN = 1 << 16 };

/* What is added: nothing, an instruction that only takes a place, additions and shifts and permutations of
 * vectors (on Intel's cores with vectors of 512 bits: ports 0 and 5, port 0, port 5), a load, a store. */
typedef enum kind { NOTHING, PLACE, ADDITION, SHIFT, PERMUTATION, LOAD, STORE, KINDS } kind;
static const char *const kinds[KINDS] = {
    "nothing", "place", "addition", "shift", "permutation", "load", "store"};

typedef enum stage { NO_STAGE, SAMPLES, COEFFICIENTS, SYMBOLS, NUMBER, LOOK_UP, PUT, STAGES } stage;
static const char *const stages[STAGES] = {
    "none", "samples", "coefficients", "symbols", "number", "look up", "put"};

static uint64_t scratch_word;

/* Their results go to registers that the compiler does not use, and no added instruction waits for another
 * one. */
LAP_INLINE void one(kind what)
{
    switch (what) {
    case PLACE:
        __asm__ volatile("nop");
        break;
    case ADDITION:
        __asm__ volatile("vpaddw %%zmm30, %%zmm30, %%zmm31" ::: "xmm31");
        break;
    case SHIFT:
        __asm__ volatile("vpsllw $1, %%zmm30, %%zmm31" ::: "xmm31");
        break;
    case PERMUTATION:
        __asm__ volatile("vpermb %%zmm30, %%zmm30, %%zmm31" ::: "xmm31");
        break;
    case LOAD:
        __asm__ volatile("movq %0, %%rax" ::"m"(scratch_word) : "rax");
        break;
    case STORE:
        __asm__ volatile("movq %%rsp, %0" : "=m"(scratch_word));
        break;
    default:
        break;
    }
}

/* How many instructions a stage gets at each of its calls: many where a call is a long one. */
static const int added[STAGES] = {0, 96, 192, 8, 8, 8, 8};

LAP_INLINE void add(stage here, stage there, kind what)
{
    if (here != there)
        return;
#pragma GCC unroll 192
    for (int i = 0; i < added[here]; i++)
        one(what);
}

/* ---- the encoder, with additions ------------------------------------------------------------------------
 */

typedef struct work {
    const lap_encode_plan *plan;
    lap_view pixels;
    lap_encode_state state;
    lap_unit *unit;
    uint8_t *out;
    size_t bytes; /* of the last pass, and their sum, by which passes are compared */
    uint64_t sum;
    uint64_t ticks[STAGES + 1]; /* of each stage, if they are timed; then of stuffing */
    long calls[STAGES], symbols;
} work;

/* Adds the ticks since *at to a stage. */
LAP_INLINE void tick(work *w, bool timed, int stage, uint64_t *at)
{
    if (!timed)
        return;
    const uint64_t now = __rdtsc();
    w->ticks[stage] += now - *at;
    *at = now;
}

LAP_INLINE void coefficients_with(
    work *w, const lap_encode_rows *rows, int first, int count, stage there, kind what, bool timed)
{
    const lap_encode_plan *plan = w->plan;
    const int group_mcus = LAP_GROUP / (8 * plan->h), group_blocks = lap_group_blocks(plan);
    uint64_t at = timed ? __rdtsc() : 0;
    for (int mcu = 0; mcu < count; mcu += group_mcus) {
        add(SAMPLES, there, what);
        lap_group_samples(plan, rows, (first + mcu) * 8 * plan->h, &w->unit->group);
        tick(w, timed, SAMPLES, &at);
        add(COEFFICIENTS, there, what);
        lap_group_coefficients(
            plan, &w->unit->group, w->unit->blocks + mcu / group_mcus * group_blocks * LAP_BLOCK);
        tick(w, timed, COEFFICIENTS, &at);
        w->calls[SAMPLES]++;
        w->calls[COEFFICIENTS]++;
    }
    lap_encode_dummies(plan, rows, first, count, w->unit->blocks);
}

#define APPEND(kind)                                                                                   \
    LAP_INLINE int append_##kind(lap_symbols *s, int at, const int16_t *block, int dc, bool is_chroma, \
        const lap_encode_tables *tables)                                                               \
    {                                                                                                  \
        add(SYMBOLS, SYMBOLS, kind);                                                                   \
        return lap_append_block(s, at, block, dc, is_chroma, tables);                                  \
    }
APPEND(NOTHING)
APPEND(PLACE)
APPEND(ADDITION)
APPEND(SHIFT)
APPEND(PERMUTATION)
APPEND(LOAD)
APPEND(STORE)

typedef void look_up_fn(const lap_constants *k, const lap_tables *tables, lap_pieces *pieces, int steps);

/* Multiplications instead of permutations: the same loads, masks and stores, but what is found is nonsense.
 */
LAP_INLINE void multiply_instead(
    const lap_constants *k, const lap_tables *tables, lap_pieces *pieces, int steps)
{
    const __m512i low = _mm512_set1_epi16(7), some = _mm512_set1_epi16(3);
    for (int i = 0; i < steps; i++) {
        lap_pieces *p = &pieces[i];
        const __m512i number = p->number;
        const __mmask32 from_64 = _mm512_test_epi16_mask(number, lap_word(k, K_64));
        const __mmask32 from_128 = _mm512_test_epi16_mask(number, lap_word(k, K_128));
        const lap_code_table *t = &tables->codes[0];
        __m512i code = _mm512_mullo_epi16(number, t->code[0]);
        code = _mm512_mask_blend_epi16(from_64, code, _mm512_mullo_epi16(number, t->code[2]));
        p->code = _mm512_mask_blend_epi16(from_128, code, _mm512_mullo_epi16(number, t->code[4]));
        const __m512i length = _mm512_mask_blend_epi16(
            from_128, _mm512_mullo_epi16(number, t->length[0]), _mm512_mullo_epi16(number, t->length[2]));
        p->code_length = _mm512_add_epi16(_mm512_and_si512(length, low), some);
        p->code = _mm512_and_si512(p->code, low);
    }
}

typedef struct form {
    look_up_fn *look_up;
    lap_put_eight_fn *put_eight;
} form;

LAP_INLINE size_t bits_with(work *w, stage there, kind what, bool timed, const form *form)
{
    lap_unit *u = w->unit;
    const lap_symbols *s = &u->symbols;
    const lap_tables tables = lap_tables_of(w->plan);
    const lap_constants *k = lap_constants_of();
    lap_encode_state *state = &w->state;
    lap_pieces *pieces = u->scratch.pieces;
    lap_bits b = {.position = _mm512_set1_epi64(state->bit_count),
        .tail = _mm512_set1_epi64(state->bits),
        .bytes = u->bytes};
    uint64_t at = timed ? __rdtsc() : 0;
    int i = 0;
    while (i + LAP_STEP <= s->count) {
        int steps = 0;
        for (; steps < LAP_BATCH && i + LAP_STEP <= s->count; i += LAP_STEP) {
            lap_number(k, s, i, LAP_STEP, &pieces[steps++]);
            add(NUMBER, there, what);
        }
        tick(w, timed, NUMBER, &at);
        for (int step = 0; step < steps; step++)
            add(LOOK_UP, there, what);
        form->look_up(k, &tables, pieces, steps);
        tick(w, timed, LOOK_UP, &at);
        for (int step = 0; step < steps; step++) {
            lap_put(&b, k, &pieces[step], LAP_STEP, form->put_eight);
            add(PUT, there, what);
        }
        tick(w, timed, PUT, &at);
        w->calls[NUMBER] += steps;
    }
    if (i < s->count) {
        lap_number(k, s, i, s->count - i, pieces);
        form->look_up(k, &tables, pieces, 1);
        lap_put(&b, k, pieces, s->count - i, form->put_eight);
        tick(w, timed, PUT, &at);
    }
    w->symbols += s->count;
    const uint64_t end = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(b.position));
    state->bit_count = end % 8;
    state->bits = state->bit_count ? (unsigned)u->bytes[end / 8] >> (8 - state->bit_count) : 0;
    return end / 8;
}

/* ---- a pass over the units ------------------------------------------------------------------------------
 */

typedef void front_fn(work *w, const lap_encode_rows *rows, int first, int count);
typedef size_t back_fn(work *w);
typedef struct way {
    front_fn *front;
    back_fn *back;
    const char *name; /* of a change that is not an addition */
} way;

#define FRONT(name, there, what, timed, append)                                                            \
    static __attribute__((noinline)) void name(work *w, const lap_encode_rows *rows, int first, int count) \
    {                                                                                                      \
        coefficients_with(w, rows, first, count, there, what, timed);                                      \
        uint64_t at = timed ? __rdtsc() : 0;                                                               \
        lap_unit_symbols(w->plan, &w->state, count, w->unit->blocks, append, &w->unit->symbols);           \
        tick(w, timed, SYMBOLS, &at);                                                                      \
        w->calls[SYMBOLS] += count * w->plan->mcu_blocks;                                                  \
    }
#define BACK(name, there, what, timed, ...)               \
    static __attribute__((noinline)) size_t name(work *w) \
    {                                                     \
        const form form = {__VA_ARGS__};                  \
        return bits_with(w, there, what, timed, &form);   \
    }
#define FORM lap_look_up_needed, lap_scatter_eight
#define BOTH lap_look_up_both, lap_scatter_eight
#define STORES lap_look_up_needed, lap_store_eight
#define NO_LOOK_UP multiply_instead, lap_scatter_eight

#define ADDITIONS(kind)                                                   \
    FRONT(samples_##kind, SAMPLES, kind, false, append_NOTHING)           \
    FRONT(coefficients_##kind, COEFFICIENTS, kind, false, append_NOTHING) \
    FRONT(symbols_##kind, SYMBOLS, kind, false, append_##kind)            \
    BACK(number_##kind, NUMBER, kind, false, FORM)                        \
    BACK(look_up_##kind, LOOK_UP, kind, false, FORM)                      \
    BACK(put_##kind, PUT, kind, false, FORM)
FRONT(front, NO_STAGE, NOTHING, false, append_NOTHING)
FRONT(front_timed, NO_STAGE, NOTHING, true, append_NOTHING)
BACK(back, NO_STAGE, NOTHING, false, FORM)
BACK(back_timed, NO_STAGE, NOTHING, true, FORM)
BACK(back_both, NO_STAGE, NOTHING, false, BOTH)
BACK(back_stores, NO_STAGE, NOTHING, false, STORES)
BACK(back_no_look_up, NO_STAGE, NOTHING, false, NO_LOOK_UP)
ADDITIONS(PLACE)
ADDITIONS(ADDITION)
ADDITIONS(SHIFT)
ADDITIONS(PERMUTATION)
ADDITIONS(LOAD)
ADDITIONS(STORE)

#define WAYS(kind)                                                                                 \
    {                                                                                              \
        {0}, {samples_##kind, back, 0}, {coefficients_##kind, back, 0}, {symbols_##kind, back, 0}, \
            {front, number_##kind, 0}, {front, look_up_##kind, 0},                                 \
        {                                                                                          \
            front, put_##kind, 0                                                                   \
        }                                                                                          \
    }
static const way additions[KINDS][STAGES] = {
    {{0}}, WAYS(PLACE), WAYS(ADDITION), WAYS(SHIFT), WAYS(PERMUTATION), WAYS(LOAD), WAYS(STORE)};
static const way plain = {front, back, 0}, timed_way = {front_timed, back_timed, 0};
static const way changes[] = {{front, back_both, "each step looked up in both tables"},
    {front, back_stores, "eight stores instead of a scatter"},
    {front, back_no_look_up, "multiplications instead of permutations"}};
enum { CHANGES = sizeof changes / sizeof *changes };

/* Ticks of encoding UNITS units, spread over the picture. */
static uint64_t pass(work *w, const way *way)
{
    const lap_encode_plan *plan = w->plan;
    const int unit = lap_encode_unit_mcus(plan), across = plan->mcus / unit,
              down = w->pixels.height / (8 * plan->v), all = across * down;
    w->state = (lap_encode_state){.work = w->unit};
    w->sum = w->bytes = 0;
    uint64_t ticks = 0;
    for (int i = 0; i < UNITS; i++) {
        const int number = (int)((long)i * all / UNITS), first = number % across * unit;
        const lap_encode_rows rows = {
            w->pixels.base + number / across * 8 * plan->v * w->pixels.stride, w->pixels.stride, 8 * plan->v};
        const uint64_t start = __rdtsc();
        way->front(w, &rows, first, unit);
        const size_t bytes = way->back(w);
        memset(w->unit->bytes + bytes, 0, LAP_GROUP);
        const uint64_t at = __rdtsc();
        const size_t stuffed = lap_stuff(w->unit->bytes, bytes, w->out);
        const uint64_t end = __rdtsc();
        w->ticks[STAGES] += end - at;
        ticks += end - start;
        for (size_t j = 0; j < stuffed; j++)
            w->sum = 31 * w->sum + w->out[j];
        w->bytes += stuffed;
    }
    return ticks;
}

/* Ticks of a cycle, by a chain of multiplications: each takes three. Chains of additions do not tell, since
 * some processors do several of them in a cycle where registers are renamed. */
static double ticks_of_cycle(void)
{
    uint64_t least = UINT64_MAX, value = 1;
    for (int i = 0; i < 20; i++) {
        const uint64_t start = __rdtsc();
        for (int j = 0; j < CHAIN; j += 4)
            __asm__ volatile("imul %0, %0\nimul %0, %0\nimul %0, %0\nimul %0, %0" : "+r"(value));
        const uint64_t ticks = __rdtsc() - start;
        least = ticks < least ? ticks : least;
    }
    return (double)least / CHAIN / 3;
}

/* Cycles that one added instruction takes where nothing else runs. */
static double alone(kind what, double cycle)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 20; i++) {
        const uint64_t start = __rdtsc();
        for (int j = 0; j < CHAIN / 16; j++)
            switch (what) {
#define TIMES(kind)                                                                             \
    case kind:                                                                                  \
        one(kind), one(kind), one(kind), one(kind), one(kind), one(kind), one(kind), one(kind); \
        one(kind), one(kind), one(kind), one(kind), one(kind), one(kind), one(kind), one(kind); \
        break;
                TIMES(PLACE)
                TIMES(ADDITION) TIMES(SHIFT) TIMES(PERMUTATION) TIMES(LOAD) TIMES(STORE) default : break;
            }
        const uint64_t ticks = __rdtsc() - start;
        least = ticks < least ? ticks : least;
    }
    return (double)least / CHAIN / cycle;
}

/* ---- the program ----------------------------------------------------------------------------------------
 */

static void need(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "encoder_controls: %s\n", what);
    exit(1);
}

static lap_view picture(const char *path)
{
    lap_view view = {.channels = 3, .place = LAP_ON_HOST};
    FILE *file = fopen(path, "rb");
    need(file && fscanf(file, "P6 %d %d 255", &view.width, &view.height) == 2 && fgetc(file) != EOF, path);
    const size_t size = (size_t)view.width * (size_t)view.height * 3;
    view.stride = 3 * view.width;
    view.base = malloc(size + 4096); /* pixels of the next unit are fetched ahead */
    need(view.base && fread(view.base, 1, size, file) == size, "the pixels");
    fclose(file);
    return view;
}

static lap_encode_plan plan_of(const lap_view *pixels)
{
    lap_settings settings = lap_settings_default();
    const lap_write_options options = {.width = pixels->width,
        .height = pixels->height,
        .channels = 3,
        .quality = settings.quality,
        .subsampling = LAP_SUB_420,
        .restart = LAP_RESTART_OFF,
        .in_order = true};
    lap_jpeg_head head = {0};
    lap_encode_plan plan;
    need(lap_jpeg_head_make(&options, &head, NULL) == LAP_OK, "the header");
    lap_encode_target target = {.width = pixels->width, .channels = 3};
    memcpy(target.h, head.h, sizeof target.h);
    memcpy(target.v, head.v, sizeof target.v);
    memcpy(target.quant, head.quant, sizeof target.quant);
    need(lap_encode_plan_make(&target, &plan), "the plan");
    return plan;
}

/* The sum of the bytes that the encoder itself writes. */
static uint64_t expected(work *w)
{
    const lap_encode_plan *plan = w->plan;
    const int unit = lap_encode_unit_mcus(plan), across = plan->mcus / unit,
              all = across * (w->pixels.height / (8 * plan->v));
    uint64_t sum = 0;
    w->state = (lap_encode_state){.work = w->unit};
    for (int i = 0; i < UNITS; i++) {
        const int number = (int)((long)i * all / UNITS);
        const lap_encode_rows rows = {
            w->pixels.base + number / across * 8 * plan->v * w->pixels.stride, w->pixels.stride, 8 * plan->v};
        const size_t bytes = lap_encode_avx512(plan, &w->state, &rows, number % across * unit, unit, w->out);
        for (size_t j = 0; j < bytes; j++)
            sum = 31 * sum + w->out[j];
    }
    return sum;
}

/* For each way: its ticks divided by those of the plain encoder in the same run; then the median over all
 * runs. */
typedef struct measured {
    double shares[MOST_RUNS], median;
} measured;
static measured with_addition[KINDS][STAGES], with_change[CHANGES];
static uint64_t least_plain = UINT64_MAX;

/* Several passes, one after the other; the first ones warm up the way's code. */
static uint64_t least_of(work *w, const way *way)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < IN_A_ROW; i++) {
        const uint64_t ticks = pass(w, way);
        least = ticks < least ? ticks : least;
    }
    return least;
}

static void time_way(work *w, const way *way, int run, measured *m)
{
    const uint64_t before = least_of(w, &plain), ticks = least_of(w, way), after = least_of(w, &plain);
    m->shares[run] = 2.0 * (double)ticks / (double)(before + after);
    least_plain = before < least_plain ? before : least_plain;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void take_median(measured *m, int runs)
{
    qsort(m->shares, (size_t)runs, sizeof *m->shares, compare);
    m->median = m->shares[runs / 2];
}

static void measure(work *w, int runs, uint64_t sum)
{
    for (int run = 0; run < runs; run++) {
        for (int k = NOTHING + 1; k < KINDS; k++)
            for (int s = NO_STAGE + 1; s < STAGES; s++) {
                pass(w, &additions[k][s]);
                need(w->sum == sum, "bytes differ");
                time_way(w, &additions[k][s], run, &with_addition[k][s]);
            }
        for (int i = 0; i < CHANGES; i++)
            time_way(w, &changes[i], run, &with_change[i]);
    }
    for (int k = NOTHING + 1; k < KINDS; k++)
        for (int s = NO_STAGE + 1; s < STAGES; s++)
            take_median(&with_addition[k][s], runs);
    for (int i = 0; i < CHANGES; i++)
        take_median(&with_change[i], runs);
}

static void print(work *w, double cycle, const uint64_t stage_ticks[STAGES + 1])
{
    const double units = UNITS, whole = (double)least_plain / cycle / units;
    const char *comma = "";
    printf(" \"cycles a unit\": %.0f,\n \"symbols a unit\": %.0f,\n \"ticks a cycle\": %.4f,\n \"alone\": {",
        whole, (double)w->symbols / units, cycle);
    for (int k = NOTHING + 1; k < KINDS; k++, comma = ", ")
        printf("%s\"%s\": %.3f", comma, kinds[k], alone((kind)k, cycle));
    printf("},\n \"stages\": {\n");
    for (int s = NO_STAGE + 1; s < STAGES; s++) {
        const double calls = (double)w->calls[s >= NUMBER ? NUMBER : s], all = calls * added[s];
        printf("  \"%s\": {\"cycles a unit\": %.0f, \"calls a unit\": %.1f", stages[s],
            (double)stage_ticks[s] / cycle / units, calls / units);
        for (int k = NOTHING + 1; k < KINDS; k++)
            printf(", \"%s\": %.3f", kinds[k], (with_addition[k][s].median - 1) * whole * units / all);
        printf("},\n");
    }
    printf("  \"stuff\": {\"cycles a unit\": %.0f}\n },\n \"changes\": {",
        (double)stage_ticks[STAGES] / cycle / units);
    comma = "";
    for (int i = 0; i < CHANGES; i++, comma = ", ")
        printf("%s\"%s\": %.0f", comma, changes[i].name, with_change[i].median * whole);
    printf("}\n}\n");
}

int main(int argc, char **argv)
{
    need(argc == 3, "usage: encoder_controls PIXELS.ppm RUNS");
    need(!lap_cpu_no_avx512vbmi2(), "this processor does not run avx512");
    const int runs = atoi(argv[2]);
    need(runs > 0 && runs <= MOST_RUNS, "RUNS");
    work w = {.pixels = picture(argv[1])};
    const lap_encode_plan plan = plan_of(&w.pixels);
    w.plan = &plan;
    w.unit = aligned_alloc(LAP_ENCODE_ALIGNMENT, LAP_ENCODE_WORK);
    w.out = malloc((size_t)(LAP_ENCODE_UNIT_BLOCKS * LAP_ENCODE_BLOCK_BYTES) + LAP_ENCODE_SLACK);
    need(w.unit && w.out, "memory");
    const uint64_t sum = expected(&w);
    measure(&w, runs, sum);
    uint64_t stage_ticks[STAGES + 1];
    memset(stage_ticks, 0xFF, sizeof stage_ticks);
    for (int run = 0; run < 20 * runs; run++) {
        memset(w.ticks, 0, sizeof w.ticks);
        memset(w.calls, 0, sizeof w.calls);
        w.symbols = 0;
        pass(&w, &timed_way);
        for (int s = 0; s <= STAGES; s++)
            stage_ticks[s] = w.ticks[s] < stage_ticks[s] ? w.ticks[s] : stage_ticks[s];
    }
    printf("{\n");
    print(&w, ticks_of_cycle(), stage_ticks);
    return 0;
}
