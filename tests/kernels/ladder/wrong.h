/* Rungs that are wrong on purpose, each in one way, linked only into this test: the harness must reject
 * all of them. The last row has no name. */
#ifndef LAP_WRONG_H
#define LAP_WRONG_H

#include "rungs/backend.h"

extern const lap_rung wrong_rungs[];

#endif
