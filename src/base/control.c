#include "base/control.h"

#include "base/status.h"

lap_code lap_control_check(const lap_control *control, lap_error *err)
{
    if (!control)
        return LAP_OK;
    if (control->cancel && atomic_load_explicit(control->cancel, memory_order_relaxed))
        return lap_fail(err, LAP_E_CANCELLED, "cancelled");
    if (control->deadline_ms > 0 && lap_now_ms() > control->deadline_ms)
        return lap_fail(err, LAP_E_TIMEOUT, "over the time limit");
    return LAP_OK;
}
