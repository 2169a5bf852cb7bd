/* Counts exactly how many instructions a function runs: the processor stops after each instruction if its
 * trap flag is set. */
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "judge.h"

namespace judge
{

#if defined(__x86_64__)

static volatile uint64_t steps;

static void step(int)
{
    steps = steps + 1;
}

/* Pushes below the 128 bytes that a function may use without moving the stack pointer. */
static inline void trap(bool on)
{
    if (on)
        asm volatile(
            "leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp" ::
                : "cc", "memory");
    else
        asm volatile(
            "leaq -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp" ::
                : "cc", "memory");
}

static uint64_t count(void (*function)(void *), void *argument)
{
    steps = 0;
    trap(true);
    function(argument);
    trap(false);
    return steps;
}

double instructions(void (*function)(void *), void *argument)
{
    signal(SIGTRAP, step);
    const uint64_t without = count([](void *) {}, argument);
    return (double)(count(function, argument) - without);
}

bool processor_has(const char *set)
{
    __builtin_cpu_init();
    return set[0] == 's' ? __builtin_cpu_supports("sse4.1") : __builtin_cpu_supports("avx2");
}

#else

double instructions(void (*)(void *), void *)
{
    return 0;
}

bool processor_has(const char *)
{
    return false;
}

#endif

} // namespace judge
