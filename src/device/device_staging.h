/* One photo's host memory on its way through a device: kept for the next photo, grown rarely. What the device
 * does to the photo is planned here; a slot (device_slot.h) does it. An object belongs to one thread at a
 * time. */
#ifndef LAP_DEVICE_STAGING_H
#define LAP_DEVICE_STAGING_H

#include "base/counts.h"
#include "base/turn.h"
#include "cuda/jpeg/decode.h"
#include "cuda/jpeg/encode.h"
#include "libjpeg/jpeg_head.h"

typedef struct lap_pinned { /* grows */
    uint8_t *bytes;
    size_t room;
    bool is_pinned; /* not before lap_device_staging_pin, where the staging pins by itself */
} lap_pinned;

typedef enum lap_host_memory {
    LAP_HOST_PINNED, /* comes pinned from CUDA */
    LAP_HOST_PINS, /* memory that is there already is pinned: lap_cuda_may_pin. Only pinning, growing what is
                      pinned, and destroying call CUDA */
    LAP_HOST_PAGED /* never pinned, for a photo that is waited for: its scan stays on the device until
                      lap_device_slot_scan */
} lap_host_memory;

typedef struct lap_device_staging {
    int device;
    lap_host_memory kind;
    size_t most;                   /* pinned bytes, 0: any number */
    lap_pinned file, tables, scan; /* scan: of the output */
    lap_pinned verdicts;           /* what the next three point to */
    lap_cuda_jpeg_result *decoded; /* as the device leaves them */
    lap_cuda_jpeg_encoded *encoded;
    lap_photo_counts *counts;
    bool is_staged;       /* tables has tables of an earlier photo */
    const uint8_t *bytes; /* of the file: at file.bytes, or lent */
    size_t file_bytes;
    /* the plan */
    lap_view pixels;             /* on the host, uploaded instead of the file; base NULL: none */
    lap_view source, result;     /* on the device; base NULL: in the slot */
    lap_turn turn;               /* of the picture in the file, */
    int width, height, channels; /* and what comes out */
    bool is_decoded, is_filtered, is_encoded, is_counted;
    lap_cuda_jpeg_plan decode;
    lap_cuda_jpeg_encode_plan encode;
} lap_device_staging;

/* most: pinned bytes that it may take, 0: any number. *staging is NULL after a failure. */
lap_code lap_device_staging_create(
    int device, lap_host_memory kind, size_t most, lap_device_staging **staging, lap_error *err);
void lap_device_staging_destroy(lap_device_staging *staging); /* NULL is fine */
void lap_device_staging_abandon(lap_device_staging *staging); /* as lap_device_slot_abandon */

/* Room for the bytes of a file, at staging->file. LAP_E_LIMIT: more than it may take. */
lap_code lap_device_staging_file(lap_device_staging *staging, size_t bytes, lap_error *err);
/* The bytes of a file that the caller keeps until the photo is through. */
void lap_device_staging_lend(lap_device_staging *staging, const uint8_t *bytes, size_t size);

typedef struct lap_device_wish { /* what is wanted of a photo */
    const lap_view *pixels;      /* on the host: the source, instead of the file; NULL */
    const lap_view *source;      /* on the device: where it is to be; NULL: in the slot */
    const lap_view *result;      /* likewise; where it is, if nothing is decoded or filtered */
    bool gray;
    lap_turn turn;               /* of the file's picture; 0: as it is stored */
    int width, height, channels; /* of what is to come out; a file of another size is not for the device */
    bool filters;
    const lap_jpeg_head *head; /* of the output; NULL: none */
    size_t capacity;           /* bytes that its scan may take; 0: enough for photos */
    bool counts;               /* of the pixels before and after the filter */
} lap_device_wish;

/* What is to be done with the file, or with pixels. *handled false: nothing on a device; staging->is_encoded:
 * whether it encodes, if that is wished. LAP_E_LIMIT as above. */
lap_code lap_device_staging_plan(
    lap_device_staging *staging, const lap_device_wish *wish, bool *handled, lap_error *err);
/* Before it goes on a slot: pins what has been added. LAP_E_MEMORY, LAP_E_DEVICE. */
lap_code lap_device_staging_pin(lap_device_staging *staging, lap_error *err);
bool lap_device_staging_is_pinned(const lap_device_staging *staging);
/* Once the slot is through: whether the source is right, whether the scan is, and whether the device did all
 * of it; else the CPU has to do the photo. */
bool lap_device_staging_has_source(const lap_device_staging *staging);
bool lap_device_staging_has_scan(const lap_device_staging *staging);
bool lap_device_staging_is_done(const lap_device_staging *staging);

#endif
