/* Macros for the rows of the ladders' tables: they tell where a rung runs, and what its row contains in a
 * build without the rung. `ladder` is the member of lap_rung.run; the compiler flags of a host rung are
 * declared with its function, as FUNCTION_flags. */
#ifndef LAP_TABLE_H
#define LAP_TABLE_H

#include "cpu_simd/cpu.h"
#include "cpu_simd/host_rungs.h"
#include "cuda/device/device_rungs.h"
#include "rungs/backend.h"

#define LAP_ON_HOST_CPU(ladder, function) .flags = function##_flags, .run.ladder = function

/* Other processors do not compile these files; `missing` then returns the reason. */
#if defined(__x86_64__)
#define LAP_ON_X86(ladder, function, missing) .available = missing, LAP_ON_HOST_CPU(ladder, function)
#else
#define LAP_ON_X86(ladder, function, missing) .available = missing
#endif

#if LAP_HAVE_OPENMP
#define LAP_ON_OPENMP(ladder, function) .threading = LAP_THREADS_OWN, LAP_ON_HOST_CPU(ladder, function)
#else
#define LAP_ON_OPENMP(ladder, function) .threading = LAP_THREADS_OWN, .available = lap_no_openmp
static inline const char *lap_no_openmp(void)
{
    return "not built: lapedge was compiled without OpenMP";
}
#endif

#if defined(__aarch64__)
#define LAP_ON_ARM(ladder, function) .available = lap_cpu_no_neon, LAP_ON_HOST_CPU(ladder, function)
#else
#define LAP_ON_ARM(ladder, function) .available = lap_cpu_no_neon
#endif

/* In a build without CUDA, cuda/device/none.c defines lap_cuda_unavailable. */
#if LAP_HAVE_CUDA
#define LAP_ON_CUDA(ladder, function) .device = 1, .available = lap_cuda_unavailable, .run.ladder = function
#define LAP_IF_CUDA(function) function
#else
#define LAP_IF_CUDA(function) NULL
#define LAP_ON_CUDA(ladder, function) .device = 1, .available = lap_cuda_unavailable
#endif

#endif
