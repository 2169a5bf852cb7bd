/* The content of a file in one number. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#include "io/place.h"

bool lap_content_hash(int folder, const char *name, uint64_t *hash)
{
    enum { PIECE = 256 * 1024 };
    struct stat st;
    ssize_t got = -1;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    XXH3_state_t *state = XXH3_createState();
    char *bytes = malloc(PIECE);
    if (fd >= 0 && state && bytes && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        XXH3_64bits_reset(state) == XXH_OK)
        while ((got = read(fd, bytes, PIECE)) > 0 || (got < 0 && errno == EINTR))
            if (got > 0)
                (void)XXH3_64bits_update(state, bytes, (size_t)got); /* fails for NULL alone */
    if (got == 0)
        *hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    free(bytes);
    if (fd >= 0)
        close(fd);
    return got == 0;
}
