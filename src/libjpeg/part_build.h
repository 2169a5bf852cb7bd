/* Some rows of MCUs of a scan as a JPEG of its own, for libjpeg: a frame header of their height, no tables
 * (who decodes has them already), no restart interval, DC values that do not depend on what came before. */
#ifndef LAP_PART_BUILD_H
#define LAP_PART_BUILD_H

#include "coding/entropy_scan.h"

typedef struct lap_part_plan { /* of a picture; read-only for the threads */
    lap_scan_plan scan;
    lap_scan_index index;
    lap_walk_tables *tables; /* tables of DHT: DC 0..3 are codes 0..3, AC codes 4..7 */
    int width, height, mcu_height;
    uint8_t sampling[4], quantiser[4]; /* as the frame header says */
    /* The DC tables of layout.codes with the categories that they lack behind them, for DHT */
    struct lap_part_dc {
        uint8_t bits[17], values[256];
        uint16_t code[16];  /* of each category */
        uint8_t length[16]; /* 0: there is no room for it */
    } dc_codes[4];
} lap_part_plan;

/* Fills dc_codes[i] from a table as DHT has it. Codes that the table has stay; the other categories, the
 * small ones first, get longer codes under the one that a JPEG never uses, all ones. */
void lap_part_extend(const uint8_t bits[17], const uint8_t values[256], struct lap_part_dc *dc);

/* libjpeg-turbo's fast decoder wants 512 bytes a block behind where it is; what they hold does not matter. */
enum { LAP_PART_BEHIND = 512 * LAP_HUFF_BLOCKS };

typedef struct lap_part_buffer { /* of one thread, reused; zeroed is empty */
    uint8_t *bytes;              /* the JPEG, and LAP_PART_BEHIND bytes */
    size_t size, room;
    lap_stretch stretch;
} lap_part_buffer;

/* Rows row .. end_row - 1 of MCUs. LAP_E_MEMORY, or LAP_E_UNSUPPORTED where a table has no room. */
lap_code lap_part_build(const lap_part_plan *plan, int row, int end_row, lap_part_buffer *buffer);
void lap_part_buffer_free(lap_part_buffer *buffer);

#endif
