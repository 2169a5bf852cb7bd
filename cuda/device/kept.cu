/* Memory of destroyed views, kept for the next views.
 *
 * cudaMalloc and cudaFree of a large picture take longer than the device needs to decode it, and cudaFree
 * waits for all work of the device. But that wait is what makes cudaFree safe: other libraries may have
 * queued work that uses the memory on streams that this library does not know, and they free the memory
 * before that work is done. Neither an event nor a stream-ordered pool (cudaMallocAsync) knows these streams.
 * So a freed block is reused only after a cudaDeviceSynchronize that began after it was freed, which waits
 * for the same work as cudaFree. One wait is enough for many blocks: a thread waits only if SETTLED_AT
 * blocks, or a quarter of the memory that may be kept, have been freed since the last wait. While it waits,
 * other threads reuse idle blocks or allocate new ones. */
#include <pthread.h>

#include "base/status.h"
#include "launch.cuh"

enum { BLOCKS = 256, SETTLED_AT = 32, DEVICES = 64 };
constexpr size_t SMALLEST = 512, LARGEST = (size_t)4 << 30;
constexpr size_t SHARE = 16; /* at most 1 / SHARE of the device's memory is kept */

struct block {
    void *memory;
    size_t bytes;
    int device;
    bool is_idle; /* no queued work can still use it */
    unsigned long long freed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all of these: */
static block blocks[BLOCKS];                             /* oldest first */
static int count, users;
static bool is_settling;
static unsigned long long frees;
static size_t limits[DEVICES]; /* 0: not known yet */

/* Adds at most a sixteenth (of more than 8 KB), so that pictures of about the same size use the same blocks.
 * The result must depend only on bytes, because a block is freed by the size that was allocated. */
static size_t rounded(size_t bytes)
{
    size_t step = SMALLEST;
    if (bytes > LARGEST)
        return bytes;
    while (bytes > 32 * step)
        step *= 2;
    return (bytes + step - 1) / step * step;
}

/* Returns how many bytes of a device's memory may be kept. */
static size_t limit_of(int device)
{
    size_t unused = 0, total = 0;
    if (device < 0 || device >= DEVICES)
        return 0;
    pthread_mutex_lock(&lock);
    size_t limit = limits[device];
    pthread_mutex_unlock(&lock);
    if (limit || lap_cuda_use(device, NULL) || LAP_CUDA(cudaMemGetInfo(&unused, &total), NULL))
        return limit;
    limit = total / SHARE;
    pthread_mutex_lock(&lock);
    limits[device] = limit;
    pthread_mutex_unlock(&lock);
    return limit;
}

static block removed(int i)
{
    const block taken = blocks[i];
    count--;
    for (; i < count; i++)
        blocks[i] = blocks[i + 1];
    return taken;
}

/* ---- taking -------------------------------------------------------------------------------------- */

static void *take(int device, size_t bytes)
{
    void *memory = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count && !memory; i++)
        if (blocks[i].is_idle && blocks[i].device == device && blocks[i].bytes == bytes)
            memory = removed(i).memory;
    pthread_mutex_unlock(&lock);
    return memory;
}

/* Returns whether so much has been freed since the last wait that another wait is due. */
static bool is_due(int device, size_t limit)
{
    size_t bytes = 0;
    int busy = 0;
    for (int i = 0; i < count; i++)
        if (blocks[i].device == device && !blocks[i].is_idle) {
            bytes += blocks[i].bytes;
            busy++;
        }
    return !is_settling && (busy >= SETTLED_AT || (busy > 0 && bytes >= limit / 4));
}

/* Waits for the device if that is due, then marks the blocks that were freed before as idle. If the wait
 * fails, they do not become idle, and the next CUDA call reports the error. */
static void settle(int device)
{
    const size_t limit = limit_of(device);
    pthread_mutex_lock(&lock);
    const bool waits = is_due(device, limit);
    const unsigned long long until = frees;
    is_settling = is_settling || waits;
    pthread_mutex_unlock(&lock);
    if (!waits)
        return;
    const bool done = !lap_cuda_use(device, NULL) && !LAP_CUDA(cudaDeviceSynchronize(), NULL);
    pthread_mutex_lock(&lock);
    is_settling = false;
    for (int i = 0; i < count && done; i++)
        if (blocks[i].device == device && blocks[i].freed <= until)
            blocks[i].is_idle = true;
    pthread_mutex_unlock(&lock);
}

extern "C" lap_code lap_cuda_kept_alloc(int device, size_t bytes, void **memory, lap_error *err)
{
    *memory = NULL;
    if (lap_cuda_unavailable()) /* in a forked child, the lock may be held for ever */
        return lap_cuda_use(device, err);
    settle(device);
    *memory = take(device, rounded(bytes));
    return *memory ? LAP_OK : lap_cuda_alloc(device, rounded(bytes), memory, err);
}

/* ---- giving back --------------------------------------------------------------------------------- */

/* Removes the oldest block of a device (-1: of any device) from the list and returns it. Returns a block
 * without memory if the list holds none. */
static block oldest(int device)
{
    for (int i = 0; i < count; i++)
        if (device < 0 || blocks[i].device == device)
            return removed(i);
    return {};
}

static size_t bytes_of(int device)
{
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += blocks[i].device == device ? blocks[i].bytes : 0;
    return bytes;
}

/* Adds a block if there is room; if not, sets *older to a block that was removed to make room. */
static bool add(const block &b, size_t limit, block *older)
{
    pthread_mutex_lock(&lock);
    const bool has_room = count < BLOCKS && bytes_of(b.device) + b.bytes <= limit;
    if (has_room) {
        blocks[count] = b;
        blocks[count++].freed = ++frees;
    } else {
        *older = oldest(count < BLOCKS ? b.device : -1);
    }
    pthread_mutex_unlock(&lock);
    return has_room;
}

extern "C" void lap_cuda_kept_free(int device, void *memory, size_t bytes)
{
    if (!memory || lap_cuda_unavailable())
        return;
    const block b = {memory, rounded(bytes), device, false, 0};
    const size_t limit = limit_of(device);
    if (b.bytes > LARGEST || b.bytes > limit) {
        lap_cuda_free(device, memory);
        return;
    }
    for (block older = {}; !add(b, limit, &older);)
        lap_cuda_free(older.device, older.memory);
}

extern "C" bool lap_cuda_kept_empty(int device)
{
    for (bool found = false;; found = true) {
        pthread_mutex_lock(&lock);
        const block b = oldest(device);
        pthread_mutex_unlock(&lock);
        if (!b.memory)
            return found;
        lap_cuda_free(b.device, b.memory);
    }
}

extern "C" void lap_cuda_kept_begin(void)
{
    pthread_mutex_lock(&lock);
    users++;
    pthread_mutex_unlock(&lock);
}

extern "C" void lap_cuda_kept_end(void)
{
    if (lap_cuda_unavailable())
        return;
    pthread_mutex_lock(&lock);
    const bool is_last = --users == 0;
    pthread_mutex_unlock(&lock);
    if (is_last)
        (void)lap_cuda_kept_empty(-1);
}
