#include "cpu.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__aarch64__)

static bool masked(const char *set)
{
    const char *mask = getenv("LAP_CPU_MASK");
    const size_t size = strlen(set);
    while (mask && *mask) {
        size_t n = strcspn(mask, ",");
        if (n == size && strncmp(mask, set, n) == 0)
            return true;
        mask += n + (mask[n] == ',');
    }
    return false;
}

#endif

const char *lap_cpu_no_neon(void)
{
#if defined(__aarch64__)
    return masked("neon") ? "NEON is hidden by LAP_CPU_MASK" : NULL;
#else
    return "not built: lapedge was compiled for another processor than aarch64";
#endif
}

#if defined(__x86_64__)

const char *lap_cpu_no_sse2(void)
{
    return NULL;
}

/* __builtin_cpu_supports asks the operating system too: registers that it does not save do not count. */
const char *lap_cpu_no_sse41(void)
{
    if (masked("sse41"))
        return "SSE4.1 is hidden by LAP_CPU_MASK";
    return __builtin_cpu_supports("sse4.1") ? NULL : "this processor has no SSE4.1";
}

const char *lap_cpu_no_avx2(void)
{
    if (masked("avx2"))
        return "AVX2 is hidden by LAP_CPU_MASK";
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") ? NULL
                                                                            : "this processor has no AVX2";
}

const char *lap_cpu_no_fma(void)
{
    return __builtin_cpu_supports("fma") ? NULL : "this processor has no fused multiply-add";
}

const char *lap_cpu_no_avx512(void)
{
    if (masked("avx512"))
        return "AVX-512 is hidden by LAP_CPU_MASK";
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("bmi2")
               ? NULL
               : "this processor has no AVX-512 (F, BW, VL, DQ)";
}

const char *lap_cpu_no_avx2_bits(void)
{
    const char *reason = lap_cpu_no_avx2();
    if (reason)
        return reason;
    return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("lzcnt")
               ? NULL
               : "this processor has no BMI1 or no LZCNT";
}

const char *lap_cpu_no_avx512vbmi2(void)
{
    const char *reason = lap_cpu_no_avx512();
    if (!reason)
        reason = lap_cpu_no_avx2_bits();
    if (!reason && masked("avx512vbmi2"))
        reason = "AVX-512 VBMI2 is hidden by LAP_CPU_MASK";
    if (reason)
        return reason;
    return __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vbmi") &&
                   __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vnni")
               ? NULL
               : "this processor has no AVX-512 with CD, VBMI, VBMI2 and VNNI";
}

#else

static const char not_built[] = "not built: lapedge was compiled for another processor than x86-64";

const char *lap_cpu_no_sse2(void)
{
    return not_built;
}

const char *lap_cpu_no_sse41(void)
{
    return not_built;
}

const char *lap_cpu_no_avx2(void)
{
    return not_built;
}

const char *lap_cpu_no_fma(void)
{
    return not_built;
}

const char *lap_cpu_no_avx512(void)
{
    return not_built;
}

const char *lap_cpu_no_avx2_bits(void)
{
    return not_built;
}

const char *lap_cpu_no_avx512vbmi2(void)
{
    return not_built;
}

#endif
