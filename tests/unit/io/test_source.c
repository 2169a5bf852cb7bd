#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/status.h"
#include "io/source.h"
#include "tests/support/temporary.h"

enum { BYTES = 300000 };

static char folder[TEMPORARY_PATH];
static uint8_t content[BYTES];

static const char *in_folder(const char *name)
{
    static char path[TEMPORARY_PATH + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    for (int i = 0; i < BYTES; i++)
        content[i] = (uint8_t)(i * 31 + (i >> 8));
    if (!mkdtemp(temporary(folder, "source")))
        return -1;
    FILE *file = fopen(in_folder("data"), "wb");
    return file && fwrite(content, 1, BYTES, file) == BYTES && fclose(file) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(in_folder("data"));
    return rmdir(folder);
}

/* Reads the rest of source and compares it with content from offset on; returns the bytes read. */
static size_t read_rest(lap_source *source, size_t offset)
{
    const uint8_t *bytes = NULL;
    size_t size = 0, total = 0;
    do {
        assert_int_equal(lap_source_next(source, &bytes, &size, NULL), LAP_OK);
        assert_true(offset + total + size <= BYTES);
        assert_memory_equal(bytes, content + offset + total, size);
        total += size;
    } while (size > 0);
    return total;
}

static void peek_then_read(lap_source *source)
{
    const uint8_t *bytes = NULL;
    size_t got = 0;
    static const size_t wants[] = {1, 16, 16, 5000, 200000};
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        assert_int_equal(lap_source_peek(source, wants[i], &bytes, &got, NULL), LAP_OK);
        assert_int_equal(got, wants[i]);
        assert_memory_equal(bytes, content, got);
    }
    assert_int_equal(read_rest(source, 0), BYTES);
    assert_int_equal(lap_source_bytes(source), BYTES);
    assert_int_equal(lap_source_peek(source, 1, &bytes, &got, NULL), LAP_E_INTERNAL);
    lap_source_close(source);
}

static void a_file_is_peeked_and_read(void **state)
{
    (void)state;
    lap_source *source = NULL;
    assert_int_equal(lap_source_open(in_folder("data"), &source, NULL), LAP_OK);
    assert_int_equal(lap_source_stat(source)->st_size, BYTES);
    assert_true(lap_source_ms(source) >= 0);
    peek_then_read(source);
}

static void memory_is_peeked_and_read(void **state)
{
    (void)state;
    lap_source *source = NULL;
    assert_int_equal(lap_source_memory(content, BYTES, "given", &source, NULL), LAP_OK);
    assert_null(lap_source_stat(source));
    assert_string_equal(lap_source_name(source), "given");
    peek_then_read(source);
}

static void a_short_input_says_so(void **state)
{
    (void)state;
    const uint8_t *bytes = NULL;
    size_t got = 7;
    lap_source *source = NULL;
    assert_int_equal(lap_source_memory(NULL, 0, NULL, &source, NULL), LAP_OK);
    assert_int_equal(lap_source_peek(source, 10, &bytes, &got, NULL), LAP_OK);
    assert_int_equal(got, 0);
    assert_int_equal(read_rest(source, 0), 0);
    lap_source_close(source);

    assert_int_equal(lap_source_open(in_folder("data"), &source, NULL), LAP_OK);
    assert_int_equal(lap_source_peek(source, 2 * BYTES, &bytes, &got, NULL), LAP_OK);
    assert_int_equal(got, BYTES);
    assert_int_equal(read_rest(source, 0), BYTES);
    lap_source_close(source);
}

static void *feed_pipe(void *argument)
{
    int fd = *(int *)argument;
    for (size_t sent = 0; sent < BYTES;) { /* in crumbs, so that reads come back short */
        size_t n = BYTES - sent < 4099 ? BYTES - sent : 4099;
        ssize_t done = write(fd, content + sent, n);
        if (done <= 0)
            break;
        sent += (size_t)done;
    }
    close(fd);
    return NULL;
}

enum { MOST_PIECES = 100 };

/* Peeks, and then takes all bytes; returns how many pieces there were. */
static int pieces_of(lap_source *source, size_t header, bool hold, size_t sizes[MOST_PIECES])
{
    const uint8_t *bytes = NULL;
    size_t got = 0;
    bool whole = false;
    int count = 0;
    assert_int_equal(lap_source_peek(source, 16, &bytes, &got, NULL), LAP_OK);
    assert_int_equal(lap_source_peek(source, header, &bytes, &got, NULL), LAP_OK);
    if (hold)
        assert_int_equal(lap_source_hold(source, BYTES, &bytes, &got, &whole, NULL), LAP_OK);
    assert_int_equal(whole, hold);
    do {
        assert_true(count < MOST_PIECES);
        assert_int_equal(lap_source_next(source, &bytes, &sizes[count], NULL), LAP_OK);
    } while (sizes[count++] > 0);
    lap_source_close(source);
    return count;
}

/* However the bytes come: libjpeg-turbo's messages about damage depend on where its pieces end. */
static void pieces_in_memory_are_those_of_a_file(void **state)
{
    (void)state;
    static const size_t headers[] = {16, 640, 16 + 65536, 70000, 150000}; /* 16 + 65536: all that is read */
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        size_t file[MOST_PIECES], held[MOST_PIECES], memory[MOST_PIECES], piped[MOST_PIECES];
        int ends[2];
        pthread_t thread;
        char path[32];
        lap_source *source = NULL;
        assert_int_equal(lap_source_open(in_folder("data"), &source, NULL), LAP_OK);
        const int count = pieces_of(source, headers[i], false, file);
        assert_int_equal(lap_source_open(in_folder("data"), &source, NULL), LAP_OK);
        assert_int_equal(pieces_of(source, headers[i], true, held), count);
        assert_int_equal(lap_source_memory(content, BYTES, "given", &source, NULL), LAP_OK);
        assert_int_equal(pieces_of(source, headers[i], true, memory), count);
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &ends[1]), 0);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        assert_int_equal(lap_source_open(path, &source, NULL), LAP_OK);
        assert_int_equal(pieces_of(source, headers[i], true, piped), count);
        pthread_join(thread, NULL);
        close(ends[0]);
        assert_memory_equal(held, file, (size_t)count * sizeof *file);
        assert_memory_equal(memory, file, (size_t)count * sizeof *file);
        assert_memory_equal(piped, file, (size_t)count * sizeof *file);
    }
}

static void a_pipe_by_descriptor(void **state)
{
    (void)state;
    int ends[2];
    pthread_t thread;
    char path[32];
    lap_source *source = NULL;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &ends[1]), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(lap_source_open(path, &source, NULL), LAP_OK);
    peek_then_read(source);
    pthread_join(thread, NULL);
    assert_true(fcntl(ends[0], F_GETFD) >= 0); /* it belongs to the caller */
    close(ends[0]);
}

/* In the caller's memory: of a stream nothing counts as read before it is given out. */
static void an_input_is_held_in_memory_given(void **state)
{
    (void)state;
    uint8_t *memory = malloc(BYTES + 1);
    size_t size = 0;
    bool whole = false;
    assert_non_null(memory);
    for (int i = 0; i < 4; i++) {
        const bool is_pipe = i / 2;
        const size_t room = BYTES + (size_t)i % 2; /* one more byte: the end shows */
        int ends[2];
        pthread_t thread;
        char path[32];
        lap_source *source = NULL;
        assert_int_equal(pipe(ends), 0);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &ends[1]), 0);
        assert_int_equal(lap_source_open(is_pipe ? path : in_folder("data"), &source, NULL), LAP_OK);
        assert_int_equal(lap_source_hold_in(source, memory, room, &size, &whole, NULL), LAP_OK);
        assert_int_equal(size, BYTES);
        assert_int_equal(whole, i % 2);
        assert_memory_equal(memory, content, BYTES);
        const uint8_t *held = NULL; /* by somebody who does not know that it is held */
        bool again = !whole;
        assert_int_equal(lap_source_hold(source, BYTES, &held, &size, &again, NULL), LAP_OK);
        assert_ptr_equal(held, memory);
        assert_int_equal(size, BYTES);
        assert_int_equal(again, whole);
        assert_int_equal(lap_source_bytes(source), is_pipe ? 0 : BYTES);
        if (!whole)
            lap_source_held_is_read(source);
        else
            assert_int_equal(read_rest(source, 0), BYTES);
        assert_int_equal(lap_source_bytes(source), BYTES);
        assert_int_equal(lap_source_hold_in(source, memory, room, &size, &whole, NULL), LAP_E_INTERNAL);
        assert_int_equal(size, 0);
        lap_source_close(source);
        close(ends[0]);
        pthread_join(thread, NULL);
    }
    free(memory);
}

/* The pair lies across two reads, stands before `from` too, and the pipe stays open behind it. */
static void a_pipe_is_held_until_a_pair(void **state)
{
    (void)state;
    static const uint8_t first[] = {1, 0xFF, 0xD9, 2, 0xFF}, second[] = {0xD9, 3}, third[] = {4, 5};
    static const uint8_t pair[] = {0xFF, 0xD9};
    const uint8_t *bytes = NULL;
    size_t size = 0;
    bool whole = false;
    int ends[2];
    char path[32];
    lap_source *source = NULL;
    lap_control control = {.deadline_ms = lap_now_ms() + 10000};
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(lap_source_open(path, &source, NULL), LAP_OK);
    lap_source_watch(source, &control);
    assert_int_equal(write(ends[1], first, sizeof first), sizeof first);
    assert_int_equal(lap_source_peek(source, sizeof first, &bytes, &size, NULL), LAP_OK);
    assert_int_equal(write(ends[1], second, sizeof second), sizeof second);
    lap_source_hold_until(source, 2, pair);
    assert_int_equal(lap_source_hold(source, BYTES, &bytes, &size, &whole, NULL), LAP_OK);
    assert_true(whole);
    assert_int_equal(size, sizeof first + sizeof second);
    assert_memory_equal(bytes, first, sizeof first);
    assert_int_equal(write(ends[1], third, sizeof third), sizeof third);
    assert_int_equal(lap_source_next(source, &bytes, &size, NULL), LAP_OK);
    assert_int_equal(size, sizeof first + sizeof second);
    assert_int_equal(lap_source_next(source, &bytes, &size, NULL), LAP_OK);
    assert_int_equal(size, sizeof third);
    assert_memory_equal(bytes, third, sizeof third);
    lap_source_close(source);
    close(ends[0]);
    close(ends[1]);
}

static void a_silent_pipe_obeys_the_deadline(void **state)
{
    (void)state;
    int ends[2];
    char path[32];
    const uint8_t *bytes = NULL;
    size_t got = 0;
    lap_source *source = NULL;
    lap_error err = {0};
    lap_control control = {.cancel = NULL, .deadline_ms = lap_now_ms() + 20};
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(lap_source_open(path, &source, NULL), LAP_OK);
    lap_source_watch(source, &control);
    assert_int_equal(lap_source_peek(source, 1, &bytes, &got, &err), LAP_E_TIMEOUT);
    atomic_int cancel = 1;
    lap_control cancelled = {.cancel = &cancel};
    lap_source_watch(source, &cancelled);
    assert_int_equal(lap_source_next(source, &bytes, &got, &err), LAP_E_CANCELLED);
    lap_source_close(source);
    close(ends[0]);
    close(ends[1]);
}

static void refuse(const char *path, lap_code expected)
{
    lap_source *source = (lap_source *)content;
    lap_error err = {0};
    assert_int_equal(lap_source_open(path, &source, &err), expected);
    assert_null(source);
    assert_int_equal(err.code, expected);
    assert_string_equal(err.subject, path);
    assert_true(err.message[0]);
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    refuse(in_folder("missing"), LAP_E_MISSING);
    refuse("", LAP_E_MISSING);
    refuse(in_folder("data/below"), LAP_E_MISSING);
    refuse(folder, LAP_E_UNREADABLE);
    refuse("/dev/null", LAP_E_UNREADABLE);
    refuse("/dev/zero", LAP_E_UNREADABLE);
    refuse("/dev/fd/987654", LAP_E_MISSING);

    assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
    refuse(in_folder("fifo"), LAP_E_UNREADABLE); /* and does not wait for a writer */
    unlink(in_folder("fifo"));

    assert_int_equal(symlink("nowhere", in_folder("dangling")), 0);
    refuse(in_folder("dangling"), LAP_E_MISSING);
    unlink(in_folder("dangling"));

    assert_int_equal(symlink("loop", in_folder("loop")), 0);
    refuse(in_folder("loop"), LAP_E_UNREADABLE);
    unlink(in_folder("loop"));

    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%.60s/socket", folder);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    refuse(in_folder("socket"), LAP_E_UNREADABLE);
    close(fd);
    unlink(in_folder("socket"));
}

static void names_are_fit_for_messages(void **state)
{
    (void)state;
    lap_source *source = NULL;
    assert_int_equal(lap_source_memory("", 0,
                         "a\nb\033[31m\xC2\x9B"
                         "c\xC3\xA9.jpg",
                         &source, NULL),
        LAP_OK);
    assert_string_equal(lap_source_name(source), "a\\x0ab\\x1b[31m\\xc2\\x9bc\xC3\xA9.jpg");
    lap_source_close(source);

    char path[1001];
    memset(path, 'x', sizeof path);
    strcpy(path + 990, "/photo.jpg");
    assert_int_equal(lap_source_memory("", 0, path, &source, NULL), LAP_OK);
    assert_int_equal(strlen(lap_source_name(source)), 255);
    assert_string_equal(lap_source_name(source) + 244, "x/photo.jpg");
    assert_memory_equal(lap_source_name(source), "...", 3);
    lap_source_close(source);
}

/* ---- inputs that the test makes up ------------------------------------------------------------------ */

enum { FD = 77, PIECE = 64 * 1024, LOG = 128 };

static struct {
    bool is_on;
    int fd;          /* that open returns */
    int open_why[4]; /* errno of the first calls of open; the first 0 succeeds, with `stale` in errno */
    int stale;       /* an old errno */
    int opens, flags;
    char path[64];
    struct stat st, named; /* of the descriptor, and of a path */
    int fstat_why, stat_why, asked_fd;
    size_t size, at, most; /* bytes of the input; bytes read so far; most of one read, 0: no limit */
    int read_why[8];       /* errno of each read; 0: it succeeds */
    int reads;
    size_t asked[LOG];
    int poll_why[4], late; /* errno of the first polls; number of polls that time out first */
    int polls;
    atomic_int *cancels; /* set at poll number cancel_at */
    int cancel_at;
    bool no_object, no_buffer;
    int resizes;
    size_t room[LOG];
    int closes;
    double now;
    uint64_t looked_at;
    int looks;
} sim;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    if (!sim.is_on)
        return __real_open(path, flags, 0600);
    snprintf(sim.path, sizeof sim.path, "%s", path);
    sim.flags = flags;
    const int why = sim.opens < 4 ? sim.open_why[sim.opens] : 0;
    sim.opens++;
    errno = why ? why : sim.stale;
    return why ? -1 : sim.fd;
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    if (!sim.is_on)
        return __real_fstat(fd, st);
    sim.asked_fd = fd;
    *st = sim.st;
    errno = sim.fstat_why;
    return sim.fstat_why ? -1 : 0;
}

int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st)
{
    if (!sim.is_on)
        return __real_stat(path, st);
    snprintf(sim.path, sizeof sim.path, "%s", path);
    *st = sim.named;
    errno = sim.stat_why;
    return sim.stat_why ? -1 : 0;
}

static ssize_t answer(void *bytes, size_t size, uint64_t at, int *calls)
{
    const int why = *calls < 8 ? sim.read_why[*calls] : 0;
    sim.now += 10;
    ++*calls;
    if (why) {
        errno = why;
        return -1;
    }
    size_t n = at < sim.size ? sim.size - (size_t)at : 0;
    n = n < size ? n : size;
    n = sim.most && sim.most < n ? sim.most : n;
    memcpy(bytes, content + at, n);
    return (ssize_t)n;
}

ssize_t __real_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
    if (!sim.is_on)
        return __real_read(fd, bytes, size);
    assert_int_equal(fd, sim.fd);
    assert_in_range(sim.reads, 0, LOG - 1);
    sim.asked[sim.reads] = size;
    const ssize_t got = answer(bytes, size, sim.at, &sim.reads);
    sim.at += got > 0 ? (size_t)got : 0;
    return got;
}

ssize_t __real_pread(int fd, void *bytes, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t at)
{
    if (!sim.is_on)
        return __real_pread(fd, bytes, size, at);
    assert_int_equal(fd, sim.fd);
    sim.looked_at = (uint64_t)at;
    return answer(bytes, size, (uint64_t)at, &sim.looks);
}

int __real_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms)
{
    if (!sim.is_on)
        return __real_poll(fds, count, ms);
    assert_int_equal(fds->fd, sim.fd);
    assert_int_equal(fds->events, POLLIN);
    assert_true(ms > 0); /* so that control is checked again */
    const int why = sim.polls < 4 ? sim.poll_why[sim.polls] : 0;
    sim.polls++;
    if (sim.polls > 1000)
        abort();
    if (sim.cancels && sim.polls == sim.cancel_at)
        *sim.cancels = 1;
    errno = why;
    return why ? -1 : sim.polls > sim.late;
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return sim.is_on && sim.no_object ? NULL : __real_calloc(count, size);
}

void *__real_lap_pages_resize(void *memory, size_t used, size_t bytes);
void *__wrap_lap_pages_resize(void *memory, size_t used, size_t bytes);
void *__wrap_lap_pages_resize(void *memory, size_t used, size_t bytes)
{
    if (sim.is_on) {
        assert_in_range(sim.resizes, 0, LOG - 1);
        sim.room[sim.resizes++] = bytes;
        if (sim.no_buffer)
            return NULL;
    }
    return __real_lap_pages_resize(memory, used, bytes);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    if (!sim.is_on)
        return __real_close(fd);
    assert_int_equal(fd, sim.fd);
    sim.closes++;
    return 0;
}

double __real_lap_now_ms(void);
double __wrap_lap_now_ms(void);
double __wrap_lap_now_ms(void)
{
    return sim.is_on ? sim.now : __real_lap_now_ms();
}

/* From now on, open returns an input of this kind and size. */
static void pretend(mode_t kind, size_t size)
{
    memset(&sim, 0, sizeof sim);
    sim.is_on = true;
    sim.fd = FD;
    sim.size = size;
    sim.st.st_mode = kind | 0600;
    sim.st.st_size = kind == S_IFREG ? (off_t)size : 0;
    sim.st.st_ino = 5;
    sim.st.st_dev = 6;
    sim.st.st_mtim.tv_sec = 7;
    sim.named = sim.st;
}

static int leave_pretence(void **state)
{
    (void)state;
    sim.is_on = false;
    return 0;
}

static lap_source *open_input(void)
{
    lap_source *source = NULL;
    assert_int_equal(lap_source_open(S_ISREG(sim.st.st_mode) ? "file" : "/dev/fd/77", &source, NULL), LAP_OK);
    return source;
}

static void assert_failed(lap_error *err, lap_code code, const char *subject, const char *message)
{
    assert_int_equal(err->code, code);
    assert_string_equal(err->subject, subject);
    assert_string_equal(err->message, message);
    *err = (lap_error){0};
}

static void names_of_descriptors(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int fd; /* -1: an ordinary path */
    } cases[] = {
        {"-", 0},
        {"/dev/stdin", 0},
        {"/dev/fd/0", 0},
        {"/proc/self/fd/0", 0},
        {"/dev/fd/7", 7},
        {"/proc/self/fd/12", 12},
        {"/dev/fd/1048576", 1048576},
        {"/dev/fd/1048577", -1},
        {"/dev/fd/99999999999999999999", -1},
        {"/dev/fd/-1", -1},
        {"/dev/fd/", -1},
        {"/dev/fd/7x", -1},
        {"/dev/fd/x", -1},
        {"/dev/fdx7", -1},
        {"/proc/self/fd", -1},
        {"-7", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_source *source = NULL;
        pretend(S_IFREG, 100);
        errno = ERANGE; /* left by an earlier call */
        assert_int_equal(lap_source_open(cases[i].path, &source, NULL), LAP_OK);
        assert_int_equal(sim.opens, cases[i].fd < 0);
        assert_int_equal(sim.asked_fd, cases[i].fd < 0 ? FD : cases[i].fd);
        assert_int_equal(lap_source_fd(source), cases[i].fd < 0 ? FD : cases[i].fd);
        assert_string_equal(lap_source_name(source), i == 0 ? "standard input" : cases[i].path);
        if (cases[i].fd < 0)
            assert_string_equal(sim.path, cases[i].path);
        lap_source_close(source);
        assert_int_equal(sim.closes, cases[i].fd < 0);
    }
}

static void a_path_is_opened(void **state)
{
    (void)state;
    static const struct {
        int open_why[4];
        int fd, stale, fstat_why;
        lap_code code;
        const char *message;
        int opens;
    } cases[] = {
        {{0}, FD, 0, 0, LAP_OK, "", 1},
        {{EINTR, EINTR, EINTR}, FD, 0, 0, LAP_OK, "", 4},
        {{0}, 0, EINTR, 0, LAP_OK, "", 1}, /* opened as descriptor 0 */
        {{0}, 0, ENOENT, 0, LAP_OK, "", 1},
        {{0}, 0, EACCES, 0, LAP_OK, "", 1},
        {{ENOENT}, FD, 0, 0, LAP_E_MISSING, "no such file", 1},
        {{ENOTDIR}, FD, 0, 0, LAP_E_MISSING, "no such file", 1},
        {{EINTR, ENOENT}, FD, 0, 0, LAP_E_MISSING, "no such file", 2},
        {{EACCES}, FD, 0, 0, LAP_E_UNREADABLE, "cannot be opened: Permission denied", 1},
        {{EMFILE}, FD, 0, 0, LAP_E_UNREADABLE, "cannot be opened: Too many open files", 1},
        {{0}, FD, 0, EIO, LAP_E_UNREADABLE, "cannot be read: Input/output error", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_source *source = (lap_source *)content;
        lap_error err = {0};
        pretend(S_IFREG, 100);
        memcpy(sim.open_why, cases[i].open_why, sizeof sim.open_why);
        sim.fd = cases[i].fd;
        sim.stale = cases[i].stale;
        sim.fstat_why = cases[i].fstat_why;
        assert_int_equal(lap_source_open("dir/none", &source, &err), cases[i].code);
        assert_int_equal(sim.opens, cases[i].opens);
        assert_int_equal(sim.flags, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (cases[i].code != LAP_OK) {
            assert_null(source);
            assert_failed(&err, cases[i].code, "dir/none", cases[i].message);
            assert_int_equal(sim.closes, cases[i].fstat_why != 0);
            continue;
        }
        assert_int_equal(lap_source_fd(source), cases[i].fd);
        assert_int_equal(lap_source_bytes(source), 100);
        assert_ptr_not_equal(lap_source_stat(source), NULL);
        lap_source_close(source);
        assert_int_equal(sim.closes, 1);
    }
}

/* By its name, only a regular file is read; a descriptor that the caller has opened may be anything but a
 * folder. */
static void what_may_be_read(void **state)
{
    (void)state;
    static const struct {
        mode_t kind;
        const char *message;
    } cases[] = {{S_IFREG, NULL}, {S_IFDIR, "is a folder"}, {S_IFIFO, "is a named pipe"},
        {S_IFSOCK, "is a socket"}, {S_IFCHR, "is a device"}, {S_IFBLK, "is a device"}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const bool is_named = i % 2;
        const mode_t kind = cases[i / 2].kind;
        lap_source *source = NULL;
        lap_error err = {0};
        char message[64] = "";
        pretend(kind, 100);
        const char *path = is_named ? "/dev/fd/77" : "file";
        const bool is_read = is_named ? kind != S_IFDIR : kind == S_IFREG;
        const lap_code code = lap_source_open(path, &source, &err);
        assert_int_equal(code, is_read ? LAP_OK : LAP_E_UNREADABLE);
        if (!is_read) {
            snprintf(message, sizeof message, "%s%s", cases[i / 2].message,
                is_named ? "" : ", not a regular file");
            assert_failed(&err, LAP_E_UNREADABLE, path, message);
        } else {
            assert_int_equal(lap_source_bytes(source), kind == S_IFREG ? 100 : 0);
        }
        lap_source_close(source);
        assert_int_equal(sim.closes, !is_named);
    }
    lap_source *source = NULL;
    lap_error err = {0};
    pretend(S_IFREG, 100);
    sim.fstat_why = EBADF;
    assert_int_equal(lap_source_open("/dev/fd/77", &source, &err), LAP_E_MISSING);
    assert_failed(&err, LAP_E_MISSING, "/dev/fd/77", "is not open");
    assert_int_equal(sim.closes, 0);
}

static void memory_runs_out(void **state)
{
    (void)state;
    lap_source *source = (lap_source *)content;
    lap_error err = {0};
    const uint8_t *bytes = content;
    size_t size = 7;
    bool whole;
    pretend(S_IFREG, 100);
    sim.no_object = true;
    assert_int_equal(lap_source_open("file", &source, &err), LAP_E_MEMORY);
    assert_null(source);
    assert_failed(&err, LAP_E_MEMORY, "file", "out of memory");
    source = (lap_source *)content;
    assert_int_equal(lap_source_memory("", 0, NULL, &source, &err), LAP_E_MEMORY);
    assert_null(source);
    assert_failed(&err, LAP_E_MEMORY, "memory", "out of memory");
    for (int i = 0; i < 4; i++) {
        pretend(S_IFREG, 100);
        source = open_input();
        sim.no_buffer = i < 3;
        bytes = content;
        size = 7;
        const lap_code code = i == 0   ? lap_source_peek(source, 16, &bytes, &size, &err)
                              : i == 1 ? lap_source_next(source, &bytes, &size, &err)
                              : i == 2 ? lap_source_hold(source, 1000, &bytes, &size, &whole, &err)
                                       : lap_source_peek(source, SIZE_MAX - PIECE + 1, &bytes, &size, &err);
        assert_int_equal(code, LAP_E_MEMORY);
        assert_null(bytes);
        assert_int_equal(size, 0);
        assert_int_equal(sim.reads, 0);
        assert_failed(&err, LAP_E_MEMORY, "file", "out of memory");
        lap_source_close(source);
    }
}

/* Reads in one of four ways: peek, next, hold, or hold in the caller's memory. */
static lap_code read_in_one_way(lap_source *source, int way, size_t *size, lap_error *err)
{
    static uint8_t memory[1001];
    const uint8_t *bytes = content;
    bool whole = false;
    *size = 7;
    const lap_code code = way == 0   ? lap_source_peek(source, 16, &bytes, size, err)
                          : way == 1 ? lap_source_next(source, &bytes, size, err)
                          : way == 2 ? lap_source_hold(source, 1000, &bytes, size, &whole, err)
                                     : lap_source_hold_in(source, memory, 1001, size, &whole, err);
    assert_int_equal(whole, code == LAP_OK && way >= 2);
    return code;
}

/* If nothing else is open, a file is descriptor 0. */
static void descriptor_0_is_one_like_others(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        size_t size;
        uint8_t found[4];
        pretend(S_IFREG, 100);
        sim.fd = 0;
        lap_source *source = open_input();
        assert_int_equal(read_in_one_way(source, way, &size, NULL), LAP_OK);
        assert_int_equal(size, way == 0 ? 16 : 100);
        assert_int_equal(sim.reads, way < 2 ? 1 : 2); /* the end shows, or need not */
        assert_non_null(lap_source_stat(source));
        assert_true(lap_source_look(source, 96, found, 4));
        assert_memory_equal(found, content + 96, 4);
        assert_false(lap_source_look(source, 97, found, 4));
        assert_int_equal(sim.looks, 3);
        if (way < 3)
            assert_int_equal(read_rest(source, way == 1 ? 100 : 0), way == 1 ? 0 : 100);
        lap_source_close(source);
        assert_int_equal(sim.closes, 1);
    }
    const uint8_t *bytes;
    size_t size;
    bool whole;
    pretend(S_IFREG, 100);
    sim.fd = 0;
    lap_source *source = open_input();
    assert_int_equal(lap_source_hold(source, 99, &bytes, &size, &whole, NULL), LAP_OK);
    assert_false(whole);
    lap_source_close(source);
}

static void reads_are_repeated_or_fail(void **state)
{
    (void)state;
    static const struct {
        int read_why[8];
        int why; /* of the failure; 0: none */
    } cases[] = {
        {{0}, 0}, {{EINTR, EINTR, EAGAIN}, 0}, {{EAGAIN}, 0}, {{EIO}, EIO}, {{EINTR, EISDIR}, EISDIR}};
    for (int way = 0; way < 4; way++)
        for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
            const bool is_pipe = i % 2;
            lap_error err = {0};
            size_t size;
            char message[80];
            pretend(is_pipe ? S_IFIFO : S_IFREG, 100);
            lap_source *source = open_input();
            memcpy(sim.read_why, cases[i / 2].read_why, sizeof sim.read_why);
            const int why = cases[i / 2].why;
            assert_int_equal(read_in_one_way(source, way, &size, &err), why ? LAP_E_UNREADABLE : LAP_OK);
            assert_int_equal(size, why ? 0 : way == 0 ? 16 : 100);
            assert_int_equal(sim.polls, is_pipe ? sim.reads : 0);
            assert_true(lap_source_ms(source) == 10 * sim.reads);
            if (why) {
                snprintf(message, sizeof message, "cannot be read: %s", strerror(why));
                assert_failed(&err, LAP_E_UNREADABLE, is_pipe ? "/dev/fd/77" : "file", message);
            }
            lap_source_close(source);
        }
}

/* Reads of a pipe or a terminal wait until there is data; control can end the wait. */
static void a_pipe_is_waited_for(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++)
        for (int n = 0; n < 5; n++) {
            atomic_int cancel = 0;
            const lap_control control = {.cancel = &cancel, .deadline_ms = n == 4 ? 5 : 0};
            lap_error err = {0};
            size_t size;
            pretend(S_IFIFO, 100);
            lap_source *source = open_input();
            lap_source_watch(source, n == 0 ? NULL : &control);
            sim.late = 3;
            sim.poll_why[1] = n == 1 ? EINTR : n == 2 ? EBADF : 0;
            sim.cancels = n == 3 ? &cancel : NULL;
            sim.cancel_at = 2;
            sim.now = n == 4 ? 6 : 0;
            const lap_code code = read_in_one_way(source, way, &size, &err);
            static const lap_code codes[] = {
                LAP_OK, LAP_OK, LAP_E_UNREADABLE, LAP_E_CANCELLED, LAP_E_TIMEOUT};
            static const char *const messages[] = {
                "", "", "cannot be read: Bad file descriptor", "cancelled", "over the time limit"};
            assert_int_equal(code, codes[n]);
            assert_int_equal(size, code == LAP_OK ? way == 0 ? 16 : 100 : 0);
            if (n < 2)
                assert_int_equal(sim.polls, way < 2 ? 4 : 5);
            else
                assert_int_equal(sim.polls, n == 4 ? 0 : 2);
            assert_int_equal(err.remedy, n == 4 ? LAP_REMEDY_TIMEOUT : LAP_REMEDY_NONE);
            if (code != LAP_OK)
                assert_failed(&err, code, "/dev/fd/77", messages[n]);
            lap_source_close(source);
        }
}

/* Peeking reads no more of a pipe than asked, and one piece more of a file. */
static void peeking_reads_no_more_than_needed(void **state)
{
    (void)state;
    for (int is_pipe = 0; is_pipe < 2; is_pipe++) {
        const uint8_t *bytes;
        size_t got;
        pretend(is_pipe ? S_IFIFO : S_IFREG, BYTES);
        lap_source *source = open_input();
        assert_int_equal(lap_source_peek(source, 16, &bytes, &got, NULL), LAP_OK);
        assert_int_equal(sim.asked[0], is_pipe ? 16 : 16 + PIECE);
        assert_int_equal(sim.room[0], 16 + PIECE);
        assert_int_equal(lap_source_peek(source, 16, &bytes, &got, NULL), LAP_OK);
        assert_true(sim.reads == 1 && sim.resizes == 1);
        assert_int_equal(lap_source_peek(source, 20, &bytes, &got, NULL), LAP_OK);
        assert_int_equal(got, 20);
        assert_int_equal(sim.reads, is_pipe ? 2 : 1);
        if (is_pipe)
            assert_int_equal(sim.asked[1], 4);
        const int reads = sim.reads, resizes = sim.resizes;
        assert_int_equal(
            lap_source_peek(source, is_pipe ? 20 : 16 + PIECE, &bytes, &got, NULL), LAP_OK); /* no read */
        assert_true(sim.reads == reads && sim.resizes == resizes);
        assert_int_equal(lap_source_peek(source, 17 + PIECE, &bytes, &got, NULL), LAP_OK);
        assert_int_equal(got, 17 + PIECE);
        assert_memory_equal(bytes, content, got);
        assert_int_equal(sim.room[sim.resizes - 1], 17 + 2 * PIECE);
        lap_source_close(source);
        pretend(is_pipe ? S_IFIFO : S_IFREG, 5); /* shorter than asked */
        source = open_input();
        for (int i = 0; i < 2; i++) {
            assert_int_equal(lap_source_peek(source, 16, &bytes, &got, NULL), LAP_OK);
            assert_int_equal(got, 5);
            assert_true(sim.reads == 2 && sim.resizes == 1);
        }
        lap_source_close(source);
    }
}

/* After a large header, the buffer shrinks to one piece. */
static void pieces_are_read_one_by_one(void **state)
{
    (void)state;
    static const size_t headers[] = {0, 16, PIECE, PIECE + 1, 150000};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const uint8_t *bytes;
        size_t size;
        lap_error err = {0};
        pretend(S_IFREG, BYTES);
        lap_source *source = open_input();
        if (headers[i]) {
            assert_int_equal(lap_source_peek(source, headers[i], &bytes, &size, NULL), LAP_OK);
            assert_int_equal(lap_source_next(source, &bytes, &size, NULL), LAP_OK);
            assert_int_equal(size, headers[i] + PIECE);
        }
        const int before = sim.reads, resizes = sim.resizes;
        assert_int_equal(lap_source_next(source, &bytes, &size, NULL), LAP_OK);
        assert_int_equal(sim.reads, before + 1);
        assert_int_equal(sim.asked[before], PIECE);
        assert_int_equal(sim.resizes, resizes + (headers[i] == 0 || headers[i] > PIECE));
        if (sim.resizes > resizes)
            assert_int_equal(sim.room[resizes], PIECE);
        while (size > 0)
            assert_int_equal(lap_source_next(source, &bytes, &size, NULL), LAP_OK);
        assert_int_equal(sim.resizes, resizes + (headers[i] == 0 || headers[i] > PIECE));
        const int all = sim.reads;
        assert_int_equal(lap_source_next(source, &bytes, &size, NULL), LAP_OK);
        assert_int_equal(size, 0);
        assert_int_equal(sim.reads, all); /* the end is already known */
        assert_int_equal(lap_source_peek(source, 1, &bytes, &size, &err), LAP_E_INTERNAL);
        assert_failed(&err, LAP_E_INTERNAL, "file", "peeked after reading began");
        lap_source_close(source);
    }
}

static void a_later_piece_cannot_be_read(void **state)
{
    (void)state;
    const uint8_t *bytes;
    size_t size;
    pretend(S_IFREG, BYTES);
    lap_source *source = open_input();
    sim.read_why[1] = EIO;
    assert_int_equal(lap_source_next(source, &bytes, &size, NULL), LAP_OK);
    assert_int_equal(lap_source_next(source, &bytes, &size, NULL), LAP_E_UNREADABLE);
    assert_null(bytes);
    assert_int_equal(size, 0);
    lap_source_close(source);
}

/* Looks at bytes anywhere in the input, without moving the reading position. */
static void bytes_are_looked_at(void **state)
{
    (void)state;
    static const struct {
        uint64_t at;
        size_t size;
        bool is_there;
    } cases[] = {{0, 5, true}, {0, 0, true}, {995, 5, true}, {996, 5, false}, {1000, 0, true},
        {1001, 0, false}, {1000, 1, false}, {0, 1000, true}, {0, 1001, false}, {1, 1000, false},
        {UINT64_MAX, 5, false}, {500, 100, true}, {UINT64_MAX - 4, 500, false}};
    for (size_t i = 0; i < 4 * sizeof cases / sizeof *cases; i++) {
        const size_t n = i / 4;
        const bool is_memory = i % 2, is_begun = i / 2 % 2;
        const uint8_t *bytes;
        uint8_t found[1001] = {0};
        size_t size;
        lap_source *source;
        pretend(S_IFREG, 1000);
        sim.most = 300;
        if (is_memory)
            assert_int_equal(lap_source_memory(content, 1000, NULL, &source, NULL), LAP_OK);
        else
            source = open_input();
        if (is_begun)
            assert_int_equal(lap_source_next(source, &bytes, &size, NULL), LAP_OK);
        sim.read_why[0] = sim.read_why[2] = EINTR;
        if (cases[n].size > 0 || is_memory) /* in a file, looking at 0 bytes always succeeds */
            assert_int_equal(lap_source_look(source, cases[n].at, found, cases[n].size), cases[n].is_there);
        if (cases[n].is_there)
            assert_memory_equal(found, content + cases[n].at, cases[n].size);
        lap_source_close(source);
    }
    uint8_t found[8];
    pretend(S_IFREG, 1000);
    lap_source *source = open_input();
    sim.read_why[0] = EIO;
    assert_false(lap_source_look(source, 0, found, 8));
    assert_false(lap_source_look(source, INT64_MAX - 8, found, 8)); /* the last position asked for */
    assert_true(sim.looks == 2 && sim.looked_at == INT64_MAX - 8);
    assert_false(lap_source_look(source, INT64_MAX - 7, found, 8));
    assert_int_equal(sim.looks, 2);
    lap_source_close(source);
    for (int is_pipe = 0; is_pipe < 2; is_pipe++) { /* a descriptor that the caller opened */
        pretend(is_pipe ? S_IFIFO : S_IFREG, 1000);
        assert_int_equal(lap_source_open("/dev/fd/77", &source, NULL), LAP_OK);
        assert_false(lap_source_look(source, 0, found, 8));
        assert_int_equal(sim.looks, 0);
        lap_source_close(source);
    }
}

/* An input is held up to a limit; it is whole only if its end was seen. */
static void an_input_is_held_up_to_a_limit(void **state)
{
    (void)state;
    for (int n = 0; n < 12; n++) {
        const bool is_pipe = n % 2;
        const size_t size = 1000, limit = n / 2 == 0   ? 0
                                          : n / 2 == 1 ? 999
                                          : n / 2 == 2 ? 1000
                                          : n / 2 == 3 ? 1001
                                          : n / 2 == 4 ? 500
                                                       : SIZE_MAX;
        const uint8_t *bytes;
        size_t got;
        bool whole, again;
        lap_error err = {0};
        pretend(is_pipe ? S_IFIFO : S_IFREG, size);
        sim.most = 250;
        lap_source *source = open_input();
        assert_int_equal(lap_source_hold(source, limit, &bytes, &got, &whole, NULL), LAP_OK);
        assert_int_equal(whole, limit >= size);
        if (!is_pipe && limit < size)
            assert_true(got == 0 && sim.reads == 0);
        if (is_pipe && limit < size)
            assert_int_equal(got, limit / 250 * 250 + 250);
        if (whole) {
            assert_int_equal(got, size);
            assert_memory_equal(bytes, content, size);
        }
        assert_int_equal(lap_source_bytes(source), is_pipe ? 0 : size);
        const int reads = sim.reads;
        size_t got_again;
        assert_int_equal(lap_source_hold(source, limit, &bytes, &got_again, &again, NULL), LAP_OK);
        assert_true(again == whole && got_again == got && sim.reads == reads);
        sim.most = 0;
        assert_int_equal(read_rest(source, 0), size);
        assert_int_equal(lap_source_bytes(source), size);
        assert_int_equal(lap_source_hold(source, limit, &bytes, &got, &whole, &err), LAP_E_INTERNAL);
        assert_failed(&err, LAP_E_INTERNAL, "",
            is_pipe ? "/dev/fd/77: held after reading began" : "file: held after reading began");
        lap_source_close(source);
    }
}

/* The buffer has room for the file and one byte more. If the size is unknown or the file has grown, it
 * has room for twice the bytes read so far. */
static void room_grows_while_an_input_is_held(void **state)
{
    (void)state;
    static const struct {
        mode_t kind;
        off_t st_size;
        size_t size, peeked, most;
        size_t rooms[4];
    } cases[] = {
        {S_IFREG, 1000, 1000, 0, 0, {1001}},
        {S_IFREG, 1000, 1000, 0, 10, {1001}},
        {S_IFREG, 200000, 200000, 0, 0, {200001}},
        {S_IFREG, 1000, 5000, 0, 0, {1001, 2 * PIECE}},
        {S_IFREG, PIECE - 1, 5 * PIECE / 2, 0, 0, {PIECE, 2 * PIECE, 4 * PIECE}},
        {S_IFREG, 0, 5000, 0, 0, {2 * PIECE}}, /* like a file in /proc */
        {S_IFREG, PIECE + 16, PIECE + 16, 16, 0, {PIECE + 16, PIECE + 17}},
        {S_IFREG, PIECE + 15, PIECE + 17, 16, 0, {PIECE + 16, 2 * PIECE + 32}},
        {S_IFIFO, 0, 5000, 0, 0, {2 * PIECE}},
        {S_IFIFO, 0, 2 * PIECE, 0, 0, {2 * PIECE, 4 * PIECE}},
        {S_IFIFO, 0, 2 * PIECE - 1, 0, 0, {2 * PIECE}},
        {S_IFIFO, 0, 250000, 0, 9999, {2 * PIECE, 4 * PIECE}},
        {S_IFIFO, 7, 5000, 0, 0, {2 * PIECE}}, /* the st_size of a pipe means nothing */
        {S_IFIFO, 0, 250000, 100, 0, {PIECE + 100, 2 * PIECE + 200, 4 * PIECE + 400}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint8_t *bytes;
        size_t got;
        bool whole;
        pretend(cases[i].kind, cases[i].size);
        sim.st.st_size = cases[i].st_size;
        sim.most = cases[i].most;
        lap_source *source = open_input();
        if (cases[i].peeked)
            assert_int_equal(lap_source_peek(source, cases[i].peeked, &bytes, &got, NULL), LAP_OK);
        assert_int_equal(lap_source_hold(source, BYTES, &bytes, &got, &whole, NULL), LAP_OK);
        assert_true(whole);
        assert_int_equal(got, cases[i].size);
        assert_memory_equal(bytes, content, got);
        int rooms = 0;
        while (rooms < 4 && cases[i].rooms[rooms])
            rooms++;
        assert_int_equal(sim.resizes, rooms);
        for (int k = 0; k < rooms; k++)
            assert_int_equal(sim.room[k], cases[i].rooms[k]);
        lap_source_close(source);
    }
}

/* For all sizes of pieces, the pair is found at its first place from `from` on, and reading stops. */
static void a_pair_ends_what_is_held(void **state)
{
    (void)state;
    static const uint8_t pair[] = {0xFF, 0xD9};
    enum { LENGTH = 12 };
    uint8_t kept[LENGTH];
    memcpy(kept, content, LENGTH);
    for (unsigned n = 0; n < 3 * LENGTH * LENGTH; n++) {
        const size_t place = n % LENGTH, from = n / LENGTH % LENGTH, most = n / LENGTH / LENGTH + 1;
        const uint8_t *bytes;
        size_t got;
        bool whole;
        memset(content, 0xFF, LENGTH); /* its first byte everywhere */
        content[place] = 0xFF;
        if (place + 1 < LENGTH)
            content[place + 1] = 0xD9;
        const bool is_found = place + 1 < LENGTH && place >= from;
        pretend(S_IFIFO, LENGTH);
        sim.most = most;
        lap_source *source = open_input();
        lap_source_hold_until(source, from, pair);
        assert_int_equal(lap_source_hold(source, 1000, &bytes, &got, &whole, NULL), LAP_OK);
        assert_true(whole);
        const size_t needed = (place + 2 + most - 1) / most * most; /* rounded up to whole pieces */
        assert_int_equal(got, is_found && needed < LENGTH ? needed : LENGTH);
        if (is_found)
            assert_int_equal(sim.at, got);
        lap_source_close(source);
    }
    memset(content, 0xFF, LENGTH);
    content[3] = 0xD9;
    const uint8_t *bytes;
    size_t got;
    bool whole;
    pretend(S_IFREG, LENGTH); /* a file is read whole */
    sim.most = 1;
    lap_source *source = open_input();
    lap_source_hold_until(source, 0, pair);
    assert_int_equal(lap_source_hold(source, 1000, &bytes, &got, &whole, NULL), LAP_OK);
    assert_int_equal(got, LENGTH);
    lap_source_close(source);
    pretend(S_IFIFO, LENGTH); /* the pair ends after the limit */
    sim.most = 4;
    source = open_input();
    lap_source_hold_until(source, 0, pair);
    assert_int_equal(lap_source_hold(source, 3, &bytes, &got, &whole, NULL), LAP_OK);
    assert_true(got == 4 && !whole);
    lap_source_close(source);
    memcpy(content, kept, LENGTH);
}

/* The caller's memory can be filled only if nothing has been read before. */
static void memory_is_filled_once(void **state)
{
    (void)state;
    uint8_t memory[1002];
    for (int n = 0; n < 5; n++) {
        const uint8_t *bytes;
        size_t size = 7;
        bool whole = true;
        lap_error err = {0};
        lap_source *source = NULL;
        pretend(S_IFREG, n == 0 || n == 2 ? 0 : 1000); /* an empty input leaves nothing in the buffer */
        if (n == 3)
            assert_int_equal(lap_source_memory(content, 1000, "given", &source, NULL), LAP_OK);
        else
            source = open_input();
        if (n == 0)
            assert_int_equal(lap_source_next(source, &bytes, &size, NULL), LAP_OK);
        if (n == 1)
            assert_int_equal(lap_source_peek(source, 1, &bytes, &size, NULL), LAP_OK);
        if (n == 2)
            assert_int_equal(lap_source_hold(source, 2000, &bytes, &size, &whole, NULL), LAP_OK);
        const lap_code code = lap_source_hold_in(source, memory, 1001, &size, &whole, &err);
        assert_int_equal(code, n == 4 ? LAP_OK : LAP_E_INTERNAL);
        assert_int_equal(size, n == 4 ? 1000 : 0);
        assert_int_equal(whole, n == 4);
        if (n < 4)
            assert_string_equal(
                err.message, n == 3 ? "given: held after reading began" : "file: held after reading began");
        lap_source_close(source);
    }
    for (size_t room = 999; room < 1003; room++) { /* reads never more than the room */
        size_t size;
        bool whole;
        memset(memory, 0xA5, sizeof memory);
        pretend(S_IFREG, 1000);
        lap_source *source = open_input();
        assert_int_equal(lap_source_hold_in(source, memory, room, &size, &whole, NULL), LAP_OK);
        assert_int_equal(size, room < 1000 ? room : 1000);
        assert_int_equal(whole, room > 1000);
        assert_int_equal(sim.asked[0], room);
        assert_int_equal(memory[size], 0xA5);
        lap_source_held_is_read(source);
        const uint8_t *bytes;
        assert_int_equal(lap_source_peek(source, 1, &bytes, &size, NULL), LAP_E_INTERNAL);
        lap_source_close(source);
    }
}

static void what_is_held_counts_as_read(void **state)
{
    (void)state;
    const uint8_t *bytes;
    size_t size;
    bool whole;
    pretend(S_IFIFO, 1000);
    lap_source *source = open_input();
    assert_int_equal(lap_source_hold(source, 2000, &bytes, &size, &whole, NULL), LAP_OK);
    assert_int_equal(lap_source_bytes(source), 0);
    for (int i = 0; i < 2; i++) { /* the second call adds nothing */
        lap_source_held_is_read(source);
        assert_int_equal(lap_source_bytes(source), 1000);
    }
    lap_source_close(source);
}

/* ---- the state of an input ---- */

static void an_input_is_verified(void **state)
{
    (void)state;
    static const char changed[] = "changed while it was read",
                      another[] = "changed: another file has this name now";
    static const struct {
        mode_t kind;
        int fstat_why, stat_why;
        bool grows, is_renamed, by_path;
        lap_code code;
        const char *message;
    } cases[] = {
        {S_IFREG, 0, 0, false, false, false, LAP_OK, ""},
        {S_IFREG, 0, 0, false, false, true, LAP_OK, ""},
        {S_IFREG, 0, ENOENT, false, true, false, LAP_OK, ""},
        {S_IFREG, 0, ENOENT, false, false, true, LAP_E_CHANGED, another},
        {S_IFREG, 0, 0, false, true, true, LAP_E_CHANGED, another},
        {S_IFREG, 0, 0, true, false, false, LAP_E_CHANGED, changed},
        {S_IFREG, 0, 0, true, false, true, LAP_E_CHANGED, changed},
        {S_IFREG, EIO, 0, false, false, false, LAP_E_UNREADABLE,
            "cannot be examined again: Input/output error"},
        {S_IFIFO, EIO, ENOENT, true, true, true, LAP_OK, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_error err = {0};
        pretend(cases[i].kind, 100);
        lap_source *source = open_input();
        sim.fstat_why = cases[i].fstat_why;
        sim.stat_why = cases[i].stat_why;
        sim.st.st_size += cases[i].grows;
        sim.named.st_ino += cases[i].is_renamed;
        assert_int_equal(
            lap_source_verify(source, cases[i].by_path ? "the path" : NULL, &err), cases[i].code);
        if (cases[i].code != LAP_OK)
            assert_failed(&err, cases[i].code, "file", cases[i].message);
        lap_source_close(source);
    }
}

/* If the file has changed, this is reported instead of success, truncation or damage, but other failures
 * are kept. */
static void a_result_is_that_of_the_file(void **state)
{
    (void)state;
    for (int code = LAP_OK; code <= LAP_E_INTERNAL; code++)
        for (int n = 0; n < 4; n++) {
            const bool grows = n % 2, is_renamed = n / 2;
            const bool counts = code == LAP_OK || code == LAP_E_TRUNCATED || code == LAP_E_DAMAGED;
            const bool blames = counts && (grows || is_renamed);
            lap_error err = {.code = (lap_code)code, .message = "as found"};
            pretend(S_IFREG, 100);
            lap_source *source = open_input();
            sim.st.st_size += grows;
            sim.named.st_ino += is_renamed;
            assert_int_equal(
                lap_source_result(source, "the path", (lap_code)code, &err), blames ? LAP_E_CHANGED : code);
            assert_string_equal(err.message, !blames ? "as found"
                                             : grows ? "changed while it was read"
                                                     : "changed: another file has this name now");
            assert_int_equal(err.code, blames ? LAP_E_CHANGED : code);
            lap_source_close(source);
        }
}

/* Verifies a file by name after it was closed. If it is gone or another file has its name, it counts as
 * unchanged. */
static void a_file_that_was_read_is_verified(void **state)
{
    (void)state;
    for (int n = 0; n < 16; n++) {
        const bool is_gone = n & 1, other_device = n & 2, other_file = n & 4, grows = n & 8;
        lap_error err = {0};
        pretend(S_IFREG, 100);
        const struct stat read = sim.st;
        sim.stat_why = is_gone ? ENOENT : 0;
        sim.named.st_dev += other_device;
        sim.named.st_ino += other_file;
        sim.named.st_size += grows;
        const bool has_changed = !is_gone && !other_device && !other_file && grows;
        assert_int_equal(
            lap_source_verify_read("the path", &read, &err), has_changed ? LAP_E_CHANGED : LAP_OK);
        assert_string_equal(sim.path, "the path");
        if (has_changed)
            assert_failed(&err, LAP_E_CHANGED, "the path", "changed after it was read");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_peeked_and_read),
        cmocka_unit_test(memory_is_peeked_and_read),
        cmocka_unit_test(pieces_in_memory_are_those_of_a_file),
        cmocka_unit_test(a_short_input_says_so),
        cmocka_unit_test(a_pipe_by_descriptor),
        cmocka_unit_test(an_input_is_held_in_memory_given),
        cmocka_unit_test(a_pipe_is_held_until_a_pair),
        cmocka_unit_test(a_silent_pipe_obeys_the_deadline),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(names_are_fit_for_messages),
        cmocka_unit_test_teardown(names_of_descriptors, leave_pretence),
        cmocka_unit_test_teardown(a_path_is_opened, leave_pretence),
        cmocka_unit_test_teardown(what_may_be_read, leave_pretence),
        cmocka_unit_test_teardown(memory_runs_out, leave_pretence),
        cmocka_unit_test_teardown(descriptor_0_is_one_like_others, leave_pretence),
        cmocka_unit_test_teardown(reads_are_repeated_or_fail, leave_pretence),
        cmocka_unit_test_teardown(a_pipe_is_waited_for, leave_pretence),
        cmocka_unit_test_teardown(peeking_reads_no_more_than_needed, leave_pretence),
        cmocka_unit_test_teardown(pieces_are_read_one_by_one, leave_pretence),
        cmocka_unit_test_teardown(a_later_piece_cannot_be_read, leave_pretence),
        cmocka_unit_test_teardown(bytes_are_looked_at, leave_pretence),
        cmocka_unit_test_teardown(an_input_is_held_up_to_a_limit, leave_pretence),
        cmocka_unit_test_teardown(room_grows_while_an_input_is_held, leave_pretence),
        cmocka_unit_test_teardown(a_pair_ends_what_is_held, leave_pretence),
        cmocka_unit_test_teardown(memory_is_filled_once, leave_pretence),
        cmocka_unit_test_teardown(what_is_held_counts_as_read, leave_pretence),
        cmocka_unit_test_teardown(an_input_is_verified, leave_pretence),
        cmocka_unit_test_teardown(a_result_is_that_of_the_file, leave_pretence),
        cmocka_unit_test_teardown(a_file_that_was_read_is_verified, leave_pretence),
    };
    signal(SIGPIPE, SIG_IGN); /* a pipe that is not read from here */
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
