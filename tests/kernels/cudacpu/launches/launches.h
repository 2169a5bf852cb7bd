/* What every rung, the scaffold and the JPEG stages ask of the runtime: sizes of grids and blocks, shared
 * memory, bytes allocated, calls. Kernels do not run: the device hangs at its first operation, so pictures
 * need no pixels and may have any size. */
#ifndef LAUNCHES_H
#define LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device/device.h"
#include "tests/kernels/cudacpu/control.h"

extern lap_error err;

/* Prints a line of TAP. */
void check(bool good, const char *what);
void need(bool good, const char *what);
/* Starts over; queued work is not done. settings: further settings of the runtime, each with a comma behind
 * it, or "". */
void begin(const char *settings);
/* The same, but work is done. Call it before memory is freed, which waits for the device. */
void go_on(void);
/* Compares the launches since begin with "GRID/BLOCK[/SHARED BYTES]; ...", as in "4x2/16x16; 1/128/512".
 * Prints both and `what` if they differ. */
bool launched(const char *expected, const char *what);
/* Appends a launch to such a text. */
void add_launch(
    char *text, unsigned grid_x, unsigned grid_y, unsigned block_x, unsigned block_y, size_t shared);
enum { TEXT = 1000 };

static inline unsigned parts(uint64_t n, uint64_t of)
{
    return (unsigned)((n + of - 1) / of);
}

void check_filters(void);
void check_ladders(void);
void check_small(void);
void check_views(void);
void check_plans(void);
void check_jpeg(void);
/* Before any other use of CUDA: looks for devices once in each of several processes. */
void check_probes(void);

#endif
