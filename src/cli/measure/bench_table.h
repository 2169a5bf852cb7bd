/* Prints the results of `bench`: a heading, a table for each ladder, and warnings below. */
#ifndef LAP_CLI_BENCH_TABLE_H
#define LAP_CLI_BENCH_TABLE_H

#include "cli/options/args.h"

enum { LAP_BENCH_REASONS = 24, LAP_BENCH_NOTE = 200, LAP_BENCH_NOISY = 256 };

typedef struct lap_bench_table {
    const lap_cli *cli;
    bool narrow; /* terminal of 80 columns: omit least times, conversion and sums */
    int titled;  /* titles printed last: 0 none, 1 host, 2 device, 3 codec on a device */
    struct {
        char reason[200], names[300];
    } absent[LAP_BENCH_REASONS]; /* backends that were not timed, by reason */
    int absent_count;
    struct {
        const char *resolved;
        double median_ms, stddev_ms;
    } noisy[LAP_BENCH_NOISY]; /* noisy measurements; rows with other names may show the same one */
    int noisy_count;
    double noisiest;
    char note[LAP_BENCH_NOTE]; /* message about that row */
} lap_bench_table;

/* If a row's times vary too much to be reliable, returns their range as a share of the median and writes a
 * one-line message to text. Otherwise returns 0. */
double lap_bench_noise(const lap_bench_row *row, char text[LAP_BENCH_NOTE]);
/* "simd (avx512)", "auto (simd-avx512)", or just "c". */
void lap_cli_name_rung(char *to, size_t size, const char *backend, const char *resolved);
/* Gets the processor's name from the system. */
void lap_cpu_name(char *name, size_t size);
/* Describes a CUDA device. Returns false and an empty text if there is no device with that number. Starts
 * CUDA. */
bool lap_device_text(int device, char *text, size_t size);
/* Prints machine, compiler, libraries, and the compiler flags of the ladder's files. */
void lap_bench_table_head(const lap_cli *cli, lap_op op, int threads);
void lap_bench_table_begin(lap_bench_table *table, const lap_cli *cli);
void lap_bench_table_row(lap_bench_table *table, const lap_bench_row *row);
void lap_bench_table_end(lap_bench_table *table);

#endif
