/* What a turn does to a picture, and how turns are combined. */
#ifndef LAP_BASE_TURN_H
#define LAP_BASE_TURN_H

#include "lapedge.h"

typedef struct lap_turn_steps { /* a turn is a transpose, or none, followed by mirroring */
    bool transpose, left_right, up_down;
} lap_turn_steps;

lap_turn_steps lap_turn_steps_of(lap_turn turn);
/* The one turn that does what `first` and then `second` do. */
lap_turn lap_turn_compose(lap_turn first, lap_turn second);
/* Whether width and height change places. */
bool lap_turn_transposes(lap_turn turn);
/* Whether rows leave in another order than they come in: all but NONE and H. */
bool lap_turn_reorders(lap_turn turn);
/* What a turn of `in` to `out` has to do with rows in another order is done to the views, by a negative
 * stride. What is left is one step: a transpose, or rows mirrored left and right, or a copy. */
void lap_turn_views(lap_turn turn, lap_view *in, lap_view *out);

#endif
