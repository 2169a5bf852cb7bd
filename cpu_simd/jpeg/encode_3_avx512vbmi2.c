/* avx512: every stage in vectors of 512 bits.
 * Since avx2: codes are looked up by permutations of registers, 32 symbols at a time; symbols are pressed
 * together by vpcompressw.
 * Memory: a unit of 128 pixels across passes through all stages before the next one.
 * Limit: a conjecture: the ports of shuffles and shifts. */
#include "encode_symbols_avx512vbmi2.h"
#include "encode_unit.h"

const char lap_encode_avx512_flags[] = LAP_RUNG_FLAGS;

typedef struct unit { /* what stands between the stages */
    lap_group group;
    _Alignas(64) int16_t blocks[LAP_ENCODE_UNIT_BLOCKS * LAP_BLOCK];
    lap_symbols symbols;
    lap_pieces pieces[LAP_BATCH];
    uint8_t bytes[LAP_UNIT_BYTES + LAP_GROUP];
} unit;
_Static_assert(sizeof(unit) <= LAP_ENCODE_WORK, "a unit fits the work memory");

size_t lap_encode_avx512(const lap_encode_plan *plan, lap_encode_state *state, const lap_encode_rows *rows,
    int first, int count, uint8_t *out)
{
    unit *u = state->work;
    lap_unit_coefficients(plan, rows, first, count, &u->group, u->blocks);
    lap_unit_symbols(plan, state, count, u->blocks, &u->symbols);
    return lap_stuff(u->bytes, lap_unit_bits(plan, state, &u->symbols, u->pieces, u->bytes), out);
}
