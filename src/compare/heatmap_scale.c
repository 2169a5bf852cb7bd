/* Draws the scale below a heat map: a square for zero, a bar from one to the top, numbers under both. */
#include <stdio.h>
#include <string.h>

#include "compare/heatmap.h"

/* Digits of 5x7 dots: one number per row of dots, the leftmost dot in bit 4. */
static const uint8_t digits[10][7] = {
    {14, 17, 19, 21, 25, 17, 14},
    {4, 12, 4, 4, 4, 4, 14},
    {14, 17, 1, 2, 4, 8, 31},
    {31, 2, 4, 2, 1, 17, 14},
    {2, 6, 10, 18, 31, 2, 2},
    {31, 16, 30, 1, 1, 17, 14},
    {6, 8, 16, 30, 17, 17, 14},
    {31, 1, 2, 4, 8, 8, 8},
    {14, 17, 17, 14, 17, 17, 14},
    {14, 17, 17, 15, 1, 2, 12},
};

/* Sizes in dots. The bar has room for six numbers of three digits. */
enum { DIGIT_W = 5, DIGIT_H = 7, ADVANCE = 6, SQUARE = 10, BAR = 120, MARGIN = 9, TICK = 2, GAP = 2 };
enum { WIDTH = MARGIN + SQUARE + MARGIN + BAR + MARGIN, HEIGHT = GAP + SQUARE + TICK + GAP + DIGIT_H + GAP };

static const uint8_t ink[3] = {LAP_HEAT_INK, LAP_HEAT_INK, LAP_HEAT_INK};

typedef struct sheet { /* the picture of the scale; a dot is a square of `unit` pixels */
    const lap_view *view;
    int unit;
} sheet;

typedef struct box { /* in dots */
    int x, y, width, height;
} box;

static void fill(const sheet *s, box b, const uint8_t color[3])
{
    const lap_view *v = s->view;
    for (int row = b.y * s->unit; row < (b.y + b.height) * s->unit; row++)
        for (int column = b.x * s->unit; column < (b.x + b.width) * s->unit; column++)
            memcpy(v->base + row * v->stride + (ptrdiff_t)column * 3, color, 3);
}

static void number(const sheet *s, int center, int value)
{
    char text[8];
    const int length = snprintf(text, sizeof text, "%d", value);
    int x = center - (length * ADVANCE - 1) / 2;
    fill(s, (box){center, GAP + SQUARE, 1, TICK}, ink);
    for (const char *c = text; *c; c++, x += ADVANCE)
        for (int y = 0; y < DIGIT_H; y++)
            for (int dot = 0; dot < DIGIT_W; dot++)
                if (digits[*c - '0'][y] >> (DIGIT_W - 1 - dot) & 1)
                    fill(s, (box){x + dot, GAP + SQUARE + TICK + GAP + y, 1, 1}, ink);
}

/* The middle of a level's part of the bar. */
static int middle_of(int level, int top)
{
    return MARGIN + SQUARE + MARGIN + ((2 * level - 1) * BAR) / (2 * top);
}

/* The level at dot x of the bar. If all levels fit, each gets an equal part; else levels are sampled from the
 * first to the last. */
static int level_at(int x, int top)
{
    return top <= BAR ? 1 + x * top / BAR : 1 + x * (top - 1) / (BAR - 1);
}

/* The smallest of 1, 2, 5, 10, 20, ... that gives at most five numbers. */
static int step_of(int top)
{
    static const int steps[] = {1, 2, 5, 10, 20, 50}; /* 50 for a top of 255 */
    const int *step = steps;
    while (top / *step > 5)
        step++;
    return *step;
}

lap_code lap_heat_scale(const lap_ramp ramp, int top, int unit, lap_image *image, lap_error *err)
{
    enum { CLEAR = 3 * ADVANCE + 2 }; /* dots between the middles of two numbers */
    lap_code code = lap_image_create(image, WIDTH * unit, HEIGHT * unit, 3, 0, err);
    if (code != LAP_OK)
        return code;
    const sheet s = {&image->view, unit};
    fill(&s, (box){0, 0, WIDTH, HEIGHT}, lap_heat_ground);
    fill(&s, (box){MARGIN, GAP, SQUARE, SQUARE}, lap_heat_zero);
    number(&s, MARGIN + SQUARE / 2, 0);
    if (top < 1)
        return LAP_OK;
    for (int x = 0; x < BAR; x++)
        fill(&s, (box){MARGIN + SQUARE + MARGIN + x, GAP, 1, SQUARE},
            lap_heat_color(ramp, level_at(x, top), top));
    number(&s, middle_of(top, top), top);
    if (top > 1)
        number(&s, middle_of(1, top), 1);
    const int step = step_of(top);
    for (int level = step > 1 ? step : 2; level < top; level += step)
        if (middle_of(level, top) - middle_of(1, top) >= CLEAR &&
            middle_of(top, top) - middle_of(level, top) >= CLEAR)
            number(&s, middle_of(level, top), level);
    return LAP_OK;
}
