#include "base/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/status.h"

enum { LINE = 64, PAGE = 4096 };
_Static_assert(LINE >= LAP_APRON * 8, "one line left of the interior holds the apron of 8-byte pixels");

static bool round_up(size_t n, size_t *rounded)
{
    if (!lap_add(n, LINE - 1, rounded))
        return false;
    *rounded &= ~(size_t)(LINE - 1);
    return true;
}

/* Computes the bytes of a row with its apron, and of the whole image. */
static bool layout(const lap_view *view, size_t *stride, size_t *bytes)
{
    size_t left = view->apron ? LINE : 0, row, rows = (size_t)view->height + 2 * (size_t)view->apron;
    if (!lap_mul((size_t)view->width + (size_t)view->apron, (size_t)view->channels, &row) ||
        !lap_add(row, left, &row) || !round_up(row, stride))
        return false;
    /* If rows were whole pages apart, they would compete for the same few sets of the L1 cache. */
    if (*stride % PAGE == 0)
        *stride += LINE;
    return lap_mul(*stride, rows, bytes) && *bytes <= PTRDIFF_MAX;
}

lap_code lap_image_create(lap_image *image, int width, int height, int channels, int apron, lap_error *err)
{
    size_t stride, bytes;
    *image = (lap_image){0};
    if (width < 1 || height < 1 || channels < 1 || channels > 8 || (apron != 0 && apron != LAP_APRON))
        return lap_fail(err, LAP_E_INTERNAL, "an image cannot have %dx%d pixels, %d channels, apron %d",
            width, height, channels, apron);
    lap_view view = {
        .width = width, .height = height, .channels = channels, .apron = apron, .place = LAP_ON_HOST};
    if (!layout(&view, &stride, &bytes))
        return lap_fail(err, LAP_E_LIMIT, "an image of %dx%d pixels is too large to address", width, height);
    uint8_t *memory = lap_pages_alloc(bytes);
    if (!memory)
        return lap_fail(
            err, LAP_E_MEMORY, "out of memory: %zu bytes wanted for %dx%d pixels", bytes, width, height);
    view.stride = (ptrdiff_t)stride;
    view.base = memory + (apron ? (size_t)apron * stride + LINE : 0);
    *image = (lap_image){.view = view, .memory = memory, .bytes = bytes};
    return LAP_OK;
}

void lap_image_destroy(lap_image *image)
{
    free(image->memory);
    *image = (lap_image){0};
}

lap_view lap_view_rows(const lap_view *view, int y0, int height)
{
    lap_view rows = *view;
    rows.base += y0 * view->stride;
    rows.height = height;
    return rows;
}

lap_view lap_view_inset(const lap_view *view, int by)
{
    lap_view inner = *view;
    inner.base += by * (view->stride + view->channels);
    inner.width -= 2 * by;
    inner.height -= 2 * by;
    inner.apron = 0;
    return inner;
}

void lap_view_copy(const lap_view *from, const lap_view *to)
{
    for (int y = 0; y < from->height; y++) {
        memcpy(to->base + y * to->stride, from->base + y * from->stride,
            (size_t)from->width * (size_t)from->channels);
    }
}
