#include "launches.h"

lap_error err;
static int number, failures;

void check(bool good, const char *what)
{
    printf("%sok %d - launches: %s\n", good ? "" : "not ", ++number, what);
    failures += !good;
}

void need(bool good, const char *what)
{
    if (good)
        return;
    printf("Bail out! %s: %s\n", what, err.message);
    exit(1);
}

void begin(const char *settings)
{
    char all[200];
    snprintf(all, sizeof all, "devices=2,%shang=1:-1", settings);
    need(lap_cudacpu_configure(all) == 0, all);
    err = (lap_error){0};
}

void go_on(void)
{
    need(lap_cudacpu_configure("devices=2") == 0, "settings");
}

void add_launch(
    char *text, unsigned grid_x, unsigned grid_y, unsigned block_x, unsigned block_y, size_t shared)
{
    const size_t used = strlen(text);
    size_t n = (size_t)snprintf(text + used, TEXT - used, "%s%u", used ? "; " : "", grid_x);
    if (grid_y != 1)
        n += (size_t)snprintf(text + used + n, TEXT - used - n, "x%u", grid_y);
    n += (size_t)snprintf(text + used + n, TEXT - used - n, "/%u", block_x);
    if (block_y != 1)
        n += (size_t)snprintf(text + used + n, TEXT - used - n, "x%u", block_y);
    if (shared)
        snprintf(text + used + n, TEXT - used - n, "/%zu", shared);
}

bool launched(const char *expected, const char *what)
{
    char seen[TEXT] = "";
    lap_cudacpu_shape s;
    bool is_flat = true;
    for (unsigned back = (unsigned)lap_cudacpu_count("launches"); back-- > 0;) {
        if (lap_cudacpu_launched(back, &s) != 0)
            continue; /* more than the runtime remembers */
        add_launch(seen, s.grid[0], s.grid[1] * s.grid[2], s.block[0], s.block[1], s.shared);
        is_flat = is_flat && s.block[2] == 1;
    }
    if (strcmp(seen, expected) == 0 && is_flat)
        return true;
    printf("# %s: launched %s, expected %s\n", what, seen, expected);
    return false;
}

int main(void)
{
    check_probes();
    need(lap_cudacpu_configure("devices=2") == 0 && lap_cuda_count(NULL) == 2, "devices");
    check_filters();
    check_ladders();
    check_small();
    check_views();
    check_plans();
    check_jpeg();
    printf("1..%d\n", number);
    return failures > 0;
}
