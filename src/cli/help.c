/* Both helps and the shell's completion, from the tables of commands and options. */
#include <string.h>

#include "cli/term.h"
#include "cli/values.h"

enum { WIDTH = 79, TEXT_AT = 26, BRIEF_TEXT_AT = 24, USAGE_AT = 40, EXAMPLE_AT = 46 };

/* Lines "form\ttext\n" as two columns. */
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
    /* The short help stops at the first semicolon. */
    char text[400];
    snprintf(text, sizeof text, "%.*s", full ? 399 : (int)strcspn(option->help, ";"), option->help);
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
    for (const lap_cli_command *command = lap_cli_commands; every_command && command->name; ++command)
        two_columns(command->usage, text_at);
}

static void short_help(const lap_cli *cli)
{
    usage(cli, cli->command == lap_cli_commands, USAGE_AT);
    putchar('\n');
    for (const lap_cli_option *option = lap_cli_options; option->name; ++option)
        if (option->brief && (option->applies & cli->command->takes))
            option_line(option, BRIEF_TEXT_AT, false);
    printf("\nlapedge %s%s--help has every option, with examples.\n",
        cli->command == lap_cli_commands ? "" : cli->command->name,
        cli->command == lap_cli_commands ? "" : " ");
}

static void full_help(const lap_cli *cli)
{
    const bool main_page = cli->command == lap_cli_commands;
    if (main_page)
        printf("lapedge %s: the edges of photos, by a 5x5 Laplace filter.\n"
               "Every implementation, from plain C to CUDA, gives the same bytes.\n\n",
            lap_version());
    usage(cli, main_page, USAGE_AT);
    putchar('\n');
    heading(cli, "Examples");
    two_columns(cli->command->examples, EXAMPLE_AT);
    for (int group = 0; lap_cli_groups[group]; ++group) {
        bool begun = false;
        for (const lap_cli_option *option = lap_cli_options; option->name; ++option) {
            if (option->group != group || !(option->applies & cli->command->takes))
                continue;
            if (!begun) {
                putchar('\n');
                heading(cli, lap_cli_groups[group]);
            }
            begun = true;
            option_line(option, TEXT_AT, true);
        }
    }
    printf("\nDefaults stand in brackets. Exit codes: 0 done, or equal; 1 a file failed, or\n"
           "pictures differ; 2 usage, or nothing to compare; 3 the backend cannot run here;\n"
           "4 nothing could be done; 5 refused by a limit.\n");
    if (main_page)
        printf("lapedge COMMAND --help has the options of a command; man lapedge says it all.\n");
}

void lap_cli_help(const lap_cli *cli, bool full)
{
    if (full)
        full_help(cli);
    else
        short_help(cli);
}

/* ---- completion -------------------------------------------------------------------------------- */

static void print_words(const char *(*next)(int i))
{
    for (int i = 0; next(i); ++i)
        puts(next(i));
}

static void print_values(const lap_cli_option *option)
{
    if (option->set == lap_set_backend || option->set == lap_set_backends)
        print_words(lap_cli_rung_name);
    else if (option->set == lap_set_kernel)
        print_words(lap_kernel_preset);
    else if (option->set == lap_set_word || option->set == lap_set_choice)
        for (const char *word = option->argument; *word; word += word[strcspn(word, "|")] == '|') {
            printf("%.*s\n", (int)strcspn(word, "|"), word);
            word += strcspn(word, "|");
        }
}

/* __complete: commands; __complete COMMAND: its options, "=" after those with a value;
 * __complete COMMAND --NAME: values; __complete COMMAND operands: operands. Nothing where it is a file
 * or a number. */
int lap_cli_complete(int argc, char **argv)
{
    const lap_cli_command *command = lap_cli_commands;
    if (argc < 3)
        print_words(lap_cli_command_name);
    for (const lap_cli_command *each = lap_cli_commands; argc >= 3 && each->name; ++each)
        if (strcmp(each->name, argv[2]) == 0)
            command = each;
    for (const lap_cli_option *option = lap_cli_options; argc == 3 && option->name; ++option)
        if (option->applies & command->takes)
            printf("--%s%s\n", option->name, option->argument ? "=" : "");
    if (argc > 3 && strncmp(argv[3], "--", 2) == 0) {
        const lap_cli_option *option = lap_cli_option_named(argv[3] + 2, strlen(argv[3] + 2));
        if (option)
            print_values(option);
    } else if (argc > 3 && command->operand)
        print_words(command->operand);
    return LAP_EXIT_OK;
}
