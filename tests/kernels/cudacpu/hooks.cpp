/* Tells the sanitizers, which watch the kernels of the tests, which events are ordered. */
#include <cstdio>
#include <cstdlib>

#include "engine.h"
#include "sanitizers.h"

void lap_cudacpu_watch_launch(const lap_cudacpu_grid *)
{
}

void lap_cudacpu_watch_block(const std::vector<lap_cudacpu_range> &, const lap_cudacpu_range &)
{
}

void lap_cudacpu_watch_thread()
{
}

void lap_cudacpu_watch_arrival()
{
}

void lap_cudacpu_watch_barrier()
{
}

void lap_cudacpu_watch_meeting(unsigned, unsigned, bool)
{
}

void lap_cudacpu_watch_shuffle(size_t)
{
}

void lap_cudacpu_release([[maybe_unused]] void *sync)
{
#if LAP_CUDACPU_TSAN
    __tsan_release(sync);
#endif
}

void lap_cudacpu_acquire([[maybe_unused]] void *sync)
{
#if LAP_CUDACPU_TSAN
    __tsan_acquire(sync);
#endif
}

void lap_cudacpu_give_up(const char *why)
{
    fprintf(stderr, "CUDA on CPU: thread (%u, %u, %u) of block (%u, %u, %u): %s\n", threadIdx.x, threadIdx.y,
        threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z, why);
    abort();
}
