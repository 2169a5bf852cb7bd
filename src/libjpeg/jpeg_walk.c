#include "libjpeg/jpeg_walk.h"

#include <stdlib.h>
#include <string.h>

#include "coding/entropy_walk.h"

/* How many bytes of data are buffered, and how many bits one call of lap_walk_on walks. An MCU may have only
 * two bits, but needs 24 bytes for its note. */
enum { CHUNK = 8 << 10, BITS_AT_ONCE = 2 << 10 };
enum { QUICK_BITS = 9 }; /* most codes of a progressive scan are not longer */

typedef struct block_map { /* of a component: one bit for each coefficient, set if it is not 0 */
    uint64_t *nonzero;
    uint64_t blocks;
} block_map;

struct lap_jpeg_walk {
    lap_walk_tables tables;             /* of the scan; for a progressive scan only layout is set */
    uint16_t quick[8][1 << QUICK_BITS]; /* for each table: length << 8 | symbol; 0: too long or invalid */
    lap_notes notes;
    void (*progressive)(lap_jpeg_walk *walk); /* walks over one MCU; NULL: sequential */
    unsigned first, last, shift;              /* Ss, Se and Al of the scan */
    uint32_t eob_run;                         /* blocks left in the EOB run; the data has no codes for them */
    block_map maps[MAX_COMPONENTS], *map;     /* map: the map of an AC scan's only component */
    bool is_map_wrong;                        /* an earlier scan could not be followed */

    uint64_t mcus, mcus_left, interval_left; /* in the scan; left in the scan; left in the interval */
    unsigned restart_interval;
    bool is_open, is_after_ff, is_lost;
    lap_jpeg_left left;

    uint32_t bit, size;                    /* the next bit to read; bytes in the buffer */
    uint8_t bytes[CHUNK + LAP_WALK_SLACK]; /* without stuffing */
};

void lap_jpeg_left_add(lap_jpeg_left *left, unsigned byte)
{
    left->bytes++;
    left->zeros += byte == 0;
    left->ones += byte == 0xFF;
}

/* ---- bits ------------------------------------------------------------------------------------ */

static uint64_t window(const lap_jpeg_walk *w)
{
    uint64_t word;
    memcpy(&word, w->bytes + (w->bit >> 3), sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word << (w->bit & 7);
}

static unsigned take_bits(lap_jpeg_walk *w, unsigned count) /* at most 15 */
{
    unsigned value = (unsigned)(window(w) >> 32 >> (32 - count));
    w->bit += count;
    return value;
}

static void fill_quick(lap_jpeg_walk *w, int code)
{
    for (uint64_t i = 0; i < 1 << QUICK_BITS; i++) {
        int length;
        int symbol = lap_huff_symbol(&w->tables.layout.codes[code], i << (64 - QUICK_BITS), &length);
        w->quick[code][i] = length <= QUICK_BITS ? (uint16_t)(length << 8 | symbol) : 0;
    }
}

static unsigned take_symbol(lap_jpeg_walk *w, int code)
{
    const uint64_t next = window(w);
    const unsigned quick = w->quick[code][next >> (64 - QUICK_BITS)];
    if (quick) {
        w->bit += quick >> 8;
        return quick & 255;
    }
    int length;
    int symbol = lap_huff_symbol(&w->tables.layout.codes[code], next, &length);
    w->bit += (uint32_t)length;
    return symbol < 0 ? 0 : (unsigned)symbol;
}

/* ---- one MCU, as libjpeg reads it ------------------------------------------------------------- */

static void sequential_mcu(lap_jpeg_walk *w)
{
    const lap_huff_layout *layout = &w->tables.layout;
    for (int b = 0; b < layout->blocks; b++) {
        int component = layout->component[b];
        const unsigned size_of_dc = take_symbol(w, layout->dc[component]);
        w->bit += size_of_dc;
        for (unsigned k = 1; k < DCTSIZE2; k++) {
            unsigned symbol = take_symbol(w, layout->ac[component]), size = symbol & 15;
            if (size == 0 && symbol >> 4 != 15)
                break;
            k += symbol >> 4;
            w->bit += size;
        }
    }
}

static void dc_first(lap_jpeg_walk *w)
{
    const lap_huff_layout *layout = &w->tables.layout;
    for (int b = 0; b < layout->blocks; b++) {
        const unsigned size = take_symbol(w, layout->dc[layout->component[b]]);
        w->bit += size;
    }
}

static void dc_refinement(lap_jpeg_walk *w)
{
    w->bit += (uint32_t)w->tables.layout.blocks;
}

static uint64_t *block_of_mcu(lap_jpeg_walk *w)
{
    return &w->map->nonzero[w->mcus - w->mcus_left];
}

/* libjpeg stores a coefficient beyond the end of its block as the last one. */
static uint64_t bit_of(unsigned k)
{
    return (uint64_t)1 << (k < DCTSIZE2 ? k : DCTSIZE2 - 1);
}

static uint64_t bits_from(unsigned k)
{
    return k < DCTSIZE2 ? UINT64_MAX << k : 0;
}

static uint32_t count_bits(uint64_t bits)
{
    return (uint32_t)__builtin_popcountll(bits);
}

static void begin_eob_run(lap_jpeg_walk *w, unsigned size)
{
    const unsigned more = take_bits(w, size);
    w->eob_run = (1u << size) + more;
}

static void ac_first(lap_jpeg_walk *w)
{
    uint64_t *nonzero = block_of_mcu(w);
    for (unsigned k = w->first; w->eob_run == 0 && k <= w->last; k++) {
        unsigned symbol = take_symbol(w, w->tables.layout.ac[0]);
        unsigned run = symbol >> 4, size = symbol & 15;
        if (size == 0 && run < 15) {
            begin_eob_run(w, run);
            break;
        }
        k += run;
        if (size == 0)
            continue;
        int value = lap_huff_value(window(w), (int)size);
        w->bit += size;
        if ((int16_t)(uint16_t)((unsigned)value << w->shift) != 0)
            *nonzero |= bit_of(k);
    }
    w->eob_run -= w->eob_run > 0;
}

/* Returns where a run of zeros that begins at k ends: at the zero coefficient after the run, or past the
 * band. */
static unsigned end_of_run(uint64_t nonzero, unsigned k, unsigned run, unsigned last)
{
    uint64_t zeros = ~nonzero & bits_from(k) & ~bits_from(last + 1);
    for (; run > 0; run--)
        zeros &= zeros - 1;
    return zeros ? (unsigned)__builtin_ctzll(zeros) : last + 1;
}

/* Each coefficient that is already nonzero has a correction bit in the data when the run passes it. */
static void ac_refinement(lap_jpeg_walk *w)
{
    uint64_t *nonzero = block_of_mcu(w);
    unsigned k = w->first;
    for (; w->eob_run == 0 && k <= w->last; k++) {
        unsigned symbol = take_symbol(w, w->tables.layout.ac[0]);
        unsigned run = symbol >> 4;
        const bool is_new = (symbol & 15) != 0;
        if (!is_new && run < 15) {
            begin_eob_run(w, run);
            break;
        }
        const unsigned end = end_of_run(*nonzero, k, run, w->last);
        w->bit += is_new + count_bits(*nonzero & bits_from(k) & ~bits_from(end));
        k = end;
        if (is_new)
            *nonzero |= bit_of(k);
    }
    if (w->eob_run > 0) {
        w->bit += count_bits(*nonzero & bits_from(k) & ~bits_from(w->last + 1));
        w->eob_run--;
    }
}

/* ---- MCUs ------------------------------------------------------------------------------------ */

static void count_mcus(lap_jpeg_walk *w, uint64_t count)
{
    w->mcus_left -= count;
    w->interval_left -= count;
}

/* Uses the fast walk until `stop`. If the fast walk ends earlier, at an MCU with an error, walks over this
 * MCU as libjpeg does. */
static lap_code walk_sequential(lap_jpeg_walk *w, uint32_t stop)
{
    lap_walk walk = {.tables = &w->tables, .bytes = w->bytes, .now = {.bit = w->bit}, .notes = &w->notes};
    lap_code code;
    w->notes.count = 0;
    if (stop - w->bit > BITS_AT_ONCE)
        stop = w->bit + BITS_AT_ONCE;
    const lap_huff_odd odd = lap_walk_on(&walk, stop, &code);
    if (code != LAP_OK)
        return code;
    const uint64_t whole = w->notes.count - (odd != LAP_HUFF_FINE);
    if (whole > w->interval_left) {
        w->bit = w->notes.at[w->interval_left].bit;
        count_mcus(w, w->interval_left);
        return LAP_OK;
    }
    w->bit = walk.now.bit;
    count_mcus(w, whole);
    if (odd != LAP_HUFF_FINE && w->interval_left > 0) {
        sequential_mcu(w);
        count_mcus(w, 1);
    }
    return LAP_OK;
}

/* Walks over the buffered data. Unless is_end, stops early enough that even the longest MCU is never cut off.
 */
static lap_code walk_on(lap_jpeg_walk *w, bool is_end)
{
    const uint32_t end = w->size * 8, slack = LAP_WALK_SLACK * 8;
    const uint32_t stop = is_end ? end : end > slack ? end - slack : 0;
    lap_code code = LAP_OK;
    while (code == LAP_OK && w->interval_left > 0 && (w->bit < stop || (is_end && w->eob_run > 0))) {
        if (w->progressive) {
            w->progressive(w);
            count_mcus(w, 1);
        } else {
            code = walk_sequential(w, stop);
        }
        if (w->bit > end)
            break;
    }
    w->is_lost |= w->bit > end || (is_end && w->interval_left > 0);
    return code;
}

/* Removes the bytes before `from` from the buffer. */
static void drop_bytes(lap_jpeg_walk *w, uint32_t from)
{
    memmove(w->bytes, w->bytes + from, w->size - from);
    w->size -= from;
    w->bit = w->bit > 8 * from ? w->bit - 8 * from : 0;
}

/* Counts the bytes of the buffer that the image does not need. */
static void count_left(lap_jpeg_walk *w)
{
    for (uint32_t i = (w->bit + 7) / 8; i < w->size; i++)
        lap_jpeg_left_add(&w->left, w->bytes[i]);
    w->size = w->bit = 0;
}

static lap_code walk_chunk(lap_jpeg_walk *w)
{
    lap_code code = walk_on(w, false);
    if (code != LAP_OK)
        return code;
    if (w->mcus_left == 0)
        count_left(w);
    else if (w->interval_left == 0) /* left over before a restart marker: libjpeg warns of it */
        w->size = w->bit = 0;
    else
        drop_bytes(w, w->bit / 8);
    return LAP_OK;
}

static void begin_interval(lap_jpeg_walk *w)
{
    w->size = w->bit = w->eob_run = 0;
    w->interval_left =
        w->restart_interval > 0 && w->restart_interval < w->mcus_left ? w->restart_interval : w->mcus_left;
}

/* Handles a marker. A restart marker ends an interval; after the last MCU it has no effect. */
static lap_code take_marker(lap_jpeg_walk *w, uint8_t marker)
{
    const bool is_restart = marker >= JPEG_RST0 && marker <= JPEG_RST0 + 7;
    lap_code code = walk_on(w, true);
    if (code != LAP_OK)
        return code;
    if (w->mcus_left == 0)
        count_left(w);
    else if (is_restart && w->restart_interval > 0)
        begin_interval(w);
    else
        w->is_lost = true;
    w->is_open = is_restart;
    w->is_map_wrong |= w->is_lost;
    return LAP_OK;
}

static lap_code take_data(lap_jpeg_walk *w, const uint8_t *bytes, size_t size)
{
    lap_code code = LAP_OK;
    while (size > 0 && code == LAP_OK) {
        const size_t room = CHUNK - w->size, count = size < room ? size : room;
        memcpy(w->bytes + w->size, bytes, count);
        w->size += (uint32_t)count;
        bytes += count;
        size -= count;
        if (w->size == CHUNK)
            code = walk_chunk(w);
    }
    return code;
}

lap_code lap_jpeg_walk_feed(lap_jpeg_walk *w, const uint8_t *bytes, size_t size)
{
    static const uint8_t stuffed = 0xFF;
    const uint8_t *end = bytes + size;
    lap_code code = LAP_OK;
    while (bytes < end && w->is_open && !w->is_lost && code == LAP_OK) {
        if (!w->is_after_ff) {
            const uint8_t *found = memchr(bytes, 0xFF, (size_t)(end - bytes));
            code = take_data(w, bytes, (size_t)((found ? found : end) - bytes));
            bytes = found ? found + 1 : end;
            w->is_after_ff = found != NULL;
            continue;
        }
        const uint8_t second = *bytes++;
        w->is_after_ff = second == 0xFF; /* any number of fill bytes may precede a marker */
        if (second == 0)
            code = take_data(w, &stuffed, 1);
        else if (second != 0xFF)
            code = take_marker(w, second);
    }
    return code;
}

/* ---- scans ----------------------------------------------------------------------------------- */

/* Makes the codes of a component's table, which libjpeg has checked. */
static bool add_code(lap_jpeg_walk *w, const JHUFF_TBL *table, bool is_dc, int code)
{
    if (!table ||
        lap_huff_make(table->bits, table->huffval, is_dc, &w->tables.layout.codes[code]) != LAP_HUFF_FINE)
        return false;
    fill_quick(w, code);
    return true;
}

static bool lay_out(lap_jpeg_walk *w, const struct jpeg_decompress_struct *cinfo, bool has_dc, bool has_ac)
{
    lap_huff_layout *layout = &w->tables.layout;
    bool is_sound = true;
    memset(layout, 0, sizeof *layout);
    for (int c = 0; c < cinfo->comps_in_scan && is_sound; c++) {
        const jpeg_component_info *info = cinfo->cur_comp_info[c];
        const int dc = info->dc_tbl_no & 3, ac = info->ac_tbl_no & 3;
        is_sound = lap_huff_layout_add(layout, info->MCU_blocks, dc, 4 + ac) &&
                   (!has_dc || add_code(w, cinfo->dc_huff_tbl_ptrs[dc], true, dc)) &&
                   (!has_ac || add_code(w, cinfo->ac_huff_tbl_ptrs[ac], false, 4 + ac));
    }
    return is_sound;
}

/* Finds the map of the scan's component, as the earlier scans have filled it. */
static lap_code find_map(lap_jpeg_walk *w, int component)
{
    w->map = &w->maps[component];
    if (!w->map->nonzero) {
        w->map->nonzero = calloc((size_t)w->mcus, sizeof *w->map->nonzero);
        w->map->blocks = w->mcus;
    }
    return w->map->nonzero ? LAP_OK : LAP_E_MEMORY;
}

lap_code lap_jpeg_walk_begin(lap_jpeg_walk *w, const struct jpeg_decompress_struct *cinfo)
{
    const bool is_progressive = cinfo->progressive_mode, is_dc = !is_progressive || cinfo->Ss == 0;
    const bool is_refinement = is_progressive && cinfo->Ah > 0;
    lap_code code = LAP_OK;
    w->first = (unsigned)cinfo->Ss & 63;
    w->last = (unsigned)cinfo->Se & 63;
    w->shift = (unsigned)cinfo->Al & 15;
    w->mcus = w->mcus_left = (uint64_t)cinfo->MCUs_per_row * cinfo->MCU_rows_in_scan;
    w->restart_interval = cinfo->restart_interval;
    w->is_open = true;
    w->is_after_ff = w->is_lost = false;
    w->left = (lap_jpeg_left){0};
    begin_interval(w);
    if (!lay_out(w, cinfo, is_dc && !is_refinement, !is_progressive || !is_dc)) {
        w->is_lost = true;
        return LAP_OK;
    }
    if (!is_progressive) {
        const lap_huff_layout layout = w->tables.layout;
        lap_walk_tables_init(&w->tables, &layout);
        w->progressive = NULL;
    } else if (is_dc) {
        w->progressive = is_refinement ? dc_refinement : dc_first;
    } else {
        w->progressive = is_refinement ? ac_refinement : ac_first;
        code = find_map(w, cinfo->cur_comp_info[0]->component_index);
        w->is_lost = w->is_map_wrong || w->map->blocks != w->mcus;
    }
    return code;
}

bool lap_jpeg_walk_left(const lap_jpeg_walk *walk, lap_jpeg_left *left)
{
    *left = walk->left;
    return !walk->is_open && !walk->is_lost;
}

lap_jpeg_walk *lap_jpeg_walk_create(void)
{
    return calloc(1, sizeof(lap_jpeg_walk));
}

void lap_jpeg_walk_destroy(lap_jpeg_walk *walk)
{
    if (!walk)
        return;
    for (int c = 0; c < MAX_COMPONENTS; c++)
        free(walk->maps[c].nonzero);
    free(walk->notes.at);
    free(walk);
}
