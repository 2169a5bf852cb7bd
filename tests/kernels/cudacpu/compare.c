/* Compares the rungs of the ladders, including the device rungs: it uploads, runs and downloads as on a
 * GPU. Pixels come from memory, so that no codec is needed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/image.h"
#include "lapedge_program.h"

struct lap_pixels {
    lap_image image;
};

const lap_view *lap_pixels_with_apron(const lap_pixels *pixels)
{
    return &pixels->image.view;
}

typedef struct seen {
    int devices, wrong;
} seen;

static void each(void *user, const lap_compare_row *row)
{
    seen *s = user;
    const bool on_device = strncmp(row->backend, "cuda", 4) == 0;
    const bool has_stages = row->upload_ms >= 0 && row->kernel_ms >= 0 && row->download_ms >= 0;
    const bool is_picture = row->op == LAP_OP_FILTER || row->op == LAP_OP_TRANSPOSE;
    const bool has_sum = row->op == LAP_OP_REDUCE || row->op == LAP_OP_MATVEC;
    s->devices += on_device && row->resolved;
    if (row->reason && !on_device)
        return; /* an instruction set that this processor lacks */
    if (row->reason || !row->difference.identical || has_stages != (on_device && is_picture) ||
        isnan(row->relative_error) == has_sum) {
        s->wrong++;
        printf("# %s %s: %s\n", lap_op_name(row->op), row->backend,
            row->reason   ? row->reason
            : row->detail ? row->detail
                          : "differs, or has other values than it should");
    }
}

static bool compare(lap_context *context, lap_op op, int channels)
{
    const lap_settings settings = {.params = lap_params_default(), .border = LAP_REFLECT101};
    lap_pixels pixels;
    lap_error err = {0};
    seen s = {0};
    unsigned seed = 1;
    if (lap_image_create(&pixels.image, 131, 67, channels, LAP_APRON, &err) != LAP_OK)
        return false;
    const lap_view *v = &pixels.image.view;
    for (int y = 0; y < v->height; y++) {
        for (int i = 0; i < v->width * channels; i++) {
            seed = seed * 1664525 + 1013904223;
            v->base[y * v->stride + i] = (uint8_t)(seed >> 24);
        }
    }
    lap_code code =
        lap_compare(context, op, &pixels, &(lap_compare_options){.each = each, .user = &s}, &settings, &err);
    if (code != LAP_OK)
        printf("# %s\n", err.message);
    lap_image_destroy(&pixels.image);
    return code == LAP_OK && s.devices > 1 && s.wrong == 0;
}

int main(void)
{
    lap_error err;
    int n = 0, failed = 0;
    lap_context *context = lap_context_create(2, &err);
    for (int op = 0; context && op < LAP_OP_COUNT; op++) {
        for (int channels = 1; channels <= 3; channels += 2) {
            const bool good = compare(context, (lap_op)op, channels);
            failed += !good;
            printf("%s %d - device rungs of %s, %d channels\n", good ? "ok" : "not ok", ++n,
                lap_op_name((lap_op)op), channels);
        }
    }
    lap_context_destroy(context);
    printf("1..%d\n", n);
    return n == 0 || failed;
}
