/* Shared by the rungs that keep a block's pixels and their apron in shared memory.
 *
 * A tile row is (BX + 4) * C samples in PITCH elements of type T; there are BY * DEEP + 4 rows, if a
 * thread computes DEEP pixels, one below the other. */
#ifndef LAP_CUDA_TILE_CUH
#define LAP_CUDA_TILE_CUH

#include "filter.cuh"

/* Loads the tile in steps; in each step a thread loads one sample. With 16x16 threads, 240 of 256 load: 12, 4
 * or 3 whole rows per step for 1, 3 or 4 channels (lab sheet: 60 bytes per row, 4 rows per step). Each sample
 * is converted to T here, and only once. */
template <int C, int BX, int BY, int PITCH, int DEEP = 1, typename T>
LAP_DEVICE void lap_load_tile(T *tile, const uint8_t *in, const lap_geometry &g)
{
    constexpr int ROW = (BX + 2 * LAP_APRON) * C, ROWS = BY * DEEP + 2 * LAP_APRON, STEP = BX * BY / ROW;
    static_assert(STEP >= 1, "a block must load at least one row of its tile in a step");
    static_assert(PITCH >= ROW, "a tile row must fit its pitch");
    const int t = (int)(threadIdx.y * BX + threadIdx.x), column = t % ROW, first = t / ROW;
    const ptrdiff_t x = ((ptrdiff_t)blockIdx.x * BX - LAP_APRON) * C + column;
    if (first < STEP && x < (ptrdiff_t)(g.width + LAP_APRON) * C) {
#pragma unroll
        for (int i = 0; i < (ROWS + STEP - 1) / STEP; i++) {
            const int row = first + i * STEP, y = (int)blockIdx.y * BY * DEEP - LAP_APRON + row;
            if (row < ROWS && y < g.height + LAP_APRON)
                tile[row * PITCH + column] = (T)in[y * g.in_stride + x];
        }
    }
    __syncthreads();
}

/* Adds up the 25 products per channel; tile points to the top left of this thread's window. */
template <int C, int PITCH, typename Sum, typename T>
LAP_DEVICE void lap_convolve_tile(Sum (&sum)[C], const T *tile, const lap_weights<Sum> &w)
{
#pragma unroll
    for (int fy = 0; fy < 5; fy++)
#pragma unroll
        for (int fx = 0; fx < 5; fx++)
#pragma unroll
            for (int c = 0; c < C; c++)
                sum[c] = lap_mad(w.h[5 * fy + fx], lap_to_sum<Sum>(tile[fy * PITCH + fx * C + c]), sum[c]);
}

/* Returns the worst bank conflict of a warp with BX threads in a row, in which each thread reads one
 * word, C words from its neighbour's: the number of different words that the busiest bank must deliver.
 * 1: no conflict. */
constexpr int lap_bank_ways(int c, int bx, int pitch)
{
    int hits[32] = {}, worst = 0;
    for (int lane = 0; lane < 32; lane++) {
        int bank = (lane / bx * pitch + lane % bx * c) % 32;
        hits[bank]++;
        worst = hits[bank] > worst ? hits[bank] : worst;
    }
    return worst;
}

#endif
