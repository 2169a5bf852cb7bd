/* The command line, parsed. One table of options (options.c) and one of commands (commands.c) are all
 * there is to it: parsing, both helps, completion and "did you mean" read them. Neither knows what a command
 * does; main.c does. */
#ifndef LAP_CLI_ARGS_H
#define LAP_CLI_ARGS_H

#include "cli/cli.h"

/* The forms of a command line: a bit each, of lap_cli_option.forms and lap_cli_command.takes. bench and
 * compare have one per operation, LAP_CLI_BENCH << op. forms.c has their names. */
enum {
    LAP_CLI_ONE = 1 << 0,      /* run IN OUT */
    LAP_CLI_IN_PLACE = 1 << 1, /* run --in-place FILE... */
    LAP_CLI_FOLDER = 1 << 2,   /* run IN... OUTDIR */
    LAP_CLI_TRANSFORM = 1 << 3,
    LAP_CLI_TRANSFORM_FOLDER = 1 << 13,
    LAP_CLI_STATS = 1 << 4,
    LAP_CLI_STATS_FOLDER = 1 << 22,
    LAP_CLI_DIFF = 1 << 5,
    LAP_CLI_DIFF_FOLDER = 1 << 23,
    LAP_CLI_BACKENDS = 1 << 6,
    LAP_CLI_HELP = 1 << 7,
    LAP_CLI_INFO = 1 << 14,
    LAP_CLI_DOCTOR = 1 << 15,
    LAP_CLI_COMPARE = 1 << 8, /* and LAP_OP_COUNT - 1 more */
    LAP_CLI_BENCH = 1 << 16,  /* and LAP_OP_COUNT more: the codec too */
    LAP_CLI_RUN = LAP_CLI_ONE | LAP_CLI_IN_PLACE | LAP_CLI_FOLDER,
    LAP_CLI_COMPARE_ALL = LAP_CLI_COMPARE * ((1 << LAP_OP_COUNT) - 1),
    LAP_CLI_BENCH_ALL = LAP_CLI_BENCH * ((2 << LAP_OP_COUNT) - 1)
};
_Static_assert(
    LAP_CLI_BENCH_ALL < LAP_CLI_STATS_FOLDER && LAP_CLI_COMPARE_ALL < LAP_CLI_INFO, "a bit for each form");

typedef struct lap_cli_option lap_cli_option;
/* Reads value into field; false with problem (what is wrong, and what is allowed) filled. */
typedef bool lap_cli_setter(
    void *field, const lap_cli_option *option, const char *value, char *problem, size_t size);

/* What becomes of an option where it would change nothing: in a form that is not its own, or without what it
 * needs. The first that fits: a promise is refused; a choice is refused unless its value asks for what
 * happens anyway; tuning is accepted, and -v notes it; everything else is refused. */
typedef enum lap_cli_kind {
    LAP_PLAIN,
    LAP_PROMISE, /* a promise, a limit, or a file to write */
    LAP_CHOICE,  /* of photos, pixels or names */
    LAP_TUNING   /* of speed, of messages, or of a coder */
} lap_cli_kind;

/* What an option needs beside its form; rules.c has the words for it. */
typedef enum lap_cli_need {
    LAP_NEED_NOTHING,
    LAP_NEED_JPEG_OUT,
    LAP_NEED_OUT_FILE, /* not standard output */
    LAP_NEED_FILES,    /* at both ends */
    LAP_NEED_JPEG_IN,
    LAP_NEED_CUDA, /* a backend that may use a device */
    LAP_NEED_OPENMP,
    LAP_NEED_CUDA_GLOBAL,
    LAP_NEEDS
} lap_cli_need;

typedef struct lap_cli_beside { /* the option excludes, or needs, another one */
    const char *other, *why;
    bool needs;
} lap_cli_beside;

enum { LAP_CLI_BESIDES = 6 };
struct lap_cli_option {
    const char *name;
    char letter;
    const char *argument; /* no argument: a switch; a list of words: a|b|c */
    lap_cli_setter *set;
    size_t field; /* offset in lap_cli */
    double low, high;
    const char *help;
    int group;  /* index into lap_cli_groups */
    bool brief; /* stands in the short help too */
    lap_cli_kind kind;
    unsigned forms;                      /* where it changes something */
    lap_cli_need need;                   /* what else that takes */
    unsigned same_in;                    /* other forms in which it may ask for what happens anyway: */
    bool (*is_same)(const lap_cli *cli); /* whether this value does */
    lap_cli_beside beside[LAP_CLI_BESIDES + 1];
    bool writes;       /* its value is a file that is written beside OUT */
    const char *reads; /* its value is a file that is read: what messages call it */
};
enum { LAP_CLI_OPTIONS = 96 };
extern const lap_cli_option lap_cli_options[LAP_CLI_OPTIONS]; /* after the last one: no name */
extern const char *const lap_cli_groups[];                    /* titles; the last one is NULL */

/* Whether the option of that name was given. */
bool lap_cli_is_given(const char *name, const bool given[LAP_CLI_OPTIONS]);
/* NULL if there is none. */
const lap_cli_option *lap_cli_option_named(const char *name, size_t length);
const lap_cli_option *lap_cli_option_lettered(int letter);

typedef struct lap_cli_command {
    const char *name;
    const char *usage;             /* lines "form\twhat it does\n" */
    const char *examples;          /* lines "command\twhat it does\n" */
    unsigned takes;                /* which options */
    const char *(*operand)(int i); /* words that operands are chosen from; NULL: files */
    unsigned (*forms)(const lap_cli *cli, lap_error *err); /* by the operands; NULL: takes */
} lap_cli_command;
enum {
    LAP_COMMAND_RUN, /* the default */
    LAP_COMMAND_TRANSFORM,
    LAP_COMMAND_STATS,
    LAP_COMMAND_COMPARE,
    LAP_COMMAND_DIFF,
    LAP_COMMAND_BENCH,
    LAP_COMMAND_BACKENDS,
    LAP_COMMAND_INFO,
    LAP_COMMAND_DOCTOR,
    LAP_COMMAND_HELP,
    LAP_COMMAND_EXPLAIN,
    LAP_COMMANDS
};
extern const lap_cli_command lap_cli_commands[]; /* after the last one: no name */
const char *lap_cli_command_name(int i);
const lap_cli_command *lap_cli_command_named(const char *name); /* or NULL */
lap_cli_exit lap_cli_no_command(const char *word);              /* says so, with what may have been meant */
/* LAP_EXIT_USAGE after a message where the first operand is no file, and seems to be a command. */
lap_cli_exit lap_cli_check_first_word(const lap_cli *cli);
/* Whether the last operand of this command is an output, unless it works in place. */
static inline bool lap_cli_writes(const lap_cli *cli)
{
    return cli->command && cli->command->takes & (LAP_CLI_RUN | LAP_CLI_TRANSFORM);
}

/* Fills cli from the words; LAP_EXIT_USAGE after a message on stderr. */
lap_cli_exit lap_cli_parse(lap_cli *cli, int argc, char **argv);
/* The candidate nearest to a misspelt word, or NULL. next(i) gives candidates until NULL. */
const char *lap_cli_nearest(const char *word, const char *(*next)(int i));

/* forms.c: whether path is a folder. Fills err, unless it has an error already, if the system cannot say. */
bool lap_cli_is_folder(const char *path, lap_error *err);
/* Of run, transform, stats, diff, compare and bench. Called once a command line, for cli->forms: a second
 * look could see something else. */
unsigned lap_cli_run_forms(const lap_cli *cli, lap_error *err);
unsigned lap_cli_transform_forms(const lap_cli *cli, lap_error *err);
unsigned lap_cli_stats_forms(const lap_cli *cli, lap_error *err);
unsigned lap_cli_diff_forms(const lap_cli *cli, lap_error *err);
unsigned lap_cli_compare_forms(const lap_cli *cli, lap_error *err);
unsigned lap_cli_bench_forms(const lap_cli *cli, lap_error *err);
/* Fills cli->forms. LAP_EXIT_FAILED after a message where they could not be found out (of diff
 * LAP_EXIT_USAGE). */
lap_cli_exit lap_cli_find_forms(lap_cli *cli);
/* rules.c: whether each option that was given means something in these forms, beside the others and beside
 * what they are to work on; LAP_EXIT_USAGE after a message where one is refused. idle: those that are
 * accepted and would change nothing, which -v notes. */
lap_cli_exit lap_cli_check_rules(
    const lap_cli *cli, const bool given[LAP_CLI_OPTIONS], bool idle[LAP_CLI_OPTIONS]);
/* rules.c: the image format of a regular file by its first bytes: "jpeg", "png" or "pnm"; NULL if it is no
 * image that lapedge reads. */
const char *lap_cli_image_at(const char *path);
/* rules.c, of bench and compare, which know the ladders: whether each of the comma separated names is a
 * backend of one of them; false after a message. */
bool lap_cli_check_backends(const char *list, const lap_op *ops, int count);
/* The forms of a set, as words separated by commas: "one image, a folder run". */
void lap_cli_list_forms(unsigned forms, char *text, size_t size);
/* What somebody meant who uses another program's option or command; NULL where nobody knows. */
const char *lap_cli_hint(const char *word);

/* values_filter.c: cli->kernel into the settings, turned if that was asked for; false: problem says why not.
 */
bool lap_cli_read_kernel(lap_cli *cli, char *problem, size_t size);
/* What may be a kernel's file is read in the sandbox, where there is one. */
bool lap_cli_reads_inside(const lap_cli *cli);

/* help.c */
void lap_cli_help(const lap_cli *cli, bool full);
int lap_cli_complete(int argc, char **argv); /* candidates for the shell, one per line */
int lap_cli_help_on(lap_cli *cli);           /* the command help */

#endif
