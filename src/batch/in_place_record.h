/* The record that in-place runs keep in a folder of photos: .lapedge-in-place.jsonl, one file for all runs,
 * with lines as in a manifest (manifest_line.h). Before an output replaces a photo, a line with the output's
 * size, its content and the hash of the settings is synced to disk. So however a run is stopped, the next one
 * recognises each output by its content, under any name.
 *
 * A wrong record could cause a photo to be filtered twice. So the caller stops at any error of these
 * functions. LAP_E_UNREADABLE: the record belongs to another user, everybody may write it, it contains other
 * lines, or everybody may remove files from its folder. An incomplete line after a crash is ignored: it was
 * not synced, so no rename followed it. */
#ifndef LAP_IN_PLACE_RECORD_H
#define LAP_IN_PLACE_RECORD_H

#include <sys/stat.h>

#include "batch/manifest_line.h"
#include "io/map64.h"
#include "run/settings.h"

#define LAP_IN_PLACE_RECORD ".lapedge-in-place.jsonl"

typedef struct lap_record {
    char *shown; /* the folder's path, for messages */
    const lap_settings_mark *settings;
    lap_map64 known; /* keys computed from the lines: a size, a content, a content with certain settings */
    dev_t device;    /* identity of the file that was read last, and how far it was read: */
    ino_t inode;
    off_t read;
    size_t lines;
    bool is_named; /* this run has synced the file's name */
} lap_record;

/* Prepares the record of a folder; messages call it shown. settings must outlive the record. LAP_E_MEMORY. */
lap_code lap_record_begin(
    lap_record *record, const char *folder, const lap_settings_mark *settings, lap_error *err);
void lap_record_end(lap_record *record);

/* Reads new lines of the record. A missing record counts as empty. */
lap_code lap_record_refresh(lap_record *record, int folder, lap_error *err);

typedef enum lap_was { /* what a photo is, according to the record */
    LAP_WAS_PHOTO,     /* not a known output */
    LAP_WAS_OTHER,     /* an output made with other settings */
    LAP_WAS_UNTIMED,   /* an output made with these settings that has not kept its photo's time */
    LAP_WAS_SAME       /* an output made with these settings that has kept its photo's time */
} lap_was;

typedef struct lap_candidate { /* a file that may be an output */
    int folder;
    const char *name;
    const struct stat *there; /* its state, taken before the refresh: a line is written before the rename that
                                 it announces */
} lap_candidate;
/* Judges a file; reads its content only if a known output has its size. LAP_E_CHANGED, LAP_E_UNREADABLE,
 * LAP_E_MEMORY. */
lap_code lap_record_judge(
    const lap_record *record, const lap_candidate *candidate, lap_was *was, lap_error *err);

/* Checks as far as possible whether a line can be added. LAP_E_WRITE. */
lap_code lap_record_check(const lap_record *record, int folder, lap_error *err);
/* Adds a line, durably if sync is set. Creates the file if necessary. LAP_E_WRITE, LAP_E_DISK_FULL,
 * LAP_E_UNREADABLE, LAP_E_MEMORY. */
lap_code lap_record_add(
    lap_record *record, int folder, const lap_manifest_line *line, bool sync, lap_error *err);

/* Makes renames in a folder durable; false with errno. beside: the name of a file in it that can be read. */
bool lap_sync_names(int folder, const char *beside);

#endif
