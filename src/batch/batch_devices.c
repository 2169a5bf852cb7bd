/* Decides whether CUDA devices take part in a run. A named backend or codec is never replaced. "auto" uses
 * devices in addition to the CPU if there is enough work, according to the constants below, never to measured
 * times. */
#include <string.h>

#include "base/params.h"
#include "batch/batch_devices.h"
#include "batch/device_pool.h"
#include "device/devices.h"
#include "rungs/backend.h"

/* CPU_BYTES_PER_MS: JPEG bytes that one CPU thread reads, filters and writes per millisecond (1.5 times that
 * if images are only measured). DEVICE_FILES_PER_S: the most small photos per second that a device can
 * process. THREAD_FILES_PER_S: small photos per second that one thread can read and write for a device.
 * SMALL_THREADS: how many threads do that for each device unless the caller sets the number of threads; more
 * threads are slower (docs/bench/thumbnails.txt). START_MS: the time to start a device, plus START_MS_PER_GPU
 * for each GPU that CUDA initialises. Measured on Xeons with 16 and 32 cores, an H100, and one and two H200
 * (docs/folders.md). */
enum {
    CPU_BYTES_PER_MS = 20000,
    DEVICE_FILES_PER_S = 25000,
    THREAD_FILES_PER_S = 2500,
    SMALL_THREADS = 8,
    START_MS = 200,
    START_MS_PER_GPU = 200
};

enum { HOW = sizeof((lap_batch_work *)0)->how };

/* Returns the rate of all threads together. */
static uint64_t cpu_bytes_per_ms(const lap_batch_load *load)
{
    return (uint64_t)load->jobs * CPU_BYTES_PER_MS * (load->is_written ? 2 : 3) / 2;
}

uint64_t lap_batch_small(const lap_batch_load *load)
{
    const uint64_t threads = (uint64_t)load->jobs * THREAD_FILES_PER_S;
    return cpu_bytes_per_ms(load) * 1000 / (threads < DEVICE_FILES_PER_S ? threads : DEVICE_FILES_PER_S);
}

/* Finds the device rung that the settings name by backend or codec; NULL: they name no device rung. */
static lap_code named_rung(const lap_settings *s, const lap_rung **rung, lap_error *err)
{
    const bool by_codec = s->codec == LAP_CODEC_CUDA && strcmp(s->backend, "auto") == 0;
    *rung = NULL;
    if (!s->filter || !lap_codec_may_be_device(s->codec))
        return LAP_OK;
    lap_code code = lap_rung_find(
        LAP_OP_FILTER, by_codec ? lap_rung_fastest_on_device(LAP_OP_FILTER) : s->backend, rung, err);
    if (code == LAP_OK && lap_rung_takes_bands(*rung))
        *rung = NULL;
    return code;
}

/* Returns the rung that "auto" would use, or NULL and the reason in *why. */
static const lap_rung *auto_rung(const lap_batch_load *load, const char **why)
{
    const lap_settings *s = load->settings;
    const lap_rung *rung = NULL;
    const uint64_t ms = load->large_bytes / cpu_bytes_per_ms(load);
    if (!s->filter || strcmp(s->backend, "auto") != 0 || s->codec != LAP_CODEC_AUTO)
        *why = "a CPU backend was requested";
    else if (!lap_device_may_be(why))
        return NULL;
    else if (lap_params_tolerance(&s->params) < 0)
        *why = "with this kernel, backends may differ by any amount";
    else if (ms < START_MS + START_MS_PER_GPU * (uint64_t)lap_device_to_start())
        *why = "the photos are few or small: the CPU finishes before a device has started";
    else if ((*why = lap_device_codec_unavailable(LAP_DEVICE_CODES)) != NULL)
        return NULL;
    else if (lap_rung_find(LAP_OP_FILTER, lap_rung_fastest_on_device(LAP_OP_FILTER), &rung, NULL) != LAP_OK)
        *why = "no CUDA backend can run here";
    return rung;
}

/* Several processes on this machine each get separate devices; if there are fewer devices than processes,
 * each process gets one device. */
static int take_share(int list[LAP_DEVICE_POOL_DEVICES], int count, uint32_t share, uint32_t shares)
{
    int mine = 0;
    for (uint32_t i = share; i < (uint32_t)count; i += shares)
        list[mine++] = list[i];
    if (mine == 0)
        list[mine++] = list[share % (uint32_t)count];
    return mine;
}

/* Lists the devices of the options without duplicates; returns their number. */
static int list_devices(const lap_batch_load *load, int list[LAP_DEVICE_POOL_DEVICES])
{
    const lap_batch_devices *devices = load->devices;
    const bool all = devices && devices->count < 0,
               listed = devices && devices->numbers && devices->count > 0;
    const int most = all ? lap_device_count() : listed ? devices->count : 1;
    int count = 0;
    for (int i = 0; i < most && count < LAP_DEVICE_POOL_DEVICES; i++) {
        const int number = all ? i : listed ? devices->numbers[i] : load->settings->device;
        bool is_new = true;
        for (int k = 0; k < count; k++)
            is_new = is_new && list[k] != number;
        if (is_new)
            list[count++] = number;
    }
    return devices && devices->shares > 1 && count > 0
               ? take_share(list, count, devices->share, devices->shares)
               : count;
}

/* The processors that a run uses. */
typedef struct choice {
    const lap_rung *rung; /* rung of the devices; NULL: threads only */
    bool is_named;        /* the settings name a device backend: the CPU only does what devices cannot */
    char how[HOW];
} choice;

static lap_code choose(const lap_batch_load *load, choice *c, lap_error *err)
{
    const lap_rung *named;
    const char *why = NULL;
    *c = (choice){0};
    lap_code code = named_rung(load->settings, &named, err);
    if (code != LAP_OK)
        return code;
    c->is_named = named != NULL;
    if (named)
        c->rung = (why = lap_device_codec_unavailable(LAP_DEVICE_CODES)) == NULL ? named : NULL;
    else
        c->rung = auto_rung(load, &why);
    if (!c->rung)
        snprintf(c->how, HOW, "%s: %.120s", named ? "JPEGs are coded on the CPU" : "the CPU alone", why);
    return LAP_OK;
}

static lap_code open_devices(
    lap_context *context, const lap_batch_load *load, choice *c, lap_executor **executor, lap_error *err)
{
    int list[LAP_DEVICE_POOL_DEVICES];
    const lap_device_pool_options options = {.devices = list,
        .count = list_devices(load, list),
        .rung = c->rung,
        .memory = load->devices ? (size_t)load->devices->memory : 0,
        .pinned = (size_t)(load->settings->max_memory / 2),
        .is_named = c->is_named,
        .small_bytes = (size_t)lap_batch_small(load),
        .small_threads = load->is_written && !load->is_asked ? SMALL_THREADS : 0};
    snprintf(c->how, HOW, "%d CUDA device%s with %s%s", options.count, options.count == 1 ? "" : "s",
        c->rung->name, c->is_named ? "" : ", and the CPU");
    return lap_executor_devices(context, load->jobs, &options, executor, err);
}

lap_code lap_batch_executor(lap_context *context, const lap_batch_load *load, lap_batch_work *work,
    lap_executor **executor, lap_error *err)
{
    choice c;
    lap_code code = choose(load, &c, err);
    if (code == LAP_OK)
        code = c.rung ? open_devices(context, load, &c, executor, err)
                      : lap_executor_threads(context, load->jobs, executor, err);
    if (code == LAP_OK && work) {
        memcpy(work->how, c.how, sizeof c.how);
        work->jobs = (uint64_t)load->jobs;
    }
    return code;
}
