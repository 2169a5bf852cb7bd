#include "jpeg/encode_ladder.h"

#include "base/status.h"
#include "cpu_simd/cpu.h"
#include "libjpeg/known_picture.h"

static const char *always(void)
{
    return NULL;
}

/* On other processors these files are not compiled; `missing` says so. */
#if defined(__x86_64__)
#define ON_X86(missing, function) .available = missing, .run = function, .flags = function##_flags
#else
#define ON_X86(missing, function) .available = missing
#endif

#if defined(__aarch64__)
#define ON_ARM(missing, function) .available = missing, .run = function, .flags = function##_flags
#else
#define ON_ARM(missing, function) .available = missing
#endif

/* In order of speed, but for c, which is there to be read: it is slower than libjpeg-turbo's vectors. */
static const lap_coder ladder[] = {
    {.name = "turbo", .codec = LAP_CODEC_TURBO, .what = "libjpeg-turbo: the reference", .available = always},
    {.name = "c",
        .codec = LAP_CODEC_C,
        .what = "plain C, each stage a function",
        .available = always,
        .run = lap_encode_c,
        .flags = lap_encode_c_flags},
    {.name = "neon",
        .codec = LAP_CODEC_NEON,
        .what = "the same on aarch64",
        ON_ARM(lap_cpu_no_neon, lap_encode_neon)},
    {.name = "avx2",
        .codec = LAP_CODEC_AVX2,
        .what = "256-bit vectors, a flat stream of symbols, one table entry for each",
        ON_X86(lap_cpu_no_avx2_bits, lap_encode_avx2)},
    {.name = "avx512",
        .codec = LAP_CODEC_AVX512,
        .what = "512-bit vectors, codes looked up by permutations, symbols merged in 64-bit lanes",
        ON_X86(lap_cpu_no_avx512vbmi2, lap_encode_avx512)},
};
enum { ROWS = sizeof ladder / sizeof *ladder };

const lap_coder *lap_encoder_row(int i)
{
    return i >= 0 && i < ROWS ? &ladder[i] : NULL;
}

const char *lap_encoder_missing(const lap_coder *coder)
{
    const char *reason = coder->available();
    return reason || !coder->run ? reason : lap_known_encoding_differs();
}

static const lap_coder *fastest(void)
{
    for (int i = ROWS - 1; i > 0; i--)
        if (ladder[i].codec != LAP_CODEC_C && !lap_encoder_missing(&ladder[i]))
            return &ladder[i];
    return &ladder[0];
}

lap_code lap_encoder_choose(lap_codec_place codec, const lap_coder **coder, lap_error *err)
{
    for (int i = 0; i < ROWS; i++)
        if (ladder[i].codec == codec) {
            const char *reason = lap_encoder_missing(&ladder[i]);
            *coder = &ladder[i];
            return reason ? lap_fail(
                                err, LAP_E_BACKEND, "codec '%s' cannot run here: %s", ladder[i].name, reason)
                          : LAP_OK;
        }
    *coder = fastest();
    return LAP_OK;
}
