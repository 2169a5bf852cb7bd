/* One photo by way of a device, in pieces that need not wait for each other: loaded by one thread, enqueued
 * and watched by another (device_lane.h), landed by a third. The file that comes out is, byte by byte, that
 * of lap_run_to_sink. An object belongs to one thread at a time. */
#ifndef LAP_FLIGHT_H
#define LAP_FLIGHT_H

#include "base/context.h"
#include "device/device_cargo.h"
#include "io/sink.h"
#include "run/pipeline_state.h"

typedef struct lap_flight {
    lap_pipeline pipe; /* what is known of the photo; its times */
    lap_settings settings;
    lap_control control;
    lap_source *source;
    lap_chunk header; /* of the output */
    lap_device_cargo *cargo;
    const char *in;
    double began_ms;
} lap_flight;

/* Reads the file into the cargo, and plans its way with a rung of a device. *mine false: it is for
 * lap_run_to_sink, which alone judges files. Fails only where the cargo cannot be had: LAP_E_DEVICE,
 * LAP_E_MEMORY. The context, in and the cargo are used until the flight is closed. */
lap_code lap_flight_load(lap_flight *flight, lap_context *context, const char *in, const char *out,
    const lap_settings *settings, const lap_rung *rung, lap_device_cargo *cargo, bool *mine, lap_error *err);
/* Of a photo whose lane is through: whether the device did it; if not, as above. */
bool lap_flight_is_done(const lap_flight *flight);
/* Writes the file; arguments and result are those of lap_run_to_sink. */
lap_code lap_flight_land(lap_flight *flight, const lap_tree *tree, const char *out, struct stat *read,
    lap_sink **sink, lap_report *report, lap_error *err);
void lap_flight_close(lap_flight *flight); /* at any point, and twice */

#endif
