/* Writes a PNG with a palette, as in the PNG specification (third edition, W3C), 5.3 and 11.2: signature,
 * IHDR, tEXt, PLTE, IDAT, IEND. Each chunk is a length, a name, data, and their CRC-32. */
#include "codec/png_palette.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

#if LAP_HAVE_PNG /* libpng includes zlib */
#include <zlib.h>

enum { PIECE = 1 << 16, DEPTH = 8, INDEXED = 3 };

static void big_endian(uint8_t to[4], uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static lap_code write_chunk(
    lap_sink *sink, const char name[4], const uint8_t *data, size_t size, lap_error *err)
{
    uint8_t head[8], tail[4];
    big_endian(head, (uint32_t)size);
    memcpy(head + 4, name, 4);
    uLong crc = crc32(0, head + 4, 4);
    if (size > 0)
        crc = crc32(crc, data, (uInt)size);
    big_endian(tail, (uint32_t)crc);
    lap_code code = lap_sink_write(sink, head, sizeof head, err);
    if (code == LAP_OK && size > 0)
        code = lap_sink_write(sink, data, size, err);
    return code == LAP_OK ? lap_sink_write(sink, tail, sizeof tail, err) : code;
}

static lap_code write_text(lap_sink *sink, const char *software, lap_error *err)
{
    static const char keyword[] = "Software"; /* its final 0 separates it from the text */
    char text[80];
    const size_t room = sizeof text - sizeof keyword;
    memcpy(text, keyword, sizeof keyword);
    const int length = snprintf(text + sizeof keyword, room, "%s", software);
    if (length < 0 || (size_t)length >= room)
        return lap_fail(err, LAP_E_INTERNAL, "a text of %d bytes in a PNG", length);
    return write_chunk(sink, "tEXt", (const uint8_t *)text, sizeof keyword + (size_t)length, err);
}

static lap_code write_head(lap_sink *sink, const lap_png_palette *p, lap_error *err)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    uint8_t head[13] = {0}, palette[256][3];
    big_endian(head, (uint32_t)p->width);
    big_endian(head + 4, (uint32_t)p->height);
    head[8] = DEPTH;
    head[9] = INDEXED;
    for (int i = 0; i < p->count; i++)
        memcpy(palette[i], p->colors[i], 3);
    lap_code code = lap_sink_write(sink, signature, sizeof signature, err);
    if (code == LAP_OK)
        code = write_chunk(sink, "IHDR", head, sizeof head, err);
    if (code == LAP_OK && p->software)
        code = write_text(sink, p->software, err);
    return code == LAP_OK ? write_chunk(sink, "PLTE", palette[0], 3 * (size_t)p->count, err) : code;
}

/* Passes bytes to deflate (with Z_FINISH also all that remains in it), and writes full pieces. */
static lap_code pass_on(lap_sink *sink, z_stream *z, uint8_t *piece, int flush, lap_error *err)
{
    for (;;) {
        const int state = deflate(z, flush);
        if (state == Z_STREAM_ERROR)
            return lap_fail(err, LAP_E_INTERNAL, "deflate: stream error");
        const bool is_last = state == Z_STREAM_END;
        if (z->avail_out > 0 && !is_last)
            return LAP_OK;
        lap_code code = write_chunk(sink, "IDAT", piece, PIECE - z->avail_out, err);
        if (code != LAP_OK || is_last)
            return code;
        z->next_out = piece;
        z->avail_out = PIECE;
    }
}

static lap_code write_rows(lap_sink *sink, const lap_png_palette *p, lap_error *err)
{
    const size_t line = 1 + (size_t)p->width; /* a filter byte before each row */
    uint8_t *row = calloc(line, 1), *piece = malloc(PIECE);
    z_stream z = {.next_out = piece, .avail_out = PIECE};
    lap_code code = LAP_OK;
    /* Difference pictures are noise and flat areas, in which a search finds no matches longer than runs. */
    if (!row || !piece || deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS, MAX_MEM_LEVEL, Z_RLE) != Z_OK) {
        free(row);
        free(piece);
        return lap_fail(err, LAP_E_MEMORY, "out of memory for a PNG of %d x %d", p->width, p->height);
    }
    for (int y = 0; code == LAP_OK && y < p->height; y++) {
        p->row(p->user, y, row + 1);
        z.next_in = row;
        z.avail_in = (uInt)line;
        code = pass_on(sink, &z, piece, Z_NO_FLUSH, err);
    }
    if (code == LAP_OK)
        code = pass_on(sink, &z, piece, Z_FINISH, err);
    (void)deflateEnd(&z); /* returns an error for unfinished streams */
    free(row);
    free(piece);
    return code;
}

lap_code lap_png_palette_write(lap_sink *sink, const lap_png_palette *picture, lap_error *err)
{
    lap_code code = write_head(sink, picture, err);
    if (code == LAP_OK)
        code = write_rows(sink, picture, err);
    return code == LAP_OK ? write_chunk(sink, "IEND", NULL, 0, err) : code;
}

#else

lap_code lap_png_palette_write(lap_sink *sink, const lap_png_palette *picture, lap_error *err)
{
    (void)sink;
    (void)picture;
    return lap_fail(err, LAP_E_BACKEND, "PNG output was not built in (libpng and zlib were missing)");
}

#endif
