/* What a program without shared libraries has in place of dlopen (linked with --wrap=dlopen). libgomp would
 * look for offload plugins, which nothing here needs; glibc's own needs the libraries of the very glibc that
 * was linked. */
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);

void *__wrap_dlopen(const char *file, int mode)
{
    (void)file, (void)mode;
    return NULL;
}
