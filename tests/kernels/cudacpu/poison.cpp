/* Fills memory that was never written with a pattern that shows in results, different in each run. */
#include "engine.h"
#include "sanitizers.h"
#include "state.h"

#if LAP_CUDACPU_ASAN
/* From gcc 13 on each fiber would get a second stack for every block, which takes ten times as long as the
 * tests. */
extern "C" const char *__asan_default_options()
{
    return "detect_stack_use_after_return=0";
}
#endif

uint64_t lap_cudacpu_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint32_t lap_cudacpu_poison_word()
{
    static const uint32_t word = [] {
        uint64_t state = lap_cudacpu_seed();
        const uint64_t r = lap_cudacpu_random(&state);
        return (uint32_t)(r & 0x800fffff) | 0x7ff00001u; /* sign and low bits as they come */
    }();
    return word;
}

/* A loop instead of memcpy: see below. */
__attribute__((no_sanitize("address"))) void lap_cudacpu_raw_copy(void *to, const void *from, size_t bytes)
{
#if defined(__x86_64__)
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
    auto *t = static_cast<volatile char *>(to);
    for (auto *f = static_cast<const volatile char *>(from); bytes; bytes--)
        *t++ = *f++;
#endif
}

/* By one instruction: what copies a block to one byte further on takes a cycle or more for each byte. */
__attribute__((no_sanitize("address"))) void lap_cudacpu_raw_fill(void *to, int value, size_t bytes)
{
#if defined(__x86_64__)
    asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
#else
    for (auto *t = static_cast<volatile char *>(to); bytes; bytes--)
        *t++ = (char)value;
#endif
}

/* A loop instead of memset, which the address sanitizer watches: this memory may be inaccessible. */
void lap_cudacpu_poison(void *memory, size_t bytes)
{
    uint32_t word = lap_cudacpu_poison_word();
    auto *to = static_cast<char *>(memory);
#if defined(__x86_64__)
    size_t words = bytes / 4;
    asm volatile("rep stosl" : "+D"(to), "+c"(words) : "a"(word) : "memory");
#else
    for (; bytes >= 4; bytes -= 4, to += 4)
        lap_cudacpu_raw_copy(to, &word, 4);
#endif
    lap_cudacpu_raw_copy(to, &word, bytes % 4);
}
