/* The coefficients: presets, parsing, and the facts that rungs choose their form by. */
#ifndef LAP_KERNEL5X5_H
#define LAP_KERNEL5X5_H

#include "lapedge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All partial sums are integers below 2^24: float32 and integer rungs agree byte for byte. */
bool lap_kernel_is_exact(const lap_kernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
