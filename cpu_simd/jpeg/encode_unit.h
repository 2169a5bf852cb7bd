/* Encodes a unit: runs all stages, in the instruction set that the including file is compiled for. */
#ifndef LAP_ENCODE_UNIT_H
#define LAP_ENCODE_UNIT_H

#include "encode_dct.h"
#include "encode_samples.h"
#include "encode_shift.h"

#if defined(__aarch64__)
#include "encode_symbols_neon.h"
#elif defined(__AVX512VBMI2__)
#include "encode_symbols_avx512vbmi2.h"
#else
#include "encode_symbols_avx2.h"
#endif

typedef struct lap_unit { /* the data between the stages */
    lap_group group;
    _Alignas(64) int16_t blocks[LAP_ENCODE_UNIT_BLOCKS * LAP_BLOCK];
    lap_symbols symbols;
    lap_scratch scratch;
    uint8_t bytes[LAP_UNIT_BYTES + LAP_GROUP];
} lap_unit;
_Static_assert(sizeof(lap_unit) <= LAP_ENCODE_WORK, "a unit fits the work memory");

/* Computes the coefficients of a unit. group: memory for the samples of a group. blocks: LAP_BLOCK
 * coefficients for each block of the unit. */
LAP_INLINE void lap_unit_coefficients(const lap_encode_plan *plan, const lap_encode_rows *rows, int first,
    int count, lap_group *group, int16_t *blocks)
{
    const int group_mcus = LAP_GROUP / (8 * plan->h), group_blocks = lap_group_blocks(plan);
    for (int mcu = 0; mcu < count; mcu += group_mcus) {
        lap_group_samples(plan, rows, (first + mcu) * 8 * plan->h, group);
        lap_group_coefficients(plan, group, blocks + mcu / group_mcus * group_blocks * LAP_BLOCK);
    }
    lap_encode_dummies(plan, rows, first, count, blocks);
}

/* Converts symbols to unstuffed bits, and returns the number of whole bytes. */
typedef size_t lap_unit_bits_fn(const lap_encode_plan *plan, lap_encode_state *state, const lap_symbols *s,
    lap_scratch *scratch, uint8_t *bytes);

/* A lap_encode_fn with the additional parameter to_bits. */
LAP_INLINE size_t lap_encode_unit(const lap_encode_plan *plan, lap_encode_state *state,
    const lap_encode_rows *rows, int first, int count, uint8_t *out, lap_unit_bits_fn *to_bits)
{
    lap_unit *u = state->work;
    lap_unit_coefficients(plan, rows, first, count, &u->group, u->blocks);
    lap_unit_symbols(plan, state, count, u->blocks, lap_append_block, &u->symbols);
    const size_t bytes = to_bits(plan, state, &u->symbols, &u->scratch, u->bytes);
    if (state->is_raw) {
        memcpy(out, u->bytes, bytes);
        return bytes;
    }
    memset(u->bytes + bytes, 0, LAP_GROUP); /* fills up the last vector */
    return lap_stuff(u->bytes, bytes, out);
}

/* A lap_encode_join_fn. */
LAP_INLINE size_t lap_join_bits(lap_encode_state *state, const uint8_t *bits, size_t count, uint8_t *out)
{
    lap_unit *u = state->work;
    uint8_t *to = out;
    for (size_t i = 0, n; i < count; i += n) {
        n = count - i < LAP_UNIT_BYTES ? count - i : LAP_UNIT_BYTES;
        lap_shift_bits(state, bits + i, n, u->bytes);
        memset(u->bytes + n, 0, LAP_GROUP);
        to += lap_stuff(u->bytes, n, to);
    }
    return (size_t)(to - out);
}

#endif
