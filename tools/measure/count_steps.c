/* count_steps OFFSET PROGRAM ARGUMENT...: prints how many instructions PROGRAM runs within the function at
 * OFFSET (hexadecimal, as nm prints it), counted by running it one instruction at a time: for instructions
 * that valgrind does not know. One thread at a time may be in the function. For Linux on x86-64.
 *
 *   cc -O2 -o build/count_steps tools/measure/count_steps.c */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static void need(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "count_steps: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* The address of the program's first segment. */
static uintptr_t base_of(pid_t pid)
{
    char path[64];
    unsigned long base = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "r");
    need(maps && fscanf(maps, "%lx-", &base) == 1, path);
    fclose(maps);
    return base;
}

static long word_at(pid_t pid, uintptr_t at)
{
    errno = 0;
    const long word = ptrace(PTRACE_PEEKTEXT, pid, (void *)at, NULL);
    need(errno == 0, "peek");
    return word;
}

static void put(pid_t pid, uintptr_t at, long word)
{
    need(ptrace(PTRACE_POKETEXT, pid, (void *)at, (void *)word) == 0, "poke");
}

/* From the function's first instruction, where the thread stands, to its return. */
static unsigned long long count_call(pid_t pid)
{
    struct user_regs_struct r;
    unsigned long long steps = 0, back, stack;
    int status;
    need(ptrace(PTRACE_GETREGS, pid, NULL, &r) == 0, "registers");
    stack = r.rsp;
    back = (unsigned long long)word_at(pid, (uintptr_t)stack);
    do {
        need(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0, "step");
        need(waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status), "wait");
        steps++;
        need(ptrace(PTRACE_GETREGS, pid, NULL, &r) == 0, "registers");
    } while (r.rip != back || r.rsp <= stack);
    return steps;
}

int main(int argc, char **argv)
{
    enum { TRAP = 0xcc };
    unsigned long long steps = 0;
    int status;
    if (argc < 3) {
        fprintf(stderr, "usage: count_steps OFFSET PROGRAM ARGUMENT...\n");
        return 2;
    }
    const pid_t child = fork();
    need(child >= 0, "fork");
    if (child == 0) {
        need(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0, "trace");
        execv(argv[2], argv + 2);
        need(0, argv[2]);
    }
    need(waitpid(child, &status, 0) == child && WIFSTOPPED(status), "start");
    need(ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)) == 0,
        "options");
    const uintptr_t at = base_of(child) + strtoull(argv[1], NULL, 16);
    const long word = word_at(child, at), trap = (word & ~0xffL) | TRAP;
    put(child, at, trap);
    ptrace(PTRACE_CONT, child, NULL, NULL);
    for (;;) {
        struct user_regs_struct r;
        const pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0 || (pid == child && (WIFEXITED(status) || WIFSIGNALED(status))))
            break;
        if (!WIFSTOPPED(status))
            continue;
        int deliver = WSTOPSIG(status);
        if (deliver == SIGTRAP && ptrace(PTRACE_GETREGS, pid, NULL, &r) == 0 && r.rip == at + 1) {
            r.rip = at;
            need(ptrace(PTRACE_SETREGS, pid, NULL, &r) == 0, "registers");
            put(pid, at, word);
            steps += count_call(pid);
            put(pid, at, trap);
        }
        if (deliver == SIGTRAP || deliver == SIGSTOP)
            deliver = 0;
        ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)deliver);
    }
    printf("%llu\n", steps);
    return steps == 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}
