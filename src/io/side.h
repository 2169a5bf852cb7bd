/* The door for files that are written beside the outputs (statistics, logs, reports): where one of them
 * leads, and whether that is a place which something else has. The public half is lap_side_check and
 * lap_side_write. */
#ifndef LAP_SIDE_H
#define LAP_SIDE_H

#include <sys/stat.h>

#include "lapedge_program.h"

typedef struct lap_side {
    const char *path; /* as it was named */
    char *name;       /* absolute, links resolved; what is not there yet is taken as written */
    bool is_file;     /* a regular file stands there: */
    dev_t device;
    ino_t inode;
} lap_side;

/* The absolute name without links that a path leads to, malloc'ed, also where only some of its folders are
 * there; NULL with errno set. */
char *lap_real_name(const char *path);
lap_code lap_side_look(const char *path, lap_side *side, lap_error *err);
void lap_side_free(lap_side *side);
/* Whether that file is the one of the side. */
bool lap_side_is_file(const lap_side *side, const struct stat *st);

#endif
