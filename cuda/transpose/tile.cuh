/* The tile of the shared transposes: a square goes through shared memory, so that global memory is read
 * and written along rows; only shared memory is accessed down columns. TILE x ROWS threads, TILE / ROWS
 * elements per thread. */
#ifndef LAP_CUDA_TRANSPOSE_TILE_CUH
#define LAP_CUDA_TRANSPOSE_TILE_CUH

#include "transpose.cuh"

template <typename T, int TILE, int PITCH, int ROWS>
static __global__ void __launch_bounds__(TILE *ROWS)
    lap_tile_kernel(const uint8_t *__restrict__ in, uint8_t *__restrict__ out, lap_transpose_geometry g)
{
    __shared__ T tile[TILE][PITCH];
    int x = (int)(blockIdx.x * TILE + threadIdx.x), y = (int)(blockIdx.y * TILE + threadIdx.y);
#pragma unroll
    for (int i = 0; i < TILE; i += ROWS)
        if (x < g.width && y + i < g.height)
            tile[threadIdx.y + i][threadIdx.x] = *lap_in<T>(in, g, x, y + i);
    __syncthreads();
    x = (int)(blockIdx.y * TILE + threadIdx.x);
    y = (int)(blockIdx.x * TILE + threadIdx.y);
#pragma unroll
    for (int i = 0; i < TILE; i += ROWS)
        if (x < g.height && y + i < g.width)
            *lap_out<T>(out, g, x, y + i) = tile[threadIdx.x][threadIdx.y + i];
}

template <int TILE, int PITCH, int ROWS = TILE>
static lap_code lap_tile_launch(
    const char *name, const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_transpose_kernels kernels = {lap_tile_kernel<uint8_t, TILE, PITCH, ROWS>,
        lap_tile_kernel<lap_rgb, TILE, PITCH, ROWS>, lap_tile_kernel<uint32_t, TILE, PITCH, ROWS>,
        lap_tile_kernel<uint2, TILE, PITCH, ROWS>};
    return lap_transpose_launch(
        name, lap_transpose_pick(kernels, in->channels), TILE, dim3(TILE, ROWS), in, out, exec);
}

#endif
