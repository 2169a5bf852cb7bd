/* Lesson 11: eight pixels at once, with SSE. (30 minutes; ladder: filter sse-box)
 *
 * The same filter on the CPU, on one byte a pixel: 25 times the middle minus the sum of all 25, cut off at
 * 0 and 255. A processor of a PC has registers of 16 bytes, which hold 8 numbers of 16 bits, and
 * instructions that add all 8 at once. 25 * 255 = 6375 fits 16 bits. Intrinsics are C functions that become
 * one such instruction each:
 *
 * _mm_loadl_epi64((const __m128i *)p) loads 8 bytes from any address; _mm_cvtepu8_epi16(v) makes 8 numbers
 * of 16 bits of them; _mm_add_epi16, _mm_sub_epi16 add and subtract; _mm_mullo_epi16(v, _mm_set1_epi16(25))
 * multiplies; _mm_packus_epi16(v, v) cuts off at 0 and 255 and makes bytes; _mm_storel_epi64((__m128i *)p,
 * v) stores 8 bytes.
 *
 * Your part: filter_row in vectors. `in` points at the row's first pixel, rows are `pitch` bytes apart; two
 * rows above and below, two bytes before and 32 after each row can be read. `width` is a multiple of 32;
 * only `width` bytes may be written. The scalar loops in the hole are right: count their instructions
 * first (make check-11), then beat them.
 *
 * Predict how many instructions a pixel takes if each of 25 loads becomes two instructions for 8 pixels.
 * Count instructions of every kind, also the additions and the few after the loop over the window.
 *
 * PREDICT instructions: ?
 *
 * make check-11 judges this file. By hand: cc -O3 -msse4.1 lesson_11_sse.c && ./a.out */
#include <immintrin.h>

static void filter_row(const unsigned char *in, long pitch, unsigned char *out, int width)
{
    /* HOLE: eight pixels at once */
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
