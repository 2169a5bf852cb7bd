/* neon: vectors of 128 bits in every stage, on aarch64.
 * Since c: many samples at once in colour, DCT and quantisation; symbols are a flat stream, as in avx2.
 * Memory: a unit of 128 pixels across passes through all stages before the next one.
 * Limit: not measured. */
#include "encode_unit.h"

const char lap_encode_neon_flags[] = LAP_RUNG_FLAGS;

size_t lap_encode_neon(const lap_encode_plan *plan, lap_encode_state *state, const lap_encode_rows *rows,
    int first, int count, uint8_t *out)
{
    return lap_encode_unit(plan, state, rows, first, count, out, lap_unit_bits);
}

size_t lap_encode_join_neon(lap_encode_state *state, const uint8_t *bits, size_t count, uint8_t *out)
{
    return lap_join_bits(state, bits, count, out);
}
