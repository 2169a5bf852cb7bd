/* A separate folder for each test of files, and functions that write, name and read files in it. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/temporary.h"

static char scratch[TEMPORARY_PATH];

/* The last few names stay valid: tests name several files at once. */
static inline const char *at(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

static inline void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
}

static inline void assert_holds(const char *path, const char *text)
{
    char got[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(got, 1, sizeof got - 1, file);
    fclose(file);
    got[size] = 0;
    assert_string_equal(got, text);
}

static inline int count_temps(const char *folder)
{
    int count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += strncmp(entry->d_name, ".lapedge-", 9) == 0;
    closedir(dir);
    return count;
}

/* How many descriptors this process has open. */
static inline int open_files(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) != -1;
    return count;
}

static inline bool make_scratch(void)
{
    return mkdtemp(temporary(scratch, "test"));
}

static inline int remove_below(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type;
    return at->level ? remove(path) : 0;
}

static inline void empty_scratch(void)
{
    assert_int_equal(nftw(scratch, remove_below, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline int remove_scratch(void **unused)
{
    (void)unused;
    char command[TEMPORARY_PATH + 64];
    snprintf(command, sizeof command, "rm -rf '%s'", scratch);
    return system(command);
}

#endif
