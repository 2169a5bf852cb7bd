/* How `bench` shows what it measures: a head, a table a ladder, warnings below. */
#ifndef LAP_CLI_BENCH_TABLE_H
#define LAP_CLI_BENCH_TABLE_H

#include "cli/options/args.h"

enum { LAP_BENCH_REASONS = 24, LAP_BENCH_NOTE = 200, LAP_BENCH_NOISY = 256 };

typedef struct lap_bench_table {
    const lap_cli *cli;
    bool narrow; /* a terminal of 80 columns: without least times, conversion and sums */
    int titled;  /* the columns above are those of: 0 nothing, 1 the host, 2 a device, 3 the codec there */
    struct {
        char reason[200], names[300];
    } absent[LAP_BENCH_REASONS]; /* backends that were not timed, by reason */
    int absent_count;
    struct {
        const char *resolved;
        double median_ms, stddev_ms;
    } noisy[LAP_BENCH_NOISY]; /* measurements; rows under several names may show the same */
    int noisy_count;
    double noisiest;
    char note[LAP_BENCH_NOTE]; /* on that row */
} lap_bench_table;

/* How far apart the times of a row are, as a share of the median, where that is too far to rely on them, and
 * text then says so in a line; else 0. */
double lap_bench_noise(const lap_bench_row *row, char text[LAP_BENCH_NOTE]);
/* "simd (avx512)", "auto (simd-avx512)", or just "c". */
void lap_cli_name_rung(char *to, size_t size, const char *backend, const char *resolved);
/* The processor's name as the system reports it. */
void lap_cpu_name(char *name, size_t size);
/* A CUDA device in words; false, and an empty text, where there is none of that number. Touches CUDA. */
bool lap_device_text(int device, char *text, size_t size);
/* Machine, compiler, libraries, and the flags of the ladder's files. */
void lap_bench_table_head(const lap_cli *cli, lap_op op, int threads);
void lap_bench_table_begin(lap_bench_table *table, const lap_cli *cli);
void lap_bench_table_row(lap_bench_table *table, const lap_bench_row *row);
void lap_bench_table_end(lap_bench_table *table);

#endif
