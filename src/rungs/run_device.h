/* Device rungs on data in host memory: upload, launch, download. For run_rung.c alone. */
#ifndef LAP_RUN_DEVICE_H
#define LAP_RUN_DEVICE_H

#include "rungs/run_rung.h"

lap_code lap_device_filter(const lap_rung *rung, const lap_resources *use, const lap_view *in,
    const lap_view *out, const lap_params *params, lap_border border);
lap_code lap_device_transpose(
    const lap_rung *rung, const lap_resources *use, const lap_view *in, const lap_view *out);
lap_code lap_device_reduce(const lap_rung *rung, const lap_resources *use, const lap_array *in, double *sum);
lap_code lap_device_histogram(
    const lap_rung *rung, const lap_resources *use, const lap_view *in, uint64_t counts[4][256]);
lap_code lap_device_matvec(const lap_rung *rung, const lap_resources *use, const lap_gemv *g);
/* Creates the context of the device, if it can. */
void lap_device_start(int device);

#endif
