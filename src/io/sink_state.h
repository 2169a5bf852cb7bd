/* What the two files of the sink share. */
#ifndef LAP_SINK_STATE_H
#define LAP_SINK_STATE_H

#include <xxhash.h>

#include "io/sink.h"

struct lap_sink {
    int fd;      /* -1: memory, or closed */
    bool memory; /* the buffer is the output */
    char *path;  /* for messages */
    lap_place place;
    char *temp; /* in the place's folder; NULL: written directly, or published */
    lap_over over;
    struct stat seen;   /* what may be replaced, of LAP_OVER_SEEN */
    struct stat made;   /* of the temporary file, finished */
    XXH3_state_t *hash; /* of all bytes, below a tree; NULL else, and when it is done: */
    uint64_t content;
    mode_t mode; /* of the file that is replaced; 0: there is none */
    bool broken; /* a write failed: never to be published */
    bool whole;  /* finished */
    bool sync;   /* asked for at finish */
    uint8_t *buffer;
    size_t used, capacity;
    uint64_t bytes;
    double ms;
};

/* Of a new file: as the umask says, which is read once a process. */
mode_t lap_sink_default_mode(void);

#endif
