/* Device functions that need no other thread, as the CUDA manuals define them. */
#ifndef LAP_CUDACPU_INTRINSICS_H
#define LAP_CUDACPU_INTRINSICS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

/* ---- vectors, aligned as CUDA's, so that the undefined-behaviour sanitizer sees a bad address --- */

#ifdef LAP_CUDACPU_COUNTED
/* For the judge of the lessons: g++ does not report a vector that a function takes or returns by value,
 * so each copy is made here, in one access of its whole width. */
template <size_t>
struct lap_cudacpu_whole {
    typedef unsigned word __attribute__((vector_size(16)));
};
template <>
struct lap_cudacpu_whole<2> {
    typedef uint16_t word;
};
template <>
struct lap_cudacpu_whole<4> {
    typedef uint32_t word;
};
template <>
struct lap_cudacpu_whole<8> {
    typedef uint64_t word;
};
#define LAP_CUDACPU_COPIES(name, type, n)            \
    lap_cudacpu_whole<n * sizeof(type)>::word whole; \
    }                                                \
    ;                                                \
    name() = default;                                \
    name(const name &other) : whole(other.whole)     \
    {                                                \
    }                                                \
    name &operator=(const name &other)               \
    {                                                \
        whole = other.whole;                         \
        return *this;                                \
    }
#define LAP_CUDACPU_VECTOR2(name, type)                      \
    struct alignas(2 * sizeof(type)) name##2                 \
    {                                                        \
        union {                                              \
            struct {                                         \
                type x, y;                                   \
            };                                               \
            LAP_CUDACPU_COPIES(name##2, type, 2)             \
            name##2(type x_, type y_) : x(x_), y(y_)         \
            {                                                \
            }                                                \
        };                                                   \
        static inline name##2 make_##name##2(type x, type y) \
        {                                                    \
            return {x, y};                                   \
        }
#define LAP_CUDACPU_VECTOR4(name, type)                                              \
    struct alignas(4 * sizeof(type) > 16 ? 16 : 4 * sizeof(type)) name##4            \
    {                                                                                \
        union {                                                                      \
            struct {                                                                 \
                type x, y, z, w;                                                     \
            };                                                                       \
            LAP_CUDACPU_COPIES(name##4, type, 4)                                     \
            name##4(type x_, type y_, type z_, type w_) : x(x_), y(y_), z(z_), w(w_) \
            {                                                                        \
            }                                                                        \
        };                                                                           \
        static inline name##4 make_##name##4(type x, type y, type z, type w)         \
        {                                                                            \
            return {x, y, z, w};                                                     \
        }
#else
#define LAP_CUDACPU_VECTOR2(name, type)                  \
    struct alignas(2 * sizeof(type)) name##2             \
    {                                                    \
        type x, y;                                       \
    };                                                   \
    static inline name##2 make_##name##2(type x, type y) \
    {                                                    \
        return {x, y};                                   \
    }
#define LAP_CUDACPU_VECTOR4(name, type)                                   \
    struct alignas(4 * sizeof(type) > 16 ? 16 : 4 * sizeof(type)) name##4 \
    {                                                                     \
        type x, y, z, w;                                                  \
    };                                                                    \
    static inline name##4 make_##name##4(type x, type y, type z, type w)  \
    {                                                                     \
        return {x, y, z, w};                                              \
    }
#endif
LAP_CUDACPU_VECTOR2(uchar, unsigned char)
LAP_CUDACPU_VECTOR2(short, short)
LAP_CUDACPU_VECTOR2(ushort, unsigned short)
LAP_CUDACPU_VECTOR2(int, int)
LAP_CUDACPU_VECTOR2(uint, unsigned)
LAP_CUDACPU_VECTOR2(float, float)
LAP_CUDACPU_VECTOR2(double, double)
LAP_CUDACPU_VECTOR2(ulonglong, unsigned long long)
LAP_CUDACPU_VECTOR4(uchar, unsigned char)
LAP_CUDACPU_VECTOR4(short, short)
LAP_CUDACPU_VECTOR4(ushort, unsigned short)
LAP_CUDACPU_VECTOR4(int, int)
LAP_CUDACPU_VECTOR4(uint, unsigned)
LAP_CUDACPU_VECTOR4(float, float)

/* ---- arithmetic --------------------------------------------------------------------------------- */

using std::max;
using std::min;

static inline float __fmul_rn(float a, float b)
{
    return a * b; /* compiled with contraction off */
}

static inline float __fadd_rn(float a, float b)
{
    return a + b;
}

static inline float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}

static inline int __float2int_rn(float a)
{
    return (int)nearbyintf(a);
}

static inline unsigned __float2uint_rn(float a)
{
    return (unsigned)nearbyintf(a);
}

static inline float __int2float_rn(int a)
{
    return (float)a;
}

static inline float __uint_as_float(unsigned a)
{
    float f;
    std::memcpy(&f, &a, sizeof f);
    return f;
}

static inline unsigned __float_as_uint(float a)
{
    unsigned u;
    std::memcpy(&u, &a, sizeof u);
    return u;
}

static inline int __popc(unsigned a)
{
    return __builtin_popcount(a);
}

static inline int __ffs(int a)
{
    return __builtin_ffs(a);
}

static inline int __clz(int a)
{
    return a ? __builtin_clz((unsigned)a) : 32;
}

static inline int __popcll(unsigned long long a)
{
    return __builtin_popcountll(a);
}

static inline int __ffsll(long long a)
{
    return __builtin_ffsll(a);
}

static inline int __clzll(long long a)
{
    return a ? __builtin_clzll((unsigned long long)a) : 64;
}

static inline unsigned __brev(unsigned a)
{
    unsigned result = 0;
    for (int i = 0; i < 32; i++)
        result |= (a >> i & 1) << (31 - i);
    return result;
}

static inline unsigned long long __brevll(unsigned long long a)
{
    return (unsigned long long)__brev((unsigned)a) << 32 | __brev((unsigned)(a >> 32));
}

static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)(((uint64_t)a * b) >> 32);
}

static inline int __mulhi(int a, int b)
{
    return (int)(((int64_t)a * b) >> 32);
}

static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}

/* Of the low 24 bits. */
static inline unsigned __umul24(unsigned a, unsigned b)
{
    return (a & 0xffffff) * (b & 0xffffff);
}

static inline unsigned __sad(int a, int b, unsigned c)
{
    return c + (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a);
}

static inline unsigned __usad(unsigned a, unsigned b, unsigned c)
{
    return c + (a > b ? a - b : b - a);
}

static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((((uint64_t)high << 32) | low) << (shift & 31)) >> 32);
}

/* The shift is clamped to 32, not taken modulo 32. */
static inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift)
{
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}

static inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift)
{
    return shift >= 32 ? high : (unsigned)((((uint64_t)high << 32) | low) >> shift);
}

static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)((((uint64_t)high << 32) | low) >> (shift & 31));
}

static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
    uint64_t bytes = ((uint64_t)b << 32) | a;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned s = selector >> (4 * i) & 15, byte = bytes >> (8 * (s & 7)) & 255;
        if (s & 8) /* the byte's sign, eight times */
            byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * i);
    }
    return result;
}

template <typename F>
static inline unsigned lap_cudacpu_halves(F f)
{
    return (f(0) & 0xffff) | f(16) << 16;
}

static inline unsigned __vminu2(unsigned a, unsigned b)
{
    return lap_cudacpu_halves([=](int s) { return min(a >> s & 0xffff, b >> s & 0xffff); });
}

static inline unsigned __vmaxu2(unsigned a, unsigned b)
{
    return lap_cudacpu_halves([=](int s) { return max(a >> s & 0xffff, b >> s & 0xffff); });
}

static inline unsigned __vadd2(unsigned a, unsigned b)
{
    return lap_cudacpu_halves([=](int s) { return (a >> s) + (b >> s); });
}

static inline unsigned __vsub2(unsigned a, unsigned b)
{
    return lap_cudacpu_halves([=](int s) { return (a >> s) - (b >> s); });
}

/* max(min(a + b, c), 0) in each signed half, the sum modulo 2^16 */
static inline unsigned __viaddmin_s16x2_relu(unsigned a, unsigned b, unsigned c)
{
    return lap_cudacpu_halves([=](int s) {
        int16_t sum = (int16_t)(uint16_t)((a >> s) + (b >> s));
        return (unsigned)max(min((int)sum, (int)(int16_t)(uint16_t)(c >> s)), 0);
    });
}

template <typename F>
static inline unsigned lap_cudacpu_quarters(F f)
{
    return (f(0) & 255) | (f(8) & 255) << 8 | (f(16) & 255) << 16 | f(24) << 24;
}

static inline unsigned __vadd4(unsigned a, unsigned b)
{
    return lap_cudacpu_quarters([=](int s) { return (a >> s) + (b >> s); });
}

static inline unsigned __vsub4(unsigned a, unsigned b)
{
    return lap_cudacpu_quarters([=](int s) { return (a >> s) - (b >> s); });
}

/* 255 in the bytes that are equal, 0 in the others */
static inline unsigned __vcmpeq4(unsigned a, unsigned b)
{
    return lap_cudacpu_quarters([=](int s) { return (a >> s & 255) == (b >> s & 255) ? 255u : 0u; });
}

/* 1 in the bytes that are equal */
static inline unsigned __vseteq4(unsigned a, unsigned b)
{
    return __vcmpeq4(a, b) & 0x01010101u;
}

static inline int __viaddmin_s32_relu(int a, int b, int c)
{
    const int sum = (int)((unsigned)a + (unsigned)b), least = sum < c ? sum : c;
    return least < 0 ? 0 : least;
}

static inline int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 32; i += 8)
        c += (int)(int8_t)(a >> i) * (int)(int8_t)(b >> i);
    return c;
}

static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (int i = 0; i < 32; i += 8)
        c += (a >> i & 255) * (b >> i & 255);
    return c;
}

#endif
