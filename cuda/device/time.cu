/* Timing on the device, by events. */
#include <stdlib.h>

#include "launch.cuh"

constexpr int MAX_JOBS = 16, WARM_UPS = 3, MIN_ROTATION = 4, MAX_ROTATION = 64;

extern "C" lap_code lap_cuda_elapsed(cudaEvent_t from, cudaEvent_t to, double *ms, lap_error *err)
{
    float value = 0;
    lap_code code = LAP_CUDA(cudaEventElapsedTime(&value, from, to), err);
    *ms = value;
    return code;
}

extern "C" lap_code lap_cuda_time(int device, const lap_cuda_job *jobs, int count, int runs, lap_error *err)
{
    size_t pairs = 0, bytes = 0;
    cudaStream_t stream = NULL;
    cudaEvent_t *events = NULL;
    if (count < 1 || count > MAX_JOBS || runs < 1 || !lap_mul((size_t)runs, (size_t)count, &pairs) ||
        !lap_mul(pairs, 2 * sizeof *events, &bytes))
        return lap_fail(err, LAP_E_USAGE, "%d runs of %d jobs cannot be timed", runs, count);
    lap_code code = lap_cuda_use(device, err);
    if (!code && !(events = (cudaEvent_t *)calloc(1, bytes)))
        code = lap_fail(err, LAP_E_MEMORY, "out of memory for %zu events", 2 * pairs);
    if (!code)
        code = LAP_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), err);
    for (size_t i = 0; i < 2 * pairs && !code; i++)
        code = LAP_CUDA(cudaEventCreate(&events[i]), err);
    for (int turn = 0; turn < WARM_UPS + runs && !code; turn++)
        for (int j = 0; j < count && !code; j++) {
            cudaEvent_t *pair = turn < WARM_UPS ? NULL : &events[2 * ((turn - WARM_UPS) * (size_t)count + j)];
            if (pair)
                code = LAP_CUDA(cudaEventRecord(pair[0], stream), err);
            if (!code)
                code = jobs[j].fn(jobs[j].argument, turn, stream, err);
            if (!code && pair)
                code = LAP_CUDA(cudaEventRecord(pair[1], stream), err);
        }
    if (stream) {
        lap_code waited = LAP_CUDA(cudaStreamSynchronize(stream), code ? NULL : err);
        code = code ? code : waited;
    }
    for (size_t i = 0; i < pairs && !code; i++)
        code = lap_cuda_elapsed(events[2 * i], events[2 * i + 1], &jobs[i % count].ms[i / count], err);
    for (size_t i = 0; events && i < 2 * pairs; i++)
        if (events[i])
            cudaEventDestroy(events[i]);
    if (stream)
        cudaStreamDestroy(stream);
    free(events);
    return code;
}

extern "C" int lap_cuda_rotation(int device, size_t set_bytes)
{
    int l2 = 0;
    size_t unused = 0, total = 0;
    if (cudaSetDevice(device) || cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device) ||
        cudaMemGetInfo(&unused, &total)) {
        cudaGetLastError();
        return 1;
    }
    const size_t bytes = set_bytes ? set_bytes : 1, room = unused / 2 / bytes;
    size_t sets = 2 * (size_t)l2 / bytes + 2;
    sets = sets < MIN_ROTATION ? MIN_ROTATION : sets > MAX_ROTATION ? MAX_ROTATION : sets;
    return (int)(sets <= room ? sets : room ? room : 1);
}

/* ---- timing a filter rung -------------------------------------------------------------------- */

struct rotation {
    lap_view in[MAX_ROTATION], out[MAX_ROTATION];
    int sets;
    const lap_rung *rung;
    const lap_params *params;
    lap_exec exec;
    const lap_view *host, *result;
};

static lap_code run_rung(void *argument, int turn, void *stream, lap_error *err)
{
    rotation *r = (rotation *)argument;
    r->exec.stream = stream;
    r->exec.err = err;
    return r->rung->run.filter(&r->in[turn % r->sets], &r->out[turn % r->sets], r->params, &r->exec);
}

/* The same number of bytes, in one piece: what the hardware's own copy makes of it. */
static lap_code run_copy(void *argument, int turn, void *stream, lap_error *err)
{
    rotation *r = (rotation *)argument;
    const int i = turn % r->sets;
    const size_t bytes = (size_t)r->in[i].width * r->in[i].channels * r->in[i].height;
    return lap_cuda_copy(r->in[i].place, r->out[i].base, r->in[i].base, bytes, stream, err);
}

static lap_code run_upload(void *argument, int turn, void *stream, lap_error *err)
{
    rotation *r = (rotation *)argument;
    return lap_cuda_upload(r->host, &r->in[turn % r->sets], stream, err);
}

static lap_code run_download(void *argument, int turn, void *stream, lap_error *err)
{
    rotation *r = (rotation *)argument;
    return lap_cuda_download(&r->out[turn % r->sets], r->result, stream, err);
}

static lap_code fill_rotation(
    rotation *r, int device, const lap_view *host, lap_border border, lap_error *err)
{
    lap_code code = LAP_OK;
    for (int i = 0; i < r->sets && !code; i++) {
        code = lap_cuda_view_create(
            device, host->width, host->height, host->channels, LAP_APRON, &r->in[i], err);
        if (!code)
            code =
                lap_cuda_view_create(device, host->width, host->height, host->channels, 0, &r->out[i], err);
        if (!code)
            code = lap_cuda_upload(host, &r->in[i], NULL, err);
        if (!code)
            code = lap_cuda_border(&r->in[i], border, NULL, err);
    }
    return code ? code : lap_cuda_sync(device, NULL, err);
}

extern "C" lap_code lap_cuda_time_filter(const lap_rung *rung, int device, int width, int height,
    int channels, const lap_view *host, const lap_params *params, lap_border border, const lap_exec *exec,
    int runs, bool warm, double *kernel_ms, double *upload_ms, double *download_ms, double *copy_ms,
    lap_error *err)
{
    if (width != host->width || height != host->height || channels != host->channels)
        return lap_fail(err, LAP_E_INTERNAL, "the pixels to time on are of another size");
    size_t bytes = 2 * (size_t)width * (size_t)channels * (size_t)height;
    uint8_t *pixels = NULL;
    lap_view result = *host;
    rotation *r = (rotation *)calloc(1, sizeof *r);
    if (!r)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    lap_code code = lap_cuda_use(device, err);
    r->sets = warm ? 1 : lap_cuda_rotation(device, bytes);
    r->rung = rung;
    r->params = params;
    if (exec)
        r->exec = *exec;
    r->host = host;
    if (!code)
        code = fill_rotation(r, device, host, border, err);
    /* Kernel and copy each by itself, again and again: so each run finds the cache full of what the
     * one before has written, and pays for as many bytes as it writes. By turns, the copy's bill would
     * depend on the rung: a slow one leaves the memory time to write back what the copy left. */
    lap_cuda_job kernel = {run_rung, r, kernel_ms}, copy = {run_copy, r, copy_ms};
    lap_cuda_job upload = {run_upload, r, upload_ms}, download = {run_download, r, download_ms};
    if (!code)
        code = lap_cuda_time(device, &kernel, 1, runs, err);
    if (!code && copy_ms)
        code = lap_cuda_time(device, &copy, 1, runs, err);
    if (!code && upload_ms)
        code = lap_cuda_time(device, &upload, 1, runs, err);
    if (!code && download_ms) {
        result.stride = (ptrdiff_t)width * channels;
        result.base = pixels = (uint8_t *)malloc(bytes / 2);
        r->result = &result;
        code = pixels ? lap_cuda_time(device, &download, 1, runs, err)
                      : lap_fail(err, LAP_E_MEMORY, "out of memory");
    }
    for (int i = 0; i < r->sets; i++) {
        lap_cuda_view_destroy(&r->in[i]);
        lap_cuda_view_destroy(&r->out[i]);
    }
    free(pixels);
    free(r);
    return code;
}
