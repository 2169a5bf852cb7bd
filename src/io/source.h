/* Where compressed bytes come from: a regular file, a descriptor that cannot seek, or memory.
 * Reading is plain read(2), never mmap (a file that shrinks must not end in SIGBUS); EINTR and short
 * reads are dealt with here. */
#ifndef LAP_SOURCE_H
#define LAP_SOURCE_H

#include <sys/stat.h>

#include "base/control.h"

typedef struct lap_source lap_source;

/* path "-": standard input. Else O_NONBLOCK|O_CLOEXEC and a regular file is required (a FIFO, device
 * or folder named as input is LAP_E_UNREADABLE, never a hang); /dev/stdin and /dev/fd/N count as
 * given on purpose. LAP_E_MISSING, LAP_E_UNREADABLE. */
lap_code lap_source_open(const char *path, lap_source **source, lap_error *err);
lap_code lap_source_memory(
    const void *data, size_t size, const char *name, lap_source **source, lap_error *err);
void lap_source_close(lap_source *source); /* NULL is fine */
/* From now on waiting for a pipe or terminal ends with LAP_E_CANCELLED or LAP_E_TIMEOUT; control (or
 * NULL) must outlive the source. lap_decoder_open does this with its own control. */
void lap_source_watch(lap_source *source, const lap_control *control);

/* The first bytes, as many as there are up to want; valid until the next call of peek or next, and
 * given again by both. *got < want means the input ends there. */
lap_code lap_source_peek(lap_source *source, size_t want, const uint8_t **bytes, size_t *got, lap_error *err);
/* The next piece (the peeked bytes come first); *size 0 at the end of input. Valid until the next
 * call. */
lap_code lap_source_next(lap_source *source, const uint8_t **bytes, size_t *size, lap_error *err);

/* The largest file that is worked on in memory; larger ones are worked on as they are read. */
#define LAP_SOURCE_MOST ((size_t)1 << 30)
/* Reads on to the end of the input, or until more than `limit` bytes are there; *whole says which. A
 * regular file larger than that is left alone. They stay at *bytes as long as the source is open; next gives
 * them out as if this had not been called. Before the first call of next; again is fine. */
lap_code lap_source_hold(
    lap_source *source, size_t limit, const uint8_t **bytes, size_t *size, bool *whole, lap_error *err);
/* Before hold: a pipe or terminal is read only until these two bytes are there, at `from` or behind it, and
 * counts as whole then; nobody waits for what may come behind a picture. next goes on behind what is held. */
void lap_source_hold_until(lap_source *source, size_t from, const uint8_t pair[2]);
/* hold, into the caller's memory, which is used as long as the source is open; of a file or descriptor
 * that nothing was asked of yet. More than room - 1 bytes: *whole is false, and the source is only good for
 * closing. */
lap_code lap_source_hold_in(
    lap_source *source, uint8_t *memory, size_t room, size_t *size, bool *whole, lap_error *err);
/* What is held and was not given out counts as read. */
void lap_source_held_is_read(lap_source *source);

/* For messages: lap_shown_path of the path. */
const char *lap_source_name(const lap_source *source);
const struct stat *lap_source_stat(const lap_source *source); /* when it was opened; NULL unless a file */
/* Whether the file is still the one that was opened, by device, inode, size and time of change;
 * LAP_E_CHANGED. Pipes and memory cannot change behind the reader's back: LAP_OK. path (or NULL): its name
 * must still lead to that file too, as is needed where it is about to be replaced. */
lap_code lap_source_verify(const lap_source *source, const char *path, lap_error *err);
/* The same some time after the source was closed, by name: whether the file at path is the one that was read
 * (LAP_OK where it is another one, or none: what was read was whole) and has been written to since. */
lap_code lap_source_verify_read(const char *path, const struct stat *read, lap_error *err);
/* What came of reading it, code, after a last look: LAP_E_CHANGED where data that was fine, or ended early,
 * or was damaged, is that of a file that somebody wrote to meanwhile. err is filled for code, unless that is
 * LAP_OK. */
lap_code lap_source_result(const lap_source *source, const char *path, lap_code code, lap_error *err);
uint64_t lap_source_bytes(const lap_source *source); /* of a file its size, else what was read so far */
double lap_source_ms(const lap_source *source);      /* spent reading */

#endif
