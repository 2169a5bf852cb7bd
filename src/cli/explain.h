/* The notes that stand at the head of each backend's file, as tools/explain collects them at build time: what
 * the backend does, what it changes, what was measured of it. One text, for the source and `explain`. */
#ifndef LAP_CLI_EXPLAIN_H
#define LAP_CLI_EXPLAIN_H

typedef struct lap_explain {
    const char *ladder, *name, *file;
    const char *notes; /* lines; the first begins with the name */
} lap_explain;

extern const lap_explain lap_explains[]; /* the last one has no name */

/* The notes of a backend of a ladder, or NULL. */
const char *lap_explained(const char *ladder, const char *name);

#endif
