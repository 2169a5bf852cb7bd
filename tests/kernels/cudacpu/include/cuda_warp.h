/* Functions that threads of a block or lanes of a warp execute together. Lanes need not be at the same
 * place in the code: the lanes that the mask names wait for each other. A value from a lane that is not
 * in the mask is poison. */
#ifndef LAP_CUDACPU_WARP_H
#define LAP_CUDACPU_WARP_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

/* Number of the running thread in its block. */
extern unsigned lap_cudacpu_thread;

int lap_cudacpu_syncthreads(int predicate); /* how many threads brought a predicate other than 0 */
void __syncwarp(unsigned mask = 0xffffffffu);
/* Returns the lanes that called it at the same place when no other lane of the warp could continue. */
unsigned __activemask();
/* Returns the value of lane `source`; what: name of the function, the same for all lanes that meet. */
uint64_t lap_cudacpu_exchange(unsigned mask, const char *what, uint64_t value, unsigned source);
/* The values of all lanes that met, which are returned. */
unsigned lap_cudacpu_gather(unsigned mask, const char *what, uint64_t value, uint64_t (&values)[32]);
/* Returns the lanes whose predicate is true; *here, if not null, receives all lanes that met. */
unsigned lap_cudacpu_vote(unsigned mask, const char *what, bool predicate, unsigned *here);
void *lap_cudacpu_dynamic();
/* The running thread is about to pass a value of that many bytes to a shuffle. */
void lap_cudacpu_watch_shuffle(size_t bytes);

static inline void __syncthreads()
{
    lap_cudacpu_syncthreads(0);
}

static inline int __syncthreads_count(int predicate)
{
    return lap_cudacpu_syncthreads(predicate);
}

static inline int __syncthreads_or(int predicate)
{
    return lap_cudacpu_syncthreads(predicate) > 0;
}

static inline int __syncthreads_and(int predicate)
{
    return lap_cudacpu_syncthreads(!predicate) == 0;
}

static inline void __nanosleep(unsigned)
{
    void lap_cudacpu_yield();
    lap_cudacpu_yield();
}

template <typename T>
static inline uint64_t lap_cudacpu_bits(T value)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "warp functions move 4 or 8 bytes");
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <typename T>
static inline T lap_cudacpu_shuffle(unsigned mask, const char *what, T value, unsigned source)
{
    lap_cudacpu_watch_shuffle(sizeof value);
    const uint64_t bits = lap_cudacpu_exchange(mask, what, lap_cudacpu_bits(value), source);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

template <typename T>
static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32)
{
    const unsigned in = (unsigned)width - 1, first = lap_cudacpu_thread % 32 & ~in;
    return lap_cudacpu_shuffle(mask, "__shfl_sync", value, first + ((unsigned)source & in));
}

template <typename T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const unsigned lane = lap_cudacpu_thread % 32, in = lane & ((unsigned)width - 1);
    return lap_cudacpu_shuffle(mask, "__shfl_up_sync", value, in >= delta ? lane - delta : lane);
}

template <typename T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const unsigned lane = lap_cudacpu_thread % 32, in = lane & ((unsigned)width - 1);
    const bool inside = (uint64_t)in + delta < (unsigned)width;
    return lap_cudacpu_shuffle(mask, "__shfl_down_sync", value, inside ? lane + delta : lane);
}

template <typename T>
static inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
    const unsigned lane = lap_cudacpu_thread % 32, to = lane ^ (unsigned)bits;
    const bool inside = to / (unsigned)width <= lane / (unsigned)width;
    return lap_cudacpu_shuffle(mask, "__shfl_xor_sync", value, inside ? to : lane);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate)
{
    return lap_cudacpu_vote(mask, "__ballot_sync", predicate != 0, nullptr);
}

static inline int __any_sync(unsigned mask, int predicate)
{
    return lap_cudacpu_vote(mask, "__any_sync", predicate != 0, nullptr) != 0;
}

static inline int __all_sync(unsigned mask, int predicate)
{
    unsigned here;
    const unsigned votes = lap_cudacpu_vote(mask, "__all_sync", predicate != 0, &here);
    return votes == here;
}

template <typename T>
static inline unsigned __match_any_sync(unsigned mask, T value)
{
    uint64_t values[32];
    const unsigned here = lap_cudacpu_gather(mask, "__match_any_sync", lap_cudacpu_bits(value), values);
    unsigned same = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        if ((here >> lane & 1) && values[lane] == lap_cudacpu_bits(value))
            same |= 1u << lane;
    return same;
}

/* *all: whether all lanes have the same value. Returns the mask of these lanes if so, else 0. */
template <typename T>
static inline unsigned __match_all_sync(unsigned mask, T value, int *all)
{
    uint64_t values[32];
    const unsigned here = lap_cudacpu_gather(mask, "__match_all_sync", lap_cudacpu_bits(value), values);
    *all = 1;
    for (unsigned lane = 0; lane < 32; lane++)
        if ((here >> lane & 1) && values[lane] != lap_cudacpu_bits(value))
            *all = 0;
    return *all ? here : 0;
}

template <typename T, typename F>
static inline T lap_cudacpu_reduce(unsigned mask, const char *what, T value, F f)
{
    static_assert(std::is_same<T, int>::value || std::is_same<T, unsigned>::value, "as of CUDA");
    uint64_t values[32];
    const unsigned here = lap_cudacpu_gather(mask, what, lap_cudacpu_bits(value), values);
    T result{};
    for (unsigned left = here; left; left &= left - 1) {
        const T other = (T)(unsigned)values[__builtin_ctz(left)];
        result = left == here ? other : f(result, other);
    }
    return result;
}

#define LAP_CUDACPU_REDUCE(name, result)                                                \
    template <typename T>                                                               \
    static inline T name(unsigned mask, T value)                                        \
    {                                                                                   \
        return lap_cudacpu_reduce(mask, #name, value, [](T a, T b) { return result; }); \
    }
LAP_CUDACPU_REDUCE(__reduce_add_sync, (T)((unsigned)a + (unsigned)b))
LAP_CUDACPU_REDUCE(__reduce_min_sync, std::min(a, b))
LAP_CUDACPU_REDUCE(__reduce_max_sync, std::max(a, b))
LAP_CUDACPU_REDUCE(__reduce_and_sync, a &b)
LAP_CUDACPU_REDUCE(__reduce_or_sync, a | b)
LAP_CUDACPU_REDUCE(__reduce_xor_sync, a ^ b)

#endif
