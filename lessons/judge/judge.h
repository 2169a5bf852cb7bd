/* The judge's functions for a lesson's exam (lessons/judge/exam_N.cpp). An exam includes the lesson's file,
 * which is compiled for the CPU against tests/kernels/cudacpu, runs its kernel on memory made here, compares
 * bytes, and names the counts that matter. `make check-N` compiles and runs it. */
#ifndef LAP_JUDGE_H
#define LAP_JUDGE_H

#include <cuda_runtime.h>

#include <string>
#include <vector>

namespace judge
{

/* ---- memory of the device ------------------------------------------------------------------------ */

/* Allocates memory that kernels may access, 256-byte aligned, with unused room around it, so that accesses
 * out of bounds are caught. Copies `bytes` bytes from `from`; if that is null, reading a byte before a kernel
 * has written it is a finding. */
void *memory(const char *name, size_t bytes, const void *from);

template <typename T>
T *given(const char *name, const std::vector<T> &values)
{
    return static_cast<T *>(memory(name, values.size() * sizeof(T), values.data()));
}

template <typename T>
T *blank(const char *name, size_t n)
{
    return static_cast<T *>(memory(name, n * sizeof(T), nullptr));
}

/* Pixel (0, 0) begins at byte `origin`, rows at multiples of `pitch` bytes from there, both multiples of 128;
 * two pixels around the image exist, too. */
struct image {
    int width, height, channels;
    size_t pitch, origin;
    std::vector<unsigned char> bytes;
};

/* Returns the address of pixel (0, 0). Reports of accesses beyond the image name row and byte. */
unsigned char *given(const char *name, const image &p);

/* ---- running ------------------------------------------------------------------------------------- */

/* Returns whether kernels still run: after the first finding they do not. */
bool going();
void launched(cudaError_t error, dim3 grid, dim3 block);

/* Runs kernel<<<grid, block>>>(arguments...), and waits for it. */
template <typename... Parameters, typename... Arguments>
void launch(dim3 grid, dim3 block, void (*kernel)(Parameters...), Arguments... arguments)
{
    if (!going())
        return;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    cudaError_t error = cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
    launched(error ? error : cudaDeviceSynchronize(), grid, block);
}

/* Compares what a kernel wrote, rows of `width` elements, with what it should have. With three channels the
 * elements of a row are red, green and blue in turn. */
void compare(const char *what, const unsigned char *got, const std::vector<unsigned char> &expected,
    int width, int channels = 1);
void compare(const char *what, const float *got, const std::vector<float> &expected, int width);
void compare(const char *what, const unsigned *got, const std::vector<unsigned> &expected, int width);

/* ---- counts -------------------------------------------------------------------------------------- */

enum class what { LOADS, STORES, ATOMICS, SHARED_LOADS, SHARED_STORES, SHARED_ATOMICS, SHUFFLES };

struct counts { /* of all requests since the last begin_counts */
    double requests, lanes, sectors, wavefronts;
};

/* The next launch is the one whose counts are shown. */
void begin_counts(const char *of);
counts total(what w);
/* Returns the number of barriers that a block passes, on average. */
double barriers();

/* A figure to predict: the lesson's file has the line "PREDICT name: ?". kept: what the H200 counted for
 * `rung`, which is null if nothing comparable was measured. why: explains the count to students whose
 * prediction differs. */
struct figure {
    const char *name, *text;
    double counted;
    const char *rung;
    double kept;
    const char *why;
    bool given = false; /* counted for a kernel without a hole: shown even before the lesson is solved */
};
void show(const figure &f);
/* From docs/profile/gpu-counters.json: the rung's counter in that section; -1 if it is not there. */
double kept(const char *section, const char *rung, const char *counter);
/* From docs/profile/shared-waves.json: the passes that the addresses of the rung's shared loads need,
 * without the passes of other traffic through L1; -1 as above. */
double kept_passes(const char *section, const char *rung);
/* From docs/profile/sass.json: how many instructions of that kind (LDG, IADD3 ...) nvcc made for a kernel; -1
 * as above. */
double kept_instructions(const char *kernel, const char *kind);
/* A line below the figures. */
void note(const std::string &said);
/* A hint that helps to find the cause of a wrong result. */
void hint(const char *said);

/* The lesson is solved only if all goals are met and all predictions are made. */
void goal(bool met, const std::string &said);

/* ---- begin and end ------------------------------------------------------------------------------- */

void begin(int number, const char *source);
/* Prints the report and then the word of this run; returns the exit status: 0 if the lesson is solved. From
 * within a kernel, it is not. */
int end();
/* The judge cannot go on, and the caller has said why: ends with the word and this exit status, 2 or 3. */
[[noreturn]] void give_up(int status);

/* The accesses of the next launch are counted but not judged: for kernels of the ladders, whose memory is
 * not made here. */
void only_count();

/* ---- lessons for the CPU ------------------------------------------------------------------------- */

/* No kernel runs: the report does not mention threads or memory. */
void on_cpu();
/* Returns how many instructions function(argument) runs; 0 if this processor cannot count them. */
double instructions(void (*function)(void *), void *argument);
/* "sse4.1" or "avx2" */
bool processor_has(const char *set);

/* ---- images -------------------------------------------------------------------------------------- */

/* n random bytes, the same in each run. */
std::vector<unsigned char> noise(size_t n, unsigned seed);
image picture(int width, int height, int channels, unsigned seed);
/* The same without gaps between rows: a read beyond the last row's end is out of bounds. */
image picture_without_gaps(int width, int height, int channels, unsigned seed);
/* The result of the backend c with the 5x5 Laplace filter, rows without gaps. */
std::vector<unsigned char> laplace(const image &p);

} // namespace judge

#endif
