#include "cpu.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "lapedge_program.h"

const char *lap_cpu_mask_unknown(size_t *length)
{
    static const char *const known[] = {"sse41", "avx2", "avx512", "neon", "bmi", "bmi2", "lzcnt", "avx512f",
        "avx512bw", "avx512vl", "avx512dq", "avx512cd", "avx512vbmi", "avx512vbmi2", "avx512vnni", "scatter"};
    for (const char *word = getenv("LAP_CPU_MASK"); word && *word; word += *length + (word[*length] == ',')) {
        *length = strcspn(word, ",");
        bool is_known = *length == 0;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known = is_known || (strlen(known[i]) == *length && strncmp(word, known[i], *length) == 0);
        if (!is_known)
            return word;
    }
    return NULL;
}

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

/* Returns from the function with the reason if a feature is masked or missing. __builtin_cpu_supports also
 * checks that the operating system saves the registers. */
#define NEED(word, has, name)                         \
    do {                                              \
        if (masked(word))                             \
            return name " is hidden by LAP_CPU_MASK"; \
        if (!(has))                                   \
            return "this processor has no " name;     \
    } while (0)
#define NEED_FEATURE(word, name) NEED(word, __builtin_cpu_supports(word), name)

static pthread_once_t lzcnt_once = PTHREAD_ONCE_INIT;
static bool lzcnt;

static void ask_lzcnt(void)
{
    unsigned a, b, c, d;
    lzcnt = __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & 1u << 5);
}

/* Not every compiler knows the name lzcnt. The result is cached: in a virtual machine cpuid takes
 * microseconds, and lapedge asks for each file to choose its coders. */
static bool has_lzcnt(void)
{
    pthread_once(&lzcnt_once, ask_lzcnt);
    return lzcnt;
}

const char *lap_cpu_no_sse2(void)
{
    return NULL;
}

const char *lap_cpu_no_sse41(void)
{
    NEED("sse41", __builtin_cpu_supports("sse4.1"), "SSE4.1");
    return NULL;
}

const char *lap_cpu_no_avx2(void)
{
    NEED_FEATURE("avx2", "AVX2");
    NEED_FEATURE("bmi2", "BMI2");
    return NULL;
}

const char *lap_cpu_no_fma(void)
{
    return __builtin_cpu_supports("fma") ? NULL : "this processor has no fused multiply-add";
}

const char *lap_cpu_no_avx512(void)
{
    NEED("avx512", true, "AVX-512");
    NEED_FEATURE("avx512f", "AVX-512 F");
    NEED_FEATURE("avx512bw", "AVX-512 BW");
    NEED_FEATURE("avx512vl", "AVX-512 VL");
    NEED_FEATURE("avx512dq", "AVX-512 DQ");
    NEED_FEATURE("bmi2", "BMI2");
    return NULL;
}

const char *lap_cpu_no_avx2_bits(void)
{
    const char *reason = lap_cpu_no_avx2();
    if (reason)
        return reason;
    NEED_FEATURE("bmi", "BMI1");
    NEED("lzcnt", has_lzcnt(), "LZCNT");
    return NULL;
}

const char *lap_cpu_no_avx512vbmi2(void)
{
    const char *reason = lap_cpu_no_avx512();
    if (reason)
        return reason;
    NEED_FEATURE("avx512cd", "AVX-512 CD");
    NEED_FEATURE("avx512vbmi", "AVX-512 VBMI");
    NEED_FEATURE("avx512vbmi2", "AVX-512 VBMI2");
    NEED_FEATURE("avx512vnni", "AVX-512 VNNI");
    NEED_FEATURE("bmi", "BMI1");
    NEED("lzcnt", has_lzcnt(), "LZCNT");
    return NULL;
}

/* Processors on which the encoder is faster with scatter instructions: docs/bench/encoder-xeon.json. */
typedef struct scatterer {
    const char *vendor; /* as cpuid returns it, in three registers */
    unsigned family, model;
} scatterer;

static const scatterer scatterers[] = {
    {"GenuineIntel", 6, 143}, /* Sapphire Rapids: the same cores as Emerald Rapids */
    {"GenuineIntel", 6, 207}, /* Emerald Rapids: measured */
};

static pthread_once_t scatters_once = PTHREAD_ONCE_INIT;
static bool scatters;

static void ask_scatters(void)
{
    unsigned a, b, c, d, vendor[3];
    if (!__get_cpuid(0, &a, &vendor[0], &vendor[2], &vendor[1]) || !__get_cpuid(1, &a, &b, &c, &d))
        return;
    const unsigned base = a >> 8 & 15, family = base == 15 ? base + (a >> 20 & 255) : base;
    const unsigned model = (a >> 4 & 15) | (a >> 12 & 0xF0);
    for (size_t i = 0; i < sizeof scatterers / sizeof *scatterers; i++)
        if (memcmp(vendor, scatterers[i].vendor, sizeof vendor) == 0 && family == scatterers[i].family &&
            model == scatterers[i].model)
            scatters = !masked("scatter");
}

bool lap_cpu_scatters(void)
{
    pthread_once(&scatters_once, ask_scatters);
    return scatters;
}

#else

bool lap_cpu_scatters(void)
{
    return false;
}

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
