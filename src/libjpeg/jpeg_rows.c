/* Reads rows from libjpeg, and converts CMYK, which libjpeg does not convert, to RGB or gray. */
#include "base/luma.h"
#include "libjpeg/jpeg_reader.h"

enum { ROWS_A_CALL = 32 };

/* Adobe's files hold inverted inks: 255 means no ink. With these values, R = C K / 255, rounded. */
static void inks_to_pixels(const lap_jpeg_reader *r, const uint8_t *from, uint8_t *to)
{
    const unsigned flip = r->cinfo.saw_Adobe_marker ? 0 : 255;
    const int width = r->decoder->header.width;
    const bool is_gray = r->decoder->header.channels == 1;
    for (int x = 0; x < width; x++, from += 4) {
        unsigned k = from[3] ^ flip;
        unsigned red = ((from[0] ^ flip) * k + 127) / 255;
        unsigned green = ((from[1] ^ flip) * k + 127) / 255;
        unsigned blue = ((from[2] ^ flip) * k + 127) / 255;
        if (is_gray) {
            *to++ = lap_luma(red, green, blue);
        } else {
            *to++ = (uint8_t)red;
            *to++ = (uint8_t)green;
            *to++ = (uint8_t)blue;
        }
    }
}

int lap_jpeg_read_rows(lap_jpeg_reader *r, const lap_view *rows, int row)
{
    JSAMPROW lines[ROWS_A_CALL];
    JDIMENSION count = 0;
    uint8_t *first = rows->base + row * rows->stride;
    if (r->inks) {
        lines[count++] = r->inks;
    } else {
        for (; count < ROWS_A_CALL && row + (int)count < rows->height; count++)
            lines[count] = first + (ptrdiff_t)count * rows->stride;
    }
    count = jpeg_read_scanlines(&r->cinfo, lines, count);
    if (r->inks)
        inks_to_pixels(r, r->inks, first);
    return (int)count;
}
