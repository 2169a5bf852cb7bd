/* Writes JPEG with libjpeg-turbo's scanline interface: baseline, standard Huffman tables, slow integer DCT.
 * For our own encoders, which write the scan themselves, it writes only the header.
 *
 * If there is more than one band (restart auto or on), each band is a restart interval. A restart only resets
 * the DC predictions and pads the last byte. So each band can be compressed as a separate image: its
 * entropy-coded data is bit for bit what one compressor would have written between two restart markers.
 * Compressors are reused for later bands. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "codec/codec.h"
#include "codec/meta.h"
#include "libjpeg/jpeg_dest.h"
#include "libjpeg/jpeg_error.h"
#include "libjpeg/jpeg_head.h"
#include "libjpeg/libjpeg.h"

enum {
    MAX_BAND_ROWS = 128,  /* long intervals, since each marker costs decoders time */
    MAX_INTERVAL = 65535, /* DRI holds 16 bits */
    ROWS_A_CALL = 16,     /* rows per call of libjpeg, and per check for a timeout */
    EOI_SIZE = 2,
    RST_SIZE = 2,
    MAX_MCU_BLOCKS = 10 /* limit in an interleaved scan (ITU-T T.81, B.2.3) */
};

typedef struct compressor {
    struct jpeg_compress_struct cinfo; /* cinfo's client_data is the compressor */
    struct jpeg_progress_mgr progress;
    lap_jpeg_error error;
    lap_jpeg_dest dest;
    const lap_encoder *encoder;
    struct compressor *next; /* in the list of idle compressors */
    /* arguments of the guarded work */
    int index;
    const lap_view *rows;
    lap_chunk *chunk;
} compressor;

typedef struct jpeg_state {
    int h[3], v[3]; /* sampling factors */
    int interval;   /* MCUs; 0: no restart markers */
    lap_meta meta;
    lap_chunk header; /* SOI to SOS, if bands are intervals; else `serial` writes it */
    compressor *serial;
    pthread_mutex_t lock;
    compressor *resting;
} jpeg_state;

/* ---- sampling ------------------------------------------------------------------------------------ */

static int gcd3(int a, int b, int c)
{
    for (int d = 4; d > 1; d--)
        if (a % d == 0 && b % d == 0 && c % d == 0)
            return d;
    return 1;
}

/* Copies the sampling factors of the input. False if libjpeg cannot write them, because a ratio is not a
 * whole number or the MCU has too many blocks. */
static bool same_sampling(const lap_header *from, int h[3], int v[3])
{
    if (!from || !from->is_ycc || from->components != 3)
        return false;
    int max_h = 1, max_v = 1, blocks = 0;
    for (int c = 0; c < 3; c++) {
        h[c] = from->sample_h[c];
        v[c] = from->sample_v[c];
        if (h[c] < 1 || h[c] > 4 || v[c] < 1 || v[c] > 4)
            return false;
    }
    int dh = gcd3(h[0], h[1], h[2]), dv = gcd3(v[0], v[1], v[2]);
    for (int c = 0; c < 3; c++) {
        h[c] /= dh;
        v[c] /= dv;
        max_h = h[c] > max_h ? h[c] : max_h;
        max_v = v[c] > max_v ? v[c] : max_v;
        blocks += h[c] * v[c];
    }
    for (int c = 0; c < 3; c++)
        if (max_h % h[c] != 0 || max_v % v[c] != 0)
            return false;
    return blocks <= MAX_MCU_BLOCKS;
}

/* Chooses the sampling factors. Gray output uses only the first component, with 1x1. LAP_SUB_SAME selects the
 * factors of options->from, reduced, if libjpeg can write them; else 4:4:4. */
static void choose_sampling(const lap_write_options *o, int h[3], int v[3])
{
    if (o->channels != 1 && o->subsampling == LAP_SUB_SAME && same_sampling(o->from, h, v))
        return;
    for (int c = 0; c < 3; c++)
        h[c] = v[c] = 1;
    if (o->channels != 1) {
        h[0] = o->subsampling == LAP_SUB_422 || o->subsampling == LAP_SUB_420 ? 2 : 1;
        v[0] = o->subsampling == LAP_SUB_420 ? 2 : 1;
    }
}

/* Computes the size of the coefficients that libjpeg holds until the last row if the file is progressive or
 * has optimised tables: 16 bits each, with chroma as if it were not subsampled. False on overflow. */
static bool count_coefficients(const lap_write_options *o, int mcu_width, int mcu_height, size_t *bytes)
{
    const size_t wide = (size_t)mcu_width, high = (size_t)mcu_height;
    const size_t width = ((size_t)o->width + wide - 1) / wide * wide;
    const size_t height = ((size_t)o->height + high - 1) / high * high;
    return lap_mul(width, height, bytes) && lap_mul(*bytes, o->channels == 1 ? 2 : 6, bytes);
}

/* ---- one compressor ------------------------------------------------------------------------------ */

static void destroy(compressor *c)
{
    if (!c)
        return;
    jpeg_destroy_compress(&c->cinfo);
    free(c);
}

static void go_on(compressor *c)
{
    if (lap_control_check(c->encoder->options.control, &c->error.cause) != LAP_OK)
        lap_jpeg_raise(&c->error);
}

/* libjpeg calls this once per row of MCUs. It is needed since jpeg_finish_compress codes all scans of a
 * progressive or optimised file in one call. */
static void on_progress(j_common_ptr cinfo)
{
    go_on(cinfo->client_data);
}

static void set_up(void *argument)
{
    compressor *c = argument;
    const lap_write_options *o = &c->encoder->options;
    const jpeg_state *state = c->encoder->state;
    j_compress_ptr cinfo = &c->cinfo;
    jpeg_create_compress(cinfo);
    cinfo->client_data = c;
    cinfo->progress = &c->progress;
    c->progress.progress_monitor = on_progress;
    lap_jpeg_ignore_limit((j_common_ptr)cinfo);
    lap_jpeg_dest_init(cinfo, &c->dest);
    cinfo->image_width = (JDIMENSION)o->width;
    cinfo->image_height = (JDIMENSION)o->height;
    cinfo->input_components = o->channels;
    cinfo->in_color_space = o->channels == 1 ? JCS_GRAYSCALE : o->channels == 3 ? JCS_RGB : JCS_EXT_RGBX;
    jpeg_set_defaults(cinfo);
    jpeg_set_quality(cinfo, o->quality, TRUE);
    cinfo->dct_method = JDCT_ISLOW;
    if (o->from && o->from->density_x > 0) {
        cinfo->density_unit = (UINT8)o->from->density_unit;
        cinfo->X_density = (UINT16)o->from->density_x;
        cinfo->Y_density = (UINT16)o->from->density_y;
    }
    if (o->progressive)
        jpeg_simple_progression(cinfo);
    cinfo->optimize_coding = o->optimize || o->progressive;
    for (int i = 0; i < cinfo->num_components; i++) {
        cinfo->comp_info[i].h_samp_factor = state->h[i];
        cinfo->comp_info[i].v_samp_factor = state->v[i];
    }
}

static lap_code work(compressor *c, void (*what)(void *), lap_error *err)
{
    lap_code code = lap_jpeg_guard(&c->error, what, c);
    switch (code) {
    case LAP_OK:
        return LAP_OK;
    case LAP_E_CANCELLED:
    case LAP_E_TIMEOUT:
    case LAP_E_MEMORY:
        return lap_error_set(err, &c->error.cause);
    default: /* libjpeg refuses the parameters set in this file */
        return lap_fail(err, LAP_E_INTERNAL, "JPEG encoder: %s", c->error.cause.message);
    }
}

static lap_code create(const lap_encoder *encoder, compressor **made, lap_error *err)
{
    compressor *c = calloc(1, sizeof *c);
    if (!c)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the JPEG encoder");
    c->encoder = encoder;
    c->cinfo.err = lap_jpeg_error_init(&c->error);
    lap_code code = work(c, set_up, err);
    if (code == LAP_OK)
        *made = c;
    else
        destroy(c);
    return code;
}

/* Writes the header of the whole image with its metadata, up to and including the scan header. */
static void write_header(compressor *c)
{
    const jpeg_state *state = c->encoder->state;
    c->cinfo.restart_interval = (unsigned)state->interval;
    jpeg_start_compress(&c->cinfo, TRUE);
    for (size_t i = 0; i < state->meta.count; i++) {
        const lap_segment *s = &state->meta.segments[i];
        jpeg_write_marker(&c->cinfo, s->marker, s->data, (unsigned)s->size);
    }
    jpeg_write_scanlines(&c->cinfo, NULL, 0); /* the first call writes frame and scan headers */
}

static void write_rows(compressor *c)
{
    const lap_view *rows = c->rows;
    for (int y = 0; y < rows->height; y += ROWS_A_CALL) {
        go_on(c);
        JSAMPROW line[ROWS_A_CALL];
        int n = rows->height - y < ROWS_A_CALL ? rows->height - y : ROWS_A_CALL;
        for (int i = 0; i < n; i++)
            line[i] = rows->base + (y + i) * rows->stride;
        jpeg_write_scanlines(&c->cinfo, line, (JDIMENSION)n);
    }
}

static void header_work(void *argument)
{
    compressor *c = argument;
    lap_jpeg_dest_set(&c->cinfo, c->chunk);
    write_header(c);
    lap_jpeg_dest_flush(&c->cinfo);
    jpeg_abort_compress(&c->cinfo);
}

/* Compresses a band as a separate image, and keeps only its entropy-coded data. */
static void parallel_work(void *argument)
{
    compressor *c = argument;
    lap_chunk *chunk = c->chunk;
    c->cinfo.image_height = (JDIMENSION)c->rows->height;
    lap_jpeg_dest_set(&c->cinfo, chunk);
    jpeg_start_compress(&c->cinfo, FALSE);
    jpeg_write_scanlines(&c->cinfo, NULL, 0);
    chunk->size = 0;
    if (c->index > 0) {
        chunk->data[0] = 0xFF;
        chunk->data[1] = (uint8_t)(JPEG_RST0 + (c->index - 1) % 8);
        chunk->size = RST_SIZE;
    }
    lap_jpeg_dest_set(&c->cinfo, chunk);
    write_rows(c);
    jpeg_finish_compress(&c->cinfo);
    chunk->size -= EOI_SIZE;
}

/* Compresses the next rows of one image; the chunk receives the bytes written so far. */
static void serial_work(void *argument)
{
    compressor *c = argument;
    lap_jpeg_dest_set(&c->cinfo, c->chunk);
    if (c->index == 0)
        write_header(c);
    write_rows(c);
    if (c->index == c->encoder->bands - 1)
        jpeg_finish_compress(&c->cinfo);
    else
        lap_jpeg_dest_flush(&c->cinfo);
}

/* ---- the format ---------------------------------------------------------------------------------- */

static int max3(const int a[3])
{
    int m = a[0] > a[1] ? a[0] : a[1];
    return m > a[2] ? m : a[2];
}

static lap_code jpeg_open(lap_encoder *encoder, lap_error *err)
{
    const lap_write_options *o = &encoder->options;
    if (o->width > JPEG_MAX_DIMENSION || o->height > JPEG_MAX_DIMENSION)
        return lap_fail(err, LAP_E_UNSUPPORTED,
            "%d x %d pixels: a side of a JPEG is at most %ld; write .ppm or .png instead", o->width,
            o->height, JPEG_MAX_DIMENSION);
    if (o->quality < 1 || o->quality > 100)
        return lap_fail(err, LAP_E_USAGE, "quality %d is not in 1..100", o->quality);
    jpeg_state *state = calloc(1, sizeof *state);
    if (!state)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the JPEG encoder");
    state->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    encoder->state = state;

    choose_sampling(o, state->h, state->v);
    int mcu_width = max3(state->h) * DCTSIZE, mcu_height = max3(state->v) * DCTSIZE;
    int mcus_a_row = (o->width - 1) / mcu_width + 1;
    int mcu_rows = MAX_BAND_ROWS / mcu_height;
    _Static_assert(JPEG_MAX_DIMENSION / DCTSIZE < MAX_INTERVAL, "one row of MCUs fits an interval");
    if (mcu_rows > MAX_INTERVAL / mcus_a_row)
        mcu_rows = MAX_INTERVAL / mcus_a_row;
    encoder->band_rows = mcu_rows * mcu_height;
    const bool held = o->progressive || o->optimize;
    encoder->parallel = !held && o->restart != LAP_RESTART_OFF && o->height > encoder->band_rows;
    if (held && !count_coefficients(o, mcu_width, mcu_height, &encoder->memory))
        return lap_fail(err, LAP_E_LIMIT, "%d x %d pixels are too many to be held", o->width, o->height);
    state->interval = encoder->parallel || o->restart == LAP_RESTART_ON ? mcus_a_row * mcu_rows : 0;

    lap_code code = lap_meta_choose(o, &state->meta, err);
    if (code == LAP_OK)
        code = create(encoder, &state->serial, err);
    if (code == LAP_OK && encoder->parallel) {
        state->serial->chunk = &state->header;
        code = work(state->serial, header_work, err);
    }
    return code;
}

static lap_code take(const lap_encoder *encoder, compressor **c, lap_error *err)
{
    jpeg_state *state = encoder->state;
    pthread_mutex_lock(&state->lock);
    *c = state->resting;
    if (*c)
        state->resting = (*c)->next;
    pthread_mutex_unlock(&state->lock);
    return *c ? LAP_OK : create(encoder, c, err);
}

static void give_back(jpeg_state *state, compressor *c)
{
    pthread_mutex_lock(&state->lock);
    c->next = state->resting;
    state->resting = c;
    pthread_mutex_unlock(&state->lock);
}

static lap_code jpeg_band(
    lap_encoder *encoder, int index, const lap_view *rows, lap_chunk *chunk, lap_error *err)
{
    jpeg_state *state = encoder->state;
    compressor *c = state->serial;
    lap_code code = encoder->parallel ? take(encoder, &c, err) : LAP_OK;
    if (code != LAP_OK)
        return code;
    c->index = index;
    c->rows = rows;
    c->chunk = chunk;
    if (!encoder->parallel)
        return work(c, serial_work, err);
    code = work(c, parallel_work, err);
    if (code == LAP_OK)
        give_back(state, c);
    else
        destroy(c);
    return code;
}

static lap_code jpeg_append(lap_encoder *encoder, int index, const lap_chunk *chunk, lap_error *err)
{
    const jpeg_state *state = encoder->state;
    lap_code code = LAP_OK;
    if (index == 0)
        code = lap_sink_write(encoder->sink, state->header.data, state->header.size, err);
    return code == LAP_OK ? lap_sink_write(encoder->sink, chunk->data, chunk->size, err) : code;
}

static lap_code jpeg_finish(lap_encoder *encoder, lap_error *err)
{
    static const uint8_t eoi[EOI_SIZE] = {0xFF, JPEG_EOI};
    return encoder->parallel ? lap_sink_write(encoder->sink, eoi, sizeof eoi, err) : LAP_OK;
}

static void jpeg_close(lap_encoder *encoder)
{
    jpeg_state *state = encoder->state;
    if (!state)
        return;
    destroy(state->serial);
    while (state->resting) {
        compressor *c = state->resting;
        state->resting = c->next;
        destroy(c);
    }
    lap_meta_free(&state->meta);
    lap_chunk_free(&state->header);
    pthread_mutex_destroy(&state->lock);
    free(state);
}

const uint8_t lap_jpeg_end[2] = {0xFF, 0xD9};

lap_code lap_jpeg_head_make(const lap_write_options *options, lap_jpeg_head *head, lap_error *err)
{
    lap_encoder encoder = {.ops = &lap_libjpeg_encoder, .format = LAP_FORMAT_JPG, .options = *options};
    *head = (lap_jpeg_head){.components = options->channels == 1 ? 1 : 3};
    lap_code code = jpeg_open(&encoder, err);
    if (code == LAP_OK) {
        jpeg_state *state = encoder.state;
        if (encoder.parallel) { /* jpeg_open has written the header; large metadata is not held twice */
            head->header = state->header;
            state->header = (lap_chunk){0};
        } else {
            state->serial->chunk = &head->header;
            code = work(state->serial, header_work, err);
        }
        for (int c = 0; c < head->components; c++) {
            head->h[c] = state->h[c];
            head->v[c] = state->v[c];
        }
        for (int i = 0; i < 2 * DCTSIZE2; i++)
            head->quant[i / DCTSIZE2][i % DCTSIZE2] =
                state->serial->cinfo.quant_tbl_ptrs[head->components == 3 ? i / DCTSIZE2 : 0]
                    ->quantval[i % DCTSIZE2];
        head->interval = state->interval;
        head->band_rows = encoder.band_rows;
    }
    jpeg_close(&encoder);
    if (code != LAP_OK)
        lap_chunk_free(&head->header);
    return code;
}

const lap_encoder_ops lap_libjpeg_encoder = {
    .formats = 1 << LAP_FORMAT_JPG,
    .open = jpeg_open,
    .band = jpeg_band,
    .append = jpeg_append,
    .finish = jpeg_finish,
    .close = jpeg_close,
};
