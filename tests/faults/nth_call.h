/* What the parts of the preloaded library of failing calls know of each other. */
#ifndef NTH_CALL_H
#define NTH_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { NTH_CALL_SHORT = -1 };

/* Counts the call. 0: it is to be made; an errno: it is to fail with it; NTH_CALL_SHORT: half of it is to be
 * done. */
int nth_call_fails(const char *call);

/* True where LAP_RECORD names a file: calls that change the disk are then made one at a time. */
bool record_begin(void);

/* One line of the record, then record_begin's lock is given back: the call's name, its result, and what it
 * was about. A negative result is recorded as a call that did nothing. */
void record_path(const char *call, long result, int folder, const char *path);
void record_two(const char *call, long result, int from, const char *old, int to, const char *new);
void record_fd(const char *call, long result, int fd, off_t size);
/* Of the bytes, those that were written, at `at`; they go to LAP_RECORD.data. */
void record_write(long result, int fd, const void *bytes, off_t at);
/* Where the next write of fd goes. */
off_t record_position(int fd);

#endif
