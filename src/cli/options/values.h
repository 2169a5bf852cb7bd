/* Parsers of option values. They are strict, and their messages state the allowed range. All are of type
 * lap_cli_setter. */
#ifndef LAP_CLI_VALUES_H
#define LAP_CLI_VALUES_H

#include "cli/options/args.h"

lap_cli_setter lap_set_true, lap_set_false; /* bool */
lap_cli_setter lap_set_int;                 /* int, low..high */
lap_cli_setter lap_set_double;              /* double, low..high */
lap_cli_setter lap_set_float;               /* float, low..high */
lap_cli_setter lap_set_size;                /* uint64_t; K, M, G, T are powers of 1000 */
lap_cli_setter lap_set_bytes;               /* uint64_t; also Ki, Mi, ... and a final B */
lap_cli_setter lap_set_seconds;             /* double; also with ms, s, m, h */
lap_cli_setter lap_set_count;               /* size_t, as lap_set_size */
lap_cli_setter lap_set_share;               /* double, from "5%" or "0.05" */
lap_cli_setter lap_set_word;                /* an enum or int: the index in the row's a|b|c */
lap_cli_setter lap_set_choice;              /* const char *: one of the words a|b|c in the table's row */
lap_cli_setter lap_set_text;                /* const char *, not empty */
lap_cli_setter lap_set_backend;             /* const char *: a backend of the filter ladder */
lap_cli_setter lap_set_backends;            /* const char *: a list of backends of any ladder */
lap_cli_setter lap_set_border;              /* lap_border: a word, or constant:V */
lap_cli_setter lap_set_keep;                /* unsigned: LAP_KEEP_..., from a list */
lap_cli_setter lap_set_kernel;              /* const char *: lap_cli_read_kernel reads it */
lap_cli_setter lap_set_devices;             /* fills devices and device_count of the lap_cli */
lap_cli_setter lap_set_sizes;               /* fills sizes and size_count of the lap_cli */
lap_cli_setter lap_set_ops;                 /* unsigned: one bit per ladder, from a list or "all" */
lap_cli_setter lap_set_differing;           /* lap_cli_tolerance: pixels, or a share with % */
lap_cli_setter lap_set_box;                 /* lap_cli_boxes: adds a box */
lap_cli_setter lap_set_glob;                /* const char *[LAP_CLI_GLOBS]: adds a pattern */
lap_cli_setter lap_set_suffix;              /* const char *: part of a file's name */
lap_cli_setter lap_set_backup; /* const char *: the end of a file name, but no common extension */
lap_cli_setter lap_set_png;    /* const char *: a name that ends in .png */
lap_cli_setter lap_set_html;   /* const char *: a name that ends in .html or .htm */
lap_cli_setter lap_set_stats;  /* const char *: the name of a file, not "-" */
lap_cli_setter lap_set_block;  /* fills bench.block_x and block_y of the lap_cli */

/* Functions for lap_cli_option.is_same. */
bool lap_same_always(const lap_cli *cli);
bool lap_same_one_share(const lap_cli *cli); /* --shard=0/1 */
bool lap_same_keep_none(const lap_cli *cli); /* --keep=none, which is --strip */
bool lap_same_format(const lap_cli *cli);    /* --format is the format of each input, by its name */

/* Whether an extension, given without its dot, is common for images, films, archives or documents. */
bool lap_cli_is_common_ending(const char *ending);
/* Fills problem with `"value" is not ` and the description of allowed values. Returns false. */
bool lap_cli_refuse(char *problem, size_t size, const char *value, const char *allowed, ...)
    __attribute__((format(printf, 4, 5)));
/* Whether name is a backend or alias in op's ladder. */
bool lap_cli_knows_rung(lap_op op, const char *name, size_t length);
/* Finds the row of a backend without looking at devices; false: no backend has this name. */
bool lap_cli_find_rung(lap_op op, const char *name, size_t length, lap_rung_info *rung);
/* Returns the name of the i-th filter backend or the i-th operation, for completion; NULL past the end. */
const char *lap_cli_rung_name(int i);
const char *lap_cli_op_name(int i);

#endif
