#include "jpeg/ladders.h"

#include "cpu_simd/cpu.h"
#include "libjpeg/known_picture.h"

static const lap_coder rows[] = {
    {.name = "turbo",
        .codec = LAP_CODEC_TURBO,
        .what = "libjpeg-turbo: the reference",
        .available = lap_coder_always},
    {.name = "c",
        .codec = LAP_CODEC_C,
        .what = "plain C, each stage a function",
        .available = lap_coder_always,
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

const lap_coders lap_encoders = {rows, sizeof rows / sizeof *rows, lap_known_encoding_differs};
