#include "libjpeg/jpeg_split.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* Smaller pictures are done before threads are awake. Measured: docs/parallel-decoding.md. */
enum { MIN_PIXELS = 1000000 };
/* Data that a thread looks through at once: small enough that all threads end at about the same time, large
 * enough that what is walked over twice (LAP_TRACK_BEHIND) does not count. */
enum { PIECES_PER_THREAD = 4, MIN_PIECE = 32 << 10, MAX_PIECE = 256 << 10 };
/* Of the file, with LAP_DECODE_AUTO: beside what it takes, parts stay below 200 MB. */
enum { MAX_HELD = 80 << 20 };
/* Bytes of rows and restart markers in the index; threads that look through a scan. */
enum { MAX_INDEX = 16 << 20, MAX_TEAM = 256 };

/* ---- may this one have parts ------------------------------------------------------------------- */

static bool is_small(int64_t pixels)
{
    return pixels < MIN_PIXELS;
}

int lap_jpeg_split_threads(const lap_read_options *options, int64_t pixels)
{
    const int idle = 1 + lap_pool_idle(options->pool);
    const int threads = options->threads > 1 ? options->threads : 1;
    if (!options->pool || (options->decode == LAP_DECODE_SERIAL && !options->in_order))
        return 1;
    if (options->decode == LAP_DECODE_PARALLEL)
        return threads;
    return is_small(pixels) ? 1 : idle < threads ? idle : threads;
}

static int64_t pixels_of(const lap_jpeg_scan *scan)
{
    return (int64_t)scan->width * scan->height;
}

/* NULL: it may; else why not. */
static const char *reason_against(const lap_read_options *options, const lap_jpeg_scan *scan)
{
    if (options->decode == LAP_DECODE_SERIAL)
        return "serial decoding was asked for";
    if (scan->sof == 0xC2 || scan->sof == 0xCA)
        return "it is progressive";
    if (scan->sof != 0xC0 && scan->sof != 0xC1)
        return "it is coded arithmetically";
    if (scan->scan_components != scan->components)
        return "it has several scans";
    if (options->decode == LAP_DECODE_PARALLEL)
        return NULL;
    if (is_small(pixels_of(scan)))
        return "it is small";
    int worth = options->worth_threads > 2 ? options->worth_threads : 2;
    return lap_jpeg_split_threads(options, pixels_of(scan)) < worth ? "too few threads are idle" : NULL;
}

/* Of files that somebody decodes otherwise than as they are read. */
static bool is_worth_holding(const lap_jpeg_scan *scan)
{
    const bool is_sequential = scan->sof == 0xC0 || scan->sof == 0xC1;
    return scan->sof == 0xC2 || (is_sequential && scan->scan_components == scan->components);
}

lap_code lap_jpeg_split_hold(
    lap_jpeg_reader *r, const lap_jpeg_scan *scan, const uint8_t **bytes, lap_error *err)
{
    lap_decoder *d = r->decoder;
    const uint64_t limit = d->options.max_memory;
    size_t size;
    bool whole;
    const char *why = reason_against(&d->options, scan);
    /* Worth a word only where somebody might have hoped for it. */
    if (why && d->options.decode != LAP_DECODE_SERIAL &&
        (d->options.decode == LAP_DECODE_PARALLEL ||
            (d->options.worth_threads > 1 && !is_small(pixels_of(scan)))))
        d->how = why;
    if (why && !(d->options.holds && is_worth_holding(scan)))
        return LAP_OK;
    /* A quarter of the memory allowed; the rest is for pixels. */
    size_t largest = limit / 4 < SIZE_MAX / 4 && limit ? (size_t)limit / 4 : SIZE_MAX / 4;
    if ((why || d->options.decode == LAP_DECODE_AUTO) && largest > MAX_HELD)
        largest = MAX_HELD;
    static const uint8_t end_marker[] = {0xFF, JPEG_EOI}; /* no other bytes of a scan look like it */
    lap_source_hold_until(d->source, scan->position, end_marker);
    lap_code code = lap_source_hold(d->source, largest, bytes, &size, &whole, err);
    if (code != LAP_OK)
        return code;
    if (!whole) {
        d->how = why ? d->how : "the file is too large to be held in memory";
        return lap_source_peek(d->source, scan->position, bytes, &size, err);
    }
    d->bytes = *bytes;
    d->size = size;
    if (why)
        return LAP_OK;
    r->parts = calloc(1, sizeof *r->parts);
    if (!r->parts)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    r->parts->bytes = *bytes;
    r->parts->size = size;
    r->parts->coded = scan->position;
    return LAP_OK;
}

/* ---- the plan ------------------------------------------------------------------------------------ */

static int min_of(int a, int b)
{
    return a < b ? a : b;
}

/* Tables and layout as the header has them. False: something that libjpeg will complain of, or will not. */
static bool lay_out(const struct jpeg_decompress_struct *cinfo, lap_part_plan *plan, lap_huff_layout *layout)
{
    for (int c = 0; c < cinfo->num_components; c++) {
        const jpeg_component_info *info = &cinfo->comp_info[c];
        bool is_alone = cinfo->num_components == 1; /* then an MCU is one block, whatever its factors */
        int h = is_alone ? 1 : info->h_samp_factor, v = is_alone ? 1 : info->v_samp_factor;
        int dc = info->dc_tbl_no, ac = info->ac_tbl_no, q = info->quant_tbl_no;
        if (cinfo->cur_comp_info[c] != info || dc < 0 || dc > 3 || ac < 0 || ac > 3 || q < 0 || q > 3 ||
            !cinfo->dc_huff_tbl_ptrs[dc] || !cinfo->ac_huff_tbl_ptrs[ac] || !cinfo->quant_tbl_ptrs[q] ||
            !lap_huff_layout_add(layout, h * v, dc, 4 + ac))
            return false;
        plan->sampling[c] = (uint8_t)(h << 4 | v);
        plan->quantiser[c] = (uint8_t)q;
        const JHUFF_TBL *t = cinfo->dc_huff_tbl_ptrs[dc], *u = cinfo->ac_huff_tbl_ptrs[ac];
        if (lap_huff_make(t->bits, t->huffval, true, &layout->codes[dc]) != LAP_HUFF_FINE ||
            lap_huff_make(u->bits, u->huffval, false, &layout->codes[4 + ac]) != LAP_HUFF_FINE)
            return false;
        lap_part_extend(t->bits, t->huffval, &plan->dc_codes[dc]);
    }
    return cinfo->Ss == 0 && cinfo->Se == DCTSIZE2 - 1 && cinfo->Ah == 0 && cinfo->Al == 0;
}

static void measure(const lap_jpeg_reader *r, lap_part_plan *plan)
{
    const struct jpeg_decompress_struct *cinfo = &r->cinfo;
    const lap_read_options *options = &r->decoder->options;
    int h = 1, v = 1;
    for (int c = 0; c < cinfo->num_components; c++) {
        h = plan->sampling[c] >> 4 > h ? plan->sampling[c] >> 4 : h;
        v = (plan->sampling[c] & 15) > v ? plan->sampling[c] & 15 : v;
    }
    const int64_t pixels = (int64_t)cinfo->image_width * cinfo->image_height;
    plan->width = (int)cinfo->image_width;
    plan->height = (int)cinfo->image_height;
    plan->mcu_height = 8 * v;
    size_t size = r->parts->size - r->parts->coded;
    size_t piece = size / (size_t)(lap_jpeg_split_threads(options, pixels) * PIECES_PER_THREAD) + 1;
    piece = piece < MIN_PIECE ? MIN_PIECE : piece > MAX_PIECE ? MAX_PIECE : piece;
    plan->scan = (lap_scan_plan){.coded = {.bytes = r->parts->bytes + r->parts->coded,
                                     .size = size,
                                     .piece = options->piece_bytes ? options->piece_bytes : piece,
                                     .restarts = cinfo->restart_interval > 0},
        .mcus_wide = (plan->width - 1) / (8 * h) + 1,
        .mcus_high = (plan->height - 1) / (8 * v) + 1,
        .restart_interval = (int)cinfo->restart_interval,
        .max_bytes = MAX_INDEX};
}

lap_code lap_jpeg_split_open(lap_jpeg_reader *r, lap_error *err)
{
    lap_decoder *d = r->decoder;
    lap_huff_layout layout = {0};
    lap_huff_odd odd = LAP_HUFF_TABLE;
    lap_code code = LAP_OK;
    if (!r->parts)
        return LAP_OK;
    lap_part_plan *plan = &r->parts->plan;
    if (lay_out(&r->cinfo, plan, &layout)) {
        measure(r, plan);
        plan->tables = malloc(sizeof *plan->tables);
        if (!plan->tables)
            return lap_fail(err, LAP_E_MEMORY, "out of memory");
        lap_walk_tables_init(plan->tables, &layout);
        lap_error why = {0};
        const int threads = lap_jpeg_split_threads(&d->options, (int64_t)plan->width * plan->height);
        const lap_scan_team team = {d->options.pool, min_of(threads, MAX_TEAM), d->options.control};
        code = lap_scan_index_make(&plan->scan, plan->tables, &team, &plan->index, &odd, &why);
        if (code != LAP_OK)
            return lap_fail(err, code, "%s", why.message);
    }
    d->opens = odd == LAP_HUFF_FINE ? LAP_AT_ANY_ROW : LAP_AT_FIRST_ROW;
    d->at_memory = d->header.memory_estimate + 4 * plan->scan.coded.piece;
    if (lap_decoder_opens_at(d)) {
        d->held = r->parts->size + sizeof *plan->tables;
        d->header.memory_estimate += d->held;
    }
    d->how = lap_decoder_opens_at(d) ? NULL : lap_huff_odd_text(odd);
    return LAP_OK;
}

void lap_jpeg_split_close(lap_jpeg_reader *r)
{
    if (!r->parts)
        return;
    lap_scan_index_free(&r->parts->plan.index);
    free(r->parts->plan.tables);
    free(r->parts);
    r->parts = NULL;
}
