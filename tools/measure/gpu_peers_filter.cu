/* NPP's 5x5 filter beside cuda-fast, cuda-global and the device's copy: built and run by
 * tools/measure/gpu-peers.
 *
 *   peers RUNS IN.raw OUT.raw     writes the image and c's result there; one line a contender on stdout
 *
 * 4992x3744, 3 channels, synthetic pixels with noise. Each contender runs by itself on the same rotation of
 * cold buffers. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cuda/device/launch.cuh"
extern "C" {
#include "base/border.h"
#include "base/image.h"
}

#if __has_include(<nppi_filtering_functions.h>)
#include <nppi_filtering_functions.h>
#define HAVE_NPP 1
#else
#define HAVE_NPP 0
#endif

constexpr int WIDTH = 4992, HEIGHT = 3744, CHANNELS = 3, SETS = 4;

static lap_error err;

static void need(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "peers: %s: %s\n", what, err.message);
        exit(1);
    }
}

struct contender {
    const char *name;
    lap_cuda_timed_fn *fn;
    const lap_rung *rung;
    std::vector<double> us;
    bool right;
};

static lap_view in[SETS], out[SETS];
static lap_params params;

static lap_code run_rung(void *argument, int turn, void *stream, lap_error *e)
{
    lap_exec exec = {};
    exec.stream = stream;
    exec.err = e;
    const contender *c = static_cast<contender *>(argument);
    const int i = turn % SETS;
    return c->rung->run.filter(&in[i], &out[i], &params, &exec);
}

static lap_code run_copy(void *, int turn, void *stream, lap_error *e)
{
    const int i = turn % SETS;
    return lap_cuda_copy(0, out[i].base, in[i].base, (size_t)WIDTH * HEIGHT * CHANNELS, stream, e);
}

#if HAVE_NPP
static Npp32s *npp_kernel;
static NppStreamContext npp;

static void npp_start()
{
    Npp32s h[25];
    cudaDeviceProp properties;
    for (int i = 0; i < 25; i++)
        h[i] = params.kernel.hi[i]; /* NPP turns it by 180 degrees, with no effect here */
    need(LAP_CUDA(cudaMalloc(&npp_kernel, sizeof h), &err) == LAP_OK, "NPP kernel");
    need(LAP_CUDA(cudaMemcpy(npp_kernel, h, sizeof h, cudaMemcpyHostToDevice), &err) == LAP_OK, "NPP kernel");
    need(LAP_CUDA(cudaGetDeviceProperties(&properties, 0), &err) == LAP_OK, "device");
    memset(&npp, 0, sizeof npp);
    npp.nMultiProcessorCount = properties.multiProcessorCount;
    npp.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    npp.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    npp.nSharedMemPerBlock = properties.sharedMemPerBlock;
    npp.nCudaDevAttrComputeCapabilityMajor = properties.major;
    npp.nCudaDevAttrComputeCapabilityMinor = properties.minor;
}

/* NPP reads beyond the rectangle that it is given, as the rungs do: into the apron. */
static lap_code run_npp(void *, int turn, void *stream, lap_error *e)
{
    npp.hStream = static_cast<cudaStream_t>(stream);
    const int i = turn % SETS;
    const lap_view *a = &in[i], *b = &out[i];
    NppStatus status = nppiFilter_8u_C3R_Ctx(a->base, (int)a->stride, b->base, (int)b->stride,
        {WIDTH, HEIGHT}, npp_kernel, {5, 5}, {2, 2}, 1, npp);
    return status == NPP_SUCCESS ? LAP_OK : lap_fail(e, LAP_E_DEVICE, "NPP status %d", (int)status);
}
#endif

static const lap_rung *rung_named(const char *name)
{
    const lap_rung *rung = NULL;
    need(lap_rung_find(LAP_OP_FILTER, name, &rung, &err) == LAP_OK, name);
    return rung;
}

static void save(const char *path, const lap_view *view)
{
    FILE *file = fopen(path, "wb");
    need(file != NULL, path);
    for (int y = 0; y < view->height; y++)
        need(fwrite(view->base + y * view->stride, (size_t)WIDTH * CHANNELS, 1, file) == 1, path);
    need(fclose(file) == 0, path);
}

static bool equals(const lap_view *device, const lap_view *reference, lap_image *scratch)
{
    need(lap_cuda_download(device, &scratch->view, NULL, &err) == LAP_OK &&
             lap_cuda_sync(0, NULL, &err) == LAP_OK,
        "download");
    for (int y = 0; y < HEIGHT; y++)
        if (memcmp(reference->base + y * reference->stride, scratch->view.base + y * scratch->view.stride,
                (size_t)WIDTH * CHANNELS))
            return false;
    return true;
}

int main(int argc, char **argv)
{
    const int runs = argc == 4 ? atoi(argv[1]) : 0;
    need(runs > 0, "usage: peers RUNS IN.raw OUT.raw");
    lap_image image, reference, scratch;
    params = lap_params_default();
    need(lap_image_create(&image, WIDTH, HEIGHT, CHANNELS, LAP_APRON, &err) == LAP_OK, "image");
    need(lap_image_create(&reference, WIDTH, HEIGHT, CHANNELS, 0, &err) == LAP_OK, "image");
    need(lap_image_create(&scratch, WIDTH, HEIGHT, CHANNELS, 0, &err) == LAP_OK, "image");
    unsigned noise = 1;
    for (int y = 0; y < HEIGHT; y++)
        for (int i = 0; i < WIDTH * CHANNELS; i++) {
            noise = noise * 1664525u + 1013904223u;
            image.view.base[y * image.view.stride + i] = (uint8_t)(60 + (y + i / 7) % 120 + (noise >> 28));
        }
    lap_border_fill(&image.view, LAP_ZERO);
    lap_exec exec = {};
    need(rung_named("c")->run.filter(&image.view, &reference.view, &params, &exec) == LAP_OK, "c");
    save(argv[2], &image.view);
    save(argv[3], &reference.view);
    for (int i = 0; i < SETS; i++)
        need(lap_cuda_view_create(0, WIDTH, HEIGHT, CHANNELS, LAP_APRON, &in[i], &err) == LAP_OK &&
                 lap_cuda_view_create(0, WIDTH, HEIGHT, CHANNELS, 0, &out[i], &err) == LAP_OK &&
                 lap_cuda_upload(&image.view, &in[i], NULL, &err) == LAP_OK &&
                 lap_cuda_border(&in[i], LAP_ZERO, NULL, &err) == LAP_OK,
            "device");
    std::vector<contender> all = {{"copy", run_copy, NULL, {}, true},
        {"cuda-fast", run_rung, rung_named("cuda-fast"), {}, false},
        {"cuda-global", run_rung, rung_named("cuda-global"), {}, false}};
#if HAVE_NPP
    npp_start();
    all.push_back({"NPP nppiFilter_8u_C3R", run_npp, NULL, {}, false});
#endif
    for (contender &c : all) {
        if (c.fn != run_copy) {
            need(c.fn(&c, 0, NULL, &err) == LAP_OK && lap_cuda_sync(0, NULL, &err) == LAP_OK, c.name);
            c.right = equals(&out[0], &reference.view, &scratch);
        }
        c.us.resize((size_t)runs);
        const lap_cuda_job job = {c.fn, &c, c.us.data()};
        need(lap_cuda_time(0, &job, 1, runs, &err) == LAP_OK, c.name);
    }
    double copy = 0;
    for (contender &c : all) {
        std::sort(c.us.begin(), c.us.end());
        const double median = 1000 * c.us[c.us.size() / 2];
        copy = copy > 0 ? copy : median;
        printf("%-34s %10.1f %10.1f %8.2f  %s\n", c.name, median, 1000 * c.us[0], median / copy,
            c.right ? (c.fn == run_copy ? "" : "equal") : "DIFFERENT");
    }
    if (!HAVE_NPP)
        printf("NPP: its headers were not found by nvcc\n");
    return 0;
}
