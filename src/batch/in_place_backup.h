/* Keeps the photo that an output is about to replace, under another name in the same folder. */
#ifndef LAP_IN_PLACE_BACKUP_H
#define LAP_IN_PLACE_BACKUP_H

#include "io/target.h"

typedef struct lap_backup {
    const lap_tree *tree;     /* the folder of photo and backup */
    const char *shown;        /* the photo's name in messages */
    const char *name, *kept;  /* names of the photo and of its backup */
    const struct stat *photo; /* the photo's state now */
    bool sync;
} lap_backup;

/* Checks that the name is free, or belongs to the same photo. LAP_E_EXISTS; LAP_E_UNREADABLE,
 * LAP_E_MEMORY. */
lap_code lap_backup_check(const lap_backup *backup, lap_error *err);
/* Gives the photo the backup's name as well: by a hard link, or by a copy if the file system has no links.
 * Never replaces an existing file; LAP_E_EXISTS if that is not the same photo. Other errors as in
 * lap_sink_publish. */
lap_code lap_backup_keep(const lap_backup *backup, lap_error *err);

#endif
