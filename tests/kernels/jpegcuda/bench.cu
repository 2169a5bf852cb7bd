/* Measures how fast the JPEG decoder of cuda/jpeg is: from the bytes of a file in pinned memory to pixels
 * on the device.
 *
 *   jpeg_bench decode FILE [--streams=1,2,4,8,16] [--photos=N] [--runs=N] [--subs=256,...]
 *       [--groups=4,...] [--lanes=N,...]
 *
 * For each length of subsequences, of groups and number of chain lanes: one photo alone, stage by stage
 * (event times, medians), and photos per second with several streams, one host thread, header and tables of
 * each photo included. Pixels are compared with libjpeg-turbo's each time; a difference is an error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device/launch.cuh"
extern "C" {
#include "coding/jpeg_frame_read.h"
#include "subject.h"
}

constexpr int MOST = 16, MOST_RUNS = 200;

struct list {
    int count, value[MOST];
};

struct slot {
    cudaStream_t stream;
    void *workspace, *staging;
    lap_view view;
    lap_cuda_jpeg_result *result;
    lap_cuda_jpeg_plan plan;
    bool is_busy, is_staged;
};

static uint8_t *file_bytes; /* pinned */
static size_t file_size;
static picture expected;
static int failures;

static void need(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "jpeg_bench: %s\n", what);
        exit(1);
    }
}

static void must(cudaError_t error, const char *what)
{
    if (error) {
        fprintf(stderr, "jpeg_bench: %s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

static list parse(const char *text)
{
    list l = {};
    char *end = NULL;
    for (; *text && l.count < MOST; text = *end ? end + 1 : end) {
        l.value[l.count++] = (int)strtol(text, &end, 10);
        need(end != text, "a list of numbers is expected");
    }
    return l;
}

static void read_file(const char *name)
{
    FILE *file = fopen(name, "rb");
    need(file && fseek(file, 0, SEEK_END) == 0 && ftell(file) > 0, "the file cannot be read");
    file_size = (size_t)ftell(file);
    must(cudaMallocHost(&file_bytes, file_size), "pinned memory");
    need(fseek(file, 0, SEEK_SET) == 0 && fread(file_bytes, 1, file_size, file) == file_size,
        "the file ends early");
    fclose(file);
}

/* What is done on the host for every photo; the plan is in the slot. */
static void prepare(slot *s, const lap_cuda_jpeg_tuning *tuning)
{
    lap_jpeg_frame frame;
    need(lap_jpeg_frame_read(file_bytes, file_size, &frame) &&
             lap_cuda_jpeg_decode_plan(&frame, false, file_size - frame.scan_begin, tuning, &s->plan),
        "the device does not take this file");
}

static void enqueue(slot *s, void *const *events)
{
    lap_error err;
    lap_cuda_jpeg_decode_stage_tables(&s->plan, s->staging, s->is_staged);
    s->is_staged = true;
    const lap_cuda_jpeg_photo photo = {
        file_bytes + s->plan.frame.scan_begin, s->staging, s->workspace, s->result, &s->plan, &s->view};
    if (lap_cuda_jpeg_decode_enqueue(&photo, 1, NULL, s->stream, events, &err)) {
        fprintf(stderr, "jpeg_bench: %s\n", err.message);
        exit(1);
    }
    s->is_busy = true;
}

static void finish(slot *s)
{
    if (!s->is_busy)
        return;
    must(cudaStreamSynchronize(s->stream), "decoding");
    s->is_busy = false;
    if (lap_cuda_jpeg_odd(s->result)) {
        printf("  not decoded: odd %x %x %x, %u bytes, %u subsequences\n", s->result->odd[0],
            s->result->odd[1], s->result->odd[2], s->result->bytes, s->result->subs);
        failures++;
    }
}

static void open_slot(slot *s, const lap_cuda_jpeg_tuning *tuning)
{
    lap_error err;
    memset(s, 0, sizeof *s);
    prepare(s, tuning);
    must(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), "stream");
    must(cudaMallocHost(&s->staging, s->plan.staging_bytes), "pinned memory");
    must(cudaMallocHost(&s->result, sizeof *s->result), "pinned memory");
    need(lap_cuda_alloc(0, s->plan.workspace_bytes, &s->workspace, &err) == LAP_OK &&
             lap_cuda_view_create(
                 0, s->plan.frame.width, s->plan.frame.height, s->plan.channels, 0, &s->view, &err) == LAP_OK,
        "device memory");
}

static void close_slot(slot *s)
{
    lap_cuda_view_destroy(&s->view);
    lap_cuda_free(0, s->workspace);
    cudaFreeHost(s->staging);
    cudaFreeHost(s->result);
    cudaStreamDestroy(s->stream);
}

static void check_pixels(const slot *s)
{
    const size_t row = (size_t)expected.width * expected.channels;
    picture got = expected;
    got.pixels = (uint8_t *)malloc(row * expected.height);
    need(got.pixels, "memory");
    must(cudaMemcpy2DAsync(got.pixels, row, s->view.base, s->view.stride, row, expected.height,
             cudaMemcpyDeviceToHost, s->stream),
        "download");
    must(cudaStreamSynchronize(s->stream), "download");
    const char *difference = picture_difference(&got, &expected);
    if (*difference) {
        printf("  WRONG: %s\n", difference);
        failures++;
    }
    must(cudaMemset(s->view.base, 0xA5, (size_t)s->view.stride * s->view.height), "clearing");
    must(cudaDeviceSynchronize(), "clearing");
    free(got.pixels);
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

static void bench_alone(const lap_cuda_jpeg_tuning *tuning, int runs)
{
    slot s;
    cudaEvent_t event[LAP_CUDA_JPEG_STAGES + 1];
    void *events[LAP_CUDA_JPEG_STAGES + 1];
    static float ms[LAP_CUDA_JPEG_STAGES + 2][MOST_RUNS];
    open_slot(&s, tuning);
    for (int i = 0; i <= LAP_CUDA_JPEG_STAGES; i++) {
        must(cudaEventCreate(&event[i]), "event");
        events[i] = event[i];
    }
    for (int run = -3; run < runs; run++) {
        const double begin = lap_now_ms();
        enqueue(&s, events);
        finish(&s);
        for (int i = 0; i < LAP_CUDA_JPEG_STAGES && run >= 0; i++)
            must(cudaEventElapsedTime(&ms[i][run], event[i], event[i + 1]), "time");
        if (run >= 0) {
            must(cudaEventElapsedTime(&ms[LAP_CUDA_JPEG_STAGES][run], event[0], event[LAP_CUDA_JPEG_STAGES]),
                "time");
            ms[LAP_CUDA_JPEG_STAGES + 1][run] = (float)(lap_now_ms() - begin);
        }
    }
    check_pixels(&s);
    printf("  alone, us:");
    for (int i = 0; i < LAP_CUDA_JPEG_STAGES + 2; i++) {
        qsort(ms[i], (size_t)runs, sizeof ms[i][0], by_size);
        printf(" %s %.0f",
            i < LAP_CUDA_JPEG_STAGES    ? lap_cuda_jpeg_stage(i)
            : i == LAP_CUDA_JPEG_STAGES ? "| all"
                                        : "| with host",
            ms[i][runs / 2] * 1e3);
    }
    printf("\n");
    for (int i = 0; i <= LAP_CUDA_JPEG_STAGES; i++)
        cudaEventDestroy(event[i]);
    close_slot(&s);
}

static void bench_streams(const lap_cuda_jpeg_tuning *tuning, int streams, int photos)
{
    static slot slots[64];
    need(streams >= 1 && streams <= 64, "1 to 64 streams");
    for (int i = 0; i < streams; i++)
        open_slot(&slots[i], tuning);
    double begin = 0, host = 0;
    for (int p = -2 * streams; p < photos; p++) {
        slot *s = &slots[(p + 2 * streams) % streams];
        if (p == 0) {
            for (int i = 0; i < streams; i++)
                finish(&slots[i]);
            begin = lap_now_ms();
        }
        finish(s);
        const double now = lap_now_ms();
        prepare(s, tuning);
        enqueue(s, NULL);
        host += p >= 0 ? lap_now_ms() - now : 0;
    }
    for (int i = 0; i < streams; i++)
        finish(&slots[i]);
    const double ms = lap_now_ms() - begin;
    for (int i = 0; i < streams; i++) {
        check_pixels(&slots[i]);
        close_slot(&slots[i]);
    }
    printf("  %2d streams: %7.1f photos/s, %.0f us of host work a photo\n", streams, photos * 1e3 / ms,
        host * 1e3 / photos);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    list streams = parse("1,2,4,8,16"), subs = parse("0"), groups = parse("0"), lanes = parse("0");
    int photos = 400, runs = 50;
    const char *reason = NULL;
    need(argc >= 3 && strcmp(argv[1], "decode") == 0,
        "decode FILE [--streams=] [--photos=] [--runs=] [--subs=] [--groups=] [--lanes=]");
    for (int i = 3; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        need(value != NULL, "options have a =");
        value++;
        if (strncmp(argv[i], "--streams=", 10) == 0)
            streams = parse(value);
        else if (strncmp(argv[i], "--subs=", 7) == 0)
            subs = parse(value);
        else if (strncmp(argv[i], "--groups=", 9) == 0)
            groups = parse(value);
        else if (strncmp(argv[i], "--lanes=", 8) == 0)
            lanes = parse(value);
        else if (strncmp(argv[i], "--photos=", 9) == 0)
            photos = atoi(value);
        else if (strncmp(argv[i], "--runs=", 7) == 0)
            runs = atoi(value);
    }
    need(runs >= 1 && runs <= MOST_RUNS && photos >= 1, "1 to 200 runs, 1 photo or more");
    need(lap_cuda_count(&reason) > 0, reason ? reason : "no device");
    must(cudaSetDevice(0), "device");
    read_file(argv[2]);
    need(libjpeg_decode(file_bytes, file_size, false, &expected) == FINE, "libjpeg finds the file odd");
    printf(
        "%s: %dx%dx%d, %zu bytes\n", argv[2], expected.width, expected.height, expected.channels, file_size);
    for (int n = 0; n < subs.count * groups.count * lanes.count; n++) {
        const lap_cuda_jpeg_tuning tuning = {subs.value[n / lanes.count / groups.count],
            groups.value[n / lanes.count % groups.count], lanes.value[n % lanes.count], 0};
        printf("subsequences of %d bits, %d in a group, %d chain lanes (0: default)\n", tuning.sub_bits,
            tuning.group, tuning.chain_lanes);
        bench_alone(&tuning, runs);
        for (int i = 0; i < streams.count; i++)
            bench_streams(&tuning, streams.value[i], photos);
    }
    printf("%s\n", failures ? "FAILED" : "pixels equal libjpeg's everywhere");
    return failures > 0;
}
