/* avx2: vectors of 256 bits in every stage.
 * Since c: many samples at once in colour, DCT and quantisation; symbols are a flat stream, so that no branch
 * tests where a block ends; one table entry gives a symbol's bits and their number.
 * Memory: a unit of 128 pixels across passes through all stages before the next one.
 * Limit: not measured; docs/encoder.md has the times. AVX2 cannot permute bytes across lanes, and has no
 * compress instruction. */
#include "encode_unit.h"

const char lap_encode_avx2_flags[] = LAP_RUNG_FLAGS;

size_t lap_encode_avx2(const lap_encode_plan *plan, lap_encode_state *state, const lap_encode_rows *rows,
    int first, int count, uint8_t *out)
{
    return lap_encode_unit(plan, state, rows, first, count, out, lap_unit_bits);
}

size_t lap_encode_join_avx2(lap_encode_state *state, const uint8_t *bits, size_t count, uint8_t *out)
{
    return lap_join_bits(state, bits, count, out);
}
