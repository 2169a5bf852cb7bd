/* cuda-shared, cuda-shared32 and cuda-padded: a tile goes through shared memory, coalesced both ways.
 * Since cuda-naive: the scattered side is shared memory. cuda-shared has the article's 16x16 tile,
 * cuda-shared32 the notes' 32x32, cuda-padded their row of 33.
 * Global memory: an element read and written once; a warp covers 2 rows of 64 bytes, or 1 of 128, of
 * floats.
 * Shared memory: 1, 4 and 4.1 KB for floats. A column of the tile is read: 16 words apart, 2 banks for
 * 16 lanes; 32 words apart, one bank for all 32 lanes; 33 words apart, every lane its own.
 * 16x16 or 32x32 threads, one element per thread.
 * Limit: one load in flight a thread, behind a barrier; with 32x32 the conflicts come on top. */
#include "transpose.cuh"

template <typename T, int TILE, int PITCH>
static __global__ void __launch_bounds__(TILE *TILE)
    shared_kernel(const uint8_t *__restrict__ in, uint8_t *__restrict__ out, lap_transpose_geometry g)
{
    __shared__ T tile[TILE][PITCH];
    int x = (int)(blockIdx.x * TILE + threadIdx.x), y = (int)(blockIdx.y * TILE + threadIdx.y);
    if (x < g.width && y < g.height)
        tile[threadIdx.y][threadIdx.x] = *lap_in<T>(in, g, x, y);
    __syncthreads();
    x = (int)(blockIdx.y * TILE + threadIdx.x);
    y = (int)(blockIdx.x * TILE + threadIdx.y);
    if (x < g.height && y < g.width)
        *lap_out<T>(out, g, x, y) = tile[threadIdx.x][threadIdx.y];
}

template <int TILE, int PITCH>
static lap_code shared_launch(const char *name, const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_transpose_kernels kernels = {shared_kernel<uint8_t, TILE, PITCH>,
        shared_kernel<lap_rgb, TILE, PITCH>, shared_kernel<uint32_t, TILE, PITCH>,
        shared_kernel<uint2, TILE, PITCH>};
    return lap_transpose_launch(
        name, lap_transpose_pick(kernels, in->channels), TILE, dim3(TILE, TILE), in, out, exec);
}

extern "C" lap_code lap_transpose_cuda_shared(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return shared_launch<16, 16>("cuda-shared", in, out, exec);
}

extern "C" lap_code lap_transpose_cuda_shared32(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return shared_launch<32, 32>("cuda-shared32", in, out, exec);
}

extern "C" lap_code lap_transpose_cuda_padded(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return shared_launch<32, 33>("cuda-padded", in, out, exec);
}
