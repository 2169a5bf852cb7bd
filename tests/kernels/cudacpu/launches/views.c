/* Memory of views and for the host, events, timing: how much is allocated, and nothing is lost. */
#include <limits.h>
#include <pthread.h>
#include <sched.h>

#include "cuda/device/queue.h"
#include "launches.h"

static void check_sizes(void)
{
    bool good = true;
    size_t bytes;
    for (int width = 1; width < 300; width += 1 + width % 7)
        for (int channels = 1; channels <= 8; channels++)
            for (int apron = 0; apron <= 2; apron++) {
                const size_t row = (size_t)(width + 2 * apron) * (size_t)channels,
                             stride = (row + 127) / 128 * 128;
                uint8_t *memory = (uint8_t *)((uintptr_t)1 << 40);
                const lap_view v = lap_cuda_view_in(1, memory, width, 5, channels, apron);
                good = good && lap_cuda_view_bytes(width, 5, channels, apron, &bytes) &&
                       bytes == stride * (size_t)(5 + 2 * apron) + 128 && v.stride == (ptrdiff_t)stride &&
                       v.base == memory + 128 + (size_t)apron * stride && v.width == width && v.height == 5 &&
                       v.channels == channels && v.apron == apron && v.place == 1;
            }
    check(good, "a view has 128 bytes before its first row, and whole lines");
    /* 2^31 pixels of 8 bytes in a row are 2^34 bytes; 2^64 do not fit. */
    good = lap_cuda_view_bytes(INT_MAX, INT_MAX / 8, 8, 0, &bytes) &&
           !lap_cuda_view_bytes(INT_MAX, INT_MAX, 8, 0, &bytes);
    lap_view view = {.width = 7};
    begin("");
    good = lap_cuda_view_create(0, INT_MAX, INT_MAX, 8, 0, &view, &err) == LAP_E_MEMORY && !view.base &&
           !view.width &&
           strcmp(err.message, "2147483647x2147483647 pixels do not fit the address space") == 0 && good &&
           lap_cudacpu_count("calls") == 0;
    check(good, "a view that does not fit the address space");
}

typedef lap_code view_fn(
    int device, int width, int height, int channels, int apron, void *stream, lap_view *view, lap_error *e);

static lap_code create(
    int device, int width, int height, int channels, int apron, void *stream, lap_view *view, lap_error *e)
{
    (void)stream;
    return lap_cuda_view_create(device, width, height, channels, apron, view, e);
}

/* Each call fails in turn. */
static bool is_made(view_fn *make, void (*destroy)(lap_view *), unsigned calls, bool is_kept)
{
    const uint64_t before = lap_cudacpu_alive();
    for (int n = 1;; n++) {
        lap_view view = {.width = 7};
        char setting[60];
        snprintf(setting, sizeof setting, "devices=2,fail=%d:700", n);
        need(lap_cudacpu_configure(setting) == 0, setting);
        const lap_code code = make(1, 33, 5, 3, 2, NULL, &view, &err);
        const bool is_over = lap_cudacpu_count("calls") < (unsigned)n;
        if (is_over) {
            bool good = code == LAP_OK && view.base && lap_cudacpu_count("calls") == calls && view.place == 1;
            good = good && lap_cudacpu_count("allocations") == 1 && lap_cudacpu_count("stream syncs") == 1 &&
                   lap_cudacpu_count("cudaMemsetAsync") == 1 && lap_cudacpu_allocated(1) >= 9 * 128 + 128;
            destroy(&view);
            good = good && !view.base && !view.width && lap_cudacpu_alive() == before + is_kept;
            destroy(&view); /* does nothing */
            lap_cuda_kept_empty(1);
            return good && lap_cudacpu_alive() == before && lap_cudacpu_allocated(1) == 0;
        }
        lap_cuda_kept_empty(1);
        if (code == LAP_OK) /* something that only makes it faster */
            destroy(&view);
        lap_cuda_kept_empty(1);
        if (lap_cudacpu_alive() != before || view.base || view.width || lap_cudacpu_left_error() != 0) {
            printf("# call %d\n", n);
            return false;
        }
    }
}

/* ---- the host's memory ----------------------------------------------------------------------------- */

static void check_host(void)
{
    static _Alignas(4096) char page[4096];
    const uint64_t before = lap_cudacpu_alive();
    void *memory = page;
    begin("register=fine,");
    bool good = lap_cuda_may_pin(1) && lap_cuda_pin(1, page, sizeof page, &err) == LAP_OK &&
                lap_cudacpu_alive() == before + 1;
    lap_cuda_unpin(page);
    lap_cuda_unpin(NULL);
    good = lap_cudacpu_alive() == before && lap_cudacpu_count("cudaHostUnregister") == 1 && good;
    lap_cuda_unpin(page); /* is not pinned any more */
    good = lap_cudacpu_left_error() == 0 && good;
    begin("register=error,");
    good = !lap_cuda_may_pin(1) && lap_cuda_pin(1, page, sizeof page, &err) == LAP_E_DEVICE && good;
    for (int n = 1; n <= 2; n++) {
        char setting[60];
        snprintf(setting, sizeof setting, "fail=cudaDeviceGetAttribute:%d:2,", n);
        begin(setting);
        good = !lap_cuda_may_pin(0) && lap_cudacpu_left_error() == 0 && good;
    }
    begin("fail=cudaSetDevice:1:2,");
    good = lap_cuda_pin(1, page, sizeof page, &err) == LAP_E_MEMORY && lap_cudacpu_alive() == before && good;
    check(good, "memory of the caller is pinned, if the device can, and unpinned");
    static const char *const calls[] = {"cudaSetDevice", "cudaMallocHost"};
    good = true;
    for (int i = 0; i < 2; i++) {
        char setting[60];
        snprintf(setting, sizeof setting, "fail=%s:1:2,", calls[i]);
        begin(setting);
        memory = page;
        good = lap_cuda_pinned_alloc(1, 100, &memory, &err) == LAP_E_MEMORY && !memory && good;
    }
    begin("");
    good = lap_cuda_pinned_alloc(1, 0, &memory, &err) == LAP_OK && memory &&
           lap_cudacpu_alive() == before + 1 && good;
    go_on();
    lap_cuda_pinned_free(memory);
    lap_cuda_pinned_free(NULL);
    check(good && lap_cudacpu_alive() == before && lap_cudacpu_count("cudaFreeHost") == 1,
        "pinned memory, also of no bytes");
}

static void check_device_memory(void)
{
    const uint64_t before = lap_cudacpu_alive();
    void *memory = &err, *other;
    need(lap_cudacpu_configure("devices=2,memory=7000000") == 0, "settings");
    bool good = lap_cuda_alloc(1, 0, &memory, &err) == LAP_OK && memory && lap_cudacpu_allocated(1) == 1;
    good = lap_cuda_alloc(1, 2500000, &other, &err) == LAP_OK && lap_cudacpu_allocated(1) == 2500001 && good;
    lap_cuda_free(1, memory);
    memory = &err;
    good = lap_cuda_alloc(1, 5000000, &memory, &err) == LAP_E_MEMORY && !memory && good &&
           strcmp(err.message, "CUDA device 1: out of memory: 5 MB wanted, 4 MB of 7 MB free") == 0 &&
           lap_cudacpu_left_error() == 0 && lap_cudacpu_count("cudaMalloc") == 3;
    need(lap_cudacpu_configure("devices=2,memory=7000000,fail=cudaMemGetInfo:1:700") == 0, "settings");
    good = lap_cuda_alloc(1, 5000000, &memory, &err) == LAP_E_MEMORY && good &&
           lap_cudacpu_left_error() == 0 &&
           strcmp(err.message, "CUDA device 1: out of memory: 5 MB wanted, 0 MB of 0 MB free") == 0;
    need(lap_cudacpu_configure("devices=2,fail=cudaMalloc:1:700") == 0, "settings");
    good =
        lap_cuda_alloc(1, 5, &memory, &err) == LAP_E_DEVICE && lap_cudacpu_count("cudaMalloc") == 1 &&
        strstr(err.message, "CUDA: an illegal memory access was encountered (cudaErrorIllegalAddress) at ") &&
        good;
    check(good, "allocated memory, and the message if too little is left");
    /* Freed whatever fails. */
    need(lap_cudacpu_configure("devices=2,fail=cudaSetDevice:1:700") == 0, "settings");
    lap_cuda_free(1, other);
    good = lap_cudacpu_alive() == before && lap_cudacpu_left_error() == 0;
    need(lap_cuda_alloc(1, 100, &other, &err) == LAP_OK, "memory");
    need(lap_cudacpu_configure("devices=2,fail=cudaFree:1:700") == 0, "settings");
    lap_cuda_free(1, other);
    lap_cuda_free(1, NULL);
    good = lap_cudacpu_alive() == before && lap_cudacpu_left_error() == 0 &&
           lap_cudacpu_count("calls") == 2 && good;
    check(good, "memory is freed if a call fails, and the error is forgotten");
}

/* ---- streams and events ------------------------------------------------------------------------------ */

static void check_streams(void)
{
    const uint64_t before = lap_cudacpu_alive();
    void *stream = &err, *event = &err;
    bool good = true, happened = true;
    static const char *const fails[] = {
        "cudaSetDevice:1", "cudaStreamCreateWithFlags:1", "cudaSetDevice:2", "cudaEventCreateWithFlags:1"};
    for (int i = 0; i < 4; i++) {
        char setting[80];
        snprintf(setting, sizeof setting, "devices=2,fail=%s:700", fails[i]);
        need(lap_cudacpu_configure(setting) == 0, setting);
        stream = event = &err;
        const lap_code first = lap_cuda_stream_create(1, &stream, &err),
                       second = lap_cuda_event_create(1, &event, &err);
        good = good && first == (i < 2 ? LAP_E_DEVICE : LAP_OK) && (first == LAP_OK) == (stream != NULL) &&
               second == (i < 2 ? LAP_OK : LAP_E_DEVICE) && (second == LAP_OK) == (event != NULL) &&
               lap_cudacpu_alive() == before + 1;
        lap_cuda_stream_destroy(1, stream);
        lap_cuda_event_destroy(1, event);
        good = good && lap_cudacpu_alive() == before;
    }
    check(good, "a stream or an event that cannot be created is NULL");
    need(lap_cudacpu_configure("devices=2") == 0, "settings");
    need(lap_cuda_stream_create(1, &stream, &err) == LAP_OK &&
             lap_cuda_event_create(1, &event, &err) == LAP_OK,
        "a stream");
    good = lap_cuda_event_record(1, event, stream, &err) == LAP_OK &&
           lap_cuda_sync(1, stream, &err) == LAP_OK &&
           lap_cuda_event_happened(1, event, &happened, &err) == LAP_OK && happened;
    need(lap_cudacpu_configure("devices=2,hang=1:-1") == 0, "settings");
    good = lap_cuda_clear(1, NULL, 0, stream, &err) == LAP_OK && good;
    void *memory;
    need(lap_cuda_alloc(1, 100, &memory, &err) == LAP_OK, "memory");
    good = lap_cuda_clear(1, memory, 100, stream, &err) == LAP_OK &&
           lap_cuda_event_record(1, event, stream, &err) == LAP_OK &&
           lap_cuda_event_happened(1, event, &happened, &err) == LAP_OK && !happened && good;
    for (int i = 0; i < 2; i++) {
        need(lap_cudacpu_configure(
                 i ? "devices=2,fail=cudaEventQuery:1:700" : "devices=2,fail=cudaSetDevice:1:700") == 0,
            "settings");
        happened = true;
        good = lap_cuda_event_happened(1, event, &happened, &err) == LAP_E_DEVICE && !happened && good;
    }
    check(good, "whether an event has happened");
    static const char *const lost[] = {"cudaSetDevice", "cudaStreamDestroy", "cudaEventDestroy"};
    for (int i = 0; i < 3; i++) {
        char setting[80];
        snprintf(setting, sizeof setting, "devices=2,fail=%s:1:700", lost[i]);
        need(lap_cudacpu_configure(setting) == 0, setting);
        if (i) /* the others are new */
            need(lap_cuda_stream_create(1, &stream, &err) == LAP_OK &&
                     lap_cuda_event_create(1, &event, &err) == LAP_OK,
                "a stream");
        lap_cuda_stream_destroy(1, stream);
        good = lap_cudacpu_left_error() == 0 && good;
        lap_cuda_event_destroy(1, event);
        good = lap_cudacpu_left_error() == 0 && lap_cudacpu_alive() == before + 1 && good;
    }
    lap_cuda_stream_destroy(1, NULL);
    lap_cuda_event_destroy(1, NULL);
    good = lap_cudacpu_count("cudaStreamDestroy") == 1 && lap_cudacpu_count("cudaEventDestroy") == 1 && good;
    lap_cuda_free(1, memory);
    check(good && lap_cudacpu_alive() == before,
        "streams and events are destroyed if a call fails, and the error is forgotten");
}

/* ---- timing --------------------------------------------------------------------------------------- */

enum { JOBS = 17, RUNS = 4 };

typedef struct job {
    int number, turns;
    bool in_order, is_last;
    int *next; /* the job whose turn it is */
} job;

static lap_code run_job(void *argument, int turn, void *stream, lap_error *e)
{
    job *j = argument;
    (void)e;
    j->in_order = j->in_order && turn == j->turns++ && *j->next == j->number && stream != NULL;
    *j->next = j->is_last ? 0 : j->number + 1;
    return LAP_OK;
}

static lap_code time_jobs(int count, int runs, job *jobs, double ms[][RUNS])
{
    lap_cuda_job rows[JOBS];
    static int next;
    for (int i = 0; i < JOBS; i++) {
        jobs[i] = (job){i, 0, true, i == count - 1, &next};
        rows[i] = (lap_cuda_job){run_job, &jobs[i], ms[i]};
        for (int k = 0; k < RUNS; k++)
            ms[i][k] = -1;
    }
    next = 0;
    return lap_cuda_time(1, rows, count, runs, &err);
}

static void check_timing(void)
{
    const uint64_t before = lap_cudacpu_alive();
    static const int wrong[][2] = {{0, 1}, {17, 1}, {1, 0}, {-1, 1}, {1, -1}};
    job jobs[JOBS];
    double ms[JOBS][RUNS];
    bool good = true;
    for (int i = 0; i < 5; i++) {
        char text[80];
        begin("");
        snprintf(text, sizeof text, "%d runs of %d jobs cannot be timed", wrong[i][1], wrong[i][0]);
        good = time_jobs(wrong[i][0], wrong[i][1], jobs, ms) == LAP_E_USAGE &&
               strcmp(err.message, text) == 0 && lap_cudacpu_count("calls") == 0 && good;
    }
    need(lap_cudacpu_configure("devices=2") == 0, "settings");
    good = time_jobs(16, 1, jobs, ms) == LAP_OK && good; /* as many as there may be */
    check(good, "how many jobs can be timed");
    good = true;
    for (int n = 0;; n++) {
        char setting[60];
        snprintf(setting, sizeof setting, "devices=2,fail=%d:700", n); /* 0: nothing fails */
        need(lap_cudacpu_configure(setting) == 0, setting);
        const lap_code code = time_jobs(2, 3, jobs, ms);
        const bool is_over = n == 0 || lap_cudacpu_count("calls") < (unsigned)n;
        if (is_over) {
            static const struct {
                const char *call;
                unsigned times;
            } counts[] = {{"cudaStreamCreateWithFlags", 1}, {"cudaStreamDestroy", 1},
                {"cudaEventCreateWithFlags", 12}, {"cudaEventRecord", 12}, {"cudaEventElapsedTime", 6},
                {"cudaEventDestroy", 12}, {"stream syncs", 1}};
            for (int i = 0; i < 7; i++)
                if (lap_cudacpu_count(counts[i].call) != counts[i].times) {
                    printf("# %s: %d calls\n", counts[i].call, (int)lap_cudacpu_count(counts[i].call));
                    good = false;
                }
            good = good && code == LAP_OK && jobs[0].turns == 6 && jobs[1].turns == 6 && jobs[0].in_order &&
                   jobs[1].in_order;
            for (int i = 0; i < 6; i++)
                good = good && ms[i / 3][i % 3] >= 0;
            good = good && ms[0][3] == -1 && ms[1][3] == -1 && ms[2][0] == -1;
        }
        if (lap_cudacpu_alive() != before) {
            printf("# call %d: something is left\n", n);
            good = false;
        }
        if (n > 0 && is_over)
            break;
    }
    check(good, "jobs are timed in turn, after three rounds to warm up, and nothing is lost if a call fails");
}

static void check_rotation(void)
{
    static const struct {
        const char *settings;
        size_t bytes;
        int sets;
    } cases[] = {{"l2=1M,", 1 << 20, 4}, {"l2=1M,", 1 << 21, 4}, {"l2=1000,", 1000, 4}, {"l2=1000,", 700, 4},
        {"l2=1000,", 666, 5}, {"l2=1000,", 100, 22}, {"l2=1000,", 33, 62}, {"l2=1000,", 32, 64},
        {"l2=1000,", 31, 64}, {"l2=1000,", 1, 64}, {"l2=1000,", 0, 64}, {"l2=1000,memory=1000,", 100, 5},
        {"l2=1000,memory=199,", 100, 1}, {"l2=1000,memory=4400,", 100, 22}, {"l2=1000,memory=4399,", 100, 21},
        {"l2=1000,memory=200,", 100, 1}, {"l2=1000,memory=400,", 100, 2}, {"fail=cudaSetDevice:1:2,", 100, 1},
        {"fail=cudaDeviceGetAttribute:1:2,", 100, 1}, {"fail=cudaMemGetInfo:1:2,", 100, 1}};
    bool good = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].settings);
        const int sets = lap_cuda_rotation(1, cases[i].bytes);
        if (sets != cases[i].sets || lap_cudacpu_left_error() != 0) {
            printf(
                "# %s %zu: %d sets, expected %d\n", cases[i].settings, cases[i].bytes, sets, cases[i].sets);
            good = false;
        }
    }
    check(good, "how many sets of buffers leave the cache");
}

/* ---- memory that is kept ------------------------------------------------------------------------------ */

static void *take(int device, size_t bytes)
{
    void *memory;
    need(lap_cuda_kept_alloc(device, bytes, &memory, &err) == LAP_OK, "memory");
    return memory;
}

/* Gives n blocks of a device back, which were allocated together. */
static void give(int device, int n, size_t bytes, void **memory)
{
    for (int i = 0; i < n; i++)
        memory[i] = take(device, bytes);
    for (int i = 0; i < n; i++)
        lap_cuda_kept_free(device, memory[i], bytes);
}

/* What may be kept of a device's memory is asked for once, so each test has devices that no other has used.
 */
static void check_share(void)
{
    void *memory[300];
    need(lap_cudacpu_configure("devices=70,memory=1M") == 0, "settings"); /* 64 KB may be kept */
    give(10, 8, 8192, memory);
    bool good = lap_cudacpu_allocated(10) == 65536 && lap_cudacpu_count("cudaFree") == 0;
    lap_cuda_kept_free(10, take(11, 512), 512); /* another device has its own share */
    good = lap_cudacpu_count("cudaFree") == 1 && good;
    check(good, "a sixteenth of a device's memory is kept, and a byte more is not");
    give(12, 7, 8192, memory);
    void *last = take(12, 8704);
    lap_cuda_kept_free(12, last, 8704);
    good = lap_cudacpu_allocated(12) == 6 * 8192 + 8704; /* the oldest is gone */
    void *second =
        take(12, 8192); /* of the others, the oldest is used first: more than a quarter waited for it */
    good = second == memory[1] && good;
    lap_cuda_kept_free(12, second, 8192);
    lap_cuda_kept_free(12, take(12, 65536), 65536);
    good = lap_cudacpu_allocated(12) == 65536 && good; /* all others are gone */
    lap_cuda_kept_free(12, take(12, 65537), 65537);
    good = lap_cudacpu_allocated(12) == 65536 && good; /* larger than the share: freed at once */
    check(good, "the oldest block is freed for a new one, and a large one is freed at once");
    lap_cuda_kept_free(63, take(63, 512), 512);
    lap_cuda_kept_free(64, take(64, 512), 512);
    check(lap_cudacpu_allocated(63) == 512 && lap_cudacpu_allocated(64) == 0, "memory of 64 devices is kept");
    good = lap_cuda_kept_empty(63) && !lap_cuda_kept_empty(63) && lap_cudacpu_allocated(63) == 0 &&
           lap_cudacpu_allocated(12) == 65536 && lap_cuda_kept_empty(-1) && !lap_cuda_kept_empty(-1) &&
           lap_cudacpu_alive() == 0;
    check(good, "the kept memory of a device is freed, or that of all");
}

static void check_rounding(void)
{
    static const size_t sizes[][2] = {{1, 512}, {512, 512}, {513, 1024}, {16383, 16384}, {16384, 16384},
        {16385, 17408}, {32768, 32768}, {32769, 34816}, {65536, 65536}, {65537, 69632}, {1000000, 1015808}};
    bool good = true;
    void *memory;
    need(lap_cudacpu_configure("devices=70") == 0, "settings");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memory = take(13, sizes[i][0]);
        good = lap_cudacpu_allocated(13) == sizes[i][1] && good;
        lap_cuda_kept_free(13, memory, sizes[i][0]);
        (void)lap_cuda_kept_empty(13);
    }
    /* From 4 GB on, not at all: the message says how much was wanted. */
    const size_t four = (size_t)4 << 30;
    need(lap_cudacpu_configure("devices=70,memory=1M") == 0, "settings");
    good = lap_cuda_kept_alloc(14, four - 1, &memory, &err) == LAP_E_MEMORY &&
           strstr(err.message, ": 4294 MB wanted") && good;
    good = lap_cuda_kept_alloc(14, four - ((size_t)1 << 27), &memory, &err) == LAP_E_MEMORY && !memory &&
           strstr(err.message, ": 4160 MB wanted") && good;
    good = lap_cuda_kept_alloc(14, four + 5000000, &memory, &err) == LAP_E_MEMORY &&
           strstr(err.message, ": 4299 MB wanted") && good;
    check(good, "sizes are rounded, so that pictures of about the same size use the same blocks");
}

static void check_settling(void)
{
    void *memory[300];
    bool good = true;
    for (int n = 31; n <= 32; n++) { /* enough memory: only the number counts */
        need(lap_cudacpu_configure("devices=70") == 0, "settings");
        give(n, n, 512, memory);
        const uint64_t waits = lap_cudacpu_count("cudaDeviceSynchronize");
        void *again = take(n, 512);
        good = good && lap_cudacpu_count("cudaDeviceSynchronize") == waits + (n == 32) &&
               (again == memory[0]) == (n == 32) && lap_cudacpu_allocated(n) == 32 * 512;
        lap_cuda_kept_free(n, again, 512);
    }
    for (int n = 0; n < 2; n++) { /* a quarter of what may be kept, in few blocks */
        const size_t bytes = n ? 8192 : 7680;
        need(lap_cudacpu_configure("devices=70,memory=1M") == 0, "settings");
        give(40 + n, 2, bytes, memory);
        void *again = take(40 + n, bytes);
        good = good && lap_cudacpu_count("cudaDeviceSynchronize") == (unsigned)n && (again == memory[0]) == n;
        lap_cuda_kept_free(40 + n, again, bytes);
    }
    check(good, "a wait is due for 32 blocks, or a quarter of what may be kept");
    need(lap_cudacpu_configure("devices=70") == 0, "settings");
    give(42, 32, 512, memory);
    void *other = take(43, 512), *larger = take(42, 1024), *first = take(42, 512);
    good = lap_cudacpu_count("cudaDeviceSynchronize") == 1 && other != memory[0] && first == memory[0];
    for (int i = 1; i < 32; i++)
        good = good && take(42, 512) == memory[i];
    good = good && lap_cudacpu_count("cudaDeviceSynchronize") == 1 &&
           lap_cudacpu_allocated(42) == 32 * 512 + 1024;
    for (int i = 0; i < 32; i++)
        lap_cuda_kept_free(42, memory[i], 512);
    lap_cuda_kept_free(42, larger, 1024);
    lap_cuda_kept_free(43, other, 512);
    check(good, "one wait is enough for many blocks; those of other devices and sizes are not used");
    (void)lap_cuda_kept_empty(-1);
    need(lap_cudacpu_configure("devices=70") == 0, "settings");
    give(44, 257, 512, memory); /* one more than there is room for */
    good = lap_cudacpu_allocated(44) == 256 * 512;
    lap_cuda_kept_free(45, take(45, 512), 512);
    good = good && lap_cudacpu_allocated(44) == 255 * 512 && lap_cudacpu_allocated(45) == 512 &&
           take(44, 512) == memory[2];
    lap_cuda_kept_free(44, memory[2], 512);
    (void)lap_cuda_kept_empty(-1);
    check(good && lap_cudacpu_alive() == 0, "256 blocks are kept; the oldest of any device makes room");
}

static void *take_one(void *memory)
{
    *(void **)memory = take(47, 512);
    return NULL;
}

/* A thread waits for the device, for 32 blocks. */
static void check_two_threads(void)
{
    void *memory[32], *first = NULL;
    pthread_t thread;
    need(lap_cudacpu_configure("devices=70,slow=cudaDeviceSynchronize:100000") == 0, "settings");
    give(47, 32, 512, memory);
    need(pthread_create(&thread, NULL, take_one, &first) == 0, "a thread");
    while (lap_cudacpu_count("cudaDeviceSynchronize") == 0)
        sched_yield();
    void *other = take(47, 512);
    bool good = lap_cudacpu_count("cudaDeviceSynchronize") == 1 && lap_cudacpu_allocated(47) == 33 * 512;
    lap_cuda_kept_free(47, other, 512);
    lap_cudacpu_hurry();
    pthread_join(thread, NULL);
    good = good && first == memory[0];
    for (int i = 1; i < 32; i++)
        good = good && take(47, 512) == memory[i];
    /* It was freed after the wait had begun. */
    void *new = take(47, 512);
    good = good && new != other &&lap_cudacpu_count("cudaDeviceSynchronize") == 1;
    for (int i = 0; i < 32; i++)
        lap_cuda_kept_free(47, memory[i], 512);
    lap_cuda_kept_free(47, new, 512);
    check(good, "while a thread waits for the device, another one does not");
    (void)lap_cuda_kept_empty(-1);
}

static void check_unknown_share(void)
{
    need(lap_cudacpu_configure("devices=70,fail=cudaMemGetInfo:1:700") == 0, "settings");
    void *memory;
    need(lap_cuda_alloc(48, 512, &memory, &err) == LAP_OK, "memory");
    lap_cuda_kept_free(48, memory, 512);
    bool good = lap_cudacpu_allocated(48) == 0;
    lap_cuda_kept_free(48, take(48, 512), 512);
    lap_cuda_kept_free(0, take(0, 512), 512);
    good = lap_cudacpu_allocated(48) == 512 && lap_cudacpu_allocated(0) == 512 && good;
    const uint64_t asked = lap_cudacpu_count("cudaMemGetInfo");
    lap_cuda_kept_free(48, take(48, 512), 512);
    good = lap_cudacpu_count("cudaMemGetInfo") == asked && good;
    check(good, "a share is asked for until it is known");
    (void)lap_cuda_kept_empty(-1);
}

static void check_kept(void)
{
    lap_cuda_kept_begin();
    (void)lap_cuda_kept_empty(-1);
    need(lap_cudacpu_alive() == 0, "something is left from other tests");
    check_share();
    check_rounding();
    check_settling();
    check_two_threads();
    check_unknown_share();
    need(lap_cudacpu_configure("devices=70") == 0, "settings");
    lap_cuda_kept_begin();
    lap_cuda_kept_free(46, take(46, 512), 512);
    lap_cuda_kept_free(46, NULL, 512);
    lap_cuda_kept_end();
    const bool stays = lap_cudacpu_alive() == 1;
    lap_cuda_kept_end();
    check(stays && lap_cudacpu_alive() == 0, "the last user frees what is kept");
}

void check_views(void)
{
    check_sizes();
    lap_cuda_kept_begin();
    go_on();
    check(is_made(create, lap_cuda_view_destroy, 6, false),
        "a view: each call fails in turn, and nothing is lost");
    check(is_made(lap_cuda_view_take, lap_cuda_view_give, 6, true), "a view in kept memory: the same");
    lap_cuda_kept_end();
    check_host();
    check_device_memory();
    check_streams();
    check_timing();
    check_rotation();
    check_kept();
}
