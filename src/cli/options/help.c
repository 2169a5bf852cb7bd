/* Prints both helps and the shell's completions from the tables of commands and options. */
#include <string.h>
#include <unistd.h>

#include "cli/options/values.h"
#include "cli/term.h"

enum { WIDTH = 79, TEXT_AT = 26, BRIEF_TEXT_AT = 24, USAGE_AT = 40, EXAMPLE_AT = 48, CODE_AT = 17 };

/* README.md and the manual have the same words (tests/cli/usage.bats). */
static const char exit_codes[] =
    "0\tall done, or equal\n"
    "1\ta single image failed, or some of several; a file was left alone; images differ; or a bench became "
    "slower\n"
    "2\twrong usage; for compare and diff also anything that prevents the comparison\n"
    "3\tthe named backend, codec or device cannot run here\n"
    "4\tnothing could be done: no photo was found, all of several images failed, or an output or log cannot "
    "be created\n"
    "5\ta single image exceeded a limit, such as the time limit\n"
    "129, 130, 143\thung up, interrupted, terminated\n"
    "141\tthe reader of the output closed the pipe\n";
static const char variables[] = "NO_COLOR\tif set and not empty, no colour\n"
                                "TERM\tif dumb or unset, no colour and no progress\n"
                                "LAP_CPU_MASK\tinstruction sets not to use: sse41,avx2,avx512,neon\n"
                                "LAP_CUDA_DEBUG\tif set, synchronize after each kernel launch\n";

/* Prints lines "form\ttext
 * " as two columns. */
static void two_columns(const char *lines, int text_at)
{
    while (lines && *lines) {
        const int form = (int)strcspn(lines, "\t"), rest = (int)strcspn(lines + form + 1, "\n");
        char text[256];
        printf("  %.*s", form, lines);
        snprintf(text, sizeof text, "%.*s", rest, lines + form + 1);
        if (form + 2 > text_at - 2)
            printf("\n%*s", text_at, "");
        else
            printf("%*s", text_at - form - 2, "");
        lap_cli_print_wrapped(text, text_at, WIDTH);
        lines += form + 1 + rest;
        lines += *lines == '\n';
    }
}

/* Returns the length of the text in the short help, which ends at the first semicolon outside brackets. */
static int brief_length(const char *text)
{
    int at = 0;
    for (int depth = 0; text[at] && (depth > 0 || text[at] != ';'); at++)
        depth += (text[at] == '(') - (text[at] == ')');
    return at;
}

static void option_line(const lap_cli_option *option, int text_at, bool full)
{
    char form[96];
    int length = snprintf(form, sizeof form, "  %c%c%s--%s%s%s", option->letter ? '-' : ' ',
        option->letter ? option->letter : ' ', option->letter ? ", " : "  ", option->name,
        option->argument ? "=" : "", option->argument ? option->argument : "");
    if (!full && length > text_at - 2 && option->argument)
        length = snprintf(form, sizeof form, "  %c%c%s--%s=...", option->letter ? '-' : ' ',
            option->letter ? option->letter : ' ', option->letter ? ", " : "  ", option->name);
    fputs(form, stdout);
    if (length > text_at - 2)
        printf("\n%*s", text_at, "");
    else
        printf("%*s", text_at - length, "");
    char text[400];
    snprintf(text, sizeof text, "%.*s", full ? 399 : brief_length(option->help), option->help);
    lap_cli_print_wrapped(text, text_at, WIDTH);
}

static void heading(const lap_cli *cli, const char *text)
{
    printf("%s%s:%s\n", lap_term_bold(cli, stdout), text, lap_term_plain(cli, stdout));
}

static void usage(const lap_cli *cli, bool every_command, int text_at)
{
    heading(cli, "Usage");
    if (!every_command)
        two_columns(cli->command->usage, text_at);
    for (const lap_cli_command *command = lap_cli_commands; every_command && command->name; command++)
        two_columns(command->usage, text_at);
}

static void short_help(const lap_cli *cli)
{
    usage(cli, !cli->is_command_named, USAGE_AT);
    putchar('\n');
    for (const lap_cli_option *option = lap_cli_options; option->name; option++)
        if (option->brief && (option->forms & cli->command->takes))
            option_line(option, BRIEF_TEXT_AT, false);
    printf("\n'lapedge %s%s--help' has all options, and examples.\n",
        cli->is_command_named ? cli->command->name : "", cli->is_command_named ? " " : "");
}

static void full_help(const lap_cli *cli)
{
    const bool main_page = !cli->is_command_named;
    if (main_page)
        printf("lapedge %s: edge detection on photos with a 5x5 Laplace filter.\n"
               "All backends, from plain C to CUDA, give the same bytes.\n\n",
            lap_version());
    usage(cli, main_page, USAGE_AT);
    putchar('\n');
    heading(cli, "Examples");
    two_columns(cli->command->examples, EXAMPLE_AT);
    for (int group = 0; lap_cli_groups[group]; group++) {
        bool begun = false;
        for (const lap_cli_option *option = lap_cli_options; option->name; option++) {
            if (option->group != group || !(option->forms & cli->command->takes))
                continue;
            if (!begun) {
                putchar('\n');
                heading(cli, lap_cli_groups[group]);
            }
            begun = true;
            option_line(option, TEXT_AT, true);
        }
    }
    printf("\nDefaults are in parentheses.\n\n");
    heading(cli, "Exit codes");
    two_columns(exit_codes, CODE_AT);
    putchar('\n');
    heading(cli, "Environment");
    two_columns(variables, TEXT_AT);
    if (main_page)
        printf("\n'lapedge COMMAND --help' lists a command's options; 'man lapedge' says more.\n");
}

void lap_cli_help(const lap_cli *cli, bool full)
{
    /* Buffer large output, so that a failing write is the last one and its reason is known. */
    (void)setvbuf(stdout, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, 1 << 16);
    if (full)
        full_help(cli);
    else
        short_help(cli);
}

int lap_cli_help_on(lap_cli *cli)
{
    cli->command = lap_cli_commands;
    if (cli->operand_count > 1)
        return lap_cli_usage("help takes one COMMAND");
    cli->is_command_named = cli->operand_count == 1;
    const lap_cli_command *command =
        cli->is_command_named ? lap_cli_command_named(cli->operands[0]) : cli->command;
    if (!command)
        return (int)lap_cli_no_command(cli->operands[0]);
    cli->command = command;
    lap_cli_help(cli, true);
    return LAP_EXIT_OK;
}

/* ---- completion -------------------------------------------------------------------------------- */

static void print_words(const char *(*next)(int i))
{
    for (int i = 0; next(i); i++)
        puts(next(i));
}

static void print_values(const lap_cli_option *option)
{
    if (option->set == lap_set_backend || option->set == lap_set_backends)
        print_words(lap_cli_rung_name);
    else if (option->set == lap_set_kernel)
        print_words(lap_kernel_preset);
    else if (option->set == lap_set_word || option->set == lap_set_choice || option->set == lap_set_border)
        for (const char *word = option->argument; *word; word += word[strcspn(word, "|")] == '|') {
            printf("%.*s\n", (int)strcspn(word, "|"), word);
            word += strcspn(word, "|");
        }
}

/* Prints the whole table: name, letter, argument, forms, help, and what happens if it is given again,
 * separated by tabs. */
static void print_table(void)
{
    static const char *const again[LAP_AGAINS] = {[LAP_AGAIN_SAME] = "same",
        [LAP_AGAIN_LAST] = "last",
        [LAP_AGAIN_ADDS] = "adds",
        [LAP_AGAIN_NEVER] = "never"};
    for (const lap_cli_option *option = lap_cli_options; option->name; option++) {
        char forms[512];
        lap_cli_list_forms(option->forms, forms, sizeof forms);
        printf("%s\t%.1s\t%s\t%s\t%s\t%s\n", option->name, option->letter ? &option->letter : "",
            option->argument ? option->argument : "", forms, option->help, again[option->again]);
    }
}

/* Prints a command's options, with "=" after those that take a value, and descriptions if requested. */
static void print_options(const lap_cli_command *command, bool described)
{
    for (const lap_cli_option *option = lap_cli_options; option->name; option++)
        if (option->forms & command->takes)
            printf("--%s%s%s%s\n", option->name, option->argument ? "=" : "", described ? "\t" : "",
                described ? option->help : "");
}

/* __complete: commands; __complete COMMAND: its options; __complete COMMAND --NAME: values; __complete
 * COMMAND operands: operands. Prints nothing for a file or a number. __describe COMMAND: options with
 * descriptions; __options: the whole table. */
int lap_cli_complete(int argc, char **argv)
{
    const lap_cli_command *command = argc > 2 ? lap_cli_command_named(argv[2]) : NULL;
    if (!command)
        command = lap_cli_commands;
    if (strcmp(argv[1], "__options") == 0)
        print_table();
    else if (strcmp(argv[1], "__describe") == 0)
        print_options(command, true);
    else if (argc < 3)
        print_words(lap_cli_command_name);
    else if (argc == 3)
        print_options(command, false);
    else if (strncmp(argv[3], "--", 2) == 0) {
        const lap_cli_option *option = lap_cli_option_named(argv[3] + 2, strlen(argv[3] + 2));
        if (option)
            print_values(option);
    } else if (command->operand)
        print_words(command->operand);
    return (int)lap_cli_flush(LAP_EXIT_OK);
}
