/* The JPEG encoder's plan, and its stages put on a stream. */
#include <string.h>

#include "encode.cuh"

/* Sums of bits are 32 bits wide. */
constexpr uint64_t MAX_BLOCKS = 0xffffffffu / LAP_JPEG_MAX_BLOCK_BITS, MAX_CAPACITY = 1u << 30;

enum part {
    PLANE0,
    PLANE1,
    PLANE2,
    COEFFICIENTS,
    DC,
    AC_BITS,
    STARTS,
    TILES,
    PLACES,
    WORDS,
    STUFFED,
    SCAN,
    RESULT
};

static int divide_up(int a, int b)
{
    return (a - 1) / b + 1;
}

static int largest(const int *values, int count)
{
    int most = 1;
    for (int i = 0; i < count; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

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

/* Blocks of a component that have pixels, across or down. */
static int real_blocks(int pixels, int factor, int most)
{
    return divide_up(pixels * factor, most * 8);
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
    /* The end of each interval may leave most of a chunk empty. */
    capacity = capacity ? capacity : samples + (size_t)plan->intervals * LAP_JPEG_CHUNK + 256;
    plan->capacity = capacity / LAP_JPEG_CHUNK * LAP_JPEG_CHUNK;
    if (plan->capacity < LAP_JPEG_CHUNK || plan->capacity > MAX_CAPACITY)
        return false;
    bytes[COEFFICIENTS] = (size_t)blocks * LAP_JPEG_BLOCK * sizeof(int16_t);
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

extern "C" const char *lap_cuda_jpeg_encode_stage(int i)
{
    static const char *const names[] = {"planes", "dct", "places", "bits", "stuffing", "download"};
    return i >= 0 && i < LAP_CUDA_JPEG_ENCODE_STAGES ? names[i] : NULL;
}

static lap_jpeg_plane plane_of(const lap_cuda_jpeg_encode_plan *plan, int c, unsigned first, uint8_t *base)
{
    const lap_cuda_jpeg_target *t = &plan->target;
    const int max_h = largest(t->sample_h, plan->components), max_v = largest(t->sample_v, plan->components);
    lap_jpeg_plane plane = {};
    plane.base = base;
    plane.across = (unsigned)real_blocks(t->width, t->sample_h[c], max_h);
    plane.down = (unsigned)real_blocks(t->height, t->sample_v[c], max_v);
    plane.stride = plane.across * 8;
    plane.h = (unsigned)t->sample_h[c];
    plane.v = (unsigned)t->sample_v[c];
    plane.first = first;
    plane.expand_h = (unsigned)(max_h / t->sample_h[c]);
    plane.expand_v = (unsigned)(max_v / t->sample_v[c]);
    return plane;
}

/* Eight times the quantiser, since the transform scales by 8. */
static void fill_quantisers(const lap_cuda_jpeg_target *t, lap_jpeg_out *out)
{
    for (int i = 0; i < 128; i++) {
        const unsigned q = 8u * t->quant[i / 64][i % 64];
        out->reciprocal[i / 64][i % 64] = (unsigned)(((1ull << 32) + q - 1) / q);
        out->half[i / 64][i % 64] = (uint16_t)(q / 2);
    }
}

static lap_jpeg_out out_of(const lap_cuda_jpeg_encode_plan *plan, const lap_view *pixels, uint8_t *memory)
{
    const lap_cuda_jpeg_target *t = &plan->target;
    lap_jpeg_out out = {};
    out.pixels = pixels->base;
    out.pixel_stride = pixels->stride;
    out.width = t->width;
    out.height = t->height;
    out.channels = t->channels;
    out.components = (unsigned)plan->components;
    out.groups = (unsigned)divide_up(t->height, largest(t->sample_v, plan->components));
    for (int c = 0, first = 0; c < plan->components; c++) {
        out.plane[c] = plane_of(plan, c, (unsigned)first, memory + plan->offset[PLANE0 + c]);
        for (int i = 0; i < t->sample_h[c] * t->sample_v[c]; i++, first++)
            out.component_of |= (unsigned long long)c << (2 * first);
    }
    out.mcus_x = (unsigned)plan->mcus_x;
    out.mcus = (unsigned)plan->mcus_x * (unsigned)plan->mcus_y;
    out.mcu_blocks = (unsigned)plan->mcu_blocks;
    out.blocks = plan->blocks;
    out.interval = t->restart_interval ? (unsigned)t->restart_interval : out.mcus;
    out.intervals = plan->intervals;
    out.coefficients = (int16_t *)(memory + plan->offset[COEFFICIENTS]);
    out.dc = (int16_t *)(memory + plan->offset[DC]);
    out.ac_bits = (uint16_t *)(memory + plan->offset[AC_BITS]);
    out.starts = (unsigned *)(memory + plan->offset[STARTS]);
    out.tiles = (unsigned *)(memory + plan->offset[TILES]);
    out.places = (lap_jpeg_interval *)(memory + plan->offset[PLACES]);
    out.words = (unsigned *)(memory + plan->offset[WORDS]);
    out.stuffed_tiles = (unsigned *)(memory + plan->offset[STUFFED]);
    out.scan = memory + plan->offset[SCAN];
    out.capacity = (unsigned)plan->capacity;
    out.capacity_chunks = (unsigned)(plan->capacity / LAP_JPEG_CHUNK);
    out.result = (lap_cuda_jpeg_encoded *)(memory + plan->offset[RESULT]);
    fill_quantisers(t, &out);
    return out;
}

static lap_code mark(void *const *events, int i, void *stream, lap_error *err)
{
    return events ? LAP_CUDA(cudaEventRecord((cudaEvent_t)events[i], (cudaStream_t)stream), err) : LAP_OK;
}

extern "C" lap_code lap_cuda_jpeg_encode_enqueue(const lap_cuda_jpeg_encode_plan *plan,
    const lap_view *pixels, void *workspace, void *scan, const void **scan_on_device,
    lap_cuda_jpeg_encoded *result, void *stream, void *const *events, lap_error *err)
{
    typedef lap_code stage(const lap_jpeg_out &out, const lap_launch &where);
    static stage *const stages[] = {
        lap_jpeg_run_planes, lap_jpeg_run_dct, lap_jpeg_run_places, lap_jpeg_run_bits, lap_jpeg_run_stuffing};
    const lap_jpeg_out out = out_of(plan, pixels, (uint8_t *)workspace);
    lap_launch where = {};
    where.device = pixels->place;
    where.stream = stream;
    where.err = err;
    if (scan_on_device)
        *scan_on_device = out.scan;
    lap_code code = mark(events, 0, stream, err);
    for (int i = 0; i < 5 && !code; i++) {
        code = stages[i](out, where);
        if (!code)
            code = mark(events, i + 1, stream, err);
    }
    if (!code && scan)
        code = lap_jpeg_run_download(out, scan, where);
    if (!code)
        code = LAP_CUDA(
            cudaMemcpyAsync(result, out.result, sizeof *result, cudaMemcpyDeviceToHost, (cudaStream_t)stream),
            err);
    return code ? code : mark(events, LAP_CUDA_JPEG_ENCODE_STAGES, stream, err);
}
