/* Finds the photo of a record for --prune: which folder of the run it would be in, and whether it is there.
 *
 * A record holds its input's folder by name and inode. If only the name, only the inode, or only the path on
 * the command line matches a folder of this run, the folder may be another one: the caller decides. */
#ifndef LAP_PRUNE_PHOTO_H
#define LAP_PRUNE_PHOTO_H

#include "batch/manifest.h"

typedef struct lap_prune_folder { /* an input, if it is a folder */
    char *name;                   /* from the root, without "." and empty steps; NULL: not a folder */
    lap_origin origin;            /* the folder's real name, device and inode */
    bool has_photos;              /* the caller's */
} lap_prune_folder;

typedef struct lap_prune_folders { /* all zero: empty */
    const lap_batch_options *options;
    lap_prune_folder *each; /* one per input */
    lap_map64 moved; /* hashes of recorded folders: 1, or 2 + index of the input that they were moved to */
    lap_map64 here;  /* hashes of output names: a line names a folder of this run, by name and inode */
} lap_prune_folders;

/* Examines the inputs. LAP_E_USAGE: none of them is a folder (a missing one counts as a folder: it is
 * reported later); LAP_E_MEMORY. *refused: the first input that cannot be examined, unless it holds an error
 * already. The caller frees the folders, also after an error. options must outlive them. */
lap_code lap_prune_folders_look(
    lap_prune_folders *folders, const lap_batch_options *options, lap_error *refused, lap_error *err);
void lap_prune_folders_free(lap_prune_folders *folders);
/* Notes which folders a record names. Call it for all records before lap_prune_photo_find. leads: 1 + index
 * of the input that makes the record's output now; 0: none does. LAP_E_MEMORY. */
lap_code lap_prune_folders_note(
    lap_prune_folders *folders, const lap_manifest_line *line, size_t leads, lap_error *err);
/* Whether an input's folder is still the one that was examined: it can vanish during the run, with its disk,
 * and then all its photos look gone. *why: an errno if that is unknown, else 0. */
bool lap_prune_folder_stands(const lap_prune_folders *folders, size_t operand, int *why);

/* How a recorded folder is related to the folders of this run. */
typedef enum lap_prune_relation {
    LAP_PRUNE_ELSEWHERE, /* no folder of this run matches it */
    LAP_PRUNE_HERE,      /* by name and inode it is one of these folders, or is in one */
    LAP_PRUNE_DIFFERS, /* it matches one by name, inode or words of the command line, but not by all three */
    LAP_PRUNE_ANOTHER  /* the words of the command line match, but the recorded folder still exists elsewhere
                        */
} lap_prune_relation;

/* Where to look for a record's photo. */
typedef struct lap_prune_photo {
    lap_prune_relation relation;
    size_t operand; /* index of the input concerned */
    char *path;     /* absolute, malloc'ed; NULL with errno or .unknown: not known */
    size_t below;   /* offset in path of the part below that input's folder */
    int unknown;    /* an errno if lapedge could not find out whether the recorded folder exists; else 0 */
} lap_prune_photo;

lap_prune_photo lap_prune_photo_find(const lap_prune_folders *folders, const lap_manifest_line *line);
/* Describes why a folder may not be the recorded one. Does not suggest force if the recorded folder still
 * exists. */
void lap_prune_photo_describe(const lap_prune_folders *folders, const lap_manifest_line *line,
    const lap_prune_photo *photo, lap_error *err);

/* Where the record says that its photo was. The caller frees it. NULL with errno: not known. */
char *lap_prune_recorded_path(const lap_manifest_line *line);
/* The same if that is in a folder of this run, and the recorded folder is still in its place; else NULL. */
char *lap_prune_recorded_path_here(const lap_prune_folders *folders, const lap_manifest_line *line);
/* Whether a recorded folder still exists at its place. *why: an errno if that is unknown, else 0. */
bool lap_prune_recorded_stands(const lap_manifest_line *line, int *why);
/* Whether the photo of a record that belongs to no folder of this run is gone from its place. */
bool lap_prune_is_left_behind(const lap_manifest_line *line, lap_prune_relation relation);

/* What is at a photo's path. If a photo may be at several, the highest value counts. */
typedef enum lap_prune_place {
    LAP_PRUNE_GONE,
    LAP_PRUNE_NOT_MOUNTED, /* perhaps: the folder is empty, like the mount point of a missing disk */
    LAP_PRUNE_HIDDEN, /* behind a symbolic link that this run does not follow, or one that leads nowhere */
    LAP_PRUNE_UNKNOWN,
    LAP_PRUNE_THERE
} lap_prune_place;

typedef struct lap_prune_sight {
    lap_prune_place place;
    int why;         /* of LAP_PRUNE_UNKNOWN: an errno */
    char link[1024]; /* of LAP_PRUNE_HIDDEN: the link, shortened */
} lap_prune_sight;

/* below: where the part of the path begins in which links and empty folders count. Cuts the path behind the
 * deepest folder that exists if the photo is not there and not hidden. */
lap_prune_sight lap_prune_look(const lap_prune_folders *folders, char *path, size_t below);
/* The same of photo->path and of the record's own path; if the record's folder differs, also of the path that
 * the photo has in each folder of this run. */
lap_prune_sight lap_prune_photo_look(
    const lap_prune_folders *folders, const lap_manifest_line *line, const lap_prune_photo *photo);

#endif
