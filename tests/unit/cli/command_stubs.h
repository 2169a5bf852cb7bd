/* For tests of commands: a command line, what a command prints, and stubs of calls that many commands make. A
 * stub is used only by the programs for which rules.mk names its call. */
#ifndef COMMAND_STUBS_H
#define COMMAND_STUBS_H

#include "tests/support/said.h"

#include <signal.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/term.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
#define L "lapedge: "
/* Declares the stub of a call with the type of the call. */
#define STUB(call) __typeof__(call) __wrap_##call

/* ---- the command line ------------------------------------------------------------------------------ */

static lap_cli cli;
static char *operands[5];

typedef struct rung { /* a backend, and why it cannot run here */
    lap_rung_info built;
    const char *reason;
} rung;

/* What surrounds a command. Zero: no signal, no device, no backend, and standard output can be written. */
static struct {
    int caught;            /* the signal that was received */
    lap_cli_exit flush;    /* what a flush returns after `flushes` that succeed */
    int flushes, width;    /* width: of the terminal */
    const char *build;     /* text of lap_build_info */
    const char *no_device; /* why a device cannot be used */
    int first_device, device_count;
    const rung *rungs;
    size_t rung_count;
    bool probes_not; /* fail if backends are tried on a device */
} around;

/* Forgets the command line before, and sets the command. */
static inline void begin_command(int command)
{
    memset(&around, 0, sizeof around);
    around.width = 10000;
    memset(operands, 0, sizeof operands);
    cli = (lap_cli){.settings = lap_settings_default(),
        .allowed = {-1, -1, -1, -1, 0, 0},
        .color = LAP_CLI_NEVER,
        .command = &lap_cli_commands[command],
        .operands = operands};
    lap_json_direct(false, NULL, true);
}

/* Sets up to three operands; behind them is a word that is no operand. */
static inline void set_operands(const char *one, const char *two, const char *three)
{
    static char words[3][80];
    const char *const given[] = {one, two, three};
    for (cli.operand_count = 0; cli.operand_count < 3 && given[cli.operand_count]; cli.operand_count++) {
        operands[cli.operand_count] = words[cli.operand_count];
        snprintf(words[cli.operand_count], sizeof *words, "%s", given[cli.operand_count]);
    }
    operands[cli.operand_count] = "-";
}

static inline void wants_json(void)
{
    cli.json = true;
    lap_json_direct(true, NULL, true);
}

/* Standard output is lost after so many flushes, with this exit code. */
static inline void lose_output(int flushes, lap_cli_exit code)
{
    around.flushes = flushes;
    around.flush = code;
}

/* ---- what it prints -------------------------------------------------------------------------------- */

/* Returns the exit code; said_out and said_err then return what was printed. */
static inline int code_of(int (*command)(lap_cli *cli))
{
    said_listen();
    const int code = command(&cli);
    said_end();
    return code;
}

/* Returns as one text what is printed on standard output, "--" if that is not empty, what is printed on
 * standard error, and the exit code. */
static inline const char *all_of(int (*command)(lap_cli *cli))
{
    static char text[1 << 16];
    const int code = code_of(command);
    snprintf(
        text, sizeof text, "%.30000s%s%.30000s%d", said_out(), *said_out() ? "--\n" : "", said_err(), code);
    return text;
}

/* Compares an object, its order too, with its text, in which ' stands for ". */
static inline void assert_same_object(const json_t *got, const char *text, const char *file, int line)
{
    char want[8192];
    assert_true(strlen(text) < sizeof want);
    for (char *to = strcpy(want, text); *to; to++)
        *to = (char)(*to == '\'' ? '"' : *to);
    char *shown = json_dumps(got, JSON_ENCODE_ANY);
    assert_same_text(shown ? shown : "no object", want, file, line);
    free(shown);
}
#define assert_object(got, text) assert_same_object(got, text, __FILE__, __LINE__)

/* ---- signals ---------------------------------------------------------------------------------------- */

/* The process that started the test may ignore signals: a shell does for a job in the background. */
static inline void heed_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < COUNT(numbers); i++)
        signal(numbers[i], SIG_DFL);
}

static inline void (*handler_of(int number))(int)
{
    struct sigaction action;
    assert_int_equal(sigaction(number, NULL, &action), 0);
    return action.sa_handler;
}

/* ---- the folder in which the tests of a program run ------------------------------------------------ */

static char before_[500];

static inline int enter_scratch(void **state)
{
    (void)state;
    return make_scratch() && said_open() && getcwd(before_, sizeof before_) && chdir(scratch) == 0 ? 0 : -1;
}

static inline int leave_scratch(void **state)
{
    return said_close() | chdir(before_) | remove_scratch(state);
}

/* ---- stubs ----------------------------------------------------------------------------------------- */

STUB(lap_cli_caught);
int __wrap_lap_cli_caught(void)
{
    return around.caught;
}

STUB(lap_cli_flush);
lap_cli_exit __wrap_lap_cli_flush(lap_cli_exit so_far)
{
    return around.flush == LAP_EXIT_OK || around.flushes-- > 0 ? so_far : around.flush;
}

STUB(lap_term_width);
int __wrap_lap_term_width(void)
{
    return around.width;
}

STUB(lap_build_info);
const char *__wrap_lap_build_info(void)
{
    return around.build;
}

STUB(lap_rung_at);
bool __wrap_lap_rung_at(lap_op op, int i, bool probe_devices, lap_rung_info *info)
{
    assert_false(probe_devices && around.probes_not);
    for (size_t k = 0; k < around.rung_count; k++)
        if (around.rungs[k].built.op == op && i-- == 0) {
            *info = around.rungs[k].built;
            info->reason = probe_devices ? around.rungs[k].reason : around.rungs[k].built.reason;
            return true;
        }
    return false;
}

STUB(lap_device_at);
bool __wrap_lap_device_at(int i, lap_device_info *info, const char **reason)
{
    *info = (lap_device_info){.device = i,
        .name = "A device",
        .driver = "driver 1.2",
        .memory_bytes = 2100000000,
        .free_bytes = 1000000000,
        .cc_major = 9,
        .cc_minor = 1,
        .sms = 132};
    if (reason)
        *reason = around.no_device;
    return i >= around.first_device && i < around.first_device + around.device_count;
}

#endif
