/* Enqueues the stages of the JPEG encoder on a stream. */
#include "encode_plan.cuh"

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
    plane.per_h = lap_jpeg_divide_by(plane.h);
    return plane;
}

/* The divisor is eight times the quantiser, since the transform scales by 8. */
static void fill_quantisers(const uint16_t quant[2][64], lap_jpeg_out *out)
{
    for (int i = 0; i < 128; i++) {
        const unsigned q = 8u * quant[i / 64][i % 64];
        out->divisor[i / 64][i % 64] = make_uint2((unsigned)((1ull << 32) / q + 1), q / 2);
    }
}

/* The wide kernel needs luma at full resolution, and two chroma planes of the same size. */
static unsigned way_of(const lap_jpeg_out &out)
{
    const lap_jpeg_plane *p = out.plane;
    const bool is_aligned = ((uintptr_t)out.pixels | (uintptr_t)out.pixel_stride) % 8 == 0;
    if (!is_aligned || out.channels == 4 || p[0].expand_h * p[0].expand_v != 1)
        return LAP_JPEG_SIMPLE;
    if (out.components == 1)
        return lap_jpeg_wide_way<1, 1, 1>;
    if (p[1].h * p[1].v * p[2].h * p[2].v != 1 || p[1].expand_h > 2 || p[1].expand_v > 2)
        return LAP_JPEG_SIMPLE;
    return 3 | p[1].expand_h << 2 | p[1].expand_v << 4;
}

static lap_jpeg_out out_of(const lap_cuda_jpeg_picture *picture)
{
    const lap_cuda_jpeg_encode_plan *plan = picture->plan;
    const lap_view *pixels = picture->pixels;
    uint8_t *memory = (uint8_t *)picture->workspace;
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
    out.per_mcu = lap_jpeg_divide_by(out.mcu_blocks);
    out.per_row = lap_jpeg_divide_by(out.mcus_x);
    out.per_interval = lap_jpeg_divide_by(out.interval);
    out.heads = (int *)(memory + plan->offset[HEADS]);
    out.coefficients = (int16_t *)(memory + plan->offset[COEFFICIENTS]);
    out.dc = (int16_t *)(memory + plan->offset[DC]);
    out.lane_bits = memory + plan->offset[LANE_BITS];
    out.ac_bits = (uint16_t *)(memory + plan->offset[AC_BITS]);
    out.starts = (unsigned *)(memory + plan->offset[STARTS]);
    out.tiles = (unsigned *)(memory + plan->offset[TILES]);
    out.places = (lap_jpeg_interval *)(memory + plan->offset[PLACES]);
    out.words = (unsigned *)(memory + plan->offset[WORDS]);
    out.stuffed_tiles = (unsigned *)(memory + plan->offset[STUFFED]);
    out.scan = memory + plan->offset[SCAN];
    out.capacity = (unsigned)plan->capacity;
    out.capacity_chunks = (unsigned)(plan->capacity / LAP_JPEG_CHUNK);
    out.place_sums = {
        out.tiles, out.blocks / LAP_JPEG_PLACE_TILE + 1, 0}; /* including the entry for the end */
    out.stuffed_sums = {out.stuffed_tiles, lap_blocks(out.capacity_chunks, LAP_JPEG_CHUNK_TILE), 0};
    out.result = (lap_cuda_jpeg_encoded *)(memory + plan->offset[RESULT]);
    out.download = (uint4 *)picture->scan;
    out.way = way_of(out);
    fill_quantisers(t->quant, &out);
    return out;
}

static lap_code mark(void *const *events, int i, void *stream, lap_error *err)
{
    return events && events[i] ? LAP_CUDA(cudaEventRecord((cudaEvent_t)events[i], (cudaStream_t)stream), err)
                               : LAP_OK;
}

extern "C" const void *lap_cuda_jpeg_encode_scan(const lap_cuda_jpeg_encode_plan *plan, const void *workspace)
{
    return (const uint8_t *)workspace + plan->offset[SCAN];
}

/* The host copies the result of a single picture, whose memory may be pageable. */
static lap_code bring_results(
    const lap_jpeg_outs &outs, const lap_cuda_jpeg_picture *pictures, const lap_launch &where)
{
    const lap_code code = lap_jpeg_run_download(outs, where);
    return code || outs.count > 1
               ? code
               : LAP_CUDA(cudaMemcpyAsync(pictures->result, outs.photo->result, sizeof *pictures->result,
                              cudaMemcpyDeviceToHost, (cudaStream_t)where.stream),
                     where.err);
}

/* Fills the rows of the pictures: in the table, or in `one` if there is only one picture. */
static lap_code join(const lap_cuda_jpeg_picture *pictures, int count, const lap_cuda_table *table,
    lap_jpeg_out *one, lap_jpeg_outs *outs, lap_error *err)
{
    if (count < 1 || count > LAP_CUDA_JPEG_PHOTOS)
        return lap_fail(err, LAP_E_USAGE, "%d pictures in the same launches", count);
    lap_jpeg_out *rows = count > 1 ? (lap_jpeg_out *)table->host : one;
    for (int i = 0; i < count; i++) {
        if (pictures[i].pixels->place != pictures->pixels->place)
            return lap_fail(err, LAP_E_USAGE, "pictures of several devices in the same launches");
        rows[i] = out_of(pictures + i);
        rows[i].host_result = count > 1 ? pictures[i].result : NULL;
    }
    outs->photo = rows;
    outs->count = (unsigned)count;
    return LAP_OK;
}

extern "C" lap_code lap_cuda_jpeg_encode_enqueue(const lap_cuda_jpeg_picture *pictures, int count,
    const lap_cuda_table *table, void *stream, void *const *events, lap_error *err)
{
    typedef lap_code stage(const lap_jpeg_outs &outs, const lap_launch &where);
    static stage *const stages[] = {
        lap_jpeg_run_planes, lap_jpeg_run_dct, lap_jpeg_run_places, lap_jpeg_run_bits, lap_jpeg_run_stuffing};
    lap_jpeg_out one;
    lap_jpeg_outs outs = {};
    lap_code code = join(pictures, count, table, &one, &outs, err);
    if (code)
        return code;
    lap_launch where = {};
    where.device = pictures->pixels->place;
    where.stream = stream;
    where.err = err;
    code = mark(events, 0, stream, err);
    if (!code)
        code = lap_jpeg_bring_table(&outs, table, where.device, stream, err);
    for (int i = 0; i < 5 && !code; i++) {
        code = stages[i](outs, where);
        if (!code)
            code = mark(events, i + 1, stream, err);
    }
    if (!code)
        code = bring_results(outs, pictures, where);
    return code ? code : mark(events, LAP_CUDA_JPEG_ENCODE_STAGES, stream, err);
}
