/* What runs in place leave in a folder of photos: .lapedge-in-place.jsonl, one file for all runs, whose lines
 * are those of a manifest (manifest_line.h). Before an output takes the place of a photo, a line with its
 * size, its content and the hash of the settings is on the disk. So whatever a run is stopped by, the next
 * one recognises each output by what is in it, under any name.
 *
 * A record that may be wrong lets a photo be filtered twice. So the caller stops at any error of these
 * functions: a record that belongs to another user, that everybody may write, that holds other lines, or that
 * lies in a folder in which everybody may remove files, is LAP_E_UNREADABLE. An incomplete line that
 * a crash left is ignored: it was not synced, so nothing was renamed after it. */
#ifndef LAP_IN_PLACE_RECORD_H
#define LAP_IN_PLACE_RECORD_H

#include <sys/stat.h>

#include "batch/manifest_line.h"
#include "io/map64.h"
#include "run/settings.h"

#define LAP_IN_PLACE_RECORD ".lapedge-in-place.jsonl"

typedef struct lap_record {
    char *shown; /* its path, for messages */
    const lap_settings_mark *settings;
    lap_map64 known; /* keys of what the lines say: a size, a content, a content by some settings */
    dev_t device;    /* of the file that was read last, and how far: */
    ino_t inode;
    off_t read;
    size_t lines;
    bool is_named; /* its name has been synced by this run */
} lap_record;

/* Of a folder that is shown so in messages; the settings outlive the record. LAP_E_MEMORY. */
lap_code lap_record_begin(
    lap_record *record, const char *folder, const lap_settings_mark *settings, lap_error *err);
void lap_record_end(lap_record *record);

/* Reads what was written since the last time. A record that is not there says nothing. */
lap_code lap_record_refresh(lap_record *record, int folder, lap_error *err);

typedef enum lap_was { /* what a photo is */
    LAP_WAS_PHOTO,     /* no output that the record knows */
    LAP_WAS_OTHER,     /* one by other settings */
    LAP_WAS_SAME       /* one by these */
} lap_was;

typedef struct lap_candidate { /* a file that may be an output */
    int folder;
    const char *name;
    const struct stat *there; /* looked at before the refresh: lines come before names */
} lap_candidate;
/* Reads the file where an output has its size. LAP_E_CHANGED, LAP_E_UNREADABLE, LAP_E_MEMORY. */
lap_code lap_record_judge(
    const lap_record *record, const lap_candidate *candidate, lap_was *was, lap_error *err);

/* LAP_OK where a line could be added, as far as that can be said without adding one. LAP_E_WRITE. */
lap_code lap_record_check(const lap_record *record, int folder, lap_error *err);
/* Adds a line, with sync durably. Makes the file if it is not there. LAP_E_WRITE, LAP_E_DISK_FULL,
 * LAP_E_UNREADABLE, LAP_E_MEMORY. */
lap_code lap_record_add(
    lap_record *record, int folder, const lap_manifest_line *line, bool sync, lap_error *err);

/* Makes the names in a folder durable; false with errno. */
bool lap_sync_names(int folder);

#endif
