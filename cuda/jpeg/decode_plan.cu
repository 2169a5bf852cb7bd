/* Plans the device memory of a picture, and the tables copied with it. Host code; no CUDA call. */
#include <string.h>

#include "decode.cuh"

/* Bit positions and numbers of blocks fit 32 bits, even in a picture of 65500 x 65500. */
constexpr size_t MOST_BYTES = (size_t)1 << 28, ALIGNMENT = 256;
constexpr int MOST_SIDE = 65500;

static const uint8_t natural[64] = {0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33,
    40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44,
    51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/* Returns whether the device decoder supports the size and the sampling. */
static bool is_ours(const lap_jpeg_frame *f)
{
    if (f->width < 1 || f->height < 1 || f->width > MOST_SIDE || f->height > MOST_SIDE ||
        f->restart_interval < 0 || f->restart_interval > 65535)
        return false;
    for (int c = 0; c < f->components && c < 3; c++)
        for (int k = 0; k < 64; k++)
            if (f->quant[c][k] == 0)
                return false;
    if (f->components == 1)
        return f->huffman.components == 1 && f->huffman.blocks == 1 && f->huffman.component[0] == 0;
    const int h = f->sample_h[0], v = f->sample_v[0];
    if (f->components != 3 || !f->is_ycc || f->huffman.components != 3 || h < 1 || h > 2 || v < 1 || v > 2 ||
        f->huffman.blocks != h * v + 2)
        return false;
    for (int c = 1; c < 3; c++)
        if (f->sample_h[c] != 1 || f->sample_v[c] != 1)
            return false;
    for (int b = 0; b < f->huffman.blocks; b++)
        if (f->huffman.component[b] != (b < h * v ? 0 : 1 + b - h * v))
            return false;
    return true;
}

/* Adds a table to plan->codes if it is not there yet, and returns its index. */
static unsigned add_code(lap_cuda_jpeg_plan *plan, unsigned code)
{
    unsigned i = 0;
    while (i < plan->code_count && plan->codes[i] != code)
        i++;
    if (i == plan->code_count)
        plan->codes[plan->code_count++] = code;
    return i;
}

static unsigned round_up(unsigned n, unsigned to)
{
    return (n + to - 1) / to;
}

/* Places the areas one after the other. */
static bool lay_out(lap_cuda_jpeg_plan *plan, const size_t *bytes, int count)
{
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        plan->offset[i] = at;
        if (!lap_add(at, bytes[i], &at) || !lap_add(at, ALIGNMENT - 1, &at))
            return false;
        at = at / ALIGNMENT * ALIGNMENT;
    }
    plan->workspace_bytes = at;
    return true;
}

bool lap_cuda_jpeg_decode_plan(const lap_jpeg_frame *frame, bool gray, size_t scan_bytes,
    const lap_cuda_jpeg_tuning *tuning, lap_cuda_jpeg_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    if (!is_ours(frame) || scan_bytes < 2 || scan_bytes > MOST_BYTES)
        return false;
    plan->frame = *frame;
    plan->tuning = tuning ? *tuning : lap_cuda_jpeg_tuning{};
    lap_cuda_jpeg_tuning *t = &plan->tuning;
    t->sub_bits = t->sub_bits ? t->sub_bits : 256;
    t->group = t->group ? t->group : 8;
    t->chain_lanes = t->chain_lanes ? t->chain_lanes : 1 << 14;
    t->longest_chain = t->longest_chain ? t->longest_chain : (1 << 20) / t->sub_bits;
    if (t->sub_bits < 128 || t->sub_bits > 8192 || (t->sub_bits & (t->sub_bits - 1)) || t->group < 1 ||
        t->group > 64 || t->chain_lanes < 1)
        return false;
    const lap_huff_layout *huffman = &frame->huffman;
    for (int c = 0; c < huffman->components; c++)
        add_code(plan, huffman->ac[c]);
    plan->ac_count = plan->code_count;
    for (int c = 0; c < huffman->components; c++)
        add_code(plan, huffman->dc[c]);
    for (unsigned i = 0; i < plan->code_count; i++)
        if (plan->codes[i] > 7 || huffman->codes[plan->codes[i]].is_dc != (i >= plan->ac_count))
            return false;
    const bool is_single = frame->components == 1;
    plan->channels = is_single || gray ? 1 : 3;
    plan->scan_bytes = scan_bytes;
    plan->mcus_across = round_up((unsigned)frame->width, is_single ? 8 : 8 * (unsigned)frame->sample_h[0]);
    plan->mcus = plan->mcus_across *
                 round_up((unsigned)frame->height, is_single ? 8 : 8 * (unsigned)frame->sample_v[0]);
    plan->blocks = plan->mcus * (unsigned)huffman->blocks;
    plan->subs = round_up((unsigned)scan_bytes, (unsigned)t->sub_bits / 8);
    plan->staging_bytes = offsetof(lap_jpeg_staged, codes) + lap_jpeg_codes_bytes(plan->code_count);
    const unsigned segments = frame->restart_interval ? round_up(plan->mcus, frame->restart_interval) : 1;
    const unsigned byte_tiles = lap_blocks(scan_bytes, LAP_JPEG_BYTE_TILE);
    unsigned tiles = 2 * byte_tiles; /* at least this many; below, the maximum of all uses */
    tiles = max(tiles, lap_blocks(plan->subs, LAP_JPEG_SUB_TILE));
    tiles = max(tiles, lap_blocks(plan->blocks, LAP_JPEG_DC_TILE));
    const size_t areas[] = {plan->staging_bytes, scan_bytes + 16, scan_bytes + 64, tiles * sizeof(unsigned),
        (segments + (size_t)1) * sizeof(unsigned), plan->subs * sizeof(unsigned long long),
        plan->subs * sizeof(unsigned), plan->blocks * sizeof(unsigned), plan->blocks * sizeof(unsigned),
        (size_t)plan->blocks * 64};
    return lay_out(plan, areas, sizeof areas / sizeof *areas);
}

void lap_cuda_jpeg_decode_stage_tables(const lap_cuda_jpeg_plan *plan, void *staging, bool is_kept)
{
    lap_jpeg_staged *to = (lap_jpeg_staged *)staging;
    if (!is_kept)
        memset(to, 0, offsetof(lap_jpeg_staged, codes));
    memset(&to->control, 0, sizeof to->control);
    for (int c = 0; c < plan->frame.components; c++)
        for (int k = 0; k < 64; k++)
            to->quant[64 * c + k] = plan->frame.quant[c][k] | (unsigned)natural[k] << 16;
    for (unsigned i = 0; i < plan->code_count; i++) {
        const lap_huff_code *code = &plan->frame.huffman.codes[plan->codes[i]];
        if (i < to->filled && memcmp(&to->codes.code[i], code, sizeof *code) == 0)
            continue;
        memcpy(&to->codes.code[i], code, sizeof *code);
        lap_huff_fill(code, LAP_JPEG_LOOK, to->codes.look[i]);
    }
    to->filled = max(to->filled, plan->code_count);
}
