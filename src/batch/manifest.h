/* Reads and writes the records of runs in OUTDIR/.lapedge/: one JSON-lines file per run, all read at the
 * start.
 *
 * A "begin" line says that an output is about to get its name. A "done" line says that the output is
 * complete, and what it was made from. Both identify the file: device, inode, size, time and the XXH3 of its
 * content.
 *
 * An output is up to date, and is not touched, if device, inode, size and time match, and if its photo is the
 * recorded one. Size and time of the photo must match, and also either the change time, which no program can
 * set, or the content. Lines of version 0.1 have neither change time nor content; then size and time decide.
 * A file may be replaced only if size and content match a line; the inode may differ, because a folder may
 * have been copied or restored. And the file must have been made from the same photo: a photo with the same
 * absolute path, with the same path below the same folder (device and inode), or of the same size and time.
 * So photos of the same name in two folders do not replace each other's outputs, but a photo may be edited,
 * and a folder renamed or moved. The line must also be believed: its file belongs to the current user or to
 * root, and neither the file nor .lapedge is writable for everybody. Links are not followed.
 *
 * Lines of early versions have no hash. The files they name are replaced only by the same content. */
#ifndef LAP_MANIFEST_H
#define LAP_MANIFEST_H

#include "batch/manifest_line.h"
#include "batch/origin.h"
#include "io/target.h"
#include "run/settings.h"

typedef struct lap_manifest lap_manifest;

typedef enum lap_made {  /* what is known about the file at an output's name */
    LAP_MADE_UNKNOWN,    /* no line names this output */
    LAP_MADE_CHANGED,    /* lines name this output, but describe another file */
    LAP_MADE_UNBELIEVED, /* a line that is not believed describes this file */
    LAP_MADE_UNHASHED,   /* a line without a hash may describe this file */
    LAP_MADE_TURNED,     /* our output, but only rotated or mirrored, and this run filters */
    LAP_MADE_FILTERED,   /* our output, but filtered, and this run only rotates or mirrors */
    LAP_MADE_ELSEWHERE,  /* our output, made from a different photo in a different place */
    LAP_MADE_SPELT,      /* a file whose name differs, for example in case, but is the same name to this file
                            system */
    LAP_MADE_MEANWHILE,  /* our output, but another run with other settings made it during this run */
    LAP_MADE_OURS,       /* our output, but unfinished, or made from an older input or with other settings */
    LAP_MADE_SAID, /* like LAP_MADE_SAME, but the line is not believed or has no hash: not to be replaced */
    LAP_MADE_SAME  /* our output, from this input with these settings */
} lap_made;

/* Reads every manifest of the tree, and what the records of folders above it say about it. The tree must
 * outlive the manifest. A tree without records gives an empty manifest. LAP_E_EXISTS: .lapedge is a link. */
lap_code lap_manifest_open(
    const lap_tree *tree, const lap_settings_mark *settings, lap_manifest **manifest, lap_error *err);
void lap_manifest_close(lap_manifest *manifest); /* does nothing for NULL */
/* Reads what other runs wrote since the last call. */
lap_code lap_manifest_refresh(lap_manifest *manifest, lap_error *err);

typedef struct lap_photo_content { /* the content of a photo */
    bool is_known;
    uint64_t hash; /* XXH3 */
} lap_photo_content;

typedef struct lap_manifest_input { /* what an output was made from */
    const char *path;
    const struct stat *stat;
    const lap_origin *origin;   /* NULL: not known */
    size_t below;               /* offset in path of the part below the origin */
    lap_photo_content *content; /* lap_manifest_find fills it if it reads the photo; or NULL */
} lap_manifest_input;

typedef struct lap_standing { /* the regular file at an output's name */
    const char *output;
    int folder; /* open descriptor of the file's folder */
    const struct stat *there;
    lap_manifest_input input; /* the photo whose output would be written there */
} lap_standing;
/* Judges a file; reads its content only if nothing else decides. *content receives the file's XXH3 if the
 * record needs a new line, because a believed line matched only by content, or names another place for the
 * same photo. Otherwise *content receives 0. LAP_E_MEMORY, LAP_E_UNREADABLE: the file was
 * not judged. */
lap_code lap_manifest_find(const lap_manifest *manifest, const lap_standing *standing, lap_made *made,
    uint64_t *content, lap_error *err);
/* The same, but also reads the records of the folders between the output folder and the file. If the file is
 * not ours, or new, reads what other runs wrote and judges again. So two concurrent runs with different
 * settings do not replace each other's outputs. */
lap_code lap_manifest_judge(
    lap_manifest *manifest, const lap_standing *standing, lap_made *made, uint64_t *content, lap_error *err);
/* Whether "force" may replace the file. */
static inline bool lap_made_may_force(lap_made made)
{
    return made != LAP_MADE_SPELT && made != LAP_MADE_MEANWHILE;
}
/* Returns LAP_E_EXISTS with a message for a file that may not be replaced. */
lap_code lap_made_refuse(lap_made made, const char *path, lap_error *err);

/* Any result but LAP_OK ends the reading. */
typedef lap_code lap_manifest_fn(void *user, const lap_manifest_line *line, lap_error *err);
/* Calls each once per "done" line, that is, for every finished output, in the believed records of the output
 * folder itself. */
lap_code lap_manifest_each(lap_manifest *manifest, lap_manifest_fn *each, void *user, lap_error *err);
/* The same for "begin" lines, that is, for every file that lapedge wrote there. */
lap_code lap_manifest_each_begun(lap_manifest *manifest, lap_manifest_fn *each, void *user, lap_error *err);
/* The same for records of folders above the output folder, and of those folders below it that
 * lap_manifest_judge or lap_manifest_look_below has examined. line->output is a name below the output folder.
 * *folder is the .lapedge that is being read, and belongs to the manifest. LAP_E_UNREADABLE: also if one of
 * these folders was moved or removed since. */
lap_code lap_manifest_each_other(
    lap_manifest *manifest, const char **folder, lap_manifest_fn *each, void *user, lap_error *err);
/* Look for records in the folders between the output folder and an output, and for new ones above the output
 * folder. Records that another run has created since this run began count, too. LAP_E_UNREADABLE: the output
 * folder was moved. */
lap_code lap_manifest_look_below(lap_manifest *manifest, const char *output, lap_error *err);
lap_code lap_manifest_look_above(lap_manifest *manifest, lap_error *err);
/* After lap_manifest_each and lap_manifest_each_other: from now on, records that they have not read are news.
 */
void lap_manifest_watch(lap_manifest *manifest);
/* Whether a record file that may say something about this output has appeared or grown since
 * lap_manifest_each or lap_manifest_each_other first read it. Looks above and below the output folder, too.
 */
lap_code lap_manifest_has_news(lap_manifest *manifest, const char *output, bool *has_news, lap_error *err);
/* After lap_manifest_each_other: whether a folder above has records that were created after this run began,
 * and that this process may not read; why names them. The sandbox can only allow files that exist when it
 * begins. */
bool lap_manifest_is_blind(const lap_manifest *manifest, lap_error *why);
/* After lap_manifest_each: returns how many record files are not believed, whether these are all files, and
 * why the first one is not believed. */
size_t lap_manifest_unbelieved(const lap_manifest *manifest, bool *is_all, lap_error *why);

typedef struct lap_manifest_output { /* a finished file */
    const char *name;                /* relative to the output folder */
    const struct stat *made;
    uint64_t content;
    bool is_whole; /* the photo was read without a warning; false: not known */
} lap_manifest_output;

/* Queue a line. lap_manifest_flush writes the queue in one append (and syncs it if requested), or nothing: a
 * failed flush removes what it had written. The queue is empty afterwards in both cases. The first flush
 * creates the run's file. ahead: further bytes that must fit on the disk later; if they do not, the flush
 * fails now (if the file system can tell). */
lap_code lap_manifest_begin(lap_manifest *manifest, const lap_manifest_output *output, lap_error *err);
lap_code lap_manifest_done(lap_manifest *manifest, const lap_manifest_output *output,
    const lap_manifest_input *input, lap_error *err);
lap_code lap_manifest_flush(lap_manifest *manifest, bool sync, size_t ahead, lap_error *err);

#endif
