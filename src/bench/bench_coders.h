/* The rows of the codec bench for a ladder of JPEG coders: the time of each on one thread, or why it was not
 * timed. Row 0 is libjpeg-turbo; the others' results are compared with its result before they are timed. */
#ifndef LAP_BENCH_CODERS_H
#define LAP_BENCH_CODERS_H

#include "bench/bench.h"

enum { LAP_CODER_ROWS = 8 };

typedef struct lap_coder_times {
    const char *name;
    double *times;    /* processor milliseconds of each run, for all photos */
    char reason[200]; /* empty: timed */
    bool differs;     /* the reason is a different result */
} lap_coder_times;

typedef struct lap_coders_bench { /* all zero: empty */
    lap_bench_run *bench;
    lap_op op;
    int count;
    lap_coder_times rows[LAP_CODER_ROWS];
    double pixel_count; /* pixels of all photos, and bytes of their files */
    size_t bytes;
} lap_coders_bench;

/* op: LAP_OP_ENCODE or LAP_OP_DECODE. LAP_E_MEMORY; call lap_coders_bench_end after a failure, too. */
lap_code lap_coders_bench_begin(lap_coders_bench *b, lap_bench_run *bench, lap_op op, lap_error *err);
/* Reports the rows to bench->each, with width, height and channels of shape. */
void lap_coders_bench_report(const lap_coders_bench *b, const lap_bench_row *shape);
void lap_coders_bench_end(lap_coders_bench *b);

#endif
