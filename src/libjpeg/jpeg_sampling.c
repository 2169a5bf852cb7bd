#include "libjpeg/jpeg_sampling.h"

#include "base/status.h"

enum { MAX_MCU_BLOCKS = 10 /* in an interleaved scan; ITU-T T.81, B.2.3 */ };

static int gcd3(int a, int b, int c)
{
    for (int d = 4; d > 1; d--)
        if (a % d == 0 && b % d == 0 && c % d == 0)
            return d;
    return 1;
}

/* The input's factors, where libjpeg can write them: whole ratios, few enough blocks in an MCU. */
static bool same_sampling(const lap_header *from, int h[3], int v[3])
{
    if (!from || !from->is_ycc || from->components != 3)
        return false;
    int max_h = 1, max_v = 1, blocks = 0;
    for (int c = 0; c < 3; c++) {
        h[c] = from->sample_h[c];
        v[c] = from->sample_v[c];
        if (h[c] < 1 || h[c] > 4 || v[c] < 1 || v[c] > 4)
            return false;
    }
    int dh = gcd3(h[0], h[1], h[2]), dv = gcd3(v[0], v[1], v[2]);
    for (int c = 0; c < 3; c++) {
        h[c] /= dh;
        v[c] /= dv;
        max_h = h[c] > max_h ? h[c] : max_h;
        max_v = v[c] > max_v ? v[c] : max_v;
        blocks += h[c] * v[c];
    }
    for (int c = 0; c < 3; c++)
        if (max_h % h[c] != 0 || max_v % v[c] != 0)
            return false;
    return blocks <= MAX_MCU_BLOCKS;
}

void lap_jpeg_sampling(const lap_write_options *o, int h[3], int v[3])
{
    if (o->channels != 1 && o->subsampling == LAP_SUB_SAME && same_sampling(o->from, h, v))
        return;
    for (int c = 0; c < 3; c++)
        h[c] = v[c] = 1;
    if (o->channels != 1) {
        h[0] = o->subsampling == LAP_SUB_422 || o->subsampling == LAP_SUB_420 ? 2 : 1;
        v[0] = o->subsampling == LAP_SUB_420 ? 2 : 1;
    }
}

bool lap_jpeg_coefficients(const lap_write_options *o, int mcu_width, int mcu_height, size_t *bytes)
{
    const size_t wide = (size_t)mcu_width, high = (size_t)mcu_height;
    const size_t width = ((size_t)o->width + wide - 1) / wide * wide;
    const size_t height = ((size_t)o->height + high - 1) / high * high;
    return lap_mul(width, height, bytes) && lap_mul(*bytes, o->channels == 1 ? 2 : 6, bytes);
}
