/* The threads of one block, as fibers of the launching CPU thread. Inside this folder only.
 *
 * One kernel runs at a time (kernels keep shared memory in static variables), in one CPU thread, so
 * nothing here is locked. A thread of the block runs until it must wait for others; then another thread
 * continues. If no thread can continue and some still wait, a GPU would hang: that is reported. */
#ifndef LAP_CUDACPU_ENGINE_H
#define LAP_CUDACPU_ENGINE_H

#include <cuda_runtime.h>

#include <string>
#include <vector>

constexpr unsigned LAP_CUDACPU_MAX_THREADS = 1024, LAP_CUDACPU_LANES = 32;

struct lap_cudacpu_range {
    char *first;
    size_t bytes;
    std::string name; /* of a variable */
};

struct lap_cudacpu_grid {
    const void *kernel;
    dim3 grid, block;
    size_t dynamic_bytes;
    void (*body)(void *);
    void *argument;
    size_t argument_bytes;
    uint64_t seed; /* draws the order of blocks, warps and lanes */
};

/* Runs all threads of all blocks; returns when the last thread has ended. One call at a time. */
void lap_cudacpu_run(const lap_cudacpu_grid &grid);

/* A step of splitmix64. */
uint64_t lap_cudacpu_random(uint64_t *state);

/* ---- waiting (threads.cpp) ----------------------------------------------------------------------- */

/* The running thread waits until wake is called with its number; why says what it waits for. */
void lap_cudacpu_park(const char *why);
void lap_cudacpu_wake(unsigned thread);
/* Lets other threads that can continue do so first. */
void lap_cudacpu_yield();

/* ---- warps (warps.cpp) --------------------------------------------------------------------------- */

void lap_cudacpu_warps_start(unsigned threads);
void lap_cudacpu_warps_leave();             /* the running thread has ended */
void lap_cudacpu_warps_idle(unsigned warp); /* no lane of it can continue */

/* ---- uninitialised memory (poison.cpp) ----------------------------------------------------------- */

/* The 32-bit pattern that fills it: a NaN as a float, and, repeated, as a double; different in each
 * run. */
uint32_t lap_cudacpu_poison_word();
void lap_cudacpu_poison(void *memory, size_t bytes);
/* The __shared__ variables of a kernel (shared.cpp). */
const std::vector<lap_cudacpu_range> &lap_cudacpu_shared_of(const void *kernel);

#include "hooks.h"

#endif
