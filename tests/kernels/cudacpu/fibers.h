/* Stacks for fibers. Only one CPU thread at a time uses them. */
#ifndef LAP_CUDACPU_FIBERS_H
#define LAP_CUDACPU_FIBERS_H

#include "sanitizers.h"

/* Whether a fiber runs at most one thread of a block. */
constexpr bool LAP_CUDACPU_OWN_FIBERS = LAP_CUDACPU_TSAN;

struct lap_cudacpu_fiber;

/* Before the first switch: code, which never returns, is what all fibers run. */
void lap_cudacpu_begin_fibers(unsigned most, void (*code)());
lap_cudacpu_fiber *lap_cudacpu_running_fiber();
lap_cudacpu_fiber *lap_cudacpu_idle_fiber();
/* Returns whether the address is on the stack of the running fiber. */
bool lap_cudacpu_on_stack(const void *address);
/* Continues there, and returns when a fiber switches back; nullptr: the launching thread. */
void lap_cudacpu_switch_to(lap_cudacpu_fiber *to);
/* The running fiber, about to leave: may be taken again at once, or only after reuse_spent. */
void lap_cudacpu_idle();
void lap_cudacpu_spend();
void lap_cudacpu_reuse_spent();

#endif
