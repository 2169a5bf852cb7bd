/* Where output bytes go; complete or absent.
 *
 * To a path: a temporary file in the target's folder (sink_temp.h; O_EXCL, O_NOFOLLOW, mode 0600), written,
 * synced, closed, and renamed only by lap_sink_publish. A target that is a symbolic link is resolved
 * first; one that exists and is no regular file (device, FIFO) is written directly, and so are
 * /dev/stdout and /dev/fd/N. Below a tree (target.h) no link is followed.
 *
 * Small writes are gathered. The umask is read once a process. Signals are the program's business: with
 * SIGPIPE and SIGXFSZ ignored, a reader that went away and a file size limit come back as errors. */
#ifndef LAP_SINK_H
#define LAP_SINK_H

#include <sys/stat.h>

#include "base/control.h"
#include "io/target.h"

typedef struct lap_sink lap_sink;

/* path "-": standard output, written as it comes. */
lap_code lap_sink_open(const char *path, lap_sink **sink, lap_error *err);
/* The tree must outlive the sink. LAP_E_EXISTS: a symbolic link is in the way. */
lap_code lap_sink_open_below(const lap_tree *tree, const char *relative, lap_sink **sink, lap_error *err);
lap_code lap_sink_memory(lap_sink **sink, lap_error *err);

/* From now on a reader that takes nothing, of a pipe or terminal, is not waited for longer than until
 * control's deadline: LAP_E_TIMEOUT, or LAP_E_CANCELLED. control (or NULL) must outlive the writing. */
void lap_sink_watch(lap_sink *sink, const lap_control *control);
/* Appends; LAP_E_DISK_FULL (ENOSPC, EDQUOT, EFBIG), LAP_E_WRITE, LAP_E_MEMORY. */
lap_code lap_sink_write(lap_sink *sink, const void *bytes, size_t size, lap_error *err);
/* All bytes are there: optional fsync, mode and times of like (or NULL; mode from the umask, or that
 * of the file replaced), close. Nothing shows under the final name yet. */
lap_code lap_sink_finish(lap_sink *sink, bool sync, const struct stat *like, lap_error *err);
/* What may stand under the name when the sink is published: nothing (NULL), or this file, unchanged. Without
 * this call any regular file is replaced. */
void lap_sink_expect(lap_sink *sink, const struct stat *there);
/* Rename to the final name (and sync the folder if sync was asked). LAP_E_EXISTS where something else stands
 * there than was expected; the sink may then be given another expectation and be published again. */
lap_code lap_sink_publish(lap_sink *sink, lap_error *err);
/* Frees; removes the temporary file unless published. NULL is fine. */
void lap_sink_close(lap_sink *sink);
/* Of a memory sink after finish: hands the malloc'ed bytes over. */
void lap_sink_take(lap_sink *sink, void **bytes, size_t *size);

const lap_target *lap_sink_target(const lap_sink *sink);
/* Of a finished sink below a tree: the file that will get the name, and the XXH3 of its content. */
const struct stat *lap_sink_made(const lap_sink *sink, uint64_t *content);
uint64_t lap_sink_bytes(const lap_sink *sink);
double lap_sink_ms(const lap_sink *sink);         /* spent opening, writing and finishing */
double lap_sink_opening_ms(const lap_sink *sink); /* the first of these */
/* *there: what stands under the path of an output, all zero if nothing does. LAP_E_WRITE: a folder. */
lap_code lap_sink_look(const char *path, struct stat *there, lap_error *err);
/* What lap_sink_open would refuse, without making anything. */
lap_code lap_sink_check(const char *path, lap_error *err);
/* LAP_OK; LAP_E_CLASH where out is the same file as in, through links too, and where "-" is a descriptor of
 * that regular file. */
lap_code lap_sink_differs(const char *in, const char *out, lap_error *err);
/* The error of an output that no_clobber keeps: LAP_E_EXISTS. */
lap_code lap_sink_exists(const char *out, lap_error *err);
/* Removes the temporary files in a folder whose process is gone: of this host by process number and
 * start time, of other hosts (shared folders) when untouched for a day. Returns how many were removed;
 * what cannot be removed is left. */
int lap_sink_sweep(const char *folder);
/* The folder that temporary files for this output lie in, malloc'ed; NULL where it is written directly. */
char *lap_sink_folder(const char *path);

#endif
