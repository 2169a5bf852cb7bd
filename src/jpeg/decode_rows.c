#include "jpeg/decode_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/luma.h"
#include "base/status.h"
#include "jpeg/decode_bytes.h"

enum { ALIGNMENT = 64 };

typedef struct sample_plane { /* samples of a component: a ring buffer of the last rows of MCUs */
    uint8_t *base;
    ptrdiff_t stride;
    int rows;          /* rows of the buffer: it stores the component's row y as row y % rows */
    int width, height; /* without padding: libjpeg's downsampled_width and its height */
} sample_plane;

struct lap_row_decoder {
    const lap_decode_plan *plan;
    const lap_decode_stages *stages;
    int components; /* how many components are transformed: 1 if only luma is wanted */
    void *memory;
    /* input: the bits of the file, or all coefficients */
    const lap_held *held;
    size_t size; /* bytes of the file */
    lap_decode_bytes bytes;
    int interval_left; /* MCUs until the next marker */
    int restarts;      /* markers passed */
    /* working memory and progress */
    lap_decode_unit unit;
    sample_plane planes[LAP_JPEG_COMPONENTS];
    bool is_mixed;         /* luma is wanted and must be computed from RGB */
    uint8_t *rgb;          /* one row of RGB, if is_mixed */
    uint8_t *wide[2];      /* a row of Cb, one of Cr, if is_spread: as wide as luma */
    int mcu_rows;          /* MCU rows decoded so far */
    int row;               /* the next row of pixels */
    bool is_over;          /* invalid or unsupported data: no more rows */
    lap_row_decoder *next; /* the next idle decoder of a list */
};

/* ---- memory -------------------------------------------------------------------------------------- */

enum { MAX_UNIT_BLOCKS = 80, MAX_ROWS = 96 /* rows of samples, all components together */ };

typedef struct layout { /* offsets into a decoder's memory */
    size_t coefficients, last, bytes, planes[LAP_JPEG_COMPONENTS], wide[2], rgb, size;
} layout;

enum { QUARTER = 4 };

/* Chroma with a quarter of luma's width is not interpolated, as in libjpeg: each sample stands for four
 * pixels. */
static bool is_spread(const lap_row_decoder *d)
{
    return d->components > 1 && d->plan->h == QUARTER;
}

static size_t take(size_t *next, size_t size)
{
    const size_t taken = *next;
    *next += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return taken;
}

/* No size can overflow: a row has at most 65,500 pixels. */
static layout lay_out(const lap_row_decoder *d)
{
    layout p = {0};
    size_t next = 0;
    const size_t blocks = (size_t)d->plan->unit_blocks;
    p.coefficients = take(&next, blocks * 64 * sizeof(int16_t));
    p.last = take(&next, blocks);
    p.bytes = take(&next, d->held ? 0 : lap_decode_bytes_room(d->bytes.most));
    for (int c = 0; c < d->components; c++)
        p.planes[c] = take(&next, (size_t)d->planes[c].stride * (size_t)d->planes[c].rows);
    for (int c = 0; c < 2; c++)
        p.wide[c] = take(&next, is_spread(d) ? (size_t)d->planes[0].stride : 0);
    p.rgb = take(&next, d->is_mixed ? 3 * (size_t)d->plan->width : 0);
    p.size = next;
    return p;
}

static void measure(lap_row_decoder *d)
{
    const lap_decode_plan *p = d->plan;
    d->bytes.most = (size_t)p->unit_mcus * (size_t)p->mcu_blocks * LAP_BYTES_BLOCK;
    for (int c = 0; c < d->components; c++) {
        sample_plane *plane = &d->planes[c];
        const int h = p->across[c], v = p->down[c];
        plane->width = (p->width * h - 1) / p->h + 1;
        plane->height = (p->height * v - 1) / p->v + 1;
        /* Room for the MCU rows that are decoded together, or for two if upsampling reads the next row of
         * chroma. */
        plane->rows = 8 * v * p->v * p->together;
        plane->stride = (ptrdiff_t)p->mcus * h * 8 + 2 * LAP_DECODE_SLACK;
        plane->stride += -plane->stride & (ALIGNMENT - 1);
    }
}

size_t lap_row_decoder_memory(int width)
{
    const size_t row = (size_t)width + 2 * LAP_DECODE_SLACK + 2 * ALIGNMENT;
    return sizeof(lap_row_decoder) + row * (MAX_ROWS + 5) + (size_t)MAX_UNIT_BLOCKS * 129 +
           lap_decode_bytes_room((size_t)MAX_UNIT_BLOCKS * LAP_BYTES_BLOCK) + 10 * ALIGNMENT;
}

static void place_parts(lap_row_decoder *d, const layout *p)
{
    uint8_t *base = (uint8_t *)d->memory + (ALIGNMENT - (uintptr_t)d->memory % ALIGNMENT);
    d->unit.coefficients = (int16_t *)(void *)(base + p->coefficients);
    d->unit.last = base + p->last;
    d->bytes.memory = base + p->bytes;
    d->rgb = base + p->rgb;
    for (int c = 0; c < d->components; c++) {
        d->planes[c].base = base + p->planes[c] + LAP_DECODE_SLACK;
        /* Vector code reads beyond both ends of a row. No result depends on those bytes, but they must be
         * initialised. */
        memset(base + p->planes[c], 0, (size_t)d->planes[c].stride * (size_t)d->planes[c].rows);
    }
    for (int c = 0; c < 2 && is_spread(d); c++) {
        d->wide[c] = base + p->wide[c] + LAP_DECODE_SLACK;
        memset(base + p->wide[c], 0, (size_t)d->planes[0].stride);
    }
}

lap_code lap_row_decoder_open(const lap_row_source *source, lap_row_decoder **decoder, lap_error *err)
{
    *decoder = NULL;
    lap_row_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the JPEG decoder");
    d->plan = source->plan;
    d->stages = source->stages;
    const bool has_luma = d->plan->components == 1 || (d->plan->components == 3 && d->plan->is_ycc);
    d->components = source->gray && has_luma ? 1 : d->plan->components;
    d->is_mixed = source->gray && !has_luma;
    d->held = source->held;
    d->bytes.unstuff = source->stages->unstuff;
    d->bytes.next = source->bytes + source->scan_begin;
    d->bytes.end = source->bytes + source->size;
    d->size = source->size;
    d->interval_left = d->plan->interval;
    measure(d);
    const layout p = lay_out(d);
    d->memory = malloc(p.size + ALIGNMENT);
    if (!d->memory) {
        free(d);
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the JPEG decoder");
    }
    place_parts(d, &p);
    if (!d->held)
        lap_decode_bytes_begin(&d->bytes);
    *decoder = d;
    return LAP_OK;
}

void lap_row_decoder_close(lap_row_decoder *decoder)
{
    if (!decoder)
        return;
    free(decoder->memory);
    free(decoder);
}

void lap_row_decoder_push(lap_row_decoder **idle, lap_row_decoder *decoder)
{
    decoder->next = *idle;
    *idle = decoder;
}

lap_row_decoder *lap_row_decoder_pop(lap_row_decoder **idle)
{
    lap_row_decoder *decoder = *idle;
    if (decoder)
        *idle = decoder->next;
    return decoder;
}

/* ---- bytes --------------------------------------------------------------------------------------- */

void lap_row_decoder_seek(lap_row_decoder *d, const lap_row_start *start, int row)
{
    lap_decode_state *s = &d->bytes.state;
    const int64_t mcu = (int64_t)start->mcu_row * d->plan->mcus;
    d->mcu_rows = start->mcu_row;
    d->row = row;
    d->is_over = false;
    if (d->held)
        return;
    d->bytes.next = d->bytes.end - (d->size - start->byte);
    lap_decode_bytes_begin(&d->bytes);
    if (d->plan->interval > 0) {
        d->interval_left = d->plan->interval - (int)(mcu % d->plan->interval);
        d->restarts = (int)(mcu / d->plan->interval);
    }
    for (int c = 0; c < d->plan->components; c++)
        s->dc[c] = start->dc[c];
    lap_decode_bytes_fill(&d->bytes);
    if (s->at < s->end) {
        s->bits = (uint64_t)*s->at++ << 56 << start->bit;
        s->count = 8 - start->bit;
    }
}

static bool end_interval(lap_row_decoder *d, unsigned marker)
{
    d->interval_left = d->plan->interval;
    return lap_decode_bytes_pass(&d->bytes, marker);
}

/* ---- rows of MCUs -------------------------------------------------------------------------------- */

/* Computes the samples of a unit of `count` MCUs; `first` is its first MCU in the row. */
static bool transform(lap_row_decoder *d, int first, int count)
{
    const lap_decode_plan *p = d->plan;
    bool is_fine = true;
    for (int c = 0, b = 0; c < d->components; c++) {
        const sample_plane *plane = &d->planes[c];
        const int y = d->mcu_rows * 8 * p->down[c] % plane->rows, across = p->across[c];
        uint8_t *samples = plane->base + y * plane->stride + (ptrdiff_t)first * across * 8;
        for (int i = 0; i < p->down[c] && is_fine; i++, b += across) {
            const lap_decode_blocks blocks = {
                .coefficients = d->unit.coefficients + (ptrdiff_t)p->start[b] * 64,
                .last = d->unit.last + p->start[b],
                .quant = p->quant[c],
                .count = count * across};
            is_fine = d->stages->inverse(&blocks, samples + (ptrdiff_t)8 * i * plane->stride, plane->stride);
        }
    }
    return is_fine;
}

/* Decodes `count` MCUs, all in one restart interval. */
static bool decode_unit(lap_row_decoder *d, int first, int count)
{
    const size_t blocks = (size_t)d->plan->unit_blocks;
    memset(d->unit.coefficients, 0, blocks * 64 * sizeof *d->unit.coefficients);
    memset(d->unit.last, 0, blocks);
    lap_decode_bytes_fill(&d->bytes);
    return d->stages->entropy(d->plan, &d->bytes.state, count, &d->unit) && transform(d, first, count);
}

/* Computes samples from held coefficients: row y of blocks of component c, one unit at a time. */
static bool transform_held(lap_row_decoder *d, int c, int y)
{
    const sample_plane *plane = &d->planes[c];
    const int across = d->plan->mcus * d->plan->across[c];
    const lap_held_row row = lap_held_blocks(d->held, c, y);
    uint8_t *samples = plane->base + (ptrdiff_t)8 * y % plane->rows * plane->stride;
    for (int x = 0; x < across; x += LAP_DECODE_UNIT_BLOCKS) {
        const int left = across - x, count = left < LAP_DECODE_UNIT_BLOCKS ? left : LAP_DECODE_UNIT_BLOCKS;
        for (int i = 0; i < LAP_DECODE_UNIT_BLOCKS; i++)
            d->unit.last[i] = i < count ? lap_held_last(row.nonzero[x + i]) : 0;
        const lap_decode_blocks blocks = {.coefficients = row.coefficients + (ptrdiff_t)64 * x,
            .last = d->unit.last,
            .quant = d->plan->quant[c],
            .count = count};
        if (!d->stages->inverse(&blocks, samples + (ptrdiff_t)8 * x, plane->stride))
            return false;
    }
    return true;
}

static bool decode_held_row(lap_row_decoder *d)
{
    for (int c = 0; c < d->components; c++)
        for (int i = 0; i < d->plan->down[c]; i++)
            if (!transform_held(d, c, d->mcu_rows * d->plan->down[c] + i))
                return false;
    d->mcu_rows++;
    return true;
}

static bool decode_mcu_row(lap_row_decoder *d)
{
    const lap_decode_plan *p = d->plan;
    if (d->held)
        return decode_held_row(d);
    for (int first = 0; first < p->mcus;) {
        int count = p->mcus - first < p->unit_mcus ? p->mcus - first : p->unit_mcus;
        if (p->interval > 0) {
            if (d->interval_left == 0 &&
                !end_interval(d, LAP_BYTES_MARKER_0 + (unsigned)d->restarts++ % LAP_BYTES_MARKERS))
                return false;
            count = count < d->interval_left ? count : d->interval_left;
            d->interval_left -= count;
        }
        if (!decode_unit(d, first, count))
            return false;
        first += count;
    }
    d->mcu_rows++;
    return d->mcu_rows < p->mcu_rows || end_interval(d, LAP_BYTES_END);
}

/* ---- rows of pixels ------------------------------------------------------------------------------ */

static const uint8_t *samples_at(const sample_plane *plane, int y)
{
    return plane->base + y % plane->rows * plane->stride;
}

static int clamped(int y, int height)
{
    return y < 0 ? 0 : y < height ? y : height - 1;
}

/* The two chroma rows that a row of pixels is interpolated from. Both are the same row if chroma has full
 * height. They are also the same at the top and bottom edge, where one of the two would lie outside. */
typedef struct beside {
    int near, far;
    bool upper;
} beside;

static beside chroma_beside(const lap_row_decoder *d, int y)
{
    const bool v2 = d->plan->v == 2;
    const int near = v2 ? y / 2 : y, upper = y % 2 == 0;
    return (beside){near, v2 ? clamped(upper ? near - 1 : near + 1, d->planes[1].height) : near, upper};
}

/* Returns how many rows of MCUs must be valid before pixel row y is output; libjpeg-turbo waits for the same
 * number. With chroma of half height, upsampling waits for the next row of chroma, for both pixel rows of a
 * chroma row; but not if chroma is so narrow that its samples are only repeated. */
static int needed(const lap_row_decoder *d, int y)
{
    enum { NARROW = 2 };
    const bool looks_down =
        d->components > 1 && d->plan->v == 2 && (d->plan->h == 1 || d->planes[1].width > NARROW);
    if (looks_down)
        return clamped(y / 2 + 1, d->planes[1].height) / 8 + 1;
    const int rows = (y / (8 * d->plan->v * d->plan->together) + 1) * d->plan->together;
    return rows < d->plan->mcu_rows ? rows : d->plan->mcu_rows;
}

/* Writes each of the first `count` samples four times; returns `to`. */
static const uint8_t *spread(const uint8_t *from, int count, uint8_t *to)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < QUARTER; k++)
            to[QUARTER * i + k] = from[i];
    return to;
}

static void write_row(const lap_row_decoder *d, int y, uint8_t *out)
{
    const uint8_t *luma = samples_at(&d->planes[0], y);
    if (d->components == 1) {
        memcpy(out, luma, (size_t)d->plan->width);
        return;
    }
    const beside rows = chroma_beside(d, y);
    const sample_plane *cb = &d->planes[1], *cr = &d->planes[2];
    uint8_t *rgb = d->is_mixed ? d->rgb : out;
    const uint8_t *near[] = {samples_at(cb, rows.near), samples_at(cr, rows.near)};
    for (int c = 0; c < 2 && is_spread(d); c++)
        near[c] = spread(near[c], cb->width, d->wide[c]);
    const lap_decode_row row = {.y = luma,
        .near = {near[0], near[1]},
        .far = {samples_at(cb, rows.far), samples_at(cr, rows.far)},
        .black = d->components == 4 ? samples_at(&d->planes[3], y) : NULL,
        .width = d->plan->width,
        .chroma_width = is_spread(d) ? d->plan->width : cb->width,
        .h2 = d->plan->h == 2,
        .v2 = d->plan->v == 2,
        .upper = rows.upper,
        .is_ycc = d->plan->is_ycc,
        .is_inverted = d->plan->is_inverted};
    d->stages->pixels(&row, rgb);
    if (d->is_mixed)
        lap_luma_row(rgb, out, (size_t)d->plan->width);
}

int lap_row_decoder_rows(lap_row_decoder *d, const lap_view *rows)
{
    int done = 0;
    while (done < rows->height && !d->is_over) {
        while (d->mcu_rows < needed(d, d->row) && !d->is_over)
            d->is_over = !decode_mcu_row(d);
        if (d->is_over)
            break;
        write_row(d, d->row++, rows->base + done * rows->stride);
        done++;
    }
    return done;
}
