/* Code shared by the kernels of the transpose, reduction, histogram and matrix-vector ladders. */
#ifndef LAP_RUNG_CUH
#define LAP_RUNG_CUH

#include "device_rungs.h"
#include "launch.cuh"

/* Declares a name for the dynamic shared memory of a block. */
#ifndef LAP_DYNAMIC_SHARED /* the tests' runtime defines it itself */
#define LAP_DYNAMIC_SHARED(type, name)            \
    extern __shared__ uint4 lap_dynamic_shared[]; \
    type *name = reinterpret_cast<type *>(lap_dynamic_shared)
#endif

constexpr unsigned LAP_WARP = 32, LAP_ALL_LANES = 0xffffffffu;

/* Returns in every lane the sum over the lanes of the warp. The order of additions is always the same. */
template <typename T>
LAP_DEVICE T lap_warp_sum(T value)
{
#pragma unroll
    for (int bit = 16; bit > 0; bit /= 2)
        value += __shfl_xor_sync(LAP_ALL_LANES, value, bit);
    return value;
}

static inline lap_launch lap_launch_of(
    int place, unsigned blocks, unsigned threads, size_t shared, const lap_exec *exec)
{
    return {place, dim3(blocks), dim3(threads), shared, exec->stream, exec->err};
}

static inline unsigned lap_blocks(size_t n, size_t piece)
{
    return n ? (unsigned)((n + piece - 1) / piece) : 1;
}

/* Returns an attribute of the device, or 0 on failure. */
static inline int lap_attribute(int device, cudaDeviceAttr attribute)
{
    int value = 0;
    return cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess ? value : 0;
}

/* ---- scratch (device_rungs.h) ---------------------------------------------------------------------------
 */

struct lap_scratch {
    uint8_t *memory;
    bool is_own;
};

/* Uses exec's scratch memory. If exec has no scratch, allocates device memory and zeroes its head. */
static inline lap_code lap_scratch_get(int device, size_t bytes, const lap_exec *exec, lap_scratch *scratch)
{
    *scratch = {(uint8_t *)exec->scratch, exec->scratch == NULL};
    if (!scratch->is_own)
        return LAP_OK;
    void *memory = NULL;
    lap_code code = lap_cuda_alloc(device, bytes, &memory, exec->err);
    scratch->memory = (uint8_t *)memory;
    if (!code)
        code = LAP_CUDA(cudaMemsetAsync(memory, 0, LAP_SCRATCH_HEAD, (cudaStream_t)exec->stream), exec->err);
    return code;
}

/* If the scratch was allocated here: waits, copies its first `bytes` bytes to result, and frees it. */
static inline lap_code lap_scratch_finish(
    int device, lap_scratch *scratch, lap_code code, void *result, size_t bytes, const lap_exec *exec)
{
    if (!scratch->is_own)
        return code;
    if (!code)
        code = lap_cuda_copy(device, result, scratch->memory, bytes, exec->stream, exec->err);
    lap_code waited = scratch->memory ? lap_cuda_sync(device, exec->stream, code ? NULL : exec->err) : LAP_OK;
    lap_cuda_free(device, scratch->memory);
    return code ? code : waited;
}

#endif
