/* Kernel coefficients: presets, parsing, and the properties that decide which form of a rung runs. */
#ifndef LAP_KERNEL5X5_H
#define LAP_KERNEL5X5_H

#include "lapedge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether all partial sums are integers below 2^24: then float32 and integer rungs agree byte for byte. */
bool lap_kernel_is_exact(const lap_kernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
