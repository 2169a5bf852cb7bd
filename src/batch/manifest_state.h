/* Shared by the files of the manifest. */
#ifndef LAP_MANIFEST_STATE_H
#define LAP_MANIFEST_STATE_H

#include <time.h>

#include "batch/manifest.h"
#include "io/map64.h"

enum { LAP_SIZE_BITS = 27 };

/* Whether a run with other settings made a file during this run, according to a line. */
typedef enum manifest_rival {
    IS_NO_RIVAL,
    IS_RIVAL,
    IS_RIVAL_IF_NEW /* the file's change time decides */
} manifest_rival;

/* Fingerprints that identify the photo of an output; 0: not known. */
typedef struct manifest_source {
    uint32_t path;  /* fingerprint of the photo's absolute path */
    uint32_t place; /* of the folder's device and inode, and of the path below that folder */
    uint32_t state; /* of the photo's size and time */
} manifest_source;

/* One line's description of a file that was ours under some name. */
typedef struct manifest_record {
    uint64_t file;                 /* key of device, inode, size and time; 0: a line without a hash */
    uint64_t content;              /* XXH3 of the file; for a line without a hash, a key of the size */
    uint64_t made;                 /* fingerprint of what it was made from; 0: only a "begin" line */
    uint32_t size : LAP_SIZE_BITS; /* low bits of the size: if they differ, the file need not be read */
    uint32_t maker : 2;            /* lap_maker */
    uint32_t is_believed : 1;
    uint32_t rival : 2;     /* manifest_rival */
    manifest_source source; /* with made */
    uint64_t changed;       /* key of the photo's change time; 0: not recorded */
    lap_photo_content photo;
    uint32_t before; /* 1 + index of the same output's previous record; 0: this is its first record */
} manifest_record;

typedef struct manifest_file {
    char *name;
    off_t read; /* how far its lines were added to the records */
    off_t seen; /* size when lap_manifest_each or lap_manifest_each_other first read it; -1: not before
                   lap_manifest_watch */
} manifest_file;

/* A .lapedge folder. Those in folders above and below the output folder count, too: an earlier run may have
 * had such a folder as its output folder. */
typedef struct manifest_place {
    char *shown;   /* path, for messages */
    int folder;    /* descriptor of the output folder's .lapedge; -1: it does not exist yet, or this is
                      another place */
    char *cut;     /* place above: prefix of its names that lie in the output folder ("2022/"); or NULL */
    char *below;   /* place below: prefix that makes its names relative to the output folder; or NULL */
    bool is_late;  /* place above: it had no records when the run began */
    bool is_read;  /* lines that are read from now on were written during this run */
    bool is_blind; /* is_late, and its records may not be read */
    manifest_file *files; /* sorted by name */
    size_t file_count;
} manifest_place;

struct lap_manifest {
    const lap_tree *tree;
    manifest_place here;    /* in the output folder; this run writes there */
    manifest_place *others; /* above and below */
    size_t other_count, other_capacity;
    lap_map64
        looked; /* hashes of folders below ("2022/") that were looked at: 1 + index of the place, or 0 */
    lap_settings_mark settings;
    struct timespec since; /* when the first reading of the records began, by the clock of file times */
    lap_map64 outputs;     /* hash of an output's path -> 1 + index of its last record */
    manifest_record *records;
    size_t count, capacity;
    size_t unbelieved;        /* number of files here that are not believed */
    lap_error why_unbelieved; /* why the first of them is not believed */
    bool is_watched;          /* lap_manifest_watch was called */

    char own[160]; /* name of this run's file; empty before the first flush */
    int fd;
    bool is_new; /* the file's name has not been synced */
    lap_manifest_queue queue;
    off_t size; /* size of the file's complete lines */
};

void lap_manifest_place_free(manifest_place *place);
/* Opens the folder if it exists, or creates it if make is set. LAP_E_EXISTS: it is a link. */
lap_code lap_manifest_folder(lap_manifest *manifest, bool make, lap_error *err);
/* Adds a line's facts to the records. rival: whether its file is a rival if the line has other settings. */
lap_code lap_manifest_add(lap_manifest *manifest, const lap_manifest_line *line, bool is_believed,
    manifest_rival rival, lap_error *err);

#endif
