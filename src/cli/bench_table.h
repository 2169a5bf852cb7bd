/* How `bench` shows what it measures: a head, a table a ladder, warnings below. */
#ifndef LAP_CLI_BENCH_TABLE_H
#define LAP_CLI_BENCH_TABLE_H

#include "args.h"

enum { LAP_BENCH_NOTES = 64 };

typedef struct lap_bench_table {
    const lap_cli *cli;
    int rows, place;                  /* of the last column titles: 0 none yet, 1 host, 2 device */
    char notes[LAP_BENCH_NOTES][160]; /* noisy runs, refused rungs */
    int note_count;
} lap_bench_table;

/* The processor's name as the system tells it. */
void lap_cpu_name(char *name, size_t size);
/* Machine, compiler, libraries, and the flags of the ladder's files. */
void lap_bench_table_head(const lap_cli *cli, lap_op op, int threads);
void lap_bench_table_begin(lap_bench_table *table, const lap_cli *cli);
void lap_bench_table_row(lap_bench_table *table, const lap_bench_row *row);
void lap_bench_table_end(lap_bench_table *table);

#endif
