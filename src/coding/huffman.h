/* Huffman codes of sequential JPEG (ITU-T T.81: C.2, F.1.2, F.2.2): what every decoder here that looks for
 * symbols without the JPEG library shares, on the host and on a device. C11 and CUDA; the inline part calls
 * no library. Everything is read-only once made, so any number of threads may use it.
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

/* What a decoder that looks for symbols does not expect in a scan. It never judges a file: anything of this
 * list means that the serial decoder does the picture, which alone knows what is an error, a warning, or
 * right after all. */
typedef enum lap_huff_odd { /* why a scan goes to the serial decoder*/
    LAP_HUFF_FINE,
    LAP_HUFF_TABLE,     /* table missing or invalid: codes that do not fit, a DC category above 15 */
    LAP_HUFF_CODE,      /* bits that begin no code, or a symbol that sequential scans do not have */
    LAP_HUFF_RUN,       /* a run of zeros or a coefficient past the 64th of its block */
    LAP_HUFF_SHORT,     /* data ends, or a marker comes, before the last MCU of scan or interval is whole */
    LAP_HUFF_LONG,      /* more than 7 bits, or other bits than ones, between the last MCU and the marker */
    LAP_HUFF_MARKER,    /* another marker than the one due, a fill byte, or none at the end */
    LAP_HUFF_RANGE,     /* the sum of DC differences leaves 16 bits */
    LAP_HUFF_UNBOUNDED, /* falling into step took more work than is allowed */
} lap_huff_odd;
const char *lap_huff_odd_text(lap_huff_odd odd); /* "bits that begin no code"; for messages */

typedef struct lap_huff_code { /* one table of DHT */
    uint32_t limit[18];        /* [n]: codes of 1..n bits, left-aligned in 16, lie below; [17]: above all */
    int32_t offset[17];        /* [n]: index into values of the n-bit code 0 */
    uint8_t values[256];
    uint8_t longest; /* bits of the longest code; 0: the table has none */
    bool is_dc;
} lap_huff_code;

/* bits[1..16]: number of codes of each length ([0] is not looked at); values in their order. FINE, or TABLE
 * where libjpeg-turbo refuses the table too. */
lap_huff_odd lap_huff_make(
    const uint8_t bits[17], const uint8_t values[256], bool is_dc, lap_huff_code *code);

/* A look-up table is indexed by the next bits of the data, 10 or 11 of them, say. An entry stands for all
 * whole symbols that these bits hold, value bits included, up to the end of the block; a DC entry for one
 * symbol, value bits perhaps beyond the index. */
typedef uint32_t lap_huff_entry;
enum { LAP_HUFF_EOB = 128, LAP_HUFF_LONG_CODE = 255 };
#define LAP_HUFF_SKIP(e) ((e)&0xFF)             /* bits of all symbols of the entry */
#define LAP_HUFF_ADVANCE(e) ((e) >> 8 & 0xFF)   /* coefficients; + EOB at the end; LONG_CODE: single step */
#define LAP_HUFF_FIRST_BITS(e) ((e) >> 16 & 31) /* of the first symbol's code; 0: longer, or no code */
#define LAP_HUFF_FIRST_ONE(e) ((e) >> 21 & 1)   /* the entry holds one symbol only */
#define LAP_HUFF_FIRST(e) ((e) >> 24)           /* the first symbol: run << 4 | size */

/* Fills entries[1 << index_bits]; index_bits 1..16. */
void lap_huff_fill(const lap_huff_code *code, int index_bits, lap_huff_entry *entries);

/* The symbol that begins `window` (the next 64 bits, the first uppermost; 16 must be there), *length = bits
 * of its code; -1: none. For codes that the look-up table does not have. */
LAP_HUFF_INLINE int lap_huff_symbol(const lap_huff_code *code, uint64_t window, int *length)
{
    uint32_t word = (uint32_t)(window >> 48);
    int n = 1;
    while (word >= code->limit[n])
        n++;
    *length = n;
    return n > 16 ? -1 : code->values[(code->offset[n] + (int32_t)(word >> (16 - n))) & 255];
}

/* The value of the `size` bits, 0..15, that begin window (T.81, F.2.2.1, EXTEND). */
LAP_HUFF_INLINE int lap_huff_value(uint64_t window, int size)
{
    int value = (int)(window >> 32 >> (32 - size));
    return size == 0 || value >> (size - 1) ? value : value - (1 << size) + 1;
}

#ifdef __cplusplus
}
#endif
#endif
