/* One photo's host memory on its way through a device: pinned, kept for the next photo, grown rarely. What
 * the device does to the photo is planned here; a slot (device_slot.h) does it. An object belongs to one
 * thread at a time. In a build without CUDA nothing can be created (LAP_E_BACKEND). */
#ifndef LAP_DEVICE_STAGING_H
#define LAP_DEVICE_STAGING_H

#include "base/turn.h"
#include "cuda/jpeg/decode.h"
#include "cuda/jpeg/encode.h"
#include "jpeg/jpeg_parts.h"

typedef struct lap_pinned { /* grows */
    uint8_t *bytes;
    size_t room;
    bool is_pinned; /* not before lap_device_staging_pin, where the staging pins by itself */
} lap_pinned;

typedef struct lap_device_staging {
    int device;
    bool pins;                     /* memory that is there already; else it comes pinned from CUDA */
    size_t most;                   /* pinned bytes, 0: any number */
    lap_pinned file, tables, scan; /* scan: of the output */
    lap_pinned verdicts;           /* what the next three point to */
    lap_cuda_jpeg_result *decoded; /* as the device leaves them */
    lap_cuda_jpeg_encoded *encoded;
    uint64_t (*counts)[4][256]; /* of source and result: how often each value occurs */
    bool is_staged;             /* tables has tables of an earlier photo */
    size_t file_bytes;
    lap_turn turn;               /* of the picture in the file, */
    int width, height, channels; /* and what comes out */
    bool is_encoded, is_counted;
    lap_cuda_jpeg_plan decode;
    lap_cuda_jpeg_encode_plan encode;
} lap_device_staging;

/* pins: lap_cuda_may_pin; then only pinning, growing what is pinned, and destroying call CUDA. most:
 * pinned bytes that it may take, 0: any number. *staging is NULL after a failure. */
lap_code lap_device_staging_create(
    int device, bool pins, size_t most, lap_device_staging **staging, lap_error *err);
void lap_device_staging_destroy(lap_device_staging *staging);       /* NULL is fine */
void lap_device_staging_abandon(lap_device_staging *staging);       /* as lap_device_slot_abandon */
size_t lap_device_staging_bytes(const lap_device_staging *staging); /* pinned so far */

/* Room for the bytes of a file, at staging->file. LAP_E_LIMIT: more than it may take. */
lap_code lap_device_staging_file(lap_device_staging *staging, size_t bytes, lap_error *err);
typedef struct lap_device_wish { /* what is wanted of a photo */
    bool gray;
    lap_turn turn;
    const lap_jpeg_parts *parts; /* of the output; NULL: none */
    bool counts;                 /* of the pixels before and after the filter */
} lap_device_wish;

/* What is to be done with the file_bytes at staging->file. *mine false: nothing on a device. LAP_E_LIMIT as
 * above. */
lap_code lap_device_staging_plan(
    lap_device_staging *staging, const lap_device_wish *wish, bool *mine, lap_error *err);
/* Before it goes on a slot: pins what has been added. LAP_E_MEMORY, LAP_E_DEVICE. */
lap_code lap_device_staging_pin(lap_device_staging *staging, lap_error *err);
bool lap_device_staging_is_pinned(const lap_device_staging *staging);
/* Once the slot is through: whether the device did all of it; else the CPU has to do the photo. */
bool lap_device_staging_is_done(const lap_device_staging *staging);

#endif
