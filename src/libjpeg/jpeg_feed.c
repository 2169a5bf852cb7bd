#include "libjpeg/jpeg_feed.h"

#include <jerror.h>

#include "base/status.h"
#include "libjpeg/jpeg_bits.h"
#include "libjpeg/jpeg_left.h"
#include "libjpeg/jpeg_note.h"
#include "libjpeg/jpeg_scan.h"

/* Decoding is aborted after this many bytes without a new row of MCUs: twice the largest header that is
 * accepted. No valid row is that large: 8188 MCUs of 10 blocks of 64 coefficients of 4 bytes are 20 MiB. */
#define MAX_IDLE_BYTES ((uint64_t)2 * LAP_JPEG_MAX_HEADER)

/* ---- stopping -------------------------------------------------------------------------------- */

static void on_warning(void *user, j_common_ptr cinfo, lap_jpeg_class class)
{
    lap_jpeg_reader *r = user;
    char text[JMSG_LENGTH_MAX];
    /* Bytes left over before a restart marker mean that the interval was decoded wrongly. */
    int marker = cinfo->err->msg_parm.i[1];
    if (cinfo->err->msg_code == JWRN_EXTRANEOUS_DATA && r->started && marker >= JPEG_RST0 &&
        marker <= JPEG_RST0 + 7)
        class = LAP_JPEG_DAMAGED;
    if (cinfo->err->msg_code == JWRN_HIT_MARKER)
        r->short_scan = r->cinfo.input_scan_number;
    /* After the end of the source, every loss is due to the missing data. */
    if (class != LAP_JPEG_HARMLESS && r->ended) {
        lap_jpeg_lose(r, LAP_JPEG_TRUNCATED, "data ends");
        return;
    }
    lap_jpeg_text(cinfo, text);
    lap_jpeg_lose(r, class, text);
}

static void check_walk(lap_jpeg_reader *r, lap_code code)
{
    if (code == LAP_OK)
        return;
    lap_fail(&r->error.cause, code, "out of memory for the scan");
    lap_jpeg_raise(&r->error);
}

/* Called before the first byte of a scan is decoded. If libjpeg does not show which bytes it leaves over, our
 * own walk follows the scan to count them. */
static void begin_scan(lap_jpeg_reader *r)
{
    if (r->begun_scan == r->cinfo.input_scan_number)
        return;
    r->begun_scan = r->cinfo.input_scan_number;
    if (!r->walk &&
        (r->cinfo.arith_code || (!r->decoder->options.walk_scans && lap_jpeg_shows_buffer(&r->cinfo))))
        return;
    if (!r->walk)
        r->walk = lap_jpeg_walk_create();
    check_walk(r, r->walk ? lap_jpeg_walk_begin(r->walk, &r->cinfo) : LAP_E_MEMORY);
    check_walk(r, lap_jpeg_walk_feed(r->walk, r->source.next_input_byte, r->source.bytes_in_buffer));
}

/* libjpeg calls this at each row of MCUs while it reads scans, and at each request for rows. */
static void on_progress(j_common_ptr cinfo)
{
    lap_jpeg_reader *r = cinfo->client_data;
    const lap_read_options *options = &r->decoder->options;
    r->advanced_at = lap_source_bytes(r->decoder->source);
    if (lap_control_check(options->control, &r->error.cause) != LAP_OK)
        lap_jpeg_raise(&r->error);
    if (options->max_scans > 0 && r->cinfo.input_scan_number > options->max_scans) {
        lap_fail(&r->error.cause, LAP_E_LIMIT, "more scans than the limit of %d", options->max_scans);
        r->error.cause.remedy = LAP_REMEDY_MAX_SCANS;
        lap_jpeg_raise(&r->error);
    }
    if (!r->started)
        return;
    begin_scan(r);
    if (r->cinfo.input_iMCU_row >= r->cinfo.total_iMCU_rows)
        lap_jpeg_check_left(r);
}

/* ---- source manager -------------------------------------------------------------------------- */

static void source_nothing(j_decompress_ptr cinfo)
{
    (void)cinfo;
}

static boolean source_fill(j_decompress_ptr cinfo)
{
    static const JOCTET end_marker[] = {0xFF, JPEG_EOI};
    lap_jpeg_reader *r = cinfo->client_data;
    const uint8_t *bytes = NULL;
    size_t size = 0;
    if (lap_control_check(r->decoder->options.control, &r->error.cause) != LAP_OK)
        lap_jpeg_raise(&r->error);
    if (!r->ended && lap_source_next(r->decoder->source, &bytes, &size, &r->error.cause) != LAP_OK)
        lap_jpeg_raise(&r->error);
    if (lap_source_bytes(r->decoder->source) - r->advanced_at > MAX_IDLE_BYTES) {
        lap_fail(&r->error.cause, LAP_E_LIMIT, "%d MB without image data", (int)(MAX_IDLE_BYTES >> 20));
        lap_jpeg_raise(&r->error);
    }
    if (size == 0) {
        /* libjpeg's arithmetic decoder silently replaces missing bytes with zeros. */
        bool is_news = !r->ended && r->started && cinfo->arith_code;
        r->ended = true;
        if (is_news && cinfo->input_iMCU_row < cinfo->total_iMCU_rows)
            lap_jpeg_lose(r, LAP_JPEG_TRUNCATED, "data ends");
        bytes = end_marker;
        size = sizeof end_marker;
    }
    cinfo->src->next_input_byte = bytes;
    cinfo->src->bytes_in_buffer = size;
    if (r->walk)
        check_walk(r, lap_jpeg_walk_feed(r->walk, bytes, size));
    return TRUE;
}

static void source_skip(j_decompress_ptr cinfo, long count)
{
    struct jpeg_source_mgr *source = cinfo->src;
    lap_jpeg_reader *r = cinfo->client_data;
    size_t left = count > 0 ? (size_t)count : 0;
    while (left > source->bytes_in_buffer && !r->ended) {
        left -= source->bytes_in_buffer;
        source_fill(cinfo);
    }
    if (left <= source->bytes_in_buffer) { /* otherwise libjpeg will find the end marker */
        source->next_input_byte += left;
        source->bytes_in_buffer -= left;
    }
}

void lap_jpeg_feed_init(lap_jpeg_reader *r)
{
    r->cinfo.err = lap_jpeg_error_init(&r->error);
    r->error.warn = on_warning;
    r->error.user = r;
}

void lap_jpeg_feed_attach(lap_jpeg_reader *r)
{
    r->cinfo.client_data = r;
    r->cinfo.progress = &r->progress;
    r->progress.progress_monitor = on_progress;
    r->cinfo.src = &r->source;
    r->source.init_source = source_nothing;
    r->source.fill_input_buffer = source_fill;
    r->source.skip_input_data = source_skip;
    r->source.resync_to_restart = jpeg_resync_to_restart;
    r->source.term_source = source_nothing;
}
