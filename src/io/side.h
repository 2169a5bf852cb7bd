/* Files that are written in addition to the outputs (statistics, logs, reports): finds where a path leads,
 * and whether another path leads there too. The public half is lap_side_check and lap_side_write. */
#ifndef LAP_SIDE_H
#define LAP_SIDE_H

#include <sys/stat.h>

#include "lapedge_program.h"

typedef struct lap_side {
    const char *path; /* as the caller named it */
    char *name;       /* absolute, links resolved; parts that do not exist yet are kept as written */
    bool is_file;     /* it is an existing regular file: */
    dev_t device;
    ino_t inode;
} lap_side;

/* The absolute name, without links, that a path leads to; malloc'ed. Some of its folders may be missing. NULL
 * with errno set. */
char *lap_real_name(const char *path);
lap_code lap_side_look(const char *path, lap_side *side, lap_error *err);
void lap_side_free(lap_side *side);
/* Whether st is the side's file. */
bool lap_side_is_file(const lap_side *side, const struct stat *st);

#endif
