/* The loop over tiles that the vector rungs of the transpose share; each file supplies functions that
 * transpose a block in registers.
 *
 * A strip of n columns of the input becomes n whole rows of the result. The loop goes down the strip tile by
 * tile and transposes blocks into a stage, a buffer that stays in the first-level cache. Only whole 64-byte
 * lines of a result row are copied from the stage, bypassing the caches if the result is large; the bytes of
 * an unfinished line stay in front of the row's next tile. So every line of the result is written once and
 * whole, at any width and alignment. */
#ifndef LAP_TRANSPOSE_TILES_H
#define LAP_TRANSPOSE_TILES_H

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "cpu_simd/host_rungs.h"

enum {
    LAP_LINE = 64,  /* bytes of a cache line */
    LAP_STRIP = 64, /* columns: at least a whole cache line, so that all of each line read is used */
    LAP_STAGE_ROW = 256,
    /* A stage row: the unfinished line, the tile, and room for a vector's overhang. */
    LAP_STAGE_PITCH = LAP_LINE + LAP_STAGE_ROW + LAP_LINE,
    LAP_STREAM_FROM = 1 << 20 /* bytes of a result that no longer stays in a second-level cache */
};
_Static_assert(LAP_STRIP *LAP_STAGE_PITCH <= 24 * 1024, "stage and tile must fit 48 KB together");

/* Transposes one block: its rows are in_stride apart; its columns become rows that are LAP_STAGE_PITCH apart.
 * May write up to LAP_LINE bytes past the end of each result row. */
typedef void lap_block_fn(const uint8_t *in, ptrdiff_t in_stride, uint8_t *out);

typedef struct lap_blocks { /* of one element size */
    size_t size;
    int down, across; /* rows and columns of a block */
    lap_block_fn *block;
} lap_blocks;

/* Stores whole lines; bypasses the caches if the instruction set can. */
static inline void lap_stream_lines(uint8_t *to, const uint8_t *from, size_t bytes)
{
#if defined(__x86_64__)
#pragma GCC unroll 4
    for (size_t i = 0; i < bytes; i += 16)
        _mm_stream_si128((__m128i *)(to + i), _mm_loadu_si128((const __m128i *)(from + i)));
#else
    memcpy(to, from, bytes);
#endif
}

/* Writes the `bytes` new bytes at row + LAP_LINE to address `to`. */
static inline void lap_stage_flush(
    uint8_t *row, uint8_t *to, size_t bytes, bool first, bool last, bool stream)
{
    const size_t phase = (uintptr_t)to % LAP_LINE;
    uint8_t *from = row + LAP_LINE;
    if (first && phase > 0) {
        size_t head = LAP_LINE - phase < bytes ? LAP_LINE - phase : bytes;
        memcpy(to, from, head);
        from += head, to += head, bytes -= head;
    } else {
        from -= phase, to -= phase, bytes += phase;
    }
    const size_t whole = bytes - bytes % LAP_LINE;
    if (stream)
        lap_stream_lines(to, from, whole);
    else
        memcpy(to, from, whole);
    from += whole, to += whole, bytes -= whole;
    memcpy(last ? to : row + LAP_LINE - bytes, from, bytes);
}

static inline __attribute__((always_inline)) void lap_tile(
    const uint8_t *in, ptrdiff_t stride, int rows, int columns, uint8_t *stage, int ahead, lap_blocks b)
{
    const size_t size = b.size;
    const int whole_rows = rows - rows % b.down, whole_columns = columns - columns % b.across;
    for (int y = 0; y < whole_rows; y += b.down) {
        /* Prefetches the next tile: each of its rows is in another page, which hardware prefetchers do not
         * cross. */
        for (int i = 0; i < b.down && y + i < ahead; i++) {
            const uint8_t *next = in + (rows + y + i) * stride;
            for (size_t at = 0; at < (size_t)columns * size; at += LAP_LINE)
                __builtin_prefetch(next + at);
        }
        for (int x = 0; x < whole_columns; x += b.across) {
            b.block(
                in + y * stride + (size_t)x * size, stride, stage + x * LAP_STAGE_PITCH + (size_t)y * size);
        }
    }
    for (int x = 0; x < columns; x++) {
        for (int y = x < whole_columns ? whole_rows : 0; y < rows; y++)
            memcpy(stage + x * LAP_STAGE_PITCH + (size_t)y * size, in + y * stride + (size_t)x * size, size);
    }
}

static inline __attribute__((always_inline)) void lap_transpose_tiles(
    const lap_view *in, const lap_view *out, lap_blocks b)
{
    _Alignas(LAP_LINE) uint8_t stage[LAP_STRIP * LAP_STAGE_PITCH];
    const int tile = LAP_STAGE_ROW / (int)b.size & ~15; /* rows; a multiple of every block */
    const bool stream = (size_t)in->width * (size_t)in->height * b.size >= LAP_STREAM_FROM;
    for (int x = 0; x < in->width; x += LAP_STRIP) {
        const int columns = in->width - x < LAP_STRIP ? in->width - x : LAP_STRIP;
        for (int y = 0; y < in->height; y += tile) {
            const int rows = in->height - y < tile ? in->height - y : tile;
            const bool last = y + rows == in->height;
            lap_tile(in->base + y * in->stride + (size_t)x * b.size, in->stride, rows, columns,
                stage + LAP_LINE, in->height - y - rows, b);
            for (int i = 0; i < columns; i++) {
                lap_stage_flush(stage + i * LAP_STAGE_PITCH,
                    out->base + (x + i) * out->stride + (size_t)y * b.size, (size_t)rows * b.size, y == 0,
                    last, stream);
            }
        }
    }
#if defined(__x86_64__)
    if (stream)
        _mm_sfence();
#endif
}

#endif
