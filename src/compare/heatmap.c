/* Writes the heat map of two pictures: the map, strips with the maxima of its rows and columns, and the
 * scale. */
#include "compare/heatmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "codec/png_palette.h"
#include "io/sink.h"

typedef struct heatmap {
    const lap_view *a, *b;
    int mask, top;
    lap_ramp ramp;
    int unit;                /* pixels per dot; strips and scale are measured in dots */
    int near;                /* rows or columns on each side that a strip includes in a maximum */
    uint8_t *rows, *columns; /* largest difference of each, for the strips: first with neighbours, then
                                without */
    lap_image scale;
    int width, height; /* of the whole picture */
    uint8_t colors[256][3];
    int color_count;
    uint8_t level[256]; /* palette index of each level */
} heatmap;

enum { GAP = 2, STRIP = 6 }; /* dots */
enum { GROUND = 1 };         /* palette index; index 0 is the colour of zero */

static int difference_at(const heatmap *h, int x, int y)
{
    const uint8_t *a = h->a->base + y * h->a->stride + (ptrdiff_t)x * h->a->channels;
    const uint8_t *b = h->b->base + y * h->b->stride + (ptrdiff_t)x * h->b->channels;
    int largest = 0;
    for (int c = 0; c < h->a->channels; c++) {
        const int d = abs(a[c] - b[c]);
        largest = d > largest ? d : largest;
    }
    return largest;
}

static void raise(uint8_t *line, int length, int at, int reach, int level)
{
    uint8_t *own = line + length + at;
    /* A quick check first: if many pixels differ, most maxima are already this high. */
    if (*own >= level)
        return;
    *own = (uint8_t)level;
    const int first = at - reach < 0 ? 0 : at - reach;
    const int last = at + reach >= length ? length - 1 : at + reach;
    for (int i = first; i <= last; i++)
        if (line[i] < level)
            line[i] = (uint8_t)level;
}

/* Computes the strips, and the top of the scale unless the caller has set it. */
static void gather(heatmap *h)
{
    const int width = h->a->width, height = h->a->height;
    int top = 0;
    for (int y = h->mask; y < height - h->mask; y++) {
        const size_t line = (size_t)width * (size_t)h->a->channels;
        if (!memcmp(h->a->base + y * h->a->stride, h->b->base + y * h->b->stride, line))
            continue;
        for (int x = h->mask; x < width - h->mask; x++) {
            const int level = difference_at(h, x, y);
            if (!level)
                continue;
            top = level > top ? level : top;
            raise(h->columns, width, x, h->near, level);
            raise(h->rows, height, y, h->near, level);
        }
    }
    if (h->top == 0)
        h->top = top;
}

/* ---- colours, as palette indices ---------------------------------------------------------------- */

static void add_color(heatmap *h, const uint8_t color[3])
{
    memcpy(h->colors[h->color_count++], color, 3);
}

/* If the scale has more levels than there are colours, these levels get the colour of the level below. */
enum { SHARED = 86, SHARED_TOO = 171 };

static uint8_t place_of(const heatmap *h, const uint8_t color[3])
{
    for (int i = 0; i < h->color_count; i++)
        if (!memcmp(h->colors[i], color, 3))
            return (uint8_t)i;
    return h->level[memcmp(color, lap_heat_color(h->ramp, SHARED, h->top), 3) ? SHARED_TOO : SHARED];
}

/* The colours of zero, ground and ink leave room for 253 of 255 levels. If the scale has more levels, two of
 * them get the colour of the level below, a difference that the eye cannot see. */
static void choose_colors(heatmap *h)
{
    static const uint8_t ink[3] = {LAP_HEAT_INK, LAP_HEAT_INK, LAP_HEAT_INK};
    const bool is_crowded = h->top > 253;
    add_color(h, lap_heat_zero);
    add_color(h, lap_heat_ground);
    add_color(h, ink);
    for (int level = 1; level < 256; level++) {
        const bool is_shared = is_crowded && (level == SHARED || level == SHARED_TOO);
        if (level <= h->top && !is_shared)
            add_color(h, lap_heat_color(h->ramp, level, h->top));
        h->level[level] = (uint8_t)(h->color_count - 1);
    }
}

static void render_row(void *user, int y, uint8_t *row)
{
    const heatmap *h = user;
    const int width = h->a->width, height = h->a->height;
    const int strip_y = height + GAP * h->unit, scale_y = strip_y + STRIP * h->unit;
    memset(row, GROUND, (size_t)h->width);
    if (y < height) {
        const bool counts = y >= h->mask && y < height - h->mask;
        for (int x = h->mask; counts && x < width - h->mask; x++)
            row[x] = h->level[difference_at(h, x, y)];
        memset(row + width + GAP * h->unit, h->level[h->rows[y]], (size_t)STRIP * (size_t)h->unit);
    } else if (y >= strip_y && y < scale_y) {
        for (int x = 0; x < width; x++)
            row[x] = h->level[h->columns[x]];
    } else if (y >= scale_y) {
        const lap_view *scale = &h->scale.view;
        for (int x = 0; x < scale->width; x++)
            row[x] = place_of(h, scale->base + (y - scale_y) * scale->stride + (ptrdiff_t)x * 3);
    }
}

static lap_code encode(heatmap *h, lap_sink *sink, lap_error *err)
{
    choose_colors(h);
    const lap_png_palette picture = {.width = h->width,
        .height = h->height,
        .software = "lapedge heat map",
        .colors = (const uint8_t(*)[3])h->colors,
        .count = h->color_count,
        .row = render_row,
        .user = h};
    return lap_png_palette_write(sink, &picture, err);
}

static lap_code lay_out(heatmap *h, lap_error *err)
{
    /* A screen shows a large picture scaled down, so a dot gets more pixels in a larger picture. */
    enum { DOTS = 400, MIN_UNIT = 2, MAX_UNIT = 40 };
    const int side = h->a->width > h->a->height ? h->a->width : h->a->height;
    h->unit = side / DOTS < MIN_UNIT ? MIN_UNIT : side / DOTS > MAX_UNIT ? MAX_UNIT : side / DOTS;
    h->near = side / DOTS;
    h->rows = calloc((size_t)h->a->height, 2);
    h->columns = calloc((size_t)h->a->width, 2);
    if (!h->rows || !h->columns)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for a heat map");
    lap_ramp_make(h->ramp);
    gather(h);
    lap_code code = lap_heat_scale(h->ramp, h->top, h->unit, &h->scale, err);
    if (code != LAP_OK)
        return code;
    h->width = h->a->width + (GAP + STRIP) * h->unit;
    if (h->width < h->scale.view.width)
        h->width = h->scale.view.width;
    h->height = h->a->height + (GAP + STRIP) * h->unit + h->scale.view.height;
    return LAP_OK;
}

lap_code lap_heatmap_write(
    const char *path, const lap_view *a, const lap_view *b, int mask_border, int top, lap_error *err)
{
    lap_sink *sink = NULL;
    heatmap *h = calloc(1, sizeof *h);
    if (!h)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for a heat map");
    *h = (heatmap){.a = a, .b = b, .mask = mask_border, .top = top};
    lap_code code = LAP_OK;
    if (a->width != b->width || a->height != b->height || a->channels != b->channels)
        code =
            lap_fail(err, LAP_E_DIFFERENT, "the pictures of a heat map must have equal sizes and channels");
    else if (mask_border < 0 || top < 0 || top > 255)
        code = lap_fail(err, LAP_E_USAGE,
            "mask_border %d, top %d: mask_border must be at least 0, top 0 to 255", mask_border, top);
    if (code == LAP_OK)
        code = lay_out(h, err);
    if (code == LAP_OK)
        code = lap_sink_open(path, NULL, &sink, err);
    if (code == LAP_OK)
        code = encode(h, sink, err);
    if (code == LAP_OK)
        code = lap_sink_finish(sink, false, NULL, err);
    if (code == LAP_OK)
        code = lap_sink_publish(sink, err);
    lap_sink_close(sink);
    lap_image_destroy(&h->scale);
    free(h->rows);
    free(h->columns);
    free(h);
    return code;
}
