/* Stacks for fibers, and the switch from one to another. Compiled without the sanitizers, so that they
 * see only the kernels' accesses. */
#include "fibers.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

#include "context.h"
#include "engine.h"

struct lap_cudacpu_fiber {
    lap_cudacpu_context context;
    char *stack;
    void *fake_stack; /* of the address sanitizer */
    void *tsan;
};

namespace
{

using fiber = lap_cudacpu_fiber;

constexpr size_t STACK = 256 * 1024, STAGGER = 1216;
constexpr unsigned MAX_THREADS = LAP_CUDACPU_MAX_THREADS;

fiber home, *running; /* home: of the launching thread */
/* No containers: the thread sanitizer would take their memory functions for the kernel's. */
fiber fibers[MAX_THREADS];
fiber *idle[MAX_THREADS], *spent[MAX_THREADS];
unsigned made, idle_count, spent_count;
[[maybe_unused]] const void *home_stack;
[[maybe_unused]] size_t home_stack_size;
bool left_home;
void (*life)();

void arrived(void *fake_stack)
{
    (void)fake_stack;
#if LAP_CUDACPU_ASAN
    const void *bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(fake_stack, &bottom, &size);
    if (left_home) {
        home_stack = bottom;
        home_stack_size = size;
    }
#endif
    left_home = false;
}

void first_entry()
{
    arrived(nullptr);
    life();
}

void make_fiber()
{
    fiber *f = &fibers[made++];
    void *stack =
        mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) {
        perror("CUDA on CPU: stack of a fiber");
        abort();
    }
    f->stack = static_cast<char *>(stack);
#if LAP_CUDACPU_TSAN
    f->tsan = __tsan_create_fiber(0);
#endif
    /* Stacks start at different places in their pages, or they would evict each other from the caches. */
    const size_t shift = made * STAGGER % (STACK / 4) / 16 * 16;
    lap_cudacpu_prepare(&f->context, f->stack, STACK - shift, first_entry);
    idle[idle_count++] = f;
}

} // namespace

void lap_cudacpu_switch_to(lap_cudacpu_fiber *to)
{
    fiber *from = running;
    to = to ? to : &home;
    if (to == from)
        return;
    running = to;
#if LAP_CUDACPU_ASAN
    __sanitizer_start_switch_fiber(
        &from->fake_stack, to == &home ? home_stack : to->stack, to == &home ? home_stack_size : STACK);
#endif
#if LAP_CUDACPU_TSAN
    __tsan_switch_to_fiber(to->tsan, LAP_CUDACPU_NO_ORDER);
#endif
    lap_cudacpu_swap(&from->context, &to->context);
    arrived(from->fake_stack);
}

lap_cudacpu_fiber *lap_cudacpu_idle_fiber()
{
    if (idle_count == 0)
        make_fiber();
    return idle[--idle_count];
}

lap_cudacpu_fiber *lap_cudacpu_running_fiber()
{
    return running;
}

bool lap_cudacpu_on_stack(const void *address)
{
    return (uintptr_t)address - (uintptr_t)running->stack < STACK;
}

void lap_cudacpu_idle()
{
    idle[idle_count++] = running;
}

void lap_cudacpu_spend()
{
    spent[spent_count++] = running;
}

void lap_cudacpu_reuse_spent()
{
    while (spent_count)
        idle[idle_count++] = spent[--spent_count];
}

void lap_cudacpu_begin_fibers([[maybe_unused]] unsigned most, void (*code)())
{
    life = code;
    running = &home;
    left_home = true;
#if LAP_CUDACPU_TSAN
    home.tsan = __tsan_get_current_fiber();
    while (made < most) /* here: what makes a fiber comes before all that it does */
        make_fiber();
#endif
}
