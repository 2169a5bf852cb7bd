/* Copies many pictures' bytes and tables from the host, and each picture's result back to the host, with
 * one launch each way; copies would take three calls for each picture. Reads each byte once from pinned
 * host memory, writes it once; a result is 20 bytes per picture.
 * Shared memory: none; lanes pass on what their neighbours need by shuffles.
 * 256 threads, 16 bytes per thread and step; few blocks per picture. */
#include "decode.cuh"

constexpr unsigned UPLOAD_THREADS = 256, UPLOAD_BLOCKS = 8, VECTOR = 16, OWN = LAP_WARP - 1;

struct vector {
    unsigned long long low, high;
};

/* Loads an aligned vector; its bytes before `from` and after `end` are not read. */
LAP_DEVICE vector load_vector(const uint8_t *aligned, const uint8_t *from, const uint8_t *end)
{
    vector v = {0, 0};
    if (aligned >= from && aligned + VECTOR <= end) {
        const ulonglong2 both = *reinterpret_cast<const ulonglong2 *>(aligned);
        return {both.x, both.y};
    }
#pragma unroll 1
    for (unsigned i = 0; i < VECTOR; i++) {
        const unsigned long long byte = aligned + i >= from && aligned + i < end ? aligned[i] : 0;
        (i < 8 ? v.low : v.high) |= byte << (i % 8 * 8);
    }
    return v;
}

/* Returns the 16 bytes that begin `bytes` bytes (fewer than 16) after the start of a. */
LAP_DEVICE ulonglong2 shifted(vector a, vector b, unsigned bytes)
{
    if (bytes >= 8) {
        a = {a.high, b.low};
        b = {b.high, 0};
        bytes -= 8;
    }
    if (bytes == 0)
        return make_ulonglong2(a.low, a.high);
    const unsigned right = 8 * bytes, left = 64 - right;
    return make_ulonglong2(a.low >> right | a.high << left, a.high >> right | b.low << left);
}

/* Copies `size` bytes from any address to an aligned one, which is followed by room for a whole vector. A
 * warp loads 32 vectors and stores 31: the last one is only the neighbour of the one before. */
LAP_DEVICE void bring(uint8_t *to, const uint8_t *from, unsigned size)
{
    const unsigned lane = threadIdx.x % LAP_WARP, warps = gridDim.x * UPLOAD_THREADS / LAP_WARP;
    const unsigned shift = (unsigned)((uintptr_t)from % VECTOR);
    const unsigned count = (size + VECTOR - 1) / VECTOR;
    for (unsigned first = (blockIdx.x * UPLOAD_THREADS + threadIdx.x) / LAP_WARP * OWN; first < count;
         first += warps * OWN) {
        const unsigned i = first + lane;
        const vector mine = load_vector(from - shift + (size_t)i * VECTOR, from, from + size);
        const vector next = {
            __shfl_down_sync(LAP_ALL_LANES, mine.low, 1), __shfl_down_sync(LAP_ALL_LANES, mine.high, 1)};
        if (lane < OWN && i < count)
            reinterpret_cast<ulonglong2 *>(to)[i] = shifted(mine, next, shift);
    }
}

static __global__ void __launch_bounds__(UPLOAD_THREADS)
    upload_kernel(const __grid_constant__ lap_jpeg_job_many photos)
{
    const lap_jpeg_job &job = lap_jpeg_photo(photos, blockIdx.y);
    bring(const_cast<uint8_t *>(job.bytes), job.host_scan, job.size);
    bring(reinterpret_cast<uint8_t *>(job.tables), job.host_staging, job.staging_size);
}

static __global__ void __launch_bounds__(UPLOAD_THREADS)
    results_kernel(const __grid_constant__ lap_jpeg_job_many photos, unsigned count)
{
    constexpr unsigned WORDS = sizeof(lap_cuda_jpeg_result) / sizeof(unsigned);
    const unsigned at = blockIdx.x * UPLOAD_THREADS + threadIdx.x;
    if (at >= count * WORDS)
        return;
    const lap_jpeg_job &job = lap_jpeg_photo(photos, at / WORDS);
    reinterpret_cast<unsigned *>(job.host_result)[at % WORDS] =
        reinterpret_cast<const unsigned *>(&job.tables->control)[at % WORDS];
}

lap_code lap_jpeg_run_upload(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run)
{
    const unsigned most = lap_jpeg_most(
        jobs, [](const lap_jpeg_job &job) { return lap_blocks(job.size, UPLOAD_THREADS * VECTOR); });
    const lap_launch launch = lap_jpeg_launch(jobs, run, min(most, UPLOAD_BLOCKS), UPLOAD_THREADS);
    return LAP_LAUNCH(launch, upload_kernel, lap_jpeg_job_many{jobs.there});
}

lap_code lap_jpeg_run_results(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run)
{
    lap_launch launch = lap_jpeg_launch(jobs, run, 1, UPLOAD_THREADS);
    launch.grid =
        dim3(lap_blocks(jobs.count * sizeof(lap_cuda_jpeg_result) / sizeof(unsigned), UPLOAD_THREADS));
    return LAP_LAUNCH(launch, results_kernel, lap_jpeg_job_many{jobs.there}, jobs.count);
}
