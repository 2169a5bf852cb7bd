#include "base/border.h"

#include <string.h>

/* 2 * n may not fit an int. */
static long long wrapped(int i, long long period)
{
    const long long j = i % period;
    return j < 0 ? j + period : j;
}

int lap_border_index(int i, int n, lap_border border)
{
    long long j, period;
    if (i >= 0 && i < n)
        return i;
    switch (border) {
    case LAP_WRAP:
        return (int)wrapped(i, n);
    case LAP_REPLICATE:
        return i < 0 ? 0 : n - 1;
    case LAP_REFLECT:
        period = 2LL * n;
        j = wrapped(i, period);
        return (int)(j > n - 1 ? period - 1 - j : j);
    case LAP_REFLECT101:
        if (n == 1)
            return 0;
        period = 2LL * n - 2;
        j = wrapped(i, period);
        return (int)(j > n - 1 ? period - j : j);
    case LAP_ZERO:
    case LAP_CONSTANT:
    case LAP_CONSTANT_LAST:
        break;
    }
    return -1;
}

/* Returns the value to use for an index that names no sample. */
static int value_of(lap_border border)
{
    return border >= LAP_CONSTANT ? (int)border - LAP_CONSTANT : 0;
}

static void fill_pixel(uint8_t *row, int x, int from, int value, size_t pixel)
{
    uint8_t *to = row + x * (ptrdiff_t)pixel;
    if (from < 0)
        memset(to, value, pixel);
    else
        memcpy(to, row + (size_t)from * pixel, pixel);
}

/* Fills two pixels to the left and two to the right of rows y0 .. y1 - 1; row 0 is the first row of the
 * interior. */
static void fill_sides(const lap_view *view, int y0, int y1, lap_border border)
{
    const size_t pixel = (size_t)view->channels;
    for (int y = y0; y < y1; y++) {
        uint8_t *row = view->base + y * view->stride;
        for (int i = 1; i <= LAP_APRON; i++) {
            fill_pixel(row, -i, lap_border_index(-i, view->width, border), value_of(border), pixel);
            int right = view->width - 1 + i;
            fill_pixel(row, right, lap_border_index(right, view->width, border), value_of(border), pixel);
        }
    }
}

/* Fills row y of the view, which lies outside the image, from the row that the border rule names. */
static void fill_row(const lap_view *view, int y, int first_row, int image_height, lap_border border)
{
    const size_t pixel = (size_t)view->channels;
    const size_t bytes = ((size_t)view->width + 2 * LAP_APRON) * pixel;
    uint8_t *to = view->base + y * view->stride - LAP_APRON * pixel;
    int from = lap_border_index(first_row + y, image_height, border);
    if (from < 0)
        memset(to, value_of(border), bytes);
    else
        memcpy(to, view->base + (from - first_row) * view->stride - LAP_APRON * pixel, bytes);
}

/* Fill rows -2 and -1, or height and height + 1, apron columns included. The image has image_height rows; the
 * view begins at its row first_row. The sides of the source rows must be filled, and the source rows must lie
 * inside the view: with LAP_WRAP the view must be the whole image. */
static void fill_top(const lap_view *view, int first_row, int image_height, lap_border border)
{
    for (int y = -LAP_APRON; y < 0; y++) {
        if (first_row + y < 0)
            fill_row(view, y, first_row, image_height, border);
    }
}

static void fill_bottom(const lap_view *view, int first_row, int image_height, lap_border border)
{
    for (int y = view->height; y < view->height + LAP_APRON; y++) {
        if (first_row + y >= image_height)
            fill_row(view, y, first_row, image_height, border);
    }
}

void lap_border_fill(const lap_view *view, lap_border border)
{
    fill_sides(view, 0, view->height, border);
    fill_top(view, 0, view->height, border);
    fill_bottom(view, 0, view->height, border);
}

static lap_view rows_of(const lap_band *band, int y, int height)
{
    lap_view rows = band->view;
    rows.base += (y - band->y) * rows.stride;
    rows.height = height;
    rows.apron = 0;
    return rows;
}

/* Copies rows y0 .. y1 - 1 with the apron pixels at their sides. */
static void carry(const lap_band *from, const lap_band *to, int y0, int y1)
{
    const ptrdiff_t side = (ptrdiff_t)LAP_APRON * to->view.channels;
    const size_t bytes = (size_t)(to->view.width * to->view.channels + 2 * side);
    for (int y = y0; y < y1; y++)
        memmove(to->view.base + (y - to->y) * to->view.stride - side,
            from->view.base + (y - from->y) * from->view.stride - side, bytes);
}

lap_code lap_border_band(
    const lap_band *band, const lap_band *before, int have, lap_rows_fn *bring, void *user, lap_error *err)
{
    const int height = band->image_height, first = band->y - LAP_APRON, top = first < 0 ? 0 : first;
    const int last = band->y + band->view.height + LAP_APRON, end = last < height ? last : height;
    const int begin = have > top ? have : top;
    lap_code code = LAP_OK;
    if (before)
        carry(before, band, top, begin);
    if (end > begin) {
        const lap_view rows = rows_of(band, begin, end - begin);
        code = bring(user, &rows, begin, err);
        fill_sides(&band->view, begin - band->y, end - band->y, band->border);
    }
    if (band->border != LAP_WRAP) {
        fill_top(&band->view, band->y, height, band->border);
        fill_bottom(&band->view, band->y, height, band->border);
        return code;
    }
    for (int y = first; y < last && code == LAP_OK; y++)
        if (y < 0 || y >= height) {
            const lap_view row = rows_of(band, y, 1);
            code = bring(user, &row, lap_border_index(y, height, LAP_WRAP), err);
            fill_sides(&band->view, y - band->y, y - band->y + 1, LAP_WRAP);
        }
    return code;
}
