/* Files that are written beside the outputs: over what they are never written, when a run does not begin
 * because of them, and what a log holds when a call fails. */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "cli/json.h"
#include "cli/sides.h"
#include "cli/term.h"

/* ---- the system ------------------------------------------------------------------------------------ */

static struct {
    const char *call; /* that fails, after so many that succeed; NULL: none */
    int why, after;
    double awaited; /* seconds that a reader may take; NAN: nobody was waited for */
    bool reader_left;
} sys;

static bool strikes(const char *call)
{
    return strike(sys.call, call, &sys.after, sys.why);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return strikes("open") ? -1 : __real_open(path, flags, mode);
}

/* A call that fails may leave anything in its result. */
static const struct stat left_behind = {.st_mode = S_IFREG | 0644, .st_size = 1};

int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st)
{
    const int result = __real_stat(path, st);
    if (result != 0)
        *st = left_behind;
    return result;
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    const int result = strikes("fstat") ? -1 : __real_fstat(fd, st);
    if (result != 0)
        *st = left_behind;
    return result;
}

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    const int value = va_arg(rest, int);
    va_end(rest);
    return strikes("fcntl") ? -1 : __real_fcntl(fd, command, value);
}

int __real_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size)
{
    return strikes("ftruncate") ? -1 : __real_ftruncate(fd, size);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    const int closed = __real_close(fd);
    return strikes("close") ? -1 : closed;
}

bool __real_lap_cli_write(int fd, const void *bytes, size_t size);
bool __wrap_lap_cli_write(int fd, const void *bytes, size_t size);
bool __wrap_lap_cli_write(int fd, const void *bytes, size_t size)
{
    const bool is_torn = strikes("write and ftruncate"), fails = is_torn || strikes("write");
    const int why = errno;
    sys.call = is_torn ? "ftruncate" : sys.call;
    const bool written = __real_lap_cli_write(fd, bytes, fails ? size / 2 : size);
    errno = why;
    return written && !fails;
}

char *__real_lap_json_dump(const json_t *object, size_t flags);
char *__wrap_lap_json_dump(const json_t *object, size_t flags);
char *__wrap_lap_json_dump(const json_t *object, size_t flags)
{
    return strikes("dump") ? NULL : __real_lap_json_dump(object, flags);
}

bool __wrap_lap_term_reader_left(void);
bool __wrap_lap_term_reader_left(void)
{
    return sys.reader_left;
}

lap_code __wrap_lap_side_await_reader(const char *path, double seconds, lap_error *err);
lap_code __wrap_lap_side_await_reader(const char *path, double seconds, lap_error *err)
{
    sys.awaited = seconds;
    return strikes("await") ? lap_fail_at(err, LAP_E_WRITE, path, "no process reads this FIFO") : LAP_OK;
}

/* ---- steps ----------------------------------------------------------------------------------------- */

static lap_cli cli;
static int files, errors,
    heard; /* how many descriptors are open; standard error, and where it goes instead */

/* What is said from now on is heard. */
static void listen(void)
{
    assert_int_equal(__real_ftruncate(heard, 0), 0);
    dup2(heard, STDERR_FILENO);
}

/* What was said until now. */
static const char *said(void)
{
    static char text[2000];
    fflush(stderr);
    dup2(errors, STDERR_FILENO);
    const ssize_t size = pread(heard, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    return text;
}

/* Standard output of the next check; NULL: the test's. */
static struct {
    const char *name;
    int flags;
    off_t at;
} target;

static void begin(void)
{
    memset(&sys, 0, sizeof sys);
    target.name = NULL, target.flags = 0, target.at = 0;
    sys.awaited = NAN;
    empty_scratch();
    assert_int_equal(mkdir("photos", 0777) || mkdir("sub", 0777), 0);
    put("in.jpg", "x");
    put("photos/a.jpg", "x");
    put("photos/b.jpg", "x");
    files = open_files();
}

/* Parses the words of a command line, separated by spaces. */
static lap_cli_exit parse(const char *line)
{
    static char text[PATH_MAX + 100];
    static char *words[40];
    int count = 0;
    snprintf(text, sizeof text, "lapedge %s", line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    free(cli.operands);
    cli = (lap_cli){0};
    optind = 0; /* getopt forgets the line before */
    (void)getopt(1, words, "");
    return lap_cli_parse(&cli, count, words);
}

/* Checks a command line: the exit code, and what is said, which is "" for nothing. */
static void expect(const char *line, lap_cli_exit expected, const char *message)
{
    const int standard = __real_fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    fflush(stdout);
    if (target.name) {
        const int fd = __real_open(target.name, O_WRONLY | O_CLOEXEC | target.flags);
        assert_true(fd >= 0 && (target.at == 0 || lseek(fd, target.at, SEEK_SET) == target.at));
        dup2(fd, STDOUT_FILENO);
        __real_close(fd);
    }
    listen();
    lap_cli_exit code = parse(line);
    const bool is_parsed = code == LAP_EXIT_OK;
    if (is_parsed)
        code = lap_cli_check_sides(&cli);
    const char *text = said();
    dup2(standard, STDOUT_FILENO);
    __real_close(standard);
    if (!is_parsed || code != expected || !strstr(text, message) || (text[0] != '\0') != (message[0] != '\0'))
        fail_msg("%s%s%s: %d, %s", line, target.name ? " to " : "", target.name ? target.name : "", (int)code,
            text);
    assert_int_equal(open_files(), files);
}

static void is_fine(const char *line)
{
    expect(line, LAP_EXIT_OK, "");
}

/* ---- never over something else --------------------------------------------------------------------- */

static void other_files_of_the_command_line(void **unused)
{
    (void)unused;
    begin();
    put("k.txt", "0 0 0 0 1 0 0 0 0\n");
    put("list", "photos/a.jpg\n");
    put("weights", "1\n");
    put("other.jpg", "x");
    assert_int_equal(symlink("in.jpg", "link"), 0);
    assert_int_equal(link("in.jpg", "hard"), 0);
    assert_int_equal(symlink("loop", "loop"), 0);
    static const char *const clashes[][2] = {
        {"in.jpg out.jpg --json-file=in.jpg", "--json-file: in.jpg is the input"},
        {"in.jpg --json-file=in.jpg", "--json-file: in.jpg is the input"},
        {"in.jpg out.jpg --json-file=link", "--json-file: link is the input"},
        {"in.jpg out.jpg --json-file=./hard", "--json-file: ./hard is the input"},
        {"in.jpg out.jpg --json-file=./out.jpg", "--json-file: ./out.jpg is the output"},
        {"in.jpg out.jpg --stats=s.json --json-file=s.json", "--stats: s.json is to be written twice"},
        {"in.jpg out.jpg --kernel=k.txt --json-file=k.txt", "--json-file: k.txt is the kernel"},
        {"in.jpg other.jpg out --log=other.jpg", "--log: other.jpg is the input"},
        {"in.jpg other.jpg out --log=out", "--log: out is the output"},
        {"--files-from=list out --log=list", "--log: list is the list of inputs"},
        {"--files-from=list out --log=out", "--log: out is the output"},
        {"--in-place in.jpg other.jpg --log=other.jpg", "--log: other.jpg is the input"},
        {"--in-place in.jpg --log=in.jpg", "--log: in.jpg is the input"},
        {"transform --rotate=90 in.jpg out.jpg --json-file=out.jpg", "--json-file: out.jpg is the output"},
        {"stats in.jpg --json-file=in.jpg", "--json-file: in.jpg is the input"},
        {"stats photos --json-file=photos/b.jpg", "--json-file: photos/b.jpg is the input"},
        {"stats in.jpg --profiles --weights=weights --json-file=weights", "weights is the file of weights"},
        {"diff in.jpg other.jpg --json-file=other.jpg", "--json-file: other.jpg is the input"},
        {"diff in.jpg other.jpg --json-file=x.png --heatmap=x.png", "is to be written twice"},
        {"bench --image=in.jpg --json-file=in.jpg", "--json-file: in.jpg is the input"},
        {"bench --image=photos --json-file=photos/b.jpg", "--json-file: photos/b.jpg is the input"},
        {"compare photos --json-file=photos/b.jpg", "--json-file: photos/b.jpg is the input"}};
    for (size_t i = 0; i < sizeof clashes / sizeof *clashes; i++)
        expect(clashes[i][0], LAP_EXIT_USAGE, clashes[i][1]);
    is_fine("in.jpg out.jpg --json-file=other --stats=s.json --kernel=k.txt");
    is_fine("bench filter --json-file=filter"); /* the operand names an operation */
    is_fine("--files-from=list --in-place --log=l");
    is_fine("--in-place in.jpg --log=out");
    is_fine("photos out");
    is_fine("backends --json-file=x");
    is_fine("photos out --log=photos/b.log"); /* the folder itself is looked at later, by the run */
    put("photos/b.jpg", "");
    expect("photos out --log=photos/b.jpg", LAP_EXIT_USAGE,
        "lies in the input photos and is named like an image");
    const int standard = dup(0), input = __real_open("in.jpg", O_RDONLY | O_CLOEXEC);
    dup2(input, 0); /* "-" is the file that standard input comes from */
    files = open_files();
    expect("- out.jpg --json-file=in.jpg", LAP_EXIT_USAGE, "--json-file: in.jpg is the input");
    is_fine("- out.jpg --json-file=other");
    dup2(standard, 0);
    __real_close(standard);
    __real_close(input);
    files = open_files();
    /* What cannot be examined could be the same file. */
    expect("in.jpg out.jpg --json-file=loop", LAP_EXIT_NOTHING, "--json-file: ");
    expect("diff in.jpg other.jpg --json-file=loop", LAP_EXIT_USAGE, "--json-file: ");
    expect("compare in.jpg --json-file=loop", LAP_EXIT_USAGE, "--json-file: ");
}

static void names_of_records_and_backups(void **unused)
{
    (void)unused;
    static const char record[] = "is the name of lapedge's own records", backup[] = "is the name of a backup";
    begin();
    expect("photos out --log=.lapedge-in-place.jsonl", LAP_EXIT_USAGE, record);
    expect("photos out --log=sub/.lapedge-in-place.jsonl", LAP_EXIT_USAGE, record);
    is_fine("photos out --log=sub/x.lapedge-in-place.jsonl");
    expect("--in-place --backup=.orig in.jpg --log=x.orig", LAP_EXIT_USAGE, backup);
    expect("--in-place --backup=.orig in.jpg --log=sub/in.jpg.orig", LAP_EXIT_USAGE, backup);
    is_fine("--in-place --backup=.orig in.jpg --log=.orig"); /* no photo is called "" */
    is_fine("--in-place --backup=.orig in.jpg --log=orig");
    is_fine("--in-place --backup=.orig in.jpg --log=x.orig.log");
    is_fine("--in-place in.jpg --log=x.orig");
}

static void outputs_among_records(void **unused)
{
    (void)unused;
    static const char *const refused[] = {".lapedge-in-place.jsonl", "sub/.lapedge-in-place.jsonl",
        ".lapedge", ".lapedge/", "sub/.lapedge", "sub/.lapedge//", "sub/.lapedge/x.jpg",
        "sub/.lapedge//x.jpg", "sub/.lapedge/./x.jpg", "sub//.lapedge/x.jpg", "./.lapedge/x.jpg", "/.lapedge",
        ".lapedge/.", ".lapedge/.lapedge", ".lapedge/sub/.lapedge", "sub/.lapedge/.lapedge/x.jpg",
        ".lapedge/x.jpg/"};
    static const char *const fine[] = {"x.lapedge", ".lapedges", "sub/.lapedges/x.jpg", ".lapedge/sub/x.jpg",
        "x.lapedge-in-place.jsonl", ".lapedge-in-place.jsonl.x", "sub/x.lapedge/x.jpg", "sub/lapedge/x.jpg",
        "elephant/x.jpg", "sub/.lap/x.jpg"};
    char line[200];
    begin();
    put("list", "in.jpg\n");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        snprintf(line, sizeof line, "photos in.jpg %s", refused[i]);
        expect(line, LAP_EXIT_USAGE, "is reserved for lapedge's own records; name another path");
        snprintf(line, sizeof line, "--files-from=list %s", refused[i]);
        expect(line, LAP_EXIT_USAGE, "is reserved for lapedge's own records; name another path");
    }
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        snprintf(line, sizeof line, "photos in.jpg %s", fine[i]);
        is_fine(line);
    }
    assert_int_equal(mkdir(".lapedge", 0777), 0);
    put(".lapedge/x.jpg", "x");
    is_fine("transform --rotate=90 .lapedge/x.jpg out.jpg"); /* as an input it is a file like others */
    is_fine("--in-place .lapedge/x.jpg");
    is_fine("--in-place in.jpg .lapedge/x.jpg");
    is_fine("stats in.jpg .lapedge/x.jpg");
    is_fine(".lapedge/x.jpg"); /* the output is missing, which is told later */
}

/* ---- what standard output and OUT already hold ----------------------------------------------------- */

static void put_bytes(const char *name, const char *bytes, size_t size)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static const struct {
    const char *format, *head;
    size_t size;
} images[] = {{"jpg", "\xff\xd8\xff\xe0\x00\x10JFIF", 10}, {"png", "\x89PNG\r\n\x1a\n", 8},
    {"pgm", "P5 1 1 255\n", 11}, {"ppm", "P6 1 1 255\n", 11}, {"bmp", "BM\x01\x00", 4}};
enum { IMAGES = sizeof images / sizeof *images, PGM = 2, PPM = 3 };

/* Whether standard output takes text, as both functions say it. */
static void takes_text(const char *bytes, size_t size, bool takes)
{
    char message[200];
    put_bytes("output", bytes, size);
    target.name = "output", target.flags = O_APPEND;
    snprintf(message, sizeof message, "%s/output, which is not text and would be damaged", scratch);
    for (int i = 0; i < 3; i++) {
        static const char *const lines[] = {
            "stats in.jpg", "photos out -n", "in.jpg --format=tsv - --kernel=log5"};
        expect(lines[i], takes ? LAP_EXIT_OK : LAP_EXIT_USAGE, takes ? "" : message);
    }
    const int standard = __real_fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    fflush(stdout);
    const int fd = __real_open("output", O_WRONLY | O_CLOEXEC);
    dup2(fd, STDOUT_FILENO);
    __real_close(fd);
    const bool is_taken = lap_cli_stdout_takes_text();
    dup2(standard, STDOUT_FILENO);
    __real_close(standard);
    assert_int_equal(is_taken, takes);
}

static void text_behind_text(void **unused)
{
    (void)unused;
    char bytes[1100];
    begin();
    for (int c = 0; c < 256; c++) {
        memset(bytes, 'a', sizeof bytes);
        bytes[700] = (char)c;
        takes_text(bytes, 701, c >= ' ' || c == '\33' || (c >= '\a' && c <= '\r'));
    }
    for (size_t at = 1021; at < 1025; at++) { /* only the beginning is looked at */
        memset(bytes, 'a', sizeof bytes);
        bytes[at] = 1;
        takes_text(bytes, sizeof bytes, at >= 1023);
    }
    takes_text("\1", 1, false);
    takes_text("", 0, true);
    for (int i = 0; i < IMAGES; i++)
        takes_text(images[i].head, images[i].size, false);
    takes_text("BM is text", 10, true);
    target.name = "/dev/null";
    is_fine("stats in.jpg");
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    const int standard = __real_fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    close(STDOUT_FILENO); /* nothing is damaged there */
    const bool takes = lap_cli_stdout_takes_text();
    dup2(pipes[1], STDOUT_FILENO);
    const bool is_put = write(STDOUT_FILENO, images[0].head, images[0].size) == (ssize_t)images[0].size;
    const bool pipe_takes = lap_cli_stdout_takes_text();
    dup2(standard, STDOUT_FILENO);
    __real_close(standard);
    __real_close(pipes[1]);
    assert_true(takes && is_put && pipe_takes);
    assert_int_equal(read(pipes[0], bytes, sizeof bytes), images[0].size); /* the reader gets all of it */
    __real_close(pipes[0]);
}

/* Images are appended to streams of their own format, and to what the same redirection has written. */
static void images_behind_others(void **unused)
{
    (void)unused;
    static const char message[] = "which is not empty; name the output, or use > to replace what is there";
    static const char *const names[] = {"x", "x.stream", "x.jpg", "x.ppm", "x.png"};
    char line[100];
    begin();
    for (int there = 0; there < IMAGES; there++)
        for (int format = 0; format < IMAGES; format++)
            for (size_t name = 0; name < sizeof names / sizeof *names; name++) {
                const bool is_pnm = there == PGM || there == PPM;
                const bool may = is_pnm ? format == PGM || format == PPM : there == format && name < 2;
                put_bytes(names[name], images[there].head, images[there].size);
                snprintf(line, sizeof line, "in.jpg - --format=%s", images[format].format);
                target.name = names[name];
                for (int append = 0; append < 2; append++) {
                    target.flags = append ? O_APPEND : 0;
                    expect(line, may ? LAP_EXIT_OK : LAP_EXIT_USAGE, may ? "" : message);
                }
            }
    target.name = "x";
    for (int append = 0; append < 2; append++)
        for (off_t at = 0; at < 8; at++) { /* a header of seven bytes */
            const bool may = !append && at >= 7;
            put("x", "header\n");
            target.flags = append ? O_APPEND : 0, target.at = at;
            expect("in.jpg -", may ? LAP_EXIT_OK : LAP_EXIT_USAGE, may ? "" : message);
        }
    put("x", "");
    target.flags = O_APPEND, target.at = 0;
    is_fine("in.jpg -");
    put("x", "header\n");
    is_fine("in.jpg out.jpg"); /* which prints nothing */
    target.name = "in.jpg";    /* the run tells that better */
    is_fine("in.jpg -");
    is_fine("in.jpg - --format=png");
    target.name = "/dev/null";
    is_fine("in.jpg -");
    target.name = "x", target.flags = O_APPEND;
    expect("in.jpg -", LAP_EXIT_USAGE, message);
    sys.call = "fstat", sys.why = EBADF; /* the run reports that nothing can be written there */
    is_fine("in.jpg -");
}

static void text_into_other_files(void **unused)
{
    (void)unused;
    begin();
    put("list", "in.jpg\n");
    put("k.txt", "0 0 0 0 1 0 0 0 0\n");
    put("out.jpg", "");
    static const struct {
        const char *line, *what; /* NULL: it may be written there */
    } cases[] = {{"stats in.jpg", "the input"}, {"stats photos/a.jpg in.jpg", "the input"},
        {"in.jpg out.jpg --json", "the input"}, {"in.jpg out.jpg -n", "the input"},
        {"in.jpg photos out --log=-", "the input"}, {"in.jpg out.jpg", NULL}, {"--in-place in.jpg", NULL},
        {"--in-place in.jpg --json", "the input"}, {"photos/a.jpg out.jpg --json", NULL},
        {"bench --image=in.jpg", "the input"}, {"backends", NULL}, {"diff photos/a.jpg in.jpg", "the input"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[200] = "";
        target.name = "in.jpg", target.flags = O_APPEND;
        if (cases[i].what)
            snprintf(message, sizeof message,
                "standard output is redirected to %s, and text would be written into it", cases[i].what);
        expect(cases[i].line, cases[i].what ? LAP_EXIT_USAGE : LAP_EXIT_OK, message);
    }
    target.name = "list";
    expect("--files-from=list out --json", LAP_EXIT_USAGE,
        "standard output is redirected to the list of inputs, and text would be written into it");
    target.name = "k.txt";
    expect("in.jpg out.jpg --kernel=k.txt --json", LAP_EXIT_USAGE,
        "standard output is redirected to the kernel, and text would be written into it");
    target.name = "out.jpg"; /* which gets a new file */
    is_fine("in.jpg out.jpg --json");
    put("j", "");
    target.name = "j";
    is_fine("in.jpg out.jpg --json --json-file=j");
    is_fine("- out.jpg --json"); /* the input "-" is standard input, and not this file */
    is_fine("stats -");
}

/* OUT is not replaced if it is of a kind that lapedge never writes. */
static void kinds_of_out(void **unused)
{
    (void)unused;
    static const char other[] =
        "is not an image that lapedge writes; name another file, or use -f to replace it";
    static const char *const lines[] = {"in.jpg %s", "transform --rotate=90 in.jpg %s"};
    static const struct {
        const char *name, *bytes;
        size_t size;
        bool may;
    } cases[] = {{"out.jpg", "text", 4, false}, {"out.jpg", "", 0, true}, {"out.png", "II*\0", 4, false},
        {"out.jpg", "\0", 1, false}, {"out.tga", "text", 4, true}, {"out.tga", "\0\0", 2, true},
        {"out.tsv", "12\t34\n", 6, true}, {"out.tsv", "12 34\n", 6, false}, {"out.tsv", "", 0, true},
        {"out.tsv", "x", 1, false}, {"out.tsv", "12\n-", 4, false}, {"out.jpg", "12\t34\n", 6, false},
        {"out.bmp", "text", 4, false}, {"out.bmp", "B", 1, false}};
    char line[200];
    for (int way = 0; way < 2; way++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            begin();
            put_bytes(cases[i].name, cases[i].bytes, cases[i].size);
            const int length = snprintf(line, sizeof line, way ? lines[1] : lines[0], cases[i].name);
            expect(line, cases[i].may ? LAP_EXIT_OK : LAP_EXIT_USAGE, cases[i].may ? "" : other);
            static const char *const options[] = {" -f", " --no-clobber", " --skip-existing"};
            for (int option = 0; option < 3; option++) {
                snprintf(line + length, sizeof line - (size_t)length, "%s", options[option]);
                is_fine(line);
            }
        }
    for (int there = 0; there < IMAGES; there++)
        for (int name = 0; name < IMAGES; name++) { /* any image may be replaced by any other */
            begin();
            snprintf(line, sizeof line, "out.%s", images[name].format);
            put_bytes(line, images[there].head, images[there].size);
            snprintf(line, sizeof line, "in.jpg out.%s", images[name].format);
            is_fine(line);
        }
    begin();
    put("out", "text");
    is_fine("in.jpg out");
    expect("in.jpg out --format=png", LAP_EXIT_USAGE, other);
    is_fine("in.jpg out --format=tga");
    expect("in.jpg out --format=tsv", LAP_EXIT_USAGE, other);
    put("out", "12\n");
    is_fine("in.jpg out --format=tsv");
    assert_int_equal(mkdir("out.png", 0777) | mkfifo("out.jpg", 0600), 0);
    is_fine("in.jpg out.png/x.jpg");
    is_fine("in.jpg out.jpg");
    put("-", "text");
    is_fine("in.jpg - --format=jpg");
    put("out.ppm", "P6");
    sys.call = "open", sys.why = EACCES;
    expect("in.jpg out.ppm", LAP_EXIT_USAGE,
        "out.ppm exists and cannot be read: Permission denied; name another file, or use -f to replace it");
    is_fine("in.jpg out.ppm -f");
}

/* A pattern that the shell left alone is no name for something new. */
static void patterns_that_were_left(void **unused)
{
    (void)unused;
    static const char message[] =
        "no file matches this pattern; name the output, or create it first if this is its";
    static const struct {
        const char *line;
        bool may;
    } cases[] = {{"in.jpg *.png", false}, {"in.jpg sub/?.png", false}, {"in.jpg s*/x.png", false},
        {"photos in.jpg out*", false}, {"photos w?rd/out", true}, {"photos w?rd/x*/out", false},
        {"photos w?rd/x/*", false}, {"in.jpg w?rd/x.png", true}, {"photos in.jpg w?rd/", true},
        {"in.jpg in.jpg/*.png", true}, {"in.jpg out.jpg --json-file=*.json", false},
        {"in.jpg out.jpg --json-file=w?rd/j", true}, {"a*.jpg b*.jpg", true}, {"photos a*.jpg *x", true},
        {"c*.jpg b*.jpg", false}, {"in.jpg out.jpg --json-file=w?rd/j*", false},
        {"a*.jpg out.jpg --json-file=j*", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        put("a*.jpg", "x");
        assert_int_equal(mkdir("w?rd", 0777), 0);
        expect(cases[i].line, cases[i].may ? LAP_EXIT_OK : LAP_EXIT_USAGE, cases[i].may ? "" : message);
    }
    for (int length = PATH_MAX - 1; length <= PATH_MAX; length++) { /* the run refuses a longer path */
        char line[PATH_MAX + 20], *out = line + snprintf(line, sizeof line, "in.jpg sub");
        memset(out, '/', (size_t)length);
        strcpy(out + length - strlen("sub**"), "**");
        expect(line, length < PATH_MAX ? LAP_EXIT_USAGE : LAP_EXIT_OK, length < PATH_MAX ? "sub//" : "");
    }
}

/* A side file with the name of an image would be taken for a photo, in the folder of the photos. */
static void sides_among_photos(void **unused)
{
    (void)unused;
    static const struct {
        const char *line, *folder; /* NULL: it may be there */
    } cases[] = {{"stats photos --json-file=photos/x.png", "photos"},
        {"stats photos --json-file=photos/x.json", NULL}, {"stats photos --json-file=photos/x.tsv", NULL},
        {"stats photos --json-file=photos/png", NULL},
        {"stats photos --json-file=photos/sub/x.JPG", "photos"}, {"stats photos --json-file=x.png", NULL},
        {"stats photos sub --json-file=sub/x.png", "sub"},
        {"stats in.jpg photos --json-file=photos/x.ppm", "photos"},
        {"stats photos/a.jpg --json-file=photos/x.png", NULL}, {"photos out --log=photos/x.png", "photos"},
        {"photos sub --log=sub/x.png", NULL}, {"photos sub out --log=sub/x.png", "sub"},
        {"--in-place photos/a.jpg --log=photos/x.png", NULL}, {"stats photos --json-file=photos/a.b/x", NULL},
        {"bench filter --json-file=filter/x.png", NULL},
        {"compare photos --json-file=photos/x.png", "photos"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[200] = "";
        begin();
        assert_int_equal(mkdir("photos/sub", 0777) | mkdir("photos/a.b", 0777) | mkdir("filter", 0777), 0);
        if (cases[i].folder)
            snprintf(message, sizeof message,
                "lies in the input %s and is named like an image; name another file", cases[i].folder);
        expect(cases[i].line, cases[i].folder ? LAP_EXIT_USAGE : LAP_EXIT_OK, message);
    }
}

/* ---- only over our own ----------------------------------------------------------------------------- */

enum { LOG = 1, STATS = 2, OBJECT = 4, TRACE = 8, REPORT = 16, HEATMAP = 32 };
static const struct {
    const char *line, *name, *kind;
    int bit;
} sides[] = {{"photos out --log=", "side", "a log", LOG},
    {"in.jpg out.jpg --stats=", "side.json", "statistics", STATS},
    {"stats in.jpg --json-file=", "side", "JSON", OBJECT},
    {"photos out --trace=", "side", "a timeline", TRACE},
    {"in.jpg out.jpg --report=", "side.html", "a report", REPORT},
    {"diff in.jpg photos/a.jpg --heatmap=", "side.png", "a heat map", HEATMAP}};
enum { KINDS = sizeof sides / sizeof *sides };

/* A file may be replaced by the sides of these kinds, and by no other. */
static void may_be_replaced(const char *bytes, size_t size, int kinds)
{
    for (int i = 0; i < KINDS; i++) {
        char line[200], message[200];
        put_bytes(sides[i].name, bytes, size);
        snprintf(line, sizeof line, "%s%s", sides[i].line, sides[i].name);
        if (kinds & sides[i].bit) {
            is_fine(line);
            continue;
        }
        const bool is_folder = sides[i].bit & (LOG | TRACE);
        snprintf(message, sizeof message,
            "%s exists and is not %s that lapedge wrote; name another file, or %s", sides[i].name,
            sides[i].kind, is_folder ? "remove it" : "give -f to replace it");
        expect(line, LAP_EXIT_USAGE, message);
        unlink(sides[i].name);
    }
}

static void each_kind_is_known_by_its_beginning(void **unused)
{
    (void)unused;
    enum { ALL = LOG | STATS | OBJECT | TRACE | REPORT | HEATMAP };
    static const struct {
        const char *text;
        int kinds;
    } cases[] = {{"", ALL}, {"text", 0}, {"{\"schema\":\"lapedge.log/1\",", LOG},
        {"{\"schema\":\"lapedge.file/1\",", LOG | OBJECT},
        {"{\"schema\":\"lapedge.stats/1\",", STATS | OBJECT}, {"{\"schema\":\"lapedge.trace/1\",", TRACE},
        {"{\"schema\":\"lapedge.manifest/1\",", 0}, {"{\"schema\":\"lapedge.run/1\",", OBJECT},
        {" {\n\t\"schema\" : \r\n\"lapedge.stats/1", STATS | OBJECT}, {"{\"schema\":\"other.log/1\",", 0},
        {"{\"schemas\":\"lapedge.log/1\",", 0}, {"{\"x\":\"lapedge.log/1\",", 0},
        {"[\"schema\":\"lapedge.log/1\",", 0}, {"{\"schema\",\"lapedge.log/1\",", 0},
        {"{\"schema\":\"lapedge.logs/1\",", OBJECT},
        {"<!doctype html>\n<title>lapedge report</title>", REPORT},
        {"<!doctype html>\n<title>other</title>", 0}, {"\n<!doctype html>\n<title>lapedge report</title>", 0},
        {"<title>lapedge report</title>", 0}};
    begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        may_be_replaced(cases[i].text, strlen(cases[i].text), cases[i].kinds);
}

static void heat_maps_and_images(void **unused)
{
    (void)unused;
    static const char mark[] = "tEXtSoftware\0lapedge heat map";
    enum { AT = 37, SIZE = AT + sizeof mark - 1 };
    char bytes[SIZE + 2] = "\x89PNG\r\n\x1a\n";
    begin();
    memcpy(bytes + AT, mark, sizeof mark - 1);
    bytes[SIZE] = 'x'; /* what follows says nothing */
    for (int way = 0; way < 4; way++) {
        const bool is_ours = way < 2;
        put_bytes("side.png", bytes, way == 0 ? SIZE : way == 1 ? SIZE + 1 : SIZE - 1);
        if (way == 3) { /* another picture */
            bytes[AT + 20] ^= 1;
            put_bytes("side.png", bytes, SIZE);
        }
        expect("diff in.jpg photos/a.jpg --heatmap=side.png", is_ours ? LAP_EXIT_OK : LAP_EXIT_USAGE,
            is_ours ? "" : "side.png exists and is not a heat map that lapedge wrote");
        for (int i = 0; i < KINDS; i++)
            if (sides[i].bit != HEATMAP) { /* whatever else is given, an image stays */
                char line[200];
                put_bytes(sides[i].name, bytes, SIZE);
                snprintf(line, sizeof line, "%s%s", sides[i].line, sides[i].name);
                expect(line, LAP_EXIT_USAGE, "is an image, and would be replaced");
                if (sides[i].bit & (LOG | TRACE | STATS)) {
                    strcat(line, " -f");
                    expect(line, LAP_EXIT_USAGE, "is an image, and would be replaced");
                }
                unlink(sides[i].name);
            }
    }
}

static void what_else_may_be_replaced(void **unused)
{
    (void)unused;
    begin();
    put("side", "text");
    is_fine("photos out -f --log=side");
    is_fine("photos out --log=/dev/null");
    is_fine("photos out --log=-");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    is_fine("photos out --log=fifo");
    put("side", "{\"schema\":\"lapedge.log/1\"}\n");
    is_fine("photos out --log=side");
    const int standard = dup(0); /* standard input may be closed: then the file gets its descriptor */
    close(0);
    files = open_files();
    is_fine("photos out --log=side");
    dup2(standard, 0);
    close(standard);
    files = open_files();
    for (int after = 0; after < 2;
         after++) { /* a file that cannot be opened, for the image in it or for its words */
        sys.call = "open";
        sys.why = EACCES;
        sys.after = after;
        expect("photos out --log=side", LAP_EXIT_USAGE, "side exists and is not a log");
    }
    sys.call = NULL;
    FILE *file = fopen("side.html", "w"); /* a title is looked for at the beginning alone */
    assert_non_null(file);
    fprintf(file, "<!doctype html>%2000s<title>lapedge ", "");
    assert_int_equal(fclose(file), 0);
    expect("in.jpg out.jpg --report=side.html", LAP_EXIT_USAGE, "is not a report");
}

/* ---- where it would be ----------------------------------------------------------------------------- */

static void places_that_cannot_be_written(void **unused)
{
    (void)unused;
    begin();
    put("other.jpg", "x");
    expect("in.jpg out.jpg --stats=missing/s.json", LAP_EXIT_NOTHING, "--stats: missing/s.json");
    expect("diff in.jpg other.jpg --json-file=missing/j", LAP_EXIT_USAGE, "--json-file: missing/j");
    expect("compare in.jpg --json-file=missing/j", LAP_EXIT_USAGE, "--json-file: missing/j");
    expect("stats photos --json-file=missing/j", LAP_EXIT_NOTHING, "--json-file: missing/j");
    put("list", "in.jpg\n");
    expect("--files-from=list --json-file=missing/j", LAP_EXIT_NOTHING, "missing/j"); /* without OUTDIR */
    is_fine("photos out --log=missing/l");   /* is opened before the work */
    is_fine("photos out --json-file=out/j"); /* will be there */
    is_fine("photos out --json-file=out/deep/j");
    is_fine("transform --rotate=90 photos out --json-file=out/j");
    expect("photos out --json-file=outer/j", LAP_EXIT_NOTHING, "outer/j");
    expect("photos out --json-file=photos/missing/j", LAP_EXIT_NOTHING, "photos/missing/j");
    expect(
        "photos sub --json-file=sub/missing/j", LAP_EXIT_NOTHING, "sub/missing/j"); /* it is there already */
    expect("in.jpg out.jpg --json-file=out.jpg/j", LAP_EXIT_NOTHING, "out.jpg/j");  /* is no folder */
    is_fine("in.jpg out.jpg --json-file=-");
    assert_true(isnan(sys.awaited) || sys.awaited > 0);
}

/* A FIFO whose reader does not come is told before the work; the time limit counts. */
static void readers_are_awaited(void **unused)
{
    (void)unused;
    static const struct {
        const char *line;
        double seconds;
    } cases[] = {{"in.jpg out.jpg --json-file=j", 5}, {"in.jpg out.jpg --timeout=3 --json-file=j", 3},
        {"in.jpg out.jpg --timeout=0.5 --json-file=j", 0.5}, {"in.jpg out.jpg --timeout=7 --json-file=j", 5},
        {"photos out --log=j", 5}, {"in.jpg out.jpg --json-file=-", NAN}, {"in.jpg out.jpg", NAN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        is_fine(cases[i].line);
        assert_true(isnan(cases[i].seconds) ? isnan(sys.awaited) : sys.awaited == cases[i].seconds);
    }
    sys.call = "await";
    expect("in.jpg out.jpg --json-file=j", LAP_EXIT_NOTHING, "--json-file: j: no process reads this FIFO");
    expect("diff in.jpg photos/a.jpg --json-file=j", LAP_EXIT_USAGE,
        "--json-file: j: no process reads this FIFO");
}

static void sides_are_listed(void **unused)
{
    (void)unused;
    const char *names[LAP_SIDES];
    begin();
    assert_int_equal(parse("photos out"), LAP_EXIT_OK);
    assert_int_equal(lap_cli_list_sides(&cli, names), 0);
    assert_int_equal(parse("photos out --report=r.html --log=l --trace=t --kernel=log5"), LAP_EXIT_OK);
    assert_int_equal(lap_cli_list_sides(&cli, names), 3);
    assert_string_equal(names[0], "t");
    assert_string_equal(names[1], "l");
    assert_string_equal(names[2], "r.html");
    static const struct {
        const char *line, *out;
        bool is_listed; /* text goes to the file */
    } cases[] = {{"stats in.jpg", "text", true}, {"stats in.jpg", "/dev/null", false},
        {"photos out", "text", false}, {"photos out --log=-", "text", true},
        {"photos out --log=-", "/dev/null", false}, {"in.jpg -", "text", false}};
    put("text", "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int is_lost = 0; is_lost < 2; is_lost++) {
            const int standard = __real_fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
            const int fd = __real_open(cases[i].out, O_WRONLY | O_CLOEXEC);
            assert_int_equal(parse(cases[i].line), LAP_EXIT_OK);
            fflush(stdout);
            dup2(fd, STDOUT_FILENO);
            __real_close(fd);
            sys.call = is_lost ? "fstat" : NULL;
            const size_t count = lap_cli_list_sides(&cli, names);
            sys.call = NULL;
            dup2(standard, STDOUT_FILENO);
            __real_close(standard);
            assert_int_equal(count, cases[i].is_listed && !is_lost);
        }
    static const char *const outs[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    static const char *const others[] = {"", "--", "./-", "/dev/fd/11", "/dev/stderr", "/dev/fd/2"};
    for (size_t i = 0; i < sizeof outs / sizeof *outs; i++)
        assert_true(lap_cli_is_stdout(outs[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(lap_cli_is_stdout(others[i]));
}

/* ---- logs ------------------------------------------------------------------------------------------ */

static const char *text_of(const char *name)
{
    static char text[8192];
    FILE *file = fopen(name, "r");
    const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = '\0';
    return file ? text : NULL;
}

/* Counts the lines of a log. -1: the log does not exist, or a line is incomplete. */
static int lines_of(const char *name)
{
    const char *text = text_of(name);
    int count = 0;
    if (!text)
        return -1;
    for (const char *end; *text; text = end + 1, count++) {
        end = strchr(text, '\n');
        json_t *line = end ? json_loadb(text, (size_t)(end - text), 0, NULL) : NULL;
        const char *schema = json_string_value(json_object_get(line, "schema"));
        const bool is_whole = schema && (strncmp(schema, "lapedge.log/", 12) == 0) == (count == 0);
        json_decref(line);
        if (!is_whole)
            return -1;
    }
    return count;
}

static void add_line(lap_cli_log *log)
{
    json_t *line = json_pack("{s:s, s:s}", "schema", "test", "in", "a photo");
    lap_cli_log_line(log, line);
    json_decref(line);
}

static void logs_hold_lines(void **unused)
{
    (void)unused;
    lap_cli_log log;
    for (int is_there = 0; is_there < 2; is_there++)
        for (int lines = 0; lines < 4; lines++) { /* 0: it was not begun; 1: the settings alone */
            begin();
            assert_int_equal(parse("photos out --log=l"), LAP_EXIT_OK);
            if (is_there)
                put("l", "the log of an earlier run, which is longer than a line of this one\n");
            assert_true(lap_cli_log_open(&log, &cli));
            assert_int_equal(lines_of("l"), is_there ? -1 : 0); /* it is not changed yet */
            if (lines == 1) {
                lap_cli_log_begin(&log);
                lap_cli_log_begin(&log);
            }
            for (int i = 1; i < lines; i++)
                add_line(&log);
            assert_int_equal(lap_cli_log_end(&log, "l", LAP_EXIT_OK), LAP_EXIT_OK);
            if (lines == 0 && is_there)
                assert_holds("l", "the log of an earlier run, which is longer than a line of this one\n");
            else
                assert_int_equal(lines_of("l"), lines ? lines : -1);
            assert_int_equal(access("l", F_OK) == 0, is_there || lines > 0);
            assert_int_equal(open_files(), files);
        }
}

static void logs_on_pipes_and_standard_output(void **unused)
{
    (void)unused;
    lap_cli_log log;
    char bytes[4096] = "";
    begin();
    assert_int_equal(mkfifo("fifo", 0600), 0);
    const int reader = __real_open("fifo", O_RDONLY | O_NONBLOCK);
    assert_int_equal(parse("photos out --log=fifo"), LAP_EXIT_OK);
    assert_true(lap_cli_log_open(&log, &cli));
    assert_false(__real_fcntl(log.fd, F_GETFL, 0) & O_NONBLOCK); /* a reader may be slow */
    add_line(&log);
    assert_int_equal(lap_cli_log_end(&log, "fifo", 3), 3);
    assert_true(read(reader, bytes, sizeof bytes) > 0);
    assert_non_null(strstr(bytes, "lapedge.log/"));
    assert_non_null(strstr(bytes, "a photo"));
    assert_true(strlen(bytes) > 0 && bytes[strlen(bytes) - 1] == '\n');
    sys.call = "fcntl";
    sys.why = EIO;
    assert_false(lap_cli_log_open(&log, &cli));
    assert_int_equal(errno, EIO);
    (void)lap_cli_log_close(&log, "fifo");
    __real_close(reader);

    begin(); /* standard output is a file here, which others write, too */
    put("output", "before\n");
    fflush(stdout);
    const int standard = dup(STDOUT_FILENO), output = __real_open("output", O_WRONLY | O_APPEND);
    dup2(output, STDOUT_FILENO);
    assert_int_equal(parse("photos out --log=-"), LAP_EXIT_OK);
    const bool is_open = lap_cli_log_open(&log, &cli);
    const int fd = log.fd;
    add_line(&log);
    const int code = lap_cli_log_end(&log, "-", LAP_EXIT_OK);
    const bool is_left = __real_fcntl(STDOUT_FILENO, F_GETFD, 0) >= 0;
    dup2(standard, STDOUT_FILENO);
    __real_close(standard);
    __real_close(output);
    assert_true(is_open && fd > STDERR_FILENO && code == LAP_EXIT_OK && is_left);
    assert_true(strncmp(text_of("output"), "before\n{\"schema\":\"lapedge.log/", 28) == 0);
    sys.call = "fcntl";
    assert_false(lap_cli_log_open(&log, &cli));
    sys.call = NULL;
    assert_int_equal(open_files(), files);
}

/* A program may be started without standard streams: a log gets their descriptors, but never that of
 * messages. */
static void logs_without_standard_streams(void **unused)
{
    (void)unused;
    lap_cli_log log;
    begin();
    const int standard = dup(0);
    close(0);
    files = open_files();
    assert_int_equal(parse("photos out --log=l"), LAP_EXIT_OK);
    errno = EEXIST; /* of an earlier call */
    assert_true(lap_cli_log_open(&log, &cli));
    assert_int_equal(log.fd, 0);
    assert_true(lap_cli_log_close(&log, "l")); /* nothing was written */
    assert_int_equal(open_files(), files);
    assert_true(access("l", F_OK) != 0);
    assert_true(lap_cli_log_open(&log, &cli));
    add_line(&log);
    assert_true(lap_cli_log_close(&log, "l"));
    assert_int_equal(open_files(), files);
    assert_int_equal(lines_of("l"), 2);
    dup2(standard, 0);
    close(standard);
    assert_int_equal(parse("photos out --log=-"), LAP_EXIT_OK);
    close(STDERR_FILENO);
    const bool is_open = lap_cli_log_open(&log, &cli);
    const int fd = log.fd;
    (void)lap_cli_log_close(&log, "-");
    dup2(errors, STDERR_FILENO);
    assert_true(is_open && fd > STDERR_FILENO);
}

static void logs_that_cannot_be_opened(void **unused)
{
    (void)unused;
    lap_cli_log log;
    static const char *const names[] = {"missing/l", "photos"};
    static const int whys[] = {ENOENT, EISDIR};
    char line[100];
    for (int i = 0; i < 2; i++) {
        begin();
        snprintf(line, sizeof line, "photos out --log=%s", names[i]);
        assert_int_equal(parse(line), LAP_EXIT_OK);
        assert_false(lap_cli_log_open(&log, &cli));
        assert_int_equal(errno, whys[i]);
        assert_int_equal(open_files(), files);
    }
    begin();
    assert_int_equal(symlink("target", "l"), 0); /* a link to what is not there yet */
    assert_int_equal(parse("photos out --log=l"), LAP_EXIT_OK);
    assert_true(lap_cli_log_open(&log, &cli));
    add_line(&log);
    assert_true(lap_cli_log_close(&log, "l"));
    assert_int_equal(lines_of("target"), 2);
    sys.call = "fstat";
    sys.why = EIO;
    assert_false(lap_cli_log_open(&log, &cli));
    assert_int_equal(errno, EIO);
    (void)lap_cli_log_close(&log, "l");
}

/* Lines that cannot be written are told at the end, with the first reason; those before and after are whole.
 */
static void logs_that_cannot_be_written(void **unused)
{
    (void)unused;
    static const struct {
        const char *call;
        int why, after, lines;
        bool is_lost;
    } cases[] = {{"write", ENOSPC, 0, -1, true}, {"write", ENOSPC, 1, 1, true}, {"write", EIO, 2, 2, true},
        {"dump", 0, 1, 1, true}, {"ftruncate", EIO, 0, 3, true}, {"close", EIO, 0, 3, true},
        {"close", EINTR, 0, 3, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int code = 0; code < 2; code++) {
            lap_cli_log log;
            begin();
            assert_int_equal(parse("photos out --log=l"), LAP_EXIT_OK);
            assert_true(lap_cli_log_open(&log, &cli));
            sys.call = cases[i].call;
            sys.why = cases[i].why;
            sys.after = cases[i].after;
            add_line(&log);
            add_line(&log);
            if (strcmp(cases[i].call, "close") != 0 && cases[i].lines >= 0) {
                const int why = log.problem; /* a later one changes nothing */
                sys.call = "close";
                sys.why = EDOM;
                sys.after = 0;
                assert_true(why);
            }
            listen();
            const int ended = lap_cli_log_end(&log, "l", code ? LAP_EXIT_NOTHING : LAP_EXIT_OK);
            const char *text = said();
            assert_int_equal(ended, code               ? LAP_EXIT_NOTHING
                                    : cases[i].is_lost ? LAP_EXIT_FAILED
                                                       : LAP_EXIT_OK);
            const char *const why = strerror(cases[i].why ? cases[i].why : ENOMEM);
            if (cases[i].is_lost &&
                (!strstr(text, "l: the log could not be written: ") || !strstr(text, why)))
                fail_msg("%s: %s", cases[i].call, text);
            assert_int_equal(lines_of("l"), cases[i].lines);
            assert_int_equal(open_files(), files);
        }
}

/* Half a line that cannot be removed: nothing is written behind it. */
static void half_a_line_is_left(void **unused)
{
    (void)unused;
    lap_cli_log log;
    struct stat st;
    begin();
    assert_int_equal(parse("photos out --log=l"), LAP_EXIT_OK);
    assert_true(lap_cli_log_open(&log, &cli));
    lap_cli_log_begin(&log);
    sys.call = "write and ftruncate";
    sys.why = ENOSPC;
    add_line(&log);
    assert_int_equal(stat("l", &st), 0);
    const off_t size = st.st_size;
    sys.call = NULL;
    const int other = __real_open("other", O_WRONLY | O_CREAT, 0600); /* gets the descriptor of the log */
    add_line(&log);
    assert_int_equal(stat("l", &st), 0);
    assert_int_equal(st.st_size, size);
    assert_false(lap_cli_log_close(&log, "l"));
    assert_int_equal(log.problem, ENOSPC);
    assert_int_equal(close(other), 0);
    assert_holds("other", "");
    assert_int_equal(open_files(), files);
}

static void write_often(int times)
{
    lap_cli_log log;
    for (int i = 0; i < times; i++) {
        assert_true(lap_cli_log_open(&log, &cli));
        add_line(&log);
        assert_true(lap_cli_log_close(&log, cli.log));
        log = (lap_cli_log){.fd = -1, .settings = &cli.settings, .postponed = "missing/l"};
        add_line(&log);
        assert_false(lap_cli_log_close(&log, "missing/l"));
    }
}

static void everything_is_given_back(void **unused)
{
    (void)unused;
    begin();
    assert_int_equal(parse("photos out --log=out/l"), LAP_EXIT_OK);
    assert_int_equal(mkdir("out", 0777), 0);
    write_often(20);
    const size_t bytes = mallinfo2().uordblks;
    write_often(40);
    assert_true(mallinfo2().uordblks < bytes + (size_t)40 * 16);
}

static void nobody_reads_the_log(void **unused)
{
    (void)unused;
    lap_cli_log log;
    begin();
    for (int way = 0; way < 2; way++) {
        log = (lap_cli_log){.fd = -1, .problem = EPIPE};
        sys.reader_left = true;
        listen();
        const int code = lap_cli_log_end(&log, way ? "l" : "-", LAP_EXIT_OK);
        log.problem = EPIPE;
        sys.reader_left = false;
        const int other = lap_cli_log_end(&log, "-", LAP_EXIT_OK);
        (void)said();
        assert_int_equal(code, way ? LAP_EXIT_FAILED : LAP_EXIT_PIPE);
        assert_int_equal(other, LAP_EXIT_FAILED);
    }
    assert_int_equal(lap_cli_log_end(&log, NULL, 7), 7); /* there is no log */
}

static void logs_in_the_output_folder(void **unused)
{
    (void)unused;
    static const struct {
        const char *log, *out;
        bool waits;
    } cases[] = {{"out/l", "out", true}, {"./out/l", "out", true}, {"out/l", "./out", true},
        {"out//l", "out", true}, {"out/l", "out/", true}, {"out/l", "out///", true},
        {"new/out/l", "new/out", true}, {"l", "out", false}, {"out", "out", false}, {"outer/l", "out", false},
        {"out/l", "outer", false}, {"out/deep/l", "out", false}, {"sub/l", "sub", false},
        {"out/l", "tou", false}, {"/l", "/", false}};
    char line[100];
    lap_cli_log log;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        snprintf(line, sizeof line, "photos out --log=%s", cases[i].log);
        assert_int_equal(parse(line), LAP_EXIT_OK);
        if (lap_cli_log_postpone(&log, &cli, cases[i].out) != cases[i].waits)
            fail_msg("%s, %s", cases[i].log, cases[i].out);
        if (!cases[i].waits || strcmp(cases[i].out, "out") != 0)
            continue;
        assert_true(access("out", F_OK) != 0);
        for (int is_made = 0; is_made < 2; is_made++) {
            assert_true(lap_cli_log_postpone(&log, &cli, "out"));
            if (is_made)
                assert_int_equal(mkdir("out", 0777), 0);
            add_line(&log);
            assert_int_equal(log.problem, is_made ? 0 : ENOENT);
            assert_int_equal(lap_cli_log_close(&log, cli.log), is_made);
            assert_int_equal(lines_of("out/l"), is_made ? 2 : -1);
        }
        assert_int_equal(open_files(), files);
    }
    begin(); /* a run that ends before its folder is made */
    assert_int_equal(parse("photos out --log=out/l"), LAP_EXIT_OK);
    assert_true(lap_cli_log_postpone(&log, &cli, "out"));
    assert_true(lap_cli_log_close(&log, "out/l"));
}

static char before[500];

static int open_scratch(void **state)
{
    (void)state;
    errors = dup(STDERR_FILENO);
    heard = __real_open("/tmp", O_RDWR | O_APPEND | O_TMPFILE, 0600);
    return make_scratch() && getcwd(before, sizeof before) && chdir(scratch) == 0 ? 0 : -1;
}

static int close_scratch(void **state)
{
    free(cli.operands);
    return chdir(before) == 0 ? remove_scratch(state) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_files_of_the_command_line),
        cmocka_unit_test(names_of_records_and_backups),
        cmocka_unit_test(outputs_among_records),
        cmocka_unit_test(text_behind_text),
        cmocka_unit_test(images_behind_others),
        cmocka_unit_test(text_into_other_files),
        cmocka_unit_test(kinds_of_out),
        cmocka_unit_test(patterns_that_were_left),
        cmocka_unit_test(sides_among_photos),
        cmocka_unit_test(each_kind_is_known_by_its_beginning),
        cmocka_unit_test(heat_maps_and_images),
        cmocka_unit_test(what_else_may_be_replaced),
        cmocka_unit_test(places_that_cannot_be_written),
        cmocka_unit_test(readers_are_awaited),
        cmocka_unit_test(sides_are_listed),
        cmocka_unit_test(logs_hold_lines),
        cmocka_unit_test(logs_on_pipes_and_standard_output),
        cmocka_unit_test(logs_without_standard_streams),
        cmocka_unit_test(logs_that_cannot_be_opened),
        cmocka_unit_test(logs_that_cannot_be_written),
        cmocka_unit_test(half_a_line_is_left),
        cmocka_unit_test(everything_is_given_back),
        cmocka_unit_test(nobody_reads_the_log),
        cmocka_unit_test(logs_in_the_output_folder),
    };
    return cmocka_run_group_tests(tests, open_scratch, close_scratch);
}
