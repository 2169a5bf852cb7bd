#include "base/control.h"

#include "base/status.h"

static lap_code fail_late(const lap_control *control, lap_error *err)
{
    const lap_code code = control->limit_s > 0
                              ? lap_fail(err, LAP_E_TIMEOUT, "over the time limit of %g s", control->limit_s)
                              : lap_fail(err, LAP_E_TIMEOUT, "over the time limit");
    return lap_error_remedy(err, code, LAP_REMEDY_TIMEOUT);
}

lap_code lap_control_check(const lap_control *control, lap_error *err)
{
    if (!control)
        return LAP_OK;
    if (control->cancel && atomic_load_explicit(control->cancel, memory_order_relaxed))
        return lap_fail(err, LAP_E_CANCELLED, "cancelled");
    if (control->deadline_ms > 0 && lap_now_ms() > control->deadline_ms)
        return fail_late(control, err);
    return LAP_OK;
}
