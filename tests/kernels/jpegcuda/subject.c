#include "subject.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "coding/jpeg_frame_read.h"
#include "cuda/device/device.h"

typedef struct failing {
    struct jpeg_error_mgr error;
    jmp_buf out;
} failing;

static void leave(j_common_ptr c)
{
    longjmp(((failing *)c->err)->out, 1);
}

static void be_silent(j_common_ptr c)
{
    (void)c;
}

verdict libjpeg_decode(const uint8_t *bytes, size_t size, bool gray, picture *out)
{
    struct jpeg_decompress_struct c;
    failing f;
    memset(out, 0, sizeof *out);
    memset(&c, 0, sizeof c);
    c.err = jpeg_std_error(&f.error);
    f.error.error_exit = leave;
    f.error.output_message = be_silent;
    if (setjmp(f.out)) {
        jpeg_destroy_decompress(&c);
        free(out->pixels);
        out->pixels = NULL;
        return REFUSED;
    }
    jpeg_create_decompress(&c);
    jpeg_mem_src(&c, bytes, size);
    jpeg_read_header(&c, TRUE);
    f.error.num_warnings = 0; /* what is odd in the header, the CPU sees before a device is asked */
    c.dct_method = JDCT_ISLOW;
    c.do_fancy_upsampling = TRUE;
    c.out_color_space = gray || c.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&c);
    out->width = (int)c.output_width;
    out->height = (int)c.output_height;
    out->channels = c.output_components;
    const size_t stride = (size_t)out->width * (size_t)out->channels;
    out->pixels = malloc(stride * (size_t)out->height);
    if (!out->pixels)
        leave((j_common_ptr)&c);
    while (c.output_scanline < c.output_height) {
        JSAMPROW row = out->pixels + stride * c.output_scanline;
        jpeg_read_scanlines(&c, &row, 1);
    }
    jpeg_finish_decompress(&c);
    const bool warned = f.error.num_warnings > 0;
    jpeg_destroy_decompress(&c);
    return warned ? WARNED : FINE;
}

/* The view's rows with what is behind them; whether that is still clear. */
static bool take_pixels(const lap_view *view, picture *out, lap_error *err)
{
    const size_t row = (size_t)view->width * (size_t)view->channels, stride = (size_t)view->stride;
    uint8_t *all = malloc(stride * (size_t)view->height);
    bool good =
        all &&
        lap_cuda_copy(view->place, all, view->base, stride * (size_t)view->height, NULL, err) == LAP_OK &&
        lap_cuda_sync(view->place, NULL, err) == LAP_OK;
    *out = (picture){view->width, view->height, view->channels, malloc(row * (size_t)view->height)};
    for (int y = 0; good && out->pixels && y < view->height; y++) {
        memcpy(out->pixels + (size_t)y * row, all + (size_t)y * stride, row);
        for (size_t i = row; i < stride; i++)
            good &= all[(size_t)y * stride + i] == 0;
    }
    free(all);
    return good && out->pixels;
}

typedef struct work { /* of a picture */
    lap_cuda_jpeg_plan plan;
    lap_view view;
    lap_cuda_jpeg_result *result;
    uint8_t *pinned, *scan;
    void *staging, *workspace;
    bool is_ours;
} work;

/* Copies the scan to pinned memory, at an odd address: files have their scans anywhere. */
static lap_code pin(work *w, const device_picture *p, lap_error *err)
{
    const size_t tables = (w->plan.staging_bytes + 15) / 16 * 16;
    void *memory;
    const lap_code code = lap_cuda_pinned_alloc(
        0, tables + sizeof *w->result + w->plan.frame.scan_begin % 16 + w->plan.scan_bytes, &memory, err);
    if (code)
        return code;
    w->pinned = memory;
    w->staging = w->pinned;
    w->result = (lap_cuda_jpeg_result *)(void *)(w->pinned + tables);
    w->scan = w->pinned + tables + sizeof *w->result + w->plan.frame.scan_begin % 16;
    memcpy(w->scan, p->bytes + w->plan.frame.scan_begin, w->plan.scan_bytes);
    memset(w->result, 0xFF, sizeof *w->result);
    lap_cuda_jpeg_decode_stage_tables(&w->plan, w->staging, false);
    return LAP_OK;
}

static lap_code prepare(work *w, const device_picture *p, const lap_cuda_jpeg_tuning *tuning, lap_error *err)
{
    lap_jpeg_frame frame;
    w->is_ours = lap_jpeg_frame_read(p->bytes, p->size, &frame) &&
                 lap_cuda_jpeg_decode_plan(&frame, p->gray, p->size - frame.scan_begin, tuning, &w->plan);
    if (!w->is_ours)
        return LAP_OK;
    lap_code code = pin(w, p, err);
    if (code == LAP_OK)
        code = lap_cuda_alloc(0, w->plan.workspace_bytes, &w->workspace, err);
    return code ? code
                : lap_cuda_view_create(
                      0, w->plan.frame.width, w->plan.frame.height, w->plan.channels, 0, &w->view, err);
}

static lap_code decode_ours(work works[], int count, lap_error *err)
{
    lap_cuda_jpeg_photo photos[LAP_CUDA_JPEG_PHOTOS];
    lap_cuda_table table = {0};
    int ours = 0;
    for (int i = 0; i < count; i++) {
        work *w = &works[i];
        if (w->is_ours)
            photos[ours++] = (lap_cuda_jpeg_photo){.scan = w->scan,
                .staging = w->staging,
                .workspace = w->workspace,
                .result = w->result,
                .plan = &w->plan,
                .pixels = &w->view};
    }
    if (ours == 0)
        return LAP_OK;
    const size_t rows = (size_t)ours * LAP_CUDA_JPEG_DECODE_ROW;
    lap_code code = lap_cuda_pinned_alloc(0, rows, &table.host, err);
    if (code == LAP_OK)
        code = lap_cuda_alloc(0, rows, &table.device, err);
    if (code == LAP_OK)
        code = lap_cuda_jpeg_decode_enqueue(photos, ours, ours > 1 ? &table : NULL, NULL, NULL, err);
    const lap_code waited = lap_cuda_sync(0, NULL, code ? NULL : err);
    lap_cuda_pinned_free(table.host);
    lap_cuda_free(0, table.device);
    return code ? code : waited;
}

void device_decode_batch(device_picture *pictures, int count, const lap_cuda_jpeg_tuning *tuning)
{
    lap_error err = {.message = ""};
    work *works = calloc((size_t)count, sizeof *works);
    lap_code code = works ? LAP_OK : LAP_E_MEMORY;
    for (int i = 0; i < count && !code; i++)
        code = prepare(&works[i], &pictures[i], tuning, &err);
    if (!code)
        code = decode_ours(works, count, &err);
    if (code)
        printf("# %s\n", err.message);
    for (int i = 0; works && i < count; i++) {
        device_picture *p = &pictures[i];
        work *w = &works[i];
        memset(&p->got, 0, sizeof p->got);
        p->odd = code ? BROKEN : w->is_ours ? (int)lap_cuda_jpeg_odd(w->result) : NOT_OURS;
        if (p->odd == 0 && !take_pixels(&w->view, &p->got, &err))
            p->odd = BROKEN;
        lap_cuda_view_destroy(&w->view);
        lap_cuda_free(0, w->workspace);
        lap_cuda_pinned_free(w->pinned);
    }
    free(works);
}

int device_decode(
    const uint8_t *bytes, size_t size, bool gray, const lap_cuda_jpeg_tuning *tuning, picture *out)
{
    device_picture one = {.bytes = bytes, .size = size, .gray = gray};
    device_decode_batch(&one, 1, tuning);
    *out = one.got;
    return one.odd;
}

const char *picture_difference(const picture *a, const picture *b)
{
    static char text[160];
    if (a->width != b->width || a->height != b->height || a->channels != b->channels)
        return "sizes differ";
    if (memcmp(a->pixels, b->pixels, (size_t)a->width * (size_t)a->height * (size_t)a->channels) == 0)
        return "";
    for (int y = 0; y < a->height; y++)
        for (int i = 0; i < a->width * a->channels; i++) {
            const size_t at = (size_t)y * (size_t)(a->width * a->channels) + (size_t)i;
            if (a->pixels[at] != b->pixels[at]) {
                snprintf(text, sizeof text, "pixel %d,%d channel %d: %d, libjpeg has %d", i / a->channels, y,
                    i % a->channels, a->pixels[at], b->pixels[at]);
                return text;
            }
        }
    return "";
}
