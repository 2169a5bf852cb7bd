/* The threads of a block, and which of them runs next. A thread takes over the fiber of a thread that has
 * ended, so a kernel without barriers runs on a single stack and never switches. Under ThreadSanitizer
 * each thread keeps a fiber of its own. */
#include <cstdio>
#include <memory>

#include "engine.h"
#include "fibers.h"

namespace
{

constexpr unsigned LANES = LAP_CUDACPU_LANES, MAX_THREADS = LAP_CUDACPU_MAX_THREADS;
constexpr unsigned long MAX_YIELDS = 1ul << 26; /* in a row, without anything else happening */

enum state : uint8_t { UNSTARTED, GOING, WAITING, ENDED };

struct thread_of_block {
    uint3 index;
    lap_cudacpu_fiber *on;
    const char *waits_for;
    state is;
};

struct barrier {
    unsigned expected, arrived, round;
    int sum, result; /* of the predicates: of this round, of the one before */
    char sync[2];    /* of even and odd rounds: a thread may be one ahead of those that have yet to go on */
};

constexpr char SYNCTHREADS[] = "__syncthreads";

/* The launch that runs. */
struct {
    const lap_cudacpu_grid *grid;
    unsigned threads, ended, started;
    uint64_t blocks, done, stride, offset; /* block number k is (offset + k * stride) % blocks */
    unsigned order[MAX_THREADS];           /* threads in the order in which they start */
    thread_of_block thread[MAX_THREADS];
    unsigned ready[MAX_THREADS], first_ready, ready_count; /* ring */
    unsigned runnable[MAX_THREADS / LANES];                /* lanes of a warp that need not wait */
    barrier block;
    char block_over[2]; /* comes before what the next block does; for the thread sanitizer */
    bool starts_first;  /* prefer to start a thread, not to resume one */
    bool downward;      /* waiting threads resume from the highest number down */
    unsigned long yields;
    const std::vector<lap_cudacpu_range> *shared;
    std::unique_ptr<uint4[]> dynamic;
    uint64_t random;
} l;

void run_as(unsigned thread)
{
    threadIdx = l.thread[thread].index;
    lap_cudacpu_thread = thread;
}

/* ---- who goes on ----------------------------------------------------------------------------------- */

[[noreturn]] void report_hang()
{
    unsigned waiting = 0;
    for (unsigned i = 0; i < l.threads; i++)
        if (l.thread[i].is == WAITING && waiting++ == 0)
            run_as(i);
    char why[200];
    snprintf(why, sizeof why, "waits at %s that other threads never reach (%u of %u threads wait)",
        l.thread[lap_cudacpu_thread].waits_for, waiting, l.threads);
    lap_cudacpu_give_up(why);
}

/* Switches from the running fiber, which waits or is idle, to one that can run; returns when it can run
 * again. */
void go_elsewhere()
{
    if (l.started < l.threads && (l.starts_first || !l.ready_count)) {
        lap_cudacpu_switch_to(lap_cudacpu_idle_fiber());
        return;
    }
    if (!l.ready_count)
        report_hang();
    unsigned thread = l.ready[l.first_ready];
    l.first_ready = (l.first_ready + 1) % MAX_THREADS;
    l.ready_count--;
    run_as(thread);
    lap_cudacpu_switch_to(l.thread[thread].on);
}

void make_ready(unsigned thread)
{
    l.ready[(l.first_ready + l.ready_count++) % MAX_THREADS] = thread;
}

void no_longer_runnable(unsigned thread)
{
    if (--l.runnable[thread / LANES] == 0)
        lap_cudacpu_warps_idle(thread / LANES);
}

/* ---- a block, and the next ------------------------------------------------------------------------- */

void start_block()
{
    const uint64_t n = (l.offset + l.done * l.stride) % l.blocks;
    const dim3 &grid = l.grid->grid;
    blockIdx = {(unsigned)(n % grid.x), (unsigned)(n / grid.x % grid.y), (unsigned)(n / grid.x / grid.y)};
    l.ended = l.started = 0;
    l.block = barrier{l.threads, 0, 0, 0, 0, {}};
    for (unsigned i = 0; i < l.threads; i++)
        l.thread[i].is = UNSTARTED;
    for (unsigned w = 0; w * LANES < l.threads; w++)
        l.runnable[w] = std::min(LANES, l.threads - w * LANES);
    lap_cudacpu_reuse_spent();
    lap_cudacpu_warps_start(l.threads);
    lap_cudacpu_poison(l.dynamic.get(), l.grid->dynamic_bytes);
    for (const lap_cudacpu_range &variable : *l.shared)
        lap_cudacpu_poison(variable.first, variable.bytes);
    lap_cudacpu_watch_block(*l.shared,
        {reinterpret_cast<char *>(l.dynamic.get()), l.grid->dynamic_bytes, "dynamic shared memory"});
}

void release_barrier()
{
    barrier &b = l.block;
    if (b.arrived < b.expected || b.arrived == 0)
        return;
    lap_cudacpu_watch_barrier();
    b.arrived = 0;
    b.round++;
    b.result = b.sum;
    b.sum = 0;
    for (unsigned k = 0; k < l.threads; k++) {
        const unsigned i = l.downward ? l.threads - 1 - k : k;
        if (l.thread[i].is == WAITING && l.thread[i].waits_for == SYNCTHREADS)
            lap_cudacpu_wake(i);
    }
}

void run_thread(unsigned thread)
{
    l.thread[thread].is = GOING;
    l.thread[thread].on = lap_cudacpu_running_fiber();
    run_as(thread);
    lap_cudacpu_acquire(&l.grid);
    lap_cudacpu_acquire(&l.block_over[(l.done + 1) % 2]); /* blocks share the static variables */
    lap_cudacpu_watch_thread();
    l.grid->body(l.grid->argument);
    lap_cudacpu_release(&l.block_over[l.done % 2]);
    l.thread[thread].is = ENDED;
    l.ended++;
    l.yields = 0;
    l.block.expected--;
    release_barrier();
    lap_cudacpu_warps_leave();
    no_longer_runnable(thread);
}

/* The loop of a fiber: each round runs a thread that has not been started yet. */
[[noreturn]] void live()
{
    for (;;) {
        run_thread(l.order[l.started++]);
        if (LAP_CUDACPU_OWN_FIBERS)
            lap_cudacpu_spend();
        if (l.ended == l.threads && ++l.done < l.blocks)
            start_block();
        if (!LAP_CUDACPU_OWN_FIBERS && l.started < l.threads)
            continue;
        if (!LAP_CUDACPU_OWN_FIBERS)
            lap_cudacpu_idle();
        if (l.done == l.blocks)
            lap_cudacpu_switch_to(nullptr);
        else
            go_elsewhere();
    }
}

/* Warps start from a random one, upwards or downwards, and so do their lanes. */
void draw_thread_order()
{
    const unsigned warps = (l.threads + LANES - 1) / LANES;
    const uint64_t r = lap_cudacpu_random(&l.random);
    const unsigned first = (unsigned)(r >> 32) % warps, lane = (unsigned)(r >> 16) % LANES;
    unsigned n = 0;
    for (unsigned k = 0; k < warps; k++) {
        const unsigned up = (first + k) % warps, w = r & 1 ? warps - 1 - up : up;
        for (unsigned j = 0; j < LANES; j++) {
            const unsigned i = w * LANES + (r & 2 ? lane - j : lane + j) % LANES;
            if (i < l.threads)
                l.order[n++] = i;
        }
    }
    l.starts_first = r & 4;
    l.downward = r & 8;
}

uint64_t common_divisor(uint64_t a, uint64_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

void draw_block_order()
{
    l.offset = lap_cudacpu_random(&l.random) % l.blocks;
    do
        l.stride = 1 + lap_cudacpu_random(&l.random) % std::min<uint64_t>(l.blocks, 1u << 30);
    while (common_divisor(l.stride, l.blocks) != 1);
}

} // namespace

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
unsigned lap_cudacpu_thread;

void lap_cudacpu_run(const lap_cudacpu_grid &grid)
{
    const dim3 block = grid.block;
    l.grid = &grid;
    l.threads = block.x * block.y * block.z;
    l.blocks = (uint64_t)grid.grid.x * grid.grid.y * grid.grid.z;
    l.done = l.first_ready = l.ready_count = 0;
    l.random = grid.seed;
    l.shared = &lap_cudacpu_shared_of(grid.kernel);
    l.dynamic.reset(grid.dynamic_bytes ? new uint4[(grid.dynamic_bytes + 15) / 16] : nullptr);
    for (unsigned i = 0; i < l.threads; i++)
        l.thread[i].index = {i % block.x, i / block.x % block.y, i / block.x / block.y};
    draw_thread_order();
    draw_block_order();
    blockDim = block;
    gridDim = grid.grid;
    lap_cudacpu_begin_fibers(l.threads, live);
    lap_cudacpu_release(&l.grid);
    lap_cudacpu_watch_launch(&grid);
    start_block();
    lap_cudacpu_switch_to(lap_cudacpu_idle_fiber());
    lap_cudacpu_acquire(&l.block_over[0]);
    lap_cudacpu_acquire(&l.block_over[1]);
    lap_cudacpu_watch_launch(nullptr);
    l.dynamic.reset();
    l.grid = nullptr;
}

void *lap_cudacpu_dynamic()
{
    return l.dynamic.get();
}

void lap_cudacpu_park(const char *why)
{
    const unsigned self = lap_cudacpu_thread;
    l.thread[self].is = WAITING;
    l.thread[self].waits_for = why;
    no_longer_runnable(self);
    go_elsewhere();
}

void lap_cudacpu_wake(unsigned thread)
{
    l.thread[thread].is = GOING;
    l.runnable[thread / LANES]++;
    l.yields = 0;
    make_ready(thread);
}

void lap_cudacpu_yield()
{
    if (!l.ready_count && l.started == l.threads)
        return;
    if (++l.yields > MAX_YIELDS)
        lap_cudacpu_give_up("spins, and no other thread gets on either");
    make_ready(lap_cudacpu_thread);
    go_elsewhere();
}

int lap_cudacpu_syncthreads(int predicate)
{
    barrier &b = l.block;
    char *sync = &b.sync[b.round % 2];
    b.sum += predicate != 0;
    lap_cudacpu_watch_arrival();
    lap_cudacpu_release(sync);
    if (++b.arrived < b.expected)
        lap_cudacpu_park(SYNCTHREADS);
    else
        release_barrier();
    lap_cudacpu_acquire(sync);
    return b.result;
}
