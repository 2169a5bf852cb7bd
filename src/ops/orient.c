#include "ops/orient.h"

#include <string.h>

#include "rungs/run_rung.h"

/* Rows of the input that one thread turns at a time: they become 384 bytes of each row of a colour
 * result, whole cache lines. */
enum { STRIP_ROWS = 128 };

typedef struct parts { /* a turn is a transpose, or none, followed by mirroring */
    bool transpose, left_right, up_down;
} parts;

static parts parts_of(lap_turn turn)
{
    static const parts table[] = {
        [LAP_TURN_NONE] = {0, 0, 0},
        [LAP_TURN_H] = {0, 1, 0},
        [LAP_TURN_180] = {0, 1, 1},
        [LAP_TURN_V] = {0, 0, 1},
        [LAP_TURN_TRANSPOSE] = {1, 0, 0},
        [LAP_TURN_90] = {1, 1, 0},
        [LAP_TURN_TRANSVERSE] = {1, 1, 1},
        [LAP_TURN_270] = {1, 0, 1},
    };
    return table[turn];
}

lap_turn lap_turn_compose(lap_turn first, lap_turn second)
{
    parts a = parts_of(first), b = parts_of(second);
    /* To mirror and then transpose is to transpose and then mirror along the other axis. */
    parts both = {
        .transpose = a.transpose != b.transpose,
        .left_right = (b.transpose ? a.up_down : a.left_right) != b.left_right,
        .up_down = (b.transpose ? a.left_right : a.up_down) != b.up_down,
    };
    lap_turn turn = LAP_TURN_NONE;
    for (int i = LAP_TURN_NONE; i <= LAP_TURN_270; i++) {
        parts p = parts_of((lap_turn)i);
        if (p.transpose == both.transpose && p.left_right == both.left_right && p.up_down == both.up_down)
            turn = (lap_turn)i;
    }
    return turn;
}

bool lap_turn_transposes(lap_turn turn)
{
    return parts_of(turn).transpose;
}

bool lap_turn_reorders(lap_turn turn)
{
    return turn != LAP_TURN_NONE && turn != LAP_TURN_H;
}

static lap_view cut(const lap_view *view, int y0, int x0, int height, int width)
{
    lap_view part = *view;
    part.base += y0 * view->stride + (ptrdiff_t)x0 * view->channels;
    part.height = height;
    part.width = width;
    part.apron = 0;
    return part;
}

lap_view lap_orient_place(const lap_view *out, lap_turn turn, int height, int y0, int y1)
{
    parts p = parts_of(turn);
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

/* The same rows from the last to the first. */
static lap_view upside_down(const lap_view *view)
{
    lap_view flipped = *view;
    flipped.base += (view->height - 1) * view->stride;
    flipped.stride = -view->stride;
    return flipped;
}

/* Rows of the input to their place in the output. Mirroring what a transpose gives left and right is
 * transposing the rows from the last to the first: no pixel is moved twice. */
static lap_code turn_strip(
    const lap_rung *rung, const lap_view *in, const lap_view *out, parts p, lap_error *err)
{
    lap_view from = p.transpose && p.left_right ? upside_down(in) : *in;
    lap_view to = p.up_down ? upside_down(out) : *out;
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
    lap_view to = lap_orient_place(t->out, t->turn, t->in->height, y0, y1);
    return turn_strip(t->rung, &from, &to, parts_of(t->turn), err);
}

lap_code lap_orient(const lap_view *in, const lap_view *out, lap_turn turn, lap_pool *pool, lap_error *err)
{
    task t = {.in = in, .out = out, .turn = turn};
    lap_code code = LAP_OK;
    if (parts_of(turn).transpose)
        code = lap_rung_find(LAP_OP_TRANSPOSE, "auto", &t.rung, err);
    if (code != LAP_OK)
        return code;
    return lap_pool_for(pool, lap_pool_threads(pool), (size_t)in->height, STRIP_ROWS, turn_rows, &t, err);
}
