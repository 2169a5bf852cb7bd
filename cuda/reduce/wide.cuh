/* Walks a grid over an array in vectors of 16 bytes, then over the values before and after whole vectors. */
#ifndef LAP_CUDA_REDUCE_WIDE_CUH
#define LAP_CUDA_REDUCE_WIDE_CUH

#include "reduce.cuh"

template <typename T>
struct lap_vector_of;
template <>
struct lap_vector_of<float> {
    typedef float4 type;
};
template <>
struct lap_vector_of<double> {
    typedef double2 type;
};

LAP_DEVICE float lap_vector_sum(const float4 &v)
{
    return (v.x + v.y) + (v.z + v.w);
}

LAP_DEVICE double lap_vector_sum(const double2 &v)
{
    return v.x + v.y;
}

template <typename T>
struct lap_wide_walk {
    typedef typename lap_vector_of<T>::type vector;
    const T *x, *after;
    const vector *vectors;
    size_t n, before, count; /* all values; values before the first vector; vectors */
    size_t thread, threads;  /* number of this thread in the grid; number of threads */

    LAP_MEMBER lap_wide_walk(const T *array, size_t length) : x(array), n(length)
    {
        constexpr size_t EACH = sizeof(vector) / sizeof(T);
        before = (sizeof(vector) - (uintptr_t)x % sizeof(vector)) % sizeof(vector) / sizeof(T);
        before = before < n ? before : n;
        count = (n - before) / EACH;
        vectors = reinterpret_cast<const vector *>(x + before);
        after = x + before + count * EACH;
        thread = (size_t)blockIdx.x * LAP_BLOCK + threadIdx.x;
        threads = (size_t)gridDim.x * LAP_BLOCK;
    }

    /* Returns this thread's value outside of the whole vectors, or 0. */
    LAP_MEMBER T ends() const
    {
        const size_t left = (size_t)(x + n - after);
        return (thread < before ? x[thread] : T(0)) + (thread < left ? after[thread] : T(0));
    }
};

#endif
