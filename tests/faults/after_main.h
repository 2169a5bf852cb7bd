/* For preloaded libraries: whether main has begun. What runs before it (the CUDA runtime's constructors crash
 * without memory) is not the program's. One file of a library includes this. */
#ifndef AFTER_MAIN_H
#define AFTER_MAIN_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef int main_fn(int argc, char **argv, char **environment);
typedef int start_fn(main_fn *program, int argc, char **argv, void (*init)(void), void (*fini)(void),
    void (*loader_fini)(void), void *stack_end);

start_fn __libc_start_main;

static atomic_bool started;
static main_fn *program_main;

static int counted_main(int argc, char **argv, char **environment)
{
    atomic_store(&started, true);
    return program_main(argc, argv, environment);
}

int __libc_start_main(main_fn *program, int argc, char **argv, void (*init)(void), void (*fini)(void),
    void (*loader_fini)(void), void *stack_end)
{
    start_fn *start = NULL;
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    program_main = program;
    return start(counted_main, argc, argv, init, fini, loader_fini, stack_end);
}

#endif
