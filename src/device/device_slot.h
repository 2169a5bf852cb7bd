/* A stream of a device with the memory that one photo needs there: the whole way of a staging is enqueued at
 * once, nothing is waited for, and nothing allocated unless the photo is larger than those before. An object
 * belongs to one thread at a time. In a build without CUDA nothing can be created (LAP_E_BACKEND). */
#ifndef LAP_DEVICE_SLOT_H
#define LAP_DEVICE_SLOT_H

#include "base/rung.h"
#include "device/device_staging.h"
#include "rungs/run_views.h"

typedef struct lap_device_slot lap_device_slot;

/* Without device memory. *slot is NULL after a failure. */
lap_code lap_device_slot_create(int device, lap_device_slot **slot, lap_error *err);
/* On a stream of the caller's, which may be NULL. */
lap_code lap_device_slot_create_on(int device, void *stream, lap_device_slot **slot, lap_error *err);
void lap_device_slot_destroy(lap_device_slot *slot); /* nothing may be under way; NULL is fine */
/* Records no times of stages from now on: with 16 streams they take a third of the encoder's rate (H200,
 * 2026-11-23). lap_device_slot_is_through may not be asked then. */
void lap_device_slot_without_times(lap_device_slot *slot);
/* Of a device that is lost: calls CUDA no more, which might wait for ever. Its memory stays as it is, since
 * nobody knows what the device still does to it. NULL is fine. */
void lap_device_slot_abandon(lap_device_slot *slot);

/* Device memory that a planned staging needs; 0 where that cannot be counted. */
size_t lap_device_slot_needs(const lap_device_staging *staging);
size_t lap_device_slot_room(const lap_device_slot *slot);
/* Exactly this much device memory from now on (0: none). Nothing may be under way. */
lap_code lap_device_slot_resize(lap_device_slot *slot, size_t bytes, lap_error *err);

/* Enqueues the way of a staging for which there is room, as its plan says: decode or upload, turn, fill the
 * border, filter, count, encode. filter: used where the plan filters. */
lap_code lap_device_slot_start(
    lap_device_slot *slot, const lap_device_staging *staging, const lap_views_filter *filter, lap_error *err);
/* The same for a photo that is waited for: makes room, starts, waits. Nothing is under way when it returns.
 * times: how long the stages took is added. */
lap_code lap_device_slot_run(lap_device_slot *slot, const lap_device_staging *staging,
    const lap_views_filter *filter, lap_times *times, lap_error *err);
/* Whether it has come to its end. */
lap_code lap_device_slot_is_through(lap_device_slot *slot, bool *through, lap_error *err);
/* Until what was enqueued has come to its end, well or not. */
lap_code lap_device_slot_wait(lap_device_slot *slot, lap_error *err);
/* Of a photo that is through: its scan, from LAP_HOST_PAGED, and the pixels of its result. Both have waited.
 */
lap_code lap_device_slot_scan(
    lap_device_slot *slot, const lap_device_staging *staging, lap_chunk *scan, lap_error *err);
lap_code lap_device_slot_pixels(lap_device_slot *slot, const lap_view *host, lap_error *err);
/* Adds how long the stages of the photo that is through took on the device. */
lap_code lap_device_slot_times(lap_device_slot *slot, lap_times *times, lap_error *err);

#endif
