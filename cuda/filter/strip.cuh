/* A warp's strip of a row: each lane owns 16 bytes, and the first and last lane only pass theirs to their
 * neighbours. */
#ifndef LAP_CUDA_STRIP_CUH
#define LAP_CUDA_STRIP_CUH

#include "filter.cuh"

constexpr int LAP_LANES = 32, LAP_LANE_BYTES = 16;
constexpr int LAP_STRIP = (LAP_LANES - 2) * LAP_LANE_BYTES; /* bytes of a row that a warp writes */

struct lap_strips {
    int width_bytes, readable_bytes; /* of a row without apron; of a row with apron, in whole vectors */
    int height, strips;
    ptrdiff_t in_stride, out_stride;
};

static inline __host__ __device__ lap_strips lap_strips_of(const lap_view *in, const lap_view *out)
{
    lap_strips g;
    g.width_bytes = in->width * in->channels;
    g.readable_bytes =
        ((in->width + LAP_APRON) * in->channels + LAP_LANE_BYTES - 1) / LAP_LANE_BYTES * LAP_LANE_BYTES;
    g.height = in->height;
    g.strips = (g.width_bytes + LAP_STRIP - 1) / LAP_STRIP;
    g.in_stride = in->stride;
    g.out_stride = out->stride;
    return g;
}

/* Stores the first n of 16 bytes, or all if n is larger. p is aligned to 16 bytes. */
LAP_DEVICE void lap_store_lane(uint8_t *p, uint4 v, int n)
{
    if (n >= LAP_LANE_BYTES) {
        *reinterpret_cast<uint4 *>(p) = v;
        return;
    }
    if (n <= 0)
        return;
    if (n & 8) {
        *reinterpret_cast<uint2 *>(p) = make_uint2(v.x, v.y);
        v.x = v.z;
        v.y = v.w;
        p += 8;
    }
    if (n & 4) {
        *reinterpret_cast<unsigned *>(p) = v.x;
        v.x = v.y;
        p += 4;
    }
    if (n & 2) {
        *reinterpret_cast<uint16_t *>(p) = (uint16_t)v.x;
        v.x >>= 16;
        p += 2;
    }
    if (n & 1)
        *p = (uint8_t)v.x;
}

#endif
