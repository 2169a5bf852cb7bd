#include "run/photo_device.h"

#include "base/status.h"
#include "libjpeg/jpeg_scan.h"
#include "run/formats.h"
#include "run/settings.h"
#include "rungs/run_rung.h"

static void *start_device(void *argument)
{
    const lap_photo *p = argument;
    lap_rung_start_device(LAP_OP_FILTER, p->plan.rung->name, p->plan.device);
    return NULL;
}

lap_code lap_photo_hold_file(lap_photo *p, lap_error *err)
{
    const uint64_t max_memory = p->plan.max_memory;
    const size_t limit =
        max_memory > 0 && max_memory < LAP_SOURCE_MOST ? (size_t)max_memory : LAP_SOURCE_MOST;
    const uint8_t *bytes;
    size_t size;
    lap_input kind;
    bool whole = false;
    p->device.is_starting = pthread_create(&p->device.starter, NULL, start_device, p) == 0;
    lap_code code = lap_input_look(p->source, &kind, err);
    if (code == LAP_OK && kind == LAP_INPUT_JPEG) /* a device decodes only JPEGs */
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

/* ---- common steps ------------------------------------------------------------------------------ */

/* The head of the output; empty if the device does not encode. */
static lap_code make_head(const lap_plan *plan, lap_jpeg_head *head, lap_error *err)
{
    return plan->encodes_there ? lap_jpeg_head_make(&plan->write, head, err) : LAP_OK;
}

/* Plans all steps on the device, from the staging's file or from pixels. */
static lap_code plan_way(const lap_plan *plan, lap_device_staging *staging, const lap_view *pixels,
    const lap_jpeg_head *head, bool *handled, lap_error *err)
{
    const lap_device_wish wish = {.pixels = pixels,
        .gray = plan->gray,
        .turn = plan->turn,
        .width = plan->width,
        .height = plan->height,
        .channels = plan->channels,
        .filters = true,
        .head = head->header.size > 0 ? head : NULL,
        .counts = plan->stats || plan->format == LAP_FORMAT_NOTHING};
    return lap_device_staging_plan(staging, &wish, handled, err);
}

/* The device has decoded the rest without a warning: only the header's warnings remain. */
static void note_decoded(lap_photo *p)
{
    p->damage = p->decoder->damage;
    p->device.decoded = true;
    lap_source_held_is_read(p->source);
    p->ms.decode += lap_source_ms(p->source); /* subtracted again in the report */
}

static lap_code write_jpeg(lap_sink *sink, const lap_chunk *header, const uint8_t *scan, size_t size,
    lap_times *times, lap_error *err)
{
    const double start = lap_now_ms();
    lap_code code = lap_sink_reserve(sink, header->size + size + sizeof lap_jpeg_end, err);
    if (code == LAP_OK)
        code = lap_sink_write(sink, header->data, header->size, err);
    if (code == LAP_OK)
        code = lap_sink_write(sink, scan, size, err);
    if (code == LAP_OK)
        code = lap_sink_write(sink, lap_jpeg_end, sizeof lap_jpeg_end, err);
    times->encode += lap_now_ms() - start; /* the report counts it as writing instead */
    return code;
}

lap_code lap_photo_bring_jpeg(lap_device_slot *slot, const lap_device_staging *staging,
    const lap_chunk *header, lap_sink *sink, lap_times *times, lap_error *err)
{
    lap_chunk scan = {0};
    const double start = lap_now_ms();
    lap_code code = slot ? lap_device_slot_scan(slot, staging, &scan, err) : LAP_OK;
    times->download += lap_now_ms() - start;
    if (code == LAP_OK)
        code = write_jpeg(
            sink, header, slot ? scan.data : staging->scan.bytes, staging->encoded->bytes, times, err);
    lap_chunk_free(&scan);
    return code;
}

/* ---- the caller waits -------------------------------------------------------------------------- */

typedef struct work { /* one photo whose caller waits */
    lap_photo *photo;
    lap_device_slot *slot;
    lap_device_staging *staging;
    lap_jpeg_head head; /* the output's */
} work;

/* Runs the photo on the device. *is_done: the device could decode the file, or process the pixels. */
static lap_code send(work *w, const lap_view *pixels, bool *is_done, lap_error *err)
{
    lap_photo *p = w->photo;
    const lap_plan *plan = &p->plan;
    const lap_views_filter filter = {plan->rung, &plan->params, plan->border};
    lap_code code = plan_way(plan, w->staging, pixels, &w->head, is_done, err);
    if (code != LAP_OK || !*is_done)
        return code;
    code = lap_device_slot_run(w->slot, w->staging, &filter, &p->ms, err);
    *is_done = code == LAP_OK && lap_device_staging_has_source(w->staging);
    return code;
}

/* Lets the device decode the file; if it cannot, the CPU decodes and sends pixels. */
static lap_code send_photo(work *w, lap_error *err)
{
    lap_photo *p = w->photo;
    lap_code code = LAP_OK;
    bool is_done = false;
    if (p->device.file) {
        lap_device_staging_lend(w->staging, p->device.file, p->device.file_size);
        code = send(w, NULL, &is_done, err);
    }
    if (code == LAP_OK && is_done) {
        note_decoded(p);
        return LAP_OK;
    }
    if (code == LAP_OK)
        code = lap_photo_collect(p, err);
    if (code == LAP_OK)
        code = send(w, &p->whole.view, &is_done, err);
    if (code == LAP_OK && !is_done)
        code = lap_fail(err, LAP_E_DEVICE, "CUDA device %d did not process the pixels", p->plan.device);
    return code;
}

/* Writes the file if the device made its scan; else downloads the pixels for the CPU's encoder. */
static lap_code bring_back(work *w, bool *is_done, lap_error *err)
{
    lap_photo *p = w->photo;
    const lap_plan *plan = &p->plan;
    *is_done = plan->format == LAP_FORMAT_NOTHING;
    if (*is_done)
        return LAP_OK;
    if (lap_device_staging_has_scan(w->staging)) {
        const lap_code code =
            lap_photo_bring_jpeg(w->slot, w->staging, &w->head.header, p->sink, &p->ms, err);
        *is_done = p->device.encoded = code == LAP_OK;
        return code;
    }
    const double start = lap_now_ms();
    lap_code code = lap_image_create(&p->filtered, plan->width, plan->height, plan->channels, 0, err);
    if (code == LAP_OK)
        code = lap_device_slot_pixels(w->slot, &p->filtered.view, err);
    p->ms.download += lap_now_ms() - start;
    return code;
}

lap_code lap_photo_on_device(lap_photo *p, bool *is_done, lap_error *err)
{
    work w = {.photo = p};
    *is_done = false;
    lap_photo_wait_for_device(p);
    lap_code code = make_head(&p->plan, &w.head, err);
    if (code == LAP_OK)
        code = lap_device_slot_create(p->plan.device, &w.slot, err);
    if (code == LAP_OK)
        code = lap_device_staging_create(p->plan.device, LAP_HOST_PAGED, 0, &w.staging, err);
    if (code == LAP_OK)
        code = send_photo(&w, err);
    if (code == LAP_OK)
        code = lap_control_check(&p->control, err);
    if (code == LAP_OK && p->counts)
        lap_photo_counts_add(p->counts, w.staging->counts);
    if (code == LAP_OK)
        code = bring_back(&w, is_done, err);
    lap_device_staging_destroy(w.staging);
    lap_device_slot_destroy(w.slot);
    lap_chunk_free(&w.head.header);
    return code;
}

/* ---- in pieces: several threads ---------------------------------------------------------------- */

void lap_async_run_close(lap_async_run *r)
{
    lap_decoder_close(r->photo.decoder);
    r->photo.decoder = NULL;
    lap_chunk_free(&r->header);
    lap_source_close(r->photo.source);
    r->photo.source = NULL;
}

/* Whether the photo would exceed the memory limit on the CPU. Then the CPU handles the photo, and reports
 * that. */
static bool is_large(const lap_async_run *r)
{
    enum { IMAGES = 3 };
    const lap_plan *plan = &r->photo.plan;
    size_t bytes;
    return !lap_mul((size_t)plan->width * (size_t)plan->channels, (size_t)plan->height, &bytes) ||
           !lap_mul(bytes, IMAGES, &bytes) || !lap_add(bytes, r->staging->file_bytes, &bytes) ||
           (plan->max_memory && bytes > plan->max_memory);
}

/* Reads the file into the staging. If the file cannot be read, *handled stays false: the CPU reports why. */
static lap_code read_file(lap_async_run *r, bool *handled, lap_error *err)
{
    lap_error unread;
    bool whole = false;
    lap_source **source = &r->photo.source;
    if (lap_source_open(r->in, source, &unread) != LAP_OK)
        return LAP_OK;
    const struct stat *st = lap_source_stat(*source);
    if (!st || !S_ISREG(st->st_mode) || st->st_size < 4 || (uint64_t)st->st_size > LAP_SOURCE_MOST)
        return LAP_OK;
    const size_t room = (size_t)st->st_size + 1; /* one byte more, to detect the end of the file */
    lap_code code = lap_device_staging_file(r->staging, room, err);
    if (code != LAP_OK)
        return code;
    uint8_t *bytes = r->staging->file.bytes;
    if (lap_source_hold_in(*source, bytes, room, &r->staging->file_bytes, &whole, &unread) == LAP_OK)
        *handled = whole && lap_jpeg_probe(bytes, r->staging->file_bytes);
    return LAP_OK;
}

/* Reads the header as the CPU does. False after an error or a warning: the CPU handles the photo and reports
 * it. */
static bool read_header(lap_async_run *r)
{
    lap_error unread;
    if (lap_photo_open(&r->photo, &unread) != LAP_OK)
        return false;
    return r->photo.decoder->damage.warnings == 0 && !is_large(r);
}

/* Plans the output. If no such file can be written, *handled is false: the CPU reports why. */
static lap_code plan_photo(lap_async_run *r, bool *handled, lap_error *err)
{
    lap_jpeg_head head = {.components = 0};
    lap_error unread;
    const lap_plan *plan = &r->photo.plan;
    *handled = false;
    if (make_head(plan, &head, &unread) != LAP_OK)
        return LAP_OK;
    r->header = head.header;
    const lap_code code = plan_way(plan, r->staging, NULL, &head, handled, err);
    *handled = *handled && code == LAP_OK && r->staging->is_encoded == plan->encodes_there;
    return code;
}

/* Whether a device can do all that the settings ask for. Fills in the format. */
static bool plan_settings(lap_async_run *r, const lap_run_order *order, const lap_rung *rung)
{
    lap_error unread;
    lap_photo *p = &r->photo;
    if (order->out && lap_settings_with_format(order->settings, order->out, &p->settings, &unread) != LAP_OK)
        return false;
    return lap_plan_settings(&p->plan, &p->settings, rung, 1, &unread) == LAP_OK && p->plan.decodes_there &&
           (!order->out || p->plan.encodes_there);
}

static lap_code load(lap_async_run *r, bool *handled, lap_error *err)
{
    lap_code code = read_file(r, handled, err);
    if (code == LAP_OK && *handled)
        *handled = read_header(r);
    if (code == LAP_OK && *handled)
        code = plan_photo(r, handled, err);
    if (code != LAP_E_LIMIT)
        return code;
    *handled = false; /* the staging may not use that much pinned memory */
    return LAP_OK;
}

lap_code lap_async_run_load(lap_async_run *r, const lap_run_order *order, const lap_rung *rung,
    lap_device_staging *staging, bool *handled, lap_error *err)
{
    *handled = false;
    *r = (lap_async_run){.in = order->in, .staging = staging, .began_ms = lap_now_ms()};
    r->photo = lap_photo_of(order, r->began_ms);
    r->photo.device.encoded = order->out != NULL;
    if (!plan_settings(r, order, rung))
        return LAP_OK;
    const lap_code code = load(r, handled, err);
    if (code == LAP_OK && *handled)
        note_decoded(&r->photo);
    else
        lap_async_run_close(r);
    return code;
}

void lap_async_run_restart(lap_async_run *r)
{
    const double now = lap_now_ms();
    lap_control *control = &r->photo.control;
    if (control->deadline_ms > 0)
        control->deadline_ms += now - r->began_ms;
    r->began_ms = now;
}

lap_code lap_async_run_store(lap_async_run *r, const lap_run_order *order, struct stat *read, lap_sink **sink,
    lap_report *report, lap_error *err)
{
    lap_photo *p = &r->photo;
    lap_error why = {0};
    *report = (lap_report){0};
    p->counts = r->staging->counts;
    lap_code code = lap_control_check(&r->photo.control, &why);
    if (code == LAP_OK)
        code = lap_sink_open_below(order->tree, order->out, &p->sink, &why);
    if (code == LAP_OK)
        code = lap_photo_bring_jpeg(NULL, r->staging, &r->header, p->sink, &p->ms, &why);
    if (p->sink)
        lap_photo_report(p, report);
    if (code == LAP_OK)
        code = lap_photo_store(p, report, &why);
    if (code == LAP_OK)
        code = lap_source_verify(p->source, NULL, &why);
    if (code == LAP_OK && read)
        *read = *lap_source_stat(p->source);
    if (code != LAP_OK)
        lap_sink_close(p->sink);
    *sink = code == LAP_OK ? p->sink : NULL;
    p->sink = NULL;
    return lap_report_conclude(code, &why, r->in, r->began_ms, report, err);
}

lap_code lap_async_run_measure(lap_async_run *r, const lap_measure_options *options, lap_measurement *m,
    lap_report *report, lap_error *err)
{
    const lap_plan *plan = &r->photo.plan;
    lap_error why = {0};
    *report = (lap_report){0};
    *m = (lap_measurement){.width = plan->width,
        .height = plan->height,
        .channels = plan->channels,
        .resolved = plan->rung->name};
    lap_code code = lap_control_check(&r->photo.control, &why);
    if (code == LAP_OK)
        code = lap_photo_stats(r->staging->counts, r->staging->channels, options->threshold, &m->stats, &why);
    if (code == LAP_OK)
        code = lap_source_verify(r->photo.source, NULL, &why);
    lap_photo_report(&r->photo, report);
    return lap_report_conclude(code, &why, r->in, r->began_ms, report, err);
}
