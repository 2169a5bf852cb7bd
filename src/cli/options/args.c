#include "cli/options/args.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/sides.h"
#include "cli/term.h"

enum { FIRST_LONG = 256 };

/* ---- getopt's tables --------------------------------------------------------------------------- */

typedef struct getopt_tables {
    char letters[3 * LAP_CLI_OPTIONS];
    struct option names[LAP_CLI_OPTIONS];
} getopt_tables;

static void make_tables(getopt_tables *tables)
{
    /* '-': operands come in order, even with POSIXLY_CORRECT; ':': a missing value is reported. */
    char *letter = stpcpy(tables->letters, "-:h");
    int count = 0;
    for (const lap_cli_option *option = lap_cli_options; option->name; option++) {
        tables->names[count++] =
            (struct option){option->name, option->argument ? required_argument : no_argument, NULL,
                FIRST_LONG + (int)(option - lap_cli_options)};
        if (option->letter)
            letter = stpcpy(letter, (char[]){option->letter, option->argument ? ':' : '\0', '\0'});
    }
    tables->names[count] = (struct option){0};
}

/* ---- what went wrong --------------------------------------------------------------------------- */

static const char *option_name(int i)
{
    return lap_cli_options[i].name;
}

/* Whether a word with a dash is probably the name of a file: there is one, or it has an image's extension. */
static bool is_name_of_file(const char *word)
{
    const char *dot = strrchr(word, '.');
    return access(word, F_OK) == 0 || (dot && !strchr(word, '=') && lap_format_named(dot + 1));
}

static lap_cli_exit meant_file(const char *word)
{
    char name[PATH_MAX], quoted[PATH_MAX];
    snprintf(name, sizeof name, "./%s", word);
    return lap_cli_usage("unknown option %s; for a file of that name write %s", word,
        lap_cli_quoted(name, quoted, sizeof quoted));
}

static lap_cli_exit unknown_option(const char *word)
{
    if (is_name_of_file(word))
        return meant_file(word);
    const size_t length = strcspn(word + 2, "=");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), word + 2);
    char whole[72];
    snprintf(whole, sizeof whole, "--%s", name);
    const char *hint = lap_cli_hint(whole), *nearest = lap_cli_nearest(name, option_name);
    if (hint)
        return lap_cli_usage("unknown option --%s; %s", name, hint);
    if (nearest)
        return lap_cli_usage("unknown option --%s; did you mean --%s?", name, nearest);
    return lap_cli_usage("unknown option --%s; see lapedge --help", name);
}

/* Whether the word is like "-quality=80": a long name after one dash. No combination of option letters looks
 * like this. */
static bool is_name_with_one_dash(const char *word)
{
    return word[0] == '-' && word[1] != '-' && strcspn(word + 1, "=") > 1 &&
           lap_cli_option_named(word + 1, strcspn(word + 1, "="));
}

/* cjpeg's -q is a quality, so a number after our -q is a mistake, unless a file has that name. */
static bool is_quality(const char *word)
{
    return *word && strspn(word, "0123456789") == strlen(word) && access(word, F_OK) != 0;
}

static lap_cli_exit meant_quality(const char *number)
{
    return lap_cli_usage("-q is quiet and takes no value; quality is -Q %s", number);
}

static lap_cli_exit refused(const char *word, int letter)
{
    if (letter >= FIRST_LONG)
        return lap_cli_usage("--%s takes no value", lap_cli_options[letter - FIRST_LONG].name);
    if (letter == 0)
        return unknown_option(word);
    if (is_name_of_file(word))
        return meant_file(word);
    if (letter >= '0' && letter <= '9' && strncmp(word, "-q", 2) == 0)
        return meant_quality(word + 2);
    const char *none = "see lapedge -h", *hint = lap_cli_hint((char[]){'-', (char)letter, '\0'});
    if (!word[2])
        return lap_cli_usage("unknown option -%c; %s", letter, hint ? hint : none);
    /* Two letters are probably two options; more are probably another program's word. */
    if (word[3])
        hint = lap_cli_hint(word + 1);
    return lap_cli_usage("unknown option -%c in %s; %s", letter, word, hint ? hint : none);
}

static lap_cli_exit set(lap_cli *cli, const lap_cli_option *option, const char *value)
{
    char problem[600] = "";
    if (option->set((char *)cli + option->field, option, value, problem, sizeof problem))
        return LAP_EXIT_OK;
    return lap_cli_usage("--%s: %s", option->name, problem);
}

/* ---- parsing ----------------------------------------------------------------------------------- */

/* If the word is the first one, comes before any "--" and is a command, sets the command; else adds an
 * operand. */
static void take_operand(lap_cli *cli, char *word, bool may_be_command)
{
    const lap_cli_command *command = lap_cli_command_named(word);
    if (may_be_command && command && !cli->command && cli->operand_count == 0)
        cli->command = command;
    else {
        cli->may_be_command |= may_be_command && !cli->command && cli->operand_count == 0;
        cli->operands[cli->operand_count++] = word;
    }
}

/* Checks whether an option may be given again with this value (args.h); records whether the value changed. */
static lap_cli_exit check_again(
    const lap_cli_option *option, const char *before, const char *value, lap_cli_given *given)
{
    const bool is_list = option->argument && strcmp(option->argument, "LIST") == 0;
    if (!before || option->again == LAP_AGAIN_ADDS)
        return LAP_EXIT_OK;
    if (option->again == LAP_AGAIN_NEVER)
        return lap_cli_usage("--%s is given twice; use one at a time", option->name);
    if (strcmp(before, value) == 0)
        return LAP_EXIT_OK;
    given->changed[option - lap_cli_options] = true;
    return option->kind == LAP_TUNING || option->again == LAP_AGAIN_LAST
               ? LAP_EXIT_OK
               : lap_cli_usage("--%s is given twice, as \"%.200s\" and as \"%.200s\"; %s", option->name,
                     before, value, is_list ? "separate values by commas" : "leave one out");
}

/* Handles an option that getopt found, and stores its value in values. */
static lap_cli_exit take_option(lap_cli *cli, const lap_cli_option *option, const char *value,
    const char *values[LAP_CLI_OPTIONS], lap_cli_given *given, const bool left_out[LAP_CLI_OPTIONS])
{
    const ptrdiff_t at = option - lap_cli_options;
    const lap_cli_exit code = check_again(option, values[at], value, given);
    given->option[at] = true;
    values[at] = value;
    return code != LAP_EXIT_OK || left_out[at] ? code : set(cli, option, value);
}

static lap_cli_exit parse_words(
    lap_cli *cli, int argc, char **argv, lap_cli_given *given, const bool left_out[LAP_CLI_OPTIONS])
{
    getopt_tables tables;
    const char *values[LAP_CLI_OPTIONS] = {NULL};
    make_tables(&tables);
    opterr = 0;
    for (int at = 1;; at = optind) {
        const int found = getopt_long(argc, argv, tables.letters, tables.names, NULL);
        if (found == -1)
            break;
        if (found == 1) {
            take_operand(cli, optarg, true);
            continue;
        }
        if (is_name_with_one_dash(argv[at]))
            return lap_cli_usage("unknown option %s; did you mean -%s?", argv[at], argv[at]);
        const lap_cli_option *option = found >= FIRST_LONG ? &lap_cli_options[found - FIRST_LONG] : NULL;
        /* getopt accepts unambiguous abbreviations. A script that used one would break when an option is
         * added. */
        if (option && strcspn(argv[at] + 2, "=") != strlen(option->name))
            return unknown_option(argv[at]);
        if (found == '?')
            return refused(argv[at], optopt);
        if (found == ':')
            return optopt >= FIRST_LONG
                       ? lap_cli_usage("--%s needs a value", lap_cli_options[optopt - FIRST_LONG].name)
                       : lap_cli_usage("-%c needs a value", optopt);
        if (found == 'h') {
            cli->help_short = true;
            continue;
        }
        if (!option)
            option = lap_cli_option_lettered(found);
        if (found == 'q' && optind < argc && is_quality(argv[optind]))
            return meant_quality(argv[optind]);
        const lap_cli_exit code = take_option(cli, option, optarg ? optarg : "", values, given, left_out);
        if (code != LAP_EXIT_OK)
            return code;
    }
    while (optind < argc)
        take_operand(cli, argv[optind++], false);
    return LAP_EXIT_OK;
}

/* With --help, reports a word that is neither a command nor a file, since the user meant one of them. */
static lap_cli_exit check_help(const lap_cli *cli)
{
    const char *word = cli->operand_count > 0 && !cli->is_command_named ? cli->operands[0] : "";
    return !*word || strpbrk(word, "./") || access(word, F_OK) == 0 ? LAP_EXIT_OK : lap_cli_no_command(word);
}

static lap_cli_exit check_version(const lap_cli *cli, const lap_cli_given *given)
{
    if (cli->operand_count > 0)
        return lap_cli_usage("--version takes no operand, such as %s", cli->operands[0]);
    for (int i = 0; lap_cli_options[i].name; i++)
        if (given->option[i] && strcmp(lap_cli_options[i].name, "version") != 0)
            return lap_cli_usage("--%s does not apply to --version", lap_cli_options[i].name);
    return LAP_EXIT_OK;
}

static void set_defaults(lap_cli *cli, int argc, char **argv, char **operands)
{
    const uint64_t half = lap_memory_here() / 2;
    *cli = (lap_cli){.words = argv,
        .word_count = argc,
        .operands = operands,
        .settings = lap_settings_default(),
        .tolerance = 0.1,
        .rotate = -1,
        .flip = -1,
        .ops = 1u << LAP_OP_FILTER,
        .allowed = {.max_abs = -1, .max_differing = -1, .max_differing_share = -1, .min_psnr = -1}};
    /* By default a run uses at most half of the memory, but at least 1 GB. */
    cli->settings.max_memory = half > 1000000000 ? half : 1000000000;
    /* Look for --json first, so that errors of parsing are printed as JSON, too. */
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        cli->json = cli->json || strcmp(argv[i], "--json") == 0;
}

/* Reads the words into cli. Options in left_out are only checked, not applied. */
static lap_cli_exit read_words(
    lap_cli *cli, int argc, char **argv, lap_cli_given *given, const bool left_out[LAP_CLI_OPTIONS])
{
    char problem[600];
    set_defaults(cli, argc, argv, cli->operands);
    optind = 0; /* restarts getopt */
    lap_cli_exit code = parse_words(cli, argc, argv, given, left_out);
    if (code == LAP_EXIT_OK && !lap_cli_reads_inside(cli) &&
        !lap_cli_read_kernel(cli, problem, sizeof problem))
        code = lap_cli_usage("--kernel: %s", problem);
    cli->is_command_named = cli->command != NULL;
    if (!cli->command)
        cli->command = &lap_cli_commands[0];
    const int quality = (int)(lap_cli_option_named("quality", strlen("quality")) - lap_cli_options);
    cli->has_quality = given->option[quality] && !left_out[quality];
    return code;
}

/* Refuses empty names, which come from scripts that use an unset variable. */
static lap_cli_exit check_names(const lap_cli *cli)
{
    for (int i = 0; i < cli->operand_count && !cli->command->operand; i++)
        if (!cli->operands[i][0])
            return lap_cli_usage("the name of a file is empty");
    return LAP_EXIT_OK;
}

/* A single OUT that names standard output, such as /dev/stdout, is "-" from here on. */
static void call_stdout(lap_cli *cli)
{
    static char standard[] = "-";
    if (cli->forms & (LAP_CLI_ONE | LAP_CLI_TRANSFORM) && cli->operand_count == 2 &&
        lap_cli_is_stdout(cli->operands[1]))
        cli->operands[1] = standard;
}

/* Refuses a misspelt command before its options are read as options of run, and refuses contradictory
 * options. If some options are accepted without effect, reads the words again without applying these. */
static lap_cli_exit check_words(lap_cli *cli, int argc, char **argv, lap_cli_given *given)
{
    lap_cli_given again = {0};
    bool any = false;
    lap_cli_exit code = cli->files_from ? LAP_EXIT_OK : lap_cli_check_first_word(cli, true);
    if (code == LAP_EXIT_OK)
        code = check_names(cli);
    if (code == LAP_EXIT_OK)
        code = lap_cli_find_forms(cli);
    if (code == LAP_EXIT_OK)
        call_stdout(cli);
    if (code == LAP_EXIT_OK)
        code = lap_cli_check_rules(cli, given);
    for (int i = 0; i < LAP_CLI_OPTIONS; i++)
        any = any || given->idle[i];
    if (code != LAP_EXIT_OK || !any)
        return code;
    const unsigned forms = cli->forms;
    code = read_words(cli, argc, argv, &again, given->idle);
    cli->forms = forms;
    call_stdout(cli);
    return code;
}

lap_cli_exit lap_cli_parse(lap_cli *cli, int argc, char **argv)
{
    lap_cli_given given = {0};
    const bool none[LAP_CLI_OPTIONS] = {false};
    lap_cli_exit code = LAP_EXIT_FAILED;
    set_defaults(cli, argc, argv, calloc((size_t)argc + 1, sizeof *cli->operands));
    if (cli->operands)
        code = read_words(cli, argc, argv, &given, none);
    else
        lap_cli_message("out of memory");
    lap_term_begin(cli);
    if (code != LAP_EXIT_OK)
        return code;
    if (cli->help_full || cli->help_short)
        return check_help(cli);
    code = cli->version ? check_version(cli, &given) : check_words(cli, argc, argv, &given);
    if (cli->json_file && lap_cli_is_stdout(cli->json_file)) { /* is --json */
        cli->json = true;
        cli->json_file = NULL;
    }
    return code;
}
