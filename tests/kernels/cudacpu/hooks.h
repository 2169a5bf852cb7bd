/* Functions that watch the kernels while they run. A program links one set of them: hooks.cpp informs the
 * sanitizers, lessons/judge/hooks.cpp counts for the judge of the lessons. The engine calls all of them
 * from the launching CPU thread, with lap_cudacpu_thread and blockIdx naming the thread that runs. */
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
/* The running thread has reached a barrier of the block; all threads that have not ended have reached
 * it. */
void lap_cudacpu_watch_arrival();
void lap_cudacpu_watch_barrier();
/* Lanes `here`, bit i for thread first + i, have met in a warp function; whole: all lanes that have not
 * ended are among them. */
void lap_cudacpu_watch_meeting(unsigned first, unsigned here, bool whole);

/* The order of events: whatever was done before a release comes before a later acquire of the same
 * object. */
void lap_cudacpu_release(void *sync);
void lap_cudacpu_acquire(void *sync);

/* Ends the program, naming the running thread. */
[[noreturn]] void lap_cudacpu_give_up(const char *why);

#endif
