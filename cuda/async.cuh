/* 16 bytes from global to shared memory, without waiting and without a register.
 *
 * By name rather than through cuda_pipeline.h, whose 16-byte copies pass the L1 cache by: here the
 * vectors at the edge of a warp are asked for twice, and the second time should find them there. */
#ifndef LAP_CUDA_ASYNC_CUH
#define LAP_CUDA_ASYNC_CUH

#include "launch.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800

/* Writes zeros where there is nothing to read. */
static __device__ __forceinline__ void lap_async_copy16(void *shared, const void *global, bool readable)
{
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(shared)),
                 "l"(global), "r"(readable ? 16 : 0)
                 : "memory");
}

/* Closes a group of copies, which may be empty. */
static __device__ __forceinline__ void lap_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits until all but the last PENDING groups have arrived, for this thread. */
template <int PENDING>
static __device__ __forceinline__ void lap_async_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

#elif defined(__CUDACC__) /* before sm_80: at once, through a register */

static __device__ __forceinline__ void lap_async_copy16(void *shared, const void *global, bool readable)
{
    *static_cast<uint4 *>(shared) =
        readable ? __ldg(static_cast<const uint4 *>(global)) : make_uint4(0, 0, 0, 0);
}

static __device__ __forceinline__ void lap_async_commit()
{
}

template <int PENDING>
static __device__ __forceinline__ void lap_async_wait()
{
}

#else /* the runtime of the tests, on a CPU */

#include <cuda_pipeline.h>

static inline void lap_async_copy16(void *shared, const void *global, bool readable)
{
    __pipeline_memcpy_async(shared, global, 16, readable ? 0 : 16);
}

static inline void lap_async_commit()
{
    __pipeline_commit();
}

template <int PENDING>
static inline void lap_async_wait()
{
    __pipeline_wait_prior(PENDING);
}

#endif
#endif
