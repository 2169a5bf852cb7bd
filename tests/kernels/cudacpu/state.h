/* What the files of the runtime share: settings, devices, streams, memory. One lock guards all of it.
 * Every function of the API takes the lock when it is called; the work of streams is done under the lock,
 * except for host functions. */
#ifndef LAP_CUDACPU_STATE_H
#define LAP_CUDACPU_STATE_H

#include <cuda_runtime.h>

#include "control.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct lap_cudacpu_wait { /* until that stream has done this number of operations */
    std::shared_ptr<lap_cudacpu_stream> stream;
    uint64_t ticket;
};

struct lap_cudacpu_op {
    std::function<cudaError_t()> act; /* empty: only waits */
    std::vector<lap_cudacpu_wait> after;
    bool counts;  /* as work, for the faults "lost" and "hang" */
    bool on_host; /* a host function: without the lock */
};

struct lap_cudacpu_stream {
    int device;
    unsigned flags;
    uint64_t issued, done, priority;
    bool busy; /* its first operation is a host function that runs */
    std::deque<lap_cudacpu_op> queue;
};

struct lap_cudacpu_event {
    int device;
    unsigned flags;
    lap_cudacpu_wait recorded; /* stream NULL: never */
    double ms;
};

struct lap_cudacpu_device {
    cudaError_t dead; /* an error that sticks */
    bool hangs;
    double until_ms; /* then it continues, or fails with hang_error */
    size_t allocated;
    std::shared_ptr<lap_cudacpu_stream> legacy;
    std::map<const void *, size_t> dynamic_limit;
};

enum lap_cudacpu_kind { LAP_CUDACPU_PAGEABLE, LAP_CUDACPU_PINNED, LAP_CUDACPU_DEVICE, LAP_CUDACPU_BAD };

struct lap_cudacpu_memory {
    size_t bytes;
    lap_cudacpu_kind kind;
    int device;
    bool own; /* allocated here, not registered */
};

struct lap_cudacpu_settings {
    int devices = 1, sms = 2, cc = 90, driver = CUDART_VERSION;
    uint64_t seed = 0; /* of the orders of work and blocks */
    size_t shared = 227 << 10, l2 = 1 << 20, memory = (size_t)4 << 30;
    bool now = false, pageable_fails = false, registers = true;
    /* faults; a count of 0: no fault */
    std::string fail_call; /* empty: any */
    uint64_t fail_at = 0, lost_at = 0, hang_at = 0, crash_at = 0;
    int crash_signal = 0;
    cudaError_t fail_error = cudaSuccess, lost_error = cudaSuccess, hang_error = cudaSuccess;
    bool fail_sticks = false;
    double hang_ms = 0;
    std::string slow_call;
    int slow_ms = 0;
};

struct lap_cudacpu_state {
    std::mutex lock;
    std::condition_variable moved;
    lap_cudacpu_settings set;
    std::vector<lap_cudacpu_device> devices;
    std::map<lap_cudacpu_stream *, std::shared_ptr<lap_cudacpu_stream>> streams; /* that have a handle */
    std::map<lap_cudacpu_event *, std::shared_ptr<lap_cudacpu_event>> events;
    std::vector<std::shared_ptr<lap_cudacpu_stream>> queues; /* that have work, destroyed ones too */
    std::map<uintptr_t, lap_cudacpu_memory> memory;
    std::map<std::string, uint64_t> counts;
    lap_cudacpu_shape shapes[32]; /* of the last launches; launch n is at n % 32 */
    uint64_t random, work_done;
    unsigned eagerness; /* of 8 calls this number does some work of the streams */
    unsigned host_functions;
};

lap_cudacpu_state &lap_cudacpu();
extern thread_local int lap_cudacpu_current; /* device */
extern thread_local bool lap_cudacpu_in_host_function;

/* The seed of this run: LAP_CUDACPU_SEED, else a different one each time; printed once. */
uint64_t lap_cudacpu_seed();
double lap_cudacpu_ms();
/* Prints on stderr that a planted fault has occurred there. */
void lap_cudacpu_struck(const char *where);

/* Begins a function of the API: takes the lock, counts the call, and triggers a planted fault. */
struct lap_cudacpu_call {
    std::unique_lock<std::mutex> hold;
    cudaError_t error;
    /* tolerant: works on a lost device, and causes no progress */
    explicit lap_cudacpu_call(const char *name, bool tolerant = false);
    /* Ends it: remembers the error for cudaGetLastError. */
    cudaError_t operator()(cudaError_t result);
};

/* ---- memory.cpp ---------------------------------------------------------------------------------- */

/* Returns what is at the address; BAD if the bytes run past the end of an allocation. */
lap_cudacpu_memory lap_cudacpu_what_is(const void *address, size_t bytes);
/* For the address sanitizer, only the kernels of a device may access its memory. */
void lap_cudacpu_open(int device, bool open);
void lap_cudacpu_raw_copy(void *to, const void *from, size_t bytes); /* that no sanitizer watches */
void lap_cudacpu_raw_fill(void *to, int value, size_t bytes);        /* neither */
/* Returns whether these words look like addresses of the host's own memory. */
bool lap_cudacpu_holds_host_address(const std::vector<uintptr_t> &words);

/* ---- queues.cpp ---------------------------------------------------------------------------------- */

/* Returns the stream of a handle (NULL: the current device's legacy stream); nullptr if there is no such
 * stream. */
std::shared_ptr<lap_cudacpu_stream> lap_cudacpu_stream_of(cudaStream_t handle);
lap_cudacpu_wait lap_cudacpu_enqueue(
    std::unique_lock<std::mutex> &hold, const std::shared_ptr<lap_cudacpu_stream> &stream, lap_cudacpu_op op);
/* Does work until the wait is over; returns the error of a device that was lost. */
cudaError_t lap_cudacpu_finish(std::unique_lock<std::mutex> &hold, const lap_cudacpu_wait &wait);
cudaError_t lap_cudacpu_finish_device(std::unique_lock<std::mutex> &hold, int device);
/* Does one operation that may come next, if there is any. */
bool lap_cudacpu_step(std::unique_lock<std::mutex> &hold);
bool lap_cudacpu_is_over(const lap_cudacpu_wait &wait);
std::shared_ptr<lap_cudacpu_stream> lap_cudacpu_new_stream(int device, unsigned flags, uint64_t priority);

#endif
