/* The photo that an output is about to replace, kept beside it under another name. */
#ifndef LAP_IN_PLACE_BACKUP_H
#define LAP_IN_PLACE_BACKUP_H

#include "io/target.h"

typedef struct lap_backup {
    const lap_tree *tree;     /* the folder of both */
    const char *shown;        /* the photo, for messages */
    const char *name, *kept;  /* of the photo, and of its backup */
    const struct stat *photo; /* as it stands there */
    bool sync;
} lap_backup;

/* Whether the name is free, or has the same photo already. LAP_E_EXISTS; LAP_E_UNREADABLE, LAP_E_MEMORY. */
lap_code lap_backup_check(const lap_backup *backup, lap_error *err);
/* Gives the photo the name, too: as a second link, or as a copy on file systems without links. What has the
 * name already is never replaced: LAP_E_EXISTS where that is not the same photo. Then as lap_sink_publish. */
lap_code lap_backup_keep(const lap_backup *backup, lap_error *err);

#endif
