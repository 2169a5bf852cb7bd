/* avx2: vectors of 256 bits in every stage.
 * Since c: many samples at once in colour, DCT and quantisation; symbols are a flat stream, so that no branch
 * asks where a block ends; one table entry gives a symbol's bits and their number.
 * Memory: a unit of 128 pixels across passes through all stages before the next one.
 * Limit: instructions, a conjecture; AVX2 permutes no bytes across lanes and compresses nothing. */
#include "encode_symbols_avx2.h"
#include "encode_unit.h"

const char lap_encode_avx2_flags[] = LAP_RUNG_FLAGS;

typedef struct unit { /* what stands between the stages */
    lap_group group;
    _Alignas(64) int16_t blocks[LAP_ENCODE_UNIT_BLOCKS * LAP_BLOCK];
    lap_symbols symbols;
    uint8_t bytes[LAP_UNIT_BYTES + LAP_GROUP];
} unit;
_Static_assert(sizeof(unit) <= LAP_ENCODE_WORK, "a unit fits the work memory");

size_t lap_encode_avx2(const lap_encode_plan *plan, lap_encode_state *state, const lap_encode_rows *rows,
    int first, int count, uint8_t *out)
{
    unit *u = state->work;
    lap_unit_coefficients(plan, rows, first, count, &u->group, u->blocks);
    lap_unit_symbols(plan, state, count, u->blocks, &u->symbols);
    return lap_stuff(u->bytes, lap_unit_bits(plan, state, &u->symbols, u->bytes), out);
}
