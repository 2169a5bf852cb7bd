/* neon: vectors of 128 bits in every stage, on aarch64.
 * Since c: many samples at once in colour, DCT and quantisation; symbols are a flat stream, as in avx2.
 * Memory: a unit of 128 pixels across passes through all stages before the next one.
 * Limit: not measured; a conjecture: instructions. */
#include "encode_symbols_neon.h"
#include "encode_unit.h"

const char lap_encode_neon_flags[] = LAP_RUNG_FLAGS;

typedef struct unit { /* what stands between the stages */
    lap_group group;
    _Alignas(64) int16_t blocks[LAP_ENCODE_UNIT_BLOCKS * LAP_BLOCK];
    lap_symbols symbols;
    uint8_t bytes[LAP_UNIT_BYTES + LAP_GROUP];
} unit;
_Static_assert(sizeof(unit) <= LAP_ENCODE_WORK, "a unit fits the work memory");

size_t lap_encode_neon(const lap_encode_plan *plan, lap_encode_state *state, const lap_encode_rows *rows,
    int first, int count, uint8_t *out)
{
    unit *u = state->work;
    lap_unit_coefficients(plan, rows, first, count, &u->group, u->blocks);
    lap_unit_symbols(plan, state, count, u->blocks, &u->symbols);
    return lap_stuff(u->bytes, lap_unit_bits(plan, state, &u->symbols, u->bytes), out);
}
