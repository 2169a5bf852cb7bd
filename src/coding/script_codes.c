#include "coding/script_codes.h"

/* Maximum number of bits of a value. A DC difference of 8-bit samples has 11 (T.81, table F.1). A first AC
 * scan may have 15, less the low bits that are missing. An AC refinement codes only new coefficients of 1 or
 * -1. */
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
        /* All entries that begin with the same code. */
        for (const unsigned end = i + (is_long ? 1 : 1U << (LAP_SCRIPT_INDEX - length)); i < end; i++)
            codes->entries[i] = entry;
    }
}
