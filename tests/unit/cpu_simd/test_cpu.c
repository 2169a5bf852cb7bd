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
#include "jpeg/ladders.h"

typedef const char *(*asked)(void);

/* words: a comma list, each of which alone must be the reason. */
static void each_is_asked_for(asked no, const char *words)
{
    char word[32];
    unsetenv("LAP_CPU_MASK");
    if (no())
        skip();
    for (; *words; words += strcspn(words, ",") + (words[strcspn(words, ",")] == ',')) {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(words, ","), words);
        setenv("LAP_CPU_MASK", word, 1);
        const char *reason = no();
        if (!reason || !strstr(reason, "hidden by LAP_CPU_MASK"))
            fail_msg("%s is hidden, and the answer is %s", word, reason ? reason : "that all is there");
    }
    setenv("LAP_CPU_MASK", "sse5,other", 1);
    assert_null(no());
    unsetenv("LAP_CPU_MASK");
}

static void avx2(void **state)
{
    (void)state;
    each_is_asked_for(lap_cpu_no_avx2, "avx2,bmi2");
    each_is_asked_for(lap_cpu_no_avx2_bits, "avx2,bmi2,bmi,lzcnt");
}

static void avx512(void **state)
{
    (void)state;
    each_is_asked_for(lap_cpu_no_avx512, "avx512,avx512f,avx512bw,avx512vl,avx512dq,bmi2");
}

static void avx512vbmi2(void **state)
{
    (void)state;
    each_is_asked_for(lap_cpu_no_avx512vbmi2, "avx512,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512vbmi,"
                                              "avx512vbmi2,avx512vnni,bmi,bmi2,lzcnt");
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(avx2), cmocka_unit_test(avx512),
        cmocka_unit_test(avx512vbmi2), cmocka_unit_test(choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
