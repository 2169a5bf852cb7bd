/* Temporary files of the sink: creates and names them, and removes those of dead processes.
 *
 * A name is .lapedge-HOST-PID-START-RANDOM.tmp. HOST: a hash of host name and PID namespace. PID: process
 * number. START: start time of that process in ticks since boot (process numbers are reused, but not with the
 * same start time). RANDOM: eight random digits. All but PID are hexadecimal. Thread safe. */
#ifndef LAP_SINK_TEMP_H
#define LAP_SINK_TEMP_H

#include "lapedge_program.h"

/* Reports a failed call as LAP_E_DISK_FULL, LAP_E_MEMORY or LAP_E_WRITE: "PATH: cannot WHAT: why". */
lap_code lap_write_errno(lap_error *err, const char *path, const char *what, int why);
/* Follows symbolic links of the last component, also to a name that does not exist. malloc'ed; NULL with
 * errno set. */
char *lap_temp_resolve(const char *path);
typedef struct lap_temp {
    char *name; /* name in the folder; NULL: there is no temporary file */
    int held;   /* place among the files that lap_abandon_outputs removes; -1: no place */
} lap_temp;

/* Creates an empty file, mode 0600, in the folder of target (a path), which is open as `folder`, and opens it
 * for writing. False with errno set; ECANCELED after lap_abandon_outputs. */
bool lap_temp_create(int folder, const char *target, lap_temp *temp, int *fd);
/* Call it once the file is renamed or removed: frees the name. */
void lap_temp_forget(lap_temp *temp);
/* As lap_sink_sweep, in an open folder (O_PATH suffices). */
int lap_temp_sweep(int folder);
/* The folder of a path, malloc'ed ("." if it names none); NULL: out of memory. */
char *lap_temp_folder(const char *path);

#endif
