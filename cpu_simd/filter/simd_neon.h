/* Defines the operations of simd_filter.h in NEON, which every aarch64 processor has. Rows are not
 * interleaved here: one instruction widens and adds. */
#ifndef LAP_CPU_SIMD_NEON_H
#define LAP_CPU_SIMD_NEON_H

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

typedef uint8x16_t vec; /* of bytes, or of 16- or 32-bit integers */
typedef float32x4_t vecf;
enum { VB = 16 };

#define V8(v) vreinterpretq_u8_s16(v)
#define V16(v) vreinterpretq_s16_u8(v)
#define V32(v) vreinterpretq_s32_u8(v)

#define v_zero() vdupq_n_u8(0)
#define v_set8(x) vdupq_n_u8((uint8_t)(x))
#define v_set16(x) V8(vdupq_n_s16((int16_t)(x)))
#define v_load(p) vld1q_u8(p)
#define v_store(p, v) vst1q_u8(p, v)
#define v_stream(p, v) vst1q_u8(p, v)
#define v_fence() ((void)0)
#define v_low(a) vreinterpretq_u8_u16(vmovl_u8(vget_low_u8(a)))
#define v_high(a) vreinterpretq_u8_u16(vmovl_high_u8(a))
#define v_sum_low(a, b) vreinterpretq_u8_u16(vaddl_u8(vget_low_u8(a), vget_low_u8(b)))
#define v_sum_high(a, b) vreinterpretq_u8_u16(vaddl_high_u8(a, b))
#define v_times(x, n) V8(vmulq_n_s16(V16(x), n))
#define v_add16(a, b) V8(vaddq_s16(V16(a), V16(b)))
#define v_sub16(a, b) V8(vsubq_s16(V16(a), V16(b)))
#define v_abs16(a) V8(vabsq_s16(V16(a)))
#define v_pack16(lo, hi) vqmovun_high_s16(vqmovun_s16(V16(lo)), V16(hi))
#define v_xor(a, b) veorq_u8(a, b)
#define v_ge8(a, b) vcgeq_u8(a, b)
#define v_lo32(v) vreinterpretq_u8_s32(vmovl_s16(vget_low_s16(V16(v))))
#define v_hi32(v) vreinterpretq_u8_s32(vmovl_high_s16(V16(v)))
#define v_pack32(lo, hi) V8(vqmovn_high_s32(vqmovn_s32(V32(lo)), V32(hi)))

#define vf_set(x) vdupq_n_f32(x)
#define vf_zero() vdupq_n_f32(0.0f)
#define vf_load(p) vld1q_f32(p)
#define vf_store(p, v) vst1q_f32(p, v)
#define vf_from32(v) vcvtq_f32_s32(V32(v))
#define vf_round(v) vreinterpretq_u8_s32(vcvtnq_s32_f32(v)) /* ties to even */
#define vf_add(a, b) vaddq_f32(a, b)
#define vf_mul(a, b) vmulq_f32(a, b)
#define vf_max(a, b) vmaxnmq_f32(a, b) /* returns the number if one is a NaN */
#define vf_min(a, b) vminnmq_f32(a, b)
#define vf_andnot(a, b) vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(b), vreinterpretq_u32_f32(a)))

/* a * the low byte of each weight + b * its high byte; both are signed. */
static inline int16x8_t v_taps(uint16x8_t a, uint16x8_t b, vec weights)
{
    const int16x8_t w = V16(weights), first = vshrq_n_s16(vshlq_n_s16(w, 8), 8), second = vshrq_n_s16(w, 8);
    return vmlaq_s16(vmulq_s16(vreinterpretq_s16_u16(a), first), vreinterpretq_s16_u16(b), second);
}
#define v_taps_low(a, b, w) V8(v_taps(vmovl_u8(vget_low_u8(a)), vmovl_u8(vget_low_u8(b)), w))
#define v_taps_high(a, b, w) V8(v_taps(vmovl_high_u8(a), vmovl_high_u8(b), w))

/* VB/4 bytes as floats, in order. */
static inline vecf vf_from_bytes(const uint8_t *p)
{
    uint32_t four;
    memcpy(&four, p, sizeof four);
    return vcvtq_f32_u32(vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four))))));
}

/* Four vectors of 0..255, in order, as bytes. */
static inline vec v_bytes(vec a, vec b, vec c, vec d)
{
    return v_pack16(v_pack32(a, b), v_pack32(c, d));
}

#endif
