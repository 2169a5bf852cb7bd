/* Turns pixels into the samples of a group, one vector at a time, with the operations of
 * encode_words.h. */
#ifndef LAP_ENCODE_SAMPLES_H
#define LAP_ENCODE_SAMPLES_H

#include "encode_words.h"

/* Stores means of two pixels across, or of two by two, in a strip's row: eight samples of Cb, eight of Cr,
 * and so on. */
LAP_INLINE void lap_store_halves(vec cb, vec cr, vec bias, int shift, uint8_t *out)
{
    v_store(out, v_pack16(v_srl16(v_add16(cb, bias), shift), v_srl16(v_add16(cr, bias), shift)));
}

/* Makes one row of chroma from v rows of samples, from column x on. Rounds as downsample in encode_1_c.c. */
LAP_INLINE void lap_chroma_row(const lap_samples s[2], int h, int v, lap_group *group, int row, int x)
{
    uint8_t *first = group->chroma[0][row] + x, *second = group->chroma[1][row] + x;
    if (h == 4) {
        lap_store_quarters(s[0].cb, s[0].cr, group->chroma[0][row], x);
    } else if (h == 2 && v == 2) {
        lap_store_halves(v_add16(v_pairs8(s[0].cb), v_pairs8(s[1].cb)),
            v_add16(v_pairs8(s[0].cr), v_pairs8(s[1].cr)), v_set32(V_PAIR(1, 2)), 2, first);
    } else if (h == 2) {
        lap_store_halves(v_pairs8(s[0].cb), v_pairs8(s[0].cr), v_set32(V_PAIR(0, 1)), 1, first);
    } else if (v == 2) { /* rounds halves up */
        v_store(first, v_mean8(s[0].cb, s[1].cb));
        v_store(second, v_mean8(s[0].cr, s[1].cr));
    } else {
        v_store(first, s[0].cb);
        v_store(second, s[0].cr);
    }
}

/* Callers pass constants for h, v and channels. */
LAP_INLINE void lap_colour_rows(const lap_pixel_rows *rows, int h, int v, int channels, lap_group *group)
{
    for (int row = 0; row * v < rows->count; row++)
        for (int x = 0; x < LAP_GROUP; x += V_BYTES) {
            lap_samples s[2];
#pragma GCC unroll 2
            for (int i = 0; i < v; i++) {
                const uint8_t *pixels = lap_pixel_row(rows, row * v + i) + x * channels;
                /* Prefetches the next unit: the hardware does not predict sixteen rows of only a few cache
                 * lines each. */
#pragma GCC unroll 4
                for (int line = 0; line < channels * V_BYTES; line += 64)
                    __builtin_prefetch(pixels + LAP_ENCODE_UNIT * channels + line);
                s[i] = lap_colour(pixels, channels);
                v_store(group->luma[row * v + i] + x, s[i].y);
            }
            lap_chroma_row(s, h, v, group, row, x);
        }
}

LAP_INLINE void lap_colour_shapes(const lap_pixel_rows *rows, int h, int v, int channels, lap_group *group)
{
    if (h == 2 && v == 2)
        lap_colour_rows(rows, 2, 2, channels, group);
    else if (h == 2)
        lap_colour_rows(rows, 2, 1, channels, group);
    else if (h == 4)
        lap_colour_rows(rows, 4, 1, channels, group);
    else if (v == 2)
        lap_colour_rows(rows, 1, 2, channels, group);
    else
        lap_colour_rows(rows, 1, 1, channels, group);
}

/* Computes the samples of 64 pixels across, from column x on. */
static void lap_group_samples(
    const lap_encode_plan *plan, const lap_encode_rows *rows, int x, lap_group *group)
{
    const lap_pixel_rows pixels = lap_group_pixels(plan, rows, x, group);
    const int groups = (rows->count + plan->v - 1) / plan->v;
    if (plan->channels == 3)
        lap_colour_shapes(&pixels, plan->h, plan->v, 3, group);
    else if (plan->channels == 4)
        lap_colour_shapes(&pixels, plan->h, plan->v, 4, group);
    for (int y = 0; y < rows->count && plan->channels == 1; y++)
        memcpy(group->luma[y], lap_pixel_row(&pixels, y), LAP_GROUP);
    lap_repeat_rows(group->luma, groups * plan->v, 8 * plan->v);
    for (int c = 0; c < (plan->components == 1 ? 0 : plan->h == 1 ? 2 : 1); c++)
        lap_repeat_rows(group->chroma[c], groups, 8);
}

#endif
