/* cuda-shared: each block counts in its own histogram in shared memory, then adds it to the total.
 * Since c: a thread counts every 256th byte of a row, and only the threads of a block share counters.
 * Global memory: each byte read once, one byte per load; one addition per counter and block at the end.
 * Shared memory: 1 KB per channel; lanes that add to counters 32 apart conflict.
 * 256 threads, about 16 KB per block.
 * Measured: issue slots 39 % busy, L1 32, L2 18, DRAM 12; longest wait: loads, 28.3 cycles per instruction
 * (4992x3744x3, H200). */
#include "cuda/device/rung.cuh"

constexpr unsigned BLOCK = 256;
constexpr size_t BYTES_A_BLOCK = 16 * 1024;

static __global__ void __launch_bounds__(BLOCK)
    shared_kernel(const uint8_t *__restrict__ in, ptrdiff_t stride, unsigned row_bytes, unsigned rows,
        unsigned channels, unsigned rows_a_block, unsigned long long *counts)
{
    __shared__ unsigned count[4 * 256];
    for (unsigned i = threadIdx.x; i < channels * 256; i += BLOCK)
        count[i] = 0;
    __syncthreads();
    const unsigned first = blockIdx.x * rows_a_block;
    for (unsigned y = first; y < rows && y < first + rows_a_block; y++) {
        const uint8_t *row = in + (ptrdiff_t)y * stride;
        for (unsigned i = threadIdx.x; i < row_bytes; i += BLOCK)
            atomicAdd(&count[i % channels * 256 + row[i]], 1u);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < channels * 256; i += BLOCK)
        if (count[i] > 0)
            atomicAdd(&counts[i], (unsigned long long)count[i]);
}

extern "C" lap_code lap_histogram_cuda_shared(
    const lap_view *in, uint64_t counts[4][256], const lap_exec *exec)
{
    lap_scratch scratch;
    uint64_t added[4][256] = {};
    const size_t row = (size_t)in->width * (size_t)in->channels;
    const unsigned rows = (unsigned)((BYTES_A_BLOCK + row - 1) / row);
    lap_code code = lap_scratch_get(in->place, LAP_SCRATCH_HEAD, exec, &scratch);
    if (!code)
        code = LAP_LAUNCH(lap_launch_of(in->place, lap_blocks((size_t)in->height, rows), BLOCK, 0, exec),
            shared_kernel, in->base, in->stride, (unsigned)row, (unsigned)in->height, (unsigned)in->channels,
            rows, (unsigned long long *)scratch.memory);
    code = lap_scratch_finish(in->place, &scratch, code, added, sizeof added, exec);
    for (int i = 0; i < 4 * 256 && counts; i++)
        counts[i / 256][i % 256] += added[i / 256][i % 256];
    return code;
}
