/* The JPEG encoder's plan: whether the device can encode a picture, and how much memory that needs. */
#include <string.h>

#include "encode_plan.cuh"

/* Positions in bits must fit 32 bits. */
constexpr uint64_t MAX_BLOCKS = 0xffffffffu / LAP_JPEG_MAX_BLOCK_BITS, MAX_CAPACITY = 1u << 30;

static bool is_whole(const lap_cuda_jpeg_target *t, int components)
{
    const int max_h = largest(t->sample_h, components), max_v = largest(t->sample_v, components);
    for (int c = 0; c < components; c++)
        if (t->sample_h[c] < 1 || t->sample_h[c] > 4 || t->sample_v[c] < 1 || t->sample_v[c] > 4 ||
            max_h % t->sample_h[c] || max_v % t->sample_v[c])
            return false;
    for (int i = 0; i < 128; i++)
        if (t->quant[i / 64][i % 64] < 1 || t->quant[i / 64][i % 64] > 255)
            return false;
    return true;
}

extern "C" bool lap_cuda_jpeg_encode_plan_make(
    const lap_cuda_jpeg_target *t, size_t capacity, lap_cuda_jpeg_encode_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    const int components = t->channels == 1 ? 1 : 3;
    if (t->width < 1 || t->height < 1 || t->width > 65500 || t->height > 65500 || t->restart_interval < 0 ||
        (t->channels != 1 && t->channels != 3 && t->channels != 4) || !is_whole(t, components))
        return false;
    const int max_h = largest(t->sample_h, components), max_v = largest(t->sample_v, components);
    plan->target = *t;
    plan->components = components;
    plan->mcus_x = divide_up(t->width, 8 * max_h);
    plan->mcus_y = divide_up(t->height, 8 * max_v);
    size_t bytes[SCAN + 2] = {}, samples = 0;
    for (int c = 0; c < components; c++) {
        plan->mcu_blocks += t->sample_h[c] * t->sample_v[c];
        bytes[PLANE0 + c] = (size_t)real_blocks(t->width, t->sample_h[c], max_h) *
                            (size_t)real_blocks(t->height, t->sample_v[c], max_v) * 64;
        samples += bytes[PLANE0 + c];
    }
    const uint64_t mcus = (uint64_t)plan->mcus_x * (uint64_t)plan->mcus_y;
    const uint64_t blocks = mcus * (uint64_t)plan->mcu_blocks;
    const uint64_t interval = t->restart_interval ? (uint64_t)t->restart_interval : mcus;
    if (plan->mcu_blocks > 10 || blocks > MAX_BLOCKS)
        return false;
    plan->blocks = (uint32_t)blocks;
    plan->intervals = (uint32_t)((mcus + interval - 1) / interval);
    /* Each interval may leave most of its last chunk empty. */
    capacity = capacity ? capacity : samples + (size_t)plan->intervals * LAP_JPEG_CHUNK + 256;
    plan->capacity = capacity / LAP_JPEG_CHUNK * LAP_JPEG_CHUNK;
    if (plan->capacity < LAP_JPEG_CHUNK || plan->capacity > MAX_CAPACITY)
        return false;
    bytes[COEFFICIENTS] = (size_t)blocks * LAP_JPEG_BLOCK * sizeof(int16_t);
    bytes[LANE_BITS] = (size_t)blocks * 8;
    bytes[HEADS] = (size_t)blocks * sizeof(int);
    bytes[DC] = bytes[AC_BITS] = (size_t)blocks * sizeof(int16_t);
    bytes[STARTS] = (size_t)(blocks + 1) * sizeof(unsigned);
    bytes[TILES] = (size_t)(blocks / LAP_JPEG_PLACE_TILE + 1) * sizeof(unsigned);
    bytes[PLACES] = ((size_t)plan->intervals + 1) * sizeof(lap_jpeg_interval);
    bytes[WORDS] = bytes[SCAN] = plan->capacity;
    bytes[STUFFED] = lap_blocks(plan->capacity, LAP_JPEG_CHUNK * LAP_JPEG_CHUNK_TILE) * sizeof(unsigned);
    bytes[RESULT] = sizeof(lap_cuda_jpeg_encoded);
    size_t at = 0;
    for (int i = 0; i <= RESULT; i++) {
        plan->offset[i] = at;
        at += (bytes[i] + 255) / 256 * 256;
    }
    plan->workspace_bytes = at;
    return true;
}
