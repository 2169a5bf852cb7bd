/* Sum in lanes, for any vector width: the file that includes this defines LAP_VECTOR (bytes) and
 * LAP_REDUCE_NAME. 128 bytes of partial sums run side by side whatever the width, and are added up in
 * one fixed order, so every instruction set gives the same sum, bit for bit.
 *
 * Float: partial sums cover LAP_REDUCE_BLOCK values and are then widened and added to double ones. A
 * value is rounded at most BLOCK / 32 = 32 times in float: the error is at most 32 * 2^-24 of the sum
 * of magnitudes, however long the array. */
#include <string.h>

#include "cpu_simd/host_rungs.h"

enum { LAP_REDUCE_BLOCK = 1024, FLOATS = 128 / 4, DOUBLES = 128 / 8, VECTORS = 128 / LAP_VECTOR };

typedef float floats __attribute__((vector_size(LAP_VECTOR)));
typedef double doubles __attribute__((vector_size(LAP_VECTOR)));

static inline void add_floats(const float *x, size_t n, double lanes[FLOATS])
{
    floats sum[VECTORS] = {0};
    float part[FLOATS];
    for (; n >= FLOATS; x += FLOATS, n -= FLOATS) {
        for (int i = 0; i < VECTORS; i++) {
            floats v;
            memcpy(&v, (const char *)x + i * LAP_VECTOR, sizeof v);
            sum[i] += v;
        }
    }
    memcpy(part, sum, sizeof part);
    for (size_t i = 0; i < n; i++)
        part[i] += x[i];
    for (int i = 0; i < FLOATS; i++)
        lanes[i] += (double)part[i];
}

static inline void add_doubles(const double *x, size_t n, double lanes[DOUBLES])
{
    doubles sum[VECTORS] = {0};
    for (; n >= DOUBLES; x += DOUBLES, n -= DOUBLES) {
        for (int i = 0; i < VECTORS; i++) {
            doubles v;
            memcpy(&v, (const char *)x + i * LAP_VECTOR, sizeof v);
            sum[i] += v;
        }
    }
    memcpy(lanes, sum, sizeof sum);
    for (size_t i = 0; i < n; i++)
        lanes[i] += x[i];
}

lap_code LAP_REDUCE_NAME(const lap_array *in, double *sum, const lap_exec *exec)
{
    (void)exec;
    double lanes[FLOATS] = {0}, total = 0;
    if (in->is_double) {
        add_doubles(in->base, in->n, lanes);
    } else {
        const float *x = in->base;
        for (size_t i = 0; i < in->n; i += LAP_REDUCE_BLOCK)
            add_floats(x + i, in->n - i < LAP_REDUCE_BLOCK ? in->n - i : LAP_REDUCE_BLOCK, lanes);
    }
    for (int i = 0; i < FLOATS; i++)
        total += lanes[i];
    *sum = total;
    return LAP_OK;
}
