#include "coding/script_codes.h"

/* A first scan of coefficients may have values of up to 16 bits and sign when it is over, whatever bits are
 * missing; DC differences of 8-bit samples have 11 bits (T.81, table F.1). A refinement makes ones. */
static unsigned most_of(const lap_script_scan *scan)
{
    enum { DC_SIZE = 11, ALL_BITS = 15 };
    if (lap_script_is_dc(scan))
        return DC_SIZE;
    return lap_script_refines(scan) ? 1 : ALL_BITS - scan->low;
}

void lap_script_codes_make(const lap_script_scan *scan, const lap_huff_code *code, lap_script_codes *codes)
{
    codes->code = code;
    codes->most = most_of(scan);
    for (unsigned i = 0; i < LAP_SCRIPT_ENTRIES;) {
        int length = 0;
        const int symbol = lap_huff_symbol(code, (uint64_t)i << (64 - LAP_SCRIPT_INDEX), &length);
        const bool is_long = length > LAP_SCRIPT_INDEX;
        const lap_script_entry entry = is_long ? 0 : lap_script_entry_of(codes, symbol, length);
        /* Entries that begin with the same code. */
        for (const unsigned end = i + (is_long ? 1 : 1U << (LAP_SCRIPT_INDEX - length)); i < end; i++)
            codes->entries[i] = entry;
    }
}
