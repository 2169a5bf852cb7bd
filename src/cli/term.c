#include "cli/term.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"

static int print_shown(FILE *to, const char *text, char doubled)
{
    int columns = 0;
    for (const char *at = text; *at;) {
        unsigned code;
        size_t size = lap_utf8_decode(at, &code);
        if (size == 0 || !lap_utf8_is_shown(code)) {
            columns += fprintf(to, "\\x%02x", (unsigned char)*at++);
            continue;
        }
        if (doubled && *at == doubled)
            putc(doubled, to);
        fwrite(at, 1, size, to);
        columns += lap_utf8_columns(code);
        at += size;
    }
    return columns;
}

int lap_cli_print_safely(FILE *to, const char *text)
{
    return print_shown(to, text, '\0');
}

void lap_cli_print_quoted(FILE *to, const char *before, const char *text)
{
    fprintf(to, "\"%s", before);
    print_shown(to, text, '"');
    putc('"', to);
}

char *lap_cli_shown(const char *text)
{
    char *shown = NULL;
    size_t size;
    FILE *memory = open_memstream(&shown, &size);
    if (memory)
        lap_cli_print_safely(memory, text);
    if (memory && fclose(memory) == 0)
        return shown;
    free(shown);
    return NULL;
}

/* The last problem, for the object of --json. A kind stays in effect until another one is set. */
static struct {
    const char *kind;
    char message[1024];
} problem = {.kind = NULL, .message = ""};

/* ---- streams ------------------------------------------------------------------------------------ */

/* WATCH_MS: how long to wait for a reader before checking whether a signal was caught, which another thread
 * may have received. READER_MS: how long after the signal the reader may still read. */
enum { WATCH_MS = 100, READER_MS = 1000 };

static atomic_bool gave_up;

/* Whether a pipe has room for `size` bytes. poll reports no room if they fit only into its last page, which
 * is partly filled. */
static bool fits_the_last_page(int fd, size_t size)
{
    int held = 0;
    const long long room = fcntl(fd, F_GETPIPE_SZ); /* -1: not a pipe */
    return ioctl(fd, FIONREAD, &held) == 0 && room - held >= (long long)size;
}

/* Waits for room in a pipe or a terminal. After a signal, a reader that stops reading must not keep the
 * program from ending. A regular file always has room. */
static bool wait_for_room(int fd, size_t size)
{
    static atomic_llong until_ms; /* 0: no signal was seen */
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    for (;;) {
        int wait = WATCH_MS;
        if (lap_cli_caught()) {
            const long long now = 1 + (long long)lap_cli_now_ms();
            long long until = 0;
            if (atomic_compare_exchange_strong(&until_ms, &until, now + READER_MS))
                until = now + READER_MS;
            wait = until > now ? (int)(until - now < WATCH_MS ? until - now : WATCH_MS) : 0;
        }
        const int ready = poll(&room, 1, wait);
        if (ready > 0 || (ready < 0 && errno != EINTR)) /* write(2) reports what is wrong */
            return true;
        if (ready == 0 && fits_the_last_page(fd, size))
            return true;
        if (ready == 0 && wait == 0) {
            atomic_store(&gave_up, true);
            errno = ECANCELED;
            return false;
        }
    }
}

bool lap_term_gave_up(void)
{
    return atomic_load(&gave_up);
}

/* If poll reports room, writing PIPE_BUF bytes to a pipe does not block. A file gets each line in one write,
 * since other processes may append to it. */
static size_t piece_for(int fd, size_t size)
{
    struct stat st;
    return size <= PIPE_BUF || fstat(fd, &st) != 0 || S_ISREG(st.st_mode) ? size : PIPE_BUF;
}

bool lap_cli_write(int fd, const void *bytes, size_t size)
{
    for (const char *at = bytes; size > 0;) {
        const size_t piece = piece_for(fd, size);
        if (!wait_for_room(fd, piece))
            return false;
        const ssize_t wrote = write(fd, at, piece);
        if (wrote == 0)
            errno = EIO;
        if (wrote > 0) {
            at += wrote;
            size -= (size_t)wrote;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static int lost; /* errno of the first write to standard output that failed, or 0 */

static ssize_t write_to(void *fd, const char *bytes, size_t size)
{
    const int to = *(const int *)fd;
    if (lap_cli_write(to, bytes, size))
        return (ssize_t)size;
    if (to == STDOUT_FILENO && !lost)
        lost = errno;
    return 0;
}

static int descriptor_of(const FILE *stream)
{
    return stream == stderr ? STDERR_FILENO : STDOUT_FILENO;
}

void lap_term_own_streams(void)
{
    static int out = STDOUT_FILENO, error = STDERR_FILENO;
    const cookie_io_functions_t writes = {.write = write_to};
    FILE *to_out = fopencookie(&out, "w", writes), *to_error = fopencookie(&error, "w", writes);
    /* If memory is short, the C library's own streams stay in use. */
    if (to_out && setvbuf(to_out, NULL, isatty(out) ? _IOLBF : _IOFBF, BUFSIZ) == 0)
        stdout = to_out;
    /* Write whole lines, because several processes may share the terminal or the file. */
    if (to_error && setvbuf(to_error, NULL, _IOLBF, BUFSIZ) == 0)
        stderr = to_error;
}

/* ---- messages ----------------------------------------------------------------------------------- */

static bool is_bold;   /* for the program's name before messages */
static unsigned takes; /* forms that the command can have; 0: not known */

void lap_term_begin(const lap_cli *cli)
{
    takes = cli->command ? cli->command->takes : 0;
    is_bold = *lap_term_bold(cli, stderr) != '\0';
}

static void message(const char *kind, const char *format, va_list args)
{
    char *text = NULL;
    fflush(stdout);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    flockfile(stderr); /* a driver's thread may print at the same time: keep its line apart */
    fputs(is_bold ? "\033[1mlapedge:\033[0m " : "lapedge: ", stderr);
    lap_cli_print_safely(stderr, text ? text : "out of memory");
    fputc('\n', stderr);
    funlockfile(stderr);
    if (kind || !problem.kind) {
        problem.kind = kind;
        snprintf(problem.message, sizeof problem.message, "%s", text ? text : "out of memory");
    }
    free(text);
}

void lap_cli_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(NULL, format, args);
    va_end(args);
}

static bool is_cancel_told;

void lap_cli_told_cancel(void)
{
    is_cancel_told = true;
}

void lap_cli_tell_cancel(int exit_code)
{
    if (lap_cli_caught() && exit_code == 128 + lap_cli_caught() && !is_cancel_told)
        lap_cli_message("cancelled");
}

const char *lap_cli_last_problem(const char **kind)
{
    *kind = problem.kind ? problem.kind : "failed";
    return problem.message;
}

__attribute__((format(printf, 2, 3))) static void report(const char *kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(kind, format, args);
    va_end(args);
}

void lap_cli_warn_of_devices(const lap_cli *cli)
{
    lap_device_info device;
    const char *reason;
    /* If there is no device at all, lap_cli_warn_without_device has already said so. */
    if ((cli->device_count > 1 || cli->device_count < 0) && !cli->quiet && lap_device_at(0, &device, &reason))
        lap_cli_message("warning: --devices: only device %d is used", cli->settings.device);
}

void lap_cli_warn_without_device(const lap_cli *cli)
{
    lap_device_info device;
    const char *reason;
    const char *option = cli->device_count ? "--devices" : cli->device_memory ? "--device-memory" : NULL;
    /* A backend that was named fails with its own error if it cannot run. */
    if (option && !cli->quiet && strcmp(cli->settings.backend, "auto") == 0 &&
        !lap_device_at(0, &device, &reason))
        lap_cli_message("warning: %s: %s", option, reason);
}

typedef struct remedy_words {   /* the end of an error message */
    const char *option, *words; /* NULL: no option; the end, if this command has that option */
    const char *otherwise;      /* the end if it does not; or NULL */
} remedy_words;

/* Returns a hint on how to avoid a library error. It never names an option that the command would refuse. */
static const char *words_of(lap_remedy remedy)
{
    static const remedy_words rows[] = {
        [LAP_REMEDY_MAX_PIXELS] = {"max-pixels", " (--max-pixels)", NULL},
        [LAP_REMEDY_MAX_MEMORY] = {"max-memory", " (--max-memory)", NULL},
        [LAP_REMEDY_MAX_SCANS] = {"max-scans", " (--max-scans)", NULL},
        [LAP_REMEDY_CLOBBER] = {"no-clobber", " (--no-clobber)", NULL},
        [LAP_REMEDY_FORMAT] = {"format", "; choose one with --format", NULL},
        [LAP_REMEDY_FORMAT_OR_FOLDER] = {"format",
            "; choose one with --format, or end a folder's name with /", NULL},
        [LAP_REMEDY_GRAY] = {"gray", ": give --gray, or write a .ppm", ": write a .ppm"},
        [LAP_REMEDY_IN_PLACE] = {"in-place", " (use --in-place to replace it)", "; name another file"},
        [LAP_REMEDY_TRIM] = {"trim", "; --trim cuts to that", NULL},
        [LAP_REMEDY_AUTO_ORIENT] = {"auto-orient", "; --auto-orient rotates the pixels", NULL},
        [LAP_REMEDY_FORCE] = {"force", "; -f replaces it", NULL},
        [LAP_REMEDY_LATER] = {NULL,
            "; repeat the command when that run has ended, or write to another folder", NULL},
        [LAP_REMEDY_OTHER_PHOTO] = {"force", "; name another OUTDIR, or give -f if that photo was moved here",
            "; name another OUTDIR"},
        [LAP_REMEDY_ORDER] = {NULL,
            "; some inputs are outputs of lapedge: is the order of the operands right?", NULL},
        [LAP_REMEDY_MOVED] = {"prune",
            "; if the photos were moved there, --prune -f treats it as that folder", NULL},
        [LAP_REMEDY_OTHER_FOLDER] = {"in-place", "; name another folder, or use --in-place",
            "; name another folder"},
        [LAP_REMEDY_NUL_SEPARATED] = {"null", "; give -0", NULL},
        [LAP_REMEDY_LINES] = {"null", "; leave out -0", NULL},
        [LAP_REMEDY_FLAT] = {"flat", "; without --flat, outputs keep the folders of their photos", NULL},
        [LAP_REMEDY_APART] = {NULL, "; write them into different folders", NULL},
        [LAP_REMEDY_TIMEOUT] = {"timeout", " (--timeout)", NULL},
        [LAP_REMEDY_FAIL_ON] = {"fail-on", "; --fail-on=none keeps what can be read", NULL},
        [LAP_REMEDY_FAIL_ON_MAY] = {"fail-on", "; --fail-on=none may keep what can be read", NULL},
    };
    const size_t count = sizeof rows / sizeof *rows;
    const remedy_words *row = (size_t)remedy < count ? &rows[remedy] : NULL;
    if (!row || !row->words)
        return "";
    const lap_cli_option *option =
        row->option ? lap_cli_option_named(row->option, strlen(row->option)) : NULL;
    const bool is_taken = !takes || !option || option->forms & takes;
    return is_taken ? row->words : row->otherwise ? row->otherwise : "";
}

/* Returns the name that messages use for "-". */
static const char *stream_name(lap_code code)
{
    return code == LAP_E_WRITE || code == LAP_E_DISK_FULL || code == LAP_E_EXISTS ? "standard output"
                                                                                  : "standard input";
}

char *lap_cli_quoted(const char *path, char *text, size_t size)
{
    static const char escaped[] = "'\\''";
    enum { ROOM = sizeof escaped + 2 }; /* room for one more character, the mark and the final 0 */
    const bool is_plain = *path && !strpbrk(path, " \t\n'\"\\$&;<>()|*?[]#~`!{}");
    char *to = text;
    if (!is_plain)
        *to++ = '\'';
    for (; *path && (size_t)(to - text) + ROOM < size; path++)
        if (*path == '\'')
            to = mempcpy(to, escaped, sizeof escaped - 1);
        else
            *to++ = *path;
    if (!is_plain)
        *to++ = '\'';
    *to = '\0';
    return text;
}

char *lap_cli_error_text(const lap_error *err, char *text, size_t size)
{
    lap_error named = *err;
    if (strcmp(err->subject, "-") == 0)
        snprintf(named.subject, sizeof named.subject, "%s", stream_name(err->code));
    lap_error_text(&named, text, size);
    const size_t length = strlen(text);
    const bool is_pattern = err->code == LAP_E_MISSING && strpbrk(err->subject, "*?") != NULL;
    snprintf(text + length, size - length, "%s%s", words_of(err->remedy),
        is_pattern ? "; nothing matches this pattern, or it is in quotation marks" : "");
    return text;
}

char *lap_cli_warning_text(const lap_report *report, char *text, size_t size)
{
    snprintf(text, size, "%s%s", report->warning, words_of(report->warning_remedy));
    return text;
}

void lap_cli_warn(const char *input, const lap_report *report)
{
    char text[512];
    lap_cli_warning_text(report, text, sizeof text);
    if (report->warnings > 1)
        lap_cli_message("%s: warning: %s (the first of %d)", input, text, report->warnings);
    else
        lap_cli_message("%s: warning: %s", input, text);
}

void lap_cli_print_error(const lap_error *err, const char *subject)
{
    char text[1024];
    const bool is_named = err->subject[0] || err->code == LAP_E_USAGE || err->code == LAP_E_BACKEND;
    lap_cli_error_text(err, text, sizeof text);
    if (err->code == LAP_E_CANCELLED)
        lap_cli_told_cancel();
    if (is_named || !subject || !*subject)
        report(lap_code_name(err->code), "%s", text);
    else
        report(lap_code_name(err->code), "%s: %s",
            strcmp(subject, "-") == 0 ? stream_name(err->code) : subject, text);
}

lap_cli_exit lap_cli_usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(lap_code_name(LAP_E_USAGE), format, args);
    va_end(args);
    return LAP_EXIT_USAGE;
}

static void print_wrapped(FILE *to, const char *text, int at, int width)
{
    int column = at;
    while (*text) {
        const int word = (int)strcspn(text, " ");
        if (column > at && column + 1 + word > width) {
            fprintf(to, "\n%*s", at, "");
            column = at;
        } else if (column > at) {
            fputc(' ', to);
            column++;
        }
        fprintf(to, "%.*s", word, text);
        column += word;
        text += word + strspn(text + word, " ");
    }
    fputc('\n', to);
}

void lap_cli_print_wrapped(const char *text, int at, int width)
{
    print_wrapped(stdout, text, at, width);
}

void lap_cli_print_detail(const char *name, const char *text)
{
    enum { AT = 12 };
    char *shown = lap_cli_shown(text);
    fprintf(stderr, "  %-*s", AT - 2, name);
    print_wrapped(stderr, shown ? shown : "out of memory", AT, lap_term_error_width());
    free(shown);
}

static int columns_of(int fd)
{
    enum { UNBROKEN = 10000 };
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : UNBROKEN;
}

int lap_term_width(void)
{
    return columns_of(STDOUT_FILENO);
}

int lap_term_error_width(void)
{
    return columns_of(STDERR_FILENO);
}

static bool colored(const lap_cli *cli, FILE *to)
{
    if (cli->color != LAP_CLI_AUTO)
        return cli->color == LAP_CLI_ALWAYS;
    const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");
    return !(no && *no) && kind && strcmp(kind, "dumb") != 0 && isatty(descriptor_of(to));
}

const char *lap_term_bold(const lap_cli *cli, FILE *to)
{
    return colored(cli, to) ? "\033[1m" : "";
}

const char *lap_term_plain(const lap_cli *cli, FILE *to)
{
    return colored(cli, to) ? "\033[0m" : "";
}

/* A reader that closes the pipe after the first lines, such as head, did so on purpose, so no message is
 * printed. */
bool lap_term_reader_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

lap_cli_exit lap_cli_flush(lap_cli_exit so_far)
{
    static bool told;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return so_far;
    if (lap_term_reader_left())
        return LAP_EXIT_PIPE;
    if (lap_term_gave_up())
        return (lap_cli_exit)(128 + lap_cli_caught());
    if (!told)
        lap_cli_message("cannot write to standard output: %s", lost ? strerror(lost) : "write error");
    told = true;
    return so_far == LAP_EXIT_OK ? LAP_EXIT_FAILED : so_far;
}

bool lap_term_may_draw(const lap_cli *cli)
{
    const char *kind = getenv("TERM");
    return !cli->quiet && cli->progress == LAP_CLI_AUTO && isatty(STDERR_FILENO) && kind &&
           strcmp(kind, "dumb") != 0;
}

double lap_cli_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

void lap_cli_print_times(const lap_times *ms, const char *total)
{
    const struct {
        const char *name;
        double ms;
    } stages[] = {{"read", ms->read}, {"decode", ms->decode}, {"upload", ms->upload}, {"filter", ms->filter},
        {"download", ms->download}, {"encode", ms->encode}, {"write", ms->write}};
    char text[400];
    int length = 0;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (stages[i].ms > 0)
            length += snprintf(text + length, sizeof text - (size_t)length, "%s %.1f, ", stages[i].name,
                fmin(stages[i].ms, 1e15)); /* limits the width */
    snprintf(text + length, sizeof text - (size_t)length, "%s %.1f", total, ms->total);
    lap_cli_print_detail("ms", text);
}
