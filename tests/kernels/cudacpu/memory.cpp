/* Memory of devices and pinned memory. Both are filled with poison; device memory is accessible only
 * while a kernel of its device runs, so the address sanitizer reports all other accesses. */
#include <cstdlib>

#include "engine.h"
#include "sanitizers.h"
#include "state.h"

static void shut([[maybe_unused]] uintptr_t at, [[maybe_unused]] size_t bytes)
{
#if LAP_CUDACPU_ASAN
    __asan_poison_memory_region(reinterpret_cast<void *>(at), bytes);
#endif
}

static void unshut([[maybe_unused]] uintptr_t at, [[maybe_unused]] size_t bytes)
{
#if LAP_CUDACPU_ASAN
    __asan_unpoison_memory_region(reinterpret_cast<void *>(at), bytes);
#endif
}

void lap_cudacpu_open(int device, bool open)
{
    for (const auto &m : lap_cudacpu().memory)
        if (m.second.kind == LAP_CUDACPU_DEVICE && m.second.device == device)
            (open ? unshut : shut)(m.first, m.second.bytes);
}

lap_cudacpu_memory lap_cudacpu_what_is(const void *address, size_t bytes)
{
    const auto at = reinterpret_cast<uintptr_t>(address);
    const std::map<uintptr_t, lap_cudacpu_memory> &all = lap_cudacpu().memory;
    auto next = all.upper_bound(at);
    if (next != all.begin()) {
        auto m = std::prev(next);
        const size_t offset = at - m->first;
        if (offset < m->second.bytes) {
            lap_cudacpu_memory found = m->second;
            if (bytes > found.bytes - offset)
                found.kind = LAP_CUDACPU_BAD;
            return found;
        }
    }
    if (next != all.end() && next->second.kind == LAP_CUDACPU_DEVICE && next->first - at < bytes)
        return {bytes, LAP_CUDACPU_BAD, -1, false};
    return {bytes, LAP_CUDACPU_PAGEABLE, -1, false};
}

#if LAP_CUDACPU_ASAN
static bool is_host_address(uintptr_t word)
{
    char name[8];
    void *region;
    size_t size;
    if (word < 4096 || word >> 47 || lap_cudacpu_what_is(reinterpret_cast<void *>(word), 1).kind)
        return false;
#if defined(__x86_64__)
    /* The sanitizer's own: two small numbers side by side look so, and to search all globals for each takes
     * long. */
    if (word >= 0x7fff8000 && word < 0x10007fff8000)
        return false;
#endif
    const char *place =
        __asan_locate_address(reinterpret_cast<void *>(word), name, sizeof name, &region, &size);
    return place && (!strcmp(place, "stack") || !strcmp(place, "heap") || !strcmp(place, "global")) &&
           !__asan_address_is_poisoned(reinterpret_cast<void *>(word));
}
#endif

bool lap_cudacpu_holds_host_address([[maybe_unused]] const std::vector<uintptr_t> &words)
{
#if LAP_CUDACPU_ASAN
    return std::any_of(words.begin(), words.end(), is_host_address);
#else
    return false;
#endif
}

/* ---- allocation ------------------------------------------------------------------------------------ */

static cudaError_t allocate(void **memory, size_t bytes, lap_cudacpu_kind kind)
{
    lap_cudacpu_state &s = lap_cudacpu();
    lap_cudacpu_device &d = s.devices[(size_t)lap_cudacpu_current];
    *memory = nullptr;
    if (bytes == 0)
        return cudaSuccess;
    if (kind == LAP_CUDACPU_DEVICE && (bytes > s.set.memory || d.allocated > s.set.memory - bytes)) {
        lap_cudacpu_struck("cudaMalloc");
        return cudaErrorMemoryAllocation;
    }
    if (posix_memalign(memory, 256, bytes))
        return cudaErrorMemoryAllocation;
    lap_cudacpu_poison(*memory, bytes);
    const auto at = reinterpret_cast<uintptr_t>(*memory);
    s.memory[at] = {bytes, kind, lap_cudacpu_current, true};
    s.counts[kind == LAP_CUDACPU_DEVICE ? "allocations" : "pinnings"]++;
    if (kind == LAP_CUDACPU_DEVICE) {
        d.allocated += bytes;
        shut(at, bytes);
    }
    return cudaSuccess;
}

/* Waits for the device, as CUDA does. If a planted failure occurs, the memory is still freed: the memory
 * of a lost device is gone with it. */
static cudaError_t release(lap_cudacpu_call &call, void *memory, lap_cudacpu_kind kind, bool own)
{
    lap_cudacpu_state &s = lap_cudacpu();
    const auto at = reinterpret_cast<uintptr_t>(memory);
    if (!memory)
        return call.error;
    auto found = s.memory.find(at);
    if (found == s.memory.end() || found->second.kind != kind || found->second.own != own)
        return call(call.error ? call.error : own ? cudaErrorInvalidValue : cudaErrorHostMemoryNotRegistered);
    const lap_cudacpu_memory m = found->second;
    cudaError_t error = call.error;
    s.counts["device syncs"] += own;
    if (!error && m.device < s.set.devices)
        error = lap_cudacpu_finish_device(call.hold, m.device);
    s.memory.erase(at);
    if (kind == LAP_CUDACPU_DEVICE) {
        s.devices[(size_t)m.device].allocated -= m.bytes;
        unshut(at, m.bytes);
    }
    if (own)
        free(memory);
    return call(error);
}

cudaError_t lap_cudacpu_malloc(void **memory, size_t bytes)
{
    lap_cudacpu_call call("cudaMalloc");
    return call.error ? call.error : call(allocate(memory, bytes, LAP_CUDACPU_DEVICE));
}

cudaError_t cudaFree(void *memory)
{
    lap_cudacpu_call call(__func__);
    return release(call, memory, LAP_CUDACPU_DEVICE, true);
}

cudaError_t lap_cudacpu_malloc_host(const char *name, void **memory, size_t bytes)
{
    lap_cudacpu_call call(name);
    return call.error ? call.error : call(allocate(memory, bytes, LAP_CUDACPU_PINNED));
}

cudaError_t cudaFreeHost(void *memory)
{
    lap_cudacpu_call call(__func__);
    return release(call, memory, LAP_CUDACPU_PINNED, true);
}

cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned)
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    if (!lap_cudacpu().set.registers)
        return call(cudaErrorNotSupported);
    if (!memory || bytes == 0)
        return call(cudaErrorInvalidValue);
    if (lap_cudacpu_what_is(memory, bytes).kind != LAP_CUDACPU_PAGEABLE)
        return call(cudaErrorHostMemoryAlreadyRegistered);
    lap_cudacpu().memory[reinterpret_cast<uintptr_t>(memory)] = {
        bytes, LAP_CUDACPU_PINNED, lap_cudacpu_current, false};
    lap_cudacpu().counts["pinnings"]++;
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *memory)
{
    lap_cudacpu_call call(__func__);
    return release(call, memory, LAP_CUDACPU_PINNED, false);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned)
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    *device = host;
    return call(
        lap_cudacpu_what_is(host, 1).kind == LAP_CUDACPU_PINNED ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer)
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    const lap_cudacpu_memory m = lap_cudacpu_what_is(pointer, 1);
    const bool on_device = m.kind == LAP_CUDACPU_DEVICE, pinned = m.kind == LAP_CUDACPU_PINNED;
    auto *address = const_cast<void *>(pointer);
    attributes->type = on_device ? cudaMemoryTypeDevice
                       : pinned  ? cudaMemoryTypeHost
                                 : cudaMemoryTypeUnregistered;
    attributes->device = m.device;
    attributes->devicePointer = on_device || pinned ? address : nullptr;
    attributes->hostPointer = on_device ? nullptr : address;
    return cudaSuccess;
}
