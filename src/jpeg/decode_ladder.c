#include "jpeg/decode_ladder.h"

#include "base/status.h"
#include "cpu_simd/cpu.h"
#include "libjpeg/known_picture.h"

static const char *always(void)
{
    return NULL;
}

/* On other processors these files are not compiled; `missing` says so. */
#if defined(__x86_64__)
#define ON_X86(missing, table) .available = missing, .stages = &table
#else
#define ON_X86(missing, table) .available = missing
#endif

#if defined(__aarch64__)
#define ON_ARM(missing, table) .available = missing, .stages = &table
#else
#define ON_ARM(missing, table) .available = missing
#endif

/* In order of speed, but for c, which is there to be read: it is slower than libjpeg-turbo's vectors. */
static const lap_decode_rung ladder[] = {
    {.name = "turbo", .codec = LAP_CODEC_TURBO, .what = "libjpeg-turbo: the reference", .available = always},
    {.name = "c",
        .codec = LAP_CODEC_C,
        .what = "plain C, each stage a function; two symbols a look-up",
        .available = always,
        .stages = &lap_decode_c},
    {.name = "neon",
        .codec = LAP_CODEC_NEON,
        .what = "the same on aarch64, samples and pixels in 128-bit vectors",
        ON_ARM(lap_cpu_no_neon, lap_decode_neon)},
    {.name = "avx2",
        .codec = LAP_CODEC_AVX2,
        .what = "samples and pixels in 256-bit vectors",
        ON_X86(lap_cpu_no_avx2_bits, lap_decode_avx2)},
    {.name = "avx512",
        .codec = LAP_CODEC_AVX512,
        .what = "the same in 512-bit vectors",
        ON_X86(lap_cpu_no_avx512vbmi2, lap_decode_avx512)},
};
enum { ROWS = sizeof ladder / sizeof *ladder };

const lap_decode_rung *lap_decode_row_at(int i)
{
    return i >= 0 && i < ROWS ? &ladder[i] : NULL;
}

const char *lap_decode_missing(const lap_decode_rung *rung)
{
    const char *reason = rung->available();
    return reason || !rung->stages ? reason : lap_known_decoding_differs();
}

static const lap_decode_rung *fastest(void)
{
    for (int i = ROWS - 1; i > 0; i--)
        if (ladder[i].codec != LAP_CODEC_C && !lap_decode_missing(&ladder[i]))
            return &ladder[i];
    return &ladder[0];
}

lap_code lap_decode_choose(lap_codec_place codec, const lap_decode_rung **rung, lap_error *err)
{
    for (int i = 0; i < ROWS; i++)
        if (ladder[i].codec == codec) {
            const char *reason = lap_decode_missing(&ladder[i]);
            *rung = &ladder[i];
            return reason ? lap_fail(
                                err, LAP_E_BACKEND, "codec '%s' cannot run here: %s", ladder[i].name, reason)
                          : LAP_OK;
        }
    *rung = fastest();
    return LAP_OK;
}
