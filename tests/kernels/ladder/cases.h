/* The cases that every filter rung must pass, in groups. */
#ifndef LAP_CASES_H
#define LAP_CASES_H

#include "check.h"

typedef void case_fn(void *user, const check_case *c);

typedef struct case_group {
    const char *name;
    void (*list)(uint64_t *random, case_fn *each, void *user); /* calls each for every case */
} case_group;

extern const case_group case_groups[]; /* the last has no name */

#endif
