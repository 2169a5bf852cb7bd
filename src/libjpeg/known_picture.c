#include "libjpeg/known_picture.h"

#include <pthread.h>

#include <xxhash.h>

#include "base/image.h"
#include "libjpeg/jpeg_dest.h"
#include "libjpeg/jpeg_head.h"
#include "libjpeg/libjpeg.h"

/* Odd sizes, so that padding, dummy blocks and the edges of upsampling are tested; one band. */
enum { WIDTH = 37, HEIGHT = 27, QUALITY = 88, QUANTISERS_OF_1 = 100 };

typedef struct kind {
    int components, h, v, quality; /* h, v: sampling factors of luma; chroma has 1 and 1 */
    uint64_t scan, pixels;         /* XXH3 of libjpeg-turbo 2.1.5's output, with and without SIMD */
} kind;

static const kind kinds[] = {
    {1, 1, 1, QUALITY, 0x90e47337e3955f75, 0x6c09d54f22d0922e},
    {3, 1, 1, QUALITY, 0x7c35f521a4868dbe, 0x302b50094c6c7db7},
    {3, 2, 1, QUALITY, 0xc0e8cc7909a13a7f, 0xb2a106bf914e48ea},
    {3, 2, 2, QUALITY, 0x61a8ffb426a60a56, 0xdf0b52c9df7648ba},
    {3, 1, 2, QUALITY, 0x92810d67698665a3, 0x0f64fbdf477489aa},
    {3, 4, 1, QUALITY, 0xb0ae64cab8b7de4a, 0xb02d91aecea2551e},
    {3, 2, 2, QUANTISERS_OF_1, 0x30d516ea7e3f834b, 0x5676d25238350667},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static uint64_t hash_of(const lap_view *view)
{
    uint64_t hash = 0;
    for (int y = 0; y < view->height; y++)
        hash = XXH3_64bits_withSeed(
            view->base + y * view->stride, (size_t)view->width * (size_t)view->channels, hash);
    return hash;
}

/* ---- encoding ---------------------------------------------------------------------------------- */

/* Draws ramps above and noise below, so that all frequencies occur. */
static void draw_pixels(const lap_view *view)
{
    uint32_t random = 1;
    for (int y = 0; y < HEIGHT; y++)
        for (int i = 0; i < view->channels * WIDTH; i++) {
            const unsigned ramp = (unsigned)(4 * y + i + 70 * (i % 3)), noise = next_random(&random) >> 16;
            view->base[y * view->stride + i] = (uint8_t)(y < HEIGHT / 2 ? ramp : noise);
        }
}

static lap_code encode(const kind *k, const lap_view *view, lap_chunk *file, size_t *header_size)
{
    const lap_header from = {.format = "jpeg",
        .components = 3,
        .is_ycc = true,
        .sample_h = {k->h, 1, 1},
        .sample_v = {k->v, 1, 1}};
    const lap_write_options options = {.width = WIDTH,
        .height = HEIGHT,
        .channels = k->components,
        .quality = k->quality,
        .subsampling = LAP_SUB_SAME,
        .restart = LAP_RESTART_OFF,
        .strip = true,
        .from = &from};
    lap_encoder *encoder = NULL;
    lap_jpeg_head head;
    lap_code code = lap_jpeg_head_make(&options, &head, NULL);
    *header_size = head.header.size;
    lap_chunk_free(&head.header);
    if (code == LAP_OK)
        code = lap_encoder_start(&lap_libjpeg_encoder, LAP_FORMAT_JPG, NULL, &options, &encoder, NULL);
    if (code == LAP_OK)
        code = lap_encoder_band(encoder, 0, view, file, NULL);
    lap_encoder_close(encoder);
    return code;
}

static lap_code try_encoding(const kind *k, bool *same)
{
    enum { EOI_SIZE = 2 };
    lap_image image = {0};
    lap_chunk file = {0};
    size_t header = 0;
    lap_code code = lap_image_create(&image, WIDTH, HEIGHT, k->components, 0, NULL);
    if (code == LAP_OK) {
        draw_pixels(&image.view);
        code = encode(k, &image.view, &file, &header);
    }
    *same = code == LAP_OK && file.size > header + EOI_SIZE &&
            XXH3_64bits(file.data + header, file.size - header - EOI_SIZE) == k->scan;
    lap_chunk_free(&file);
    lap_image_destroy(&image);
    return code;
}

/* ---- decoding ---------------------------------------------------------------------------------- */

typedef struct drawing { /* writes a file of synthetic coefficients */
    struct jpeg_compress_struct cinfo;
    lap_jpeg_error error;
    lap_jpeg_dest dest;
    const kind *kind;
    lap_chunk *file;
} drawing;

/* Draws a block with smaller coefficients at higher frequencies; no intermediate value leaves 16 bits. */
static void draw_block(const UINT16 *quantisers, uint32_t *random, JCOEF *block)
{
    enum { LARGEST_DC = 700, LARGEST_AC = 250 };
    for (int i = 0; i < DCTSIZE2; i++) {
        const int largest = i ? LARGEST_AC / (1 + i / DCTSIZE + i % DCTSIZE) : LARGEST_DC;
        const int value = (int)(next_random(random) % (2 * (unsigned)largest + 1)) - largest;
        block[i] = (JCOEF)(value / quantisers[i]);
    }
}

static void draw_component(drawing *d, int c, jvirt_barray_ptr coefficients, JDIMENSION wide, JDIMENSION high)
{
    const jpeg_component_info *info = &d->cinfo.comp_info[c];
    const UINT16 *quantisers = d->cinfo.quant_tbl_ptrs[info->quant_tbl_no]->quantval;
    uint32_t random = (uint32_t)c + 1;
    for (JDIMENSION y = 0; y < high; y++) {
        JBLOCKARRAY row = d->cinfo.mem->access_virt_barray((j_common_ptr)&d->cinfo, coefficients, y, 1, TRUE);
        for (JDIMENSION x = 0; x < wide; x++)
            draw_block(quantisers, &random, row[0][x]);
    }
}

static void work_draw(void *argument)
{
    drawing *d = argument;
    const kind *k = d->kind;
    j_compress_ptr cinfo = &d->cinfo;
    jvirt_barray_ptr coefficients[3];
    JDIMENSION wide[3], high[3];
    jpeg_create_compress(cinfo);
    lap_jpeg_ignore_limit((j_common_ptr)cinfo);
    lap_jpeg_dest_init(cinfo, &d->dest);
    cinfo->image_width = WIDTH;
    cinfo->image_height = HEIGHT;
    cinfo->input_components = k->components;
    cinfo->in_color_space = k->components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg_set_defaults(cinfo);
    jpeg_set_quality(cinfo, k->quality, TRUE);
    for (int c = 0; c < k->components; c++) {
        cinfo->comp_info[c].h_samp_factor = c ? 1 : k->h;
        cinfo->comp_info[c].v_samp_factor = c ? 1 : k->v;
        wide[c] = (JDIMENSION)(((WIDTH - 1) / (8 * k->h) + 1) * (c ? 1 : k->h));
        high[c] = (JDIMENSION)(((HEIGHT - 1) / (8 * k->v) + 1) * (c ? 1 : k->v));
        coefficients[c] = cinfo->mem->request_virt_barray(
            (j_common_ptr)cinfo, JPOOL_IMAGE, FALSE, wide[c], high[c], high[c]);
    }
    cinfo->mem->realize_virt_arrays((j_common_ptr)cinfo);
    for (int c = 0; c < k->components; c++)
        draw_component(d, c, coefficients[c], wide[c], high[c]);
    lap_jpeg_dest_set(cinfo, d->file);
#if JPEG_LIB_VERSION >= 70 /* interface 80 writes these into the header */
    cinfo->jpeg_width = cinfo->image_width;
    cinfo->jpeg_height = cinfo->image_height;
#endif
    jpeg_write_coefficients(cinfo, coefficients);
    jpeg_finish_compress(cinfo);
}

static lap_code draw_file(const kind *k, lap_chunk *file)
{
    drawing d = {.kind = k, .file = file};
    d.cinfo.err = lap_jpeg_error_init(&d.error);
    const lap_code code = lap_jpeg_guard(&d.error, work_draw, &d);
    jpeg_destroy_compress(&d.cinfo);
    return code;
}

static lap_code decode(const lap_chunk *file, const lap_view *view)
{
    const lap_read_options options = {.fail_on = LAP_FAIL_WARNING};
    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    lap_code code = lap_source_memory(file->data, file->size, "known picture", &source, NULL);
    if (code == LAP_OK)
        code = lap_decoder_start(&lap_libjpeg_decoder, source, &options, &decoder, NULL);
    if (code == LAP_OK)
        code = lap_decoder_rows(decoder, view, NULL);
    lap_decoder_close(decoder);
    lap_source_close(source);
    return code;
}

static lap_code try_decoding(const kind *k, bool *same)
{
    lap_image image = {0};
    lap_chunk file = {0};
    lap_code code = lap_image_create(&image, WIDTH, HEIGHT, k->components, 0, NULL);
    if (code == LAP_OK)
        code = draw_file(k, &file);
    if (code == LAP_OK)
        code = decode(&file, &image.view);
    *same = code == LAP_OK && hash_of(&image.view) == k->pixels;
    lap_chunk_free(&file);
    lap_image_destroy(&image);
    return code;
}

/* ---- once -------------------------------------------------------------------------------------- */

typedef struct finding {
    pthread_mutex_t lock;
    lap_code (*attempt)(const kind *, bool *same);
    const char *differs; /* the reason if the library rounds differently */
    bool is_known;
    const char *reason; /* if known; or NULL */
} finding;

static lap_code try_all(const finding *f, bool *same)
{
    lap_code code = LAP_OK;
    *same = true;
    for (int i = 0; i < KINDS && *same && code != LAP_E_MEMORY; i++)
        code = f->attempt(&kinds[i], same);
    return code;
}

/* If memory runs out, the next call tries again. */
static const char *find_out(finding *f)
{
    bool same;
    const char *reason = "out of memory while checking how the JPEG library rounds";
    pthread_mutex_lock(&f->lock);
    if (!f->is_known && try_all(f, &same) != LAP_E_MEMORY) {
        f->is_known = true;
        f->reason = same ? NULL : f->differs;
    }
    if (f->is_known)
        reason = f->reason;
    pthread_mutex_unlock(&f->lock);
    return reason;
}

const char *lap_known_encoding_differs(void)
{
    static finding encoding = {.lock = PTHREAD_MUTEX_INITIALIZER,
        .attempt = try_encoding,
        .differs = "the JPEG library here rounds differently from lapedge's encoders"};
    return find_out(&encoding);
}

const char *lap_known_decoding_differs(void)
{
    static finding decoding = {.lock = PTHREAD_MUTEX_INITIALIZER,
        .attempt = try_decoding,
        .differs = "the JPEG library here rounds differently from lapedge's decoders"};
    return find_out(&decoding);
}
