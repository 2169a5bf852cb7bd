/* Writes an output completely or not at all.
 *
 * Writes a path through a temporary file in the target's folder (sink_temp.h; O_EXCL, O_NOFOLLOW, mode 0600):
 * it is written, synced and closed, and only lap_sink_publish renames it. A target that is a symbolic link is
 * resolved first. A target that exists and is not a regular file (device, FIFO) is written directly, and so
 * are /dev/stdout and /dev/fd/N. Below a tree (target.h) no link is followed.
 *
 * Gathers small writes. A new file has the mode that the umask gives when it is finished. The program handles
 * signals: if it ignores SIGPIPE and SIGXFSZ, a closed pipe and a file size limit are reported as errors. */
#ifndef LAP_SINK_H
#define LAP_SINK_H

#include <sys/stat.h>

#include "base/control.h"
#include "io/target.h"

typedef struct lap_sink lap_sink;

/* path "-": standard output, written without a temporary file. control limits how long opening and writing a
 * pipe or terminal wait for its reader: LAP_E_TIMEOUT, or LAP_E_CANCELLED. It must live until the sink is
 * finished or closed; NULL: they wait without a limit. */
lap_code lap_sink_open(const char *path, const lap_control *control, lap_sink **sink, lap_error *err);
/* Opens a FIFO to write, without blocking, and waits for its reader until control ends the wait.
 * LAP_E_TIMEOUT, LAP_E_CANCELLED. */
lap_code lap_sink_open_fifo(const char *path, const lap_control *control, int *fd, lap_error *err);
/* The tree must outlive the sink. LAP_E_EXISTS: a symbolic link is in the way. */
lap_code lap_sink_open_below(const lap_tree *tree, const char *relative, lap_sink **sink, lap_error *err);
lap_code lap_sink_memory(lap_sink **sink, lap_error *err);

/* Makes room for size more bytes in a memory sink: exactly that many if it is empty. LAP_E_MEMORY. Does
 * nothing for other sinks. */
lap_code lap_sink_reserve(lap_sink *sink, size_t size, lap_error *err);
/* Appends; LAP_E_DISK_FULL (ENOSPC, EDQUOT), LAP_E_WRITE, LAP_E_MEMORY. */
lap_code lap_sink_write(lap_sink *sink, const void *bytes, size_t size, lap_error *err);
/* Finishing gives the output the owner and the group of this file, as if the output replaced it. Without this
 * call, finishing uses the file at the output's name. */
void lap_sink_inherit(lap_sink *sink, const struct stat *replaced);
typedef struct lap_like { /* an open file whose attributes the output gets */
    int fd;
    const struct stat *stat;
} lap_like;
/* Call it after the last byte. Syncs if requested; keeps the owner and the group of the replaced file if
 * permitted; sets mode, access control list and times to those of like (NULL: mode and list of the replaced
 * file, or the mode by the umask); closes. The final name is not touched yet. */
lap_code lap_sink_finish(lap_sink *sink, bool sync, const lap_like *like, lap_error *err);
/* Sets what publishing may replace: no file (NULL), or this file if it is unchanged. Without this call,
 * publishing replaces any regular file. */
void lap_sink_expect(lap_sink *sink, const struct stat *there);
/* Renames to the final name (and syncs the folder if sync was requested). LAP_E_EXISTS if the name belongs to
 * a file that was not expected; the caller may then set a new expectation and publish again. */
lap_code lap_sink_publish(lap_sink *sink, lap_error *err);
/* Frees the sink; removes the temporary file unless published. NULL is fine. */
void lap_sink_close(lap_sink *sink);
/* After finishing a memory sink: gives its malloc'ed bytes to the caller. */
void lap_sink_take(lap_sink *sink, void **bytes, size_t *size);

/* After finishing: a sentence about attributes of the replaced file that could not be kept; empty: all were
 * kept. */
const char *lap_sink_lost(const lap_sink *sink);
const lap_target *lap_sink_target(const lap_sink *sink);
/* After finishing a sink below a tree: the stat of the file that will get the name, and the XXH3 of its
 * content. */
const struct stat *lap_sink_made(const lap_sink *sink, uint64_t *content);
uint64_t lap_sink_bytes(const lap_sink *sink);
double lap_sink_ms(const lap_sink *sink);         /* spent opening, writing and finishing */
double lap_sink_opening_ms(const lap_sink *sink); /* spent opening */
/* Sets *there to the stat of the file at an output's path; all zero if it is missing. LAP_E_WRITE: a folder.
 */
lap_code lap_sink_look(const char *path, struct stat *there, lap_error *err);
/* Reports what lap_sink_open would refuse, without creating anything. */
lap_code lap_sink_check(const char *path, lap_error *err);
/* LAP_E_CLASH if out and in are the same file, also through links; "-" clashes only if its descriptor is
 * that regular file. Else LAP_OK. */
lap_code lap_sink_differs(const char *in, const char *out, lap_error *err);
/* Returns the error of an existing output that no_clobber keeps: LAP_E_EXISTS. */
lap_code lap_sink_exists(const char *out, lap_error *err);
/* Removes temporary files in a folder if the process that made them is gone. It judges files of this host by
 * process number and start time; files of other hosts (in shared folders) are removed if they were not
 * modified for a day. Returns how many it removed; files that it cannot remove stay. */
int lap_sink_sweep(const char *folder);
/* Returns the folder of temporary files for this output, malloc'ed; NULL if the output is written
 * directly. */
char *lap_sink_folder(const char *path);

#endif
