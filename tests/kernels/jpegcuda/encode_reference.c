#include "encode_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

static lap_code read_file(const char *path, uint8_t **bytes, size_t *size, lap_error *err)
{
    FILE *f = fopen(path, "rb");
    long end = -1;
    if (f && fseek(f, 0, SEEK_END) == 0)
        end = ftell(f);
    *bytes = end > 0 ? malloc((size_t)end) : NULL;
    *size = end > 0 ? (size_t)end : 0;
    const bool ok = *bytes && fseek(f, 0, SEEK_SET) == 0 && fread(*bytes, 1, *size, f) == *size;
    if (f)
        fclose(f);
    return ok ? LAP_OK : lap_fail(err, LAP_E_UNREADABLE, "cannot be read");
}

/* The pixels of a PPM or PGM in memory. */
static lap_code image_of(const char *pnm, lap_image *image, lap_error *err)
{
    int width, height, most, used = 0;
    char kind;
    if (sscanf(pnm, "P%c %d %d %d%n", &kind, &width, &height, &most, &used) != 4)
        return lap_fail(err, LAP_E_INTERNAL, "no PNM");
    lap_code code = lap_image_create(image, width, height, kind == '6' ? 3 : 1, 0, err);
    const size_t row = (size_t)width * (size_t)(kind == '6' ? 3 : 1);
    for (int y = 0; y < height && !code; y++)
        memcpy(image->view.base + y * image->view.stride, pnm + used + 1 + (size_t)y * row, row);
    return code;
}

lap_code lap_reference_make(const char *path, lap_reference *r, lap_error *err)
{
    lap_context *context = lap_context_create(0, err);
    lap_settings settings = lap_settings_default();
    uint8_t *photo;
    void *pnm = NULL, *file = NULL;
    size_t size, pnm_size, file_size = 0;
    lap_report report;
    lap_code code = context ? read_file(path, &photo, &size, err) : LAP_E_MEMORY;
    if (!code)
        code = lap_run_memory(context, photo, size, &file, &file_size, &settings, &report, err);
    settings.format = report.channels == 1 ? "pgm" : "ppm";
    if (!code)
        code = lap_run_memory(context, photo, size, &pnm, &pnm_size, &settings, &report, err);
    if (!code)
        code = image_of(pnm, &r->edges, err);
    if (code)
        return code;
    r->file = file;
    const size_t begin = lap_reference_target(r->file, file_size, r->edges.view.channels, &r->target);
    r->scan = r->file + begin;
    r->scan_bytes = file_size - begin - 2;
    return LAP_OK;
}
