/* Where compressed bytes come from: a regular file, a descriptor that cannot seek, or memory. Reads with
 * read(2), never mmap (a file that shrinks must not cause SIGBUS); handles EINTR and short reads. */
#ifndef LAP_SOURCE_H
#define LAP_SOURCE_H

#include <sys/stat.h>

#include "base/control.h"

typedef struct lap_source lap_source;

/* path "-": standard input. Other paths are opened with O_NONBLOCK|O_CLOEXEC and must be regular files: a
 * FIFO, device or folder fails with LAP_E_UNREADABLE, and never blocks. /dev/stdin and /dev/fd/N may also be
 * pipes or devices. LAP_E_MISSING, LAP_E_UNREADABLE. */
lap_code lap_source_open(const char *path, lap_source **source, lap_error *err);
lap_code lap_source_memory(
    const void *data, size_t size, const char *name, lap_source **source, lap_error *err);
void lap_source_close(lap_source *source); /* NULL is fine */
/* From now on control can end a wait for a pipe or terminal: LAP_E_CANCELLED or LAP_E_TIMEOUT. control (or
 * NULL) must outlive the source. lap_decoder_open calls this with the control of its options. */
void lap_source_watch(lap_source *source, const lap_control *control);

/* Returns the first bytes, up to want, without consuming them; valid until the next call of peek or next.
 * *got < want means that the input ends there. */
lap_code lap_source_peek(lap_source *source, size_t want, const uint8_t **bytes, size_t *got, lap_error *err);
/* Returns the next piece, beginning with peeked bytes; *size 0 at the end of input. Valid until the next
 * call. */
lap_code lap_source_next(lap_source *source, const uint8_t **bytes, size_t *size, lap_error *err);

/* The largest file that is held in memory; larger files are decoded while they are read. */
#define LAP_SOURCE_MOST ((size_t)1 << 30)
/* Reads to the end of the input (*whole is true then), or until it has read more than `limit` bytes. Does not
 * read a regular file that is larger than that. *bytes stays valid while the source is open; next returns the
 * bytes as if this had not been called. Call it before the first next; calling it again is fine. */
lap_code lap_source_hold(
    lap_source *source, size_t limit, const uint8_t **bytes, size_t *size, bool *whole, lap_error *err);
/* Call it before hold: from a pipe or terminal, hold then reads only until these two bytes appear at `from`
 * or later, and counts the file as complete, so that it does not wait for data after the picture. next
 * continues after the held bytes. */
void lap_source_hold_until(lap_source *source, size_t from, const uint8_t pair[2]);
/* Like lap_source_hold, but into the caller's memory, which is used while the source is open; only for a file
 * or descriptor from which nothing was read yet. If the input has more than room - 1 bytes, *whole is false,
 * and the source can only be closed. */
lap_code lap_source_hold_in(
    lap_source *source, uint8_t *memory, size_t room, size_t *size, bool *whole, lap_error *err);
/* Counts all held bytes as read. */
void lap_source_held_is_read(lap_source *source);

/* Copies bytes at this offset of a file that was opened by its name, or of memory, and leaves the source
 * where it is. False if they are not all there, or the source cannot seek. */
bool lap_source_look(const lap_source *source, uint64_t offset, void *bytes, size_t size);

/* Waits until a descriptor has something to read, or has ended. LAP_E_CANCELLED, LAP_E_TIMEOUT,
 * LAP_E_UNREADABLE. */
lap_code lap_await_readable(int fd, const lap_control *control, lap_error *err);

/* The path for messages, by lap_shown_path. */
const char *lap_source_name(const lap_source *source);
const struct stat *lap_source_stat(const lap_source *source); /* when it was opened; NULL for memory */
int lap_source_fd(const lap_source *source);                  /* -1 for memory */
/* LAP_E_CHANGED unless the file is still the one that was opened, by device, inode, size and time of change.
 * Pipes and memory: LAP_OK. path (or NULL): this name must still lead to that file too; needed before the
 * file is replaced. */
lap_code lap_source_verify(const lap_source *source, const char *path, lap_error *err);
/* The same by name, after the source was closed: LAP_E_CHANGED if path still leads to the file that was read
 * and that file was written to since. LAP_OK if path leads to a different file, or no file has this name:
 * then the bytes read are complete. */
lap_code lap_source_verify_read(const char *path, const struct stat *read, lap_error *err);
/* Checks the source once more after reading gave `code`: LAP_E_CHANGED instead of success, truncation or
 * damage if the file was written to while it was read. err must be filled for code, unless that is LAP_OK. */
lap_code lap_source_result(const lap_source *source, const char *path, lap_code code, lap_error *err);
uint64_t lap_source_bytes(const lap_source *source); /* a file's size, else the bytes read so far */
double lap_source_ms(const lap_source *source);      /* spent reading */

#endif
