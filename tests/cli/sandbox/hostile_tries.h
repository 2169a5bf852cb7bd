/* What a decoder that was taken over could try. Without the sandbox each try succeeds, and the run goes on.
 */
#ifndef LAP_HOSTILE_TRIES_H
#define LAP_HOSTILE_TRIES_H

#include <stdbool.h>

typedef struct hostile_try {
    const char *what;
    bool (*reaches)(void);
} hostile_try;

extern const hostile_try hostile_tries[]; /* ends with a NULL */

#endif
