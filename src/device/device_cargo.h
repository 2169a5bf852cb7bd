/* One photo's host memory on its way through a device: pinned, kept for the next photo, grown rarely. What
 * the device does to the photo is planned here; a lane (device_lane.h) does it. An object belongs to one
 * thread at a time. In a build without CUDA nothing can be created (LAP_E_BACKEND). */
#ifndef LAP_DEVICE_CARGO_H
#define LAP_DEVICE_CARGO_H

#include "cuda/jpeg/decode.h"
#include "cuda/jpeg/encode.h"
#include "jpeg/jpeg_parts.h"

typedef struct lap_pinned { /* grows */
    uint8_t *bytes;
    size_t room;
} lap_pinned;

typedef struct lap_device_cargo {
    int device;
    size_t most;                    /* pinned bytes, 0: any number */
    lap_pinned file, staging, scan; /* scan: of the output */
    lap_pinned verdicts;            /* what the next two point to */
    lap_cuda_jpeg_result *decoded;  /* as the device leaves them */
    lap_cuda_jpeg_encoded *encoded;
    bool is_staged; /* staging has tables of an earlier photo */
    size_t file_bytes;
    int width, height, channels;
    lap_cuda_jpeg_plan decode;
    lap_cuda_jpeg_encode_plan encode;
} lap_device_cargo;

/* most: pinned bytes that it may take, 0: any number. *cargo is NULL after a failure. */
lap_code lap_device_cargo_create(int device, size_t most, lap_device_cargo **cargo, lap_error *err);
void lap_device_cargo_destroy(lap_device_cargo *cargo);       /* NULL is fine */
void lap_device_cargo_abandon(lap_device_cargo *cargo);       /* as lap_device_lane_abandon */
size_t lap_device_cargo_bytes(const lap_device_cargo *cargo); /* pinned so far */

/* Room for the bytes of a file, at cargo->file. LAP_E_LIMIT: more than it may take. */
lap_code lap_device_cargo_file(lap_device_cargo *cargo, size_t bytes, lap_error *err);
/* What is to be done with the file_bytes at cargo->file, and a scan as parts say. *mine false: nothing on a
 * device. LAP_E_LIMIT as above. */
lap_code lap_device_cargo_plan(
    lap_device_cargo *cargo, bool gray, const lap_jpeg_parts *parts, bool *mine, lap_error *err);
/* Once the lane is through: the output's scan; false where the CPU has to do the photo. */
bool lap_device_cargo_scan(const lap_device_cargo *cargo, const uint8_t **scan, size_t *bytes);

#endif
