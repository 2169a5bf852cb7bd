#include <math.h>
#include <string.h>

#include "ops.h"

typedef enum fill { WHOLE, REAL, MIXED } fill;

static double fill_value(fill kind)
{
    switch (kind) {
    case WHOLE: /* every partial sum is whole and small: all orders of adding give the same */
        return random_below(17) - 8;
    case REAL:
        return (double)(random64() >> 11) * 0x1p-53;
    default:
        return ((double)(random64() >> 11) * 0x1p-52 - 1) * exp2(random_below(20));
    }
}

/* The error that a rung may have, in units of the last place (2^-24 or 2^-53) of the sum of
 * magnitudes: one rounding per addition on the longest way from a value to the sum. */
static double allowed_roundings(const lap_rung *rung, size_t n, bool is_double)
{
    if (strcmp(rung->name, "pairwise") == 0)
        return 128 + ceil(log2((double)n / 128 + 2));
    /* A running sum in each of the threads, of which there are at least 16 blocks of 128 on two
     * multiprocessors. */
    if (strcmp(rung->name, "cuda-grid") == 0 || strcmp(rung->name, "cuda-wide") == 0 ||
        strcmp(rung->name, "cuda-unrolled") == 0)
        return 24 + ceil((double)n / (2 * 16 * 128));
    if (strcmp(rung->family, "cuda") == 0 && strcmp(rung->name, "cuda-fast") != 0)
        return 8 * ceil(log2((double)n + 2) / 7); /* seven halvings a level, and the result */
    if (!is_double && strcmp(rung->family, "simd") == 0)
        return 33;
    if (!is_double && strcmp(rung->name, "cuda-fast") == 0)
        return 5;
    return (double)n + 1;
}

static bool check_case(const lap_rung *rung, size_t n, bool is_double, fill kind)
{
    const int place = rung->device ? 0 : LAP_ON_HOST;
    const size_t size = is_double ? sizeof(double) : sizeof(float);
    /* Aligned for one value, not for a vector of them. */
    const size_t offset = (size_t)random_below(4) * size;
    block memory = block_new(place, offset + n * size), copy = block_new(LAP_ON_HOST, offset + n * size);
    const lap_array array = {block_data(&memory) + offset, n, is_double, place};
    lap_error err = {0};
    const lap_exec exec = {.threads = 1 + random_below(3), .err = &err};
    long double exact = 0, magnitude = 0;
    for (size_t i = 0; i < n; i++) {
        double x = fill_value(kind);
        float f = (float)x;
        memcpy(block_host(&memory) + offset + i * size, is_double ? (void *)&x : (void *)&f, size);
        exact += is_double ? x : f;
        magnitude += fabs(is_double ? x : f);
    }
    memcpy(copy.host, memory.host, memory.bytes + 2 * GUARD);
    block_push(&memory);
    double sum = NAN, unit = is_double ? 0x1p-53 : 0x1p-24;
    lap_code code = rung->run.reduce(&array, &sum, &exec);
    block_pull(&memory);
    double bound = kind == WHOLE ? 0 : (double)magnitude * unit * allowed_roundings(rung, n, is_double);
    bool good = true;
    if (code != LAP_OK)
        good = fault("%s: %s: %s", rung->name, lap_code_name(code), err.message);
    else if (!(fabsl(sum - exact) <= bound))
        good = fault("%s: %zu %s, fill %d: %.17g, exact %.17Lg, off by at most %g", rung->name, n,
            is_double ? "doubles" : "floats", kind, sum, exact, bound);
    else if (memcmp(copy.host, memory.host, memory.bytes + 2 * GUARD) != 0)
        good = fault("%s: %zu values: the input was written", rung->name, n);
    block_free(&memory);
    block_free(&copy);
    return good;
}

static bool check_rung(const lap_rung *rung)
{
    static const size_t lengths[] = {
        127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 2047, 4097, 16384, 65537, 100003, 1 << 18};
    bool good = true;
    for (int is_double = 0; is_double < 2; is_double++) {
        for (fill kind = WHOLE; kind <= MIXED; kind++) {
            for (size_t n = 0; n <= 70; n++)
                good = check_case(rung, n, is_double, kind) && good;
            for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
                good = check_case(rung, lengths[i], is_double, kind) && good;
        }
    }
    return good;
}

/* ---- one sum for every instruction set ----------------------------------------------------------- */

static bool check_same_bits(const lap_rung *rung)
{
    enum { N = 100003 };
    static float x[N];
    static double first;
    static bool has_first;
    const lap_exec exec = {0};
    double sum;
    if (strcmp(rung->family, "simd") != 0)
        return true;
    for (int i = 0; i < N; i++)
        x[i] = sinf((float)i) * 1000;
    rung->run.reduce(&(lap_array){x, N, false, LAP_ON_HOST}, &sum, &exec);
    if (!has_first)
        first = sum;
    has_first = true;
    return sum == first || fault("%s gives %.17g, another instruction set %.17g", rung->name, sum, first);
}

static bool check_all(const lap_rung *rung)
{
    if (ONLY_RACES)
        return check_case(rung, 300, false, WHOLE) && check_case(rung, 4099, true, WHOLE);
    return check_rung(rung) && check_same_bits(rung);
}

/* ---- rungs that must be refused ------------------------------------------------------------------ */

static lap_code forgets_last(const lap_array *in, double *sum, const lap_exec *exec)
{
    const lap_array fewer = {in->base, in->n > 0 ? in->n - 1 : 0, in->is_double, in->place};
    return lap_reduce_table[0].run.reduce(&fewer, sum, exec);
}

void check_reduce(void)
{
    check_table(lap_reduce_table, check_all);
    check_refused("leaves the last value out", check_all,
        &(lap_rung){.op = LAP_OP_REDUCE, .name = "wrong", .family = "c", .run.reduce = forgets_last});
}
