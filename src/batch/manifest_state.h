/* What the files of the manifest share. */
#ifndef LAP_MANIFEST_STATE_H
#define LAP_MANIFEST_STATE_H

#include "batch/manifest.h"
#include "io/map64.h"

/* One file that was ours under some name, from one line. */
typedef struct manifest_record {
    uint64_t file;      /* key of device, inode, size and time; 0: a line without a hash */
    uint64_t content;   /* key of size and content; of a line without a hash, of the size alone */
    uint64_t made;      /* fingerprint of what it was made from; 0: only begun */
    uint32_t size : 31; /* its low bits: of another size, the file need not be read */
    uint32_t is_believed : 1;
    uint32_t before; /* the place of the output's record before this one, from 1; 0: none */
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
    lap_settings_mark settings;
    lap_map64 outputs; /* hash of an output's path -> place of its last record, from 1 */
    manifest_record *records;
    size_t count, capacity;
    manifest_file *files; /* sorted by name */
    size_t file_count;
    size_t unbelieved;        /* files */
    lap_error why_unbelieved; /* of the first of them */

    char own[160]; /* the name of this run's file; empty before the first flush */
    int fd;
    bool is_new; /* the file's name has not been synced */
    lap_manifest_queue queue;
    off_t size; /* of the file's whole lines */
};

/* Opens the folder if it is there, and makes it if asked. LAP_E_EXISTS for a link. */
lap_code lap_manifest_folder(lap_manifest *manifest, bool make, lap_error *err);
/* Takes the facts of a line into the records. */
lap_code lap_manifest_add(
    lap_manifest *manifest, const lap_manifest_line *line, bool is_believed, lap_error *err);

#endif
