/* The command line, parsed. One table of options (options.c) and one of commands (main.c) are all
 * there is to it: parsing, both helps, completion and "did you mean" read them. */
#ifndef LAP_CLI_ARGS_H
#define LAP_CLI_ARGS_H

#include "cli/cli.h"

/* Bits of lap_cli_option.applies and lap_cli_command.takes. */
enum {
    LAP_CLI_RUN = 1,
    LAP_CLI_FOLDER = 2,
    LAP_CLI_BENCH = 4,
    LAP_CLI_BACKENDS = 8,
    LAP_CLI_STATS = 16,
    LAP_CLI_TRANSFORM = 32,
    LAP_CLI_COMPARE = 64,
    LAP_CLI_DIFF = 128,
    LAP_CLI_COMMON = 1 << 15 /* what every command takes */
};

typedef struct lap_cli_option lap_cli_option;
/* Reads value into field; false with problem (what is wrong, and what is allowed) filled. */
typedef bool lap_cli_setter(
    void *field, const lap_cli_option *option, const char *value, char *problem, size_t size);

struct lap_cli_option {
    const char *name, *argument; /* no argument: a switch; a list of words: a|b|c */
    lap_cli_setter *set;
    size_t field; /* offset in lap_cli */
    double low, high;
    const char *help;
    unsigned applies;
    char letter;
    char group; /* index into lap_cli_groups */
    bool brief; /* stands in the short help too */
};
enum { LAP_CLI_OPTIONS = 96 };
extern const lap_cli_option lap_cli_options[LAP_CLI_OPTIONS]; /* after the last one: no name */
extern const char *const lap_cli_groups[];                    /* titles; the last one is NULL */

typedef struct lap_cli_command {
    const char *name;
    const char *usage;    /* lines "form\twhat it does\n" */
    const char *examples; /* lines "command\twhat it does\n" */
    unsigned takes;       /* which options */
    int (*run)(lap_cli *cli);
    const char *(*operand)(int i); /* words that operands are chosen from; NULL: files */
} lap_cli_command;
extern const lap_cli_command lap_cli_commands[]; /* the first is the default, the last has no name */

/* Fills cli from the words; LAP_EXIT_USAGE after a message on stderr. */
lap_cli_exit lap_cli_parse(lap_cli *cli, int argc, char **argv);
/* The option of that name, among those that some command takes; NULL if there is none. */
const lap_cli_option *lap_cli_option_named(const char *name, size_t length);
/* The candidate nearest to a misspelt word, or NULL. next(i) gives candidates until NULL. */
const char *lap_cli_nearest(const char *word, const char *(*next)(int i));
const char *lap_cli_command_name(int i);

/* help.c */
void lap_cli_help(const lap_cli *cli, bool full);
int lap_cli_complete(int argc, char **argv); /* candidates for the shell, one per line */

#endif
