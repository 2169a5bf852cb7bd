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

int device_decode(
    const uint8_t *bytes, size_t size, bool gray, const lap_cuda_jpeg_tuning *tuning, picture *out)
{
    lap_jpeg_frame frame;
    lap_cuda_jpeg_plan plan;
    lap_view view = {0};
    lap_error err = {.message = ""};
    void *workspace = NULL;
    lap_cuda_jpeg_result result = {.odd = {0}};
    memset(out, 0, sizeof *out);
    if (!lap_jpeg_frame_read(bytes, size, &frame) ||
        !lap_cuda_jpeg_decode_plan(&frame, gray, size - frame.scan_begin, tuning, &plan))
        return NOT_OURS;
    void *staging = malloc(plan.staging_bytes);
    lap_code code = staging ? LAP_OK : LAP_E_MEMORY;
    if (!code)
        lap_cuda_jpeg_decode_stage_tables(&plan, staging, false);
    if (!code)
        code = lap_cuda_alloc(0, plan.workspace_bytes, &workspace, &err);
    if (!code)
        code = lap_cuda_view_create(0, plan.frame.width, plan.frame.height, plan.channels, 0, &view, &err);
    if (!code)
        code = lap_cuda_jpeg_decode_enqueue(
            &plan, bytes + frame.scan_begin, staging, workspace, &view, &result, NULL, NULL, &err);
    if (!code)
        code = lap_cuda_sync(0, NULL, &err);
    int odd = code ? BROKEN : (int)lap_cuda_jpeg_odd(&result);
    if (code)
        printf("# %s\n", err.message);
    if (odd == 0 && !take_pixels(&view, out, &err))
        odd = BROKEN;
    lap_cuda_view_destroy(&view);
    lap_cuda_free(0, workspace);
    free(staging);
    return odd;
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
