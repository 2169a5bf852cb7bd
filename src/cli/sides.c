#include "cli/sides.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/options/values.h"
#include "cli/term.h"

/* ---- a file that the command line also names elsewhere ------------------------------------------- */

/* A path that leads to the file to which standard output is redirected. */
static const char standard_output[] = "/dev/stdout";

/* Returns a path that can be opened: "-" becomes the path of the standard stream. */
static const char *as_path(const char *path, bool is_written)
{
    if (path && is_written && lap_cli_is_stdout(path))
        return standard_output;
    return path && strcmp(path, "-") == 0 ? "/dev/stdin" : path;
}

static bool has_image_on_stdout(const lap_cli *cli)
{
    return lap_cli_writes(cli) && !cli->in_place && cli->operand_count > 0 &&
           lap_cli_is_stdout(cli->operands[cli->operand_count - 1]);
}

/* Whether text goes to a file through standard output. */
static bool prints_to_file(const lap_cli *cli)
{
    struct stat st;
    bool prints = !lap_cli_writes(cli) || cli->json || cli->dry_run || cli->help_full || cli->help_short ||
                  cli->version;
    for (const lap_cli_option *o = lap_cli_options; o->name && !prints; o++) {
        const char *path = o->writes ? lap_cli_path_of(cli, o) : NULL;
        prints = path && lap_cli_is_stdout(path);
    }
    return prints && !has_image_on_stdout(cli) && fstat(STDOUT_FILENO, &st) == 0 && S_ISREG(st.st_mode);
}

/* Returns the exit code if a side file prevents the start: 2 for a comparison, else 4. */
static lap_cli_exit unreachable(const lap_cli *cli, const lap_cli_option *side, const lap_error *err)
{
    char text[1024];
    lap_cli_message("--%s: %s", side->name, lap_cli_error_text(err, text, sizeof text));
    return cli->command->takes & (LAP_CLI_DIFF | LAP_CLI_COMPARE_ALL) ? LAP_EXIT_USAGE : LAP_EXIT_NOTHING;
}

/* Returns LAP_EXIT_OK if path is another file, else an exit code after a message that calls the file `what`.
 * side: NULL for the text that goes to standard output. */
static lap_cli_exit check_other(
    const lap_cli *cli, const lap_cli_option *side, const char *path, const char *what)
{
    lap_error err;
    const char *written = side ? as_path(lap_cli_path_of(cli, side), true) : standard_output;
    const lap_code code = path ? lap_side_check(written, &path, 1, &err) : LAP_OK;
    if (code == LAP_OK)
        return LAP_EXIT_OK;
    if (!side && code != LAP_E_CLASH)
        return LAP_EXIT_OK;
    if (!side) {
        lap_json_direct(false, NULL, false); /* not even the error */
        return lap_cli_usage("standard output is redirected to %s, and text would be written into it", what);
    }
    return code == LAP_E_CLASH ? lap_cli_usage("--%s: %s is %s", side->name, lap_cli_path_of(cli, side), what)
                               : unreachable(cli, side, &err);
}

typedef struct folder_look {
    const lap_cli *cli;
    const lap_cli_option *side;
    lap_cli_exit exit;
} folder_look;

static lap_code check_file(void *user, const char *path, const lap_error *problem, lap_error *err)
{
    folder_look *look = user;
    (void)problem;
    *err = (lap_error){.code = LAP_E_CLASH};
    look->exit = check_other(look->cli, look->side, path, "the input");
    return look->exit == LAP_EXIT_OK ? LAP_OK : LAP_E_CLASH;
}

/* Checks an input, and the files in it if it is a folder. */
static lap_cli_exit check_input(
    const lap_cli *cli, const lap_cli_option *side, const char *path, bool look_inside)
{
    struct stat st;
    lap_error err;
    path = as_path(path, false);
    folder_look look = {cli, side, check_other(cli, side, path, "the input")};
    if (path && look.exit == LAP_EXIT_OK && look_inside && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        (void)lap_inputs(&path, 1, check_file, &look, NULL, &err);
    return look.exit;
}

static lap_cli_exit check_operands(const lap_cli *cli, const lap_cli_option *side)
{
    const bool writes = lap_cli_writes(cli);
    const bool has_out = writes && !cli->in_place && (cli->operand_count > 1 || cli->files_from);
    lap_cli_exit code = LAP_EXIT_OK;
    for (int i = 0; i < cli->operand_count && !cli->command->operand && code == LAP_EXIT_OK; i++) {
        const bool is_out = has_out && i == cli->operand_count - 1;
        if (!is_out)
            code = check_input(cli, side, cli->operands[i], side && !writes);
        else if (side) /* an output replaces the file to which standard output is redirected */
            code = check_other(cli, side, cli->operands[i], "the output");
    }
    return code == LAP_EXIT_OK ? check_input(cli, side, cli->bench.image, side) : code;
}

static lap_cli_exit check_side(const lap_cli *cli, const lap_cli_option *side)
{
    lap_cli_exit code = check_operands(cli, side);
    for (const lap_cli_option *o = lap_cli_options; o->name && code == LAP_EXIT_OK; o++) {
        const char *path = o->reads || o->writes ? as_path(lap_cli_path_of(cli, o), o->writes) : NULL;
        if (o->reads || (side && o != side && o->writes))
            code = check_other(cli, side, path, o->writes ? "to be written twice" : o->reads);
    }
    return code;
}

/* Whether path is an in-place record. If the record were overwritten, photos would be filtered twice. */
static bool is_record(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash ? slash + 1 : path, ".lapedge-in-place.jsonl") == 0;
}

/* Whether path is the name that --backup gives to a photo. */
static bool is_backup(const lap_cli *cli, const char *path)
{
    const size_t length = strlen(path), end = cli->backup ? strlen(cli->backup) : 0;
    return end > 0 && length > end && strcmp(path + length - end, cli->backup) == 0;
}

/* ---- a file with content that standard output appends to ----------------------------------------- */

/* The first bytes of a file, and a 0. Empty if the file cannot be read; problem is the errno. */
typedef struct side_head {
    char bytes[1024];
    size_t size;
    int problem;
} side_head;

static side_head head_of(const char *path)
{
    side_head head = {.size = 0};
    const ssize_t got = lap_cli_read_head(path, head.bytes, sizeof head.bytes - 1);
    head.size = got > 0 ? (size_t)got : 0;
    head.problem = got < 0 ? errno : 0;
    return head;
}

/* Returns the format of an image that begins with these bytes, as outputs name it ("pnm" for "ppm" and
 * "pgm"); NULL for a format that lapedge neither reads nor writes, and for TGA, whose first bytes identify
 * nothing. */
static const char *format_of(const side_head *head)
{
    const char *format = lap_format_of_bytes(head->bytes, head->size), *name = lap_format_named(format);
    return strncmp(head->bytes, "BM", 2) == 0 ? "bmp" : name ? name : format;
}

/* Whether text may be appended to a file that begins with these bytes: they are no image, and have no control
 * characters except those for layout and terminals (BEL to CR, and ESC). */
static bool is_text(const side_head *head)
{
    for (size_t i = 0; i < head->size; i++) {
        const unsigned char c = (unsigned char)head->bytes[i];
        if (c < '\a' || (c > '\r' && c < ' ' && c != '\33'))
            return false;
    }
    return !lap_format_of_bytes(head->bytes, head->size);
}

bool lap_cli_stdout_takes_text(void)
{
    struct stat st;
    if (fstat(STDOUT_FILENO, &st) != 0 || !S_ISREG(st.st_mode))
        return true;
    const side_head head = head_of(standard_output);
    return is_text(&head);
}

/* Returns whether the file stays valid if the image is appended. Images of the same format may precede it if
 * the name is that of a format with several images (PNM, or a stream such as x.mjpeg). So may text that the
 * same redirection with > has written, such as a header. */
static bool may_follow(const char *format, const char *name, const side_head *head, off_t size)
{
    const char *dot = strrchr(name, '.'), *there = format_of(head);
    const bool is_pnm = there && strcmp(there, "pnm") == 0;
    const int flags = fcntl(STDOUT_FILENO, F_GETFL); /* -1, an error, has the bit of each flag */
    if (!there)
        return !(flags & O_APPEND) && lseek(STDOUT_FILENO, 0, SEEK_CUR) >= size;
    return is_pnm ? strcmp(format, "ppm") == 0 || strcmp(format, "pgm") == 0
                  : strcmp(format, there) == 0 && !lap_format_named(dot ? dot + 1 : NULL);
}

/* Whether standard output is the input's file. Then the run itself refuses it; the message here suggests >,
 * which would empty the input. */
static bool is_input(const lap_cli *cli)
{
    lap_error ignored; /* the run reports it */
    const char *in = as_path(cli->operands[0], false);
    return lap_side_check(standard_output, &in, 1, &ignored) == LAP_E_CLASH;
}

lap_cli_exit lap_cli_check_stdout(const lap_cli *cli)
{
    char name[PATH_MAX];
    struct stat st;
    const char *asked = lap_format_named(cli->settings.format), *format = asked ? asked : "jpg";
    const bool has_image = has_image_on_stdout(cli), is_image = has_image && strcmp(format, "tsv") != 0;
    if (!(has_image || prints_to_file(cli)) || fstat(STDOUT_FILENO, &st) != 0 || !S_ISREG(st.st_mode) ||
        st.st_size == 0)
        return LAP_EXIT_OK;
    const side_head head = head_of(standard_output);
    const ssize_t length = readlink("/proc/self/fd/1", name, sizeof name - 1);
    name[length > 0 ? length : 0] = '\0';
    if (is_image ? may_follow(format, name, &head, st.st_size) || is_input(cli) : is_text(&head))
        return LAP_EXIT_OK;
    return lap_cli_usage(is_image
                             ? "standard output is redirected to %s, which is not empty; name the output, "
                               "or use > to replace what is there"
                             : "standard output is redirected to %s, which is not text and would be damaged",
        length > 0 ? name : "a file");
}

/* ---- an existing file to replace ----------------------------------------------------------------- */

/* If the file begins with a schema of lapedge, returns the text after "lapedge." in its name; else NULL. */
static const char *schema_of(const side_head *head)
{
    static const char *const parts[] = {"{", "\"schema\"", ":", "\"lapedge."};
    const char *at = head->bytes;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        at += strspn(at, " \t\r\n");
        if (strncmp(at, parts[i], strlen(parts[i])) != 0)
            return NULL;
        at += strlen(parts[i]);
    }
    return at;
}

static bool has_schema(const side_head *head, const char *const names[])
{
    const char *schema = schema_of(head);
    for (size_t i = 0; schema && names[i]; i++)
        if (strncmp(schema, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool is_log(const side_head *head) /* logs of the first versions have no first line */
{
    return has_schema(head, (const char *const[]){"log/", "file/", NULL});
}

static bool is_stats(const side_head *head)
{
    return has_schema(head, (const char *const[]){"stats/", NULL});
}

static bool is_trace(const side_head *head)
{
    return has_schema(head, (const char *const[]){"trace/", NULL});
}

static bool is_object(const side_head *head)
{
    return schema_of(head) && !has_schema(head, (const char *const[]){"log/", "trace/", "manifest/", NULL});
}

static bool is_report(const side_head *head)
{
    return strncmp(head->bytes, "<!doctype html>", 15) == 0 && strstr(head->bytes, "<title>lapedge ");
}

static bool is_heatmap(const side_head *head)
{
    static const char mark[] = "tEXtSoftware\0lapedge heat map";
    enum { AT = 37 }; /* after signature, IHDR and a length */
    return head->size >= AT + sizeof mark - 1 && memcmp(head->bytes + AT, mark, sizeof mark - 1) == 0;
}

static const struct {
    const char *name;
    bool (*is_it)(const side_head *head);
} kinds[LAP_SIDES] = {
    [LAP_SIDE_LOG] = {"a log", is_log},
    [LAP_SIDE_STATS] = {"statistics", is_stats},
    [LAP_SIDE_OBJECT] = {"JSON", is_object},
    [LAP_SIDE_TRACE] = {"a timeline", is_trace},
    [LAP_SIDE_REPORT] = {"a report", is_report},
    [LAP_SIDE_HEATMAP] = {"a heat map", is_heatmap},
};

/* Whether a side file of this kind may be written to path without losing data: path does not exist, is empty,
 * is a device or a pipe, or was written by the same option. */
static bool is_free(const char *path, lap_cli_side kind)
{
    struct stat st;
    if (lap_cli_is_stdout(path) || stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return true;
    const side_head head = head_of(path);
    return kinds[kind].is_it(&head);
}

static lap_cli_exit check_content(const lap_cli *cli, const lap_cli_option *side, const char *path)
{
    if (side->writes != LAP_SIDE_HEATMAP && lap_cli_image_at(as_path(path, true)))
        return lap_cli_usage("--%s: %s is an image, and would be replaced", side->name, path);
    if (cli->force || is_free(path, side->writes))
        return LAP_EXIT_OK;
    /* In folder runs -f also permits replacing outputs, so no message suggests it. */
    const bool has_outputs = cli->forms & (LAP_CLI_FOLDER | LAP_CLI_TRANSFORM_FOLDER);
    return lap_cli_usage("--%s: %s exists and is not %s that lapedge wrote; name another file%s", side->name,
        path, kinds[side->writes].name, has_outputs ? ", or remove it" : ", or give -f to replace it");
}

/* Whether the folder of a side file may be missing now, because it is OUTDIR or lies in it, and this run
 * creates OUTDIR. */
static bool may_appear(const lap_cli *cli, const char *path)
{
    struct stat st;
    bool lies_in;
    lap_error ignored; /* lap_side_reach reports it */
    const char *out = cli->operand_count > 0 ? cli->operands[cli->operand_count - 1] : "";
    return cli->forms & (LAP_CLI_FOLDER | LAP_CLI_TRANSFORM_FOLDER) && stat(out, &st) != 0 &&
           lap_side_lies_in(path, out, &lies_in, &ignored) == LAP_OK && lies_in;
}

/* How long to wait for a FIFO's reader, which often starts at the same time as lapedge. */
enum { READER_S = 5 };

/* Most of these files are written last, so a path that cannot be written, or a FIFO without a reader, is
 * reported before the work begins. A log is opened before the work. */
static lap_cli_exit check_place(const lap_cli *cli, const lap_cli_option *side, const char *path)
{
    lap_error err;
    const bool is_known = side->writes != LAP_SIDE_LOG && !lap_cli_is_stdout(path) && !may_appear(cli, path);
    const double limit = cli->settings.timeout_s;
    lap_code code = is_known ? lap_side_reach(path, &err) : LAP_OK;
    if (code == LAP_OK && !lap_cli_is_stdout(path))
        code = lap_side_await_reader(path, limit > 0 && limit < READER_S ? limit : READER_S, &err);
    return code == LAP_OK ? LAP_EXIT_OK : unreachable(cli, side, &err);
}

static bool is_named_like_image(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    const char *format = dot ? lap_format_named(dot + 1) : NULL;
    return format && strcmp(format, "tsv") != 0;
}

/* Returns the input folder in which this run, or the next one, would mistake the side file for a photo. */
static const char *folder_around(const lap_cli *cli, const char *path)
{
    const int count = cli->operand_count - (lap_cli_writes(cli) && !cli->in_place ? 1 : 0);
    for (int i = 0; i < count && !cli->command->operand && is_named_like_image(path); i++) {
        bool lies_in = false;
        struct stat st;
        lap_error ignored; /* lap_side_reach reports it */
        if (stat(cli->operands[i], &st) == 0 && S_ISDIR(st.st_mode) &&
            lap_side_lies_in(path, cli->operands[i], &lies_in, &ignored) == LAP_OK && lies_in)
            return cli->operands[i];
    }
    return NULL;
}

/* Whether the run would create a file or folder that is named like a pattern: the shell leaves a pattern as
 * it is if no file matches it ("lapedge a.jpg *.png"). Returns false if a file named by an operand has such
 * characters in its name, since the user then means them literally. */
static bool is_left_pattern(const lap_cli *cli, const char *path)
{
    static const char wild[] = "*?";
    char part[PATH_MAX];
    struct stat st;
    for (int i = 0; i < cli->operand_count; i++)
        if (strpbrk(cli->operands[i], wild) && lstat(cli->operands[i], &st) == 0)
            return false;
    for (const char *at = strpbrk(path, wild), *end; at; at = strpbrk(end, wild)) {
        end = at + strcspn(at, "/");
        if (snprintf(part, sizeof part, "%.*s", (int)(end - path), path) < (int)sizeof part &&
            lstat(part, &st) != 0 && errno == ENOENT)
            return true;
    }
    return false;
}

#define LEFT_PATTERN "no file matches this pattern; name the output, or create it first if this is its name"

static lap_cli_exit check_name(const lap_cli *cli, const lap_cli_option *side, const char *path)
{
    const char *around = lap_cli_is_stdout(path) ? NULL : folder_around(cli, path);
    if (is_record(path))
        return lap_cli_usage("--%s: %s is the name of lapedge's own records", side->name, path);
    if (is_backup(cli, path))
        return lap_cli_usage("--%s: %s is the name of a backup", side->name, path);
    if (is_left_pattern(cli, path))
        return lap_cli_usage("--%s: %s: " LEFT_PATTERN, side->name, path);
    lap_cli_exit code = check_side(cli, side);
    if (code == LAP_EXIT_OK)
        code = check_content(cli, side, path);
    if (code == LAP_EXIT_OK && around)
        code = lap_cli_usage("--%s: %s lies in the input %s and is named like an image; name another file",
            side->name, path, around);
    return code == LAP_EXIT_OK ? check_place(cli, side, path) : code;
}

/* Whether the last part of a path, or the one before it, is a folder of records. */
static bool is_among_records(const char *path)
{
    static const char folder[] = ".lapedge";
    bool is_last = false, is_around = false;
    for (const char *step = path + strspn(path, "/"), *end; *step; step = end + strspn(end, "/")) {
        end = step + strcspn(step, "/");
        const size_t length = (size_t)(end - step);
        if (length == 1 && *step == '.')
            continue;
        is_around = is_last;
        is_last = length == sizeof folder - 1 && memcmp(step, folder, length) == 0;
    }
    return is_last || is_around;
}

/* Whether the first bytes of OUT show a kind of file that lapedge does not write, such as a raw photo, a film
 * or a document. OUT may be one by mistake: the shell turns "lapedge IMG_1.*" into a photo and the film
 * beside it. An empty file is fine, since mktemp makes one. */
static bool is_of_another_kind(const lap_cli *cli, const char *out, const side_head *head)
{
    const char *format =
        cli->settings.format ? cli->settings.format : lap_format_named(lap_cli_extension(out));
    if (format_of(head))
        return false;
    if (format && strcmp(format, "tsv") == 0)
        return head->size != strspn(head->bytes, "0123456789\t\n");
    if (format && strcmp(format, "tga") == 0) /* which has no mark */
        return false;
    return head->size > 0;
}

static lap_cli_exit check_kind_of_out(const lap_cli *cli, const char *out)
{
    const bool is_single = cli->forms & (LAP_CLI_ONE | LAP_CLI_TRANSFORM); /* else OUT must be a folder */
    /* Without a format the run is refused later, even with -f, so the message about -f would be wrong. */
    const bool has_format = cli->settings.format || lap_format_named(lap_cli_extension(out));
    struct stat st;
    if (!is_single || !has_format || cli->force || cli->settings.no_clobber || cli->skip_existing ||
        stat(out, &st) != 0 || !S_ISREG(st.st_mode))
        return LAP_EXIT_OK;
    const side_head head = head_of(out);
    if (head.problem)
        return lap_cli_usage("%s exists and cannot be read: %s; name another file, or use -f to replace it",
            out, strerror(head.problem));
    return is_of_another_kind(cli, out, &head)
               ? lap_cli_usage("%s exists and is not an image that lapedge writes; name another file, or use "
                               "-f to replace it",
                     out)
               : LAP_EXIT_OK;
}

/* Refuses an output that would replace a record or a file of another kind, or is named like a pattern, and an
 * output folder inside a folder of records. */
static lap_cli_exit check_output(const lap_cli *cli)
{
    const bool has_out =
        lap_cli_writes(cli) && !cli->in_place && cli->operand_count > (cli->files_from ? 0 : 1);
    const char *out = has_out ? cli->operands[cli->operand_count - 1] : "";
    if (strcmp(out, "-") == 0) /* standard output, even if a file has this name */
        return LAP_EXIT_OK;
    if (is_record(out) || is_among_records(out))
        return lap_cli_usage("%s: is reserved for lapedge's own records; name another path", out);
    return is_left_pattern(cli, out) ? lap_cli_usage("%s: " LEFT_PATTERN, out) : check_kind_of_out(cli, out);
}

lap_cli_exit lap_cli_check_sides(const lap_cli *cli)
{
    lap_cli_exit code = check_output(cli);
    if (code == LAP_EXIT_OK && prints_to_file(cli))
        code = check_side(cli, NULL);
    if (code == LAP_EXIT_OK)
        code = lap_cli_check_stdout(cli);
    for (const lap_cli_option *o = lap_cli_options; o->name && code == LAP_EXIT_OK; o++)
        if (o->writes && lap_cli_path_of(cli, o))
            code = check_name(cli, o, lap_cli_path_of(cli, o));
    return code;
}

size_t lap_cli_list_sides(const lap_cli *cli, const char *names[LAP_SIDES])
{
    size_t count = 0;
    for (const lap_cli_option *o = lap_cli_options; o->name; o++) {
        const char *path = o->writes ? lap_cli_path_of(cli, o) : NULL;
        if (path && !lap_cli_is_stdout(path))
            names[count++] = path;
    }
    if (prints_to_file(cli))
        names[count++] = standard_output;
    return count;
}

/* ---- the log ------------------------------------------------------------------------------------- */

bool lap_cli_is_stdout(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(path, names[i]) == 0)
            return true;
    return false;
}

static bool open_log(lap_cli_log *log, const char *path)
{
    const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK; /* the last: for FIFOs only */
    struct stat st;
    if (lap_cli_is_stdout(path)) {
        log->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        return log->fd >= 0;
    }
    log->fd = open(path, flags | O_CREAT | O_EXCL, 0666);
    log->is_new = log->fd >= 0;
    if (log->fd < 0 && errno == EEXIST)
        log->fd = open(path, flags | O_CREAT, 0666); /* follows links */
    if (log->fd < 0 || fstat(log->fd, &st) != 0)
        return false;
    log->is_file = S_ISREG(st.st_mode);
    return log->is_file || fcntl(log->fd, F_SETFL, O_APPEND) == 0;
}

bool lap_cli_log_open(lap_cli_log *log, const lap_cli *cli)
{
    *log = (lap_cli_log){.fd = -1, .settings = &cli->settings};
    return open_log(log, cli->log);
}

bool lap_cli_log_postpone(lap_cli_log *log, const lap_cli *cli, const char *out_dir)
{
    struct stat st;
    const char *name = cli->log;
    name += 2 * (strncmp(name, "./", 2) == 0);
    out_dir += 2 * (strncmp(out_dir, "./", 2) == 0);
    const char *slash = strrchr(name, '/');
    size_t folder = slash ? (size_t)(slash - name) : 0, length = strlen(out_dir);
    while (folder > 1 && name[folder - 1] == '/')
        folder--;
    while (length > 1 && out_dir[length - 1] == '/')
        length--;
    if (folder == 0 || folder != length || memcmp(name, out_dir, length) != 0 || stat(out_dir, &st) == 0)
        return false;
    *log = (lap_cli_log){.fd = -1, .settings = &cli->settings, .postponed = cli->log};
    return true;
}

static void write_line(lap_cli_log *log, const json_t *record)
{
    char *line = lap_json_dump(record, JSON_COMPACT);
    const size_t size = line ? strlen(line) : 0;
    if (!line || log->fd < 0) {
        log->problem = log->problem ? log->problem : ENOMEM;
        free(line);
        return;
    }
    line[size] = '\n'; /* replaces the final null */
    const int problem = lap_cli_write(log->fd, line, size + 1) ? 0 : errno;
    if (!problem)
        log->size += (long long)size + 1;
    else if (log->is_file &&
             ftruncate(log->fd, (off_t)log->size) != 0) { /* half a line would damage the next */
        close(log->fd);
        log->fd = -1;
    }
    log->problem = log->problem ? log->problem : problem;
    free(line);
}

void lap_cli_log_begin(lap_cli_log *log)
{
    if (log->is_begun)
        return;
    if (log->postponed && !open_log(log, log->postponed))
        log->problem = errno;
    log->is_begun = true;
    if (log->is_file && ftruncate(log->fd, 0) != 0)
        log->problem = errno;
    json_t *first = lap_json_log(log->settings);
    write_line(log, first);
    json_decref(first);
}

void lap_cli_log_line(lap_cli_log *log, const json_t *record)
{
    lap_cli_log_begin(log);
    write_line(log, record);
}

bool lap_cli_log_close(lap_cli_log *log, const char *path)
{
    if (log->is_new && log->size == 0)
        unlink(path);
    if (log->fd >= 0 && close(log->fd) != 0 && errno != EINTR && !log->problem)
        log->problem = errno;
    return log->problem == 0;
}

int lap_cli_log_end(lap_cli_log *log, const char *path, int exit_code)
{
    if (!path || lap_cli_log_close(log, path))
        return exit_code;
    if (lap_cli_is_stdout(path) && lap_term_reader_left())
        return LAP_EXIT_PIPE;
    lap_cli_message("%s: the log could not be written: %s",
        lap_cli_is_stdout(path) ? "standard output" : path, strerror(log->problem));
    return exit_code ? exit_code : LAP_EXIT_FAILED;
}
