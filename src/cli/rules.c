/* Options beside each other, and beside what they are to work on: each of them means something there, or is
 * refused with a reason. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/term.h"
#include "cli/values.h"

typedef struct rule { /* `option` needs, or excludes, `other` */
    const char *option, *other, *why;
    bool needs;
} rule;

static const rule rules[] = {
    {"tolerance", "baseline", "needs --baseline", true},
    {"json", "csv", "and --csv cannot be combined", false},
    {"no-clobber", "force", "and --force contradict each other", false},
    {"skip-existing", "force", "and --force contradict each other", false},
    {"skip-existing", "no-clobber", "and --no-clobber contradict each other", false},
    {"rebuild", "skip-existing", "and --skip-existing contradict each other", false},
    {"rebuild", "no-clobber", "and --no-clobber contradict each other", false},
    {"include", "files-from", "is about folders, and --files-from names files", false},
    {"exclude", "files-from", "is about folders, and --files-from names files", false},
    {"ext", "files-from", "is about folders, and --files-from names files", false},
    {"follow", "files-from", "is about folders, and --files-from names files", false},
    {"prune", "files-from", "is about folders, and --files-from names files", false},
    {"prune", "shard", "and --shard cannot be combined: a share does not see which photos are gone", false},
    {"prune", "include", "and --include cannot be combined: what is left out would look gone", false},
    {"prune", "exclude", "and --exclude cannot be combined: what is left out would look gone", false},
    {"prune", "ext", "and --ext cannot be combined: what is left out would look gone", false},
    {"trim", "perfect", "and --perfect contradict each other", false},
    {"trim", "quality", "keeps the coded data; leave out --quality", false},
    {"perfect", "quality", "keeps the coded data; leave out --quality", false},
    {"keep", "strip", "and --strip contradict each other", false},
    {"sandbox", "devices", "runs on the CPU alone, and --devices names CUDA devices", false},
    {"sandbox", "device-memory", "runs on the CPU alone, and --device-memory is of CUDA devices", false},
    {"quiet", "verbose", "and --verbose contradict each other", false},
};

/* The first option of the list, which ends in NULL, that was given. */
static const char *first_given(const char *const *names, const bool given[LAP_CLI_OPTIONS])
{
    for (; *names; names++)
        if (lap_cli_is_given(*names, given))
            return *names;
    return NULL;
}

/* ---- the output ---------------------------------------------------------------------------------- */

/* OUT, where it is one file's; else NULL. */
static const char *single_output(const lap_cli *cli)
{
    return cli->forms & (LAP_CLI_ONE | LAP_CLI_TRANSFORM) && cli->operand_count == 2 ? cli->operands[1]
                                                                                     : NULL;
}

/* What stands behind the last dot of the name; NULL where there is none. */
static const char *extension_of(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
    const char *dot = name ? strrchr(name, '.') : NULL;
    return dot && dot != name ? dot + 1 : NULL;
}

static lap_cli_exit check_format(const lap_cli *cli, const bool given[LAP_CLI_OPTIONS])
{
    static const char *const of_jpeg[] = {
        "quality", "subsampling", "restart", "progressive", "optimize", "trim", "perfect", NULL};
    const char *out = single_output(cli), *asked = cli->settings.format;
    const char *word = asked ? asked : extension_of(out);
    const char *format = lap_format_named(word), *of_name = lap_format_named(extension_of(out));
    const bool is_jpeg = format && strcmp(format, "jpg") == 0;
    const char *name = word && !is_jpeg ? first_given(of_jpeg, given) : NULL;
    if (asked && format && of_name && strcmp(format, of_name) != 0)
        return lap_cli_usage(
            "--format=%s: %s is a name of another format; choose one name, or leave out --format", asked,
            out);
    return name ? lap_cli_usage("--%s is of JPEG alone, and the output is .%s", name, word) : LAP_EXIT_OK;
}

/* Standard output is no file: nothing stands there before, and it has neither time nor mode. */
static lap_cli_exit check_output(const lap_cli *cli, const bool given[LAP_CLI_OPTIONS])
{
    static const char *const of_files[] = {"no-clobber", "skip-existing", "preserve", "no-sync", NULL};
    const char *out = single_output(cli), *name = first_given(of_files, given);
    return name && out && strcmp(out, "-") == 0
               ? lap_cli_usage("--%s is about a file, and the output is standard output", name)
               : LAP_EXIT_OK;
}

/* ---- the inputs ---------------------------------------------------------------------------------- */

/* Whether the file is there and begins like an image that is read, but no JPEG. */
static bool is_other_image(const char *path)
{
    char head[16];
    struct stat st;
    if (!path || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const ssize_t got = fd >= 0 ? read(fd, head, sizeof head) : -1;
    if (fd >= 0)
        close(fd);
    const char *format = got > 0 ? lap_format_of_bytes(head, (size_t)got) : NULL;
    return format && strcmp(format, "jpeg") != 0;
}

/* A pipe has neither a time nor a mode that a file could have; what was redirected has. */
static lap_cli_exit check_source(const lap_cli *cli, const bool given[LAP_CLI_OPTIONS])
{
    struct stat st;
    if (single_output(cli) && lap_cli_is_given("preserve", given) && strcmp(cli->operands[0], "-") == 0 &&
        (fstat(STDIN_FILENO, &st) != 0 || !S_ISREG(st.st_mode)))
        return lap_cli_usage("--preserve is about a file, and the input is a pipe");
    return LAP_EXIT_OK;
}

/* What is about JPEGs, where no input is one. */
static lap_cli_exit check_inputs(const lap_cli *cli, const bool given[LAP_CLI_OPTIONS])
{
    static const char *const of_jpeg[] = {"decode", "max-scans", NULL};
    const char *name = first_given(of_jpeg, given);
    const int count = single_output(cli) ? 1 : cli->operand_count;
    if (!name || count == 0 || cli->forms & (LAP_CLI_FOLDER | LAP_CLI_TRANSFORM_FOLDER))
        return LAP_EXIT_OK;
    for (int i = 0; i < count; i++)
        if (!is_other_image(cli->operands[i]))
            return LAP_EXIT_OK;
    return lap_cli_usage("--%s is about JPEGs, and %s is none", name, cli->operands[0]);
}

/* ---- the backends -------------------------------------------------------------------------------- */

/* Whether one of the backends that are named, or with none named any of them, passes. */
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

static lap_cli_exit check_backends(const lap_cli *cli, const bool given[LAP_CLI_OPTIONS])
{
    static const struct {
        const char *option;
        bool (*passes)(const lap_rung_info *rung);
        const char *whose;
    } rows[] = {{"devices", may_use_device, "CUDA backends"},
        {"device-memory", may_use_device, "CUDA backends"}, {"omp-loop", is_openmp, "openmp"},
        {"block", is_cuda_global, "cuda-global"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (lap_cli_is_given(rows[i].option, given) && !any_backend(cli, rows[i].passes))
            return lap_cli_usage("--%s is for %s, and none is named", rows[i].option, rows[i].whose);
    return LAP_EXIT_OK;
}

/* A name that none of the ladders has would silently do nothing. */
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

static lap_cli_exit check_sandbox(const lap_cli *cli, const bool given[LAP_CLI_OPTIONS])
{
    const char *backend = cli->settings.backend;
    (void)given;
    if (cli->sandbox && backend && strncmp(backend, "cuda", 4) == 0)
        return lap_cli_usage("--sandbox runs on the CPU alone: a driver of CUDA cannot be confined so; "
                             "leave out --backend=%s",
            backend);
    if (cli->sandbox && cli->settings.codec == LAP_CODEC_CUDA)
        return lap_cli_usage("--sandbox runs on the CPU alone; leave out --codec=cuda");
    return LAP_EXIT_OK;
}

/* ---- all ----------------------------------------------------------------------------------------- */

lap_cli_exit lap_cli_check_rules(const lap_cli *cli, const bool given[LAP_CLI_OPTIONS])
{
    static lap_cli_exit (*const checks[])(const lap_cli *, const bool *) = {
        check_format, check_output, check_source, check_inputs, check_backends, check_sandbox};
    lap_cli_exit code = LAP_EXIT_OK;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (lap_cli_is_given(rules[i].option, given) &&
            lap_cli_is_given(rules[i].other, given) != rules[i].needs)
            return lap_cli_usage("--%s %s", rules[i].option, rules[i].why);
    for (size_t i = 0; i < sizeof checks / sizeof *checks && code == LAP_EXIT_OK; i++)
        code = checks[i](cli, given);
    return code;
}
