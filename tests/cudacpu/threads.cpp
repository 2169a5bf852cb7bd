/* The threads of a grid, block after block: as fibers, or as CPU threads (LAP_CUDACPU_THREADS).
 *
 * Worker i runs thread i of every block. A worker that must wait lets the others go on: a fiber
 * switches to the next, round and round; a CPU thread sleeps. A barrier counts the threads that are
 * still there, as CUDA's does. Round and round without progress means that some threads wait for
 * others that never come: that is reported, where a GPU would hang. */
#include <cuda_runtime.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#ifdef LAP_CUDACPU_THREADS
#include <condition_variable>
#include <thread>
#else
#include <sys/mman.h>

#include "context.h"
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
/* From gcc 13 on each fiber would get a second stack for every block, which takes ten times as long as the
 * tests. */
extern "C" const char *__asan_default_options()
{
    return "detect_stack_use_after_return=0";
}
#endif

namespace
{

constexpr unsigned MOST_THREADS = 1024, LANES = 32;
constexpr size_t STACK = 256 * 1024;

struct worker {
    uint3 thread, block;
    unsigned linear; /* number of this thread in its block */
    unsigned shuffles;
#ifndef LAP_CUDACPU_THREADS
    lap_cudacpu_context context;
    void *fake_stack;
    bool finished;
#endif
};

struct barrier {
    unsigned expected = 0, arrived = 0;
    unsigned long generation = 0;
#ifdef LAP_CUDACPU_THREADS
    std::mutex lock;
    std::condition_variable moved;
#endif
};

struct launch {
    cudaLaunchConfig_t config;
    void (*body)(void *);
    void *argument;
    unsigned threads;
    std::vector<worker> workers;
    barrier block; /* threads still in it */
    /* All workers, around each block. Two, not one: a worker that is slow to leave the first must not
     * meet in its lock those that have run their thread already, which would order what is a race. */
    barrier start, end;
    barrier warp[MOST_THREADS / LANES];
    uint64_t slot[MOST_THREADS / LANES][2][LANES];
    std::unique_ptr<uint4[]> dynamic;
};

launch *current; /* one launch at a time: kernels keep shared memory in static variables */
thread_local worker *running;
std::mutex one_launch;
std::map<const void *, size_t> dynamic_limit;

[[noreturn]] void give_up(const char *why)
{
    fprintf(stderr, "CUDA on CPU: thread (%u, %u) of block (%u, %u): %s\n", threadIdx.x, threadIdx.y,
        blockIdx.x, blockIdx.y, why);
    abort();
}

void run_as(worker *w)
{
    running = w;
    threadIdx = w->thread;
    blockIdx = w->block;
}

/* ---- waiting ------------------------------------------------------------------------------------ */

#ifdef LAP_CUDACPU_THREADS

using guard = std::unique_lock<std::mutex>;

guard hold(barrier &b)
{
    return guard(b.lock);
}

void wait(barrier &b, guard &held)
{
    unsigned long generation = b.generation;
    b.moved.wait(held, [&] { return b.generation != generation; });
}

void wake(barrier &b)
{
    b.moved.notify_all();
}

#else

struct guard {
};
lap_cudacpu_context home;
unsigned long moves; /* barriers passed and fibers ended: progress */
void *home_fake_stack;
const void *home_stack;
size_t home_stack_size;
std::vector<char *> stacks;

guard hold(barrier &)
{
    return {};
}

void wake(barrier &)
{
    moves++;
}

/* Leaves the running fiber (or the launching thread, from == nullptr) for another. */
void switch_to(worker *from, worker *to)
{
    if (to)
        run_as(to);
#if defined(__SANITIZE_ADDRESS__)
    void **save = from ? (from->finished ? nullptr : &from->fake_stack) : &home_fake_stack;
    if (to)
        __sanitizer_start_switch_fiber(save, stacks[to->linear], STACK);
    else
        __sanitizer_start_switch_fiber(save, home_stack, home_stack_size);
#endif
    lap_cudacpu_swap(from ? &from->context : &home, to ? &to->context : &home);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(from ? from->fake_stack : home_fake_stack, nullptr, nullptr);
#endif
}

/* The next fiber that has not ended, or nullptr. */
worker *next_after(const worker *w)
{
    unsigned i = w->linear;
    for (unsigned n = 0; n < current->threads; n++) {
        i = i + 1 < current->threads ? i + 1 : 0;
        if (!current->workers[i].finished)
            return &current->workers[i];
    }
    return nullptr;
}

void wait(barrier &b, guard &)
{
    unsigned long generation = b.generation, seen = moves;
    for (unsigned rounds = 0; b.generation == generation; rounds++) {
        if (rounds > 2) {
            if (seen == moves)
                give_up("waits at a barrier or shuffle that other threads never reach");
            seen = moves;
            rounds = 0;
        }
        worker *self = running, *other = next_after(self);
        if (other != self)
            switch_to(self, other);
    }
}

#endif

void release_if_full(barrier &b)
{
    if (b.arrived < b.expected || b.arrived == 0)
        return;
    b.arrived = 0;
    b.generation++;
    wake(b);
}

void arrive_and_wait(barrier &b)
{
    guard held = hold(b);
    unsigned long generation = b.generation;
    b.arrived++;
    release_if_full(b);
    if (b.generation == generation)
        wait(b, held);
}

void leave(barrier &b)
{
    [[maybe_unused]] guard held = hold(b);
    b.expected--;
    release_if_full(b);
}

/* ---- a worker's life ---------------------------------------------------------------------------- */

void fill_barriers()
{
    launch &l = *current;
    l.block.expected = l.threads;
    for (unsigned w = 0; w * LANES < l.threads; w++)
        l.warp[w].expected = std::min(LANES, l.threads - w * LANES);
}

void live(worker &w)
{
    launch &l = *current;
    const dim3 grid = l.config.gridDim, block = l.config.blockDim;
    const unsigned i = w.linear;
    blockDim = block;
    gridDim = grid;
    w.thread = {i % block.x, i / block.x % block.y, i / block.x / block.y};
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                w.block = {x, y, z};
                w.shuffles = 0;
                arrive_and_wait(l.start);
                run_as(&w);
                l.body(l.argument);
                leave(l.warp[i / LANES]);
                leave(l.block);
                arrive_and_wait(l.end);
                if (i == 0)
                    fill_barriers();
            }
}

#ifdef LAP_CUDACPU_THREADS

void run_all()
{
    std::vector<std::thread> threads;
    for (worker &w : current->workers)
        threads.emplace_back([&w] {
            running = &w;
            live(w);
        });
    for (std::thread &t : threads)
        t.join();
}

#else

void fiber()
{
    worker *self = running;
#if defined(__SANITIZE_ADDRESS__)
    const void *bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
    if (self->linear == 0) { /* the first one is entered from the launching thread */
        home_stack = bottom;
        home_stack_size = size;
    }
#endif
    live(*self);
    self->finished = true;
    moves++;
    switch_to(self, next_after(self));
}

void run_all()
{
    launch &l = *current;
    while (stacks.size() < l.threads) {
        void *stack =
            mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == MAP_FAILED) {
            perror("CUDA on CPU: stack of a fiber");
            abort();
        }
        stacks.push_back(static_cast<char *>(stack));
    }
    for (worker &w : l.workers)
        lap_cudacpu_prepare(&w.context, stacks[w.linear], STACK, fiber);
    switch_to(nullptr, &l.workers[0]);
}

#endif

cudaError_t check(const cudaLaunchConfig_t &config, const void *kernel)
{
    const dim3 &grid = config.gridDim, &block = config.blockDim;
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    auto limit = dynamic_limit.find(kernel);
    if (threads == 0 || threads > MOST_THREADS || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
        grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (config.dynamicSmemBytes > (limit == dynamic_limit.end() ? 48 * 1024 : limit->second))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

} // namespace

thread_local uint3 threadIdx, blockIdx;
thread_local dim3 blockDim, gridDim;

void *lap_cudacpu_dynamic()
{
    return current->dynamic.get();
}

unsigned lap_cudacpu_lane()
{
    return running->linear % LANES;
}

void __syncthreads()
{
    arrive_and_wait(current->block);
}

void __syncwarp(unsigned)
{
    arrive_and_wait(current->warp[running->linear / LANES]);
}

unsigned __activemask()
{
    unsigned lanes = std::min(LANES, current->threads - running->linear / LANES * LANES);
    return lanes == LANES ? 0xffffffffu : (1u << lanes) - 1;
}

/* Two slots by turns: a lane can be one exchange ahead of another, never two. */
uint64_t lap_cudacpu_exchange(unsigned mask, uint64_t value, unsigned source)
{
    worker &self = *running;
    unsigned lane = self.linear % LANES, w = self.linear / LANES;
    if (!(mask >> lane & 1))
        give_up("calls a warp function with a mask that leaves it out");
    uint64_t *slot = current->slot[w][self.shuffles++ & 1];
    slot[lane] = value;
    arrive_and_wait(current->warp[w]);
    return slot[source % LANES];
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    std::lock_guard<std::mutex> hold_it(one_launch);
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        if (value > 227 * 1024)
            return cudaErrorInvalidValue;
        dynamic_limit[kernel] = (size_t)value;
    }
    return cudaSuccess;
}

cudaError_t lap_cudacpu_launch(
    const cudaLaunchConfig_t &config, const void *kernel, void (*body)(void *), void *argument)
{
    std::lock_guard<std::mutex> hold_it(one_launch);
    cudaError_t error = check(config, kernel);
    if (error)
        return error;
    std::unique_ptr<launch> l(new launch{});
    l->config = config;
    l->body = body;
    l->argument = argument;
    l->threads = config.blockDim.x * config.blockDim.y * config.blockDim.z;
    l->workers.resize(l->threads);
    for (unsigned i = 0; i < l->threads; i++)
        l->workers[i].linear = i;
    if (config.dynamicSmemBytes)
        l->dynamic.reset(new uint4[(config.dynamicSmemBytes + 15) / 16]);
    l->start.expected = l->end.expected = l->threads;
    current = l.get();
    fill_barriers();
    run_all();
    running = nullptr;
    current = nullptr;
    return cudaSuccess;
}
