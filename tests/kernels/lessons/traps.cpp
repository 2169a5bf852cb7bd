/* What the judge must count and find, each with a number that is known by hand. The line of a finding is that
 * of the comment FIND in the kernel. */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "judge.h"
#include "watch.h"

using judge::counts;
using judge::what;

/* ---- kernels: one warp unless they say otherwise --------------------------------------------------- */

static __global__ void nothing(float *out)
{
    if (threadIdx.x + blockIdx.x * blockDim.x > gridDim.x * 1000)
        out[0] = 0;
}

static __global__ void vectors(const float4 *in, float4 *out)
{
    out[threadIdx.x] = in[threadIdx.x];
}

static __global__ void read_only(const float *in, float *out)
{
    out[threadIdx.x] = __ldg(in + threadIdx.x) + __ldg(in + 2 * threadIdx.x);
}

static __global__ void store_then_load(float *out)
{
    out[threadIdx.x] = 1;
    out[threadIdx.x] += 1;
}

static __global__ void streamed(const uint4 *in, uint4 *out)
{
    __stcs(out + threadIdx.x, in[threadIdx.x]);
}

static __device__ float4 half_of(float4 v)
{
    return make_float4(v.x / 2, v.y / 2, v.z / 2, v.w / 2);
}

static __global__ void by_value(const float4 *in, float4 *out)
{
    out[threadIdx.x] = half_of(in[threadIdx.x]);
}

static __global__ void shared_words(float *out, int pitch)
{
    __shared__ float tile[32 * 33];
    for (int i = 0; i < 32; i++)
        tile[i * pitch + (int)threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[(int)threadIdx.x * pitch];
}

static __global__ void shared_vectors(float *out)
{
    __shared__ double eight[32];
    __shared__ float4 sixteen[32];
    eight[threadIdx.x] = 1;
    sixteen[threadIdx.x] = make_float4(1, 2, 3, 4);
    const double a = eight[threadIdx.x];
    const float4 b = sixteen[threadIdx.x];
    out[threadIdx.x] = (float)a + b.x;
}

static __global__ void dynamic_shared(float *out)
{
    LAP_DYNAMIC_SHARED(float, tile);
    tile[threadIdx.x] = 1;
    out[threadIdx.x] = tile[threadIdx.x];
}

static __global__ void atomics(unsigned *out)
{
    __shared__ unsigned count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    atomicAdd(&count, 1u);
    atomicAdd(&out[threadIdx.x], 1u);
    atomicMax(&out[0], 5u);
}

static __global__ void shuffles(float *out)
{
    float v = (float)threadIdx.x;
    v += __shfl_down_sync(~0u, v, 16);
    const double d = __shfl_xor_sync(~0u, (double)v, 1);
    out[threadIdx.x] = v + (float)d;
}

static __global__ void divergent(const float *in, float *out)
{
    float v = 0;
    for (unsigned i = 0; i < threadIdx.x % 2 + 1; i++)
        v += in[threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = v;
}

static __global__ void warp_order(float *out, bool ordered)
{
    __shared__ float tile[32];
    tile[threadIdx.x] = 1;
    if (ordered)
        __syncwarp();
    out[threadIdx.x] = tile[31 - threadIdx.x]; /* FIND 1 */
}

static __global__ void shuffle_order(float *out)
{
    __shared__ float tile[32];
    tile[threadIdx.x] = 1;
    const float v = __shfl_xor_sync(~0u, 1.0f, 1);
    out[threadIdx.x] = v + tile[31 - threadIdx.x];
}

/* 64 threads: a second write comes before a slow thread's read of the first, unless there are two barriers.
 */
static __global__ void two_barriers(float *out, bool both)
{
    __shared__ float tile[64];
    float v = 0;
    for (int i = 0; i < 3; i++) {
        tile[threadIdx.x] = (float)i; /* FIND 2 */
        __syncthreads();
        v += tile[63 - threadIdx.x];
        if (both)
            __syncthreads();
    }
    out[threadIdx.x] = v;
}

/* Two blocks. */
static __global__ void blocks(float *out)
{
    out[threadIdx.x] = 1; /* FIND 3 */
}

static __global__ void atomic_and_store(unsigned *out)
{
    if (blockIdx.x)
        atomicAdd(out, 1u);
    else if (threadIdx.x == 0)
        *out = 1; /* FIND 4 */
}

static __global__ void unwritten(const float *in, float *out)
{
    __shared__ float tile[33];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + 1]; /* FIND 5 */
}

static __global__ void unwritten_global(float *out)
{
    out[threadIdx.x] = out[threadIdx.x + 32]; /* FIND 6 */
}

static __global__ void unaligned(const float *in, float2 *out)
{
    out[threadIdx.x] = *reinterpret_cast<const float2 *>(in + threadIdx.x); /* FIND 7 */
}

static __global__ void beyond_shared(float *out)
{
    __shared__ float tile[32];
    tile[threadIdx.x + 1] = 1; /* FIND 8 */
    out[threadIdx.x] = tile[1];
}

/* 64 threads. */
static __global__ void divergent_barrier(float *out)
{
    if (threadIdx.x < 40)
        __syncthreads(); /* FIND 9 */
    out[threadIdx.x] = 1;
}

static __global__ void different_barriers(float *out)
{
    if (threadIdx.x < 40)
        __syncthreads(); /* FIND 10 */
    else
        __syncthreads(); /* FIND 10 */
    out[threadIdx.x] = 1;
}

/* Not shared, though static: nobody writes it. */
static __global__ void constant(float *out)
{
    static const float values[4] = {1, 2, 3, 4};
    out[threadIdx.x] = values[threadIdx.x % 4];
}

static __global__ void beyond_its_own(float *out)
{
    float own[2][4] = {};
    __shared__ float tile[32];
    tile[threadIdx.x] = 1;
    own[1][(int)threadIdx.x - 1] += tile[threadIdx.x]; /* FIND 11 */
    out[threadIdx.x] = own[0][0];
}

/* ---- the checks ------------------------------------------------------------------------------------ */

namespace
{

/* Not beside the kernels' shared memory, which one of them leaves. */
[[gnu::section(".data")]] int tests = 0, failures = 0;
float *in, *out;

void check(const char *name, double is, double should)
{
    const bool good = fabs(is - should) < 1e-9;
    failures += !good;
    printf("%s %d - %s: %g\n", good ? "ok" : "not ok", ++tests, name, should);
    if (!good)
        printf("# it is %g\n", is);
}

template <typename... Parameters, typename... Arguments>
void run(int threads, void (*kernel)(Parameters...), Arguments... arguments)
{
    judge::begin_counts("");
    judge::launch(dim3(1), dim3((unsigned)threads), kernel, arguments...);
}

/* Line of source with the comment FIND number. */
bool is_line(int line, int number)
{
    std::ifstream file(__FILE__);
    std::string text;
    for (int i = 0; i < line; i++)
        std::getline(file, text);
    return text.find("/* FIND " + std::to_string(number) + " ") != std::string::npos;
}

/* title: "" if nothing must be found. */
void finds(const char *name, const std::string &title, int number)
{
    const std::string found = judge::take_finding();
    bool good = found.compare(0, title.size(), title) == 0 && (found.empty() || !title.empty());
    if (good && !title.empty()) {
        int line = 0, other = 0;
        good = sscanf(found.c_str() + title.size(), "%d %d", &line, &other) > 0 &&
               (is_line(line, number) || is_line(other, number));
    }
    failures += !good;
    printf("%s %d - %s: %s\n", good ? "ok" : "not ok", ++tests, name,
        title.empty() ? "nothing is found" : title.c_str());
    if (!good)
        printf("# found: %s\n", found.c_str());
}

void global_memory()
{
    run(32, nothing, out);
    check("built-in variables: loads", judge::total(what::LOADS).requests, 0);
    run(32, vectors, (const float4 *)in, (float4 *)out);
    check("16 bytes a lane: requests", judge::total(what::LOADS).requests, 1);
    check("16 bytes a lane: sectors loaded", judge::total(what::LOADS).sectors, 16);
    check("16 bytes a lane: sectors stored", judge::total(what::STORES).sectors, 16);
    run(32, read_only, in, out);
    check("__ldg: requests", judge::total(what::LOADS).requests, 2);
    check("__ldg, every word and every second word: sectors", judge::total(what::LOADS).sectors, 4 + 8);
    run(32, store_then_load, out);
    check("a store that is loaded again: loads", judge::total(what::LOADS).requests, 1);
    check("a store that is loaded again: stores", judge::total(what::STORES).requests, 2);
    run(32, by_value, (const float4 *)in, (float4 *)out);
    check("a function that takes a vector by value: sectors loaded", judge::total(what::LOADS).sectors, 16);
    check("a function that returns a vector: sectors stored", judge::total(what::STORES).sectors, 16);
    check("a vector by value: requests",
        judge::total(what::LOADS).requests + judge::total(what::STORES).requests, 2);
    run(32, streamed, (const uint4 *)in, (uint4 *)out);
    check("__stcs of 16 bytes: requests", judge::total(what::STORES).requests, 1);
    check("__stcs of 16 bytes: what it was given is loaded", judge::total(what::LOADS).sectors, 16);
}

void shared_memory()
{
    run(32, shared_words, out, 32);
    check("a column of 32 words in rows of 32: wavefronts", judge::total(what::SHARED_LOADS).wavefronts, 32);
    check("a row of 32 words: wavefronts of 32 stores", judge::total(what::SHARED_STORES).wavefronts, 32);
    run(32, shared_words, out, 33);
    check("a column of 32 words in rows of 33: wavefronts", judge::total(what::SHARED_LOADS).wavefronts, 1);
    run(32, shared_vectors, out);
    check("8 and 16 bytes a lane, side by side: requests", judge::total(what::SHARED_LOADS).requests, 2);
    check("by halves and quarters of a warp: wavefronts", judge::total(what::SHARED_LOADS).wavefronts, 2 + 4);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    config.dynamicSmemBytes = 128;
    judge::begin_counts("");
    judge::launched(cudaLaunchKernelEx(&config, dynamic_shared, out), config.gridDim, config.blockDim);
    check("dynamic shared memory: loads", judge::total(what::SHARED_LOADS).requests, 1);
    check("dynamic shared memory: stores", judge::total(what::SHARED_STORES).requests, 1);
}

void together()
{
    run(32, atomics, (unsigned *)in);
    check("atomics of shared memory: requests", judge::total(what::SHARED_ATOMICS).requests, 1);
    check("32 lanes at one counter: wavefronts", judge::total(what::SHARED_ATOMICS).wavefronts, 32);
    check("atomics of global memory: requests", judge::total(what::ATOMICS).requests, 2);
    check("atomics of 32 words and of one: sectors", judge::total(what::ATOMICS).sectors, 4 + 1);
    check("atomics are not loads",
        judge::total(what::LOADS).requests + judge::total(what::SHARED_LOADS).requests, 0);
    run(32, shuffles, out);
    check("shuffles of 4 and of 8 bytes: requests", judge::total(what::SHUFFLES).requests, 1 + 2);
    run(32, divergent, in, out);
    check("half the lanes come twice: requests", judge::total(what::LOADS).requests, 2);
    check("half the lanes come twice: lanes", judge::total(what::LOADS).lanes, 48);
    check("after __syncwarp they are together: stores", judge::total(what::STORES).requests, 1);
}

void findings()
{
    run(32, warp_order, out, true);
    finds("__syncwarp orders lanes", "", 0);
    run(32, warp_order, out, false);
    finds("lanes without __syncwarp", "a race", 1);
    run(32, shuffle_order, out);
    finds("a shuffle orders lanes", "", 0);
    run(64, two_barriers, out, true);
    finds("a barrier before and after", "", 0);
    run(64, two_barriers, out, false);
    finds("a barrier before only", "a race", 2);
    judge::launch(dim3(2), dim3(32), blocks, out);
    finds("two blocks at the same words", "a race", 3);
    judge::launch(dim3(2), dim3(32), blocks, out + 0);
    judge::take_finding();
    run(32, atomics, (unsigned *)in);
    finds("atomic against atomic", "", 0);
    judge::launch(dim3(2), dim3(32), atomic_and_store, (unsigned *)in);
    const std::string found = judge::take_finding();
    check("atomic against store in another block is a race", found.compare(0, 6, "a race") == 0, 1);
    run(32, unwritten, in, out);
    finds("a word of the tile that nothing wrote", "a read of memory that nothing wrote", 5);
    run(32, unwritten_global, judge::blank<float>("new", 64));
    finds("global memory that nothing wrote", "a read of memory that nothing wrote", 6);
    run(32, unaligned, in, (float2 *)out);
    finds("8 bytes at an odd word", "an address that the width does not allow", 7);
    run(32, beyond_shared, out);
    finds("beyond shared memory", "an access out of bounds", 8);
    run(64, divergent_barrier, out);
    finds("a barrier for 40 of 64 threads", "a barrier that not all threads reach", 9);
    run(64, different_barriers, out);
    finds("two barriers in two branches", "a barrier that not all threads reach", 10);
    run(32, constant, out);
    finds("a constant within the kernel", "", 0);
    check("a constant within the kernel: shared loads", judge::total(what::SHARED_LOADS).requests, 0);
    run(1, beyond_its_own, out);
    finds("an index before the thread's own array", "an access out of bounds", 11);
}

} // namespace

int main()
{
    judge::begin(0, __FILE__);
    const std::vector<float> words(1024, 1);
    in = judge::given("in", words);
    out = judge::given("out", words);
    global_memory();
    shared_memory();
    together();
    findings();
    printf("1..%d\n", tests);
    return failures > 0;
}
