/* Enqueues the decoder's stages on a stream. Host code. */
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
    /* libjpeg replicates chroma with one or two samples per row, unless chroma has full width. */
    const bool is_fancy = h == 1 || job->component[1].width > 2;
    job->way = job->components == 1 ? LAP_JPEG_GRAY : h | v << 2 | (unsigned)is_fancy << 4;
}

static lap_jpeg_job job_of(const lap_cuda_jpeg_photo *photo)
{
    const lap_cuda_jpeg_plan *plan = photo->plan;
    const lap_jpeg_frame *f = &plan->frame;
    uint8_t *base = (uint8_t *)photo->workspace;
    const size_t *at = plan->offset;
    lap_jpeg_job job = {};
    job.tables = (lap_jpeg_staged *)(base + at[0]);
    job.bytes = base + at[1];
    job.size = (unsigned)plan->scan_bytes;
    job.staging_size = (unsigned)plan->staging_bytes;
    job.words = (unsigned *)(base + at[2]);
    job.tiles = (unsigned *)(base + at[3]);
    job.byte_sums = {job.tiles, lap_blocks(plan->scan_bytes, LAP_JPEG_BYTE_TILE), 0};
    job.sub_sums = {job.tiles, lap_blocks(plan->subs, LAP_JPEG_SUB_TILE), 0};
    job.dc_sums = {job.tiles, lap_blocks(plan->blocks, LAP_JPEG_DC_TILE), 0};
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
    job.most_subs = plan->subs;
    job.chain_lanes = (unsigned)plan->tuning.chain_lanes;
    set_components(plan, base + at[9], &job);
    job.pixels = photo->pixels->base;
    job.pixel_stride = photo->pixels->stride;
    job.width = photo->pixels->width;
    job.height = photo->pixels->height;
    return job;
}

/* Copies what the host has prepared; for many pictures, a kernel reads it from host memory. */
static lap_code upload(const lap_jpeg_jobs &jobs, const lap_cuda_jpeg_photo *photos, const lap_jpeg_run &run)
{
    const lap_jpeg_job &job = *jobs.photo;
    if (jobs.count > 1)
        return lap_jpeg_run_upload(jobs, run);
    const lap_code code =
        lap_cuda_copy(run.device, (void *)job.bytes, photos->scan, job.size, run.stream, run.err);
    return code ? code
                : lap_cuda_copy(
                      run.device, job.tables, photos->staging, job.staging_size, run.stream, run.err);
}

static lap_code bring_results(
    const lap_jpeg_jobs &jobs, const lap_cuda_jpeg_photo *photos, const lap_jpeg_run &run)
{
    return jobs.count > 1 ? lap_jpeg_run_results(jobs, run)
                          : lap_cuda_copy(run.device, photos->result, &jobs.photo->tables->control,
                                sizeof *photos->result, run.stream, run.err);
}

static lap_code run_stage(
    int stage, const lap_jpeg_jobs &jobs, const lap_cuda_jpeg_photo *photos, const lap_jpeg_run &run)
{
    typedef lap_code launched(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run);
    static launched *const stages[] = {lap_jpeg_run_bytes, lap_jpeg_run_guess, lap_jpeg_run_chains,
        lap_jpeg_run_blocks, lap_jpeg_run_dc, lap_jpeg_run_pixels, lap_jpeg_run_colour};
    static_assert(sizeof stages / sizeof *stages + 2 == LAP_CUDA_JPEG_STAGES, "upload, these, result");
    if (stage == 0)
        return upload(jobs, photos, run);
    return stage + 1 < LAP_CUDA_JPEG_STAGES ? stages[stage - 1](jobs, run) : bring_results(jobs, photos, run);
}

static bool has_its_shape(const lap_cuda_jpeg_photo *photo, int device)
{
    const lap_view *pixels = photo->pixels;
    const lap_cuda_jpeg_plan *plan = photo->plan;
    return pixels->place == device && pixels->width == plan->frame.width &&
           pixels->height == plan->frame.height && pixels->channels == plan->channels &&
           (uintptr_t)pixels->base % 8 == 0 && pixels->stride % 8 == 0;
}

/* Fills the rows of the pictures: in the table, or in `one` if there is only one picture. */
static lap_code join(const lap_cuda_jpeg_photo *photos, int count, const lap_cuda_table *table,
    lap_jpeg_job *one, lap_jpeg_jobs *jobs, lap_error *err)
{
    if (count < 1 || count > LAP_CUDA_JPEG_PHOTOS)
        return lap_fail(err, LAP_E_USAGE, "%d pictures in the same launches", count);
    lap_jpeg_job *rows = count > 1 ? (lap_jpeg_job *)table->host : one;
    for (int i = 0; i < count; i++) {
        if (!has_its_shape(photos + i, photos->pixels->place))
            return lap_fail(err, LAP_E_USAGE, "the view's size or channels differ from the picture's");
        rows[i] = job_of(photos + i);
        if (count == 1)
            break;
        rows[i].host_scan = (const uint8_t *)photos[i].scan;
        rows[i].host_staging = (const uint8_t *)photos[i].staging;
        rows[i].host_result = photos[i].result;
    }
    jobs->photo = rows;
    jobs->count = (unsigned)count;
    return LAP_OK;
}

lap_code lap_cuda_jpeg_decode_enqueue(const lap_cuda_jpeg_photo *photos, int count,
    const lap_cuda_table *table, void *stream, void *const *events, lap_error *err)
{
    lap_jpeg_job one;
    lap_jpeg_jobs jobs = {};
    lap_code code = join(photos, count, table, &one, &jobs, err);
    if (code)
        return code;
    const lap_jpeg_run run = {photos->pixels->place, stream, err};
    code = lap_cuda_use(run.device, err);
    if (!code && events && events[0])
        code = LAP_CUDA(cudaEventRecord((cudaEvent_t)events[0], (cudaStream_t)stream), err);
    if (!code)
        code = lap_jpeg_bring_table(&jobs, table, run.device, stream, err);
    for (int i = 0; i < LAP_CUDA_JPEG_STAGES && !code; i++) {
        code = run_stage(i, jobs, photos, run);
        if (!code && events && events[i + 1])
            code = LAP_CUDA(cudaEventRecord((cudaEvent_t)events[i + 1], (cudaStream_t)stream), err);
    }
    return code;
}
