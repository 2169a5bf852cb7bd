/* doctor: shows what this machine has, and checks that everything that was built can run on it. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/term.h"

enum { MOST_RUNGS = 128 };

typedef struct findings {
    char cpu[128];
    int threads;
    double start_ms, device_ms; /* time to start the threads, and the first CUDA device with its driver */
    unsigned long long files;
    bool healthy;
    lap_rung_info cannot[MOST_RUNGS]; /* rows that were built and cannot run here */
    int cannot_count;
    lap_error library; /* a library that cannot be used; code LAP_OK: all can */
    const char *no_device;
} findings;

/* A row that is only one candidate of another row is optional: simd works without AVX-512, for example. */
static bool is_choice(lap_op op, const char *name)
{
    lap_rung_info rung;
    for (int i = 0; lap_rung_at(op, i, false, &rung); i++)
        for (const char *each = rung.resolves; each && *each;) {
            const size_t length = strcspn(each, ",");
            if (strlen(name) == length && strncmp(each, name, length) == 0)
                return true;
            each += length + (each[length] == ',');
        }
    return false;
}

/* Adds a row with its reason. The reason is determined only once, since it could change: memory that was
 * short may be free again a moment later. */
static void add_rung(findings *f, const lap_rung_info *rung)
{
    f->healthy = false;
    if (f->cannot_count < MOST_RUNGS)
        f->cannot[f->cannot_count++] = *rung;
}

/* Finds the rows that were built and cannot run. */
static void check_rungs(findings *f)
{
    lap_rung_info built, here;
    for (int op = 0; op < LAP_OP_COUNT; op++)
        for (int i = 0; lap_rung_at((lap_op)op, i, false, &built); i++) {
            const bool is_cuda = strcmp(built.family, "cuda") == 0;
            if ((is_cuda && built.reason) || (!built.resolves && is_choice((lap_op)op, built.name)) ||
                !lap_rung_at((lap_op)op, i, true, &here) || !here.reason)
                continue;
            add_rung(f, &here);
        }
    /* Every processor can run plain C. If the C coder cannot run, the JPEG library is the cause, and no other
     * coder can run. */
    for (int op = LAP_OP_ENCODE; op <= LAP_OP_DECODE; op++)
        for (int i = 0; lap_coder_at((lap_op)op, i, &here); i++)
            if (strcmp(here.family, "c") == 0 && here.reason)
                add_rung(f, &here);
}

static void tell_rung(const lap_rung_info *rung)
{
    char text[400];
    snprintf(text, sizeof text, "%s %s cannot run: %s", lap_op_name(rung->op), rung->name, rung->reason);
    fputs("  ", stdout);
    lap_cli_print_wrapped(text, 2, lap_term_width());
}

static bool examine(findings *f)
{
    struct rlimit files;
    lap_device_info device;
    lap_error err;
    *f = (findings){.healthy = true};
    lap_cpu_name(f->cpu, sizeof f->cpu);
    double began = lap_cli_now_ms();
    lap_context *context = lap_context_create(0, &err);
    if (!context) {
        lap_cli_print_error(&err, NULL);
        return false;
    }
    f->start_ms = lap_cli_now_ms() - began;
    f->threads = lap_context_threads(context);
    lap_context_destroy(context);
    began = lap_cli_now_ms();
    (void)lap_device_at(0, &device, &f->no_device);
    f->device_ms = lap_cli_now_ms() - began;
    (void)lap_libraries_check(&f->library);
    f->files = getrlimit(RLIMIT_NOFILE, &files) == 0 ? (unsigned long long)files.rlim_cur : 0;
    return true;
}

static json_t *devices_json(void)
{
    json_t *devices = json_array();
    lap_device_info d;
    for (int i = 0; lap_device_at(i, &d, NULL); i++)
        json_array_append_new(devices,
            json_pack("{si ss sI sI ss}", "device", d.device, "name", d.name, "memory_bytes",
                (json_int_t)d.memory_bytes, "free_bytes", (json_int_t)d.free_bytes, "driver", d.driver));
    return devices;
}

static int print_json(const findings *f)
{
    json_t *object = lap_json_object("lapedge.doctor/1");
    json_object_set_new(object, "version", json_string(lap_version()));
    json_object_set_new(object, "build", lap_json_text(lap_build_info()));
    json_object_set_new(object, "cpu", lap_json_text(f->cpu));
    json_object_set_new(object, "threads", json_integer(f->threads));
    json_object_set_new(object, "memory_bytes", json_integer((json_int_t)lap_memory_here()));
    json_object_set_new(object, "open_files", json_integer((json_int_t)f->files));
    json_object_set_new(object, "threads_start_ms", lap_json_ms(f->start_ms));
    json_object_set_new(object, "device_start_ms", lap_json_ms(f->device_ms));
    json_object_set_new(object, "devices", devices_json());
    json_object_set_new(object, "no_device", lap_json_text(f->no_device));
    json_object_set_new(object, "library", lap_json_error(&f->library));
    json_object_set_new(object, "healthy", json_boolean(f->healthy));
    return lap_json_print(object);
}

__attribute__((format(printf, 3, 4))) static void print_line(
    const lap_cli *cli, const char *name, const char *format, ...)
{
    enum { AT = 10 };
    char text[800];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("%s%s%s%*s", lap_term_bold(cli, stdout), name, lap_term_plain(cli, stdout), AT - (int)strlen(name),
        "");
    lap_cli_print_wrapped(text, AT, lap_term_width());
}

static void print_text(const lap_cli *cli, const findings *f)
{
    lap_rung_info rung;
    lap_device_info d;
    const char *mask = getenv("LAP_CPU_MASK");
    int i = 0, length = 0;
    char build[600];
    length = snprintf(build, sizeof build, "lapedge %s", lap_version());
    for (const char *line = lap_build_info(); *line && length < (int)sizeof build;
         line += strcspn(line, "\n"), line += *line == '\n')
        length +=
            snprintf(build + length, sizeof build - (size_t)length, ", %.*s", (int)strcspn(line, "\n"), line);
    print_line(cli, "build", "%s", build);
    print_line(cli, "machine", "%s, %d thread%s", f->cpu, f->threads, f->threads == 1 ? "" : "s");
    print_line(cli, "memory", "%.1f GB for this process", (double)lap_memory_here() / 1e9);
    print_line(cli, "limits", "%llu open files", f->files);
    print_line(cli, "start", "threads %.1f ms, CUDA %.1f ms", f->start_ms, f->device_ms);
    for (int r = 0; lap_rung_at(LAP_OP_FILTER, r, false, &rung); r++)
        if (strcmp(rung.name, "simd") == 0 || strcmp(rung.name, "auto") == 0)
            print_line(cli, "backend", "%s -> %s", rung.name, rung.resolved ? rung.resolved : "none");
    for (; lap_device_at(i, &d, NULL); i++)
        print_line(cli, "device", "%d: %s, %.1f GB (%.1f free), driver %s", d.device, d.name,
            (double)d.memory_bytes / 1e9, (double)d.free_bytes / 1e9, d.driver);
    if (i == 0)
        print_line(cli, "device", "none: %s", f->no_device ? f->no_device : "no reason known");
    print_line(cli, "verdict", "%s",
        !f->healthy     ? "not everything that was built can run"
        : mask && *mask ? "everything that was built can run, except what LAP_CPU_MASK hides"
                        : "everything that was built can run");
    if (f->library.code != LAP_OK)
        print_line(cli, "library", "%s", f->library.message);
    for (i = 0; i < f->cannot_count; i++)
        tell_rung(&f->cannot[i]);
}

int lap_cli_doctor(lap_cli *cli)
{
    findings f;
    if (cli->operand_count > 0)
        return lap_cli_usage("doctor takes no operands, but \"%s\" is given", cli->operands[0]);
    if (!examine(&f))
        return LAP_EXIT_FAILED;
    f.healthy = f.library.code == LAP_OK;
    check_rungs(&f);
    const int printed = lap_cli_wants_json(cli) ? print_json(&f) : LAP_EXIT_OK;
    if (!cli->json)
        print_text(cli, &f);
    return f.healthy ? printed : LAP_EXIT_BACKEND;
}
