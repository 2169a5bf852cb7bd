/* Calls of the library in which every allocation and every call of the C library fails in turn. */
#ifndef EACH_H
#define EACH_H

#include "lapedge.h"

typedef struct each_result {
    lap_code code;
    lap_error err;
    bool all;        /* of many files: each was done */
    uint64_t digest; /* of what was found out, where there is more than files */
} each_result;

typedef struct each_case {
    const char *name;
    void (*before)(void); /* what is there when it begins; NULL: an empty folder out */
    void (*run)(each_result *result);
    int lost;     /* blocks that another library may lose where memory runs out */
    bool is_slow; /* fewer runs */
} each_case;

/* The number: blocks that another library loses where memory runs out. */
#define CASE(name)                  \
    {                               \
#name, NULL, name, 0, false \
    }
#define AFTER(before, name)           \
    {                                 \
#name, before, name, 0, false \
    }
#define LOSES(name, lost)              \
    {                                  \
#name, NULL, name, lost, false \
    }
#define SLOW(name)                 \
    {                              \
#name, NULL, name, 0, true \
    }
#define END                        \
    {                              \
        NULL, NULL, NULL, 0, false \
    }

/* The end is a case without a name. */
extern const each_case each_photo[], each_many[];
extern lap_context *each_context;
/* Of all that is run: one of the CPU, or cuda-fast where the program runs on the CPU runtime of the CUDA
 * tests. */
extern const char *each_backend;

/* Makes the inputs, in the current folder. */
void each_prepare(void);
void each_put(const char *path, const void *bytes, size_t size);
/* The content of a file, malloc'ed. */
void *each_get(const char *path, size_t *size);

/* What the cases share: results are added to what they are compared by. */
void each_add(each_result *result, const void *bytes, size_t size);
void each_add_stats(each_result *result, const lap_stats *stats);
lap_settings each_plain(void);
lap_pixels *each_pixels(each_result *result, const char *name);

#endif
