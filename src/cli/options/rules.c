/* Decides whether an option has an effect in this form, with the other options and the operands. If it has no
 * effect, the option's kind (args.h) decides whether it is refused or accepted. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options/args.h"
#include "cli/options/values.h"
#include "cli/sides.h"
#include "cli/term.h"

enum { WHY = 700 }; /* why an option has no effect */

/* ---- the output ---------------------------------------------------------------------------------- */

/* Returns OUT if it is one file; else NULL. */
static const char *single_output(const lap_cli *cli)
{
    return cli->forms & (LAP_CLI_ONE | LAP_CLI_TRANSFORM) && cli->operand_count == 2 ? cli->operands[1]
                                                                                     : NULL;
}

const char *lap_cli_extension(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
    const char *dot = name ? strrchr(name, '.') : NULL;
    return dot && dot != name ? dot + 1 : NULL;
}

/* Whether the output has one of two formats. True in a folder run without --format, where outputs may have
 * different formats. */
static bool has_out(const lap_cli *cli, const char *one, const char *other, char why[WHY])
{
    const char *word = cli->settings.format ? cli->settings.format : lap_cli_extension(single_output(cli));
    const char *format = lap_format_named(word);
    if (!word || (format && (strcmp(format, one) == 0 || strcmp(format, other) == 0)))
        return true;
    snprintf(why, WHY, "the output is .%.40s", word);
    return false;
}

static bool has_jpeg_out(const lap_cli *cli, char why[WHY])
{
    return has_out(cli, "jpg", "jpg", why);
}

static bool has_meta_out(const lap_cli *cli, char why[WHY])
{
    return has_out(cli, "jpg", "png", why);
}

/* Standard output is not a file: it replaces nothing, and has neither time nor mode. */
static bool has_out_file(const lap_cli *cli, char why[WHY])
{
    const char *out = single_output(cli);
    snprintf(why, WHY, "the output is standard output");
    return !out || strcmp(out, "-") != 0;
}

/* ---- the inputs ---------------------------------------------------------------------------------- */

ssize_t lap_cli_read_head(const char *path, void *head, size_t size)
{
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    ssize_t got;
    do
        got = fd >= 0 ? read(fd, head, size) : -1;
    while (fd >= 0 && got < 0 && errno == EINTR);
    const int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return got;
}

const char *lap_cli_image_at(const char *path)
{
    char head[16];
    struct stat st;
    if (!path || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return NULL;
    const ssize_t got = lap_cli_read_head(path, head, sizeof head);
    return got > 0 ? lap_format_of_bytes(head, (size_t)got) : NULL;
}

static bool is_other_image(const char *path)
{
    const char *format = lap_cli_image_at(path);
    return format && strcmp(format, "jpeg") != 0;
}

/* A pipe has no time or mode to copy; a redirected file has. */
static bool has_files(const lap_cli *cli, char why[WHY])
{
    struct stat st;
    if (!has_out_file(cli, why))
        return false;
    snprintf(why, WHY, "the input is a pipe");
    return !single_output(cli) || strcmp(cli->operands[0], "-") != 0 ||
           (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode));
}

static bool has_file_in(const lap_cli *cli, char why[WHY])
{
    snprintf(why, WHY, "standard input can be read only once");
    return !(cli->forms & (LAP_CLI_ONE | LAP_CLI_STATS)) || cli->operand_count == 0 ||
           strcmp(cli->operands[0], "-") != 0;
}

static bool has_jpeg_in(const lap_cli *cli, char why[WHY])
{
    const int count = single_output(cli) ? 1 : cli->operand_count;
    if (count == 0 || cli->forms & (LAP_CLI_FOLDER | LAP_CLI_TRANSFORM_FOLDER))
        return true;
    for (int i = 0; i < count; i++)
        if (!is_other_image(cli->operands[i]))
            return true;
    snprintf(why, WHY, "%.400s is not one", cli->operands[0]);
    return false;
}

/* Whether a folder is among the inputs. A name that does not exist counts as a folder. */
static bool has_folder_in(const lap_cli *cli, char why[WHY])
{
    struct stat st;
    const int count = cli->operand_count - (lap_cli_writes(cli) ? 1 : 0);
    snprintf(why, WHY, "--files-from names files");
    if (cli->files_from)
        return false;
    for (int i = 0; i < count; i++)
        if (stat(cli->operands[i], &st) != 0 || S_ISDIR(st.st_mode))
            return true;
    if (count > 0)
        snprintf(why, WHY, "%.400s is not one", cli->operands[0]);
    return count <= 0;
}

/* ---- the backends -------------------------------------------------------------------------------- */

/* Whether one of the named backends passes the test; if no backend is named, whether any backend passes
 * it. */
static bool any_backend(const lap_cli *cli, bool (*passes)(const lap_rung_info *rung))
{
    const bool is_list = cli->forms & (LAP_CLI_COMPARE_ALL | LAP_CLI_BENCH_ALL);
    const char *list = is_list ? cli->bench.backends : cli->settings.backend;
    if (!list || (cli->forms & LAP_CLI_BENCH << LAP_OP_CODEC))
        return true;
    for (const char *name = list; *name;) {
        const size_t length = strcspn(name, ",");
        lap_rung_info rung;
        for (int op = 0; op < LAP_OP_COUNT; op++)
            if (lap_cli_find_rung((lap_op)op, name, length, &rung) && passes(&rung))
                return true;
        name += length + (name[length] == ',');
    }
    return false;
}

static bool may_use_device(const lap_rung_info *rung)
{
    return strcmp(rung->family, "cuda") == 0 || strcmp(rung->family, "auto") == 0;
}

static bool is_openmp(const lap_rung_info *rung)
{
    return strcmp(rung->name, "openmp") == 0;
}

static bool is_cuda_global(const lap_rung_info *rung)
{
    return strcmp(rung->name, "cuda-global") == 0;
}

static bool has_device(const lap_cli *cli, char why[WHY])
{
    snprintf(why, WHY, "none is named");
    return any_backend(cli, may_use_device) && !cli->sandbox;
}

static bool has_openmp(const lap_cli *cli, char why[WHY])
{
    snprintf(why, WHY, "it is not named");
    return any_backend(cli, is_openmp);
}

static bool has_cuda_global(const lap_cli *cli, char why[WHY])
{
    snprintf(why, WHY, "it is not named");
    return any_backend(cli, is_cuda_global);
}

/* A name that is in none of these ladders would silently have no effect. */
bool lap_cli_check_backends(const char *list, const lap_op *ops, int count)
{
    for (const char *name = list; name && *name;) {
        const size_t length = strcspn(name, ",");
        bool known = false;
        for (int i = 0; i < count; i++)
            known = known || lap_cli_knows_rung(ops[i], name, length);
        if (!known) {
            lap_cli_usage("--backends: \"%.*s\" is not a backend of %s", (int)length, name,
                count > 1 ? "these operations" : lap_op_name(ops[0]));
            return false;
        }
        name += length + (name[length] == ',');
    }
    return true;
}

/* ---- one option ---------------------------------------------------------------------------------- */

static const struct {
    const char *applies_to;
    bool (*is_met)(const lap_cli *cli, char why[WHY]); /* fills why if the need is not met */
} need_rows[LAP_NEEDS] = {
    [LAP_NEED_JPEG_OUT] = {"JPEG output", has_jpeg_out},
    [LAP_NEED_META_OUT] = {"JPEG and PNG output", has_meta_out},
    [LAP_NEED_OUT_FILE] = {"a file", has_out_file},
    [LAP_NEED_FILES] = {"files", has_files},
    [LAP_NEED_IN_FILE] = {"named inputs", has_file_in},
    [LAP_NEED_JPEG_IN] = {"JPEGs", has_jpeg_in},
    [LAP_NEED_FOLDER_IN] = {"folders", has_folder_in},
    [LAP_NEED_CUDA] = {"CUDA backends", has_device},
    [LAP_NEED_OPENMP] = {"openmp", has_openmp},
    [LAP_NEED_CUDA_GLOBAL] = {"cuda-global", has_cuda_global},
};

static bool is_plural(const char *plural, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(plural, name, length) == 0 && strcmp(plural + length, "s") == 0;
}

/* For an option of other commands only: lists these commands in `why`. If this command has the option's
 * plural, such as --backends for --backend, names that too. */
static void list_commands(const lap_cli *cli, const lap_cli_option *option, char why[WHY])
{
    int at = snprintf(why, WHY, "does not apply to %s", cli->command->name);
    const char *before = ", only to ";
    for (const lap_cli_command *command = lap_cli_commands; command->name && at < WHY; command++)
        if (option->forms & command->takes) {
            at += snprintf(why + at, (size_t)(WHY - at), "%s%s", before, command->name);
            before = ", ";
        }
    for (const lap_cli_option *o = lap_cli_options; o->name && at < WHY; o++) /* --backend, --backends */
        if (o->forms & cli->command->takes && is_plural(o->name, option->name))
            at += snprintf(why + at, (size_t)(WHY - at), "; see --%s", o->name);
}

/* Whether the option has no effect because it belongs to another form. */
static bool is_foreign(const lap_cli *cli, const lap_cli_option *option, char why[WHY])
{
    char here[256], there[400];
    if (option->forms & cli->forms)
        return false;
    lap_cli_list_forms(cli->forms, here, sizeof here);
    lap_cli_list_forms(option->forms & cli->command->takes, there, sizeof there);
    if (*there)
        snprintf(why, WHY, "does not apply to %s, only to %s", here, there);
    else
        list_commands(cli, option, why);
    return true;
}

/* Whether the option has no effect because something that it needs is missing. */
static bool is_wanting(const lap_cli *cli, const lap_cli_option *option, char why[WHY])
{
    char reason[WHY];
    if (option->need == LAP_NEED_NOTHING || need_rows[option->need].is_met(cli, reason))
        return false;
    snprintf(why, WHY, "applies only to %s, and %.500s", need_rows[option->need].applies_to, reason);
    return true;
}

static bool is_accepted(const lap_cli *cli, const lap_cli_option *option)
{
    const bool may_be_same = option->is_same && cli->forms & (option->same_in | option->forms);
    return option->kind == LAP_TUNING || (option->kind != LAP_PROMISE && may_be_same && option->is_same(cli));
}

/* Whether the input is missing and the option belongs to folder runs. Then the user meant a folder, which is
 * missing, for example because it is not mounted. */
static bool lacks_folder(const lap_cli *cli, const lap_cli_option *option)
{
    const unsigned folders = LAP_CLI_FOLDER | LAP_CLI_TRANSFORM_FOLDER | LAP_CLI_STATS_FOLDER;
    struct stat st;
    return cli->forms & (LAP_CLI_ONE | LAP_CLI_TRANSFORM | LAP_CLI_STATS) && cli->operand_count > 0 &&
           option->forms & folders & cli->command->takes && strcmp(cli->operands[0], "-") != 0 &&
           stat(cli->operands[0], &st) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

typedef bool idle_fn(const lap_cli *cli, const lap_cli_option *option, char why[WHY]);

/* Applies one of the two functions above to all given options. */
static lap_cli_exit judge_all(const lap_cli *cli, idle_fn *is_idle, lap_cli_given *given)
{
    char why[WHY];
    for (int i = 0; lap_cli_options[i].name; i++) {
        const lap_cli_option *option = &lap_cli_options[i];
        if (!given->option[i] || given->idle[i] || !is_idle(cli, option, why))
            continue;
        if (!is_accepted(cli, option) && lacks_folder(cli, option)) {
            lap_cli_message("%s: no such file or folder", cli->operands[0]);
            return LAP_EXIT_NOTHING;
        }
        if (!is_accepted(cli, option))
            return lap_cli_usage("--%s %s", option->name, why);
        given->idle[i] = true;
        if (cli->verbose && strcmp(option->name, "verbose") != 0)
            lap_cli_message("note: --%s %s", option->name, why);
    }
    return LAP_EXIT_OK;
}

/* ---- combinations of options --------------------------------------------------------------------- */

static lap_cli_exit check_beside(const lap_cli *cli, const lap_cli_given *given)
{
    for (const lap_cli_option *option = lap_cli_options; option->name; option++)
        for (const lap_cli_beside *beside = option->beside; beside->other; beside++)
            if (given->option[option - lap_cli_options] &&
                lap_cli_is_given(beside->other, given) != beside->needs &&
                !(beside->agrees && beside->agrees(cli)))
                return lap_cli_usage("--%s %s", option->name, beside->why);
    return LAP_EXIT_OK;
}

static lap_cli_exit check_format(const lap_cli *cli)
{
    const char *out = single_output(cli), *extension = lap_cli_extension(out), *asked = cli->settings.format;
    const char *format = lap_format_named(asked), *of_name = lap_format_named(extension);
    if (!format || !of_name || strcmp(format, of_name) == 0)
        return LAP_EXIT_OK;
    return lap_cli_usage("--format=%s: %s is a name of another format; write %.*s%s, or --format=%s", asked,
        out, (int)(extension - out), out, format, of_name);
}

/* Refuses a photo given instead of a list. Names read from it would not exist, or, with -0, could name the
 * wrong files. */
static lap_cli_exit check_list(const lap_cli *cli)
{
    const char *format = lap_cli_image_at(cli->files_from);
    if (!format || strcmp(format, "pnm") == 0) /* a list of names may begin like a PNM */
        return LAP_EXIT_OK;
    return lap_cli_usage("--files-from: %s is an image, not a list of names", cli->files_from);
}

static lap_cli_exit check_sandbox(const lap_cli *cli)
{
    const char *backend = cli->settings.backend;
    if (cli->sandbox && backend && strncmp(backend, "cuda", 4) == 0)
        return lap_cli_usage("--sandbox runs on the CPU only: the CUDA driver cannot be confined; "
                             "leave out --backend=%s",
            backend);
    if (cli->sandbox && cli->settings.codec == LAP_CODEC_CUDA)
        return lap_cli_usage("--sandbox runs on the CPU only; leave out --codec=cuda");
    return LAP_EXIT_OK;
}

/* Finds the next kind of data that is written to standard output: first the options that write some, from
 * entry *at of the table on, then the image. Sets name to its description. Returns false after the last one.
 */
static bool next_on_stdout(const lap_cli *cli, const lap_cli_given *given, size_t *at, char name[64])
{
    for (; *at < LAP_CLI_OPTIONS && lap_cli_options[*at].name; ++*at) {
        const lap_cli_option *option = &lap_cli_options[*at];
        const char *path = option->writes ? lap_cli_path_of(cli, option) : NULL;
        if (!given->option[*at] || !(option->to_stdout || (path && lap_cli_is_stdout(path))))
            continue;
        snprintf(name, 64, "--%s%s%s", option->name, path ? "=" : "", path ? path : "");
        ++*at;
        return true;
    }
    const char *out = *at < LAP_CLI_OPTIONS ? single_output(cli) : NULL;
    *at = LAP_CLI_OPTIONS;
    snprintf(name, 64, "the image");
    return out && lap_cli_is_stdout(out);
}

/* Data of two kinds on standard output cannot be told apart. --json and --json-file=- are the same object. */
static lap_cli_exit check_stdout(const lap_cli *cli, const lap_cli_given *given)
{
    char first[64] = "", next[64];
    bool is_object = false;
    for (size_t at = 0; next_on_stdout(cli, given, &at, next);) {
        const bool is_json = strncmp(next, "--json", 6) == 0;
        if (*first && !(is_object && is_json))
            return lap_cli_usage("%s and %s cannot both go to standard output%s", first, next,
                at == LAP_CLI_OPTIONS ? "; name OUT" : "");
        is_object = is_object || is_json;
        memcpy(first, next, sizeof first);
    }
    return LAP_EXIT_OK;
}

static void note_changed(const lap_cli *cli, const lap_cli_given *given)
{
    for (int i = 0; cli->verbose && lap_cli_options[i].name; i++)
        if (given->changed[i] && !given->idle[i])
            lap_cli_message(
                "note: --%s is given more than once; the last value counts", lap_cli_options[i].name);
}

lap_cli_exit lap_cli_check_rules(const lap_cli *cli, lap_cli_given *given)
{
    lap_cli_exit code = judge_all(cli, is_foreign, given);
    if (code == LAP_EXIT_OK)
        code = check_beside(cli, given);
    if (code == LAP_EXIT_OK)
        code = check_format(cli);
    if (code == LAP_EXIT_OK)
        code = check_list(cli);
    if (code == LAP_EXIT_OK)
        code = judge_all(cli, is_wanting, given);
    if (code == LAP_EXIT_OK)
        code = check_stdout(cli, given);
    if (code == LAP_EXIT_OK)
        note_changed(cli, given);
    return code == LAP_EXIT_OK ? check_sandbox(cli) : code;
}
