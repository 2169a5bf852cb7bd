/* Every option there is: the one table that parsing, help, completion and suggestions read. */
#include <stddef.h>

#include "args.h"
#include "values.h"

enum { FILTER, OUTPUT, METADATA, FOLDERS, BENCH, LIMITS, TALK };
const char *const lap_cli_groups[] = {
    "Filter", "Output", "Orientation and metadata", "Folders", "Bench", "Limits", "Talk", NULL};

/* Letters: R run, B bench, F folder. */
enum {
    R = LAP_CLI_RUN,
    B = LAP_CLI_BENCH,
    F = LAP_CLI_FOLDER,
    L = LAP_CLI_BACKENDS,
    ALL = LAP_CLI_TALK,
    BRIEF = true
};

#define AT(member) offsetof(lap_cli, member)

/* name, argument, setter, field, low, high, help, applies, letter, group, in the short help */
const lap_cli_option lap_cli_options[LAP_CLI_OPTIONS] = {
    {"backend", "NAME", lap_set_backend, AT(settings.backend), 0, 0,
        "which implementation runs (auto: the fastest here); 'lapedge backends' lists them", R, 'b', FILTER,
        BRIEF},
    {"kernel", "NAME|FILE|LIST", lap_set_kernel, AT(settings.params.kernel), 0, 0,
        "5x5 coefficients, row by row (laplace5); also laplace3-4, laplace3-8, log5, npp5, opencv5, "
        "identity, "
        "or 25 numbers in a file or a list",
        R | B, 0, FILTER, BRIEF},
    {"border", "zero|replicate|reflect|reflect101", lap_set_word, AT(settings.border), 0, 0,
        "what lies beyond the picture's edges (zero)", R | B, 0, FILTER, BRIEF},
    {"range", "clamp|abs", lap_set_word, AT(settings.params.range), 0, 0,
        "negative results to 0, or their size (clamp)", R | B, 0, FILTER, BRIEF},
    {"scale", "F", lap_set_float, AT(settings.params.scale), -3e38, 3e38, "multiplies the sum of 25 (1)",
        R | B, 0, FILTER, false},
    {"offset", "F", lap_set_float, AT(settings.params.offset), -3e38, 3e38, "is added after the scale (0)",
        R | B, 0, FILTER, false},
    {"invert", NULL, lap_set_true, AT(settings.params.invert), 0, 0,
        "dark edges on white: 255 minus the result", R | B, 0, FILTER, false},
    {"threshold", "T", lap_set_int, AT(settings.params.threshold), 0, 255,
        "255 where the result is at least T (0 to 255), else 0", R | B, 0, FILTER, false},
    {"gray", NULL, lap_set_true, AT(settings.gray), 0, 0, "one channel: the stored luma, or BT.601 of RGB", R,
        0, FILTER, BRIEF},
    {"threads", "N", lap_set_int, AT(settings.threads), 1, 1024, "threads at most (every core)", R | B, 0,
        FILTER, BRIEF},
    {"devices", "0,1|all", lap_set_devices, 0, 0, 0, "CUDA devices (0)", R | B, 0, FILTER, false},

    {"format", "jpg|jpeg|png|bmp|tga|ppm|pgm|tsv", lap_set_choice, AT(settings.format), 0, 0,
        "kind of the output (by its extension; jpg for -)", R, 0, OUTPUT, false},
    {"quality", "N", lap_set_int, AT(settings.quality), 1, 100, "JPEG quality, 1 to 100 (90)", R, 'Q', OUTPUT,
        BRIEF},
    {"subsampling", "same|444|422|420", lap_set_word, AT(settings.subsampling), 0, 0,
        "JPEG chroma (same as the input, 444 where it has none)", R, 0, OUTPUT, false},
    {"restart", "auto|on|off", lap_set_word, AT(settings.restart), 0, 0,
        "JPEG restart markers, which let all threads encode (auto: where there is more than one band)", R, 0,
        OUTPUT, false},
    {"in-place", NULL, lap_set_true, AT(in_place), 0, 0, "each FILE is replaced by its edges, atomically", R,
        0, OUTPUT, BRIEF},
    {"no-sync", NULL, lap_set_false, AT(settings.sync), 0, 0, "do not wait until the output is on the disk",
        R, 0, OUTPUT, false},

    {"auto-orient", NULL, lap_set_true, AT(settings.auto_orient), 0, 0,
        "turn the pixels as the EXIF tag says and reset it (pixels stay as stored, tag kept)", R, 0, METADATA,
        false},
    {"strip", NULL, lap_set_true, AT(settings.strip), 0, 0,
        "write no EXIF, XMP, IPTC, ICC, comments (all kept)", R, 0, METADATA, false},
    {"preserve", NULL, lap_set_true, AT(settings.preserve), 0, 0, "give the output the input's time and mode",
        R, 0, METADATA, false},

    {"jobs", "N", lap_set_int, AT(jobs), 1, 1024, "files at once (one a core)", F, 'j', FOLDERS, BRIEF},
    {"force", NULL, lap_set_true, AT(force), 0, 0, "replace outputs that this program did not write", F, 'f',
        FOLDERS, false},
    {"dry-run", NULL, lap_set_true, AT(dry_run), 0, 0, "say what would be done, and do nothing", F, 'n',
        FOLDERS, false},
    {"fail-fast", NULL, lap_set_true, AT(fail_fast), 0, 0, "stop at the first file that fails", F, 0, FOLDERS,
        false},
    {"shard", "I/N|auto", lap_set_text, AT(shard), 0, 0,
        "the I-th of N shares, from 0; auto asks Slurm, MPI or Kubernetes", F, 0, FOLDERS, false},
    {"files-from", "FILE", lap_set_text, AT(files_from), 0, 0,
        "names of inputs, one a line; - is standard input", F, 0, FOLDERS, false},
    {"null", NULL, lap_set_true, AT(null_separated), 0, 0, "names in --files-from end with a zero byte", F,
        '0', FOLDERS, false},
    {"log", "FILE", lap_set_text, AT(log), 0, 0, "one JSON line an input", F, 0, FOLDERS, false},

    {"backends", "LIST", lap_set_backends, AT(bench.backends), 0, 0, "rungs to time, by commas (all)", B, 0,
        BENCH, BRIEF},
    {"sizes", "LIST", lap_set_sizes, 0, 0, 0, "pixels, 4:3, or WxH: 1M,12M,4992x3744 (4992x3744)", B, 0,
        BENCH, BRIEF},
    {"image", "FILE", lap_set_text, AT(bench.image), 0, 0,
        "take the pixels from this photo (made-up ones); --sizes cuts and tiles it", B, 0, BENCH, BRIEF},
    {"channels", "N", lap_set_int, AT(bench.channels), 1, 4, "1, 3 or 4 (3)", B, 0, BENCH, false},
    {"runs", "N", lap_set_int, AT(bench.runs), 1, 10000, "timed runs of each rung (20)", B, 0, BENCH, BRIEF},
    {"warm", NULL, lap_set_true, AT(bench.warm), 0, 0,
        "the same buffers in each run (rotating ones that no cache holds)", B, 0, BENCH, false},
    {"omp-loop", "y|x|window", lap_set_choice, AT(bench.omp_loop), 0, 0,
        "which loop 'openmp' makes parallel: rows, columns, or the 5x5 window (y)", B, 0, BENCH, false},
    {"block", "WxH", lap_set_block, 0, 0, 0, "block of 'cuda-global' (16x16)", B, 0, BENCH, false},
    {"type", "u8|f32|f64", lap_set_choice, AT(bench.type), 0, 0,
        "element, for transpose and reduce (each ladder's own)", B, 0, BENCH, false},
    {"n", "N", lap_set_count, AT(bench.n), 1, 0, "reduce: values; matvec: rows and columns", B, 0, BENCH,
        false},
    {"value", "F", lap_set_double, AT(bench.value), -1e300, 1e300, "reduce: every element (1.23)", B, 0,
        BENCH, false},
    {"baseline", "FILE", lap_set_text, AT(baseline), 0, 0,
        "compare with the --json of an earlier bench; exit 1 if a rung is slower", B, 0, BENCH, false},
    {"tolerance", "P%", lap_set_share, AT(tolerance), 0, 0, "how much slower counts, for --baseline (10%)", B,
        0, BENCH, false},

    {"max-pixels", "N", lap_set_size, AT(settings.max_pixels), 0, 0,
        "larger pictures are refused; K, M, G are powers of 1000; 0: no limit (268M)", R, 0, LIMITS, false},
    {"max-scans", "N", lap_set_int, AT(settings.max_scans), 0, 1e6,
        "scans of a progressive JPEG; 0: no limit (100)", R, 0, LIMITS, false},
    {"max-memory", "BYTES", lap_set_size, AT(settings.max_memory), 0, 0, "memory for a file (no limit)", R, 0,
        LIMITS, false},
    {"timeout", "SECONDS", lap_set_double, AT(settings.timeout_s), 0, 1e6, "time for a file (no limit)", R, 0,
        LIMITS, false},
    {"fail-on", "none|truncated|warning", lap_set_word, AT(settings.fail_on), 0, 0,
        "how broken an input may be: anything goes, no lost data, no oddity (truncated)", R, 0, LIMITS,
        false},

    {"quiet", NULL, lap_set_true, AT(quiet), 0, 0, "errors only", ALL, 'q', TALK, false},
    {"verbose", NULL, lap_set_true, AT(verbose), 0, 0, "what ran, and the time of each stage", ALL, 'v', TALK,
        BRIEF},
    {"json", NULL, lap_set_true, AT(json), 0, 0, "the result as a JSON object on standard output", ALL, 0,
        TALK, BRIEF},
    {"color", "auto|always|never", lap_set_word, AT(color), 0, 0,
        "colour (auto: on a terminal, NO_COLOR unset)", ALL, 0, TALK, false},
    {"progress", "auto|off", lap_set_word, AT(progress), 0, 0, "a line while one picture takes long (auto)",
        R, 0, TALK, false},
    {"help", NULL, lap_set_true, AT(help_full), 0, 0, "every option, with examples; -h for the short list",
        ALL, 0, TALK, false},
    {"version", NULL, lap_set_true, AT(version), 0, 0, "version, compiler and libraries", ALL, 0, TALK,
        BRIEF},
};
