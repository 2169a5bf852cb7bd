/* The text of a kernel: what is accepted is finite, small enough, and reads the same when it is written out.
 */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "lapedge.h"

const char *const fuzz_texts[] = {"laplace5", "log5", "0,0,0,0,0,0,1,2,1,0,0,2,-12,2,0,0,1,2,1,0,0,0,0,0,0",
    "1 1 1 1 1/1 1 1 1 1/1 1 -24 1 1/1 1 1 1 1/1 1 1 1 1",
    "1e6,-1e-6,0x1p3,+5,.5,5.,1e1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9",
    "4194303,-1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "nan,inf,-inf,1e999", NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), again[25 * 24] = "";
    lap_kernel kernel, same;
    lap_error err = {0};
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    /* A descriptor is read until its end, which may never come. */
    lap_code code = strncmp(text, "/dev/", 5) == 0 ? LAP_E_USAGE : lap_kernel_parse(text, &kernel, &err);
    if (code == LAP_OK) {
        double sum = 0;
        size_t used = 0;
        for (int i = 0; i < 25; i++) {
            FUZZ_REQUIRE(isfinite(kernel.h[i]));
            sum += fabs((double)kernel.h[i]);
            used += (size_t)snprintf(
                again + used, sizeof again - used, "%s%.9g", i ? "," : "", (double)kernel.h[i]);
        }
        FUZZ_REQUIRE(sum <= 4194304.0);
        FUZZ_REQUIRE(lap_kernel_parse(again, &same, NULL) == LAP_OK);
        for (int i = 0; i < 25; i++)
            FUZZ_REQUIRE(kernel.h[i] == same.h[i]);
    }
    free(text);
    return 0;
}
