/* Decides what a walk does with outputs of earlier runs. If an operand is, or lies in, an earlier run's
 * output folder, the outputs in it are processed like photos, and counted if others->finds_made is set. If an
 * earlier run's output folder lies below an operand, the outputs in it are skipped. Photos are processed in
 * any folder except this run's output folder, where they are only counted. Skipped files are counted in the
 * options' others, with the names of their folders; this run's own outputs are not. */
#ifndef LAP_OUTPUTS_H
#define LAP_OUTPUTS_H

#include "batch/known.h"
#include "lapedge_program.h"

typedef struct lap_outputs {
    lap_batch_others *others; /* or NULL: nothing is counted */
    struct lap_scope *scopes; /* output folders around the folder that is being walked */
    size_t count, capacity;
    lap_known named;  /* facts about earlier outputs, if others->finds_made is set */
    lap_map64 looked; /* folders of named files whose records are in `named` */
} lap_outputs;

/* Call these two functions for each folder, the first before the folder is opened, the second when it is
 * entered. A folder must come before its subfolders, and all its subfolders before the next folder. is_named:
 * this folder is an operand. is_out: it is the output folder. LAP_E_UNREADABLE: its records cannot be read,
 * so its files count as photos. LAP_E_MEMORY. */
void lap_outputs_approach(lap_outputs *outputs, const char *path, bool is_named);
lap_code lap_outputs_enter(
    lap_outputs *outputs, int folder, const char *path, bool is_named, bool is_out, lap_error *err);
/* Whether the folder that was approached last lies in this run's output folder. */
bool lap_outputs_is_out(const lap_outputs *outputs);

typedef struct lap_found { /* a file that the walk has selected */
    int folder;            /* open folder of the file */
    const char *name, *path;
    const struct stat *stat;
} lap_found;
/* Decides whether the walk processes a file of the folder that was entered last. LAP_E_MEMORY. */
lap_code lap_outputs_judge(lap_outputs *outputs, const lap_found *file, bool *is_taken, lap_error *err);
/* Counts a named or listed file if an earlier run made it; such files are always processed. LAP_E_MEMORY. */
lap_code lap_outputs_note_named(
    lap_outputs *outputs, const char *path, const struct stat *stat, lap_error *err);
void lap_outputs_free(lap_outputs *outputs);

#endif
