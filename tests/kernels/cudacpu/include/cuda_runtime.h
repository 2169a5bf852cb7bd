/* A CUDA runtime for tests on the CPU: the part that the .cu sources use.
 *
 * This folder stands first on the include path, and g++ compiles the same sources as C++. A kernel is a
 * function that is called once per thread; blocks run one after the other, so shared memory is static;
 * the threads of a block are fibers. "Device" memory is malloc's, so the address sanitizer watches it.
 * See README.md. */
#ifndef LAP_CUDACPU_RUNTIME_H
#define LAP_CUDACPU_RUNTIME_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cuda_atomics.h"
#include "cuda_intrinsics.h"
#include "cuda_warp.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __constant__
#define __shared__ static
#define __align__(n) alignas(n)
#define LAP_DYNAMIC_SHARED(type, name) type *name = reinterpret_cast<type *>(lap_cudacpu_dynamic())

/* ---- the thread that runs ---------------------------------------------------------------------- */

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

/* Of the thread that runs now; a switch from fiber to fiber sets them. */
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

#include "cuda_api.h"

#endif
