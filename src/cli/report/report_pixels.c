#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

lap_code lap_report_no_memory(lap_error *err)
{
    if (err)
        *err = (lap_error){.code = LAP_E_MEMORY, .message = "out of memory for the report"};
    return LAP_E_MEMORY;
}

/* ---- PNM ----------------------------------------------------------------------------------------- */

static uint8_t *pnm_begin(lap_pnm *pnm, int width, int height, int channels)
{
    char head[64];
    const int length = snprintf(head, sizeof head, "P%d\n%d %d\n255\n", channels == 1 ? 5 : 6, width, height);
    const size_t samples = (size_t)width * (size_t)height * (size_t)channels;
    pnm->size = (size_t)length + samples;
    pnm->bytes = malloc(pnm->size);
    if (!pnm->bytes)
        return NULL;
    memcpy(pnm->bytes, head, (size_t)length);
    return pnm->bytes + length;
}

/* Scales a side of `length` source pixels to n target pixels: returns the first source pixel of target pixel
 * i. Pixel i ends just before pixel i + 1 begins, so there are no gaps. */
static int edge_of(int i, int n, int length)
{
    return (int)((int64_t)i * length / n);
}

static uint8_t mean_of(const lap_view *view, lap_box box, int channel, lap_mean mean)
{
    uint64_t sum = 0;
    const uint64_t count = (uint64_t)box.width * (uint64_t)box.height;
    for (int y = box.y; y < box.y + box.height; y++) {
        const uint8_t *row = view->base + y * view->stride + channel;
        for (int x = box.x; x < box.x + box.width; x++)
            sum +=
                row[x * view->channels] * (mean == LAP_MEAN_SQUARE ? (uint64_t)row[x * view->channels] : 1);
    }
    if (mean == LAP_MEAN_SQUARE)
        return (uint8_t)lround(sqrt((double)sum / (double)count));
    return (uint8_t)((sum + count / 2) / count);
}

static uint8_t largest_of(const lap_view *a, const lap_view *b, lap_box box)
{
    int largest = 0;
    for (int y = box.y; y < box.y + box.height; y++) {
        const uint8_t *row = a->base + y * a->stride, *other = b->base + y * b->stride;
        for (int i = box.x * a->channels; i < (box.x + box.width) * a->channels; i++) {
            const int value = abs(row[i] - other[i]);
            largest = value > largest ? value : largest;
        }
    }
    return (uint8_t)largest;
}

/* Returns the source box of pixel (x, y) of the picture. */
static lap_box source_of(const lap_picture *p, int x, int y)
{
    const lap_box *box = &p->box;
    const int left = edge_of(x, p->width, box->width), top = edge_of(y, p->height, box->height);
    return (lap_box){box->x + left, box->y + top, edge_of(x + 1, p->width, box->width) - left,
        edge_of(y + 1, p->height, box->height) - top};
}

lap_code lap_pnm_of(const lap_picture *p, lap_pnm *pnm, lap_error *err)
{
    /* Ignores a fourth channel, which is not a colour. */
    const int channels = p->other || p->view->channels == 1 ? 1 : 3;
    uint8_t *to = pnm_begin(pnm, p->width, p->height, channels);
    if (!to)
        return lap_report_no_memory(err);
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            const lap_box source = source_of(p, x, y);
            for (int c = 0; c < channels; c++)
                *to++ =
                    p->other ? largest_of(p->view, p->other, source) : mean_of(p->view, source, c, p->mean);
        }
    return LAP_OK;
}

/* ---- data: URIs ---------------------------------------------------------------------------------- */

/* RFC 4648, section 4. */
static void base64(const uint8_t *from, size_t size, char *to)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const unsigned bits = (unsigned)from[i] << 16 | (left > 1 ? (unsigned)from[i + 1] << 8 : 0u) |
                              (left > 2 ? (unsigned)from[i + 2] : 0u);
        *to++ = digits[bits >> 18];
        *to++ = digits[bits >> 12 & 63];
        *to++ = left > 1 ? digits[bits >> 6 & 63] : '=';
        *to++ = left > 2 ? digits[bits & 63] : '=';
    }
    *to = '\0';
}

static json_t *uri_of(const char *type, const void *bytes, size_t size)
{
    char head[64];
    const int length = snprintf(head, sizeof head, "data:image/%s;base64,", type);
    char *text = malloc((size_t)length + (size + 2) / 3 * 4 + 1);
    if (!text)
        return NULL;
    memcpy(text, head, (size_t)length);
    base64(bytes, size, text + length);
    json_t *uri = json_string_nocheck(text);
    free(text);
    return uri;
}

lap_code lap_data_uri(lap_context *context, const lap_pnm *pnm, int quality, json_t **uri, lap_error *err)
{
    lap_settings settings = lap_settings_default();
    lap_report report;
    void *bytes = NULL;
    size_t size = 0;
    settings.filter = false;
    settings.format = quality == 0 ? "png" : "jpg";
    if (quality > 0)
        settings.quality = quality;
    lap_code code = lap_run_memory(context, pnm->bytes, pnm->size, &bytes, &size, &settings, &report, err);
    if (code == LAP_E_BACKEND && quality == 0)
        return lap_data_uri(context, pnm, 100, uri, err);
    *uri = code == LAP_OK ? uri_of(quality == 0 ? "png" : "jpeg", bytes, size) : NULL;
    free(bytes);
    return code == LAP_OK && !*uri ? lap_report_no_memory(err) : code;
}
