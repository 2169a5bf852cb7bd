#include "base/turn.h"

lap_turn_steps lap_turn_steps_of(lap_turn turn)
{
    static const lap_turn_steps table[] = {
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
    lap_turn_steps a = lap_turn_steps_of(first), b = lap_turn_steps_of(second);
    /* Mirroring and then transposing equals transposing and then mirroring along the other axis. */
    lap_turn_steps both = {
        .transpose = a.transpose != b.transpose,
        .left_right = (b.transpose ? a.up_down : a.left_right) != b.left_right,
        .up_down = (b.transpose ? a.left_right : a.up_down) != b.up_down,
    };
    lap_turn turn = LAP_TURN_NONE;
    for (int i = LAP_TURN_NONE; i <= LAP_TURN_270; i++) {
        lap_turn_steps p = lap_turn_steps_of((lap_turn)i);
        if (p.transpose == both.transpose && p.left_right == both.left_right && p.up_down == both.up_down)
            turn = (lap_turn)i;
    }
    return turn;
}

bool lap_turn_transposes(lap_turn turn)
{
    return lap_turn_steps_of(turn).transpose;
}

bool lap_turn_reorders(lap_turn turn)
{
    return turn != LAP_TURN_NONE && turn != LAP_TURN_H;
}

static void turn_upside_down(lap_view *view)
{
    view->base += (view->height - 1) * view->stride;
    view->stride = -view->stride;
}

/* To transpose and then mirror left and right, transpose the rows from the last to the first, so that no
 * pixel moves twice. */
void lap_turn_views(lap_turn turn, lap_view *in, lap_view *out)
{
    const lap_turn_steps p = lap_turn_steps_of(turn);
    if (p.transpose && p.left_right)
        turn_upside_down(in);
    if (p.up_down)
        turn_upside_down(out);
}
