/* Finds out which coefficients of a block are coded. A ZRL stands for sixteen zeros and counts as the last of
 * them, coded like a coefficient. EOB counts as the zero after the last coefficient. So every symbol is a
 * coefficient with its distance to the one before it:
 *
 *     position    0  1  2  3  4  5 ..             21 22 23 24 .. 63
 *     value      12  0 -3  0  0  0 ..              0  0  5  0 ..  0
 *     coded       x     x            x (18: ZRL)         x  x (EOB)
 *     distance          2            16                  5  1
 */
#ifndef LAP_ENCODE_CODED_H
#define LAP_ENCODE_CODED_H

#include "encode_strips.h"

/* Returns the zeros that are coded as ZRL: the sixteenth of a run of zeros, if a coefficient follows. Bit k
 * of `near` is set if one of the coefficients k - 15 .. k is coded. */
LAP_INLINE uint64_t lap_zero_runs(uint64_t coded, uint64_t below)
{
    uint64_t near = coded | coded << 1;
    near |= near << 2;
    near |= near << 4;
    near |= near << 8;
    while (__builtin_expect((~near & below) != 0, 0)) {
        const int k = __builtin_ctzll(~near & below);
        coded |= (uint64_t)1 << k;
        near |= (uint64_t)0xFFFF << k;
    }
    return coded;
}

/* Returns which coefficients of a block are coded: DC, all nonzero ones, every ZRL, and a zero after the
 * last one, which stands for EOB. After the 64th coefficient, that bit is outside of the mask. */
LAP_INLINE uint64_t lap_coded(uint64_t nonzero)
{
    nonzero |= 1;
    const uint64_t last = (uint64_t)1 << (63 - __builtin_clzll(nonzero));
    return lap_zero_runs(nonzero | last << 1, last - 1);
}

#endif
