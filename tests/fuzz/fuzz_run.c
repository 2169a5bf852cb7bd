/* The whole way, from bytes to bytes: decode, orient, filter, encode, read back. The settings vary with the
 * input, and not from run to run. What comes out is read without a warning, has the promised sides, and does
 * not depend on how it was decoded or on the number of threads. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lapedge.h"

enum { SIDE = 512 };

static lap_settings chosen(const uint8_t *data, size_t size, unsigned *choice)
{
    static const char *const formats[] = {"jpg", "jpg", "jpg", "ppm", "png", "tsv", "bmp", "tga"};
    static const char *const kernels[] = {"laplace5", "laplace3-8", "log5", "identity"};
    lap_settings s = lap_settings_default();
    *choice = 0;
    for (size_t i = 0; i < size; i++)
        *choice = (*choice ^ data[i]) * 16777619u;
    const unsigned c = *choice >> 7;
    s.backend = "auto";
    s.sync = false;
    s.format = formats[c % 8];
    FUZZ_REQUIRE(lap_kernel_parse(kernels[c / 8 % 4], &s.params.kernel, NULL) == LAP_OK);
    s.gray = c / 32 % 2;
    s.auto_orient = c / 64 % 2;
    s.turn = (lap_turn)(c / 128 % 8);
    s.border = (lap_border)(c / 1024 % 4);
    s.fail_on = (lap_fail_on)(c / 4096 % 3);
    s.strip = c / 16384 % 2;
    s.subsampling = (lap_subsampling)(c / 32768 % 4);
    s.max_pixels = (uint64_t)SIDE * SIDE;
    s.max_memory = 1 << 25;
    s.max_scans = 20;
    return s;
}

static void read_back(lap_context *context, const void *made, size_t made_size, const lap_report *report)
{
    lap_settings s = lap_settings_default();
    lap_report again = {0};
    void *out = NULL;
    size_t size = 0;
    s.sync = false;
    s.filter = false;
    s.backend = "c";
    s.format = "ppm";
    s.fail_on = LAP_FAIL_WARNING;
    FUZZ_REQUIRE(lap_run_memory(context, made, made_size, &out, &size, &s, &again, NULL) == LAP_OK);
    FUZZ_REQUIRE(again.width == report->width && again.height == report->height);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static lap_context *context;
    if (!context && !(context = lap_context_create(2, NULL)))
        return 0;
    unsigned choice;
    lap_settings s = chosen(data, size, &choice);
    void *out[2] = {NULL, NULL};
    size_t made[2] = {0, 0};
    lap_report report = {0}, other = {0};
    lap_error err = {0};
    lap_code code = lap_run_memory(context, data, size, &out[0], &made[0], &s, &report, &err);
    FUZZ_REQUIRE(code == err.code && (code == LAP_OK) == (out[0] != NULL) && code != LAP_E_INTERNAL);
    s.threads = 1;
    s.decode = choice & 1 ? LAP_DECODE_SERIAL : LAP_DECODE_PARALLEL;
    FUZZ_REQUIRE(lap_run_memory(context, data, size, &out[1], &made[1], &s, &other, NULL) == code);
    if (code == LAP_OK) {
        FUZZ_REQUIRE(made[0] == made[1] && memcmp(out[0], out[1], made[0]) == 0);
        FUZZ_REQUIRE(report.warnings == other.warnings);
        if (!strcmp(s.format, "jpg") || !strcmp(s.format, "png") || !strcmp(s.format, "ppm"))
            read_back(context, out[0], made[0], &report);
    }
    free(out[0]);
    free(out[1]);
    return 0;
}
