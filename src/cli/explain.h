/* The notes at the head of each backend's source file, collected by tools/explain at build time: what the
 * backend does, what it changes, and what was measured. `explain` prints the same text. */
#ifndef LAP_CLI_EXPLAIN_H
#define LAP_CLI_EXPLAIN_H

typedef struct lap_explain {
    const char *ladder, *name, *file;
    const char *notes; /* lines of text; the first begins with the name */
} lap_explain;

extern const lap_explain lap_explains[]; /* ends with an entry without a name */

/* Returns the notes of a ladder's backend, or NULL. */
const char *lap_explained(const char *ladder, const char *name);

#endif
