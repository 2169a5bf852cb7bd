/* Turns sums into bytes, for the simd rungs: range, scale, offset, invert, threshold. static inline only. */
#ifndef LAP_CPU_SIMD_FINISH_H
#define LAP_CPU_SIMD_FINISH_H

#include "lapedge.h"
#include "simd_words.h"

/* Always inlined with a constant `how`, so that each case gets a separate loop. */
#define INLINE static inline __attribute__((always_inline))

typedef enum finish_how { HOW_CLAMP, HOW_ABS, HOW_POST, HOW_FLOAT } finish_how;

typedef struct finish {
    finish_how how; /* CLAMP, ABS: nothing else; POST: also invert, threshold; FLOAT: also scale, offset */
    bool is_abs, has_threshold;
    vec invert, threshold;
    vecf scale, offset, sign; /* sign: the bits that abs clears */
} finish;

static inline finish finish_of(const lap_params *params)
{
    finish f = {.is_abs = params->range == LAP_ABS,
        .has_threshold = params->threshold >= 0,
        .invert = v_set8(params->invert ? 255 : 0),
        .threshold = v_set8(params->threshold),
        .scale = vf_set(params->scale),
        .offset = vf_set(params->offset),
        .sign = vf_set(params->range == LAP_ABS ? -0.0f : 0.0f)};
    if (params->scale != 1.0f || params->offset != 0.0f)
        f.how = HOW_FLOAT;
    else if (params->invert || f.has_threshold)
        f.how = HOW_POST;
    else
        f.how = f.is_abs ? HOW_ABS : HOW_CLAMP;
    return f;
}

INLINE vec finish_post(const finish *f, vec v)
{
    v = v_xor(v, f->invert);
    return f->has_threshold ? v_ge8(v, f->threshold) : v;
}

/* If o is a NaN, vf_max returns its second operand: 0, as in the backend c. */
INLINE vec finish_float(const finish *f, vecf o)
{
    vecf r = vf_add(vf_mul(f->scale, o), f->offset);
    r = vf_max(vf_andnot(f->sign, r), vf_zero());
    return vf_round(vf_min(r, vf_set(255.0f)));
}

INLINE vec finish_half(const finish *f, vec o)
{
    vec lo = finish_float(f, vf_from32(v_lo32(o))), hi = finish_float(f, vf_from32(v_hi32(o)));
    return v_pack32(lo, hi);
}

/* 16-bit sums in the order of v_low and v_high. */
INLINE vec finish_16(finish_how how, const finish *f, vec lo, vec hi)
{
    if (how == HOW_FLOAT)
        return finish_post(f, v_pack16(finish_half(f, lo), finish_half(f, hi)));
    if (how == HOW_ABS || (how == HOW_POST && f->is_abs)) {
        lo = v_abs16(lo);
        hi = v_abs16(hi);
    }
    return how == HOW_POST ? finish_post(f, v_pack16(lo, hi)) : v_pack16(lo, hi);
}

#endif
