#include "libjpeg/jpeg_left.h"

#include <inttypes.h>

#include "libjpeg/jpeg_bits.h"
#include "libjpeg/jpeg_note.h"

/* One good file of the corpus leaves 6 bytes, of which libjpeg counts 3; no other file leaves more than one
 * byte. docs/damage.md lists the false alarms and misses with these limits;
 * tests/unit/libjpeg/test_jpeg_left.c measures them. Arithmetic encoders never leave any. */
enum { MAX_SILENT = 1, MAX_LEFT = 6, MAX_PADDING = 64 << 10 };

static unsigned next_byte(j_decompress_ptr cinfo)
{
    if (cinfo->src->bytes_in_buffer == 0)
        cinfo->src->fill_input_buffer(cinfo); /* always adds some bytes, or raises an error */
    cinfo->src->bytes_in_buffer--;
    return *cinfo->src->next_input_byte++;
}

/* A restart marker does not end a scan; libjpeg skips it too. */
static bool ends_scan(int marker)
{
    return marker != 0 && (marker < JPEG_RST0 || marker > JPEG_RST0 + 7);
}

/* Reads up to the next marker, and stores it where libjpeg's decoders store a marker that they find. */
static void read_to_marker(j_decompress_ptr cinfo, lap_jpeg_left *l)
{
    while (!ends_scan(cinfo->unread_marker)) {
        unsigned byte = next_byte(cinfo);
        if (byte != 0xFF) {
            lap_jpeg_left_add(l, byte);
            continue;
        }
        do /* any number of fill bytes may precede a marker */
            byte = next_byte(cinfo);
        while (byte == 0xFF);
        if (byte == 0)
            lap_jpeg_left_add(l, 0xFF);
        cinfo->unread_marker = (int)byte;
    }
}

/* Returns whether libjpeg's buffer does not reflect the file. If the data ended early, it holds zeros that
 * libjpeg has inserted, and later AC scans are decoded wrongly, since they depend on the missing
 * coefficients. */
static bool is_buffer_lost(const lap_jpeg_reader *r)
{
    const struct jpeg_decompress_struct *cinfo = &r->cinfo;
    return r->short_scan > 0 &&
           (r->short_scan == cinfo->input_scan_number || (cinfo->progressive_mode && cinfo->Ss > 0));
}

/* Counts the bytes in libjpeg's buffer and the unread bytes. If the library does not show its buffer, returns
 * the count of our own walk instead. If the data ended early, which libjpeg has already warned of, counts
 * only the unread bytes. */
static lap_jpeg_left count_left(lap_jpeg_reader *r)
{
    uint8_t buffered[LAP_JPEG_MAX_BUFFERED];
    lap_jpeg_left l = {0}, walked;
    const int count = r->walk || is_buffer_lost(r) ? 0 : lap_jpeg_buffered(&r->cinfo, buffered);
    for (int i = 0; i < count; i++)
        lap_jpeg_left_add(&l, buffered[i]);
    read_to_marker(&r->cinfo, &l);
    return r->walk && lap_jpeg_walk_left(r->walk, &walked) ? walked : l;
}

void lap_jpeg_check_left(lap_jpeg_reader *r)
{
    if (r->checked_scan == r->cinfo.input_scan_number)
        return;
    r->checked_scan = r->cinfo.input_scan_number;
    const lap_jpeg_left l = count_left(r);
    bool is_padding = (l.zeros == l.bytes || l.ones == l.bytes) && l.bytes <= MAX_PADDING;
    bool is_loss = l.bytes > MAX_LEFT && !is_padding;
    if (l.bytes <= (r->cinfo.arith_code ? 0 : MAX_SILENT))
        return;
    char where[40] = "before the end marker", text[160];
    if (r->decoder->header.whole)
        snprintf(where, sizeof where, "at the end of scan %d", r->cinfo.input_scan_number);
    snprintf(text, sizeof text, "%" PRIu64 " bytes of %s are left over %s%s", l.bytes,
        is_padding ? "padding" : "data", where, is_loss ? ": the decoder lost its place" : "");
    lap_jpeg_note(r, is_loss ? LAP_JPEG_DAMAGED : LAP_JPEG_HARMLESS, text);
}
