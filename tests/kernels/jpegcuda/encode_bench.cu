// encode_bench FILE.jpg [--runs=N]: edges of a photo encoded on the device: the stages by events, one picture
// alone; then several streams at once, from pixels on the device to the scan in pinned memory, in pictures
// per second. The scan is compared with the CPU encoder's before anything is timed. One line of JSON per row.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#include "base/image.h"
#include "cuda/device/device.h"
#include "cuda/jpeg/encode.h"
#include "encode_reference.h"

static lap_error err;

static void need(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "encode_bench: %s: %s\n", what, err.message);
        exit(1);
    }
}

static void cuda(cudaError_t code, const char *what)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "encode_bench: %s: %s\n", what, cudaGetErrorString(code));
        exit(1);
    }
}

struct slot {
    cudaStream_t stream;
    void *workspace;
    uint8_t *scan;
    lap_cuda_jpeg_encoded *result;
    lap_view pixels;
};

static slot make_slot(const lap_cuda_jpeg_encode_plan &plan, const lap_view &host)
{
    slot s = {};
    cuda(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking), "stream");
    cuda(cudaMalloc(&s.workspace, plan.workspace_bytes), "workspace");
    cuda(cudaMallocHost((void **)&s.scan, plan.capacity), "pinned memory");
    cuda(cudaMallocHost((void **)&s.result, sizeof *s.result), "pinned memory");
    need(lap_cuda_view_create(0, host.width, host.height, host.channels, 0, &s.pixels, &err) == LAP_OK,
        "view");
    need(lap_cuda_upload(&host, &s.pixels, s.stream, &err) == LAP_OK, "upload");
    cuda(cudaStreamSynchronize(s.stream), "upload");
    return s;
}

static void encode(const lap_cuda_jpeg_encode_plan &plan, slot &s, void *const *events)
{
    const lap_cuda_jpeg_picture picture = {&plan, &s.pixels, s.workspace, s.scan, s.result};
    need(lap_cuda_jpeg_encode_enqueue(&picture, 1, NULL, s.stream, events, &err) == LAP_OK, "encode");
}

static bool is_right(const slot &s, const lap_reference &r)
{
    return !s.result->overflow && s.result->bytes == r.scan_bytes && !memcmp(s.scan, r.scan, r.scan_bytes);
}

static double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

static void alone(const lap_cuda_jpeg_encode_plan &plan, slot &s, int runs)
{
    constexpr int STAGES = LAP_CUDA_JPEG_ENCODE_STAGES;
    cudaEvent_t events[STAGES + 1];
    std::vector<double> ms[STAGES + 1];
    for (auto &e : events)
        cuda(cudaEventCreate(&e), "event");
    for (int i = 0; i < runs + 3; i++) {
        encode(plan, s, (void *const *)events);
        cuda(cudaStreamSynchronize(s.stream), "encode");
        for (int j = 0; j <= STAGES && i >= 3; j++) {
            float t;
            cuda(cudaEventElapsedTime(&t, events[j == STAGES ? 0 : j], events[j == STAGES ? j : j + 1]),
                "time");
            ms[j].push_back(t);
        }
    }
    for (int j = 0; j <= STAGES; j++)
        printf("{\"what\":\"encode\",\"streams\":1,\"stage\":\"%s\",\"us\":%.1f}\n",
            j == STAGES ? "all" : lap_cuda_jpeg_encode_stage(j), 1000 * median(ms[j]));
}

static void together(const lap_cuda_jpeg_encode_plan &plan, std::vector<slot> &slots, int streams, int runs)
{
    using clock = std::chrono::steady_clock;
    const int pictures = runs * 8;
    double best = 0;
    for (int round = 0; round < 3; round++) {
        const auto start = clock::now();
        for (int i = 0; i < pictures; i++) {
            slot &s = slots[i % streams];
            cuda(cudaStreamSynchronize(s.stream), "encode"); // its picture before is in host memory
            encode(plan, s, NULL);
        }
        cuda(cudaDeviceSynchronize(), "encode");
        best = std::max(best, pictures / std::chrono::duration<double>(clock::now() - start).count());
    }
    printf("{\"what\":\"encode\",\"streams\":%d,\"pictures_per_s\":%.0f}\n", streams, best);
}

int main(int argc, char **argv)
{
    int runs = 50;
    const char *file = NULL;
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], "--runs=", 7))
            runs = atoi(argv[i] + 7);
        else
            file = argv[i];
    if (!file || runs < 1) {
        fprintf(stderr, "usage: encode_bench FILE.jpg [--runs=N]\n");
        return 2;
    }
    lap_reference reference;
    need(lap_reference_make(file, &reference, &err) == LAP_OK, file);
    lap_cuda_jpeg_encode_plan plan;
    need(
        lap_cuda_jpeg_encode_plan_make(&reference.target, 0, &plan), "the device does not take this picture");
    std::vector<slot> slots;
    for (int i = 0; i < 16; i++)
        slots.push_back(make_slot(plan, reference.edges.view));
    for (slot &s : slots) {
        encode(plan, s, NULL);
        cuda(cudaStreamSynchronize(s.stream), "encode");
        need(is_right(s, reference), "the device's scan differs from the CPU's");
    }
    printf("{\"what\":\"encode\",\"width\":%d,\"height\":%d,\"scan_bytes\":%zu,\"workspace_bytes\":%zu}\n",
        plan.target.width, plan.target.height, reference.scan_bytes, plan.workspace_bytes);
    alone(plan, slots[0], runs);
    for (int streams : {1, 2, 4, 8, 16})
        together(plan, slots, streams, runs);
    for (slot &s : slots)
        need(is_right(s, reference), "a scan differs after the timing");
    return 0;
}
