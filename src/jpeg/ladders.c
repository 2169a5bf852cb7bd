#include "jpeg/ladders.h"

#include "base/status.h"
#include "cpu_simd/cpu.h"
#include "libjpeg/known_picture.h"

/* A row of an instruction set. On other processors its files are not compiled, and `missing` gives the
 * reason. */
#if defined(__x86_64__)
#define LAP_ON_X86(missing, ...) .available = missing, __VA_ARGS__
#else
#define LAP_ON_X86(missing, ...) .available = missing
#endif
#if defined(__aarch64__)
#define LAP_ON_ARM(missing, ...) .available = missing, __VA_ARGS__
#else
#define LAP_ON_ARM(missing, ...) .available = missing
#endif

/* An `available` for coders that run everywhere. */
static const char *always(void)
{
    return NULL;
}

static const lap_coder decoders[] = {
    {.name = "turbo", .codec = LAP_CODEC_TURBO, .what = "libjpeg-turbo: the reference", .available = always},
    {.name = "c",
        .codec = LAP_CODEC_C,
        .what = "plain C, each stage a function; two symbols a look-up",
        .available = always,
        .stages = &lap_decode_c},
    {.name = "neon",
        .codec = LAP_CODEC_NEON,
        .what = "the same on aarch64, samples and pixels in 128-bit vectors",
        LAP_ON_ARM(lap_cpu_no_neon, .stages = &lap_decode_neon)},
    {.name = "avx2",
        .codec = LAP_CODEC_AVX2,
        .what = "samples and pixels in 256-bit vectors",
        LAP_ON_X86(lap_cpu_no_avx2_bits, .stages = &lap_decode_avx2)},
    {.name = "avx512",
        .codec = LAP_CODEC_AVX512,
        .what = "the same in 512-bit vectors",
        LAP_ON_X86(lap_cpu_no_avx512vbmi2, .stages = &lap_decode_avx512)},
};

const lap_coders lap_decoders = {decoders, sizeof decoders / sizeof *decoders, lap_known_decoding_differs};

static const lap_coder encoders[] = {
    {.name = "turbo", .codec = LAP_CODEC_TURBO, .what = "libjpeg-turbo: the reference", .available = always},
    {.name = "c",
        .codec = LAP_CODEC_C,
        .what = "plain C, each stage a function",
        .available = always,
        .run = lap_encode_c,
        .join = lap_encode_join_c,
        .flags = lap_encode_c_flags},
    {.name = "neon",
        .codec = LAP_CODEC_NEON,
        .what = "the same on aarch64",
        LAP_ON_ARM(lap_cpu_no_neon, .run = lap_encode_neon, .join = lap_encode_join_neon,
            .flags = lap_encode_neon_flags)},
    {.name = "avx2",
        .codec = LAP_CODEC_AVX2,
        .what = "256-bit vectors, a flat stream of symbols, one table entry for each",
        LAP_ON_X86(lap_cpu_no_avx2_bits, .run = lap_encode_avx2, .join = lap_encode_join_avx2,
            .flags = lap_encode_avx2_flags)},
    {.name = "avx512",
        .codec = LAP_CODEC_AVX512,
        .what = "512-bit vectors, codes looked up by permutations, symbols merged in 64-bit lanes",
        LAP_ON_X86(lap_cpu_no_avx512vbmi2, .run = lap_encode_avx512, .join = lap_encode_join_avx512,
            .flags = lap_encode_avx512_flags)},
};

const lap_coders lap_encoders = {encoders, sizeof encoders / sizeof *encoders, lap_known_encoding_differs};

/* ---- rows ------------------------------------------------------------------------------------------ */

const lap_coder *lap_coders_row(const lap_coders *ladder, int i)
{
    return i >= 0 && i < ladder->count ? &ladder->rows[i] : NULL;
}

const char *lap_coders_missing(const lap_coders *ladder, const lap_coder *coder)
{
    const char *reason = coder->available();
    return reason || !(coder->run || coder->stages) ? reason : ladder->differs();
}

static const lap_coder *fastest(const lap_coders *ladder)
{
    for (int i = ladder->count - 1; i > 0; i--)
        if (ladder->rows[i].codec != LAP_CODEC_C && !lap_coders_missing(ladder, &ladder->rows[i]))
            return &ladder->rows[i];
    return &ladder->rows[0];
}

lap_code lap_coders_choose(
    const lap_coders *ladder, lap_codec_place codec, const lap_coder **coder, lap_error *err)
{
    for (int i = 0; i < ladder->count; i++)
        if (ladder->rows[i].codec == codec) {
            *coder = &ladder->rows[i];
            const char *reason = lap_coders_missing(ladder, *coder);
            return reason ? lap_fail(
                                err, LAP_E_BACKEND, "codec '%s' cannot run here: %s", (*coder)->name, reason)
                          : LAP_OK;
        }
    *coder = fastest(ladder);
    return LAP_OK;
}

bool lap_coder_at(lap_op op, int i, lap_rung_info *info)
{
    const lap_coders *ladder = op == LAP_OP_ENCODE   ? &lap_encoders
                               : op == LAP_OP_DECODE ? &lap_decoders
                                                     : NULL;
    const lap_coder *row = ladder ? lap_coders_row(ladder, i) : NULL;
    if (!row)
        return false;
    *info = (lap_rung_info){.op = op,
        .name = row->name,
        .family = row->name,
        .what = row->what,
        .flags = row->stages ? row->stages->flags : row->flags,
        .reason = lap_coders_missing(ladder, row)};
    info->resolved = info->reason ? NULL : info->name;
    return true;
}
