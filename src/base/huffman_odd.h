/* What a decoder that looks for Huffman symbols without the JPEG library does not expect in a scan. It never
 * judges a file: anything of this list means that the serial decoder does the picture, which alone knows
 * what is an error, a warning, or right after all. Shared by host and device. */
#ifndef LAP_HUFFMAN_ODD_H
#define LAP_HUFFMAN_ODD_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
