#include "base/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads the number in a file; UINT64_MAX for "max", or if there is no file. */
static uint64_t limit_in(const char *path)
{
    unsigned long long limit = UINT64_MAX;
    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    if (fscanf(file, "%llu", &limit) != 1)
        limit = UINT64_MAX;
    fclose(file);
    return limit;
}

/* A group's limit also applies to the groups inside it, so this returns the smallest limit from the group up
 * to the root. Inside a container the path may be the host's, and only the root may exist. */
static uint64_t limit_of_group(const char *root, const char *mount, char *group, const char *name)
{
    char path[PATH_MAX];
    uint64_t smallest = UINT64_MAX;
    for (;;) {
        if (snprintf(path, sizeof path, "%s%s%s/%s", root, mount, group, name) < (int)sizeof path) {
            uint64_t limit = limit_in(path);
            smallest = limit < smallest ? limit : smallest;
        }
        char *slash = strrchr(group, '/');
        if (!slash)
            return smallest;
        *slash = 0;
    }
}

/* Reads a line of /proc/self/cgroup: "0::/group" of version 2, "5:cpu,memory:/group" of version 1. */
static uint64_t limit_of_line(const char *root, char *line)
{
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return UINT64_MAX;
    *controllers++ = 0;
    *group++ = 0;
    group[strcspn(group, "\n")] = 0;
    if (!*controllers)
        return limit_of_group(root, "/sys/fs/cgroup", group, "memory.max");
    for (char *rest = controllers, *name; (name = strsep(&rest, ",")) != NULL;)
        if (strcmp(name, "memory") == 0)
            return limit_of_group(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
    return UINT64_MAX;
}

uint64_t lap_memory_of_groups(const char *root)
{
    char path[PATH_MAX], line[PATH_MAX];
    uint64_t smallest = UINT64_MAX;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        uint64_t limit = limit_of_line(root, line);
        smallest = limit < smallest ? limit : smallest;
    }
    if (file)
        fclose(file);
    return smallest;
}

uint64_t lap_memory_here(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t all = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    uint64_t group = lap_memory_of_groups("");
    return group < all ? group : all;
}
