/* How devices are found, and what is said of them. */
#include <sys/wait.h>
#include <unistd.h>

#include "launches.h"

/* What a new process finds with these settings. */
typedef struct probe {
    const char *settings;
    int count;          /* usable devices */
    const char *reason; /* why no device can be used, or NULL */
    unsigned asked;     /* attributes of devices */
} probe;

static const probe probes[] = {
    {"devices=1", 1, NULL, 2},
    {"devices=3,cc=75", 3, NULL, 6},
    {"devices=2,cc=120", 2, NULL, 4},
    {"devices=3,cc=74", 0, "compute capability 7.4 is older than this build's 7.5", 2},
    {"devices=1,cc=61", 0, "compute capability 6.1 is older than this build's 7.5", 2},
    {"devices=1,driver=0", 0, "no NVIDIA driver is installed", 0},
    {"devices=0,driver=12081", 0, "no CUDA-capable device is detected (CUDA driver 12.8, runtime 13.0)", 0},
    {"devices=2,fail=cudaDriverGetVersion:1:3", 0, "unrecognized error code (CUDA driver 13.0, runtime 13.0)",
        0},
    {"devices=2,driver=11020,fail=cudaGetDeviceCount:1:2", 0,
        "out of memory (CUDA driver 11.2, runtime 13.0)", 0},
    {"devices=2,fail=cudaDeviceGetAttribute:1:2", 0, "out of memory (CUDA driver 13.0, runtime 13.0)", 1},
    {"devices=2,fail=cudaDeviceGetAttribute:2:2", 0, "out of memory (CUDA driver 13.0, runtime 13.0)", 2},
    {"devices=3,fail=cudaDeviceGetAttribute:3:2", 1, NULL, 3},
    {"devices=3,fail=cudaDeviceGetAttribute:4:2", 1, NULL, 4},
    {"devices=3,fail=cudaDeviceGetAttribute:5:2", 2, NULL, 5},
};

static bool is_text(const char *text, const char *expected)
{
    const bool same = text && expected ? strcmp(text, expected) == 0 : text == expected;
    if (!same)
        fprintf(
            stderr, "# \"%s\", expected \"%s\"\n", text ? text : "(none)", expected ? expected : "(none)");
    return same;
}

static bool is_found(const probe *p)
{
    const char *reason = "unchanged", *again = "unchanged";
    char text[300];
    lap_device_info info;
    if (lap_cudacpu_configure(p->settings) != 0)
        return false;
    bool good = lap_cuda_count(&reason) == p->count && is_text(reason, p->reason);
    good = lap_cudacpu_count("cudaDeviceGetAttribute") == p->asked && lap_cudacpu_left_error() == 0 && good;
    /* Devices are looked for once. */
    good = is_text(lap_cuda_unavailable(), p->reason) && lap_cuda_count(NULL) == p->count &&
           lap_cudacpu_count("cudaDriverGetVersion") == 1 && lap_cudacpu_count("cudaGetDeviceCount") <= 1 &&
           good;
    snprintf(text, sizeof text, "CUDA device %d%s%s", p->count, p->reason ? ": " : " does not exist",
        p->reason ? p->reason : "");
    good = lap_cuda_info(p->count, &info, &err) == LAP_E_BACKEND && is_text(err.message, text) && good;
    good = !lap_device_at(p->count, &info, &again) && is_text(again, p->reason) && good;
    good = lap_cuda_info(-1, &info, &err) == LAP_E_BACKEND && !lap_device_at(-1, &info, NULL) && good;
    for (int i = 0; i < p->count; i++)
        good = lap_device_at(i, &info, &again) && info.device == i && good;
    return good;
}

/* As the first use of CUDA in a process; in a child, since a process looks for devices only once. */
static bool in_child(const probe *p)
{
    int status = -1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const bool good = is_found(p);
        if (!good)
            fprintf(stderr, "# with %s\n", p->settings);
        _exit(!good);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void check_info(void)
{
    lap_device_info info;
    const char *reason = NULL;
    void *memory;
    need(lap_cudacpu_configure("devices=2,cc=86,sms=84,memory=3M,driver=12081") == 0, "settings");
    need(lap_cuda_alloc(1, 1 << 20, &memory, &err) == LAP_OK, "memory");
    bool good = lap_cuda_info(1, &info, &err) == LAP_OK && info.device == 1 && info.cc_major == 8 &&
                info.cc_minor == 6 && info.sms == 84 && info.memory_bytes == 3 << 20 &&
                info.free_bytes == 2 << 20 && strcmp(info.name, "CPU in disguise") == 0 &&
                strcmp(info.driver, "CUDA 12.8") == 0;
    lap_cuda_free(1, memory);
    good = lap_cuda_info(0, &info, &err) == LAP_OK && info.device == 0 && info.free_bytes == 3 << 20 && good;
    check(good, "what is known of a device");
    static const char *const calls[] = {
        "cudaSetDevice", "cudaGetDeviceProperties", "cudaMemGetInfo", "cudaDriverGetVersion"};
    good = true;
    for (int i = 0; i < 4; i++) {
        char setting[80];
        snprintf(setting, sizeof setting, "devices=2,fail=%s:1:700", calls[i]);
        need(lap_cudacpu_configure(setting) == 0, setting);
        good = lap_cuda_info(1, &info, &err) == LAP_E_DEVICE && strstr(err.message, calls[i]) && good;
        need(lap_cudacpu_configure(setting) == 0, setting);
        good = !lap_device_at(1, &info, &reason) && strcmp(reason, "the device does not answer") == 0 && good;
        need(lap_cudacpu_configure(setting) == 0, setting);
        good = !lap_device_at(1, &info, NULL) && lap_cudacpu_left_error() == 0 && good;
    }
    check(good, "a device that does not answer");
}

static void check_to_start(void)
{
    static const struct {
        const char *list;
        int devices, expected;
    } lists[] = {{NULL, 3, 3}, {"", 3, 1}, {"0", 3, 1}, {"2,0", 3, 2}, {"0,1,2", 3, 3}, {"0,1,2,3", 3, 3},
        {"1", 1, 1}, {NULL, 0, 1}, {"0,1", 0, 1}};
    bool good = true;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char setting[40];
        snprintf(setting, sizeof setting, "devices=%d", lists[i].devices);
        need(lap_cudacpu_configure(setting) == 0, setting);
        need((lists[i].list ? setenv("CUDA_VISIBLE_DEVICES", lists[i].list, 1)
                            : unsetenv("CUDA_VISIBLE_DEVICES")) == 0,
            "list");
        good = lap_cuda_to_start() == lists[i].expected && good;
    }
    unsetenv("CUDA_VISIBLE_DEVICES");
    check(good, "how many devices CUDA has to start");
}

void check_probes(void)
{
    bool good = true;
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        good = in_child(&probes[i]) && good;
    check(good, "how many devices can be used, and why none can");
    need(lap_cudacpu_configure("devices=2") == 0 && lap_cuda_count(NULL) == 2, "devices");
    check_info();
    check_to_start();
}
