/* Parses the command line. It is described by two tables, of options (options.c) and of commands
 * (commands.c). Parsing, both helps, completion and "did you mean" read them. The tables do not know what a
 * command does; main.c does. */
#ifndef LAP_CLI_ARGS_H
#define LAP_CLI_ARGS_H

#include "cli/cli.h"

/* The forms of a command line, one bit each, for lap_cli_option.forms and lap_cli_command.takes. bench and
 * compare have one form per operation, such as LAP_CLI_BENCH << op. forms.c has their names. */
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
    LAP_CLI_COMPARE = 1 << 8, /* LAP_OP_COUNT bits, one per operation */
    LAP_CLI_BENCH = 1 << 16,  /* LAP_OP_COUNT + 1 bits: the codec too */
    LAP_CLI_RUN = LAP_CLI_ONE | LAP_CLI_IN_PLACE | LAP_CLI_FOLDER,
    LAP_CLI_COMPARE_ALL = LAP_CLI_COMPARE * ((1 << LAP_OP_COUNT) - 1),
    LAP_CLI_BENCH_ALL = LAP_CLI_BENCH * ((2 << LAP_OP_COUNT) - 1)
};
_Static_assert(
    LAP_CLI_BENCH_ALL < LAP_CLI_STATS_FOLDER && LAP_CLI_COMPARE_ALL < LAP_CLI_INFO, "a bit for each form");

typedef struct lap_cli_option lap_cli_option;
/* Parses value into field. Returns false and says in problem what is wrong and what is allowed. */
typedef bool lap_cli_setter(
    void *field, const lap_cli_option *option, const char *value, char *problem, size_t size);

/* How lapedge treats an option that has no effect, because it belongs to another form or because something
 * that it needs is missing. A promise is refused. A choice is refused unless the run would behave the same
 * without it. Tuning is accepted, and -v notes it. Every other option is refused. */
typedef enum lap_cli_kind {
    LAP_PLAIN,
    LAP_PROMISE, /* a promise, a limit, or a file to write */
    LAP_CHOICE,  /* a choice of photos, pixels or names */
    LAP_TUNING   /* tuning of speed, messages or a coder */
} lap_cli_kind;

/* An option can need more than its form; rules.c has the words for each need. */
typedef enum lap_cli_need {
    LAP_NEED_NOTHING,
    LAP_NEED_JPEG_OUT,
    LAP_NEED_META_OUT, /* an output that can hold metadata */
    LAP_NEED_OUT_FILE, /* output to a file, not to standard output */
    LAP_NEED_FILES,    /* files as input and output */
    LAP_NEED_IN_FILE,  /* the input can be read again: it is not standard input */
    LAP_NEED_JPEG_IN,
    LAP_NEED_FOLDER_IN,
    LAP_NEED_CUDA, /* a backend that may use a device */
    LAP_NEED_OPENMP,
    LAP_NEED_CUDA_GLOBAL,
    LAP_NEEDS
} lap_cli_need;

/* The kind of file that an option writes in addition to OUT. It may replace an existing file of the same
 * kind. */
typedef enum lap_cli_side {
    LAP_SIDE_NONE,
    LAP_SIDE_LOG,
    LAP_SIDE_STATS,
    LAP_SIDE_OBJECT, /* the object of --json */
    LAP_SIDE_TRACE,
    LAP_SIDE_REPORT,
    LAP_SIDE_HEATMAP,
    LAP_SIDES
} lap_cli_side;

/* The effect of giving an option twice. */
typedef enum lap_cli_again {
    LAP_AGAIN_SAME,  /* the same value is accepted. Another value is refused, except for tuning: there
                      * the last value counts, and -v notes it */
    LAP_AGAIN_LAST,  /* the last value counts, as for tuning: the output is the same with any value */
    LAP_AGAIN_ADDS,  /* every value counts */
    LAP_AGAIN_NEVER, /* refused: it is unclear whether the user wants one step or two */
    LAP_AGAINS
} lap_cli_again;

typedef struct lap_cli_beside { /* another option that the option excludes or needs */
    const char *other, *why;
    bool needs;
    bool (*agrees)(const lap_cli *cli); /* whether the two options mean the same; NULL: they never do */
} lap_cli_beside;

enum { LAP_CLI_BESIDES = 6 };
struct lap_cli_option {
    const char *name;
    char letter;
    const char *argument; /* NULL: a switch without argument; or a list of words: a|b|c */
    lap_cli_setter *set;
    size_t field; /* offset in lap_cli */
    double low, high;
    const char *help;
    int group;  /* index into lap_cli_groups */
    bool brief; /* also shown in the short help */
    lap_cli_kind kind;
    unsigned forms;    /* forms in which the option has an effect */
    lap_cli_need need; /* what else the option needs to have an effect */
    lap_cli_again again;
    unsigned same_in;                    /* other forms in which the value may be what the run does anyway */
    bool (*is_same)(const lap_cli *cli); /* whether this value is what the run does anyway */
    lap_cli_beside beside[LAP_CLI_BESIDES + 1];
    lap_cli_side writes; /* the value is a file that is written in addition to OUT */
    bool to_stdout;      /* prints data to standard output instead of the text for people */
    const char *reads;   /* the value is a file to read; messages call it by this name */
};
enum { LAP_CLI_OPTIONS = 96 };
extern const lap_cli_option lap_cli_options[LAP_CLI_OPTIONS]; /* ends with an option without a name */
extern const char *const lap_cli_groups[];                    /* titles; the last one is NULL */

typedef struct lap_cli_given {     /* what a command line says about each option */
    bool option[LAP_CLI_OPTIONS];  /* it was given */
    bool changed[LAP_CLI_OPTIONS]; /* it was given again, with another value */
    bool idle[LAP_CLI_OPTIONS];    /* it is accepted without effect */
} lap_cli_given;

/* Whether the option of that name was given. */
bool lap_cli_is_given(const char *name, const lap_cli_given *given);
/* Returns the value of an option that names a file, or NULL. */
static inline const char *lap_cli_path_of(const lap_cli *cli, const lap_cli_option *option)
{
    return *(const char *const *)((const char *)cli + option->field);
}
/* Returns NULL if there is no such option. */
const lap_cli_option *lap_cli_option_named(const char *name, size_t length);
const lap_cli_option *lap_cli_option_lettered(int letter);

typedef struct lap_cli_command {
    const char *name;
    const char *usage;             /* lines "form\twhat it does\n" */
    const char *examples;          /* lines "command\twhat it does\n" */
    unsigned takes;                /* forms that the command can have */
    const char *(*operand)(int i); /* the possible operands; NULL: operands are files */
    unsigned (*forms)(const lap_cli *cli, lap_error *err); /* finds forms by operands; NULL: takes */
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
extern const lap_cli_command lap_cli_commands[]; /* ends with a command without a name */
const char *lap_cli_command_name(int i);
const lap_cli_command *lap_cli_command_named(const char *name); /* or NULL */
lap_cli_exit lap_cli_no_command(const char *word); /* reports an unknown command and suggests a known one */
/* Returns LAP_EXIT_USAGE after a message if the first operand is not a file and looks like a command. With
 * is_command, only if it resembles a known command. */
lap_cli_exit lap_cli_check_first_word(const lap_cli *cli, bool is_command);
/* Whether the last operand of this command is an output, unless it works in place. */
static inline bool lap_cli_writes(const lap_cli *cli)
{
    return cli->command && cli->command->takes & (LAP_CLI_RUN | LAP_CLI_TRANSFORM);
}

/* Fills cli from the words. Returns LAP_EXIT_USAGE after a message on stderr. */
lap_cli_exit lap_cli_parse(lap_cli *cli, int argc, char **argv);
/* Returns the candidate nearest to a misspelt word, or NULL. next(i) returns candidate i, or NULL past the
 * last. */
const char *lap_cli_nearest(const char *word, const char *(*next)(int i));

/* forms.c: whether path is a folder. If the system cannot tell, fills err, unless err is already filled. */
bool lap_cli_is_folder(const char *path, lap_error *err);
/* Finds the forms of run, transform, stats, diff, compare and bench. Called only once per command line, to
 * set cli->forms, because a second call could find other files. */
unsigned lap_cli_run_forms(const lap_cli *cli, lap_error *err);
unsigned lap_cli_transform_forms(const lap_cli *cli, lap_error *err);
unsigned lap_cli_stats_forms(const lap_cli *cli, lap_error *err);
unsigned lap_cli_diff_forms(const lap_cli *cli, lap_error *err);
unsigned lap_cli_compare_forms(const lap_cli *cli, lap_error *err);
unsigned lap_cli_bench_forms(const lap_cli *cli, lap_error *err);
/* Fills cli->forms. If they cannot be determined, returns LAP_EXIT_FAILED (for diff LAP_EXIT_USAGE) after a
 * message. */
lap_cli_exit lap_cli_find_forms(lap_cli *cli);
/* rules.c: checks that each option that was given has an effect in these forms, with the other options and
 * with the operands. Returns LAP_EXIT_USAGE after a message if one is refused. Fills given->idle. With -v,
 * prints a note for each of these, and for each option given again with another value. */
lap_cli_exit lap_cli_check_rules(const lap_cli *cli, lap_cli_given *given);
/* rules.c: returns the part of a file's name after its last dot; NULL if there is no dot after the first
 * character. NULL for NULL. */
const char *lap_cli_extension(const char *path);
/* rules.c: reads the first bytes of a file, at most size. Returns how many; -1 and errno if the file cannot
 * be read. */
ssize_t lap_cli_read_head(const char *path, void *head, size_t size);
/* rules.c: detects the image format of a regular file by its first bytes: "jpeg", "png" or "pnm"; NULL if
 * lapedge cannot read the file. */
const char *lap_cli_image_at(const char *path);
/* rules.c, for bench and compare: whether each of the comma separated names is a backend of one of these
 * ladders. Returns false after a message. */
bool lap_cli_check_backends(const char *list, const lap_op *ops, int count);
/* Lists the forms of a set, separated by commas: "one image, a folder run". */
void lap_cli_list_forms(unsigned forms, char *text, size_t size);
/* Returns a hint for a word that is an option or command of another program; NULL if it is unknown. */
const char *lap_cli_hint(const char *word);

/* values_filter.c: parses cli->kernel into the settings and rotates it if requested. Returns false and says
 * why in problem. */
bool lap_cli_read_kernel(lap_cli *cli, char *problem, size_t size);
/* Whether the kernel may be a file that must be read inside the sandbox. */
bool lap_cli_reads_inside(const lap_cli *cli);

/* help.c */
void lap_cli_help(const lap_cli *cli, bool full);
int lap_cli_complete(int argc, char **argv); /* candidates for the shell, one per line */
int lap_cli_help_on(lap_cli *cli);           /* the command help */

#endif
