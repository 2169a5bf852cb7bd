/* Huffman codes of sequential JPEG (ITU-T T.81: C.2, F.1.2, F.2.2), shared by all of our decoders, on the
 * host and on CUDA devices. C11 and CUDA; the inline functions call no library. Tables do not change once
 * they are made, so any number of threads may use them.
 */
#ifndef LAP_HUFFMAN_H
#define LAP_HUFFMAN_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define LAP_HUFF_INLINE static inline __host__ __device__
#else
#define LAP_HUFF_INLINE static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What our decoders do not accept in a scan. It need not be an error in the file: the picture goes to the
 * serial decoder, libjpeg-turbo, which alone decides whether it is an error, a warning, or valid. */
typedef enum lap_huff_odd { /* why a scan goes to the serial decoder */
    LAP_HUFF_FINE,
    LAP_HUFF_TABLE,     /* a table is missing or invalid: too many codes, or a DC category above 15 */
    LAP_HUFF_CODE,      /* invalid code, or a symbol that only progressive scans have */
    LAP_HUFF_RUN,       /* a run of zeros or a coefficient past the 64th of its block */
    LAP_HUFF_SHORT,     /* the data or the restart interval ends inside or before its last MCU */
    LAP_HUFF_LONG,      /* between last MCU and marker: more than 7 bits, or bits that are not ones */
    LAP_HUFF_MARKER,    /* unexpected marker, fill byte, or no marker at the end */
    LAP_HUFF_RANGE,     /* the sum of DC differences exceeds 16 bits */
    LAP_HUFF_UNBOUNDED, /* synchronising took more work than the limit */
} lap_huff_odd;
const char *lap_huff_odd_text(lap_huff_odd odd); /* "bits that are no valid code"; for messages */

typedef struct lap_huff_code { /* one table of DHT */
    uint32_t limit[18];        /* [n]: more than all codes of 1..n bits, left-aligned in 16 bits; [17]: all */
    int32_t offset[17];        /* [n]: index in values of the n-bit code 0 */
    uint8_t values[256];
    uint8_t longest; /* bits of the longest code; 0: the table is empty */
    bool is_dc;
} lap_huff_code;

/* bits[1..16] are the numbers of codes of each length, bits[0] is ignored; values are their symbols in order.
 * Returns FINE, or TABLE for a table that libjpeg-turbo refuses too. */
lap_huff_odd lap_huff_make(
    const uint8_t bits[17], const uint8_t values[256], bool is_dc, lap_huff_code *code);

/* A look-up table is indexed by the next bits of the data, for example 10 or 11. An entry holds all symbols
 * that the index contains completely, with their value bits, up to the end of the block. An entry for DC
 * holds one symbol, whose value may extend beyond the index. */
typedef uint32_t lap_huff_entry;
enum { LAP_HUFF_EOB = 128, LAP_HUFF_LONG_CODE = 255 };
#define LAP_HUFF_SKIP(e) ((e)&0xFF)             /* bits of all symbols in the entry */
#define LAP_HUFF_ADVANCE(e) ((e) >> 8 & 0xFF)   /* coefficients; + EOB: block ends; LONG_CODE: single step */
#define LAP_HUFF_FIRST_BITS(e) ((e) >> 16 & 31) /* of the first symbol's code; 0: too long, or invalid */
#define LAP_HUFF_FIRST_ONE(e) ((e) >> 21 & 1)   /* the entry holds one symbol only */
#define LAP_HUFF_FIRST(e) ((e) >> 24)           /* the first symbol: run << 4 | size */

/* Fills entries[1 << index_bits]; index_bits 1..16. */
void lap_huff_fill(const lap_huff_code *code, int index_bits, lap_huff_entry *entries);

/* Returns the symbol whose code begins `window`, and sets *length to the bits of the code; -1: invalid. The
 * window has the next 64 bits, the first in bit 63; at least 16 must be data. Use it for codes that are too
 * long for the look-up table. */
LAP_HUFF_INLINE int lap_huff_symbol(const lap_huff_code *code, uint64_t window, int *length)
{
    uint32_t word = (uint32_t)(window >> 48);
    int n = 1;
    while (word >= code->limit[n])
        n++;
    *length = n;
    return n > 16 ? -1 : code->values[(code->offset[n] + (int32_t)(word >> (16 - n))) & 255];
}

/* Returns the value that the first `size` bits of the window stand for, size 0..15 (T.81, F.2.2.1, EXTEND).
 */
LAP_HUFF_INLINE int lap_huff_value(uint64_t window, int size)
{
    int value = (int)(window >> 32 >> (32 - size));
    return size == 0 || value >> (size - 1) ? value : value - (1 << size) + 1;
}

#ifdef __cplusplus
}
#endif
#endif
