/* A CUDA stream with the device memory for a photo, or for several small photos that share their launches (a
 * chain). lap_device_slot_start enqueues all steps that the stagings have planned, and does not wait for
 * them. A slot allocates memory only for photos larger than all earlier ones. An object belongs to one thread
 * at a time. In a build without CUDA, no slot can be created (LAP_E_BACKEND). */
#ifndef LAP_DEVICE_SLOT_H
#define LAP_DEVICE_SLOT_H

#include "base/rung.h"
#include "device/device_staging.h"
#include "rungs/run_views.h"

typedef struct lap_device_slot lap_device_slot;

/* Creates a slot and its stream, but allocates no device memory yet. *slot is NULL after a failure. */
lap_code lap_device_slot_create(int device, lap_device_slot **slot, lap_error *err);
/* The same on the caller's stream, which may be NULL. */
lap_code lap_device_slot_create_on(int device, void *stream, lap_device_slot **slot, lap_error *err);
void lap_device_slot_destroy(lap_device_slot *slot); /* the slot's stream must be idle; NULL is allowed */
/* Stops recording times of stages: with 16 streams, recording costs a third of the encoder's rate (H200,
 * 2026-11-23). Do not call lap_device_slot_is_through afterwards. */
void lap_device_slot_without_times(lap_device_slot *slot);
/* For a lost device: frees the slot without calling CUDA, which might block for ever. Leaks its device
 * memory, which the device may still be using. NULL is fine. */
void lap_device_slot_abandon(lap_device_slot *slot);

/* The limits of a chain: number of photos, and device memory. */
enum { LAP_DEVICE_CHAIN = 64 };
#define LAP_DEVICE_CHAIN_BYTES ((size_t)256 << 20)
/* A photo goes into a chain if it needs at most this much device memory, and at most this much host
 * memory. */
#define LAP_DEVICE_SMALL_BYTES ((size_t)8 << 20)
#define LAP_DEVICE_SMALL_STAGING ((size_t)4 << 20)
/* Bytes of device memory that a planned staging needs; 0 if the number overflows. */
size_t lap_device_slot_needs(const lap_device_staging *staging);
/* Bytes of device memory that a chain of `count` photos needs. bytes: the sum of what each photo needs
 * alone. */
size_t lap_device_slot_chain_needs(size_t bytes, int count);
size_t lap_device_slot_room(const lap_device_slot *slot);
/* Replaces the slot's memory by exactly this many bytes (0: frees it). The stream must be idle. */
lap_code lap_device_slot_resize(lap_device_slot *slot, size_t bytes, lap_error *err);

/* Enqueues the steps that the stagings have planned: decode or upload, rotate or mirror, fill the border,
 * filter, count, encode. A single photo is a chain of one. Each of several photos, at most LAP_DEVICE_CHAIN,
 * must go together with the first (lap_device_staging_go_together). The slot must have room for them. filter:
 * used if the plans filter. After a failure the stream is idle. */
lap_code lap_device_slot_start(lap_device_slot *slot, const lap_device_staging *const stagings[], int count,
    const lap_views_filter *filter, lap_error *err);
/* Like lap_device_slot_start for one photo, but allocates room first and waits for the end. The stream is
 * idle when it returns. Adds the stages' durations to times; NULL: does not record them. */
lap_code lap_device_slot_run(lap_device_slot *slot, const lap_device_staging *staging,
    const lap_views_filter *filter, lap_times *times, lap_error *err);
/* The same for a chain; adds the durations divided by the number of photos to times. */
lap_code lap_device_slot_run_chain(lap_device_slot *slot, const lap_device_staging *const stagings[],
    int count, const lap_views_filter *filter, lap_times *times, lap_error *err);
/* Sets *through to whether all enqueued work is done. */
lap_code lap_device_slot_is_through(lap_device_slot *slot, bool *through, lap_error *err);
/* Waits until all enqueued work is done or has failed. */
lap_code lap_device_slot_wait(lap_device_slot *slot, lap_error *err);
/* Call these after a photo that was not in a chain is done. They copy its scan (LAP_HOST_PAGED only), or the
 * pixels of its result, to the host, and wait for the copy. */
lap_code lap_device_slot_scan(
    lap_device_slot *slot, const lap_device_staging *staging, lap_chunk *scan, lap_error *err);
lap_code lap_device_slot_pixels(lap_device_slot *slot, const lap_view *host, lap_error *err);
/* After the photos are done: adds the durations of their stages on the device. */
lap_code lap_device_slot_times(lap_device_slot *slot, lap_times *times, lap_error *err);

#endif
