/* Each feature that an instruction set's files are compiled with is asked for: hidden, nothing of that set
 * runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_simd/cpu.h"
#include "cpu_simd/peak/peak.h"
#include "jpeg/ladders.h"
#include "lapedge_program.h"

typedef const char *(*asked)(void);

#if defined(__x86_64__)
/* What __builtin_cpu_supports reads, in the compiler's library: bits 0 .. 31 and 32 .. 63 of the features. */
extern struct {
    unsigned vendor, type, subtype, features;
} __cpu_model;
extern unsigned __cpu_features2[];

static void set_features(uint64_t features)
{
    __cpu_model.features = (unsigned)features;
    __cpu_features2[0] = (unsigned)(features >> 32);
}

typedef struct feature {
    const char *word, *name; /* in LAP_CPU_MASK, and in the reason */
    int bit;                 /* -1: it is asked for elsewhere */
} feature;
#define SSE41                \
    {                        \
        "sse41", "SSE4.1", 7 \
    }
#define BITS                 \
    {"bmi", "BMI1", 16},     \
    {                        \
        "lzcnt", "LZCNT", -1 \
    }
#define AVX2               \
    {"avx2", "AVX2", 10},  \
    {                      \
        "bmi2", "BMI2", 17 \
    }
#define AVX512                                                                               \
    {"avx512", "AVX-512", -1}, {"avx512f", "AVX-512 F", 15}, {"avx512bw", "AVX-512 BW", 21}, \
        {"avx512vl", "AVX-512 VL", 20}, {"avx512dq", "AVX-512 DQ", 22},                      \
    {                                                                                        \
        "bmi2", "BMI2", 17                                                                   \
    }
#define MORE512                                                         \
    {"avx512cd", "AVX-512 CD", 23}, {"avx512vbmi", "AVX-512 VBMI", 26}, \
        {"avx512vbmi2", "AVX-512 VBMI2", 31},                           \
    {                                                                   \
        "avx512vnni", "AVX-512 VNNI", 34                                \
    }
enum { MOST = 12 };

/* A processor that has all features, one that lacks each in turn, and each hidden in turn. */
static void each_feature_is_asked_for(void **state)
{
    static const struct {
        asked no;
        feature needs[MOST];
    } sets[] = {{lap_cpu_no_sse41, {SSE41}}, {lap_cpu_no_avx2, {AVX2}}, {lap_cpu_no_avx2_bits, {AVX2, BITS}},
        {lap_cpu_no_avx512, {AVX512}}, {lap_cpu_no_avx512vbmi2, {AVX512, MORE512, BITS}}};
    const uint64_t own = __cpu_model.features | (uint64_t)__cpu_features2[0] << 32;
    char expected[80];
    (void)state;
    unsetenv("LAP_CPU_MASK");
    if (lap_cpu_no_avx2_bits() && !strstr(lap_cpu_no_avx2_bits(), "AVX2"))
        skip(); /* LZCNT is asked for in another way */
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        set_features(UINT64_MAX);
        assert_null(sets[i].no());
        for (const feature *f = sets[i].needs; f < sets[i].needs + MOST && f->word; f++) {
            setenv("LAP_CPU_MASK", f->word, 1);
            snprintf(expected, sizeof expected, "%s is hidden by LAP_CPU_MASK", f->name);
            assert_string_equal(sets[i].no(), expected);
            unsetenv("LAP_CPU_MASK");
            if (f->bit < 0)
                continue;
            set_features(~((uint64_t)1 << f->bit));
            snprintf(expected, sizeof expected, "this processor has no %s", f->name);
            assert_string_equal(sets[i].no(), expected);
            set_features(UINT64_MAX);
        }
        for (const char *others = "sse5,avx,neon,avx512er,,avx5122"; *others; others++) {
            setenv("LAP_CPU_MASK", others, 1); /* ends of it, too: those name nothing, either */
            assert_null(sets[i].no());
        }
        unsetenv("LAP_CPU_MASK");
    }
    set_features(~((uint64_t)1 << 14));
    assert_string_equal(lap_cpu_no_fma(), "this processor has no fused multiply-add");
    set_features((uint64_t)1 << 14);
    assert_null(lap_cpu_no_fma());
    set_features(own);
}
#else
static void each_feature_is_asked_for(void **state)
{
    (void)state;
    assert_non_null(lap_cpu_no_avx2());
}
#endif

/* Any order, empty words, and the word that is not known, with its length. */
static void words_that_are_not_known(void **state)
{
    static const struct {
        const char *mask, *unknown; /* NULL: all are known */
    } cases[] = {{"", NULL}, {",", NULL}, {"avx2", NULL}, {"sse41,,scatter,", NULL},
        {"avx512vnni,neon", NULL}, {"avx", "avx"}, {"avx22", "avx22"}, {"bmi,bmi3,x", "bmi3"},
        {"avx512v", "avx512v"}, {",,y", "y"}, {"avx2 ", "avx2 "}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = 99;
        setenv("LAP_CPU_MASK", cases[i].mask, 1);
        const char *word = lap_cpu_mask_unknown(&length);
        assert_int_equal(word != NULL, cases[i].unknown != NULL);
        if (word) {
            assert_int_equal(length, strlen(cases[i].unknown));
            assert_memory_equal(word, cases[i].unknown, length);
        }
    }
    unsetenv("LAP_CPU_MASK");
    size_t length;
    assert_null(lap_cpu_mask_unknown(&length));
}

/* The fastest that can run is chosen; a named one that cannot is refused. */
static void choice(void **state)
{
    const lap_coder *coder;
    lap_error err;
    (void)state;
    setenv("LAP_CPU_MASK", "avx512,avx2,neon", 1);
    assert_int_equal(lap_coders_choose(&lap_encoders, LAP_CODEC_AUTO, &coder, &err), LAP_OK);
    assert_string_equal(coder->name, "turbo");
    assert_int_equal(lap_coders_choose(&lap_encoders, LAP_CODEC_C, &coder, &err), LAP_OK);
    assert_string_equal(coder->name, "c");
    assert_int_equal(lap_coders_choose(&lap_encoders, LAP_CODEC_AVX512, &coder, &err), LAP_E_BACKEND);
    assert_non_null(strstr(err.message, "codec 'avx512' cannot run here"));
    assert_int_equal(lap_coders_choose(&lap_encoders, LAP_CODEC_AVX2, &coder, &err), LAP_E_BACKEND);
    unsetenv("LAP_CPU_MASK");
    if (!lap_cpu_no_avx2_bits()) {
        setenv("LAP_CPU_MASK", "avx512vnni", 1);
        assert_int_equal(lap_coders_choose(&lap_encoders, LAP_CODEC_CPU, &coder, &err), LAP_OK);
        assert_string_equal(coder->name, "avx2");
        unsetenv("LAP_CPU_MASK");
    }
}

/* Each chain goes from a little above 1 to 1; a vector has a chain in each lane. */
static void peaks(void **state)
{
    static const struct {
        lap_peak_fn *peak;
        asked no, no_more;
        int lanes;
    } all[] = {
        {lap_peak_c, lap_cpu_no_sse2, lap_cpu_no_sse2, 1},
#if defined(__x86_64__)
        {lap_peak_sse41, lap_cpu_no_sse41, lap_cpu_no_sse41, 4},
        {lap_peak_avx2, lap_cpu_no_avx2, lap_cpu_no_fma, 8},
        {lap_peak_avx512, lap_cpu_no_avx512, lap_cpu_no_avx512, 16},
#endif
    };
    (void)state;
    unsetenv("LAP_CPU_MASK");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (i > 0 && (all[i].no() || all[i].no_more()))
            continue;
        float starts = 0, halves = 0;
        for (int chain = 1; chain <= LAP_PEAK_CHAINS; chain++) {
            starts += 1 + 0.01F * (float)chain;
            halves += 1 + 0.005F * (float)chain;
        }
        assert_float_equal(all[i].peak(0), starts * (float)all[i].lanes, 1e-2);
        assert_float_equal(all[i].peak(1), halves * (float)all[i].lanes, 1e-2);
        assert_float_equal(all[i].peak(100), LAP_PEAK_CHAINS * all[i].lanes, 1e-2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_feature_is_asked_for),
        cmocka_unit_test(words_that_are_not_known), cmocka_unit_test(choice), cmocka_unit_test(peaks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
