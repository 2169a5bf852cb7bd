/* Parameters of the filter: their checks. Names, defaults and tolerance are declared in lapedge.h. Thread
 * safe. */
#ifndef LAP_PARAMS_H
#define LAP_PARAMS_H

#include "lapedge_program.h"

/* The same parameters; if all are zero, which computes nothing, the defaults. */
lap_params lap_params_complete(const lap_params *params);
/* LAP_E_USAGE, naming the parameter, where one is out of its range. */
lap_code lap_params_check(const lap_params *params, lap_border border, lap_error *err);

/* Whether JPEGs may be coded on a device; else the CPU does it. */
static inline bool lap_codec_may_be_device(lap_codec_place codec)
{
    return codec == LAP_CODEC_AUTO || codec == LAP_CODEC_CUDA;
}

#endif
