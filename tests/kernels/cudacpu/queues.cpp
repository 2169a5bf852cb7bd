/* The work of streams is queued. It is done when a thread waits for it, or sometimes when the runtime is
 * called. The next operation is drawn, by the seed, from those that their streams and events allow. */
#include <csignal>

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "engine.h"
#include "state.h"

thread_local bool lap_cudacpu_in_host_function;

static bool has_hung(lap_cudacpu_device &d)
{
    if (d.hangs && d.until_ms >= 0 && lap_cudacpu_ms() >= d.until_ms) {
        d.hangs = false;
        if (!d.dead)
            d.dead = lap_cudacpu().set.hang_error;
    }
    return d.hangs;
}

bool lap_cudacpu_is_over(const lap_cudacpu_wait &wait)
{
    return !wait.stream || wait.stream->done >= wait.ticket;
}

static bool is_ready(const lap_cudacpu_stream &s)
{
    return !s.queue.empty() && !s.busy && !has_hung(lap_cudacpu().devices[(size_t)s.device]) &&
           std::all_of(s.queue.front().after.begin(), s.queue.front().after.end(), lap_cudacpu_is_over);
}

std::shared_ptr<lap_cudacpu_stream> lap_cudacpu_new_stream(int device, unsigned flags, uint64_t priority)
{
    auto s = std::make_shared<lap_cudacpu_stream>();
    s->device = device;
    s->flags = flags;
    s->priority = priority;
    return s;
}

/* Faults of work: the operation does not run, and the device is lost or hangs. */
static bool goes_wrong(lap_cudacpu_device &d, bool counts)
{
    lap_cudacpu_state &state = lap_cudacpu();
    if (!counts)
        return false;
    state.work_done++;
    if (state.work_done == state.set.crash_at) {
        signal(state.set.crash_signal, SIG_DFL); /* no sanitizer's report, which would be an exit */
        raise(state.set.crash_signal);
    }
    if (state.work_done == state.set.lost_at) {
        lap_cudacpu_struck("work");
        d.dead = state.set.lost_error;
    }
    if (state.work_done == state.set.hang_at) {
        lap_cudacpu_struck("work");
        d.hangs = true;
        d.until_ms = state.set.hang_ms < 0 ? -1 : lap_cudacpu_ms() + state.set.hang_ms;
    }
    return d.hangs;
}

static void run_first(std::unique_lock<std::mutex> &hold, const std::shared_ptr<lap_cudacpu_stream> &s)
{
    lap_cudacpu_state &state = lap_cudacpu();
    lap_cudacpu_op &op = s->queue.front();
    lap_cudacpu_device &d = state.devices[(size_t)s->device];
    if (!d.dead && goes_wrong(d, op.counts))
        return;
    if (op.act && !d.dead) {
        if (op.on_host) {
            s->busy = true;
            hold.unlock();
            lap_cudacpu_in_host_function = true;
            op.act();
            lap_cudacpu_in_host_function = false;
            hold.lock();
            s->busy = false;
            state.host_functions--;
        } else if (cudaError_t error = op.act()) {
            d.dead = error;
        }
    } else if (op.on_host) {
        state.host_functions--;
    }
    s->queue.pop_front();
    s->done++;
    if (s->queue.empty())
        state.queues.erase(std::remove(state.queues.begin(), state.queues.end(), s), state.queues.end());
    state.moved.notify_all();
}

/* Mostly takes the stream with the highest priority, so that sometimes one stream runs far ahead. */
bool lap_cudacpu_step(std::unique_lock<std::mutex> &hold)
{
    lap_cudacpu_state &state = lap_cudacpu();
    std::vector<std::shared_ptr<lap_cudacpu_stream>> ready;
    for (const auto &s : state.queues)
        if (is_ready(*s))
            ready.push_back(s);
    if (ready.empty())
        return false;
    const uint64_t r = lap_cudacpu_random(&state.random);
    std::shared_ptr<lap_cudacpu_stream> next = ready[(r >> 8) % ready.size()];
    if (r % 4)
        for (const auto &s : ready)
            next = s->priority > next->priority ? s : next;
    if (r % 64 == 0)
        next->priority = lap_cudacpu_random(&state.random);
    run_first(hold, next);
    return true;
}

/* Nothing can be done now: something that runs or hangs must end first. */
static void rest(std::unique_lock<std::mutex> &hold)
{
    lap_cudacpu_state &state = lap_cudacpu();
    bool can_end = false;
    for (const auto &s : state.queues)
        can_end = can_end || s->busy;
    for (const lap_cudacpu_device &d : state.devices)
        can_end = can_end || (d.hangs && d.until_ms >= 0);
    if (!can_end) {
        fprintf(stderr, "CUDA on CPU: waits for work that never ends\n");
        abort();
    }
    state.moved.wait_for(hold, std::chrono::milliseconds(1));
}

cudaError_t lap_cudacpu_finish(std::unique_lock<std::mutex> &hold, const lap_cudacpu_wait &wait)
{
    while (!lap_cudacpu_is_over(wait))
        if (!lap_cudacpu_step(hold))
            rest(hold);
    return wait.stream ? lap_cudacpu().devices[(size_t)wait.stream->device].dead : cudaSuccess;
}

cudaError_t lap_cudacpu_finish_device(std::unique_lock<std::mutex> &hold, int device)
{
    lap_cudacpu_state &state = lap_cudacpu();
    for (;;) {
        auto s = std::find_if(state.queues.begin(), state.queues.end(),
            [device](const std::shared_ptr<lap_cudacpu_stream> &q) { return q->device == device; });
        if (s == state.queues.end())
            return state.devices[(size_t)device].dead;
        if (!lap_cudacpu_step(hold))
            rest(hold);
    }
}

/* A host thread may wait for a host function without calling CUDA: then this one does the work, slowly. */
static void help_host_functions()
{
    static bool started = false;
    if (started)
        return;
    started = true;
    std::thread([] {
        for (;;) {
            usleep(1000);
            std::unique_lock<std::mutex> hold(lap_cudacpu().lock);
            if (lap_cudacpu().host_functions)
                lap_cudacpu_step(hold);
        }
    }).detach();
}

/* The legacy stream waits for all streams of its device that are not "non-blocking", and they for it. */
lap_cudacpu_wait lap_cudacpu_enqueue(
    std::unique_lock<std::mutex> &hold, const std::shared_ptr<lap_cudacpu_stream> &stream, lap_cudacpu_op op)
{
    lap_cudacpu_state &state = lap_cudacpu();
    const std::shared_ptr<lap_cudacpu_stream> &legacy = state.devices[(size_t)stream->device].legacy;
    if (stream == legacy) {
        for (const auto &s : state.queues)
            if (s->device == stream->device && s != stream && !(s->flags & cudaStreamNonBlocking))
                op.after.push_back({s, s->issued});
    } else if (!(stream->flags & cudaStreamNonBlocking) && legacy->done < legacy->issued) {
        op.after.push_back({legacy, legacy->issued});
    }
    if (op.on_host) {
        state.host_functions++;
        help_host_functions();
    }
    if (stream->queue.empty())
        state.queues.push_back(stream);
    stream->queue.push_back(std::move(op));
    const lap_cudacpu_wait wait = {stream, ++stream->issued};
    while (state.set.now && !lap_cudacpu_is_over(wait) && lap_cudacpu_step(hold))
        ;
    return wait;
}

/* The default stream of this thread and the current device. */
static std::shared_ptr<lap_cudacpu_stream> stream_of_thread()
{
    thread_local std::map<int, std::shared_ptr<lap_cudacpu_stream>> own;
    std::shared_ptr<lap_cudacpu_stream> &stream = own[lap_cudacpu_current];
    if (!stream)
        stream = lap_cudacpu_new_stream(lap_cudacpu_current, 0, lap_cudacpu_random(&lap_cudacpu().random));
    return stream;
}

std::shared_ptr<lap_cudacpu_stream> lap_cudacpu_stream_of(cudaStream_t handle)
{
    lap_cudacpu_state &state = lap_cudacpu();
    if (!handle || handle == cudaStreamLegacy)
        return state.devices[(size_t)lap_cudacpu_current].legacy;
    if (handle == cudaStreamPerThread)
        return stream_of_thread();
    auto found = state.streams.find(handle);
    return found == state.streams.end() ? nullptr : found->second;
}
