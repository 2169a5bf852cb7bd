/* Calls Landlock's three system calls directly, so that the headers of Linux 5.13 are enough to build. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/sandbox/sandbox.h"

/* These numbers are the same on every processor. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, ASK_VERSION = 1, PATH_BENEATH = 1 };

/* Rights, numbered as in the kernel (Documentation/userspace-api/landlock.rst). */
enum {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_FILE = 1 << 5,
    MAKE_DIR = 1 << 7,
    MAKE_REG = 1 << 8,
    ALL_FIRST = (1 << 13) - 1, /* version 1 */
    REFER = 1 << 13,           /* version 2 */
    TRUNCATE = 1 << 14,        /* version 3 */
    IOCTL_DEV = 1 << 15,       /* version 5 */
    OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
};

typedef struct ruleset {
    uint64_t files, net, scoped; /* forbidden unless a rule allows it */
} ruleset;

typedef struct __attribute__((packed)) beneath_rule {
    uint64_t allowed;
    int32_t parent;
} beneath_rule;

static uint64_t handled(int abi)
{
    return (uint64_t)ALL_FIRST | (abi >= 2 ? REFER : 0) | (abi >= 3 ? TRUNCATE : 0) |
           (abi >= 5 ? IOCTL_DEV : 0);
}

lap_code lap_sandbox_open(lap_sandbox *box, lap_error *err)
{
    const long abi = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    *box = (lap_sandbox){.rules = -1, .abi = (int)abi};
    if (abi < 1)
        return lap_sandbox_failed(err, LAP_E_BACKEND,
            errno == EOPNOTSUPP ? "Landlock was switched off when this machine started"
                                : "this kernel has no Landlock; Linux has it from 5.13");
    /* Forbids TCP from version 4, and signals and abstract sockets of other processes from version 6. seccomp
     * forbids what older versions cannot: truncation by name (3), drivers (5), network and signals. A kernel
     * accepts fields that it does not know if they are zero. */
    const ruleset set = {handled(box->abi), abi >= 4 ? 3 : 0, abi >= 6 ? 3 : 0};
    box->rules = (int)syscall(CREATE_RULESET, &set, sizeof set, 0);
    return box->rules < 0 ? lap_sandbox_failed(err, LAP_E_BACKEND, strerror(errno)) : LAP_OK;
}

lap_code lap_sandbox_allow(lap_sandbox *box, const char *path, lap_sandbox_access access, lap_error *err)
{
    uint64_t rights = READ_FILE | READ_DIR;
    box->writes = box->writes || access == LAP_SANDBOX_WRITE;
    if (access == LAP_SANDBOX_WRITE)
        rights |= WRITE_FILE | REMOVE_FILE | MAKE_DIR | MAKE_REG | TRUNCATE;
    struct stat st;
    const int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        if (fd >= 0)
            close(fd);
        return LAP_OK;
    }
    if (!S_ISDIR(st.st_mode))
        rights &= access == LAP_SANDBOX_WRITE ? (WRITE_FILE | TRUNCATE) : READ_FILE;
    const beneath_rule rule = {rights & handled(box->abi), fd};
    const long added = syscall(ADD_RULE, box->rules, PATH_BENEATH, &rule, 0);
    const int why = errno;
    close(fd);
    /* EBADFD: a pipe or socket named through /dev/fd, which Landlock does not restrict. */
    return added != 0 && why != EBADFD ? lap_sandbox_failed(err, LAP_E_BACKEND, strerror(why)) : LAP_OK;
}

lap_code lap_sandbox_restrict(const lap_sandbox *box, lap_error *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(RESTRICT_SELF, box->rules, 0) != 0)
        return lap_sandbox_failed(err, LAP_E_BACKEND, strerror(errno));
    return LAP_OK;
}
