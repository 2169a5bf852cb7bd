/* Kernel coefficients: presets, parsing, and the properties that decide which form of a rung runs. */
#ifndef LAP_KERNEL5X5_H
#define LAP_KERNEL5X5_H

#include "lapedge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes hi, is_integer, is_laplace5, is_symmetric and abs_sum from h. */
void lap_kernel_derive(lap_kernel *kernel);
/* LAP_E_USAGE if a coefficient is not finite, or sum|h| > 2^22. Call lap_kernel_derive first. */
lap_code lap_kernel_check(const lap_kernel *kernel, lap_error *err);
/* Whether all partial sums are integers below 2^24: then float32 and integer rungs agree byte for byte. */
bool lap_kernel_is_exact(const lap_kernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
