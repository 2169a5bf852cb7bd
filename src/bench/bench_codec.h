/* The further measurements of `bench codec`, in addition to the floor and the whole run (bench_codec.c): the
 * ladders of JPEG coders, decoding by several threads, and the same work on a CUDA device. An object belongs
 * to one thread at a time. */
#ifndef LAP_BENCH_CODEC_H
#define LAP_BENCH_CODEC_H

#include "base/image.h"
#include "base/pool.h"
#include "bench/bench.h"
#include "bench/bench_rates.h"
#include "codec/codec.h"

/* ---- the ladders `encode` and `decode` (bench_codec_ladders.c) ---------------------------------- */

enum { LAP_CODER_ROWS = 8 };

typedef struct lap_coder_times {
    const char *name;
    double *times;    /* processor milliseconds of each run, for all photos */
    char reason[200]; /* empty: timed */
    bool differs;     /* the reason is a different result */
} lap_coder_times;

/* The time of each coder of a ladder on one thread, or why it was not timed. Row 0 is libjpeg-turbo; the
 * others' results are compared with its result before they are timed. */
typedef struct lap_coders_bench { /* all zero: empty */
    lap_bench_run *bench;
    lap_op op;
    int count;
    lap_coder_times rows[LAP_CODER_ROWS];
    double pixel_count; /* pixels of all photos, and bytes of their files */
    size_t bytes;
    lap_chunk files[2];  /* LAP_OP_ENCODE: the last photo's, by libjpeg-turbo and by a different coder */
    lap_image images[2]; /* LAP_OP_DECODE: likewise */
    const char *coder;   /* LAP_OP_DECODE: the coder that really did the last decoding */
} lap_coders_bench;

/* op: LAP_OP_ENCODE or LAP_OP_DECODE. LAP_E_MEMORY; call lap_coders_bench_end after a failure, too. */
lap_code lap_coders_bench_begin(lap_coders_bench *b, lap_bench_run *bench, lap_op op, lap_error *err);
/* Encodes one photo's pixels, in memory, with each coder, and adds the processor time to the coder's time of
 * run `run`. */
lap_code lap_coders_bench_encode(
    lap_coders_bench *b, const lap_view *pixels, int quality, int run, lap_error *err);
/* Likewise, decodes one photo. */
lap_code lap_coders_bench_decode(
    lap_coders_bench *b, const void *bytes, size_t size, int run, lap_error *err);
/* Reports the rows to bench->each, with width, height and channels of shape. */
void lap_coders_bench_report(const lap_coders_bench *b, const lap_bench_row *shape);
void lap_coders_bench_end(lap_coders_bench *b);

/* ---- decoding by several threads (bench_codec_teams.c) ------------------------------------------ */

enum { LAP_BENCH_TEAMS = 5 }; /* team i has 1 << i threads */

typedef struct lap_bench_teams { /* all zero: empty */
    lap_pool *pools[LAP_BENCH_TEAMS];
    int count;
    /* for the last photo, in milliseconds of wall time: */
    double ms[LAP_BENCH_TEAMS]; /* of each team, */
    double scan_ms;             /* and of the scan on one thread */
} lap_bench_teams;

/* Creates teams of up to `threads` threads. */
lap_code lap_bench_teams_create(lap_bench_teams *teams, int threads, lap_error *err);
void lap_bench_teams_destroy(lap_bench_teams *teams);
/* Decodes bytes into pixels (which have the picture's size and channels) with each team, and times the scan
 * alone and the whole decoding. A picture that cannot be split into parts is decoded serially; scan_ms is 0
 * then. */
lap_code lap_bench_teams_decode(
    lap_bench_teams *teams, const void *bytes, size_t size, const lap_view *pixels, lap_error *err);

/* ---- the same on a CUDA device (bench_codec_device.c); without a device these do nothing -------- */

enum { LAP_CODEC_DEVICE_ROWS = 16 };

typedef struct lap_codec_device {
    lap_bench_run *bench;
    bool is_on;
    const lap_rung *rung; /* the filter of LAP_RATE_CHAIN */
    double *times[LAP_CODEC_DEVICE_ROWS];
    size_t bytes[LAP_CODEC_DEVICE_ROWS];
    bool differs[LAP_CODEC_DEVICE_ROWS];
    char reason[LAP_CODEC_DEVICE_ROWS][200]; /* empty: timed */
    double pixel_count;
    int photos, width, height, channels; /* photos so far; shape of the last one */
} lap_codec_device;

lap_code lap_codec_device_begin(lap_codec_device *device, lap_bench_run *bench, lap_error *err);
/* Does the work of all rows on one photo, and adds to their times; ignores photo->rung. If a row's work
 * fails, the message becomes the row's reason. */
void lap_codec_device_photo(lap_codec_device *device, const lap_rate_photo *photo);
void lap_codec_device_end(lap_codec_device *device, bool is_reported);

#endif
