/* The coefficients: presets, parsing, and the facts that rungs choose their form by. */
#ifndef LAP_KERNEL5X5_H
#define LAP_KERNEL5X5_H

#include "lapedge.h"

/* Derives hi, is_integer, is_laplace5, is_symmetric and abs_sum from h; LAP_E_USAGE where a
 * coefficient is not finite or sum|h| > 2^22. */
lap_code lap_kernel_finish(lap_kernel *kernel, lap_error *err);
/* All partial sums are integers below 2^24: float32 and integer rungs agree byte for byte. */
bool lap_kernel_is_exact(const lap_kernel *kernel);

#endif
