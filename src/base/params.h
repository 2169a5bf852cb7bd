/* Checks the filter's parameters. Names, defaults and tolerance are declared in lapedge.h. Thread safe. */
#ifndef LAP_PARAMS_H
#define LAP_PARAMS_H

#include "lapedge_program.h"

/* Returns the parameters, with all fields of the kernel computed from its coefficients, or the defaults
 * if all parameters are zero. Names a kernel without a name "custom", unless all its coefficients are
 * zero. */
lap_params lap_params_complete(const lap_params *params);
/* LAP_E_USAGE, naming the parameter, if one is out of its range. */
lap_code lap_params_check(const lap_params *params, lap_border border, lap_error *err);

/* Whether this codec allows a device to code JPEGs. */
static inline bool lap_codec_may_be_device(lap_codec_place codec)
{
    return codec == LAP_CODEC_AUTO || codec == LAP_CODEC_CUDA;
}

#endif
