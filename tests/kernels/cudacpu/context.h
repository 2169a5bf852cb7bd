/* A stack that can be left and resumed. On x86-64 the switch is written by hand: swapcontext asks the
 * kernel for the signal mask each time, and the address sanitizer clears the shadow of a whole stack
 * around it. */
#ifndef LAP_CUDACPU_CONTEXT_H
#define LAP_CUDACPU_CONTEXT_H

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)

struct lap_cudacpu_context {
    void *stack_pointer;
};

/* Pushes the registers that a function must keep, stores the stack pointer in *save, and resumes load. */
extern "C" void lap_cudacpu_switch(void **save, void *load);
asm(R"(
    .text
    .local lap_cudacpu_switch
    .type lap_cudacpu_switch, @function
lap_cudacpu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size lap_cudacpu_switch, . - lap_cudacpu_switch
)");

/* entry is started by the first switch, and must never return. */
static inline void lap_cudacpu_prepare(lap_cudacpu_context *c, char *stack, size_t size, void (*entry)())
{
    constexpr int SAVED = 6;
    void **top = reinterpret_cast<void **>(stack + size) - 2; /* a call leaves the stack 8 off 16 */
    top[1] = nullptr;
    top[0] = reinterpret_cast<void *>(entry);
    for (int i = 1; i <= SAVED; i++)
        top[-i] = nullptr;
    c->stack_pointer = top - SAVED;
}

static inline void lap_cudacpu_swap(lap_cudacpu_context *from, lap_cudacpu_context *to)
{
    lap_cudacpu_switch(&from->stack_pointer, to->stack_pointer);
}

#else

#include <ucontext.h>

struct lap_cudacpu_context {
    ucontext_t context;
};

static inline void lap_cudacpu_prepare(lap_cudacpu_context *c, char *stack, size_t size, void (*entry)())
{
    getcontext(&c->context);
    c->context.uc_stack.ss_sp = stack;
    c->context.uc_stack.ss_size = size;
    c->context.uc_link = nullptr;
    makecontext(&c->context, entry, 0);
}

static inline void lap_cudacpu_swap(lap_cudacpu_context *from, lap_cudacpu_context *to)
{
    swapcontext(&from->context, &to->context);
}

#endif
#endif
