/* The filter kernels under ThreadSanitizer, a few sizes. Sizes for each rung: one block, a block that is
 * cut on both sides, several blocks. For cuda-fast, whose blocks have four warps of 8 rows of 480 bytes
 * each, also two warps, one below the other, and two blocks, side by side and one below the other. */
#include <string.h>

#include "tests/kernels/ladder/check.h"

static const struct {
    int width, height, channels;
} sizes[] = {{1, 1, 1}, {16, 16, 3}, {21, 19, 3}, {35, 9, 4}, {170, 13, 3}, {490, 7, 1}, {21, 41, 3}};

static int check_sizes(const lap_rung *rung, const lap_rung *reference, const char *kernel, int test)
{
    char message[640] = "";
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof sizes / sizeof *sizes; i++) {
        lap_error err;
        check_subject subject;
        check_case c = {.width = sizes[i].width,
            .height = sizes[i].height,
            .channels = sizes[i].channels,
            .border = LAP_REFLECT,
            .params = lap_params_default(),
            .seed = 1};
        ok = lap_kernel_parse(kernel, &c.params.kernel, &err) == LAP_OK;
        check_prepare(&subject, &c, reference);
        ok = ok && check_rung(&subject, rung, &(lap_exec){.threads = 1}, NULL, message, sizeof message);
        check_release(&subject);
    }
    printf("%s %d - %s, %s: no race\n", ok ? "ok" : "not ok", test, rung->name, kernel);
    if (!ok)
        printf("# %s\n", message);
    return !ok;
}

int main(void)
{
    const lap_rung *row, *reference = lap_rung_row(LAP_OP_FILTER, 0);
    int tests = 0, failures = 0;
    for (int i = 0; (row = lap_rung_row(LAP_OP_FILTER, i)); i++) {
        if (!row->device || row->resolves)
            continue;
        failures += check_sizes(row, reference, "laplace5", ++tests);
        if (strcmp(row->name, "cuda-fast") == 0)
            failures += check_sizes(row, reference, "npp5", ++tests);
    }
    printf("1..%d\n", tests);
    return failures > 0 || tests == 0;
}
