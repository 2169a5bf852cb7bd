/* What a filter of a caller's pixels asks of its arguments. Thread safe. */
#ifndef LAP_FILTER_H
#define LAP_FILTER_H

#include "lapedge.h"

/* LAP_E_USAGE or LAP_E_LIMIT, as lap_filter; whether the memory is where it should be is not looked at. */
lap_code lap_filter_check(
    const lap_view *in, const lap_view *out, const lap_params *params, lap_border border, lap_error *err);

#endif
