/* Temporary files of the sink: creates and names them, and removes those of dead processes.
 *
 * A name is .lapedge-HOST-PID-START-RANDOM.tmp. HOST: a hash of host name and PID namespace. PID: process
 * number. START: start time of that process in ticks since boot (process numbers are reused, but not with the
 * same start). RANDOM: eight random digits. All but PID are hexadecimal. Thread safe. */
#ifndef LAP_SINK_TEMP_H
#define LAP_SINK_TEMP_H

#include "lapedge.h"

/* Reports a failed call as LAP_E_DISK_FULL, LAP_E_MEMORY or LAP_E_WRITE: "PATH: cannot WHAT: why". */
lap_code lap_write_errno(lap_error *err, const char *path, const char *what, int why);
/* Follows symbolic links of the last component, also to a name that does not exist. malloc'ed; NULL with
 * errno set. */
char *lap_temp_resolve(const char *path);
/* Creates an empty file in a folder, mode 0600, and opens it for writing. Returns its malloc'ed name in the
 * folder; NULL with errno set. */
char *lap_temp_create(int folder, int *fd);
/* As lap_sink_sweep, in an open folder (O_PATH suffices). */
int lap_temp_sweep(int folder);
/* The folder of a path, malloc'ed ("." if it names none); NULL: out of memory. */
char *lap_temp_folder(const char *path);

#endif
