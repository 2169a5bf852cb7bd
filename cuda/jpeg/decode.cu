/* Puts the decoder's stages on a stream. Host code. */
#include "decode.cuh"

static const char *const stage_names[LAP_CUDA_JPEG_STAGES] = {
    "upload", "bytes", "guess", "chains", "blocks", "dc", "pixels", "colour", "result"};

const char *lap_cuda_jpeg_stage(int i)
{
    return i >= 0 && i < LAP_CUDA_JPEG_STAGES ? stage_names[i] : "";
}

/* Returns the index of a table in the staged tables, which begin with those for AC. */
static unsigned code_place(const lap_cuda_jpeg_plan *plan, unsigned code)
{
    unsigned i = 0;
    while (i + 1 < plan->code_count && plan->codes[i] != code)
        i++;
    return i;
}

static void set_components(const lap_cuda_jpeg_plan *plan, uint8_t *planes, lap_jpeg_job *job)
{
    const lap_jpeg_frame *f = &plan->frame;
    const bool is_single = f->components == 1;
    const unsigned h = is_single ? 1 : (unsigned)f->sample_h[0], v = is_single ? 1 : (unsigned)f->sample_v[0];
    unsigned first = 0;
    for (int i = 0; i < f->components; i++) {
        lap_jpeg_component *c = &job->component[i];
        c->across = i == 0 ? h : 1;
        c->blocks = i == 0 ? h * v : 1;
        c->first = first;
        c->width = i == 0 ? (unsigned)f->width : ((unsigned)f->width + h - 1) / h;
        c->height = i == 0 ? (unsigned)f->height : ((unsigned)f->height + v - 1) / v;
        c->stride = plan->mcus_across * c->across * 8;
        c->plane = planes + (size_t)first * 64;
        first += plan->mcus * c->blocks;
    }
    job->components = plan->channels == 1 ? 1 : 3;
}

static lap_jpeg_job job_of(const lap_cuda_jpeg_plan *plan, void *workspace)
{
    const lap_jpeg_frame *f = &plan->frame;
    uint8_t *base = (uint8_t *)workspace;
    const size_t *at = plan->offset;
    lap_jpeg_job job = {};
    job.tables = (lap_jpeg_staged *)(base + at[0]);
    job.bytes = base + at[1];
    job.size = (unsigned)plan->scan_bytes;
    job.words = (unsigned *)(base + at[2]);
    job.tiles = (unsigned *)(base + at[3]);
    job.byte_tiles = lap_blocks(plan->scan_bytes, LAP_JPEG_BYTE_TILE);
    job.segments = (unsigned *)(base + at[4]);
    job.records = (unsigned long long *)(base + at[5]);
    job.firsts = (unsigned *)(base + at[6]);
    job.starts = (unsigned *)(base + at[7]);
    job.dc = (unsigned *)(base + at[8]);
    job.sub_bits = (unsigned)plan->tuning.sub_bits;
    job.group = (unsigned)plan->tuning.group;
    job.longest_chain = (unsigned)plan->tuning.longest_chain;
    job.mcu_blocks = (unsigned)f->huffman.blocks;
    job.code_count = plan->code_count;
    job.ac_count = plan->ac_count;
    job.mcus = plan->mcus;
    job.mcus_across = plan->mcus_across;
    job.blocks = plan->blocks;
    job.interval = f->restart_interval ? (unsigned)f->restart_interval : plan->mcus;
    job.segment_count = (plan->mcus + job.interval - 1) / job.interval;
    for (int b = 0; b < f->huffman.blocks; b++) {
        const int c = f->huffman.component[b];
        const unsigned dc = code_place(plan, f->huffman.dc[c]) - plan->ac_count;
        job.codes_of |= (dc | code_place(plan, f->huffman.ac[c]) << 2) << (4 * b);
    }
    set_components(plan, base + at[9], &job);
    return job;
}

static lap_code run_stage(int stage, const lap_cuda_jpeg_plan *plan, const lap_jpeg_job &job,
    const void *scan, const void *staging, const lap_view *pixels, lap_cuda_jpeg_result *result,
    const lap_jpeg_run &run)
{
    lap_code code;
    switch (stage) {
    case 0:
        code = lap_cuda_copy(run.device, (void *)job.bytes, scan, plan->scan_bytes, run.stream, run.err);
        if (!code)
            code = lap_cuda_copy(run.device, job.tables, staging, plan->staging_bytes, run.stream, run.err);
        return code;
    case 1:
        return lap_jpeg_run_bytes(job, run);
    case 2:
        return lap_jpeg_run_guess(job, plan->subs, run);
    case 3:
        return lap_jpeg_run_chains(job, plan->subs, (unsigned)plan->tuning.chain_lanes, run);
    case 4:
        return lap_jpeg_run_blocks(job, plan->subs, run);
    case 5:
        return lap_jpeg_run_dc(job, run);
    case 6:
        return lap_jpeg_run_pixels(job, run);
    case 7:
        return lap_jpeg_run_colour(job, *pixels, run);
    default:
        return lap_cuda_copy(run.device, result, &job.tables->control, sizeof *result, run.stream, run.err);
    }
}

lap_code lap_cuda_jpeg_decode_enqueue(const lap_cuda_jpeg_plan *plan, const void *scan, const void *staging,
    void *workspace, const lap_view *pixels, lap_cuda_jpeg_result *result, void *stream, void *const *events,
    lap_error *err)
{
    const lap_jpeg_run run = {pixels->place, stream, err};
    if (pixels->width != plan->frame.width || pixels->height != plan->frame.height ||
        pixels->channels != plan->channels || (uintptr_t)pixels->base % 8 || pixels->stride % 8)
        return lap_fail(err, LAP_E_USAGE, "the view's size or channels differ from the picture's");
    const lap_jpeg_job job = job_of(plan, workspace);
    lap_code code = lap_cuda_use(run.device, err);
    if (!code && events && events[0])
        code = LAP_CUDA(cudaEventRecord((cudaEvent_t)events[0], (cudaStream_t)stream), err);
    for (int i = 0; i < LAP_CUDA_JPEG_STAGES && !code; i++) {
        code = run_stage(i, plan, job, scan, staging, pixels, result, run);
        if (!code && events && events[i + 1])
            code = LAP_CUDA(cudaEventRecord((cudaEvent_t)events[i + 1], (cudaStream_t)stream), err);
    }
    return code;
}
