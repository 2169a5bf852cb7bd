#include "run/photo_device.h"

#include "base/status.h"
#include "device/device_photo.h"
#include "jpeg/jpeg_scan.h"
#include "rungs/run_rung.h"

static void *start_device(void *argument)
{
    const lap_photo *p = argument;
    lap_rung_start_device(LAP_OP_FILTER, p->plan.rung->name, p->plan.device);
    return NULL;
}

lap_code lap_photo_hold_file(lap_photo *p, lap_error *err)
{
    enum { PROBE_BYTES = 16 };
    const uint64_t max_memory = p->plan.max_memory;
    const size_t limit =
        max_memory > 0 && max_memory < LAP_SOURCE_MOST ? (size_t)max_memory : LAP_SOURCE_MOST;
    const uint8_t *bytes;
    size_t size;
    bool whole = false;
    p->device.is_starting = pthread_create(&p->device.starter, NULL, start_device, p) == 0;
    lap_code code = lap_source_peek(p->source, PROBE_BYTES, &bytes, &size, err);
    if (code == LAP_OK && lap_jpeg_probe(bytes, size)) /* other kinds are not worth the memory */
        code = lap_source_hold(p->source, limit, &bytes, &size, &whole, err);
    if (code == LAP_OK && whole) {
        p->device.file = bytes;
        p->device.file_size = size;
    }
    return code;
}

void lap_photo_wait_for_device(lap_photo *p)
{
    if (p->device.is_starting)
        pthread_join(p->device.starter, NULL);
    p->device.is_starting = false;
}

/* The source on the device: decoded there, or here and uploaded. */
static lap_code bring_source(lap_photo *p, lap_device_photo *photo, lap_error *err)
{
    bool mine = false;
    lap_code code = LAP_OK;
    if (p->device.file)
        code = lap_device_photo_decode(
            photo, p->device.file, p->device.file_size, p->plan.gray, p->plan.turn, &mine, &p->ms, err);
    if (code == LAP_OK && mine) { /* what the header had to say is all there is */
        p->damage = p->decoder->damage;
        p->device.decoded = true;
        lap_source_held_is_read(p->source);
        return LAP_OK;
    }
    if (code == LAP_OK)
        code = lap_photo_collect(p, err);
    return code == LAP_OK ? lap_device_photo_upload(photo, &p->whole.view, &p->ms, err) : code;
}

/* Statistics, where the pixels are. */
static lap_code count(lap_photo *p, lap_device_photo *photo, lap_error *err)
{
    const lap_rung *rung;
    if (!p->counts)
        return LAP_OK;
    lap_code code =
        lap_rung_find(LAP_OP_HISTOGRAM, lap_rung_companion(LAP_OP_HISTOGRAM, p->plan.rung), &rung, err);
    if (code == LAP_OK)
        code = lap_device_photo_count(photo, rung, p->counts->source, p->counts->result, &p->ms, err);
    return code;
}

/* The file, if the device makes its scan. */
static lap_code write_file(lap_photo *p, lap_device_photo *photo, bool *is_done, lap_error *err)
{
    lap_jpeg_parts parts;
    lap_chunk scan = {0};
    lap_code code = lap_jpeg_parts_make(&p->plan.write, &parts, err);
    if (code != LAP_OK)
        return code;
    code = lap_device_photo_encode(photo, &parts, &scan, is_done, &p->ms, err);
    const double start = lap_now_ms();
    if (code == LAP_OK && *is_done)
        code = lap_photo_write_jpeg(p->sink, &parts.header, scan.data, scan.size, err);
    p->ms.encode += lap_now_ms() - start; /* the sink's share is parted off at the end */
    p->device.encoded = code == LAP_OK && *is_done;
    lap_chunk_free(&parts.header);
    lap_chunk_free(&scan);
    return code;
}

lap_code lap_photo_on_device(lap_photo *p, bool *is_done, lap_error *err)
{
    const lap_plan *plan = &p->plan;
    lap_device_photo *photo = NULL;
    *is_done = false;
    lap_photo_wait_for_device(p);
    lap_code code =
        lap_device_photo_create(plan->device, plan->width, plan->height, plan->channels, &photo, err);
    if (code == LAP_OK)
        code = bring_source(p, photo, err);
    if (code == LAP_OK)
        code = lap_control_check(p->control, err);
    if (code == LAP_OK)
        code = lap_device_photo_filter(photo, plan->rung, &plan->params, plan->border, &p->ms, err);
    if (code == LAP_OK)
        code = count(p, photo, err);
    if (code == LAP_OK && plan->format == LAP_FORMAT_NOTHING)
        *is_done = true;
    else if (code == LAP_OK && plan->encodes_there)
        code = write_file(p, photo, is_done, err);
    if (code == LAP_OK && !*is_done) {
        code = lap_image_create(&p->filtered, plan->width, plan->height, plan->channels, 0, err);
        if (code == LAP_OK)
            code = lap_device_photo_download(photo, &p->filtered.view, &p->ms, err);
    }
    lap_device_photo_destroy(photo);
    return code;
}
