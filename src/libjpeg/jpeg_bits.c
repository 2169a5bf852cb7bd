#include "libjpeg/jpeg_bits.h"

#include <pthread.h>
#include <string.h>

/* The first members of the Huffman decoders of libjpeg-turbo 1.0 to 3.1 (jdhuff.c, jdphuff.c). They are only
 * read, never written, and only after a test image has shown that the loaded library has this layout. */
typedef struct entropy_head {
    void (*start_pass)(j_decompress_ptr cinfo);
    boolean (*decode_mcu)(j_decompress_ptr cinfo, JBLOCKROW *blocks);
    boolean insufficient_data;
    size_t bits; /* the lowest `count` bits are unread */
    int count;
} entropy_head;

static int buffered(const struct jpeg_decompress_struct *cinfo, uint8_t bytes[LAP_JPEG_MAX_BUFFERED])
{
    entropy_head head;
    memcpy(&head, cinfo->entropy, sizeof head);
    if (head.count < 0 || head.count > (int)(8 * sizeof head.bits))
        return 0;
    for (int i = 0; i < head.count / 8; i++)
        bytes[i] = (uint8_t)(head.bits >> 8 * i);
    return head.count / 8;
}

/* ---- the test image ---------------------------------------------------------------------------- */

/* 8x8 gray, with Huffman tables of one code each. The scan is one byte; three stray bytes follow it. */
enum { FRAME = 72, SPECTRUM_END = 136, SIZE = 144 };
static const uint8_t known[SIZE] = {
    [0] = 0xFF,
    0xD8,
    0xFF,
    0xDB,
    0,
    67,
    0, /* 64 zeros */
    [71] = 0xFF,
    0xC0,
    0,
    11,
    8,
    0,
    8,
    0,
    8,
    1,
    1,
    0x11,
    0, /* baseline; 0xC2 is progressive */
    [84] = 0xFF,
    0xC4,
    0,
    20,
    0x00,
    1, /* DC: the bit 0 is a difference of 0 */
    [106] = 0xFF,
    0xC4,
    0,
    20,
    0x10,
    1, /* AC: the bit 0 ends the block */
    [128] = 0xFF,
    0xDA,
    0,
    8,
    1,
    1,
    0,
    0,
    63,
    0,
    0x3F, /* 63: last coefficient of the scan */
    [139] = 0x12,
    0x34,
    0x56,
    0xFF,
    0xD9,
};

typedef struct trial {
    struct jpeg_decompress_struct cinfo;
    lap_jpeg_error error;
    uint8_t file[SIZE];
    bool is_right;
} trial;

static void try_it(void *argument)
{
    trial *t = argument;
    uint8_t pixels[DCTSIZE], bytes[LAP_JPEG_MAX_BUFFERED];
    JSAMPROW row = pixels;
    jpeg_create_decompress(&t->cinfo);
    jpeg_mem_src(&t->cinfo, t->file, SIZE);
    jpeg_read_header(&t->cinfo, TRUE);
    jpeg_start_decompress(&t->cinfo);
    if (jpeg_read_scanlines(&t->cinfo, &row, 1) == 1 && buffered(&t->cinfo, bytes) == 3)
        t->is_right = bytes[0] == 0x56 && bytes[1] == 0x34 && bytes[2] == 0x12;
}

static bool is_known(bool progressive)
{
    trial t = {.is_right = false};
    memcpy(t.file, known, SIZE);
    if (progressive) {
        t.file[FRAME] = 0xC2;
        t.file[SPECTRUM_END] = 0;
    }
    t.cinfo.err = lap_jpeg_error_init(&t.error);
    lap_code code = lap_jpeg_guard(&t.error, try_it, &t);
    jpeg_destroy_decompress(&t.cinfo); /* does nothing if the object is still zeroed */
    return code == LAP_OK && t.is_right;
}

/* The loaded library does not change, so it is tested only once. */
static bool knows_sequential, knows_progressive;

static void learn(void)
{
    knows_sequential = is_known(false);
    knows_progressive = is_known(true);
}

bool lap_jpeg_shows_buffer(const struct jpeg_decompress_struct *cinfo)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (cinfo->arith_code)
        return true;
    if (pthread_once(&once, learn) != 0)
        return false;
    return cinfo->progressive_mode ? knows_progressive : knows_sequential;
}

int lap_jpeg_buffered(const struct jpeg_decompress_struct *cinfo, uint8_t bytes[LAP_JPEG_MAX_BUFFERED])
{
    return cinfo->arith_code ? 0 : buffered(cinfo, bytes);
}
