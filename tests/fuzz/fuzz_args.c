/* Any words as a command line, separated by zero bytes or newlines: a value, or a refusal with its exit code.
 */
#include <string.h>
#include <unistd.h>

#include "cli/options/args.h"
#include "fuzz.h"

const char *const fuzz_texts[] = {"in.jpg\nout.jpg",
    "run\n-b\nsimd\n--kernel=log5\nin.jpg\nout.png\n--format\npng", "transform\n--rotate=90\na\nb",
    "in\nout\n-j4\n--shard=1/3\n--log=l\n--fail-fast", "bench\n--sizes=1M,64x48\n--backends=c",
    "compare\n--ops=filter,reduce\n--max-differing=5%\na", "diff\na\nb\n--mask-border=2",
    "--max-memory=1.5G\n--timeout=1e3\na\nb", "-qvnf0h\n--\n-x\ny", "stats\n--profiles\n--csv\na", NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { WORDS = 40 };
    static int is_quiet;
    char *text = malloc(size + 1), *words[WORDS + 2] = {(char *)"lapedge"};
    int count = 1;
    if (!text)
        return 0;
    if (!is_quiet++)
        FUZZ_REQUIRE(freopen("/dev/null", "w", stderr));
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    for (char *at = text; at && count <= WORDS;) {
        words[count++] = at;
        at = at + strcspn(at, "\n");
        if (at < text + size)
            *at++ = 0;
        else
            at = NULL;
    }
    optind = 0; /* getopt forgets the line before */
    (void)getopt(1, words, "");
    lap_cli cli = {0};
    lap_cli_exit code = lap_cli_parse(&cli, count, words);
    const bool lacks_folder =
        code == LAP_EXIT_NOTHING; /* with an option of folders, the only input is missing */
    FUZZ_REQUIRE(code == LAP_EXIT_OK || code == LAP_EXIT_USAGE || code == LAP_EXIT_BACKEND || lacks_folder);
    FUZZ_REQUIRE(
        code != LAP_EXIT_OK || (cli.command && cli.operand_count >= 0 && cli.operand_count <= count));
    free(cli.operands);
    free(text);
    return 0;
}
