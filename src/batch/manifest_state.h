/* What the files of the manifest share. */
#ifndef LAP_MANIFEST_STATE_H
#define LAP_MANIFEST_STATE_H

#include <jansson.h>
#include <limits.h>

#include "batch/manifest.h"
#include "io/map64.h"

/* Longer lines are none of ours: two paths, each byte of which may become three. */
enum { LAP_MANIFEST_LINE = 8 * PATH_MAX };

/* One file that was ours under some name, from one line. */
typedef struct manifest_record {
    uint64_t file;    /* key of device, inode, size and time; 0: an old line that knows the size alone */
    uint64_t content; /* key of size and content; of an old line 0 */
    uint64_t made;    /* fingerprint of what it was made from; 0: only begun */
    uint32_t size;    /* its low bits */
    uint32_t before;  /* the place of the output's record before this one, from 1; 0: none */
} manifest_record;

/* How far a file of the folder has been read. */
typedef struct manifest_file {
    char *name;
    off_t read;
} manifest_file;

struct lap_manifest {
    const lap_tree *tree;
    char *shown; /* OUTDIR/.lapedge, for messages */
    int folder;  /* it, open; -1: not there yet */
    uint64_t settings_hash;
    lap_map64 outputs; /* hash of an output's path -> place of its last record, from 1 */
    manifest_record *records;
    size_t count, capacity;
    manifest_file *files; /* sorted by name */
    size_t file_count;

    char own[160]; /* the name of this run's file; empty before the first flush */
    int fd;
    bool is_new; /* the file's name has not been synced */
    char *queue;
    size_t queued, queue_capacity;
    off_t size; /* of the file's whole lines */
};

/* Opens the folder if it is there, and makes it if asked. LAP_E_EXISTS for a link. */
lap_code lap_manifest_folder(lap_manifest *manifest, bool make, lap_error *err);
/* The path of that name in a line, in malloc'ed memory; NULL where there is none, or no memory. */
char *lap_manifest_path(const json_t *line, const char *name, const char *raw_name);

#endif
