/* nvJPEG on one photo: built and run by tools/measure/gpu-peers where its header is.
 *
 *   nvjpeg_peers engine|default|encode RUNS PHOTO.jpg PHOTO.ppm EDGES.ppm
 *
 * One way a process, since any of them may hang or fail. PHOTO.ppm: libjpeg's pixels, EDGES.ppm: what is to
 * be encoded. One line per way and number of photos at once: ms per photo (median of RUNS rounds), photos per
 * second, and how its pixels differ. Decoding ends with interleaved pixels on the device, encoding with the
 * file in pinned memory; everything is allocated before. */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <nvjpeg.h>

constexpr int QUALITY = 90, ROUNDS = 8; /* ROUNDS: photos per stream and timed run */

static void need(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "nvJPEG: %s failed\n", what);
        exit(1);
    }
}

static void cuda(cudaError_t error, const char *what)
{
    need(error == cudaSuccess, what);
}

static void nv(nvjpegStatus_t status, const char *what)
{
    need(status == NVJPEG_STATUS_SUCCESS, what);
}

struct image {
    int width = 0, height = 0;
    std::vector<unsigned char> bytes;
};

static std::vector<unsigned char> read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    need(file && fseek(file, 0, SEEK_END) == 0 && ftell(file) > 0, path);
    std::vector<unsigned char> bytes((size_t)ftell(file));
    need(fseek(file, 0, SEEK_SET) == 0 && fread(bytes.data(), 1, bytes.size(), file) == bytes.size(), path);
    fclose(file);
    return bytes;
}

static image read_ppm(const char *path)
{
    const std::vector<unsigned char> all = read_file(path);
    const std::string head(all.begin(), all.begin() + std::min<size_t>(all.size(), 64));
    image i;
    int most = 0, at = 0;
    need(sscanf(head.c_str(), "P6 %d %d %d%n", &i.width, &i.height, &most, &at) == 3 && most == 255, path);
    const size_t size = (size_t)i.width * i.height * 3;
    need(all.size() == at + 1 + size, path);
    i.bytes.assign(all.begin() + at + 1, all.end());
    return i;
}

struct slot { /* of one stream */
    cudaStream_t stream;
    nvjpegJpegState_t decoder;
    nvjpegEncoderState_t encoder;
    nvjpegEncoderParams_t params;
    nvjpegImage_t pixels; /* interleaved, on the device */
    unsigned char *file;  /* pinned */
    size_t capacity, size;
};

static slot make_slot(nvjpegHandle_t handle, const image &like, bool encodes)
{
    slot s = {};
    s.capacity = like.bytes.size();
    s.pixels.pitch[0] = (size_t)like.width * 3;
    cuda(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking), "cudaStreamCreate");
    cuda(cudaMalloc(reinterpret_cast<void **>(&s.pixels.channel[0]), like.bytes.size()), "cudaMalloc");
    cuda(cudaMallocHost(reinterpret_cast<void **>(&s.file), s.capacity), "cudaMallocHost");
    nv(nvjpegJpegStateCreate(handle, &s.decoder), "nvjpegJpegStateCreate");
    if (!encodes)
        return s;
    nv(nvjpegEncoderStateCreate(handle, &s.encoder, s.stream), "nvjpegEncoderStateCreate");
    nv(nvjpegEncoderParamsCreate(handle, &s.params, s.stream), "nvjpegEncoderParamsCreate");
    nv(nvjpegEncoderParamsSetQuality(s.params, QUALITY, s.stream), "nvjpegEncoderParamsSetQuality");
    nv(nvjpegEncoderParamsSetSamplingFactors(s.params, NVJPEG_CSS_420, s.stream), "sampling factors");
    return s;
}

/* Greatest difference of a level, and how many samples differ. */
static std::string difference(const slot &s, const image &expected)
{
    std::vector<unsigned char> got(expected.bytes.size());
    cuda(cudaMemcpy(got.data(), s.pixels.channel[0], got.size(), cudaMemcpyDeviceToHost), "download");
    int most = 0;
    size_t count = 0;
    for (size_t i = 0; i < got.size(); i++) {
        const int by = abs(got[i] - expected.bytes[i]);
        most = std::max(most, by);
        count += by > 0;
    }
    char text[80];
    snprintf(text, sizeof text, "%.2f %% of samples differ, by up to %d", 100.0 * count / got.size(), most);
    return count ? text : "equal";
}

static void report(const char *what, int at_once, int runs, int photos, const std::function<void()> &work,
    const std::string &end)
{
    std::vector<double> ms;
    for (int run = -1; run < runs; run++) {
        const auto start = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
        if (run >= 0)
            ms.push_back(took.count() / photos);
    }
    std::sort(ms.begin(), ms.end());
    const double median = ms[ms.size() / 2];
    printf("%-26s %8d %10.3f %10.0f  %s\n", what, at_once, median, 1000 / median, end.c_str());
    fflush(stdout);
}

/* The same on `count` threads, a slot each. */
static void on_threads(std::vector<slot> &slots, int count, const std::function<void(slot &)> &work)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back([&, i] { work(slots[i]); });
    for (std::thread &t : threads)
        t.join();
}

static void bench_engine(const std::vector<unsigned char> &file, const image &expected, int runs)
{
    nvjpegHandle_t handle;
    const nvjpegStatus_t status = nvjpegCreateEx(NVJPEG_BACKEND_HARDWARE, NULL, NULL, 0, &handle);
    if (status != NVJPEG_STATUS_SUCCESS) {
        printf("nvJPEG engine: this device has none (status %d)\n", (int)status);
        return;
    }
    for (int batch : {1, 8, 16, 32}) {
        std::vector<slot> slots;
        std::vector<const unsigned char *> files(batch, file.data());
        std::vector<size_t> sizes(batch, file.size());
        std::vector<nvjpegImage_t> images;
        for (int i = 0; i < batch; i++) {
            slots.push_back(make_slot(handle, expected, false));
            images.push_back(slots.back().pixels);
        }
        slot &s = slots[0];
        nv(nvjpegDecodeBatchedInitialize(handle, s.decoder, batch, 1, NVJPEG_OUTPUT_RGBI), "batch");
        const auto decode = [&] {
            nv(nvjpegDecodeBatched(handle, s.decoder, files.data(), sizes.data(), images.data(), s.stream),
                "nvjpegDecodeBatched");
            cuda(cudaStreamSynchronize(s.stream), "decoding");
        };
        decode();
        report("nvJPEG engine, decode", batch, runs, batch, decode, difference(s, expected));
        for (slot &each : slots) {
            nvjpegJpegStateDestroy(each.decoder);
            cudaFree(each.pixels.channel[0]);
            cudaFreeHost(each.file);
            cudaStreamDestroy(each.stream);
        }
    }
    nvjpegDestroy(handle);
}

static void bench_default(const std::vector<unsigned char> &file, const image &expected, int runs)
{
    nvjpegHandle_t handle;
    std::vector<slot> slots;
    nv(nvjpegCreateSimple(&handle), "nvjpegCreateSimple");
    for (int i = 0; i < 8; i++)
        slots.push_back(make_slot(handle, expected, false));
    const auto decode = [&](slot &s) {
        for (int i = 0; i < ROUNDS; i++) {
            nv(nvjpegDecode(
                   handle, s.decoder, file.data(), file.size(), NVJPEG_OUTPUT_RGBI, &s.pixels, s.stream),
                "nvjpegDecode");
            cuda(cudaStreamSynchronize(s.stream), "decoding");
        }
    };
    on_threads(slots, 1, decode);
    const std::string end = difference(slots[0], expected);
    for (int count : {1, 4, 8})
        report(
            "nvJPEG default, decode", count, runs, count * ROUNDS, [&] { on_threads(slots, count, decode); },
            end);
}

static void bench_encode(const image &edges, int runs)
{
    nvjpegHandle_t handle;
    std::vector<slot> slots;
    nv(nvjpegCreateSimple(&handle), "nvjpegCreateSimple");
    for (int i = 0; i < 8; i++) {
        slots.push_back(make_slot(handle, edges, true));
        slot &s = slots.back();
        cuda(cudaMemcpy(s.pixels.channel[0], edges.bytes.data(), edges.bytes.size(), cudaMemcpyHostToDevice),
            "upload");
    }
    const auto encode = [&](slot &s) {
        for (int i = 0; i < ROUNDS; i++) {
            nv(nvjpegEncodeImage(handle, s.encoder, s.params, &s.pixels, NVJPEG_INPUT_RGBI, edges.width,
                   edges.height, s.stream),
                "nvjpegEncodeImage");
            s.size = s.capacity;
            nv(nvjpegEncodeRetrieveBitstream(handle, s.encoder, s.file, &s.size, s.stream),
                "nvjpegEncodeRetrieveBitstream");
            cuda(cudaStreamSynchronize(s.stream), "encoding");
        }
    };
    on_threads(slots, 1, encode);
    const std::string size = std::to_string(slots[0].size) + " bytes, quality " + std::to_string(QUALITY);
    for (int count : {1, 2, 4, 8})
        report(
            "nvJPEG encode", count, runs, count * ROUNDS, [&] { on_threads(slots, count, encode); }, size);
}

int main(int argc, char **argv)
{
    const std::string way = argc == 6 ? argv[1] : "";
    const int runs = argc == 6 ? atoi(argv[2]) : 0;
    need(runs > 0, "usage: nvjpeg_peers engine|default|encode RUNS PHOTO.jpg PHOTO.ppm EDGES.ppm");
    const std::vector<unsigned char> file = read_file(argv[3]);
    const image expected = read_ppm(argv[4]), edges = read_ppm(argv[5]);
    need(expected.width == edges.width && expected.height == edges.height, "two pictures of one size");
    if (way == "engine")
        bench_engine(file, expected, runs);
    else if (way == "default")
        bench_default(file, expected, runs);
    else if (way == "encode")
        bench_encode(edges, runs);
    else
        need(false, way.c_str());
    return 0;
}
