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
        .what = "plain C, each stage a function; two symbols a look-up",
        .available = lap_coder_always,
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

const lap_coders lap_decoders = {rows, sizeof rows / sizeof *rows, lap_known_decoding_differs};
