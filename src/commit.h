/* Finished outputs become visible in groups: one sync of the file system, then the renames, then their
 * lines in the manifest. A sync a file would cost more than a small photo's whole codec time. */
#ifndef LAP_COMMIT_H
#define LAP_COMMIT_H

#include "executor.h"
#include "manifest.h"

enum { LAP_GROUP_FILES = 256, LAP_GROUP_MS = 2000 }; /* a group closes at whichever comes first */

typedef struct lap_group {
    lap_job *jobs[LAP_GROUP_FILES];
    int count;
    double since_ms; /* when its first job came */
} lap_group;

bool lap_group_is_due(const lap_group *group);
/* Publishes every job of the group: syncfs of the output folder (if sync), begin lines, renames, done
 * lines. A job that cannot be published gets its report set to failed; the jobs stay the caller's and the
 * group is not emptied. Anything but LAP_OK: the manifest cannot be written, and nothing more should be. */
lap_code lap_group_commit(
    lap_group *group, lap_manifest *manifest, const char *out_dir, bool sync, lap_error *err);

#endif
