/* How far a device took over a photo: what pipeline_device.c keeps of a pipeline. */
#ifndef LAP_DEVICE_WAY_H
#define LAP_DEVICE_WAY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lap_device_way {
    bool is_taken;         /* decoded, filtered and encoded on a device, as far as it takes the photo */
    bool decoded, encoded; /* there */
    const char *reason;    /* why not, where a device filters; NULL else */
    bool is_starting;      /* by starter, which is to be joined */
    pthread_t starter;
    const uint8_t *file; /* the input's bytes, or NULL */
    size_t file_size;
} lap_device_way;

#endif
