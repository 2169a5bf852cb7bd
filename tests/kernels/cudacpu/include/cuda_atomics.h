/* Loads, stores and atomic functions of kernels. */
#ifndef LAP_CUDACPU_ATOMICS_H
#define LAP_CUDACPU_ATOMICS_H

#include <algorithm>
#include <cstdint>
#include <type_traits>

#define LAP_CUDACPU_LOAD(name)          \
    template <typename T>               \
    static inline T name(const T *from) \
    {                                   \
        return *from;                   \
    }
#define LAP_CUDACPU_STORE(name)                                      \
    template <typename T>                                            \
    static inline void name(T *to, const lap_cudacpu_same<T> &value) \
    {                                                                \
        *to = value;                                                 \
    }
/* A parameter from which T is not deduced. */
template <typename T>
using lap_cudacpu_same = typename std::common_type<T>::type;

LAP_CUDACPU_LOAD(__ldg)
LAP_CUDACPU_LOAD(__ldcs)
LAP_CUDACPU_LOAD(__ldcg)
LAP_CUDACPU_LOAD(__ldca)
LAP_CUDACPU_LOAD(__ldlu)
LAP_CUDACPU_LOAD(__ldcv)
LAP_CUDACPU_STORE(__stcs)
LAP_CUDACPU_STORE(__stcg)
LAP_CUDACPU_STORE(__stwb)
LAP_CUDACPU_STORE(__stwt)

/* The atomics below order all accesses, because the thread sanitizer does not know fences. */
static inline void __threadfence()
{
}

static inline void __threadfence_block()
{
}

static inline void __threadfence_system()
{
}

/* Sometimes lets other threads run first, so that results which depend on the order of atomics show. */
extern unsigned lap_cudacpu_atomics_left;
void lap_cudacpu_atomic_pause();
/* Ends the program if the address is not a multiple of the size. */
void lap_cudacpu_misaligned(const void *address, size_t size);

/* *to = f(*to) in one step; returns what was there. */
template <typename T, typename F>
static inline T lap_cudacpu_atomic(T *to, F f)
{
    static_assert(!std::is_same<T, unsigned long>::value && !std::is_same<T, long>::value,
        "nvcc knows long long here, not long");
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "an atomic is of 4 or 8 bytes");
    if (reinterpret_cast<uintptr_t>(to) % sizeof(T))
        lap_cudacpu_misaligned(to, sizeof(T));
#ifndef __SANITIZE_THREAD__ /* this counter would race; the order of atomics hides no race there */
    if (lap_cudacpu_atomics_left-- == 0)
        lap_cudacpu_atomic_pause();
#endif
    T before, after;
    __atomic_load(to, &before, __ATOMIC_SEQ_CST);
    do
        after = f(before);
    while (!__atomic_compare_exchange(to, &before, &after, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return before;
}

#define LAP_CUDACPU_ATOMIC(name, result)                                   \
    template <typename T>                                                  \
    static inline T name(T *to, lap_cudacpu_same<T> value)                 \
    {                                                                      \
        return lap_cudacpu_atomic(to, [=](T was) -> T { return result; }); \
    }
LAP_CUDACPU_ATOMIC(atomicAdd, (T)(was + value))
LAP_CUDACPU_ATOMIC(atomicSub, (T)(was - value))
LAP_CUDACPU_ATOMIC(atomicMin, std::min<T>(was, value))
LAP_CUDACPU_ATOMIC(atomicMax, std::max<T>(was, value))
LAP_CUDACPU_ATOMIC(atomicOr, was | value)
LAP_CUDACPU_ATOMIC(atomicAnd, was &value)
LAP_CUDACPU_ATOMIC(atomicXor, was ^ value)
LAP_CUDACPU_ATOMIC(atomicExch, ((void)was, value))

/* Stores value if *to is expected; returns the old value. */
template <typename T>
static inline T atomicCAS(T *to, lap_cudacpu_same<T> expected, lap_cudacpu_same<T> value)
{
    return lap_cudacpu_atomic(to, [=](T was) -> T { return was == expected ? value : was; });
}

/* Counts up to limit, then starts again from 0. */
static inline unsigned atomicInc(unsigned *to, unsigned limit)
{
    return lap_cudacpu_atomic(to, [=](unsigned was) { return was >= limit ? 0u : was + 1; });
}

/* Counts down to 0, then starts again from limit. */
static inline unsigned atomicDec(unsigned *to, unsigned limit)
{
    return lap_cudacpu_atomic(to, [=](unsigned was) { return was == 0 || was > limit ? limit : was - 1; });
}

#endif
