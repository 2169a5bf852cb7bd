/* For test programs with one lap_error: prints a line for each check, and ends the program if the test
 * itself cannot continue. */
#ifndef TESTS_JPEGCUDA_TAP_H
#define TESTS_JPEGCUDA_TAP_H

#include <stdio.h>
#include <stdlib.h>

#include "lapedge.h"

static int number, failures;
static lap_error err;

static void check(bool good, const char *what)
{
    printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
    failures += !good;
}

static void need(bool good, const char *what)
{
    if (good)
        return;
    printf("Bail out! %s: %s\n", what, err.message);
    exit(1);
}

#endif
