/* Device memory that is kept: used again, but never while queued work can still use it; bounded, and given
 * back when memory is short and in the end. */
#include "there.h"

#include "cuda/device/queue.h"
#include "tests/kernels/cudacpu/control.h"

enum { BYTES = 20000, CYCLES = 500, BLOCKS = 64, COPIES = 1000 };

static void *take(int device, size_t bytes)
{
    void *memory;
    need(lap_cuda_kept_alloc(device, bytes, &memory, &err) == LAP_OK, "memory");
    return memory;
}

static void check_again(void)
{
    char text[120];
    for (int i = 0; i < 2 * BLOCKS; i++)
        lap_cuda_kept_free(0, take(0, BYTES), BYTES);
    const uint64_t allocations = lap_cudacpu_count("allocations"), syncs = lap_cudacpu_count("device syncs");
    for (int i = 0; i < CYCLES; i++) /* sizes that differ a little */
        lap_cuda_kept_free(0, take(0, BYTES + (size_t)i % 300), BYTES + (size_t)i % 300);
    const int made = (int)(lap_cudacpu_count("allocations") - allocations),
              waits = (int)(lap_cudacpu_count("device syncs") - syncs);
    snprintf(text, sizeof text, "%d blocks: %d allocations, %d waits for the device", CYCLES, made, waits);
    check(made == 0 && waits > 0 && waits <= CYCLES / 30, text);
}

/* Another library has queued copies to a block on its own stream, and gives the block back. */
static void check_order(void)
{
    void *stream, *own, *pattern, *block = take(0, BYTES), *again = NULL;
    uint8_t seen[BYTES];
    int wrong = 0, i = 0;
    need(lap_cuda_stream_create(0, &stream, &err) == LAP_OK &&
             lap_cuda_stream_create(0, &own, &err) == LAP_OK &&
             lap_cuda_pinned_alloc(0, BYTES, &pattern, &err) == LAP_OK,
        "streams");
    memset(pattern, 0x5A, BYTES);
    for (int k = 0; k < COPIES; k++) /* so many that they are not done by chance */
        need(lap_cuda_copy(0, block, pattern, BYTES, stream, &err) == LAP_OK, "a copy");
    lap_cuda_kept_free(0, block, BYTES);
    void *taken[4 * BLOCKS];
    for (; i < 4 * BLOCKS && again != block; i++) {
        taken[i] = again = take(0, BYTES);
        if (again != block && i % 2)
            lap_cuda_kept_free(0, again, BYTES);
    }
    check(again == block, "memory that was given back is used again");
    for (int k = 0; k < 2; k++) { /* before and after the other stream is waited for */
        need((k || lap_cuda_clear(0, block, BYTES, own, &err) == LAP_OK) &&
                 lap_cuda_copy(0, seen, block, BYTES, own, &err) == LAP_OK &&
                 lap_cuda_sync(0, own, &err) == LAP_OK && lap_cuda_sync(0, stream, &err) == LAP_OK,
            "a copy back");
        for (int b = 0; b < BYTES; b++)
            wrong += seen[b] != 0;
    }
    check(wrong == 0, "but not before work that another stream had queued is done");
    for (int k = 0; k < i; k++)
        if (k % 2 == 0 || taken[k] == block)
            lap_cuda_kept_free(0, taken[k], BYTES);
    lap_cuda_pinned_free(pattern);
    lap_cuda_stream_destroy(0, own);
    lap_cuda_stream_destroy(0, stream);
}

/* A device of 1 MB, of which 64 KB may be kept. */
static void check_bounds(void)
{
    const size_t whole = (size_t)1 << 20, most = whole / 16;
    const uint64_t before = lap_cudacpu_alive();
    void *memory;
    need(lap_cudacpu_configure("devices=2,memory=1M") == 0, "a small device");
    for (size_t bytes = 1000; bytes < 2 * most; bytes += 1000)
        lap_cuda_kept_free(1, take(1, bytes), bytes);
    check(lap_cuda_alloc(1, whole - most, &memory, &err) == LAP_OK, "no more is kept than a sixteenth");
    check(lap_cudacpu_alive() > before + 1, "but some is");
    lap_cuda_free(1, memory);
    check(lap_cuda_alloc(1, whole - most / 8, &memory, &err) == LAP_OK && lap_cudacpu_alive() == before + 1,
        "none, if memory is short");
    lap_cuda_free(1, memory);
    check(!lap_cuda_kept_empty(1) && lap_cuda_alloc(1, whole + 1, &memory, &err) == LAP_E_MEMORY,
        "nothing is left to give back, and more than there is fails");
}

/* A wait for the device that fails, and an allocation that fails. */
static void check_faults(void)
{
    void *memory[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        memory[i] = take(0, BYTES);
    for (int i = 0; i < BLOCKS; i++)
        lap_cuda_kept_free(0, memory[i], BYTES);
    need(lap_cudacpu_configure("devices=2,fail=cudaDeviceSynchronize:1:700") == 0, "a fault");
    void *other = take(0, BYTES);
    int used = 0;
    for (int i = 0; i < BLOCKS; i++)
        used += memory[i] == other && lap_cudacpu_count("cudaMalloc") == 0;
    check(used == 0, "a wait that fails makes no block free");
    lap_cuda_kept_free(0, other, BYTES);
    need(lap_cudacpu_configure("devices=2,fail=cudaMalloc:1:2") == 0, "a fault");
    other = take(0, 7 * BYTES);
    check(
        lap_cudacpu_count("cudaMalloc") == 2, "an allocation that fails is tried again without what is kept");
    lap_cuda_kept_free(0, other, 7 * BYTES);
}

int main(void)
{
    need(lap_cudacpu_configure("devices=2") == 0 && lap_cuda_count(NULL) == 2, "devices");
    const uint64_t before = lap_cudacpu_alive();
    lap_cuda_kept_begin();
    lap_cuda_kept_begin();
    check_again();
    check_order();
    check_faults();
    check_bounds();
    lap_cuda_kept_end();
    lap_cuda_kept_free(0, take(0, BYTES), BYTES);
    check(lap_cudacpu_alive() > before, "memory is kept while somebody may use it");
    lap_cuda_kept_end();
    check(lap_cudacpu_alive() == before, "and given back in the end");
    printf("1..%d\n", number);
    return failures > 0;
}
