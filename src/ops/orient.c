#include "ops/ops.h"

#include <string.h>

#include "rungs/run_rung.h"

/* How many input rows one thread rotates or mirrors at a time. Transposed, they fill 384 bytes of each row of
 * a colour result: six cache lines. */
enum { STRIP_ROWS = 128 };

static lap_view cut(const lap_view *view, int y0, int x0, int height, int width)
{
    lap_view area = *view;
    area.base += y0 * view->stride + (ptrdiff_t)x0 * view->channels;
    area.height = height;
    area.width = width;
    area.apron = 0;
    return area;
}

lap_view lap_orient_rows(const lap_view *out, lap_turn turn, int height, int y0, int y1)
{
    const lap_turn_steps p = lap_turn_steps_of(turn);
    bool backwards = p.transpose ? p.left_right : p.up_down;
    int at = backwards ? height - y1 : y0;
    return p.transpose ? cut(out, 0, at, out->height, y1 - y0) : cut(out, at, 0, y1 - y0, out->width);
}

static inline void mirrored(const uint8_t *from, uint8_t *to, int width, size_t channels)
{
    from += (size_t)width * channels;
    for (int x = 0; x < width; x++) {
        from -= channels;
        memcpy(to, from, channels);
        to += channels;
    }
}

static void put_row(const uint8_t *from, uint8_t *to, int width, int channels, bool mirror)
{
    if (!mirror)
        memcpy(to, from, (size_t)width * (size_t)channels);
    else if (channels == 1)
        mirrored(from, to, width, 1);
    else if (channels == 3)
        mirrored(from, to, width, 3);
    else
        mirrored(from, to, width, 4);
}

void lap_orient_mirror(const lap_view *view)
{
    size_t n = (size_t)view->channels;
    for (int y = 0; y < view->height; y++) {
        uint8_t *left = view->base + y * view->stride;
        uint8_t *right = left + (size_t)(view->width - 1) * n;
        for (; left < right; left += n, right -= n) {
            for (size_t c = 0; c < n; c++) {
                uint8_t swap = left[c];
                left[c] = right[c];
                right[c] = swap;
            }
        }
    }
}

/* Writes a strip of input rows, rotated or mirrored, to its place in the output. */
static lap_code turn_strip(
    const lap_rung *rung, const lap_view *in, const lap_view *out, lap_turn turn, lap_error *err)
{
    const lap_turn_steps p = lap_turn_steps_of(turn);
    lap_view from = *in, to = *out;
    lap_turn_views(turn, &from, &to);
    if (p.transpose)
        return lap_rung_transpose(rung, &(lap_resources){.exec.err = err}, &from, &to);
    for (int y = 0; y < from.height; y++)
        put_row(
            from.base + y * from.stride, to.base + y * to.stride, from.width, from.channels, p.left_right);
    return LAP_OK;
}

typedef struct task {
    const lap_view *in, *out;
    const lap_rung *rung;
    lap_turn turn;
} task;

static lap_code turn_rows(void *argument, const lap_piece *piece, lap_error *err)
{
    const task *t = argument;
    const int y0 = (int)piece->first, y1 = y0 + (int)piece->n;
    lap_view from = cut(t->in, y0, 0, y1 - y0, t->in->width);
    lap_view to = lap_orient_rows(t->out, t->turn, t->in->height, y0, y1);
    return turn_strip(t->rung, &from, &to, t->turn, err);
}

lap_code lap_orient(const lap_view *in, const lap_view *out, lap_turn turn, lap_pool *pool, lap_error *err)
{
    task t = {.in = in, .out = out, .turn = turn};
    lap_code code = LAP_OK;
    if (lap_turn_transposes(turn))
        code = lap_rung_find(LAP_OP_TRANSPOSE, "auto", &t.rung, err);
    if (code != LAP_OK)
        return code;
    return lap_pool_for(
        pool, (lap_span){lap_pool_threads(pool), (size_t)in->height, STRIP_ROWS}, turn_rows, &t, err);
}
