/* Captures what a function prints on standard output and standard error. */
#ifndef SAID_H
#define SAID_H

#include "tests/support/scratch.h"

#include <unistd.h>

static struct {
    int file[2], own[2]; /* files that receive the output; the test's own streams */
    char text[2][1 << 16];
    bool is_kept;
} said_;

/* Call both in the set-up and tear-down of the group, where the scratch folder exists. */
static inline bool said_open(void)
{
    for (int i = 0; i < 2; i++) {
        said_.own[i] = fcntl(1 + i, F_DUPFD_CLOEXEC, 10);
        said_.file[i] = open(at(i ? "said.err" : "said.out"), O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
        if (said_.own[i] < 0 || said_.file[i] < 0)
            return false;
    }
    return true;
}

static inline int said_close(void)
{
    int failed = 0;
    for (int i = 0; i < 2; i++)
        failed |= close(said_.own[i]) | close(said_.file[i]);
    return failed;
}

/* Captures output from now on. */
static inline void said_listen(void)
{
    said_.is_kept = true;
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ftruncate(said_.file[i], 0), 0);
        assert_int_equal(dup2(said_.file[i], 1 + i), 1 + i);
    }
}

/* Stops capturing; said_out and said_err then return the output. */
static inline void said_end(void)
{
    said_.is_kept = false;
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(dup2(said_.own[i], 1 + i), 1 + i);
        const ssize_t size = pread(said_.file[i], said_.text[i], sizeof said_.text[i] - 1, 0);
        assert_true(size >= 0);
        said_.text[i][size] = '\0';
    }
}

static inline const char *said_out(void)
{
    return said_.text[0];
}

static inline const char *said_err(void)
{
    return said_.text[1];
}

/* The tear-down of each test: if the test failed while capturing, prints the captured output. */
static inline int said_restore(void **state)
{
    (void)state;
    if (!said_.is_kept)
        return 0;
    said_end();
    fprintf(stderr, "it had printed: %s%s", said_out(), said_err());
    return 0;
}

/* Fails at the first byte that differs, and shows what is around it. */
static inline void assert_same_text(const char *got, const char *want, const char *file, int line)
{
    size_t same = 0;
    while (got[same] && got[same] == want[same])
        same++;
    if (got[same] == want[same])
        return;
    const size_t from = same > 60 ? same - 60 : 0;
    fprintf(stderr, "%s:%d: at %zu: got\n%.300s\nnot\n%.300s\n", file, line, same, got + from, want + from);
    _fail(file, line);
}
#define assert_text(got, want) assert_same_text(got, want, __FILE__, __LINE__)

/* Runs the call, and compares what it prints on standard output and on standard error. */
#define assert_says(call, out, err)   \
    do {                              \
        said_listen();                \
        call;                         \
        said_end();                   \
        assert_text(said_out(), out); \
        assert_text(said_err(), err); \
    } while (0)

#endif
