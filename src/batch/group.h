/* Publishes finished outputs in groups: syncs the file system once, renames the files, then writes their
 * lines to the manifest. Syncing each file would take longer than coding a small photo. */
#ifndef LAP_GROUP_H
#define LAP_GROUP_H

#include "batch/executor.h"
#include "batch/manifest.h"

enum { LAP_GROUP_FILES = 256, LAP_GROUP_MS = 2000 }; /* a group is published when it reaches either limit */

typedef struct lap_group {
    lap_job *jobs[LAP_GROUP_FILES];
    int count;
    double since_ms; /* when the first job was added */
    int sync_fd;     /* the output folder, opened before the first output is written, so that write errors are
                        reported; -1: no sync */
    bool unsettled;  /* files were renamed after the last sync */
} lap_group;

lap_code lap_group_open(lap_group *group, const lap_tree *tree, lap_error *err);
void lap_group_close(lap_group *group);
bool lap_group_is_due(const lap_group *group);
/* Publishes every job of the group: syncfs of the output folder, begin lines (synced), renames, done lines.
 * If a job cannot be published, its report is set to failed. It is set to skipped if another file has the
 * output's name: a file that lapedge did not write, or the same output made by another run. The caller keeps
 * the jobs; the group is not emptied. If the disk has no room for all lines, the outputs of the last jobs are
 * removed to make room for the first ones. Any result but LAP_OK: the manifest cannot be written, and nothing
 * more should be published. */
lap_code lap_group_publish(lap_group *group, lap_manifest *manifest, lap_error *err);
/* After the last group: makes the renames durable. */
lap_code lap_group_settle(lap_group *group, lap_error *err);

#endif
