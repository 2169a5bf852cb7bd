/* Bits into bytes as they stand in a JPEG: the first bit uppermost, a zero byte behind each FF. The caller
 * makes room: twice what goes in, and 16 bytes. */
#ifndef LAP_PART_BITS_H
#define LAP_PART_BITS_H

#include <stddef.h>
#include <stdint.h>

typedef struct lap_bits {
    uint8_t *to;      /* the next byte */
    uint64_t pending; /* its first bits, lowermost here */
    unsigned count;   /* of them, 0..7 */
} lap_bits;

/* The lowest `count` bits of value, 0..32; the others are 0. */
void lap_bits_put(lap_bits *bits, uint32_t value, unsigned count);
/* Bits begin .. end - 1 of `from`, which may be read up to 16 bytes further. */
void lap_bits_copy(lap_bits *bits, const uint8_t *from, uint64_t begin, uint64_t end);
/* Fills the last byte with ones. */
void lap_bits_flush(lap_bits *bits);

#endif
