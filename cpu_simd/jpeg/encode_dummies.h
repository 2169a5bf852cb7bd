/* An MCU that reaches beyond the picture has dummy blocks: only their DC is coded, and it equals that of the
 * block before them in the scan.
 *
 *     4:2:0, the last MCU of a row:   Y0 | --      coded as Y0 Y0' Y2 Y2'      ': only the DC
 *                                     Y2 | --
 *     the last row of MCUs:           Y0   Y1      coded as Y0 Y1 Y1' Y1'
 *                                     --   --
 */
#ifndef LAP_ENCODE_DUMMIES_H
#define LAP_ENCODE_DUMMIES_H

#include <string.h>

#include "encode.h"

static inline void lap_encode_dummy(int16_t *block)
{
    const int16_t dc = block[-64];
    memset(block, 0, 64 * sizeof *block);
    block[0] = dc;
}

/* blocks: those of a unit, 64 coefficients each, in the order of the scan. */
static inline void lap_encode_dummies(
    const lap_encode_plan *plan, const lap_encode_rows *rows, int first, int count, int16_t *blocks)
{
    const int h = plan->h, v = plan->v, down = (rows->count + 7) / 8;
    const int last =
        (first + count) * h - plan->luma_blocks; /* dummies at the right end of each row of blocks */
    if (down == v && last <= 0)
        return;
    for (int mcu = 0; mcu < count; mcu++)
        for (int i = 1; i < h * v; i++)
            if (i / h >= down || (mcu == count - 1 && i % h >= h - last))
                lap_encode_dummy(blocks + (mcu * plan->mcu_blocks + i) * 64);
}

#endif
