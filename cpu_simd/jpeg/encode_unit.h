/* A unit's pixels to coefficients in the order of the scan: what the vector forms of the encoder have in
 * common, compiled for the instruction set of each. */
#ifndef LAP_ENCODE_UNIT_H
#define LAP_ENCODE_UNIT_H

#include "encode_dct.h"
#include "encode_samples.h"

/* group: room for the samples of one. blocks: of the unit, LAP_BLOCK coefficients each. */
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

#endif
