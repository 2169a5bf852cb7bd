/* The cancel flag and the deadline of one run. */
#ifndef LAP_CONTROL_H
#define LAP_CONTROL_H

#include <stdatomic.h>

#include "lapedge.h"

typedef struct lap_control {
    const atomic_int *cancel; /* or NULL */
    double deadline_ms;       /* on lap_now_ms's clock; 0: none */
    double limit_s;           /* from the start to the deadline, for messages; 0: unknown */
} lap_control;

/* Returns LAP_OK to continue, or LAP_E_CANCELLED or LAP_E_TIMEOUT with a message. control may be NULL. It is
 * called at least once per band; codecs call it at least once per MCU row and once per scan. */
lap_code lap_control_check(const lap_control *control, lap_error *err);

#endif
