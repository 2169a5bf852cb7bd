/* Readers of option values: strict, with the range in the message. All are lap_cli_setter. */
#ifndef LAP_CLI_VALUES_H
#define LAP_CLI_VALUES_H

#include "cli/options/args.h"

lap_cli_setter lap_set_true, lap_set_false; /* bool */
lap_cli_setter lap_set_int;                 /* int, low..high */
lap_cli_setter lap_set_double;              /* double, low..high */
lap_cli_setter lap_set_float;               /* float, low..high */
lap_cli_setter lap_set_size;                /* uint64_t; K, M, G, T are powers of 1000 */
lap_cli_setter lap_set_bytes;               /* uint64_t; also Ki, Mi, ... and a B behind them */
lap_cli_setter lap_set_seconds;             /* double; also with ms, s, m, h */
lap_cli_setter lap_set_count;               /* size_t, as lap_set_size */
lap_cli_setter lap_set_share;               /* double, from "5%" or "0.05" */
lap_cli_setter lap_set_word;                /* an enum or int: the index in the row's a|b|c */
lap_cli_setter lap_set_choice;              /* const char *: one of the row's a|b|c */
lap_cli_setter lap_set_text;                /* const char *, any but the empty one */
lap_cli_setter lap_set_backend;             /* const char *: a backend of the filter ladder */
lap_cli_setter lap_set_backends;            /* const char *: a list of backends of any ladder */
lap_cli_setter lap_set_border;              /* lap_border: a word, or constant:V */
lap_cli_setter lap_set_keep;                /* unsigned: LAP_KEEP_..., from a list */
lap_cli_setter lap_set_kernel;              /* const char *: lap_cli_read_kernel reads it */
lap_cli_setter lap_set_devices;             /* the lap_cli itself: devices, device_count */
lap_cli_setter lap_set_sizes;               /* the lap_cli itself: sizes, size_count */
lap_cli_setter lap_set_ops;                 /* unsigned: a bit a ladder, from a list or "all" */
lap_cli_setter lap_set_differing;           /* lap_cli_tolerance: pixels, or a share with % */
lap_cli_setter lap_set_box;                 /* lap_cli_boxes: one more */
lap_cli_setter lap_set_glob;                /* const char *[LAP_CLI_GLOBS]: one more */
lap_cli_setter lap_set_suffix;              /* const char *: part of a file's name */
lap_cli_setter lap_set_backup;              /* const char *: the end of a file's name, of no photo */
lap_cli_setter lap_set_png;                 /* const char *: a name that ends in .png */
lap_cli_setter lap_set_block;               /* the lap_cli itself: bench.block_x, block_y */

/* lap_cli_option.is_same */
bool lap_same_always(const lap_cli *cli);
bool lap_same_one_share(const lap_cli *cli); /* --shard=0/1 */
bool lap_same_decode(const lap_cli *cli);    /* anything but --decode=parallel */

/* Fills problem with `"value" is not ` and what is allowed; false, to be returned. */
bool lap_cli_refuse(char *problem, size_t size, const char *value, const char *allowed, ...)
    __attribute__((format(printf, 4, 5)));
/* Whether name is a backend (or alias) of op's ladder. */
bool lap_cli_knows_rung(lap_op op, const char *name, size_t length);
/* Its row, without a look at devices; false where there is none. */
bool lap_cli_find_rung(lap_op op, const char *name, size_t length, lap_rung_info *rung);
/* The i-th filter backend's name, and the i-th operation's; NULL past the end. For completion. */
const char *lap_cli_rung_name(int i);
const char *lap_cli_op_name(int i);

#endif
