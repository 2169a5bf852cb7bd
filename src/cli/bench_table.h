/* How `bench` shows what it measures: a head, a table a ladder, warnings below. */
#ifndef LAP_CLI_BENCH_TABLE_H
#define LAP_CLI_BENCH_TABLE_H

#include "cli/args.h"

enum { LAP_BENCH_REASONS = 24, LAP_BENCH_NOTES = 64, LAP_BENCH_NOTE = 120 };

typedef struct lap_bench_table {
    const lap_cli *cli;
    bool narrow; /* a terminal of 80 columns: without least times and conversion */
    int titled;  /* the columns above are those of: 0 nothing, 1 the host, 2 a device, 3 the codec there */
    struct {
        char reason[200], names[300];
    } absent[LAP_BENCH_REASONS]; /* backends that were not timed, by reason */
    int absent_count;
    char notes[LAP_BENCH_NOTES][LAP_BENCH_NOTE]; /* on noisy runs */
    int note_count;
} lap_bench_table;

/* Whether the times of a row are too far apart to be relied on; text says so in a line. */
bool lap_bench_noise(const lap_bench_row *row, char text[LAP_BENCH_NOTE]);
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
