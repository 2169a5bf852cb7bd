/* avx512: every stage in vectors of 512 bits.
 * Since avx2: codes are looked up by permutations of registers, 32 symbols at a time; vpcompressw packs the
 * symbols.
 * Memory: a unit of 128 pixels across passes through all stages before the next one.
 * Limit: on a Xeon, the port for permutations of zmm registers, in the stages "samples" and
 * "coefficients"; docs/encoder.md has the other stages, and another machine. */
#include "cpu_simd/cpu.h"
#include "encode_unit.h"

const char lap_encode_avx512_flags[] = LAP_RUNG_FLAGS;

size_t lap_encode_avx512_stores(const lap_encode_plan *plan, lap_encode_state *state,
    const lap_encode_rows *rows, int first, int count, uint8_t *out)
{
    return lap_encode_unit(plan, state, rows, first, count, out, lap_bits_by_stores);
}

size_t lap_encode_avx512_scatter(const lap_encode_plan *plan, lap_encode_state *state,
    const lap_encode_rows *rows, int first, int count, uint8_t *out)
{
    return lap_encode_unit(plan, state, rows, first, count, out, lap_bits_by_scatter);
}

size_t lap_encode_avx512(const lap_encode_plan *plan, lap_encode_state *state, const lap_encode_rows *rows,
    int first, int count, uint8_t *out)
{
    lap_encode_fn *form = lap_cpu_scatters() ? lap_encode_avx512_scatter : lap_encode_avx512_stores;
    return form(plan, state, rows, first, count, out);
}

size_t lap_encode_join_avx512(lap_encode_state *state, const uint8_t *bits, size_t count, uint8_t *out)
{
    return lap_join_bits(state, bits, count, out);
}
