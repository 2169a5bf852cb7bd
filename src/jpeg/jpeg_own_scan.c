/* Finds where rows of MCUs begin in a sequential picture that our decoder supports, if that pays off. */
#include <stdlib.h>

#include "base/status.h"
#include "jpeg/jpeg_own.h"

/* A smaller picture is decoded before other threads have woken up. Measured: docs/parallel-decoding.md. */
enum { MIN_PIXELS = 1000000 };
/* Threads read the data in pieces. Each walk of each thread gets the same number of pieces, at least two, so
 * that all finish at about the same time. A piece is large compared with the bytes that are read twice
 * (LAP_TRACK_BEHIND), and small enough for the pieces of a thread to stay in its second-level cache. */
enum { MIN_ROUNDS = 2, MIN_PIECE = 32 << 10, MAX_PIECE = 128 << 10 };
/* Limits: bytes of the index, and threads that index a scan. */
enum { MAX_INDEX = 16 << 20, MAX_TEAM = 256 };

static bool is_small(const lap_header *header)
{
    return (int64_t)header->width * header->height < MIN_PIXELS;
}

int lap_own_threads(const lap_decoder *d)
{
    const lap_read_options *options = &d->options;
    const int idle = 1 + lap_pool_idle(options->pool);
    const int threads = options->threads > 1 ? options->threads : 1;
    if (!options->pool || (options->decode == LAP_DECODE_SERIAL && !options->in_order))
        return 1;
    if (options->decode == LAP_DECODE_PARALLEL)
        return threads;
    return is_small(&d->header) ? 1 : idle < threads ? idle : threads;
}

/* Returns NULL if the picture may be decoded at several places at once, else the reason why not. */
static const char *reason_against(const lap_decoder *d)
{
    const lap_read_options *options = &d->options;
    const lap_header *header = &d->header;
    if (options->decode == LAP_DECODE_SERIAL)
        return "serial decoding was requested";
    if (header->arithmetic)
        return "it is coded arithmetically";
    if (header->progressive)
        return "it is progressive";
    if (header->whole)
        return "it has several scans";
    if (options->decode == LAP_DECODE_AUTO) {
        const int worth = options->worth_threads > 2 ? options->worth_threads : 2;
        if (is_small(header))
            return "it is small";
        if (lap_own_threads(d) < worth)
            return "too few threads are idle";
    }
    if (d->first)
        return NULL;
    return d->options.holds && !d->bytes ? "the file is too large to be held in memory"
                                         : "libjpeg-turbo decodes it, and cannot start inside a scan";
}

/* Returns whether the reason is worth reporting: only if the user could expect parallel decoding. */
static bool is_worth_a_word(const lap_decoder *d)
{
    const lap_read_options *options = &d->options;
    return options->decode == LAP_DECODE_PARALLEL ||
           (options->decode == LAP_DECODE_AUTO && options->worth_threads > 1 && !is_small(&d->header));
}

static size_t piece_of(size_t size, int threads)
{
    const size_t walks = (size_t)threads * LAP_WALK_LANES;
    const size_t rounds = (size - 1) / (walks * MAX_PIECE) + 1;
    const size_t piece = size / (walks * (rounds < MIN_ROUNDS ? MIN_ROUNDS : rounds)) + 1;
    return piece < MIN_PIECE ? MIN_PIECE : piece;
}

static lap_scan_plan plan_of(const lap_decoder *d)
{
    const lap_own_decoder *own = d->first;
    const size_t size = d->size - (size_t)own->frame->scan_begin;
    const size_t piece = piece_of(size, lap_own_threads(d));
    return (lap_scan_plan){.coded = {.bytes = d->bytes + own->frame->scan_begin,
                               .size = size,
                               .piece = d->options.piece_bytes ? d->options.piece_bytes : piece,
                               .restarts = own->plan->interval > 0,
                               .unstuff = own->rung->stages->unstuff},
        .mcus_wide = own->plan->mcus,
        .mcus_high = own->plan->mcu_rows,
        .restart_interval = own->plan->interval,
        .max_bytes = MAX_INDEX};
}

static lap_code make_index(lap_decoder *d, lap_huff_odd *odd, lap_error *err)
{
    lap_own_decoder *own = d->first;
    lap_error why = {0};
    const int threads = lap_own_threads(d);
    const lap_scan_team team = {d->options.pool, threads < MAX_TEAM ? threads : MAX_TEAM, d->options.control};
    lap_walk_tables *tables = malloc(sizeof *tables);
    if (!tables)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the scan");
    own->scan = plan_of(d);
    lap_walk_tables_init(tables, &own->frame->huffman);
    tables->walk_together = own->rung->stages->walk;
    const lap_code code = lap_scan_index_make(&own->scan, tables, &team, &own->index, odd, &why);
    free(tables);
    return code == LAP_OK ? code : lap_error_set(err, &why);
}

static size_t index_bytes(const lap_scan_index *index, int mcu_rows)
{
    return ((size_t)mcu_rows + 1) * sizeof *index->rows + index->mark_count * sizeof *index->marks +
           (index->piece_count + 1) * sizeof *index->begins;
}

lap_code lap_own_scan(lap_decoder *d, lap_error *err)
{
    lap_row_source source;
    lap_huff_odd odd = LAP_HUFF_FINE;
    if (lap_decoder_opens_at(d)) /* a progressive picture: its coefficients are held */
        return LAP_OK;
    const char *why = reason_against(d);
    d->how = why && is_worth_a_word(d) ? why : NULL;
    if (why)
        return LAP_OK;
    lap_code code = lap_own_source(d, &source, err);
    if (code == LAP_OK)
        code = make_index(d, &odd, err);
    if (code != LAP_OK)
        return code;
    if (odd != LAP_HUFF_FINE) {
        d->how = lap_huff_odd_text(odd);
        return LAP_OK;
    }
    const lap_own_decoder *own = d->first;
    d->opens = LAP_AT_ANY_ROW;
    d->held = index_bytes(&own->index, own->scan.mcus_high);
    d->header.memory_estimate += d->held;
    /* A thread needs pieces while it indexes, or a row decoder while it decodes; the sum covers both. */
    d->at_memory = lap_row_decoder_memory(d->header.width) + LAP_WALK_LANES * own->scan.coded.piece;
    return LAP_OK;
}
