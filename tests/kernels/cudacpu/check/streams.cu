/* Checks of streams, events, devices, pinned and pageable memory. */
#include <atomic>
#include <cstring>
#include <thread>

#include "check.h"

namespace
{

constexpr int N = 64;

__global__ void fill(int *out, int value)
{
    out[threadIdx.x] = value;
}

__global__ void add(const int *in, int *out, int value)
{
    out[threadIdx.x] = in[threadIdx.x] + value;
}

/* What the tests below need; always released at the end. */
struct setup {
    cudaStream_t a = nullptr, b = nullptr;
    cudaEvent_t event = nullptr;
    int *x = nullptr, *y = nullptr, *pinned = nullptr;
    bool ok;

    explicit setup(unsigned flags = cudaStreamNonBlocking)
    {
        ok = !cudaStreamCreateWithFlags(&a, flags) && !cudaStreamCreateWithFlags(&b, flags) &&
             !cudaEventCreateWithFlags(&event, cudaEventDisableTiming) && !cudaMalloc(&x, N * sizeof(int)) &&
             !cudaMalloc(&y, N * sizeof(int)) && !cudaMallocHost(&pinned, N * sizeof(int));
        for (int i = 0; i < N && ok; i++)
            pinned[i] = i;
    }

    ~setup()
    {
        cudaFree(x);
        cudaFree(y);
        cudaFreeHost(pinned);
        cudaEventDestroy(event);
        cudaStreamDestroy(a);
        cudaStreamDestroy(b);
    }

    bool holds(int first, int step) const
    {
        bool all = ok;
        for (int i = 0; i < N; i++)
            all = all && pinned[i] == first + step * i;
        return all;
    }
};

/* Uploads on one stream and downloads on another; the fault: nothing orders the two. */
bool across(bool waits)
{
    setup s;
    constexpr size_t bytes = N * sizeof(int);
    s.ok = s.ok && !cudaMemsetAsync(s.y, 0, bytes, s.b) && !cudaStreamSynchronize(s.b) &&
           !cudaMemcpyAsync(s.x, s.pinned, bytes, cudaMemcpyHostToDevice, s.a) &&
           !start(1, N, 0, s.a, add, s.x, s.y, 7) && !cudaEventRecord(s.event, s.a) &&
           (!waits || !cudaStreamWaitEvent(s.b, s.event, 0)) &&
           !cudaMemcpyAsync(s.pinned, s.y, bytes, cudaMemcpyDeviceToHost, s.b) && !cudaStreamSynchronize(s.b);
    return s.holds(7, 1);
}

/* The fault: the result is read before it has arrived. */
bool read_back(bool waits)
{
    setup s;
    s.ok = s.ok && !start(1, N, 0, s.a, fill, s.x, 3) &&
           !cudaMemcpyAsync(s.pinned, s.x, N * sizeof(int), cudaMemcpyDeviceToHost, s.a) &&
           (!waits || !cudaStreamSynchronize(s.a));
    return s.holds(3, 0);
}

/* The fault: a pinned buffer is reused while it is still being read. */
bool reused(bool waits)
{
    setup s;
    constexpr size_t bytes = N * sizeof(int);
    s.ok = s.ok && !cudaMemcpyAsync(s.x, s.pinned, bytes, cudaMemcpyHostToDevice, s.a) &&
           !cudaEventRecord(s.event, s.a) && (!waits || !cudaEventSynchronize(s.event));
    memset(s.pinned, 0, bytes);
    s.ok = s.ok && !cudaMemcpyAsync(s.pinned, s.x, bytes, cudaMemcpyDeviceToHost, s.a) &&
           !cudaStreamSynchronize(s.a);
    return s.holds(0, 1);
}

/* The legacy stream is ordered with a stream only if that is not "non-blocking". */
bool through_legacy(unsigned flags)
{
    setup s(flags);
    constexpr size_t bytes = N * sizeof(int);
    s.ok = s.ok && !cudaMemset(s.y, 0, bytes) && !cudaDeviceSynchronize() &&
           !start(1, N, 0, s.a, fill, s.x, 3) && !start(1, N, 0, nullptr, add, s.x, s.y, 4) &&
           !cudaMemcpyAsync(s.pinned, s.y, bytes, cudaMemcpyDeviceToHost, s.b) && !cudaStreamSynchronize(s.b);
    return s.holds(7, 0);
}

/* A host thread that waits for a host function, and calls nothing. */
bool host_function()
{
    setup s;
    std::atomic<int> seen{0};
    struct message {
        std::atomic<int> *to;
        const int *from;
    } m = {&seen, s.pinned};
    s.ok = s.ok && !start(1, N, 0, s.a, fill, s.x, 3) &&
           !cudaMemcpyAsync(s.pinned, s.x, N * sizeof(int), cudaMemcpyDeviceToHost, s.a) &&
           !cudaLaunchHostFunc(
               s.a,
               [](void *argument) {
                   auto *to = static_cast<message *>(argument);
                   int count;
                   const bool refused = cudaGetDeviceCount(&count) == cudaErrorNotPermitted;
                   *to->to = refused ? to->from[N - 1] : -1;
               },
               &m);
    for (int i = 0; i < 20000 && !seen && s.ok; i++)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    cudaGetLastError();
    return seen == 3;
}

/* ---- devices --------------------------------------------------------------------------------------- */

void check_devices()
{
    begin("devices=2", 1);
    setup s; /* of device 0 */
    int count = 0, device = -1, *z = nullptr;
    cudaEvent_t other = nullptr;
    bool first = s.ok && !start(1, N, 0, s.a, fill, s.x, 1);
    bool ok = !cudaGetDeviceCount(&count) && count == 2 && !cudaSetDevice(1) && !cudaGetDevice(&device) &&
              device == 1 && cudaSetDevice(2) == cudaErrorInvalidDevice;
    std::thread([&] { ok = ok && !cudaGetDevice(&device) && device == 0; }).join();
    report(ok, "two devices; each host thread has its current one");
    ok = first && start(1, N, 0, s.a, fill, s.x, 1) == cudaErrorInvalidResourceHandle &&
         cudaMemsetAsync(s.x, 0, 4, s.a) == cudaErrorInvalidResourceHandle;
    report(ok, "a stream of another device is refused");
    ok = cudaEventRecord(s.event, nullptr) == cudaErrorInvalidResourceHandle && !cudaEventCreate(&other) &&
         cudaEventRecord(other, s.a) == cudaErrorInvalidResourceHandle && !cudaEventRecord(other, nullptr) &&
         !cudaStreamWaitEvent(s.a, other, 0) && !cudaEventSynchronize(other);
    report(ok, "an event is recorded on its own device only, and waited for anywhere");
    ok = !cudaMalloc(&z, N * sizeof(int)) && !cudaMemcpyPeerAsync(z, 1, s.x, 0, N * sizeof(int), nullptr) &&
         cudaMemcpyPeerAsync(z, 0, s.x, 0, 4, nullptr) == cudaErrorInvalidValue && !cudaDeviceSynchronize();
    cudaPointerAttributes at;
    ok = ok && !cudaPointerGetAttributes(&at, z) && at.type == cudaMemoryTypeDevice && at.device == 1 &&
         !cudaPointerGetAttributes(&at, s.x) && at.device == 0;
    report(ok, "memory belongs to a device");
    const void *kernel = (const void *)fill;
    ok = !cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 << 10) &&
         start(1, N, 60 << 10, nullptr, fill, z, 1) == cudaSuccess && !cudaSetDevice(0) &&
         start(1, N, 60 << 10, nullptr, fill, s.x, 1) == cudaErrorInvalidValue;
    report(ok, "shared memory asked for on one device is not there on the other");
    cudaSetDevice(1);
    cudaFree(z);
    cudaEventDestroy(other);
    cudaSetDevice(0);
    cudaGetLastError();
}

/* ---- memory of the host ---------------------------------------------------------------------------- */

struct padded {
    const int *pointer;
    int number; /* then 4 bytes of padding */
};

/* An int and the padding after it must not be taken for an address. */
bool padding_is_cleared()
{
    static int table[1];
    const int *const bytes[2] = {table, table};
    padded value;
    memcpy(reinterpret_cast<char *>(&value), bytes, sizeof value);
    int number = -1;
    const std::vector<uintptr_t> words = lap_cudacpu_words(value, number);
    return words == std::vector<uintptr_t>{
                        reinterpret_cast<uintptr_t>(table), static_cast<unsigned>(value.number), 0xffffffffu};
}

void check_host_memory()
{
    static int pageable[N];
    begin("", 1);
    setup s;
    constexpr size_t bytes = N * sizeof(int);
    bool ok = s.ok && !cudaMemcpyAsync(s.x, s.pinned, bytes, cudaMemcpyDefault, s.a) &&
              !cudaMemcpyAsync(s.pinned, s.x, bytes, cudaMemcpyDefault, s.a) &&
              lap_cudacpu_count("pageable copies") == 0 &&
              !cudaMemcpyAsync(s.x, pageable, bytes, cudaMemcpyDefault, s.a) &&
              lap_cudacpu_count("pageable copies") == 1 &&
              !cudaHostRegister(pageable, sizeof pageable, cudaHostRegisterDefault) &&
              !cudaMemcpyAsync(s.x, pageable, bytes, cudaMemcpyDefault, s.a) &&
              lap_cudacpu_count("pageable copies") == 1 && lap_cudacpu_count("pinnings") == 2 &&
              !cudaHostUnregister(pageable) && cudaHostUnregister(pageable) && !cudaStreamSynchronize(s.a);
    report(ok, "asynchronous copies from pageable memory are counted");
    ok = cudaMemcpyAsync(s.x, s.pinned, bytes, cudaMemcpyDeviceToHost, s.a) ==
             cudaErrorInvalidMemcpyDirection &&
         cudaMemcpyAsync(s.x, s.pinned, bytes + 1, cudaMemcpyDefault, s.a) == cudaErrorInvalidValue &&
         cudaMemcpyAsync(s.x + 1, s.pinned, bytes, cudaMemcpyDefault, s.a) == cudaErrorInvalidValue &&
         cudaMemset(s.x + 1, 0, bytes) == cudaErrorInvalidValue;
    report(ok, "copies in the wrong direction or past an allocation are refused");
    begin("pageable=error", 1);
    report(cudaMemcpyAsync(s.x, pageable, bytes, cudaMemcpyDefault, s.a) == cudaErrorNotSupported &&
               !cudaMemcpyAsync(s.x, s.pinned, bytes, cudaMemcpyDefault, s.a) && !cudaStreamSynchronize(s.a),
        "or fail, where a test wants that");
    cudaGetLastError();
    const uint64_t syncs = lap_cudacpu_count("device syncs");
    int *more = nullptr;
    report(!cudaMalloc(&more, 4) && lap_cudacpu_count("allocations") == 1 && !cudaFree(more) &&
               lap_cudacpu_count("device syncs") == syncs + 1 && !start(1, N, 0, s.a, fill, s.x, 3) &&
               lap_cudacpu_count("launches") == 1 && lap_cudacpu_count("cudaLaunchKernel") == 1,
        "allocations, launches and waits for the whole device are counted");
}

} // namespace

void check_streams()
{
    report(in_orders("", [] { return across(true); }) == ORDERS, "a stream that waits for an event");
    const int wrong = ORDERS - in_orders("", [] { return across(false); });
    report(wrong > 0 && wrong < ORDERS, "a missing wait between streams is seen, in some orders");
    report(in_orders("", [] { return read_back(true); }) == ORDERS, "a result read after it was waited for");
    report(in_orders("", [] { return read_back(false); }) < ORDERS, "a result read too early is seen");
    report(in_orders("", [] { return reused(true); }) == ORDERS, "pinned memory used again after its event");
    report(
        in_orders("", [] { return reused(false); }) < ORDERS, "pinned memory used again too early is seen");
    report(in_orders("order=now", [] { return across(false); }) == ORDERS,
        "order=now: everything at once, and such faults hide");
    report(in_orders("", [] { return through_legacy(cudaStreamDefault); }) == ORDERS,
        "the legacy stream waits for blocking streams, and they for it");
    report(in_orders("", [] { return through_legacy(cudaStreamNonBlocking); }) < ORDERS,
        "non-blocking streams and the legacy stream do not wait for each other");
    begin("", 1);
    report(host_function(), "a host function runs though nobody calls, and may not call CUDA");
    check_devices();
    report(padding_is_cleared(), "no address is seen in the padding of a kernel's arguments");
    check_host_memory();
}
