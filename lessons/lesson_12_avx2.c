/* Lesson 12: sixteen pixels at once, with AVX2, and sums that are shared. (30 minutes; ladder: filter
 * simd-avx2)
 *
 * AVX2 has registers of 32 bytes: 16 numbers of 16 bits. That alone halves the instructions of lesson 11.
 * More comes from the sums: a window needs the sums of five columns, and the windows beside it need most
 * of the same sums. So add the five rows first, for all columns that are needed; a window is then the sum
 * of five neighbouring columns' sums: 5 + 5 additions, not 25. Keep the sums of columns in an array on
 * the stack, and load them from there, shifted by one, two ... columns.
 *
 * _mm_loadu_si128((const __m128i *)p) loads 16 bytes, _mm256_cvtepu8_epi16(v) makes 16 numbers of 16 bits
 * of them, _mm256_loadu_si256, _mm256_storeu_si256 load and store 16 numbers at any address;
 * _mm256_add_epi16, _sub_epi16, _mullo_epi16, _set1_epi16 as in lesson 11. Bytes again:
 * _mm256_packus_epi16(v, v), then _mm256_permute4x64_epi64(v, 8) brings both halves together, and
 * _mm256_castsi256_si128 takes the lower 16 bytes.
 *
 * Your part: filter_row with at most 3 instructions a pixel. What may be read and written is as in lesson
 * 11; `width` is a multiple of 32 and at most 16384.
 *
 * Predict how many instructions of every kind a pixel takes, as in lesson 11.
 *
 * PREDICT instructions: ?
 *
 * make check-12 judges this file. By hand: cc -O3 -mavx2 lesson_12_avx2.c && ./a.out */
#include <immintrin.h>

enum { MOST = 16384 };

static void filter_row(const unsigned char *in, long pitch, unsigned char *out, int width)
{
    /* HOLE: columns first, sixteen at once */
    for (int x = 0; x < width; x++) {
        int box = 0;
        for (int fy = -2; fy <= 2; fy++)
            for (int fx = -2; fx <= 2; fx++)
                box += in[fy * pitch + x + fx];
        const int value = 25 * in[x] - box;
        out[x] = (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
    /* END OF THE HOLE */
}

#ifndef LAP_JUDGE /* what follows is a program: 3744 rows of 14976 bytes, as many as a photo of 18.7 \
                     megapixels has */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(void)
{
    const int width = 14976, height = 3744, runs = 20;
    const long pitch = 16 + width + 48;
    unsigned char *in = calloc((size_t)(height + 4), (size_t)pitch),
                  *out = calloc((size_t)height, (size_t)width);
    struct timespec from, to;
    if (!in || !out)
        return 1;
    timespec_get(&from, TIME_UTC);
    for (int i = 0; i < runs; i++)
        for (int y = 0; y < height; y++)
            filter_row(in + (y + 2) * pitch + 16, pitch, out + (size_t)y * width, width);
    timespec_get(&to, TIME_UTC);
    const double ms = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
    printf("%.2f ms for as many bytes as an image of 4992 x 3744 has\n", ms / runs);
    free(in);
    free(out);
    return 0;
}
#endif
