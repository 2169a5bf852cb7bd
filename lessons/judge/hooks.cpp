/* The functions through which the judge watches kernels. Code compiled with g++ -fsanitize=thread calls a
 * function before each access to memory; these functions are here, with the one that -fsanitize=bounds
 * calls. The engine of tests/kernels/cudacpu calls the others (hooks.h there). Lessons are compiled at
 * -O0, since at -O1 a load of 16 bytes becomes four loads, and a store that is loaded again vanishes. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "judge.h"
#include "tests/kernels/cudacpu/engine.h"
#include "tests/kernels/cudacpu/fibers.h"
#include "watch.h"

extern "C" char __executable_start, __bss_start, _end; /* of the linker */

namespace judge
{

bool in_kernel, strict = true, counting = true;

} // namespace judge

namespace
{

using namespace judge;

constexpr unsigned MAX_DEPTH = 48;

struct calls { /* of one thread of the block */
    unsigned depth;
    uintptr_t from[MAX_DEPTH];
    uint64_t hash[MAX_DEPTH + 1];
} calls_of[MAX_THREADS];

const lap_cudacpu_grid *grid;
unsigned last;
bool busy;
uint32_t block_number;
unsigned threads, arrivals;
unsigned arrived_at[MAX_THREADS]; /* site + 1; 0: not arrived */

struct known_site {
    uint64_t hash;
    uintptr_t pc;
    access_kind kind;
    memory_space space;
    unsigned size;
    bool operator<(const known_site &o) const
    {
        return std::tie(hash, pc, kind, space, size) < std::tie(o.hash, o.pc, o.kind, o.space, o.size);
    }
};

std::vector<site> all_sites;
std::map<known_site, unsigned> numbers;
constexpr unsigned CACHE = 4096;
struct {
    known_site key;
    unsigned number;
} cache[CACHE];

std::string me()
{
    return thread_name(block_number, lap_cudacpu_thread);
}

void out_of_bounds(const access &a)
{
    char what[300];
    snprintf(what, sizeof what, "%s %s: %s",
        a.kind == LOAD    ? "reads"
        : a.kind == STORE ? "writes"
                          : "changes",
        a.size == 1 ? "a byte" : (std::to_string(a.size) + " bytes").c_str(),
        describe(a.address, a.size).c_str());
    found(OUT_OF_BOUNDS, a.site, me(), what, usual_mistake(a.address));
}

/* Returns whether accesses to the address are free: on a GPU, constants, built-in variables, parameters and a
 * thread's variables are in neither global nor shared memory. */
bool is_free(const char *address)
{
    const uintptr_t p = (uintptr_t)address;
    if (lap_cudacpu_on_stack(address) || p - (uintptr_t)grid->argument < grid->argument_bytes)
        return true;
    for (const void *v : {(void *)&threadIdx, (void *)&blockIdx, (void *)&blockDim, (void *)&gridDim,
             (void *)&lap_cudacpu_thread, (void *)&lap_cudacpu_atomics_left})
        if (p - (uintptr_t)v < sizeof(dim3))
            return true;
    return p >= (uintptr_t)&__executable_start && p < (uintptr_t)&__bss_start;
}

void watch(const void *address, unsigned size, access_kind kind, void *from)
{
    if (!in_kernel || busy || !counting)
        return;
    busy = true;
    const char *at = static_cast<const char *>(address);
    const unsigned thread = lap_cudacpu_thread;
    memory_space space = space_of(at, size);
    if (space != NO_MEMORY || !is_free(at)) {
        if (space == NO_MEMORY && !strict)
            space = GLOBAL;
        const access a = {at, size, site_of((uintptr_t)from, kind, space, size), thread, kind};
        last = a.site;
        if (space == NO_MEMORY) {
            out_of_bounds(a);
        } else {
            if ((uintptr_t)at % size && strict)
                found(MISALIGNED, a.site, me(),
                    "accesses " + std::to_string(size) + " bytes at once, " + describe(at, 1) +
                        ": that address is not a multiple of " + std::to_string(size));
            if ((uintptr_t)at % size && strict && size == 16)
                stop_here(); /* this processor would fault, too */
            count_access(a, space);
            if (strict)
                shadow_access(a, space);
        }
    }
    busy = false;
}

void watch_range(const void *address, size_t bytes, access_kind kind, void *from)
{
    for (size_t i = 0; i < bytes; i++)
        watch(static_cast<const char *>(address) + i, 1, kind, from);
}

/* Returns the site of the thread's innermost call: the barrier at which it waits, or a warp function. */
unsigned site_of_call()
{
    return site_of(0, SHUFFLE, NO_MEMORY, 0);
}

} // namespace

unsigned judge::site_of(uintptr_t pc, access_kind kind, memory_space space, unsigned size)
{
    const calls &c = calls_of[lap_cudacpu_thread];
    const known_site key = {c.hash[c.depth], pc, kind, space, size};
    auto &kept = cache[(key.hash ^ pc * 31 ^ (unsigned)space << 7) % CACHE];
    if (kept.number && !(kept.key < key) && !(key < kept.key))
        return kept.number - 1;
    auto at = numbers.find(key);
    if (at == numbers.end()) {
        site s = {{}, kind, space, size};
        if (pc)
            s.places.push_back(pc);
        for (unsigned i = c.depth; i-- > 0;)
            s.places.push_back(c.from[i]);
        all_sites.push_back(s);
        at = numbers.insert({key, (unsigned)all_sites.size() - 1}).first;
    }
    kept.key = key;
    kept.number = at->second + 1;
    return at->second;
}

const site &judge::site_number(unsigned number)
{
    return all_sites[number];
}

unsigned judge::last_site()
{
    return last;
}

unsigned judge::sites()
{
    return (unsigned)all_sites.size();
}

std::string judge::thread_name(uint32_t block, unsigned thread)
{
    const dim3 &b = grid->block, &g = grid->grid;
    char text[120];
    if (b.y * b.z * g.y * g.z == 1)
        snprintf(text, sizeof text, "thread %u of block %u", thread, block);
    else
        snprintf(text, sizeof text, "thread (%u, %u) of block (%u, %u)", thread % b.x, thread / b.x % b.y,
            block % g.x, block / g.x % g.y);
    return text;
}

/* ---- the engine ------------------------------------------------------------------------------------ */

void lap_cudacpu_watch_launch(const lap_cudacpu_grid *begins)
{
    if (!begins) {
        shadow_end_block();
        count_end_block();
        shadow_end_launch();
        in_kernel = false;
        counting = strict;
        return;
    }
    grid = begins;
    threads = grid->block.x * grid->block.y * grid->block.z;
    shadow_launch();
    block_number = 0;
    launch_may_take_seconds();
    in_kernel = true;
    threads = 0;
}

void lap_cudacpu_watch_block(const std::vector<lap_cudacpu_range> &shared, const lap_cudacpu_range &dynamic)
{
    busy = true;
    if (threads) {
        shadow_end_block();
        count_end_block();
    }
    threads = grid->block.x * grid->block.y * grid->block.z;
    block_number = blockIdx.x + grid->grid.x * (blockIdx.y + grid->grid.y * blockIdx.z);
    no_shared();
    for (const lap_cudacpu_range &variable : shared)
        add_shared(variable.name, variable.first, variable.bytes);
    if (dynamic.bytes)
        add_shared(dynamic.name, dynamic.first, dynamic.bytes);
    shadow_block(block_number);
    count_block(threads);
    arrivals = 0;
    memset(arrived_at, 0, sizeof arrived_at);
    busy = false;
}

void lap_cudacpu_watch_thread()
{
    calls_of[lap_cudacpu_thread].depth = 0;
    shadow_thread(lap_cudacpu_thread);
}

void lap_cudacpu_watch_arrival()
{
    busy = true;
    arrived_at[lap_cudacpu_thread] = site_of_call() + 1;
    arrivals++;
    busy = false;
}

void lap_cudacpu_watch_barrier()
{
    busy = true;
    unsigned first = 0, absent = threads, elsewhere = threads;
    while (!arrived_at[first])
        first++;
    for (unsigned i = 0; i < threads; i++) {
        if (!arrived_at[i] && absent == threads)
            absent = i;
        if (arrived_at[i] && arrived_at[i] != arrived_at[first] && elsewhere == threads)
            elsewhere = i;
    }
    const unsigned at = arrived_at[first] - 1;
    if (elsewhere < threads)
        found(BARRIER, at, thread_name(block_number, first),
            "waits here, " + thread_name(block_number, elsewhere) + " at the barrier of line " +
                std::to_string(line_of(arrived_at[elsewhere] - 1)));
    else if (absent < threads)
        found(BARRIER, at, thread_name(block_number, first),
            "waits here, but only " + std::to_string(arrivals) + " of " + std::to_string(threads) +
                " threads come: " + thread_name(block_number, absent) + " has ended without");
    count_barrier();
    memset(arrived_at, 0, sizeof arrived_at);
    arrivals = 0;
    busy = false;
}

void lap_cudacpu_watch_meeting(unsigned first, unsigned here, bool whole)
{
    if (whole)
        count_converge(first, here);
}

void lap_cudacpu_watch_shuffle(size_t bytes)
{
    if (!in_kernel || busy)
        return;
    busy = true;
    const unsigned size = (unsigned)bytes;
    count_access({nullptr, size, site_of(0, SHUFFLE, SHARED, size), lap_cudacpu_thread, SHUFFLE}, SHARED);
    busy = false;
}

void lap_cudacpu_release(void *sync)
{
    shadow_release(sync, lap_cudacpu_thread);
}

void lap_cudacpu_acquire(void *sync)
{
    shadow_acquire(sync, lap_cudacpu_thread);
}

void lap_cudacpu_give_up(const char *why)
{
    const bool barrier = strstr(why, "__syncthreads");
    busy = true;
    if (!barrier && strstr(why, "never reach"))
        why = "waits here for all lanes that its mask names, and some of them do not come";
    found(barrier ? BARRIER : strstr(why, "atomic") ? MISALIGNED : WARP, site_of_call(), me(), why);
    stop_here();
}

/* ---- what g++ -fsanitize=bounds calls -------------------------------------------------------------- */

namespace
{

struct type_descriptor {
    uint16_t kind, details;
    char name[1];
};

struct index_descriptor { /* of an index beyond its array, as g++ lays it out */
    const char *file;
    uint32_t line, column;
    const type_descriptor *array, *index;
};

} // namespace

/* Arrays of a thread are not watched: an index beyond their end is found only here. For shared arrays,
 * the access itself is found. */
extern "C" void __ubsan_handle_out_of_bounds(void *data, void *index)
{
    const auto *d = static_cast<const index_descriptor *>(data);
    if (!in_kernel || busy || !strict || !is_source(d->file))
        return;
    busy = true;
    const std::string name = array_at(d->line, d->column);
    if (!is_shared(name)) {
        const char *elements = strchr(d->array->name, '[');
        const int last_one = elements ? atoi(elements + 1) - 1 : 0;
        found(OUT_OF_BOUNDS, site_of((uintptr_t)__builtin_return_address(0), LOAD, NO_MEMORY, 0), me(),
            "takes element " + std::to_string((intptr_t)index) + " of " + name +
                ", its own array, whose elements are 0 to " + std::to_string(last_one),
            "the index, for each turn of the loop around it: which turns should not touch this array?");
    }
    busy = false;
}

/* ---- what g++ -fsanitize=thread calls -------------------------------------------------------------- */

#define CALLER __builtin_return_address(0)
#define LAP_JUDGE_SIZE(n)                   \
    void __tsan_read##n(void *a)            \
    {                                       \
        watch(a, n, LOAD, CALLER);          \
    }                                       \
    void __tsan_write##n(void *a)           \
    {                                       \
        watch(a, n, STORE, CALLER);         \
    }                                       \
    void __tsan_unaligned_read##n(void *a)  \
    {                                       \
        watch(a, n, LOAD, CALLER);          \
    }                                       \
    void __tsan_unaligned_write##n(void *a) \
    {                                       \
        watch(a, n, STORE, CALLER);         \
    }                                       \
    void __tsan_volatile_read##n(void *a)   \
    {                                       \
        watch(a, n, LOAD, CALLER);          \
    }                                       \
    void __tsan_volatile_write##n(void *a)  \
    {                                       \
        watch(a, n, STORE, CALLER);         \
    }

/* The atomic functions of tests/kernels/cudacpu read once, then repeat a compare-exchange until it succeeds:
 * only the read is counted. */
#define LAP_JUDGE_ATOMIC(bits, type)                                                                        \
    type __tsan_atomic##bits##_load(const volatile type *a, int)                                            \
    {                                                                                                       \
        watch(const_cast<type *>(a), bits / 8, ATOMIC, CALLER);                                             \
        return *a;                                                                                          \
    }                                                                                                       \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *a, type *expected, type value, int, int) \
    {                                                                                                       \
        if (*a != *expected) {                                                                              \
            *expected = *a;                                                                                 \
            return 0;                                                                                       \
        }                                                                                                   \
        *a = value;                                                                                         \
        return 1;                                                                                           \
    }

extern "C" {
LAP_JUDGE_SIZE(1)
LAP_JUDGE_SIZE(2)
LAP_JUDGE_SIZE(4)
LAP_JUDGE_SIZE(8)
LAP_JUDGE_SIZE(16)
/* Called by the C++ library, on the host. */
int __tsan_atomic32_fetch_add(volatile int *a, int value, int)
{
    return __atomic_fetch_add(a, value, __ATOMIC_SEQ_CST);
}

/* g++ calls this to check whether a static array of vectors is initialised. */
uint8_t __tsan_atomic8_load(const volatile uint8_t *a, int)
{
    return *a;
}

LAP_JUDGE_ATOMIC(32, uint32_t)
LAP_JUDGE_ATOMIC(64, uint64_t)

void __tsan_read_range(void *a, size_t bytes)
{
    watch_range(a, bytes, LOAD, CALLER);
}

void __tsan_write_range(void *a, size_t bytes)
{
    watch_range(a, bytes, STORE, CALLER);
}

void __tsan_init()
{
}

void __tsan_vptr_update(void **, void *)
{
}

void __tsan_vptr_read(void **)
{
}

void __tsan_func_entry(void *from)
{
    if (!in_kernel || busy)
        return;
    calls &c = calls_of[lap_cudacpu_thread];
    if (c.depth == MAX_DEPTH) {
        fprintf(stderr, "the judge follows %u calls within each other, no more\n", MAX_DEPTH);
        judge::give_up(2);
    }
    c.from[c.depth] = (uintptr_t)from;
    c.hash[c.depth + 1] = (c.hash[c.depth] + (uintptr_t)from) * 0x9E3779B97F4A7C15u;
    c.depth++;
}

void __tsan_func_exit()
{
    if (!in_kernel || busy)
        return;
    calls &c = calls_of[lap_cudacpu_thread];
    c.depth -= c.depth > 0;
}
}
