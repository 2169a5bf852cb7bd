/* Compares text for people to the last character: messages and the advice at their end, names quoted as
 * one word, wrapped lines, colour. Checks how bytes are written to a pipe. The test replaces the system's
 * calls, its clock and its signals. */
#include "tests/support/said.h"
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/term.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* ---- the system ------------------------------------------------------------------------------------ */

enum { PIPE_FD = 77, STEPS = 40 };

static struct {
    const char *call; /* the call that fails once, after `after` successful ones; NULL: none */
    int why, after;
    int caught;
    int columns[3]; /* of each descriptor's terminal; 0: no terminal; -1: it reports 0 columns */
    bool is_tty[3];
    long long now_ns, step_ns; /* the clock, and how far a poll moves it */
    mode_t kind;               /* of PIPE_FD */
    int room, held;            /* of the pipe */
    struct {
        int ready, why, revents;
    } poll[STEPS]; /* what each poll returns; later calls are real ones */
    int polls, waits[STEPS];
    struct {
        long wrote;
        int why;
    } write[STEPS]; /* what each write returns; 0: it writes everything, -2: it returns 0 */
    int writes;
    size_t sizes[STEPS];
    char bytes[1 << 15];
    size_t size;
    const char *no_device;
} sys;

static bool strikes(const char *call)
{
    return strike_once(&sys.call, call, &sys.after, sys.why, true);
}

int __wrap_lap_cli_caught(void);
int __wrap_lap_cli_caught(void)
{
    return sys.caught;
}

bool __wrap_lap_device_at(int i, lap_device_info *info, const char **reason);
bool __wrap_lap_device_at(int i, lap_device_info *info, const char **reason)
{
    assert_int_equal(i, 0);
    memset(info, 0, sizeof *info);
    *reason = sys.no_device;
    return !sys.no_device;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    assert_int_equal(clock, CLOCK_MONOTONIC);
    *now = (struct timespec){sys.now_ns / 1000000000, sys.now_ns % 1000000000};
    return 0;
}

int __real_poll(struct pollfd *fds, nfds_t count, int wait);
int __wrap_poll(struct pollfd *fds, nfds_t count, int wait);
int __wrap_poll(struct pollfd *fds, nfds_t count, int wait)
{
    if (sys.polls >= STEPS)
        return __real_poll(fds, count, wait);
    assert_int_equal(count, 1);
    assert_int_equal(fds->events, POLLOUT);
    const int step = sys.polls++;
    sys.waits[step] = wait;
    sys.now_ns += sys.step_ns;
    fds->revents = (short)sys.poll[step].revents;
    errno = sys.poll[step].why;
    return sys.poll[step].ready;
}

int __real_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...)
{
    va_list args;
    va_start(args, what);
    const long value = va_arg(args, long);
    va_end(args);
    return what == F_GETPIPE_SZ ? sys.room : __real_fcntl(fd, what, value);
}

int __real_ioctl(int fd, unsigned long what, void *to);
int __wrap_ioctl(int fd, unsigned long what, ...);
int __wrap_ioctl(int fd, unsigned long what, ...)
{
    va_list args;
    va_start(args, what);
    void *to = va_arg(args, void *);
    va_end(args);
    if (what == FIONREAD && fd == PIPE_FD)
        *(int *)to = sys.held;
    if (what == FIONREAD)
        return strikes("fionread") ? -1 : 0;
    assert_int_equal(what, TIOCGWINSZ);
    memset(to, 0x11, sizeof(struct winsize));
    if (sys.columns[fd])
        ((struct winsize *)to)->ws_col = (unsigned short)(sys.columns[fd] > 0 ? sys.columns[fd] : 0);
    return sys.columns[fd] ? 0 : -1;
}

int __wrap_isatty(int fd);
int __wrap_isatty(int fd)
{
    assert_true(fd == STDOUT_FILENO || fd == STDERR_FILENO);
    return sys.is_tty[fd];
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    if (fd != PIPE_FD)
        return __real_fstat(fd, st);
    if (strikes("fstat"))
        return -1;
    *st = (struct stat){.st_mode = sys.kind};
    return 0;
}

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    if (sys.writes >= STEPS)
        return __real_write(fd, bytes, size);
    const int step = sys.writes++;
    sys.sizes[step] = size;
    errno = sys.write[step].why;
    const long wrote = sys.write[step].wrote == -2  ? 0
                       : sys.write[step].wrote == 0 ? (long)size
                                                    : sys.write[step].wrote;
    if (wrote > 0)
        sys.size = (size_t)((char *)mempcpy(sys.bytes + sys.size, bytes, (size_t)wrote) - sys.bytes);
    return wrote;
}

int __real_vasprintf(char **text, const char *format, va_list args);
int __wrap_vasprintf(char **text, const char *format, va_list args);
int __wrap_vasprintf(char **text, const char *format, va_list args)
{
    return strikes("vasprintf") ? -1 : __real_vasprintf(text, format, args);
}
int __wrap___vasprintf_chk(char **text, int flag, const char *format, va_list args);
int __wrap___vasprintf_chk(char **text, int flag, const char *format, va_list args)
{
    (void)flag;
    return __wrap_vasprintf(text, format, args);
}

FILE *__real_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size)
{
    return strikes("open_memstream") ? NULL : __real_open_memstream(text, size);
}

FILE *__real_fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions);
FILE *__wrap_fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions);
FILE *__wrap_fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions)
{
    return strikes("fopencookie") ? NULL : __real_fopencookie(cookie, mode, functions);
}

int __real_setvbuf(FILE *stream, char *buffer, int how, size_t size);
int __wrap_setvbuf(FILE *stream, char *buffer, int how, size_t size);
int __wrap_setvbuf(FILE *stream, char *buffer, int how, size_t size)
{
    return strikes("setvbuf") ? -1 : __real_setvbuf(stream, buffer, how, size);
}

static int begin(void **state)
{
    (void)state;
    memset(&sys, 0, sizeof sys);
    sys.polls = sys.writes = STEPS; /* calls the real functions */
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    const lap_cli none = {.color = LAP_CLI_NEVER};
    lap_term_begin(&none);
    return 0;
}

/* ---- characters ------------------------------------------------------------------------------------ */

static void characters(void **state)
{
    static const struct {
        const char *text, *shown;
        int columns;
    } cases[] = {{"", "", 0}, {"a b~\"'", "a b~\"'", 6}, {"\x1f \x7f\x01z\n", "\\x1f \\x7f\\x01z\\x0a", 18},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 4},
        {"a\xcc\x88\xe5\x86\x99", "a\xcc\x88\xe5\x86\x99", 3}, {"\xc3", "\\xc3", 4},
        {"\xe2\x82z", "\\xe2\\x82z", 9}, {"\xc2\x85x", "\\xc2\\x85x", 9},
        {"\xe2\x80\xae"
         "a",
            "\\xe2\\x80\\xae"
            "a",
            13},
        {"\xff\xc3\xa4", "\\xff\xc3\xa4", 5}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int columns = -1;
        assert_says(columns = lap_cli_print_safely(stdout, cases[i].text), cases[i].shown, "");
        assert_int_equal(columns, cases[i].columns);
        char *shown = lap_cli_shown(cases[i].text);
        assert_string_equal(shown, cases[i].shown);
        free(shown);
    }
    sys.call = "open_memstream";
    assert_null(lap_cli_shown("a"));
    assert_says(lap_cli_print_quoted(stderr, "'", "a\"b\"\"\n'"), "", "\"'a\"\"b\"\"\"\"\\x0a'\"");
    assert_says(lap_cli_print_quoted(stdout, "", ""), "\"\"", "");
}

/* A name is quoted as one word of a shell. If it does not fit, it is cut between characters of the
 * result. */
static void words_of_a_shell(void **state)
{
    static const char special[] = " \t\n'\"\\$&;<>()|*?[]#~`!{}";
    char text[64], expected[64];
    (void)state;
    assert_string_equal(lap_cli_quoted("a-b/c.d_%+,:=@^", text, sizeof text), "a-b/c.d_%+,:=@^");
    assert_string_equal(lap_cli_quoted("", text, sizeof text), "''");
    for (const char *at = special; *at; at++) {
        const char path[] = {'a', *at, 'b', 0};
        if (*at == '\'')
            snprintf(expected, sizeof expected, "'a'\\''b'");
        else
            snprintf(expected, sizeof expected, "'a%cb'", *at);
        assert_string_equal(lap_cli_quoted(path, text, sizeof text), expected);
    }
    for (size_t size = 8; size < 40; size++)
        for (int marks = 0; marks < 2; marks++) {
            const char *path = marks ? "'b'd'f'h'j'l'n" : "abcdefghijklmnopqrstuvwxyzabcdefghij";
            size_t length = (size_t)marks, from = 0; /* one more character and the mark always fit */
            memset(text, 'x', sizeof text);
            while (path[from] && length + 7 < size)
                length += path[from++] == '\'' ? 4 : 1;
            assert_ptr_equal(lap_cli_quoted(path, text, size), text);
            assert_int_equal(strlen(text), length + (size_t)marks);
            assert_true(strlen(text) < size);
            for (size_t i = size; i < sizeof text; i++)
                assert_int_equal(text[i], 'x');
            if (!marks)
                assert_int_equal(strncmp(text, path, from), 0);
        }
}

/* ---- messages -------------------------------------------------------------------------------------- */

static const char *kind_of_last(void)
{
    const char *kind;
    (void)lap_cli_last_problem(&kind);
    return kind;
}

static const char *last(void)
{
    const char *kind;
    return lap_cli_last_problem(&kind);
}

/* The last message with a kind is kept; without such a message, the last one. */
static void problems(void **state)
{
    const lap_error missing = {.code = LAP_E_MISSING, .subject = "x.jpg", .message = "no such file"};
    const lap_cli bold = {.color = LAP_CLI_ALWAYS};
    char text[1200], expected[1200];
    (void)state;
    assert_string_equal(kind_of_last(), "failed");
    assert_string_equal(last(), "");
    assert_says(lap_cli_message("%d\n%s", 1, "two"), "", "lapedge: 1\\x0atwo\n");
    assert_string_equal(last(), "1\ntwo");
    assert_says(lap_cli_message("%s", ""), "", "lapedge: \n");
    assert_says(lap_cli_message("other"), "", "lapedge: other\n");
    assert_string_equal(last(), "other");
    assert_string_equal(kind_of_last(), "failed");
    said_listen();
    const lap_cli_exit code = lap_cli_usage("use %s", "x");
    said_end();
    assert_int_equal(code, LAP_EXIT_USAGE);
    assert_text(said_err(), "lapedge: use x\n");
    assert_string_equal(kind_of_last(), "usage");
    assert_string_equal(last(), "use x");
    assert_says(lap_cli_message("unimportant"), "", "lapedge: unimportant\n");
    assert_string_equal(kind_of_last(), "usage");
    assert_string_equal(last(), "use x");
    assert_says(lap_cli_print_error(&missing, NULL), "", "lapedge: x.jpg: no such file\n");
    assert_string_equal(kind_of_last(), "missing");
    assert_string_equal(last(), "x.jpg: no such file");
    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    said_listen();
    (void)lap_cli_usage("%s", text);
    said_end();
    snprintf(expected, sizeof expected, "%.1023s", text);
    assert_string_equal(last(), expected);
    sys.call = "vasprintf";
    assert_says((void)lap_cli_usage("%s", text), "", "lapedge: out of memory\n");
    assert_string_equal(last(), "out of memory");
    sys.call = NULL;
    lap_term_begin(&bold);
    said_listen();
    fputs("earlier ", stdout); /* must come before the message: both may go to one file */
    lap_cli_message("m");
    assert_int_equal(lseek(said_.file[0], 0, SEEK_END), 8);
    said_end();
    assert_text(said_err(), "\033[1mlapedge:\033[0m m\n");
}

/* The advice that each remedy adds to an error, for commands with and without its option. */
static void advice(void **state)
{
    static const int commands[] = {LAP_COMMAND_RUN, LAP_COMMAND_TRANSFORM, LAP_COMMAND_STATS,
        LAP_COMMAND_DIFF, LAP_COMMAND_INFO, LAP_COMMAND_BENCH};
    static const struct {
        const char *words, *option, *otherwise;
    } rows[] = {[LAP_REMEDY_MAX_PIXELS] = {" (--max-pixels)", "max-pixels", ""},
        [LAP_REMEDY_MAX_MEMORY] = {" (--max-memory)", "max-memory", ""},
        [LAP_REMEDY_MAX_SCANS] = {" (--max-scans)", "max-scans", ""},
        [LAP_REMEDY_CLOBBER] = {" (--no-clobber)", "no-clobber", ""},
        [LAP_REMEDY_FORMAT] = {"; choose one with --format", "format", ""},
        [LAP_REMEDY_FORMAT_OR_FOLDER] = {"; choose one with --format, or end a folder's name with /",
            "format", ""},
        [LAP_REMEDY_GRAY] = {": give --gray, or write a .ppm", "gray", ": write a .ppm"},
        [LAP_REMEDY_IN_PLACE] = {" (use --in-place to replace it)", "in-place", "; name another file"},
        [LAP_REMEDY_TRIM] = {"; --trim cuts to that", "trim", ""},
        [LAP_REMEDY_AUTO_ORIENT] = {"; --auto-orient rotates the pixels", "auto-orient", ""},
        [LAP_REMEDY_FORCE] = {"; -f replaces it", "force", ""},
        [LAP_REMEDY_OTHER_PHOTO] = {"; name another OUTDIR, or give -f if that photo was moved here", "force",
            "; name another OUTDIR"},
        [LAP_REMEDY_LATER] = {"; repeat the command when that run has ended, or write to another folder",
            NULL, ""},
        [LAP_REMEDY_ORDER] = {"; some inputs are outputs of lapedge: is the order of the operands right?",
            NULL, ""},
        [LAP_REMEDY_MOVED] = {"; if the photos were moved there, --prune -f treats it as that folder",
            "prune", ""},
        [LAP_REMEDY_OTHER_FOLDER] = {"; name another folder, or use --in-place", "in-place",
            "; name another folder"},
        [LAP_REMEDY_NUL_SEPARATED] = {"; give -0", "null", ""},
        [LAP_REMEDY_LINES] = {"; leave out -0", "null", ""},
        [LAP_REMEDY_FLAT] = {"; without --flat, outputs keep the folders of their photos", "flat", ""},
        [LAP_REMEDY_APART] = {"; write them into different folders", NULL, ""},
        [LAP_REMEDY_FAIL_ON] = {"; --fail-on=none keeps what can be read", "fail-on", ""},
        [LAP_REMEDY_FAIL_ON_MAY] = {"; --fail-on=none may keep what can be read", "fail-on", ""},
        [LAP_REMEDY_TIMEOUT] = {" (--timeout)", "timeout", ""},
        [LAP_REMEDY_TIMEOUT + 1] = {"", NULL, ""},
        [LAP_REMEDY_TIMEOUT + 2] = {"", NULL, ""}};
    char text[1024], expected[1024];
    int otherwise = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t k = 0; k <= COUNT(commands); k++) { /* the last: no command is known */
            const lap_cli cli = {.color = LAP_CLI_NEVER,
                .command = k < COUNT(commands) ? &lap_cli_commands[commands[k]] : NULL};
            const lap_error err = {.code = LAP_E_LIMIT, .message = "m", .subject = "s", .remedy = (int)i};
            lap_report report = {.warning_remedy = (lap_remedy)i};
            const lap_cli_option *option =
                rows[i].option ? lap_cli_option_named(rows[i].option, strlen(rows[i].option)) : NULL;
            const bool has = !option || !cli.command || (option->forms & cli.command->takes) != 0;
            const char *end = i == 0 ? "" : has ? rows[i].words : rows[i].otherwise;
            otherwise += !has;
            strcpy(report.warning, "w");
            lap_term_begin(&cli);
            snprintf(expected, sizeof expected, "s: limit: m%s", end);
            assert_ptr_equal(lap_cli_error_text(&err, text, sizeof text), text);
            assert_string_equal(text, expected);
            assert_ptr_equal(lap_cli_warning_text(&report, text, sizeof text), text);
            assert_int_equal(text[0], 'w');
            assert_string_equal(text + 1, end);
        }
    assert_true(otherwise > 40);
}

static void errors(void **state)
{
    static const struct {
        lap_code code;
        const char *subject, *given, *said;
    } cases[] = {{LAP_E_LIMIT, "a.jpg", "b.jpg", "a.jpg: limit: m"},
        {LAP_E_LIMIT, "", "b.jpg", "b.jpg: limit: m"}, {LAP_E_LIMIT, "", "", "limit: m"},
        {LAP_E_LIMIT, "", NULL, "limit: m"}, {LAP_E_USAGE, "", "b.jpg", "m"},
        {LAP_E_BACKEND, "", "b.jpg", "m"}, {LAP_E_USAGE, "a", "b.jpg", "a: m"},
        {LAP_E_LIMIT, "", "-", "standard input: limit: m"},
        {LAP_E_LIMIT, "-", NULL, "standard input: limit: m"}, {LAP_E_WRITE, "-", NULL, "standard output: m"},
        {LAP_E_DISK_FULL, "-", NULL, "standard output: disk full: m"},
        {LAP_E_EXISTS, "-", NULL, "standard output: m"}, {LAP_E_WRITE, "", "-", "standard output: m"},
        {LAP_E_CHANGED, "-", NULL, "standard input: m"}, {LAP_E_CLASH, "-", NULL, "standard input: m"},
        {LAP_E_BACKEND, "-", NULL, "standard input: m"},
        {LAP_E_MISSING, "a*.jpg", NULL,
            "a*.jpg: m; nothing matches this pattern, or it is in quotation marks"},
        {LAP_E_MISSING, "a?.jpg", NULL,
            "a?.jpg: m; nothing matches this pattern, or it is in quotation marks"},
        {LAP_E_MISSING, "a.jpg", NULL, "a.jpg: m"}, {LAP_E_UNREADABLE, "a*.jpg", NULL, "a*.jpg: m"}};
    char expected[200], text[40];
    lap_error err = {0};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        err.code = cases[i].code;
        strcpy(err.message, "m");
        strcpy(err.subject, cases[i].subject);
        snprintf(expected, sizeof expected, "lapedge: %s\n", cases[i].said);
        assert_says(lap_cli_print_error(&err, cases[i].given), "", expected);
        assert_string_equal(kind_of_last(), lap_code_name(cases[i].code));
        assert_string_equal(err.subject, cases[i].subject);
    }
    err = (lap_error){
        .code = LAP_E_LIMIT, .remedy = LAP_REMEDY_MAX_PIXELS, .subject = "subject", .message = "m"};
    for (size_t size = 1; size < sizeof text; size++) { /* the text is cut to the available room */
        memset(text, 'x', sizeof text);
        lap_cli_error_text(&err, text, size);
        assert_int_equal(strlen(text), size - 1 < 32 ? size - 1 : 32);
        assert_true(size == sizeof text || text[size] == 'x');
    }
}

static void warnings(void **state)
{
    lap_report report = {.warnings = 1, .warning_remedy = LAP_REMEDY_FAIL_ON};
    (void)state;
    strcpy(report.warning, "cut");
    assert_says(lap_cli_warn("a.jpg", &report), "",
        "lapedge: a.jpg: warning: cut; --fail-on=none keeps what can be read\n");
    report.warnings = 2;
    assert_says(lap_cli_warn("a.jpg", &report), "",
        "lapedge: a.jpg: warning: cut; --fail-on=none keeps what can be read (the first of 2)\n");
}

/* When the program warns about devices, with and without a device. */
static void devices(void **state)
{
    (void)state;
    for (int has = 0; has < 2; has++)
        for (int count = -1; count < 3; count++)
            for (int quiet = 0; quiet < 2; quiet++)
                for (int memory = 0; memory < 2; memory++)
                    for (int is_named = 0; is_named < 2; is_named++) {
                        lap_cli cli = {
                            .device_count = count, .quiet = quiet, .device_memory = (uint64_t)memory};
                        cli.settings.backend = is_named ? "cuda-tile" : "auto";
                        cli.settings.device = 3;
                        sys.no_device = has ? NULL : "no driver";
                        const bool several = count == -1 || count == 2;
                        assert_says(lap_cli_warn_of_devices(&cli), "",
                            several && !quiet && has ? "lapedge: warning: --devices: only device 3 is used\n"
                                                     : "");
                        assert_says(lap_cli_warn_without_device(&cli), "",
                            quiet || has || is_named ? ""
                            : count                  ? "lapedge: warning: --devices: no driver\n"
                            : memory                 ? "lapedge: warning: --device-memory: no driver\n"
                                                     : "");
                    }
}

/* ---- lines ----------------------------------------------------------------------------------------- */

static void wrapped(void **state)
{
    static const struct {
        const char *text;
        int at, width;
        const char *lines;
    } cases[] = {{"", 3, 10, "\n"}, {"one", 3, 2, "one\n"}, {"one two three", 0, 100, "one two three\n"},
        {"one two three", 0, 13, "one two three\n"}, {"one two three", 0, 12, "one two\nthree\n"},
        {"one two three", 0, 7, "one two\nthree\n"}, {"one two three", 0, 6, "one\ntwo\nthree\n"},
        {"one two three", 2, 9, "one two\n  three\n"}, {"one two three", 2, 8, "one\n  two\n  three\n"},
        {"one two three", 2, 15, "one two three\n"}, {"one two three", 2, 14, "one two\n  three\n"},
        {"one   two ", 0, 100, "one two\n"}, {"a b c", 0, 1, "a\nb\nc\n"}, {"a b c", 0, 3, "a b\nc\n"},
        {" a", 0, 3, "a\n"}, {"one two three four five six", 0, 13, "one two three\nfour five six\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_says(lap_cli_print_wrapped(cases[i].text, cases[i].at, cases[i].width), cases[i].lines, "");
    assert_says(lap_cli_print_detail("note", "one\ttwo \x7f"), "", "  note      one\\x09two \\x7f\n");
    sys.columns[STDERR_FILENO] = 18;
    assert_says(lap_cli_print_detail("a", "one two three"), "",
        "  a         one\n            two\n            three\n");
    sys.columns[STDERR_FILENO] = 19;
    assert_says(
        lap_cli_print_detail("longername", "one two three"), "", "  longernameone two\n            three\n");
    sys.call = "open_memstream";
    assert_says(lap_cli_print_detail("a", "b"), "", "  a         out of\n            memory\n");
}

static void widths(void **state)
{
    (void)state;
    assert_int_equal(lap_term_width(), 10000);
    assert_int_equal(lap_term_error_width(), 10000);
    sys.columns[STDOUT_FILENO] = 81;
    sys.columns[STDERR_FILENO] = 1;
    assert_int_equal(lap_term_width(), 81);
    assert_int_equal(lap_term_error_width(), 1);
    sys.columns[STDOUT_FILENO] = -1;
    assert_int_equal(lap_term_width(), 10000);
}

/* When output is coloured, and when a progress line may be drawn. */
static void terminals(void **state)
{
    static const char *const kinds[] = {NULL, "dumb", "xterm", ""}, *const refusals[] = {NULL, "", "1"};
    (void)state;
    for (int color = LAP_CLI_AUTO; color <= LAP_CLI_NEVER; color++)
        for (size_t kind = 0; kind < COUNT(kinds); kind++)
            for (size_t no = 0; no < COUNT(refusals); no++)
                for (int ttys = 0; ttys < 4; ttys++)
                    for (int quiet = 0; quiet < 2; quiet++) {
                        const lap_cli cli = {.color = color, .progress = color, .quiet = quiet};
                        (void)(kinds[kind] ? setenv("TERM", kinds[kind], 1) : unsetenv("TERM"));
                        (void)(refusals[no] ? setenv("NO_COLOR", refusals[no], 1) : unsetenv("NO_COLOR"));
                        for (int i = 1; i < 3; i++) {
                            FILE *to = i == 1 ? stdout : stderr;
                            sys.is_tty[1] = ttys & 1, sys.is_tty[2] = ttys >> 1;
                            const bool colors =
                                color == LAP_CLI_ALWAYS ||
                                (color == LAP_CLI_AUTO && kind > 1 && no < 2 && sys.is_tty[i]);
                            assert_string_equal(lap_term_bold(&cli, to), colors ? "\033[1m" : "");
                            assert_string_equal(lap_term_plain(&cli, to), colors ? "\033[0m" : "");
                        }
                        assert_int_equal(lap_term_may_draw(&cli),
                            color == LAP_CLI_AUTO && kind > 1 && !quiet && sys.is_tty[2]);
                    }
}

static void times(void **state)
{
    (void)state;
    sys.now_ns = 7 * 1000000000LL + 123456789;
    assert_true(fabs(lap_cli_now_ms() - 7123.456789) < 1e-9);
    const lap_times all = {.read = 1,
        .decode = 2.25,
        .upload = 3,
        .filter = 4,
        .download = 5,
        .encode = 6,
        .write = 0.04,
        .total = 7.06};
    assert_says(lap_cli_print_times(&all, "in all"), "",
        "  ms        read 1.0, decode 2.2, upload 3.0, filter 4.0, download 5.0, encode 6.0, write 0.0, in "
        "all "
        "7.1\n");
    const lap_times few = {.filter = 1e300, .total = 0};
    assert_says(lap_cli_print_times(&few, "total"), "", "  ms        filter 1000000000000000.0, total 0.0\n");
}

/* ---- bytes ----------------------------------------------------------------------------------------- */

static const char *pattern(void)
{
    static char bytes[20000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    return bytes;
}

/* Writes `size` bytes as planned in sys; `pieces` are the expected sizes of the writes, ended by 0. */
static void try(size_t size, const size_t *pieces)
{
    sys.polls = sys.writes = 0;
    sys.size = 0;
    assert_true(lap_cli_write(PIPE_FD, pattern(), size));
    assert_int_equal(sys.size, size);
    assert_memory_equal(sys.bytes, pattern(), size);
    for (int i = 0; i < sys.writes; i++)
        assert_int_equal(sys.sizes[i], pieces[i]);
    assert_int_equal(pieces[sys.writes], 0);
}

static void always_ready(void)
{
    for (int i = 0; i < STEPS; i++)
        sys.poll[i].ready = 1;
}

/* A pipe gets at most PIPE_BUF bytes at once; a file gets all of them. */
static void pieces(void **state)
{
    enum { PAGE = PIPE_BUF };
    (void)state;
    always_ready();
    sys.kind = S_IFIFO;
    try(0, (size_t[]){0});
    assert_int_equal(sys.polls, 0);
    try(1, (size_t[]){1, 0});
    try(PAGE, (size_t[]){PAGE, 0});
    try(PAGE + 1, (size_t[]){PAGE, 1, 0});
    try(2 * PAGE + 5, (size_t[]){PAGE, PAGE, 5, 0});
    assert_int_equal(sys.polls, 3);
    sys.kind = S_IFREG;
    try(2 * PAGE + 5, (size_t[]){2 * PAGE + 5, 0});
    sys.kind = S_IFIFO;
    sys.call = "fstat";
    sys.after = 0;
    try(PAGE + 5, (size_t[]){PAGE + 5, 0});
    sys.call = NULL;
    sys.write[0].wrote = 10; /* and the rest afterwards */
    sys.write[1].wrote = -1, sys.write[1].why = EINTR;
    try(40, (size_t[]){40, 30, 30, 0});
}

static void failures(void **state)
{
    static const int whys[] = {EPIPE, ENOSPC, EAGAIN};
    (void)state;
    always_ready();
    sys.kind = S_IFIFO;
    for (size_t i = 0; i < COUNT(whys); i++) {
        sys.polls = sys.writes = 0;
        sys.write[0].wrote = 4;
        sys.write[1].wrote = -1, sys.write[1].why = whys[i];
        assert_false(lap_cli_write(PIPE_FD, pattern(), 9));
        assert_int_equal(errno, whys[i]);
        assert_int_equal(sys.writes, 2);
    }
    sys.polls = sys.writes = 0;
    sys.write[0].wrote = -2;
    assert_false(lap_cli_write(PIPE_FD, pattern(), 9));
    assert_int_equal(errno, EIO);
    assert_int_equal(sys.writes, 1);
    assert_false(lap_term_gave_up());
}

/* Without a signal, the program waits for room without a time limit. */
static void waiting(void **state)
{
    (void)state;
    always_ready();
    sys.kind = S_IFIFO;
    sys.room = 4096, sys.held = 4090;
    for (int i = 0; i < 20; i++)
        sys.poll[i].ready = i % 2 ? 0 : -1, sys.poll[i].why = EINTR;
    try(7, (size_t[]){7, 0});
    assert_int_equal(sys.polls, 21);
    for (int i = 0; i < 21; i++)
        assert_int_equal(sys.waits[i], 100);
    sys.poll[0].ready = -1, sys.poll[0].why = EINVAL; /* the write that follows reports the error */
    try(7, (size_t[]){7, 0});
    assert_int_equal(sys.polls, 1);
    /* A partly filled page of a pipe takes as much as fits. */
    static const struct {
        int room, held;
        bool fails, fits;
    } pages[] = {{4096, 4089, false, true}, {4096, 4090, false, false}, {4096, 4096, false, false},
        {4096, 4097, false, false}, {4096, 9000, false, false}, {-1, 0, false, false}, {4096, 0, true, false},
        {8192, 0, false, true}};
    for (size_t i = 0; i < COUNT(pages); i++) {
        sys.poll[0].ready = sys.poll[1].ready = sys.poll[2].ready = 0;
        sys.poll[3].ready = 1;
        sys.room = pages[i].room, sys.held = pages[i].held;
        sys.call = pages[i].fails ? "fionread" : NULL;
        sys.after = 0;
        if (pages[i].fails)
            sys.poll[1].ready = 1;
        try(7, (size_t[]){7, 0});
        assert_int_equal(sys.polls, pages[i].fits ? 1 : pages[i].fails ? 2 : 4);
    }
}

/* ---- the streams of the program -------------------------------------------------------------------- */

static FILE *own[2];

static void take_streams(void)
{
    own[0] = stdout, own[1] = stderr;
    sys.writes = sys.polls = 0;
    always_ready();
    lap_term_own_streams();
}

static void give_streams_back(void)
{
    for (int i = 0; i < 2; i++) {
        FILE **stream = i ? &stderr : &stdout, *mine = *stream;
        *stream = own[i];
        if (mine != own[i])
            fclose(mine);
    }
    sys.polls = sys.writes = STEPS;
}

static void streams(void **state)
{
    (void)state;
    for (int tty = 0; tty < 2; tty++) {
        memset(sys.write, 0, sizeof sys.write);
        sys.is_tty[1] = tty;
        sys.size = 0;
        take_streams();
        fputs("one\ntwo", stdout);
        const int of_out = sys.writes;
        fputs("three\nfour", stderr);
        const int of_error = sys.writes;
        give_streams_back();
        assert_int_equal(of_out, tty); /* whole lines on a terminal; on standard error, always */
        assert_int_equal(of_error, tty + 1);
        assert_memory_equal(sys.bytes, tty ? "one\nthree\n" : "three\n", (size_t)(tty ? 10 : 6));
        assert_int_equal(sys.size, 17);
    }
    /* If memory runs out, the streams are not replaced. */
    for (int after = 0; after < 2; after++)
        for (int i = 0; i < 2; i++) {
            sys.call = i ? "setvbuf" : "fopencookie";
            sys.after = after;
            take_streams();
            sys.call = NULL;
            const bool kept_out = stdout == own[0], kept_error = stderr == own[1];
            give_streams_back();
            assert_int_equal(kept_out, after == 0);
            assert_int_equal(kept_error, after == 1);
        }
}

/* The exit code for lost output, and that the loss is reported once, with the first reason. */
static void lost_output(void **state)
{
    lap_cli_exit codes[4];
    (void)state;
    sys.kind = S_IFREG;
    assert_int_equal(lap_cli_flush(LAP_EXIT_BACKEND), LAP_EXIT_BACKEND);
    assert_int_equal(lap_cli_flush(LAP_EXIT_OK), LAP_EXIT_OK);
    said_listen();
    take_streams();
    for (int i = 0; i < STEPS; i++)
        sys.write[i].wrote = -1, sys.write[i].why = i == 0 ? EACCES : i == 1 ? ENOSPC : EIO;
    fputs("an error\n", stderr); /* is lost, too, but this is not reported */
    FILE *const error = stderr;
    stderr = own[1];
    for (int i = 0; i < 2; i++) {
        fputs("lost", stdout);
        fflush(stdout);
    }
    sys.polls = 0;
    for (int i = 0; i < 4; i++) {
        sys.poll[i].ready = i != 0; /* POLLERR counts only if poll reports a descriptor */
        sys.poll[i].revents = i == 0 || i == 3 ? POLLERR : POLLOUT;
    }
    for (int i = 0; i < 4; i++)
        codes[i] = lap_cli_flush(i == 1 ? LAP_EXIT_BACKEND : LAP_EXIT_OK);
    sys.polls = sys.writes = STEPS;
    stderr = error;
    give_streams_back();
    said_end();
    assert_text(said_err(), "lapedge: cannot write to standard output: No space left on device\n");
    assert_int_equal(codes[0], LAP_EXIT_FAILED);
    assert_int_equal(codes[1], LAP_EXIT_BACKEND);
    assert_int_equal(codes[2], LAP_EXIT_FAILED);
    assert_int_equal(codes[3], LAP_EXIT_PIPE);
}

/* ---- signals --------------------------------------------------------------------------------------- */

static void cancelled(void **state)
{
    const lap_error limit = {.code = LAP_E_LIMIT, .message = "m"},
                    by_signal = {.code = LAP_E_CANCELLED, .message = "m"};
    (void)state;
    said_listen();
    lap_cli_tell_cancel(128);
    sys.caught = SIGTERM;
    lap_cli_tell_cancel(0);
    lap_cli_tell_cancel(128 + SIGINT);
    said_end();
    assert_text(said_err(), "");
    assert_says(lap_cli_tell_cancel(128 + SIGTERM), "", "lapedge: cancelled\n");
    assert_says(lap_cli_print_error(&limit, NULL), "", "lapedge: limit: m\n");
    assert_says(lap_cli_tell_cancel(128 + SIGTERM), "", "lapedge: cancelled\n");
    assert_says(lap_cli_print_error(&by_signal, NULL), "", "lapedge: m\n");
    assert_says(lap_cli_tell_cancel(128 + SIGTERM), "", "");
}

/* After a signal, the program waits a second for a reader that reads nothing. */
static void gives_up(void **state)
{
    static const int waits[] = {100, 100, 100, 100, 100, 100, 100, 90, 0, 0};
    (void)state;
    sys.now_ns = 5000 * 1000000LL;
    sys.step_ns = 130 * 1000000LL;
    sys.kind = S_IFIFO;
    take_streams();
    FILE *const error = stderr;
    stderr = own[1];
    memset(sys.poll, 0, sizeof sys.poll);
    sys.caught = SIGTERM;
    fputs("x", stdout);
    errno = 0;
    const lap_cli_exit code = lap_cli_flush(LAP_EXIT_OK);
    const int polls = sys.polls, writes = sys.writes;
    errno = 0;
    const bool wrote = lap_cli_write(PIPE_FD, "x", 1); /* other writes do not wait any more, either */
    const int why = errno, more = sys.polls - polls;
    stderr = error;
    give_streams_back();
    assert_int_equal(code, 128 + SIGTERM);
    assert_int_equal(writes, 0);
    assert_int_equal(polls, COUNT(waits)); /* the last one asks whether the reader has left */
    for (int i = 0; i < polls; i++)
        assert_int_equal(sys.waits[i], waits[i]);
    assert_false(wrote);
    assert_int_equal(why, ECANCELED);
    assert_int_equal(more, 1);
    assert_true(lap_term_gave_up());
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, said_restore)
    static const struct CMUnitTest tests[] = {TEST(problems), TEST(characters), TEST(words_of_a_shell),
        TEST(advice), TEST(errors), TEST(warnings), TEST(devices), TEST(wrapped), TEST(widths),
        TEST(terminals), TEST(times), TEST(pieces), TEST(failures), TEST(waiting), TEST(streams),
        TEST(lost_output), TEST(cancelled), TEST(gives_up)};
    if (!make_scratch() || !said_open())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed | said_close() | remove_scratch(NULL);
}
