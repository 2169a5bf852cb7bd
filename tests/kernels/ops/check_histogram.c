#include <string.h>

#include "ops.h"

typedef uint64_t counters[4][256];
typedef enum fill { NOISE, ZERO, FULL, RUNS, GRADIENT, FILLS } fill;

static void fill_row(uint8_t *row, int y, size_t bytes, fill kind)
{
    random_fill(row, bytes);
    for (size_t i = 0; kind != NOISE && i < bytes; i++) {
        switch (kind) {
        case ZERO:
            row[i] = 0;
            break;
        case FULL:
            row[i] = 255;
            break;
        case RUNS: /* flat areas of all lengths, with single samples that differ */
            row[i] = row[i] < 4 ? row[i] : (uint8_t)(i / 200 + (size_t)y / 3);
            break;
        default:
            row[i] = (uint8_t)(i / 7 + (size_t)y + row[i] % 8);
        }
    }
}

static bool check_case(const lap_rung *rung, int width, int height, int channels, fill kind)
{
    const bool host = !rung->device;
    const int place = host ? LAP_ON_HOST : 0;
    const size_t row = (size_t)width * (size_t)channels, offset = host ? (size_t)random_below(64) : 0;
    const size_t stride = row + (host ? (size_t)random_below(40) : -row % 128);
    block memory = block_new(place, offset + stride * (size_t)height);
    uint8_t *base = block_host(&memory) + offset;
    counters expected, counts;
    lap_error err = {0};
    bool good = true;
    for (int y = 0; y < height; y++)
        fill_row(base + (size_t)y * stride, y, row, kind);
    /* Counts are added to the old ones; the counts of channels that do not exist are unchanged. */
    random_fill(expected, sizeof expected);
    memcpy(counts, expected, sizeof counts);
    for (int y = 0; y < height; y++) {
        for (size_t i = 0; i < row; i++)
            expected[i % (size_t)channels][base[(size_t)y * stride + i]]++;
    }
    block_push(&memory);
    const lap_view view = {
        block_data(&memory) + offset, (ptrdiff_t)stride, width, height, channels, 0, place};
    const lap_exec exec = {.threads = 1 + random_below(3), .err = &err};
    lap_code code = rung->run.histogram(&view, counts, &exec);
    if (code != LAP_OK)
        good = fault("%s: %s: %s", rung->name, lap_code_name(code), err.message);
    else if (memcmp(counts, expected, sizeof counts) != 0)
        good = fault(
            "%s: %dx%d, %d channels, fill %d: counts differ", rung->name, width, height, channels, kind);
    block_free(&memory);
    return good;
}

static bool check_rung(const lap_rung *rung)
{
    bool good = true;
    if (ONLY_RACES)
        return check_case(rung, 37, 11, 3, RUNS) && check_case(rung, 100, 50, 1, ZERO);
    for (int channels = 1; channels <= 4; channels++) {
        for (int w = 1; w <= 67; w++)
            good = check_case(rung, w, 1 + random_below(5), channels, (fill)(w % FILLS)) && good;
        for (int k = 0; k < FILLS; k++) {
            /* Sizes larger than those that rungs count one by one, for each number of channels. */
            good = check_case(rung, 1000 + random_below(70), 600, channels, (fill)k) && good;
            good = check_case(rung, 1 + random_below(4000), 1 + random_below(30), channels, (fill)k) && good;
        }
        good = check_case(rung, 5, 60000, channels, RUNS) && good;
    }
    return good;
}

/* ---- rungs that must be refused ------------------------------------------------------------------ */

static lap_code swaps_channels(const lap_view *in, uint64_t counts[4][256], const lap_exec *exec)
{
    lap_view shifted = *in;
    if (in->channels > 1 && in->width > 1)
        shifted.base++, shifted.width--;
    return lap_histogram_table[0].run.histogram(&shifted, counts, exec);
}

static lap_code overwrites(const lap_view *in, uint64_t counts[4][256], const lap_exec *exec)
{
    memset(counts, 0, sizeof(counters));
    return lap_histogram_table[0].run.histogram(in, counts, exec);
}

void check_histogram(void)
{
    check_table(lap_histogram_table, check_rung);
    check_refused("starts in the second channel", check_rung,
        &(lap_rung){.op = LAP_OP_HISTOGRAM, .name = "wrong", .run.histogram = swaps_channels});
    check_refused("does not add to what was there", check_rung,
        &(lap_rung){.op = LAP_OP_HISTOGRAM, .name = "wrong", .run.histogram = overwrites});
}
