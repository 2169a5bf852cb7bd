/* Look-up tables for the symbols of a progressive scan. */
#ifndef LAP_SCRIPT_CODES_H
#define LAP_SCRIPT_CODES_H

#include "coding/jpeg_script.h"

/* A table is indexed by the next LAP_SCRIPT_INDEX bits; an entry stands for the symbol that they begin with.
 *
 *     31  24 23  16 15   8 7      0
 *     | 0   | size | step | length |
 *
 *     length    bits of the symbol, those behind its code included; 0: no such symbol, or a code of more bits
 *               than the index has
 *     step      coefficients it advances by: zeros, and one more; 1 for a DC difference.
 *               0: the band ends here, in as many blocks as 2^size and the value of `size` bits say
 *     size      bits behind the code: of the value, its sign included, or of the number of blocks */
typedef uint32_t lap_script_entry;
enum { LAP_SCRIPT_INDEX = 11, LAP_SCRIPT_ENTRIES = 1 << LAP_SCRIPT_INDEX };
#define LAP_SCRIPT_LENGTH(e) ((e)&63)
#define LAP_SCRIPT_STEP(e) ((e) >> 8 & 255)
#define LAP_SCRIPT_SIZE(e) ((e) >> 16 & 15)

typedef struct lap_script_codes { /* of one component in a scan */
    const lap_huff_code *code;
    unsigned most; /* bits that a value may have */
    lap_script_entry entries[LAP_SCRIPT_ENTRIES];
} lap_script_codes;

/* code stays where it is. scan: whose table it is. */
void lap_script_codes_make(const lap_script_scan *scan, const lap_huff_code *code, lap_script_codes *codes);

/* The entry of a symbol whose code has `length` bits; -1 is no symbol. 0: not one of this scan. */
static inline lap_script_entry lap_script_entry_of(const lap_script_codes *codes, int symbol, int length)
{
    const unsigned bits = (unsigned)symbol, run = bits >> 4, size = bits & 15;
    if (symbol < 0 || (codes->code->is_dc ? bits : size) > codes->most)
        return 0;
    const bool is_end = !codes->code->is_dc && size == 0 && run < 15;
    const unsigned behind = is_end ? run : size, step = is_end ? 0 : run + 1;
    return ((unsigned)length + behind) | step << 8 | behind << 16;
}

#endif
