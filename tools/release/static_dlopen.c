/* Replaces dlopen in a program without shared libraries (linked with --wrap=dlopen). libgomp would look for
 * offload plugins, which nothing here needs, and glibc's dlopen needs the shared libraries of exactly the
 * glibc that was linked. */
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);

void *__wrap_dlopen(const char *file, int mode)
{
    (void)file, (void)mode;
    return NULL;
}
