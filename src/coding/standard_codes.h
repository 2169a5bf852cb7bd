/* The Huffman tables of ITU-T T.81, annex K.3. libjpeg-turbo writes them unless optimised tables are
 * requested. */
#ifndef LAP_STANDARD_CODES_H
#define LAP_STANDARD_CODES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct lap_standard_code {
    uint16_t code;
    uint8_t bits;   /* of the code, 1..16 */
    uint8_t symbol; /* AC: run << 4 | size; DC: size */
} lap_standard_code;

enum { LAP_STANDARD_DC = 12, LAP_STANDARD_AC = 162 }; /* symbols of a table */

/* Fills codes with a table, shortest codes first, and returns their number. codes must have room for
 * LAP_STANDARD_DC or LAP_STANDARD_AC. */
int lap_standard_codes(bool is_dc, int chroma, lap_standard_code *codes);

#endif
