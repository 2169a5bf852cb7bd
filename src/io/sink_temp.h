/* Temporary files of the sink: names, places, and the removal of those that a dead process left.
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
/* Creates an empty file beside target, mode 0600, open for writing. malloc'ed name, or NULL with errno
 * set. */
char *lap_temp_create(const char *target, int *fd);
/* The folder of a path, malloc'ed ("." where it has none); NULL: no memory. */
char *lap_temp_folder(const char *path);

#endif
