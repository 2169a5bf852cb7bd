/* Temporary files of the sink: names, folders, and the removal of those that a dead process left.
 *
 * A name is .lapedge-HOST-PID-START-RANDOM.tmp: a hash of host name and PID namespace, process number,
 * start time of that process in ticks since boot (numbers are reused, pairs are not), eight random
 * digits. All but PID in hexadecimal. Thread safe. */
#ifndef LAP_SINK_TEMP_H
#define LAP_SINK_TEMP_H

#include "lapedge.h"

/* The error of a failed call: LAP_E_DISK_FULL, LAP_E_MEMORY or LAP_E_WRITE, "PATH: cannot WHAT: why". */
lap_code lap_write_errno(lap_error *err, const char *path, const char *what, int why);
/* Follows symbolic links of the last component, also to a name that does not exist yet. malloc'ed;
 * NULL with errno set. */
char *lap_temp_resolve(const char *path);
/* Creates an empty file in a folder, mode 0600, open for writing. Its malloc'ed name there, or NULL with
 * errno set. */
char *lap_temp_create(int folder, int *fd);
/* lap_sink_sweep in an open folder (O_PATH will do). */
int lap_temp_sweep(int folder);
/* The folder of a path, malloc'ed ("." where it has none); NULL: no memory. */
char *lap_temp_folder(const char *path);

#endif
