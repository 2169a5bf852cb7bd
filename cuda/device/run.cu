/* A whole run around the rungs that take pixels: host views in, host views out. */
#include "launch.cuh"

extern "C" lap_code lap_cuda_run_views(int device, const lap_view *in, const lap_view *out,
    const lap_border *border, lap_cuda_views_fn *launch, void *argument, lap_times *times, lap_error *err)
{
    lap_view from = {}, to = {};
    cudaStream_t stream = NULL;
    cudaEvent_t events[4] = {};
    double ms[3] = {};
    lap_code code = lap_cuda_use(device, err);
    if (!code)
        code = LAP_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), err);
    for (int i = 0; i < 4 && !code; i++)
        code = LAP_CUDA(cudaEventCreate(&events[i]), err);
    if (!code)
        code = lap_cuda_view_create(
            device, in->width, in->height, in->channels, border ? LAP_APRON : 0, &from, err);
    if (!code && out)
        code = lap_cuda_view_create(device, out->width, out->height, out->channels, 0, &to, err);
    if (!code)
        code = LAP_CUDA(cudaEventRecord(events[0], stream), err);
    if (!code)
        code = lap_cuda_upload(in, &from, stream, err);
    if (!code)
        code = LAP_CUDA(cudaEventRecord(events[1], stream), err);
    if (!code && border)
        code = lap_cuda_border(&from, *border, stream, err);
    if (!code)
        code = launch(argument, &from, &to, stream, err);
    if (!code)
        code = LAP_CUDA(cudaEventRecord(events[2], stream), err);
    if (!code && out)
        code = lap_cuda_download(&to, out, stream, err);
    if (!code)
        code = LAP_CUDA(cudaEventRecord(events[3], stream), err);
    if (stream) { /* after a failure too: nothing may be freed while it is in use */
        lap_code waited = LAP_CUDA(cudaStreamSynchronize(stream), code ? NULL : err);
        code = code ? code : waited;
    }
    for (int i = 0; i < 3 && !code; i++)
        code = lap_cuda_elapsed(events[i], events[i + 1], &ms[i], err);
    if (!code && times) {
        times->upload = ms[0];
        times->filter = ms[1];
        times->download = ms[2];
    }
    lap_cuda_view_destroy(&to);
    lap_cuda_view_destroy(&from);
    for (int i = 0; i < 4; i++)
        if (events[i])
            cudaEventDestroy(events[i]);
    if (stream)
        cudaStreamDestroy(stream);
    return code;
}
