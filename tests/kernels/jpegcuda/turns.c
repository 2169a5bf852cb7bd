/* Photos turned and counted on a device, on the CPU runtime: for all orientations, for single photos and
 * in the pool of a folder, files and statistics equal the CPU's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "batch/device_pool.h"
#include "rungs/backend.h"
#include "tests/kernels/cudacpu/control.h"
#include "tests/kernels/jpegcuda/make.h"
#include "tests/kernels/jpegcuda/tap.h"
#include "tests/support/temporary.h"

enum { THREADS = 2, TURNS = 8, QUALITY = 88 };

typedef struct size {
    int width, height;
} size;

static const size sizes[] = {
    {1, 1}, {2, 5}, {9, 1}, {16, 16}, {17, 33}, {31, 8}, {43, 29}, {64, 47}, {67, 70}, {131, 18}};
enum { SIZES = sizeof sizes / sizeof *sizes };
static const make_sampling samplings[] = {GRAY, S444, S420, S422};
enum { SAMPLING_COUNT = 4, CASES = TURNS * SIZES * SAMPLING_COUNT };

typedef struct photo { /* a case */
    lap_settings settings;
    uint8_t *file, *expected;
    size_t size, expected_size;
    lap_run_stats counted, found; /* by the CPU; beside the file that the device writes */
    char what[120];
} photo;

static lap_context *context;
static lap_tree tree;

/* Returns a copy of a JPEG with an EXIF tag that says how to turn it. */
static uint8_t *with_tag(const make_bytes *jpeg, int orientation)
{
    const uint8_t tag[] = {0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1,
        0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, (uint8_t)orientation, 0, 0, 0, 0, 0, 0};
    uint8_t *file = malloc(jpeg->size + sizeof tag);
    need(file != NULL, "memory");
    memcpy(file, jpeg->data, 2);
    memcpy(file + 2, tag, sizeof tag);
    memcpy(file + 2 + sizeof tag, jpeg->data + 2, jpeg->size - 2);
    return file;
}

/* By the tag, or by the settings, or by both. */
static photo make_photo(int i)
{
    const int turn = i % TURNS + 1, tag = i / TURNS % 3 == 0 ? 1 + (i / 3 + turn) % TURNS : turn;
    const size *at = &sizes[i / TURNS % SIZES];
    const make_sampling sampling = samplings[i / TURNS / SIZES];
    make_kind kind = {.width = at->width,
        .height = at->height,
        .sampling = sampling,
        .quality = QUALITY,
        .restart = i % 3 * 2,
        .content = i % 2 ? NOISE : PHOTO,
        .seed = (unsigned)i};
    make_bytes jpeg = make_jpeg(&kind);
    photo p = {.settings = lap_settings_default(), .file = with_tag(&jpeg, tag), .size = jpeg.size + 36};
    void *expected;
    p.settings.auto_orient = i / TURNS % 3 != 1;
    p.settings.turn = i / TURNS % 3 == 2 ? LAP_TURN_NONE : (lap_turn)turn;
    p.settings.format = "jpg";
    p.settings.sync = false;
    lap_settings cpu = p.settings;
    cpu.stats = &p.counted;
    cpu.backend = "c";
    cpu.codec = LAP_CODEC_CPU;
    p.settings.backend = "cuda-fast";
    need(lap_run_memory(context, p.file, p.size, &expected, &p.expected_size, &cpu, NULL, &err) == LAP_OK,
        "the CPU's file");
    p.expected = expected;
    snprintf(p.what, sizeof p.what, "%s, tag %d%s, turn %d", make_name(&kind), tag,
        p.settings.auto_orient ? "" : " ignored", (int)p.settings.turn);
    free(jpeg.data);
    return p;
}

static bool is_right(const photo *p, const void *bytes, size_t n)
{
    const bool same = n == p->expected_size && memcmp(bytes, p->expected, n) == 0;
    if (!same)
        printf("# %s: another file than the CPU's\n", p->what);
    return same;
}

/* Each alone, as lapedge IN OUT. */
static void check_alone(photo *photos)
{
    int right = 0, there = 0;
    char text[160];
    for (int i = 0; i < CASES; i++) {
        lap_report report;
        void *out = NULL;
        size_t bytes = 0;
        need(lap_run_memory(context, photos[i].file, photos[i].size, &out, &bytes, &photos[i].settings,
                 &report, &err) == LAP_OK,
            photos[i].what);
        right += is_right(&photos[i], out, bytes);
        there += strstr(report.note, "on the device, encoded on the device") != NULL;
        free(out);
    }
    snprintf(text, sizeof text, "%d photos, each alone: %d right, %d by the device", CASES, right, there);
    check(right == CASES && there == CASES, text);
}

/* Comparing counts is enough: all other statistics are computed from them. */
static bool same_stats(const photo *p, const lap_run_stats *found)
{
    bool same = p->counted.input.channels == found->input.channels &&
                p->counted.edges.channels == found->edges.channels;
    for (int c = 0; c < found->input.channels && same; c++) {
        const lap_channel_stats *a[] = {&p->counted.input.channel[c], &p->counted.edges.channel[c]};
        const lap_channel_stats *b[] = {&found->input.channel[c], &found->edges.channel[c]};
        for (int i = 0; i < 2; i++)
            same = same && memcmp(a[i]->histogram, b[i]->histogram, sizeof a[i]->histogram) == 0 &&
                   a[i]->sum == b[i]->sum && a[i]->entropy == b[i]->entropy;
    }
    if (!same)
        printf("# %s: other statistics than the CPU's\n", p->what);
    return same;
}

/* ---- the pool ----------------------------------------------------------------------------------- */

static const lap_measure_options measure = {.threshold = -1};

static lap_job *job_of(const photo *p, int i, bool is_measured)
{
    lap_job *job = calloc(1, sizeof *job);
    char in[32], out[32];
    snprintf(in, sizeof in, "in-%d.jpg", i);
    snprintf(out, sizeof out, "out-%d.jpg", i);
    FILE *file = fopen(in, "wb");
    need(job && file && fwrite(p->file, 1, p->size, file) == p->size && fclose(file) == 0 &&
             stat(in, &job->stat) == 0,
        "a job");
    job->work = is_measured ? lap_job_measure : lap_job_write;
    job->measure = is_measured ? &measure : NULL;
    job->measurement = is_measured ? calloc(1, sizeof *job->measurement) : NULL;
    job->tree = is_measured ? NULL : &tree;
    job->input = strdup(in);
    job->output = strdup(out);
    job->relative = strdup(out);
    job->settings = &p->settings;
    need(job->input && job->output && job->relative, "memory");
    return job;
}

static bool take(const photo *photos, lap_job *job, int *there)
{
    const photo *p = &photos[atoi(job->relative + strlen("out-"))];
    char path[64];
    uint8_t bytes[1 << 16];
    snprintf(path, sizeof path, "out/%s", job->relative);
    const bool is_measured = job->measure != NULL;
    const bool done =
        job->report.status == LAP_DONE && (is_measured || lap_sink_publish(job->sink, &err) == LAP_OK);
    FILE *file = done && !is_measured ? fopen(path, "rb") : NULL;
    const size_t n = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    if (!done)
        printf("# %s: %s\n", p->what, job->report.error.message);
    *there += job->device >= 0;
    unlink(path);
    unlink(job->input);
    const bool right = done && same_stats(p, is_measured ? &job->measurement->stats : &p->found) &&
                       (is_measured || is_right(p, bytes, n));
    lap_job_free(job);
    return right;
}

static void check_pool(
    photo *photos, const char *runtime, bool is_measured, int count, int warnings, int least)
{
    static const int numbers[] = {0};
    lap_device_pool_options options = {
        .devices = numbers, .count = 1, .is_named = true, .deadline_ms = 60000};
    lap_executor *executor = NULL;
    lap_error warning;
    int right = 0, there = 0, lost = 0;
    char text[160];
    need(lap_cudacpu_configure(runtime) == 0 &&
             lap_rung_find(LAP_OP_FILTER, "cuda-fast", &options.rung, &err) == LAP_OK &&
             lap_executor_devices(context, THREADS, &options, &executor, &err) == LAP_OK,
        "an executor");
    for (int k = 0; k < count; k++) {
        const int i = k * 11 % CASES; /* of all kinds */
        photos[i].settings.stats = is_measured ? NULL : &photos[i].found;
        need(lap_executor_submit(executor, job_of(&photos[i], i, is_measured), &err) == LAP_OK, "submitting");
    }
    while (lap_executor_pending(executor)) {
        lap_job *job = lap_executor_reap(executor, 20);
        right += job && take(photos, job, &there);
        lost += lap_executor_warning(executor, &warning);
    }
    lost += lap_executor_warning(executor, &warning);
    lap_executor_close(executor);
    snprintf(text, sizeof text, "%d photos %s by the pool (%s): %d right, %d by the device, %d warnings",
        count, is_measured ? "measured" : "turned and counted", runtime, right, there, lost);
    check(right == count && there >= least && lost == warnings, text);
}

int main(void)
{
    char folder[TEMPORARY_PATH];
    photo *photos = calloc(CASES, sizeof *photos);
    setvbuf(stdout, NULL, _IOLBF, 0);
    need(photos && mkdtemp(temporary(folder, "turns")) && chdir(folder) == 0 && mkdir("out", 0777) == 0,
        "a folder");
    need(lap_cudacpu_configure("devices=1,order=now") == 0 && (context = lap_context_create(THREADS, &err)) &&
             lap_tree_open("out", &tree, &err) == LAP_OK,
        "set-up");
    for (int i = 0; i < CASES; i++)
        photos[i] = make_photo(i);
    check_alone(photos);
    check_pool(photos, "devices=1,order=now", false, CASES, 0, CASES);
    check_pool(photos, "devices=1,pageable=error", false, 32, 0, 32);
    check_pool(photos, "devices=1,lost=90:719", false, 32, 1, 0);
    check_pool(photos, "devices=1,order=now", true, CASES / 4, 0, CASES / 4);
    check_pool(photos, "devices=1,pageable=error", true, 16, 0, 16);
    check_pool(photos, "devices=1,lost=90:719", true, 16, 1, 0);
    printf("1..%d\n", number);
    for (int i = 0; i < CASES; i++) {
        free(photos[i].file);
        free(photos[i].expected);
    }
    free(photos);
    lap_tree_close(&tree);
    lap_context_destroy(context);
    if (rmdir("out") || rmdir(folder))
        fprintf(stderr, "%s is left\n", folder);
    return failures > 0;
}
