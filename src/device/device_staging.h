/* The host memory that a device needs for one photo; kept for the next photo, rarely grown. Plans what the
 * device does with the photo; a slot (device_slot.h) executes the plan. An object belongs to one thread at a
 * time. */
#ifndef LAP_DEVICE_STAGING_H
#define LAP_DEVICE_STAGING_H

#include "base/counts.h"
#include "base/turn.h"
#include "cuda/jpeg/decode.h"
#include "cuda/jpeg/encode.h"
#include "libjpeg/jpeg_head.h"

typedef struct lap_pinned { /* memory that grows */
    uint8_t *bytes;
    size_t room;
    bool is_pinned; /* with LAP_HOST_PINS only after lap_device_staging_pin */
} lap_pinned;

typedef enum lap_host_memory {
    LAP_HOST_PINNED, /* CUDA allocates it pinned */
    LAP_HOST_PINS,   /* allocated as usual, then pinned: see lap_cuda_may_pin. Only pinning, growing pinned
                        memory, and destroying call CUDA */
    LAP_HOST_PAGED   /* never pinned, for a caller that waits: the scan stays on the device until
                        lap_device_slot_scan */
} lap_host_memory;

typedef struct lap_device_staging {
    int device;
    lap_host_memory kind;
    size_t most;                   /* most pinned bytes; 0: no limit */
    lap_pinned file, tables, scan; /* scan: the output's */
    lap_pinned verdicts;           /* memory of decoded, encoded and counts */
    lap_cuda_jpeg_result *decoded; /* written by the device */
    lap_cuda_jpeg_encoded *encoded;
    lap_photo_counts *counts;
    bool is_short;        /* the last photo needed more than `most` */
    bool is_staged;       /* `tables` still holds the tables of an earlier photo */
    const uint8_t *bytes; /* the input file's: file.bytes, or lent by the caller */
    size_t file_bytes;
    /* the plan */
    lap_view pixels;             /* on the host, to upload instead of the file; base NULL: none */
    lap_view source, result;     /* on the device; base NULL: in the slot's memory */
    lap_view copy;               /* on the device: where to copy the picture at the end; base NULL: nowhere */
    lap_turn turn;               /* applied to the file's picture */
    int width, height, channels; /* of the output */
    bool is_decoded, is_filtered, is_encoded, is_counted;
    lap_cuda_jpeg_plan decode;
    lap_cuda_jpeg_encode_plan encode;
} lap_device_staging;

/* most: limit of pinned bytes; 0: no limit. *staging is NULL after a failure. */
lap_code lap_device_staging_create(
    int device, lap_host_memory kind, size_t most, lap_device_staging **staging, lap_error *err);
void lap_device_staging_destroy(lap_device_staging *staging); /* NULL is fine */
void lap_device_staging_abandon(lap_device_staging *staging); /* see lap_device_slot_abandon */

/* Makes room for a file at staging->file. LAP_E_LIMIT: more than `most`. */
lap_code lap_device_staging_file(lap_device_staging *staging, size_t bytes, lap_error *err);
/* Makes room for a file, and copies it there. */
lap_code lap_device_staging_copy(lap_device_staging *staging, const void *file, size_t size, lap_error *err);
/* Uses the caller's bytes of a file. The caller keeps them until the photo is done. */
void lap_device_staging_lend(lap_device_staging *staging, const uint8_t *bytes, size_t size);

typedef struct lap_device_wish { /* what the caller wants done with a photo */
    const lap_view *pixels;      /* on the host: the source instead of the file; or NULL */
    const lap_view *source;      /* on the device: memory for the source; NULL: in the slot */
    const lap_view *result;      /* the same for the result; the input if nothing is decoded or filtered.
                                    Outputs that rungs cannot write (lap_view_is_aligned) are copied there */
    bool gray;
    lap_turn turn;               /* applied to the file's picture; 0: none */
    int width, height, channels; /* of the output; a file that gives another size is not handled */
    bool filters;
    const lap_jpeg_head *head; /* the output's; NULL: do not encode */
    size_t capacity;           /* most bytes of its scan; 0: enough for photos */
    bool counts;               /* count pixels before and after the filter */
} lap_device_wish;

/* Plans the work for the file or for pixels. *handled false: the device cannot do any of the work.
 * staging->is_encoded: whether it also encodes, if requested. LAP_E_LIMIT as above. */
lap_code lap_device_staging_plan(
    lap_device_staging *staging, const lap_device_wish *wish, bool *handled, lap_error *err);
/* Pins memory that was added since the last call. Call it before lap_device_slot_start. LAP_E_MEMORY,
 * LAP_E_DEVICE. */
lap_code lap_device_staging_pin(lap_device_staging *staging, lap_error *err);
bool lap_device_staging_is_pinned(const lap_device_staging *staging);
/* Whether two planned photos can be in a chain (device_slot.h): pinned memory, no pixels to upload, and the
 * same steps. */
bool lap_device_staging_go_together(const lap_device_staging *a, const lap_device_staging *b);
/* Call these after the slot is done. They return whether the source is right, whether the scan is right, and
 * whether all planned work is right; if not, the CPU must process the photo. */
bool lap_device_staging_has_source(const lap_device_staging *staging);
bool lap_device_staging_has_scan(const lap_device_staging *staging);
bool lap_device_staging_is_done(const lap_device_staging *staging);

#endif
