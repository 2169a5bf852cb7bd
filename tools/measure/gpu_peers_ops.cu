/* Times other libraries on the same work as the transpose, reduction, histogram and matrix-vector ladders:
 * cuBLAS geam and sgemv, CUB DeviceReduce and DeviceHistogram, NPP transpose and histogram (where NPP is
 * installed), beside the device's copy. Prints tab-separated rows: op, peer, case, median us, min us, GB/s
 * (each byte read and written once).
 *
 *   nvcc -O3 -std=c++17 -arch=native tools/measure/gpu_peers_ops.cu -o build/gpu_peers_ops -lcublas \
 *       [-lnppist -lnppidei -lnppig -lnppc | -DHAVE_NPP=0]
 *
 * Timed as the bench does: events around each run, buffers rotated beyond the L2 cache, results checked
 * before they are timed. Exit code 1 where a result is wrong or a call fails. */
/* CUB 3 prefers another form of its histogram, which CUB 2 does not have. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <cub/cub.cuh>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#ifndef HAVE_NPP
#if __has_include(<nppi.h>)
#define HAVE_NPP 1
#else
#define HAVE_NPP 0
#endif
#endif
#if HAVE_NPP
#include <nppi.h>
#endif

static void require(bool ok, const char *what, int line)
{
    if (!ok) {
        fprintf(stderr, "gpu_peers_ops: line %d: %s failed\n", line, what);
        exit(1);
    }
}
#define CUDA(call) require((call) == cudaSuccess, #call, __LINE__)
#define CUBLAS(call) require((call) == CUBLAS_STATUS_SUCCESS, #call, __LINE__)

constexpr int RUNS = 30, WARM_UPS = 3;

/* Device memory for as many copies of one buffer as exceed the L2 cache twice over. */
struct rotation {
    size_t bytes;
    std::vector<char *> buffers;

    explicit rotation(size_t bytes_, size_t sets) : bytes(bytes_), buffers(sets)
    {
        for (char *&b : buffers)
            CUDA(cudaMalloc(&b, bytes));
    }
    ~rotation()
    {
        for (char *b : buffers)
            cudaFree(b);
    }
    void fill(const void *host)
    {
        for (char *b : buffers)
            CUDA(cudaMemcpy(b, host, bytes, cudaMemcpyHostToDevice));
    }
    template <typename T>
    T *at(int turn) const
    {
        return reinterpret_cast<T *>(buffers[(size_t)turn % buffers.size()]);
    }
};

static size_t sets_for(size_t set_bytes)
{
    int l2 = 0;
    CUDA(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
    return 2 * (size_t)l2 / set_bytes + 2;
}

static void measure(
    const char *op, const char *peer, const char *what, size_t bytes, const std::function<void(int)> &run)
{
    std::vector<cudaEvent_t> events(2 * RUNS);
    std::vector<float> us(RUNS);
    for (cudaEvent_t &e : events)
        CUDA(cudaEventCreate(&e));
    for (int turn = 0; turn < WARM_UPS + RUNS; turn++) {
        const int i = turn - WARM_UPS;
        if (i >= 0)
            CUDA(cudaEventRecord(events[2 * i]));
        run(turn);
        if (i >= 0)
            CUDA(cudaEventRecord(events[2 * i + 1]));
    }
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < RUNS; i++) {
        CUDA(cudaEventElapsedTime(&us[i], events[2 * i], events[2 * i + 1]));
        us[i] *= 1e3f;
    }
    for (cudaEvent_t e : events)
        cudaEventDestroy(e);
    std::sort(us.begin(), us.end());
    const double median = (us[(RUNS - 1) / 2] + us[RUNS / 2]) / 2;
    printf("%s\t%s\t%s\t%.1f\t%.1f\t%.0f\n", op, peer, what, median, us[0], (double)bytes / median / 1e3);
    fflush(stdout);
}

/* ---- transpose --------------------------------------------------------------------------------- */

static void transpose_f32(cublasHandle_t cublas, int w, int h)
{
    const size_t n = (size_t)w * h, bytes = n * sizeof(float);
    rotation in(bytes, sets_for(2 * bytes)), out(bytes, in.buffers.size());
    std::vector<float> host(n), back(n);
    for (size_t i = 0; i < n; i++)
        host[i] = (float)(i % 16777213);
    in.fill(host.data());
    char what[64];
    snprintf(what, sizeof what, "f32 %dx%d", w, h);
    measure("transpose", "copy", what, 2 * bytes, [&](int t) {
        CUDA(cudaMemcpyAsync(out.at<float>(t), in.at<float>(t), bytes, cudaMemcpyDeviceToDevice));
    });
    const float one = 1, zero = 0;
    auto geam = [&](int t) {
        CUBLAS(cublasSgeam(cublas, CUBLAS_OP_T, CUBLAS_OP_N, h, w, &one, in.at<float>(t), w, &zero, NULL, h,
            out.at<float>(t), h));
    };
    geam(0);
    CUDA(cudaMemcpy(back.data(), out.at<float>(0), bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++)
        require(back[i] == host[i % (size_t)h * (size_t)w + i / (size_t)h], "geam's result", __LINE__);
    measure("transpose", "cublasSgeam", what, 2 * bytes, geam);
}

/* ---- reduction --------------------------------------------------------------------------------- */

template <typename T>
static void reduce(const char *what, size_t n)
{
    rotation in(n * sizeof(T), sets_for(n * sizeof(T)));
    std::vector<T> host(n, T(1.23));
    in.fill(host.data());
    T *sum, result;
    void *temp = NULL;
    size_t temp_bytes = 0;
    CUDA(cudaMalloc(&sum, sizeof *sum));
    CUDA(cub::DeviceReduce::Sum(temp, temp_bytes, in.template at<T>(0), sum, (int)n));
    CUDA(cudaMalloc(&temp, temp_bytes));
    auto run = [&](int t) {
        CUDA(cub::DeviceReduce::Sum(temp, temp_bytes, in.template at<T>(t), sum, (int)n));
    };
    run(0);
    CUDA(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
    const double exact = (double)T(1.23) * (double)n;
    require(result > exact * 0.999 && result < exact * 1.001, "CUB's sum", __LINE__);
    measure("reduce", "cub::DeviceReduce::Sum", what, n * sizeof(T), run);
    CUDA(cudaFree(sum));
    CUDA(cudaFree(temp));
}

/* ---- 8-bit images: histogram and NPP's transpose ----------------------------------------------------- */

struct image {
    int w, h;
    size_t bytes;
    std::vector<unsigned char> host;
    long expected[3][256];
};

static image make_image(int w, int h, bool flat)
{
    image m = {w, h, (size_t)w * h * 3, {}, {}};
    unsigned state = 2463534242u; /* as src/bench/bench_image.c makes its pixels up */
    m.host.resize(m.bytes);
    for (int y = 0; y < h; y++)
        for (int i = 0; i < w * 3; i++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            const int v = flat ? 77 : (y + i / 3) / 32 % 224 + (int)(state >> 27);
            m.host[(size_t)y * w * 3 + i] = (unsigned char)v;
            m.expected[i % 3][v]++;
        }
    return m;
}

static void require_counts(const image &m, int *const (&counts)[3], const char *what)
{
    int back[256];
    for (int c = 0; c < 3; c++) {
        CUDA(cudaMemcpy(back, counts[c], sizeof back, cudaMemcpyDeviceToHost));
        for (int v = 0; v < 256; v++)
            require(back[v] == m.expected[c][v], what, __LINE__);
    }
}

static void histogram_cub(const image &m, const rotation &in, int *const (&counts)[3], const char *what)
{
    int levels[3] = {257, 257, 257}, *histograms[3] = {counts[0], counts[1], counts[2]};
    int lower[3] = {0, 0, 0}, upper[3] = {256, 256, 256};
    void *temp = NULL;
    size_t temp_bytes = 0;
    auto run = [&](int t) {
        CUDA((cub::DeviceHistogram::MultiHistogramEven<3, 3>(
            temp, temp_bytes, in.at<unsigned char>(t), histograms, levels, lower, upper, m.w * m.h)));
    };
    run(0);
    CUDA(cudaMalloc(&temp, temp_bytes));
    run(0);
    require_counts(m, counts, "CUB's histogram");
    measure("histogram", "cub::MultiHistogramEven", what, m.bytes, run);
    CUDA(cudaFree(temp));
}

#if HAVE_NPP
#define NPP(call) require((call) == NPP_SUCCESS, #call, __LINE__)

static NppStreamContext npp_context()
{
    NppStreamContext context = {};
    cudaDeviceProp p;
    CUDA(cudaGetDeviceProperties(&p, 0));
    context.nMultiProcessorCount = p.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = p.maxThreadsPerBlock;
    context.nSharedMemPerBlock = p.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = p.major;
    context.nCudaDevAttrComputeCapabilityMinor = p.minor;
    return context;
}

/* The type of the size differs from version to version. */
template <typename Size>
static size_t histogram_buffer(
    NppStatus (*ask)(NppiSize, int *, Size *, NppStreamContext), NppiSize roi, int *levels)
{
    Size bytes = 0;
    NPP(ask(roi, levels, &bytes, npp_context()));
    return (size_t)bytes;
}

static void histogram_npp(const image &m, const rotation &in, int *const (&counts)[3], const char *what)
{
    Npp32s *histograms[3] = {counts[0], counts[1], counts[2]};
    int levels[3] = {257, 257, 257};
    Npp32s lower[3] = {0, 0, 0}, upper[3] = {256, 256, 256};
    const NppiSize roi = {m.w, m.h};
    const NppStreamContext context = npp_context();
    Npp8u *buffer;
    CUDA(cudaMalloc(&buffer, histogram_buffer(nppiHistogramEvenGetBufferSize_8u_C3R_Ctx, roi, levels)));
    auto run = [&](int t) {
        NPP(nppiHistogramEven_8u_C3R_Ctx(
            in.at<Npp8u>(t), m.w * 3, roi, histograms, levels, lower, upper, buffer, context));
    };
    run(0);
    require_counts(m, counts, "NPP's histogram");
    measure("histogram", "nppiHistogramEven", what, m.bytes, run);
    CUDA(cudaFree(buffer));
}

static void transpose_npp(const image &m, const rotation &in, const rotation &out, const char *what)
{
    const NppiSize roi = {m.w, m.h};
    const NppStreamContext context = npp_context();
    std::vector<unsigned char> back(m.bytes);
    auto run = [&](int t) {
        NPP(nppiTranspose_8u_C3R_Ctx(in.at<Npp8u>(t), m.w * 3, out.at<Npp8u>(t), m.h * 3, roi, context));
    };
    run(0);
    CUDA(cudaMemcpy(back.data(), out.at<char>(0), m.bytes, cudaMemcpyDeviceToHost));
    for (int y = 0; y < m.w; y++)
        for (int i = 0; i < m.h * 3; i++)
            require(back[(size_t)y * m.h * 3 + i] == m.host[((size_t)(i / 3) * m.w + y) * 3 + i % 3],
                "NPP's transpose", __LINE__);
    measure("transpose", "nppiTranspose", what, 2 * m.bytes, run);
}
#endif

static void images(int w, int h)
{
    for (int flat = 0; flat < 2; flat++) {
        const image m = make_image(w, h, flat);
        rotation in(m.bytes, sets_for(2 * m.bytes)), out(m.bytes, in.buffers.size());
        in.fill(m.host.data());
        int *counts[3];
        for (int *&c : counts)
            CUDA(cudaMalloc(&c, 256 * sizeof *c));
        char what[64];
        snprintf(what, sizeof what, "u8x3 %dx%d%s", w, h, flat ? " all equal" : "");
        if (!flat)
            measure("transpose", "copy", what, 2 * m.bytes, [&](int t) {
                CUDA(cudaMemcpyAsync(out.at<char>(t), in.at<char>(t), m.bytes, cudaMemcpyDeviceToDevice));
            });
#if HAVE_NPP
        if (!flat)
            transpose_npp(m, in, out, what);
        histogram_npp(m, in, counts, what);
#endif
        histogram_cub(m, in, counts, what);
        for (int *c : counts)
            CUDA(cudaFree(c));
    }
}

/* ---- matrix-vector ----------------------------------------------------------------------------- */

static void matvec(cublasHandle_t cublas, int n)
{
    float *a, *x, *y;
    const size_t bytes = (size_t)n * n * sizeof(float), row = (size_t)n * sizeof(float);
    std::vector<float> host((size_t)n * n), back(n);
    for (size_t i = 0; i < host.size(); i++)
        host[i] = (float)(i % 7) - 3;
    CUDA(cudaMalloc(&a, bytes));
    CUDA(cudaMalloc(&x, row));
    CUDA(cudaMalloc(&y, row));
    CUDA(cudaMemcpy(a, host.data(), bytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(x, host.data(), row, cudaMemcpyHostToDevice));
    const float one = 1, zero = 0;
    /* Rows of ours are columns of cuBLAS. */
    auto run = [&](int) { CUBLAS(cublasSgemv(cublas, CUBLAS_OP_T, n, n, &one, a, n, x, 1, &zero, y, 1)); };
    run(0);
    CUDA(cudaMemcpy(back.data(), y, row, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        float sum = 0; /* whole numbers: exact in every order */
        for (int j = 0; j < n; j++)
            sum += host[(size_t)i * n + j] * host[j];
        require(back[i] == sum, "sgemv's result", __LINE__);
    }
    char what[64];
    snprintf(what, sizeof what, "f32 %dx%d", n, n);
    measure("matvec", "cublasSgemv", what, bytes + 2 * row, run);
    CUDA(cudaFree(a));
    CUDA(cudaFree(x));
    CUDA(cudaFree(y));
}

int main()
{
    cublasHandle_t cublas;
    CUBLAS(cublasCreate(&cublas));
    printf("op\tpeer\tcase\tmedian_us\tmin_us\tgb_per_s\n");
    transpose_f32(cublas, 4992, 3744);
    transpose_f32(cublas, 2048, 1536);
    images(4992, 3744);
    reduce<float>("f32 100000000", 100000000);
    reduce<double>("f64 100000000", 100000000);
    matvec(cublas, 16000);
    CUBLAS(cublasDestroy(cublas));
    return 0;
}
