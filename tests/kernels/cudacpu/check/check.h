/* Checks of the CUDA runtime on the CPU: each ability is tested with a fault that it must detect, and
 * with the same code without the fault, which must pass. */
#ifndef LAP_CUDACPU_CHECK_H
#define LAP_CUDACPU_CHECK_H

#include <cuda_runtime.h>

#include "../control.h"

void report(bool ok, const char *what);
/* Resets the runtime as if a new process began, with these settings and the order of work number
 * `seed`. */
void begin(const char *settings, unsigned seed);
/* Returns in how many of 40 orders f() is true. */
enum { ORDERS = 40 };

template <typename F>
static int in_orders(const char *settings, F f)
{
    int n = 0;
    for (unsigned seed = 1; seed <= ORDERS; seed++) {
        begin(settings, seed);
        n += f() ? 1 : 0;
    }
    return n;
}

template <typename... Parameters, typename... Arguments>
static cudaError_t start(dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
    void (*kernel)(Parameters...), Arguments... arguments)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

void check_kernels();
void check_streams();
void check_errors();
void check_scaffold();

#endif
