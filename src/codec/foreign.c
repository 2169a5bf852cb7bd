/* Recognises images that lapedge cannot read by their first bytes, so that the error can name the format. */
#include <string.h>

#include "codec/codec.h"

typedef struct foreign {
    const char *name;
    size_t at, size;
    const char *bytes;
} foreign;

static const foreign table[] = {
    {"a GIF", 0, 4, "GIF8"},
    {"a WebP image", 8, 4, "WEBP"},
    {"a JPEG 2000 image", 4, 8, "jP  \r\n\x87\n"},
    {"a JPEG 2000 code stream", 0, 4, "\xFF\x4F\xFF\x51"},
    {"a JPEG XL image", 4, 8, "JXL \r\n\x87\n"},
    {"a JPEG XL image", 0, 2, "\xFF\x0A"},
    {"a raw photo (CR3)", 4, 7, "ftypcrx"},
    {"an AVIF image", 4, 7, "ftypavi"},
    {"a HEIC image", 4, 7, "ftyphei"},
    {"a HEIC image", 4, 7, "ftyphev"},
    {"a HEIC image", 4, 8, "ftypmif1"},
    {"a HEIC image", 4, 8, "ftypmsf1"},
    {"a film (MP4 or QuickTime)", 4, 4, "ftyp"},
    {"a raw photo (CR2)", 8, 2, "CR"},
    {"a raw photo (RW2)", 0, 4, "IIU\0"},
    {"a raw photo (ORF)", 0, 4, "IIRO"},
    {"a raw photo (ORF)", 0, 4, "IIRS"},
    {"a raw photo (RAF)", 0, 8, "FUJIFILM"},
    {"a raw photo (X3F)", 0, 4, "FOVb"},
    {"a TIFF image, or a raw photo based on TIFF", 0, 4, "II*\0"},
    {"a TIFF image, or a raw photo based on TIFF", 0, 4, "MM\0*"},
    {"a Photoshop document", 0, 4, "8BPS"},
    {"a BMP image", 0, 2, "BM"},
    {"a PDF document", 0, 5, "%PDF-"},
    {"an AppleDouble file, metadata that macOS keeps beside a photo", 0, 4, "\x00\x05\x16\x07"},
};

const char *lap_foreign_name(const uint8_t *head, size_t size)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const foreign *f = &table[i];
        const bool fits = f->at + f->size <= size && memcmp(head + f->at, f->bytes, f->size) == 0;
        const bool is_cr2 = f->at == 8 && f->size == 2;
        if (fits && (!is_cr2 || memcmp(head, "II*\0", 4) == 0))
            return f->name;
    }
    return NULL;
}
