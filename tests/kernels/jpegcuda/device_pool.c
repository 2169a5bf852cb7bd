/* src/batch/device_pool.h on the CPU runtime: photos that go through devices have the CPU's results,
 * whatever the devices do, and the steady state allocates nothing. Also built for ThreadSanitizer. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/image.h"
#include "base/status.h"
#include "batch/device_pool.h"
#include "batch/device_pool_state.h"
#include "batch/executor_state.h"
#include "lapedge_program.h"
#include "libjpeg/jpeg_floor.h"
#include "rungs/backend.h"
#include "tests/kernels/cudacpu/control.h"
#include "tests/kernels/jpegcuda/tap.h"
#include "tests/support/temporary.h"

#ifdef LAP_FEW_SIZES
enum { PHOTOS = 8, MANY = 16 };
#else
enum { PHOTOS = 12, MANY = 64 };
#endif
enum { QUALITY = 85, THREADS = 4, EARLY = 2 };
static const double deadline_ms = MANY > 16 ? 2500 : 6000; /* of those that hang: these devices are slow */

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

static lap_context *context;
static lap_tree tree;
static lap_settings settings;
static const lap_rung *rung;
static char in_names[PHOTOS][64];
static uint8_t *expected[PHOTOS];
static size_t expected_size[PHOTOS];

/* ---- photos ------------------------------------------------------------------------------------ */

static void write_photo(const char *name, int width, int height, uint32_t random)
{
    lap_jpeg_floor *codec = NULL;
    lap_image image = {0};
    const unsigned char *bytes;
    size_t size;
    need(lap_image_create(&image, width, height, 3, 0, &err) == LAP_OK &&
             lap_jpeg_floor_create(&codec, &err) == LAP_OK,
        "memory");
    for (int y = 0; y < image.view.height; y++)
        for (int x = 0; x < 3 * image.view.width; x++) {
            random = random * 1664525u + 1013904223u;
            image.view.base[y * image.view.stride + x] = (uint8_t)(5 * y + 2 * x + (random >> 27));
        }
    need(lap_jpeg_floor_encode(codec, &image.view, QUALITY, &bytes, &size, &err) == LAP_OK, "encoding");
    FILE *file = fopen(name, "wb");
    need(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "writing a photo");
    lap_jpeg_floor_destroy(codec);
    lap_image_destroy(&image);
}

static void make_photo(int i)
{
    snprintf(in_names[i], sizeof in_names[i], "in-%d.jpg", i);
    write_photo(in_names[i], 33 + 7 * (i % 4), 25 + 3 * (i % 3), (uint32_t)i);
}

static size_t smallest_photo(void)
{
    struct stat st;
    size_t least = SIZE_MAX;
    for (int i = 0; i < PHOTOS; i++) {
        need(stat(in_names[i], &st) == 0, "a photo's size");
        least = (size_t)st.st_size < least ? (size_t)st.st_size : least;
    }
    return least;
}

static void expect_photo(int i)
{
    FILE *file = fopen(in_names[i], "rb");
    uint8_t bytes[1 << 16];
    const size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    lap_settings cpu = settings;
    void *out;
    cpu.backend = "c";
    cpu.codec = LAP_CODEC_CPU;
    need(size > 0 && fclose(file) == 0 &&
             lap_run_memory(context, bytes, size, &out, &expected_size[i], &cpu, NULL, &err) == LAP_OK,
        "the CPU's file");
    expected[i] = out;
}

static bool is_right(const char *name, int i)
{
    char path[96];
    uint8_t bytes[1 << 16];
    snprintf(path, sizeof path, "out/%s", name);
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    unlink(path);
    return size == expected_size[i] && memcmp(bytes, expected[i], size) == 0;
}

/* ---- runs -------------------------------------------------------------------------------------- */

typedef struct outcome {
    int right, on_devices, warnings;
    int decoded_there, encoded_there; /* also by a thread that lets a device do only that */
    bool left;                        /* memory still allocated on a device, or pinned */
    int most_small;                   /* threads that had a small photo when one of them began to read */
    int early;                        /* results before the first device was ready */
    lap_batch_work work;
} outcome;

static int large_jobs;  /* the first so many jobs take the memory of large photos, */
static bool half_large; /* or every other job */

static lap_job *job_of(int i, int name)
{
    lap_job *job = calloc(1, sizeof *job);
    char out[64];
    snprintf(out, sizeof out, "out-%d.jpg", name);
    need(job != NULL && stat(in_names[i % PHOTOS], &job->stat) == 0, "a job");
    job->work = lap_job_write;
    job->is_large = i < large_jobs || (half_large && i % 2);
    job->tree = &tree;
    job->input = strdup(in_names[i % PHOTOS]);
    job->output = strdup(out);
    job->relative = strdup(out);
    job->settings = &settings;
    need(job->input && job->output && job->relative, "memory");
    return job;
}

/* Of the present run, or NULL; most_small has the executor's mutex. */
static lap_executor *current;
static int most_small;

/* A thread reads a photo for a device. */
lap_code __real_lap_async_run_load(lap_async_run *run, const lap_run_order *order, const lap_rung *rung_there,
    lap_device_staging *staging, bool *handled, lap_error *error);
lap_code __wrap_lap_async_run_load(lap_async_run *run, const lap_run_order *order, const lap_rung *rung_there,
    lap_device_staging *staging, bool *handled, lap_error *error);
lap_code __wrap_lap_async_run_load(lap_async_run *run, const lap_run_order *order, const lap_rung *rung_there,
    lap_device_staging *staging, bool *handled, lap_error *error)
{
    if (current) {
        pthread_mutex_lock(&current->mutex);
        if (current->pool->small_busy > most_small)
            most_small = current->pool->small_busy;
        pthread_mutex_unlock(&current->mutex);
    }
    return __real_lap_async_run_load(run, order, rung_there, staging, handled, error);
}

static void take(lap_executor *executor, lap_job *job, outcome *o)
{
    lap_error warning;
    if (job) {
        const int name = atoi(job->relative + strlen("out-"));
        const bool published = job->report.status == LAP_DONE && lap_sink_publish(job->sink, &err) == LAP_OK;
        o->right += published && is_right(job->relative, name % PHOTOS);
        o->on_devices += job->device >= 0;
        o->decoded_there += strstr(job->report.note, "decoded on the device") != NULL;
        o->encoded_there += strstr(job->report.note, "encoded on the device") != NULL;
        lap_executor_look(executor, &o->work);
        o->early += !o->work.device[0].is_ready && !o->work.device[0].is_lost;
        if (o->early == EARLY) /* a device that starts slowly need not be slower still */
            lap_cudacpu_hurry();
        lap_job_free(job);
    }
    while (lap_executor_warning(executor, &warning)) {
        printf("# %s: %s\n", warning.subject, warning.message);
        o->warnings++;
    }
}

/* When the slow call of a device that was given up returns. */
static enum { NEVER, BEFORE_CLOSE, AFTER_CLOSE } returns;

static void wait_for_calls(lap_executor *executor)
{
    for (bool has_ended = false; !has_ended; usleep(10000)) {
        pthread_mutex_lock(&executor->mutex);
        has_ended = executor->pool->devices[0].has_ended;
        pthread_mutex_unlock(&executor->mutex);
    }
}

/* Waits until the first device is lost, but not for ever. */
static void wait_for_loss(lap_executor *executor)
{
    bool is_lost = false;
    for (int tries = 0; tries < 12000 && !is_lost; tries++, usleep(10000)) {
        pthread_mutex_lock(&executor->mutex);
        is_lost = executor->pool->devices[0].is_lost;
        pthread_mutex_unlock(&executor->mutex);
    }
}

static int threads_at_rest; /* between runs, when no thread is left in a device that was given up */

static int count_threads(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    need(folder != NULL, "/proc/self/task");
    for (const struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* A device that was given up may still be given work by its thread, which the next settings of the runtime
 * would do without the copies that it drops. */
static void wait_for_rest(void)
{
    for (int tries = 0; tries < 12000 && count_threads() > threads_at_rest; tries++)
        usleep(10000);
}

static outcome run(const char *runtime, int devices, int photos, lap_device_pool_options options)
{
    static const int numbers[] = {0, 1, 2};
    lap_executor *executor = NULL;
    outcome o = {0};
    need(lap_cudacpu_configure(runtime) == 0, "settings of the runtime");
    const uint64_t alive = lap_cudacpu_alive();
    options.devices = numbers;
    options.count = devices;
    options.rung = rung;
    need(lap_executor_devices(context, THREADS, &options, &executor, &err) == LAP_OK, "an executor");
    current = executor;
    most_small = 0;
    for (int i = 0; i < photos; i++) {
        need(lap_executor_submit(executor, job_of(i, i), &err) == LAP_OK, "submitting");
        if (i < large_jobs) /* or another thread pins memory for a small photo first */
            wait_for_loss(executor);
        while (lap_executor_pending(executor) > 24)
            take(executor, lap_executor_reap(executor, 20), &o);
    }
    while (lap_executor_pending(executor))
        take(executor, lap_executor_reap(executor, 20), &o);
    take(executor, NULL, &o);
    lap_executor_look(executor, &o.work);
    if (returns == BEFORE_CLOSE) {
        lap_cudacpu_hurry();
        wait_for_calls(executor);
    }
    lap_executor_close(executor);
    current = NULL;
    o.most_small = most_small;
    if (returns == AFTER_CLOSE)
        lap_cudacpu_hurry();
    o.left = lap_cudacpu_alive() != alive;
    if (threads_at_rest > 0)
        wait_for_rest();
    return o;
}

/* With a backend that is named. */
static void check_run(const char *what, const char *runtime, int devices, int warnings, int on_devices)
{
    const outcome o = run(runtime, devices, PHOTOS,
        (lap_device_pool_options){.is_named = true, .deadline_ms = strstr(runtime, ":-1") ? deadline_ms : 0});
    char text[200];
    snprintf(text, sizeof text, "%s (%s): %d photos right, %d by devices, %d warnings", what, runtime,
        o.right, o.on_devices, o.warnings);
    /* On a busy machine, the other devices may exceed a limit, too. */
    const bool has_limit = strstr(runtime, ":-1") != NULL;
    const bool warned = has_limit ? o.warnings >= warnings && o.warnings <= devices : o.warnings == warnings;
    check(o.right == PHOTOS && warned && (has_limit || o.on_devices >= on_devices) && (warnings || !o.left),
        text);
}

static void check_steady(void)
{
    const outcome o = run("devices=1,pageable=error", 1, MANY, (lap_device_pool_options){.is_named = true});
    const uint64_t allocations = lap_cudacpu_count("allocations"), pinnings = lap_cudacpu_count("pinnings"),
                   syncs = lap_cudacpu_count("stream syncs"), copies = lap_cudacpu_count("pageable copies"),
                   launches = lap_cudacpu_count("launches"),
                   legacy = lap_cudacpu_count("legacy launches") + lap_cudacpu_count("legacy copies");
    char text[200];
    snprintf(text, sizeof text,
        "%d photos: %d on the device, %llu allocations, %llu pinnings, %llu waits, %llu pageable copies, "
        "%llu "
        "launches",
        MANY, o.on_devices, (unsigned long long)allocations, (unsigned long long)pinnings,
        (unsigned long long)syncs, (unsigned long long)copies, (unsigned long long)launches);
    /* A few sizes of photos: each slot and each staging grows once, perhaps twice. Photos that wait are
     * processed together: alone, each takes more than 25 launches. */
    check(o.right == MANY && o.on_devices == MANY && allocations <= 36 && pinnings <= 4 * 2 * MANY &&
              launches < 20 * MANY && syncs == 0 && copies == 0,
        text);
    check(legacy == 0, "each lane's work is on its own stream");
}

static void check_memory(void)
{
    char text[160];
    outcome o = run("devices=1", 1, PHOTOS, (lap_device_pool_options){.is_named = true, .memory = 200000});
    snprintf(text, sizeof text, "memory for a photo or two at a time: %d by the device", o.on_devices);
    check(o.right == PHOTOS && o.on_devices == PHOTOS && o.warnings == 0, text);
    o = run("devices=1", 1, PHOTOS, (lap_device_pool_options){.is_named = true, .memory = 1000});
    check(o.right == PHOTOS && o.on_devices == 0 && o.decoded_there == 0 && o.warnings == 0,
        "no memory: not by the device");
    check(o.encoded_there == PHOTOS, "what it leaves goes on from the pixels, as one photo does");
    o = run("devices=1", 1, PHOTOS, (lap_device_pool_options){.is_named = true, .pinned = 10000});
    check(o.right == PHOTOS && o.on_devices == 0 && o.warnings == 0, "no pinned memory: not by the device");
}

/* A device takes a photo if the CPU could hold its file and three pictures of its size. */
static void check_limit(void)
{
    enum { WIDTH = 400, HEIGHT = 300, IMAGES = 3 };
    static const char name[] = "large.jpg";
    lap_device_staging *staging = NULL;
    lap_settings limited = settings;
    struct stat st;
    bool taken[2];
    write_photo(name, WIDTH, HEIGHT, 1);
    need(lap_cudacpu_configure("devices=1") == 0 && stat(name, &st) == 0 &&
             lap_device_staging_create(0, LAP_HOST_PINNED, 0, &staging, &err) == LAP_OK,
        "a photo and its memory");
    for (int less = 0; less < 2; less++) {
        const lap_run_order order = {
            .context = context, .in = name, .tree = &tree, .out = "o.jpg", .settings = &limited};
        lap_async_run run;
        limited.max_memory = IMAGES * WIDTH * HEIGHT * 3 + (uint64_t)st.st_size - (uint64_t)less;
        need(
            lap_async_run_load(&run, &order, rung, staging, &taken[less], &err) == LAP_OK, "loading a photo");
        lap_async_run_close(&run);
    }
    check(taken[0] && !taken[1],
        "a photo of just as much memory as the limit is the device's, a byte more is not");
    lap_device_staging_destroy(staging);
    unlink(name);
}

/* Which processor takes which photo if no backend is named: devices take large photos while there is a
 * device. */
static void check_auto(void)
{
    const double never = 600000;
    char text[160];
    outcome o = run("devices=1", 1, PHOTOS, (lap_device_pool_options){.soon_ms = never});
    snprintf(text, sizeof text, "beside the CPU: %d by the device, not by threads", o.on_devices);
    check(o.right == PHOTOS && o.on_devices == PHOTOS && o.warnings == 0, text);
    o = run("devices=2", 2, PHOTOS, (lap_device_pool_options){.soon_ms = never, .small_bytes = 1 << 20});
    check(o.right == PHOTOS && o.on_devices == 0, "small ones are the CPU's");
    o = run("devices=1,lost=15:719", 1, PHOTOS, (lap_device_pool_options){.soon_ms = never});
    check(o.right == PHOTOS && o.warnings == 1, "the only one is lost: the CPU does the rest");
    o = run("devices=1,slow=cudaMemGetInfo:60000", 1, MANY, (lap_device_pool_options){.soon_ms = 1});
    snprintf(text, sizeof text, "a device that starts late: %d by the device", o.on_devices);
    check(o.right == MANY && o.on_devices < MANY && o.warnings == 0, text);
    o = run("devices=1,slow=cudaMemGetInfo:200", 1, PHOTOS, (lap_device_pool_options){.soon_ms = never});
    check(o.right == PHOTOS && o.on_devices == PHOTOS, "one that is waited for");
    o = run("devices=1,slow=cudaMemGetInfo:60000", 1, MANY,
        (lap_device_pool_options){.soon_ms = never, .small_bytes = smallest_photo()});
    snprintf(text, sizeof text, "small ones behind large ones do not wait for it: %d came early", o.early);
    check(o.right == MANY && o.on_devices > 0 && o.early >= EARLY, text);
}

/* Few threads read and write small photos; other work, and a device that is lost, still find threads. */
static void check_few_threads(void)
{
    char text[160];
    outcome o = run("devices=1", 1, MANY, (lap_device_pool_options){.is_named = true, .small_threads = 2});
    snprintf(text, sizeof text, "at most 2 threads for small photos: %d seen, %d photos by the device",
        o.most_small, o.on_devices);
    check(o.right == MANY && o.on_devices == MANY && o.most_small > 0 && o.most_small <= 2, text);
    half_large = true;
    o = run("devices=2", 2, MANY, (lap_device_pool_options){.is_named = true, .small_threads = 1});
    check(o.right == MANY && o.on_devices == MANY && o.most_small <= 2, "with large photos between them");
    o = run(
        "devices=1,lost=15:719", 1, MANY, (lap_device_pool_options){.is_named = true, .small_threads = 1});
    check(o.right == MANY && o.warnings == 1, "and with a device that is lost");
    half_large = false;
}

/* The memory of a device that did not answer is freed when it answers; the sanitizer finds leaks. */
static void check_late(void)
{
    for (returns = BEFORE_CLOSE; returns <= AFTER_CLOSE; returns++) {
        const outcome o = run("devices=1,slow=cudaEventQuery:60000", 1, PHOTOS,
            (lap_device_pool_options){.is_named = true, .deadline_ms = 500});
        check(o.right == PHOTOS && o.warnings == 1, returns == BEFORE_CLOSE
                                                        ? "a call that returns when its device was given up"
                                                        : "a call that returns after the run");
    }
    returns = NEVER;
}

/* Memory of a device that runs out for photos of one kind only. */
static void check_short(void)
{
    large_jobs = 1;
    check_run(
        "no memory for large photos, but for small ones", "devices=1,fail=cudaHostRegister:1:2", 1, 1, 0);
    large_jobs = 0;
    check_run("no memory for the tables of chains", "devices=1,fail=cudaMallocHost:1:2", 1, 1, 0);
}

/* If a list names a device that does not exist, nothing remains: no thread, and no memory that the
 * sanitizer would report. */
static void check_missing(void)
{
    static const int numbers[] = {0, 9};
    lap_executor *executor = NULL;
    need(lap_cudacpu_configure("devices=2") == 0, "settings of the runtime");
    const lap_device_pool_options options = {.devices = numbers, .count = 2, .rung = rung, .is_named = true};
    check(lap_executor_devices(context, THREADS, &options, &executor, &err) == LAP_E_BACKEND && !executor &&
              strstr(err.message, "CUDA device 9 does not exist") != NULL,
        "a device that does not exist is refused");
}

/* Last: its thread is still in that call when this program ends. */
static void check_lasting(void)
{
    const int at_rest = threads_at_rest;
    threads_at_rest = 0;
    const outcome o = run("devices=1,slow=cudaEventQuery:60000", 1, PHOTOS,
        (lap_device_pool_options){.is_named = true, .deadline_ms = 1000});
    check(o.right == PHOTOS && o.warnings == 1, "a call that never returns");
    /* Not in the middle of other work, whose memory would look lost. */
    for (int tries = 0; tries < 12000 && lap_cudacpu_count("cudaEventQuery") == 0; tries++) {
        if (count_threads() <= at_rest)
            break;
        usleep(10000);
    }
}

int main(void)
{
    char folder[TEMPORARY_PATH];
    setvbuf(stdout, NULL, _IOLBF, 0);
    need(mkdtemp(temporary(folder, "pool")) && chdir(folder) == 0 && mkdir("out", 0777) == 0, "a folder");
    settings = lap_settings_default();
    settings.backend = "cuda-fast";
    settings.format = "jpg";
    settings.sync = false;
    /* A process reads the number of devices only once. */
    need(lap_cudacpu_configure("devices=3") == 0, "settings of the runtime");
    need((context = lap_context_create(THREADS, &err)) && lap_tree_open("out", &tree, &err) == LAP_OK &&
             lap_rung_find(LAP_OP_FILTER, "cuda-fast", &rung, &err) == LAP_OK,
        "set-up");
    for (int i = 0; i < PHOTOS; i++) {
        make_photo(i);
        expect_photo(i);
    }
    check_run("one device", "devices=1", 1, 0, PHOTOS);
    threads_at_rest = count_threads();
    check_run("two devices", "devices=2", 2, 0, PHOTOS);
    check_run("three devices, work done at once", "devices=3,order=now", 3, 0, PHOTOS);
    check_missing();
    check_steady();
    check_memory();
    check_few_threads();
    check_limit();
    check_auto();
    check_short();
    check_run("a device that pins nothing that is there", "devices=1,register=error", 1, 0, PHOTOS);
    check_run("no pinned memory for a third photo", "devices=1,fail=cudaHostRegister:9:2", 1, 0, PHOTOS);
    check_run("none at all", "devices=1,fail=cudaHostRegister:1:2:sticky", 1, 1, 0);
    check_run("it is lost before it has started", "devices=1,fail=cudaMemGetInfo:1:719:sticky", 1, 1, 0);
    check_run("one of two is lost", "devices=2,lost=15:719", 2, 1, 1);
    check_run("the only one is lost", "devices=1,lost=15:719", 1, 1, 0);
    check_run("a launch fails, and all after it", "devices=2,fail=cudaLaunchKernel:20:700:sticky", 2, 1, 1);
    check_run("the only one hangs for ever", "devices=1,hang=15:-1", 1, 1, 0);
    check_run("one of two hangs for ever", "devices=2,hang=15:-1", 2, 1, 1);
    check_run("it hangs for a while", "devices=1,hang=15:60", 1, 0, PHOTOS);
    check_late();
    check_lasting();
    printf("1..%d\n", number);
    for (int i = 0; i < PHOTOS; i++) {
        unlink(in_names[i]);
        free(expected[i]);
    }
    lap_tree_close(&tree);
    lap_context_destroy(context);
    if (rmdir("out") || rmdir(folder))
        fprintf(stderr, "%s is left\n", folder);
    /* A thread may still be in a device: nothing that it uses is destroyed under it. */
    fflush(stdout);
#ifdef __SANITIZE_ADDRESS__
    __lsan_do_leak_check();
#endif
    _exit(failures > 0);
}
