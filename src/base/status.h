/* Error helpers for all files. Thread safe: they touch only their arguments. */
#ifndef LAP_STATUS_H
#define LAP_STATUS_H

#include "lapedge_program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills err (which may be NULL) and returns code: `return lap_fail(err, LAP_E_MEMORY, "...", ...)`. The
 * message names no file: use lap_fail_at for that, or let a caller that knows the file add it with
 * lap_error_about. */
lap_code lap_fail(lap_error *err, lap_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same; subject is the file or folder. */
lap_code lap_fail_at(lap_error *err, lap_code code, const char *subject, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* If code is not LAP_OK and err has no subject yet, sets its subject. Returns code. */
lap_code lap_error_about(lap_error *err, lap_code code, const char *subject);
/* Fails with LAP_E_MISSING. The message says what is missing: a folder if path ends in a slash, the target if
 * path is a link, else a file. */
lap_code lap_fail_missing(lap_error *err, const char *path);
/* Sets the remedy of an error. Returns code. */
lap_code lap_error_remedy(lap_error *err, lap_code code, lap_remedy remedy);
/* Copies *why to err (which may be NULL) and returns its code. */
lap_code lap_error_set(lap_error *err, const lap_error *why);
/* Escapes a path for one line: bytes that are not UTF-8, and characters that are not lap_utf8_is_shown,
 * become \x1b and the like. If the path is too long, keeps its end, after "...". */
void lap_shown_path(char *shown, size_t size, const char *path);

/* LAP_E_LIMIT: "<what> 2.71 MB of memory, more than the limit of 2.68 MB". bytes > limit; the numbers get
 * enough decimals to show the difference, and the first one is rounded up, so that it suffices as a limit. */
lap_code lap_fail_over_limit(
    lap_error *err, const char *what, uint64_t bytes, uint64_t limit, lap_remedy remedy);
enum { LAP_MILLIONS = 24 };
/* Writes n / 1000000, rounded to that many decimals. At most 6, which is exact. */
void lap_millions(uint64_t n, int decimals, char text[LAP_MILLIONS]);

/* Ends every run: writes the outcome to report and err (either may be NULL). why is filled if code is not
 * LAP_OK. in: the input file, which becomes the error's subject if it has none; or NULL. start: lap_now_ms at
 * the start of the run. Returns code. */
lap_code lap_report_conclude(
    lap_code code, lap_error *why, const char *in, double start, lap_report *report, lap_error *err);

/* *product = a * b; false, and *product untouched, if it overflows. */
static inline bool lap_mul(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* *sum = a + b; false, and *sum untouched, if it overflows. */
static inline bool lap_add(size_t a, size_t b, size_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

/* Returns the milliseconds of a monotonic clock. */
double lap_now_ms(void);

#ifdef __cplusplus
}
#endif
#endif
