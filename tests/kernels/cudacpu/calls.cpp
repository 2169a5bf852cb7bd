/* What every call of the API goes through: the lock, counters, planted errors; and the settings. */
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sstream>
#include <unistd.h>

#include "control.h"
#include "engine.h"
#include "state.h"

thread_local int lap_cudacpu_current;
static thread_local cudaError_t last_error;

uint64_t lap_cudacpu_seed()
{
    static const uint64_t seed = [] {
        const char *given = getenv("LAP_CUDACPU_SEED");
        timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        const uint64_t s = given ? strtoull(given, nullptr, 0)
                                 : (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
        if (!given)
            fprintf(stderr, "# CUDA on CPU: LAP_CUDACPU_SEED=%llu\n", (unsigned long long)s);
        return s;
    }();
    return seed;
}

double lap_cudacpu_ms()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* ---- settings -------------------------------------------------------------------------------------- */

/* 48, 48K, 4M, 4G */
static bool parse_size(const std::string &text, size_t *size)
{
    char *end;
    *size = strtoull(text.c_str(), &end, 10);
    const char *units = "KMG", *unit = *end ? strchr(units, *end) : nullptr;
    *size <<= unit ? 10 * (unit - units + 1) : 0;
    return end != text.c_str() && (unit ? end[1] : end[0]) == 0;
}

static bool parse_int(const std::string &text, int *value)
{
    char *end;
    *value = (int)strtol(text.c_str(), &end, 10);
    return end != text.c_str() && *end == 0;
}

static std::vector<std::string> split(const std::string &text, char at)
{
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, at);)
        parts.push_back(part);
    return parts;
}

/* fail=[FUNCTION:]N:ERROR[:sticky], lost=N:ERROR, hang=N:MS[:ERROR], crash=N:SIGNAL */
static bool parse_fault(lap_cudacpu_settings *s, const std::string &key, const std::string &value)
{
    std::vector<std::string> p = split(value, ':');
    size_t n = 0;
    int error = 0, ms = 0;
    if (key == "fail" && !p.empty() && !parse_size(p[0], &n)) {
        s->fail_call = p[0];
        p.erase(p.begin());
    }
    if (p.size() < 2 || !parse_size(p[0], &n))
        return false;
    if (key == "hang") {
        s->hang_at = n;
        if (!parse_int(p[1], &ms) || (p.size() > 2 && !parse_int(p[2], &error)))
            return false;
        s->hang_ms = ms;
        s->hang_error = (cudaError_t)error;
        return true;
    }
    if (!parse_int(p[1], &error))
        return false;
    if (key == "crash") {
        s->crash_at = n;
        s->crash_signal = error;
        return p.size() == 2;
    }
    (key == "fail" ? s->fail_at : s->lost_at) = n;
    (key == "fail" ? s->fail_error : s->lost_error) = (cudaError_t)error;
    s->fail_sticks = p.size() > 2 && p[2] == "sticky";
    return p.size() < 3 || s->fail_sticks;
}

static bool parse_one(lap_cudacpu_settings *s, const std::string &key, const std::string &value)
{
    if (key == "devices")
        return parse_int(value, &s->devices) && s->devices >= 0;
    if (key == "sms")
        return parse_int(value, &s->sms) && s->sms > 0;
    if (key == "driver")
        return parse_int(value, &s->driver);
    if (key == "cc")
        return parse_int(value, &s->cc) && s->cc >= 10;
    if (key == "seed") {
        s->seed = strtoull(value.c_str(), nullptr, 0);
        return true;
    }
    if (key == "shared")
        return parse_size(value, &s->shared);
    if (key == "l2")
        return parse_size(value, &s->l2);
    if (key == "memory")
        return parse_size(value, &s->memory);
    if (key == "order" && (value == "now" || value == "any")) {
        s->now = value == "now";
        return true;
    }
    if (key == "pageable" && (value == "error" || value == "fine")) {
        s->pageable_fails = value == "error";
        return true;
    }
    if (key == "register" && (value == "error" || value == "fine")) {
        s->registers = value == "fine";
        return true;
    }
    if (key == "left" && value == "said")
        return atexit([] {
            fprintf(stderr, "# CUDA on CPU: %llu allocations, streams and events are left\n",
                (unsigned long long)lap_cudacpu_alive());
        }) == 0;
    if (key == "slow") {
        const std::vector<std::string> p = split(value, ':');
        s->slow_call = p.empty() ? "" : p[0];
        return p.size() == 2 && parse_int(p[1], &s->slow_ms) && s->slow_ms >= 0;
    }
    return (key == "fail" || key == "lost" || key == "hang" || key == "crash") && parse_fault(s, key, value);
}

static bool parse(lap_cudacpu_settings *s, const char *settings)
{
    for (const std::string &one : split(settings ? settings : "", ',')) {
        const size_t equals = one.find('=');
        if (equals == std::string::npos || !parse_one(s, one.substr(0, equals), one.substr(equals + 1))) {
            fprintf(stderr, "CUDA on CPU: setting \"%s\" is not understood\n", one.c_str());
            return false;
        }
    }
    return true;
}

/* Queued work is dropped; streams and events keep their handles. */
static void begin(lap_cudacpu_state &s, const lap_cudacpu_settings &set)
{
    std::vector<lap_cudacpu_device> devices((size_t)set.devices);
    for (auto &q : s.queues) {
        q->queue.clear();
        q->done = q->issued;
    }
    s.queues.clear();
    s.set = set;
    s.random = set.seed;
    for (size_t i = 0; i < devices.size(); i++) {
        devices[i].legacy = lap_cudacpu_new_stream((int)i, 0, lap_cudacpu_random(&s.random));
        devices[i].allocated = i < s.devices.size() ? s.devices[i].allocated : 0;
    }
    s.devices = std::move(devices);
    s.counts.clear();
    s.work_done = s.host_functions = 0;
    s.eagerness = (unsigned)(lap_cudacpu_random(&s.random) % 3 * 2);
}

/* Never destroyed: other threads may still work when the program ends. */
lap_cudacpu_state &lap_cudacpu()
{
    static lap_cudacpu_state *const state = [] {
        auto *s = new lap_cudacpu_state{};
        lap_cudacpu_settings set;
        set.seed = lap_cudacpu_seed();
        if (!parse(&set, getenv("LAP_CUDACPU")))
            abort();
        begin(*s, set);
        return s;
    }();
    return *state;
}

int lap_cudacpu_configure(const char *settings)
{
    lap_cudacpu_state &s = lap_cudacpu();
    lap_cudacpu_settings set;
    set.seed = lap_cudacpu_seed();
    if (!parse(&set, getenv("LAP_CUDACPU")) || !parse(&set, settings))
        return -1;
    std::lock_guard<std::mutex> hold(s.lock);
    begin(s, set);
    lap_cudacpu_current = 0;
    last_error = cudaSuccess;
    return 0;
}

uint64_t lap_cudacpu_count(const char *what)
{
    std::lock_guard<std::mutex> hold(lap_cudacpu().lock);
    auto found = lap_cudacpu().counts.find(what);
    return found == lap_cudacpu().counts.end() ? 0 : found->second;
}

void lap_cudacpu_hurry(void)
{
    std::lock_guard<std::mutex> hold(lap_cudacpu().lock);
    lap_cudacpu().set.slow_call.clear();
}

uint64_t lap_cudacpu_alive(void)
{
    lap_cudacpu_state &s = lap_cudacpu();
    std::lock_guard<std::mutex> hold(s.lock);
    return s.memory.size() + s.streams.size() + s.events.size();
}

size_t lap_cudacpu_allocated(int device)
{
    lap_cudacpu_state &s = lap_cudacpu();
    std::lock_guard<std::mutex> hold(s.lock);
    return s.devices[(size_t)device].allocated;
}

/* ---- a call ---------------------------------------------------------------------------------------- */

void lap_cudacpu_struck(const char *where)
{
    /* Does not use the program's stream, where the message could appear inside a line that another thread
     * is writing. */
    dprintf(STDERR_FILENO, "# CUDA on CPU: a fault struck %s\n", where);
}

static cudaError_t planted(lap_cudacpu_state &s, const char *name)
{
    const uint64_t nth = s.set.fail_call.empty()   ? s.counts["calls"]
                         : s.set.fail_call == name ? s.counts[name]
                                                   : 0;
    if (s.set.fail_at == 0 || nth != s.set.fail_at)
        return cudaSuccess;
    lap_cudacpu_struck(name);
    if (s.set.fail_sticks && !s.devices.empty())
        s.devices[(size_t)lap_cudacpu_current].dead = s.set.fail_error;
    return s.set.fail_error;
}

lap_cudacpu_call::lap_cudacpu_call(const char *name, bool tolerant) : hold(lap_cudacpu().lock)
{
    lap_cudacpu_state &s = lap_cudacpu();
    s.counts["calls"]++;
    s.counts[name]++;
    constexpr double piece_ms = 10; /* lap_cudacpu_hurry ends it earlier */
    for (double left = s.set.slow_ms, until = lap_cudacpu_ms() + left; s.set.slow_call == name && left > 0;
         left = until - lap_cudacpu_ms()) {
        const timespec time = {0, (long)(std::min(left, piece_ms) * 1e6)};
        hold.unlock();
        nanosleep(&time, nullptr);
        hold.lock();
    }
    error = planted(s, name);
    if (s.devices.empty() && !error && !tolerant)
        error = cudaErrorNoDevice;
    if (!error && lap_cudacpu_in_host_function)
        error = cudaErrorNotPermitted;
    if (!error && !tolerant && s.devices[(size_t)lap_cudacpu_current].dead)
        error = s.devices[(size_t)lap_cudacpu_current].dead;
    if (!error && !tolerant && s.eagerness && lap_cudacpu_random(&s.random) % 8 < s.eagerness)
        lap_cudacpu_step(hold);
    last_error = error ? error : last_error;
}

cudaError_t lap_cudacpu_call::operator()(cudaError_t result)
{
    if (result && result != cudaErrorNotReady)
        last_error = result;
    return result;
}

cudaError_t cudaPeekAtLastError()
{
    lap_cudacpu_state &s = lap_cudacpu();
    std::lock_guard<std::mutex> hold(s.lock);
    const cudaError_t dead = s.devices.empty() ? cudaSuccess : s.devices[(size_t)lap_cudacpu_current].dead;
    return dead ? dead : last_error;
}

cudaError_t cudaGetLastError()
{
    const cudaError_t error = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return error;
}

int lap_cudacpu_left_error(void)
{
    return cudaPeekAtLastError();
}
