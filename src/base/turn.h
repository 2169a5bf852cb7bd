/* Splits a turn (lap_turn: a rotation or mirror image) into steps, and combines turns. */
#ifndef LAP_BASE_TURN_H
#define LAP_BASE_TURN_H

#include "lapedge.h"

typedef struct lap_turn_steps { /* a turn first transposes, or not, and then mirrors, or not */
    bool transpose, left_right, up_down;
} lap_turn_steps;

lap_turn_steps lap_turn_steps_of(lap_turn turn);
/* Returns the turn that equals `first` followed by `second`. */
lap_turn lap_turn_compose(lap_turn first, lap_turn second);
/* Whether the turn swaps width and height. */
bool lap_turn_transposes(lap_turn turn);
/* Whether the turn changes the order of rows; all turns but NONE and H do. */
bool lap_turn_reorders(lap_turn turn);
/* Reorders rows by giving the views negative strides. One step is left for the caller: to transpose, or
 * mirror rows left and right, or copy. */
void lap_turn_views(lap_turn turn, lap_view *in, lap_view *out);

#endif
