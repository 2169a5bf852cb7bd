/* Look-up tables for the symbols of a progressive scan. */
#ifndef LAP_SCRIPT_CODES_H
#define LAP_SCRIPT_CODES_H

#include "coding/jpeg_script.h"

/* A table is indexed by the next LAP_SCRIPT_INDEX bits. An entry holds the symbol that begins there.
 *
 *     31  24 23  16 15   8 7      0
 *     | 0   | size | step | length |
 *
 *     length    bits of the symbol, including those after its code; 0: invalid, or a code longer than the
 *               index
 *     step      how many coefficients it covers: its zeros and one more; 1 for a DC difference;
 *               0: an EOB run of 2^size blocks, plus the number in the next `size` bits
 *     size      bits after the code: of the value, including its sign, or of the EOB run */
typedef uint32_t lap_script_entry;
enum { LAP_SCRIPT_INDEX = 11, LAP_SCRIPT_ENTRIES = 1 << LAP_SCRIPT_INDEX };
#define LAP_SCRIPT_LENGTH(e) ((e)&63)
#define LAP_SCRIPT_STEP(e) ((e) >> 8 & 255)
#define LAP_SCRIPT_SIZE(e) ((e) >> 16 & 15)

typedef struct lap_script_codes { /* for one component of a scan */
    const lap_huff_code *code;
    unsigned most; /* the most bits of a value */
    lap_script_entry entries[LAP_SCRIPT_ENTRIES];
} lap_script_codes;

/* Makes the look-up table of `code`, a table of the scan. The code must outlive *codes. */
void lap_script_codes_make(const lap_script_scan *scan, const lap_huff_code *code, lap_script_codes *codes);

/* Returns the entry of a symbol whose code has `length` bits; 0 if the symbol is -1 or invalid in this scan.
 */
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
