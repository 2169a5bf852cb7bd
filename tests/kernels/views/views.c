/* lap_filter and the statistics on pixels that lie on a device: the results equal the host's, nothing is
 * written beside them, and pixels in the wrong place are refused. */
#include "there.h"

#include "tests/kernels/cudacpu/control.h"

static lap_context *context;
static const lap_params *params;

/* One size, one kind of memory: device view in, device view out, as on the host. */
static bool filtered(
    int width, int height, int channels, int apron, size_t off, lap_border border, const char *backend)
{
    lap_image in = picture(width, height, channels, apron, (uint32_t)(width * height));
    lap_image expected = {0};
    there from = there_make(0, width, height, channels, apron, off, 5);
    there to = there_make(0, width, height, channels, 0, off, 3);
    need(lap_image_create(&expected, width, height, channels, 0, &err) == LAP_OK &&
             lap_filter(context, &in.view, &expected.view, "c", params, border, &err) == LAP_OK,
        "on the host");
    there_put(&from, &in.view, NULL);
    there_put(&to, NULL, NULL);
    bool good = lap_filter(context, &from.view, &to.view, backend, params, border, &err) == LAP_OK &&
                there_is(&to, &expected.view, NULL);
    if (!good)
        printf("# %dx%dx%d apron %d offset %zu %s\n", width, height, channels, apron, off, backend);
    there_free(&from);
    there_free(&to);
    lap_image_destroy(&in);
    lap_image_destroy(&expected);
    return good;
}

static void check_filter(void)
{
    static const int sizes[][2] = {{1, 1}, {2, 70}, {43, 5}, {131, 37}};
    static const char *const backends[] = {"auto", "cuda-global", "cuda-shared4", "cuda-fast"};
    bool good = true;
    for (int i = 0; i < 48; i++)
        good = filtered(sizes[i % 4][0], sizes[i % 4][1], (i / 4) % 3 ? (i / 4) % 3 + 2 : 1,
                   i % 3 ? LAP_APRON : 0, i % 5 == 0 ? 0 : (size_t)(i % 5), (lap_border)((i / 4) % 4),
                   backends[(i / 4 + i) % 4]) &&
               good;
    check(good,
        "filter: the host's pixels at every size, border, apron and alignment, and nothing beside them");
}

static void check_statistics(void)
{
    lap_stats expected, got;
    bool good = true;
    for (int channels = 1; channels <= 4; channels++)
        for (size_t off = 0; off < 2; off++) {
            lap_image in = picture(97, 41, channels, 0, 7);
            there t = there_make(0, 97, 41, channels, 0, off, 1);
            there_put(&t, &in.view, NULL);
            memset(&expected, 0, sizeof expected);
            memset(&got, 0, sizeof got);
            need(lap_stats_of_view(context, &in.view, "c", 0, 100, &expected, &err) == LAP_OK, "on the host");
            good = good && lap_stats_of_view(context, &t.view, "auto", 0, 100, &got, &err) == LAP_OK &&
                   memcmp(&expected, &got, sizeof got) == 0;
            there_free(&t);
            lap_image_destroy(&in);
        }
    check(good, "statistics: those of the host, to the last bit");

    float rows[2][41], columns[2][97];
    lap_image in = picture(97, 41, 1, 0, 8);
    there t = there_make(0, 97, 41, 1, 0, 3, 0);
    there_put(&t, &in.view, NULL);
    good = lap_profiles(context, &in.view, NULL, NULL, rows[0], columns[0], &err) == LAP_OK &&
           lap_profiles(context, &t.view, NULL, NULL, rows[1], columns[1], &err) == LAP_OK &&
           memcmp(rows[0], rows[1], sizeof rows[0]) == 0 &&
           memcmp(columns[0], columns[1], sizeof columns[0]) == 0;
    check(good, "profiles: those of the host");
    there_free(&t);
    lap_image_destroy(&in);
}

static bool refused(const lap_view *in, const lap_view *out, const char *backend, const char *words)
{
    err = (lap_error){0};
    const lap_code code = lap_filter(context, in, out, backend, params, LAP_ZERO, &err);
    if (code == LAP_E_USAGE && strstr(err.message, words))
        return true;
    printf("# %s: code %d: %s\n", words, code, err.message);
    return false;
}

static void check_places(void)
{
    lap_image host = picture(30, 20, 3, 0, 1);
    there a = there_make(0, 30, 20, 3, 0, 0, 0), b = there_make(0, 30, 20, 3, 0, 0, 0);
    there other = there_make(1, 30, 20, 3, 0, 0, 0);
    lap_stats stats;
    check(refused(&a.view, &b.view, "c", "runs on the CPU, and the pixels lie on device 0") &&
              refused(&a.view, &b.view, "simd", "runs on the CPU"),
        "a backend of the CPU is refused for pixels on a device");
    check(refused(&host.view, &b.view, "auto", "in host memory, output on device 0") &&
              refused(&a.view, &other.view, "auto", "on device 0, output on device 1"),
        "two places are refused");
    lap_view lies = host.view, far = a.view, wrong = a.view, wrong_out = b.view;
    lies.place = 0;
    far.place = 9;
    wrong.place = wrong_out.place = 1;
    lap_view far_out = b.view;
    far_out.place = 9;
    check(refused(&lies, &b.view, "auto", "input: place 0, but the pixels lie in host memory"),
        "host memory that is said to be a device's is refused");
    check(refused(&wrong, &wrong_out, "auto", "place 1, but the pixels lie on device 0"),
        "memory of another device is refused");
    check(refused(&far, &far_out, "auto", "no such device"), "a device that is not there is refused");
    far.place = far_out.place = -2;
    check(refused(&far, &far_out, "auto", "place -2"), "a place that does not exist is refused");
    check(refused(&a.view, &a.view, "auto", "overlap"), "a result in its own source is refused");
    check(lap_stats_of_view(context, &other.view, "auto", 0, -1, &stats, &err) == LAP_E_USAGE &&
              lap_stats_of_view(context, &a.view, "c", 0, -1, &stats, &err) == LAP_E_USAGE &&
              lap_stats_of_view(context, &lies, "auto", 0, -1, &stats, &err) == LAP_E_USAGE,
        "statistics: another device, a backend of the CPU and host memory are refused");
    there_free(&other);
    there_free(&b);
    there_free(&a);
    lap_image_destroy(&host);
}

/* Each CUDA call of a filter and a count fails in turn: it returns an error, leaks nothing, and the next
 * run is right. */
static void check_failures(void)
{
    lap_image in = picture(40, 30, 3, 0, 3), expected = picture(40, 30, 3, 0, 0);
    there from = there_make(0, 40, 30, 3, 0, 1, 0), to = there_make(0, 40, 30, 3, 0, 1, 0);
    lap_stats right;
    there_put(&from, &in.view, NULL);
    there_put(&to, NULL, NULL);
    need(lap_filter(context, &in.view, &expected.view, "c", params, LAP_ZERO, &err) == LAP_OK &&
             lap_stats_of_view(context, &in.view, "c", 0, -1, &right, &err) == LAP_OK,
        "on the host");
    const uint64_t alive = lap_cudacpu_alive();
    int failed = 0, wrong = 0, leaks = 0;
    for (int n = 1; n < 200; n++) {
        char setting[64];
        lap_stats stats;
        snprintf(setting, sizeof setting, "devices=2,fail=%d:700", n);
        need(lap_cudacpu_configure(setting) == 0, setting);
        const lap_code code = lap_filter(context, &from.view, &to.view, "auto", params, LAP_ZERO, &err);
        const lap_code counted = lap_stats_of_view(context, &from.view, "auto", 0, -1, &stats, &err);
        const uint64_t calls = lap_cudacpu_count("calls");
        leaks += lap_cudacpu_alive() != alive;
        failed += code == LAP_E_DEVICE || counted == LAP_E_DEVICE;
        need(lap_cudacpu_configure("devices=2") == 0, "devices=2");
        if (code == LAP_OK) /* failing to free, or to get what only makes it faster, is not an error */
            wrong += !there_is(&to, &expected.view, NULL);
        if (counted == LAP_OK)
            wrong += stats.channel[2].sum != right.channel[2].sum;
        there_put(&to, NULL, NULL);
        if (code == LAP_OK && counted == LAP_OK && n > (int)calls)
            break;
    }
    check(failed > 10 && wrong == 0 && leaks == 0,
        "each call fails in turn: an error, and nothing is left behind");
    check(lap_filter(context, &from.view, &to.view, "auto", params, LAP_ZERO, &err) == LAP_OK &&
              there_is(&to, &expected.view, NULL),
        "the next one is right");
    there_free(&from);
    there_free(&to);
    lap_image_destroy(&in);
    lap_image_destroy(&expected);
}

int main(void)
{
    const lap_params defaults = lap_params_default();
    params = &defaults;
    need(lap_cudacpu_configure("devices=2") == 0, "devices=2");
    context = lap_context_create(2, &err);
    need(context != NULL, "context");
    check_filter();
    check_statistics();
    check_places();
    check_failures();
    lap_context_destroy(context);
    printf("1..%d\n", number);
    return failures > 0;
}
