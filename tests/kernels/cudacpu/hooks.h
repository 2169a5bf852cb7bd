/* What watches the kernels while they run. A program links one set: hooks.cpp tells the sanitizers, the judge
 * of the lessons (lessons/judge/hooks.cpp) counts. The engine calls all of them from the launching CPU
 * thread, with lap_cudacpu_thread and blockIdx naming the thread that runs. */
#ifndef LAP_CUDACPU_HOOKS_H
#define LAP_CUDACPU_HOOKS_H

#include <vector>

struct lap_cudacpu_grid;
struct lap_cudacpu_range;

/* A launch begins; nullptr: it is over. */
void lap_cudacpu_watch_launch(const lap_cudacpu_grid *grid);
/* A block begins, with this shared memory; its first bytes are those of the kernel's own variables. */
void lap_cudacpu_watch_block(const std::vector<lap_cudacpu_range> &shared, const lap_cudacpu_range &dynamic);
/* The running thread begins its kernel. */
void lap_cudacpu_watch_thread();
/* The running thread has come to a barrier of the block; all that are left have. */
void lap_cudacpu_watch_arrival();
void lap_cudacpu_watch_barrier();
/* Lanes `here`, bit i for thread first + i, have met in a warp function; whole: no living lane is missing. */
void lap_cudacpu_watch_meeting(unsigned first, unsigned here, bool whole);

/* What comes before what: all that was done before a release, for those that acquire the same later. */
void lap_cudacpu_release(void *sync);
void lap_cudacpu_acquire(void *sync);

/* Ends the program, naming the running thread. */
[[noreturn]] void lap_cudacpu_give_up(const char *why);

#endif
