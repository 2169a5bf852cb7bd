#include <errno.h>
#include <fcntl.h>
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
    static const size_t headers[] = {16, 640, 70000, 150000};
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
    };
    signal(SIGPIPE, SIG_IGN); /* a pipe that is not read from here */
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
