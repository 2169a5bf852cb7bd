/* Finished outputs become visible in groups: one sync of the file system, then the renames, then their
 * lines in the manifest. A sync a file would cost more than a small photo's whole codec time. */
#ifndef LAP_GROUP_H
#define LAP_GROUP_H

#include "batch/executor.h"
#include "batch/manifest.h"

enum { LAP_GROUP_FILES = 256, LAP_GROUP_MS = 2000 }; /* a group closes at whichever comes first */

typedef struct lap_group {
    lap_job *jobs[LAP_GROUP_FILES];
    int count;
    double since_ms; /* when its first job came */
    int sync_fd;     /* the output folder, open since before the first output was written, so that no
                        write error goes unreported; -1: no sync */
    bool unsettled;  /* names have changed since the last sync */
} lap_group;

lap_code lap_group_open(lap_group *group, const lap_tree *tree, lap_error *err);
void lap_group_close(lap_group *group);
bool lap_group_is_due(const lap_group *group);
/* Publishes every job of the group: syncfs of the output folder, begin lines (synced), renames, done lines.
 * A job that cannot be published gets its report set to failed, or to skipped where something stands under
 * its name that is not ours, or that another run has made of the same photo meanwhile; the jobs stay the
 * caller's and the group is not emptied. Where the disk is too full for all lines, the last jobs make room
 * for those of the first. Anything but LAP_OK: the manifest cannot be written, and nothing more should be. */
lap_code lap_group_publish(lap_group *group, lap_manifest *manifest, lap_error *err);
/* After the last group: what was renamed becomes durable. */
lap_code lap_group_settle(lap_group *group, lap_error *err);

#endif
