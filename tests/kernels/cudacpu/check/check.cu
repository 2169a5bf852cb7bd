/* Runs the checks, one after the other. TAP on stdout. */
#include "check.h"

#include <cstdio>
#include <cstdlib>

static int tests, failures;

void report(bool ok, const char *what)
{
    printf("%s %d - %s\n", ok ? "ok" : "not ok", ++tests, what);
    failures += !ok;
}

void begin(const char *settings, unsigned seed)
{
    char all[200];
    snprintf(all, sizeof all, "seed=%u%s%s", seed, settings[0] ? "," : "", settings);
    if (lap_cudacpu_configure(all)) {
        printf("Bail out! %s\n", all);
        exit(1);
    }
}

int main()
{
    begin("devices=2", 1); /* the scaffold counts devices once */
    check_scaffold();
    check_kernels();
    check_streams();
    check_errors();
    begin("", 1);
    report(lap_cudacpu_alive() == 0, "nothing is left behind");
    printf("1..%d\n", tests);
    return failures > 0;
}
