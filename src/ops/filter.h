/* Checks the arguments of a filter of the caller's pixels. Thread safe. */
#ifndef LAP_FILTER_H
#define LAP_FILTER_H

#include "lapedge.h"

/* LAP_E_USAGE or LAP_E_LIMIT, as lap_filter. Does not check that the memory is where the view says. */
lap_code lap_filter_check(
    const lap_view *in, const lap_view *out, const lap_params *params, lap_border border, lap_error *err);

#endif
