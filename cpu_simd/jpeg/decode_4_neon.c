/* neon: vectors of 128 bits in every stage but the entropy decoder.
 * Since c: one block at a time in the inverse DCT, 16 pixels in upsampling and colour.
 * Memory: as in c.
 * Limit: not measured. */
#include "coding/entropy_lanes.h"
#include "decode_dct.h"
#include "decode_entropy.h"
#include "decode_pixels.h"
#include "decode_script.h"
#include "decode_unstuff.h"

static bool entropy(
    const lap_decode_plan *plan, lap_decode_state *state, int count, const lap_decode_unit *unit)
{
    return lap_decode_entropy(plan, state, count, unit);
}

static lap_code walk(lap_walk *const walks[LAP_WALK_LANES], const uint32_t stops[LAP_WALK_LANES], int *which)
{
    return lap_lanes_walk(walks, stops, which);
}

static bool script(const lap_held_scan *scan, lap_held_state *state, const lap_held_unit *unit)
{
    return lap_decode_script(scan, state, unit);
}

const lap_decode_stages lap_decode_neon = {.index = lap_inverse_indices,
    .flags = LAP_RUNG_FLAGS,
    .unstuff = lap_decode_unstuff,
    .walk = walk,
    .entropy = entropy,
    .script = script,
    .inverse = lap_decode_inverse,
    .pixels = lap_decode_pixels};
