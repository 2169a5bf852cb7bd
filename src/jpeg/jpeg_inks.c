/* CMYK to what the pipeline works on. libjpeg does not convert it. */
#include "base/luma.h"
#include "jpeg/jpeg_feed.h"

/* Adobe's files hold inverted inks (255 = none); R = C K / 255 of such values, rounded. */
void lap_jpeg_inks_to_pixels(const lap_jpeg_reader *r, const uint8_t *from, uint8_t *to)
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
