/* Error helpers that everything may use. Thread safe: they touch only what they are given. */
#ifndef LAP_STATUS_H
#define LAP_STATUS_H

#include "lapedge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills err (which may be NULL) and returns code: `return lap_fail(err, LAP_E_WRITE, "...", ...)`. */
lap_code lap_fail(lap_error *err, lap_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* *product = a * b; false, and *product untouched, if that does not fit. */
static inline bool lap_mul(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* *sum = a + b; false, and *sum untouched, if that does not fit. */
static inline bool lap_add(size_t a, size_t b, size_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

/* Monotonic milliseconds. */
double lap_now_ms(void);

#ifdef __cplusplus
}
#endif
#endif
