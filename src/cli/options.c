/* Every option there is: the one table that parsing, help, completion and suggestions read. */
#include <stddef.h>
#include <string.h>

#include "cli/args.h"
#include "cli/values.h"

enum { FILTER, OUTPUT, METADATA, GEOMETRY, FOLDERS, STATISTICS, COMPARISON, BENCH, LIMITS, MESSAGES };
const char *const lap_cli_groups[] = {"Filter", "Output", "Orientation and metadata",
    "Rotation and mirroring", "Folders", "Statistics", "Comparison", "Bench", "Limits", "Messages", NULL};

/* Forms: R run in each (O one image, I in place, F folders), S stats, T transform and D diff (S1, T1, D1 of
 * one or two images, SF, TF, DF of folders), B bench and C compare of the filter, BI and CI of what works on
 * images, BA and CA of every operation; ALL of every form.
 */
enum {
    O = LAP_CLI_ONE,
    I = LAP_CLI_IN_PLACE,
    F = LAP_CLI_FOLDER,
    R = LAP_CLI_RUN,
    S1 = LAP_CLI_STATS,
    SF = LAP_CLI_STATS_FOLDER,
    S = S1 | SF,
    T1 = LAP_CLI_TRANSFORM,
    TF = LAP_CLI_TRANSFORM_FOLDER,
    T = T1 | TF,
    D1 = LAP_CLI_DIFF,
    DF = LAP_CLI_DIFF_FOLDER,
    D = D1 | DF,
    L = LAP_CLI_BACKENDS,
    C = LAP_CLI_COMPARE << LAP_OP_FILTER,
    CI = C | LAP_CLI_COMPARE << LAP_OP_TRANSPOSE,
    CA = LAP_CLI_COMPARE_ALL,
    BF = LAP_CLI_BENCH << LAP_OP_FILTER,
    B = BF | LAP_CLI_BENCH << LAP_OP_CODEC,
    BR = LAP_CLI_BENCH << LAP_OP_REDUCE,
    BN = BR | LAP_CLI_BENCH << LAP_OP_MATVEC,
    BP = BF | LAP_CLI_BENCH << LAP_OP_TRANSPOSE | LAP_CLI_BENCH << LAP_OP_HISTOGRAM,
    BI = BP | LAP_CLI_BENCH << LAP_OP_CODEC,
    BL = BP | BN,
    BA = LAP_CLI_BENCH_ALL,
    H = LAP_CLI_HELP,
    X = LAP_CLI_INFO | LAP_CLI_DOCTOR,
    ALL = R | S | T | D | L | CA | BA,
    BRIEF = true
};

#define AT(member) offsetof(lap_cli, member)

/* name, argument, setter, field, low, high, help, applies, letter, group, in the short help */
const lap_cli_option lap_cli_options[LAP_CLI_OPTIONS] = {
    {"backend", "NAME", lap_set_backend, AT(settings.backend), 0, 0,
        "how to compute (auto: the fastest that can run here); 'lapedge backends' lists them", R | S, 'b',
        FILTER, BRIEF},
    {"kernel", "NAME|FILE|LIST", lap_set_kernel, AT(kernel), 0, 0,
        "5x5 coefficients (laplace5); also laplace3-4, laplace3-8, log5, npp5, opencv5, identity, or 25 "
        "numbers, row by row, in a file or a list",
        R | S | B | C, 0, FILTER, BRIEF},
    {"border", "zero|replicate|reflect|reflect101|wrap|constant:V", lap_set_border, AT(settings.border), 0, 0,
        "pixels beyond the edges (zero, which gives the photo a bright frame of two pixels; replicate gives "
        "none)",
        R | S | B | C, 0, FILTER, BRIEF},
    {"flip-kernel", NULL, lap_set_true, AT(flip_kernel), 0, 0,
        "turn the kernel by 180 degrees: a convolution", R | S | B | C, 0, FILTER, false},
    {"range", "clamp|abs", lap_set_word, AT(settings.params.range), 0, 0,
        "clamp to 0..255, or absolute value (clamp)", R | S | B | C, 0, FILTER, false},
    {"scale", "F", lap_set_float, AT(settings.params.scale), -3e38, 3e38,
        "scale factor of the filter sum (1)", R | S | B | C, 0, FILTER, false},
    {"offset", "F", lap_set_float, AT(settings.params.offset), -3e38, 3e38, "added after scaling (0)",
        R | S | B | C, 0, FILTER, false},
    {"invert", NULL, lap_set_true, AT(settings.params.invert), 0, 0,
        "255 minus the result: dark edges on white", R | S | B | C, 0, FILTER, false},
    {"threshold", "T", lap_set_int, AT(settings.params.threshold), 0, 255,
        "255 where the result is at least T (0..255), else 0", R | S | B | C, 0, FILTER, false},
    {"gray", NULL, lap_set_true, AT(settings.gray), 0, 0, "one channel: the stored luma, or BT.601 of RGB",
        R | S | CA | D, 0, FILTER, false},
    {"threads", "N", lap_set_int, AT(settings.threads), 1, 1024, "maximum number of threads (one per core)",
        R | S | T | BA | CA | D, 0, FILTER, false},
    {"decode", "auto|serial|parallel", lap_set_word, AT(settings.decode), 0, 0,
        "threads that decode one JPEG: one, or several where the file allows it (auto: as is faster)",
        R | S | T | CA | D, 0, FILTER, false},
    {"devices", "0,1|all", lap_set_devices, 0, 0, 0,
        "CUDA devices by number (0): a folder uses all of them, everything else the first", R | S | BA | CA,
        0, FILTER, false},
    {"device-memory", "SIZE", lap_set_bytes, AT(device_memory), 1, 0,
        "folders: memory of each CUDA device for photos under way (3.4G)", F | SF, 0, FILTER, false},
    {"codec", "auto|cpu|cuda|turbo|c|avx2|avx512|neon", lap_set_word, AT(settings.codec), 0, 0,
        "where JPEGs are coded (auto: on the device with a CUDA backend), or what codes them on the CPU",
        R | S, 0, FILTER, false},

    {"format", "jpg|jpeg|png|bmp|tga|ppm|pgm|tsv", lap_set_choice, AT(settings.format), 0, 0,
        "output format (by the extension of OUT; jpg for -)", R | T, 0, OUTPUT, false},
    {"quality", "N", lap_set_int, AT(settings.quality), 1, 100, "JPEG quality, 1 to 100 (90)", R | T, 'Q',
        OUTPUT, BRIEF},
    {"subsampling", "same|444|422|420", lap_set_word, AT(settings.subsampling), 0, 0,
        "JPEG chroma (same as the input, or 444)", R | T, 0, OUTPUT, false},
    {"restart", "auto|on|off", lap_set_word, AT(settings.restart), 0, 0,
        "JPEG restart markers, which let several threads encode (auto: if there is more than one band)",
        R | T, 0, OUTPUT, false},
    {"progressive", NULL, lap_set_true, AT(settings.progressive), 0, 0,
        "JPEG in several scans; held whole, coded on the CPU", R | T, 0, OUTPUT, false},
    {"optimize", NULL, lap_set_true, AT(settings.optimize), 0, 0,
        "JPEG with Huffman tables of its own; held whole, coded on the CPU", R | T, 0, OUTPUT, false},
    {"in-place", NULL, lap_set_true, AT(in_place), 0, 0, "replace each FILE by its edges, atomically", I, 0,
        OUTPUT, false},
    {"no-clobber", NULL, lap_set_true, AT(settings.no_clobber), 0, 0,
        "leave an output that exists alone; exit 1 (one image: replaced)", O | F | T, 0, OUTPUT, false},
    {"skip-existing", NULL, lap_set_true, AT(skip_existing), 0, 0,
        "pass over inputs whose output exists, whatever it is; exit 0", O | F | T, 0, OUTPUT, false},
    {"no-sync", NULL, lap_set_false, AT(settings.sync), 0, 0, "do not wait until the output is on disk",
        R | T, 0, OUTPUT, false},

    {"auto-orient", NULL, lap_set_true, AT(settings.auto_orient), 0, 0,
        "rotate the pixels as the EXIF tag says, and reset it (pixels as stored, tag kept)",
        R | S | T | CA | D, 0, METADATA, false},
    {"strip", NULL, lap_set_true, AT(settings.strip), 0, 0, "remove EXIF, XMP, IPTC, ICC and comments", R | T,
        0, METADATA, false},
    {"keep", "LIST", lap_set_keep, AT(settings.keep), 0, 0,
        "metadata to keep: exif, gps, xmp, iptc, icc, comment, thumbnail (all but thumbnail); all; none",
        R | T | LAP_CLI_INFO, 0, METADATA, false},
    {"preserve", NULL, lap_set_true, AT(settings.preserve), 0, 0,
        "keep the modification time and mode of the input", R | T, 0, METADATA, false},

    {"rotate", "90|180|270", lap_set_word, AT(rotate), 0, 0, "rotate clockwise by 90, 180 or 270 degrees", T,
        0, GEOMETRY, BRIEF},
    {"flip", "h|v", lap_set_word, AT(flip), 0, 0, "mirror: h swaps left and right, v top and bottom", T, 0,
        GEOMETRY, BRIEF},
    {"transpose", NULL, lap_set_true, AT(transpose), 0, 0, "swap rows and columns", T, 0, GEOMETRY, BRIEF},
    {"transverse", NULL, lap_set_true, AT(transverse), 0, 0, "transpose along the other diagonal", T, 0,
        GEOMETRY, BRIEF},

    {"trim", NULL, lap_set_true, AT(trim), 0, 0,
        "without loss: leave out partial MCUs at edges that would come to lie left or above", T, 0, GEOMETRY,
        BRIEF},
    {"perfect", NULL, lap_set_true, AT(perfect), 0, 0,
        "without loss: refuse a JPEG that has such edges (done by pixels)", T, 0, GEOMETRY, BRIEF},

    {"include", "GLOB", lap_set_glob, AT(include), 0, 0,
        "of folders, take images that match (*.jpg *.jpeg *.jpe *.jfif); may be repeated", F | TF | SF | DF,
        0, FOLDERS, false},
    {"exclude", "GLOB", lap_set_glob, AT(exclude), 0, 0,
        "of folders, leave out files and folders that match, such as '*-edge*' or 2024/; may be repeated",
        F | TF | SF | DF, 0, FOLDERS, false},
    {"ext", "LIST", lap_set_text, AT(take.extensions), 0, 0,
        "of folders, take these extensions: jpg jpeg jpe jfif png ppm pgm pnm", F | TF | SF | DF, 0, FOLDERS,
        false},
    {"suffix", "TEXT", lap_set_suffix, AT(suffix), 0, 0, "put TEXT before the extension of each output",
        F | TF, 0, FOLDERS, false},
    {"prune", NULL, lap_set_true, AT(prune), 0, 0,
        "remove outputs whose photo is gone; only what lapedge made, and nothing where a folder could not be "
        "read or is empty (-n lists them)",
        F | TF, 0, FOLDERS, false},
    {"flat", NULL, lap_set_true, AT(flat), 0, 0,
        "outputs directly in OUTDIR; names that clash are refused (folders are mirrored)", F | TF, 0, FOLDERS,
        false},
    {"follow", NULL, lap_set_true, AT(take.follow), 0, 0, "follow symbolic links in folders",
        F | TF | SF | DF, 0, FOLDERS, false},
    {"jobs", "N", lap_set_int, AT(jobs), 1, 1024, "files at once (one per core)", F | TF | SF | DF, 'j',
        FOLDERS, false},
    {"force", NULL, lap_set_true, AT(force), 0, 0, "also replace outputs that lapedge did not write", F | TF,
        'f', FOLDERS, false},
    {"rebuild", NULL, lap_set_true, AT(rebuild), 0, 0, "make every output again, also those up to date",
        F | TF, 0, FOLDERS, false},
    {"dry-run", NULL, lap_set_true, AT(dry_run), 0, 0, "print what would be done, and do nothing", R | T, 'n',
        FOLDERS, false},
    {"fail-fast", NULL, lap_set_true, AT(fail_fast), 0, 0, "stop at the first file that fails",
        I | F | TF | SF, 0, FOLDERS, false},
    {"shard", "I/N|auto", lap_set_text, AT(shard), 0, 0,
        "process share I of N, from 0; auto: as Slurm, MPI or Kubernetes say", F | TF, 0, FOLDERS, false},
    {"files-from", "FILE", lap_set_text, AT(files_from), 0, 0,
        "read input names, one per line; - is standard input", F | TF | SF, 0, FOLDERS, false},
    {"null", NULL, lap_set_true, AT(null_separated), 0, 0, "names in --files-from end with a zero byte",
        F | TF | SF, '0', FOLDERS, false},
    {"trace", "FILE", lap_set_text, AT(trace), 0, 0,
        "write a timeline of threads and CUDA devices, for chrome://tracing or ui.perfetto.dev", F | TF, 0,
        FOLDERS, false},
    {"log", "FILE", lap_set_text, AT(log), 0, 0, "write one JSON line per input", F | TF, 0, FOLDERS, false},

    {"stats", "FILE.json", lap_set_text, AT(stats), 0, 0, "write statistics of the image and of its edges",
        O | I, 0, STATISTICS, false},
    {"profiles", NULL, lap_set_true, AT(profiles), 0, 0,
        "row and column sums of the luma's edges: peaks are lines of text, horizons", S, 0, STATISTICS,
        BRIEF},
    {"weights", "FILE", lap_set_text, AT(weights), 0, 0,
        "weights for the profiles: as many numbers as columns, rows, or both (means)", S, 0, STATISTICS,
        false},
    {"csv", NULL, lap_set_true, AT(csv), 0, 0, "lines of image,channel,figure,index,value", S, 0, STATISTICS,
        BRIEF},

    {"ops", "LIST", lap_set_ops, AT(ops), 0, 0,
        "ladders to compare: filter, transpose, reduce, histogram, matvec, or all (filter)", CA, 0,
        COMPARISON, BRIEF},
    {"max-abs", "N", lap_set_int, AT(allowed.max_abs), 0, 255,
        "largest allowed difference of two samples (0, unless another limit is given)", CI | D, 0, COMPARISON,
        BRIEF},
    {"max-differing", "N|P%", lap_set_differing, AT(allowed), 0, 0,
        "allow up to N differing pixels, or P % of all", CI | D, 0, COMPARISON, BRIEF},
    {"min-psnr", "DB", lap_set_double, AT(allowed.min_psnr), 0, 1000, "lowest allowed PSNR", CI | D, 0,
        COMPARISON, BRIEF},
    {"mask-border", "N", lap_set_int, AT(allowed.mask_border), 0, 1e6,
        "ignore N pixels at each side (0); stats: of the edges", S | CI | D, 0, COMPARISON, false},
    {"threshold-per-pixel", "N", lap_set_int, AT(allowed.pixel_threshold), 0, 255,
        "count a pixel as equal if no channel differs by more than N (0)", D, 0, COMPARISON, false},
    {"ignore", "X,Y,W,H", lap_set_box, AT(ignore), 0, 0,
        "count the pixels of a rectangle as equal; may be repeated", D, 0, COMPARISON, false},
    {"heatmap", "FILE.png", lap_set_png, AT(heatmap), 0, 0,
        "draw the differences; of several backends, of the first that differs", CI | D1, 0, COMPARISON,
        BRIEF},

    {"backends", "LIST", lap_set_backends, AT(bench.backends), 0, 0,
        "backends to time or compare, separated by commas (all)", BL | CA, 0, BENCH, BRIEF},
    {"sizes", "LIST", lap_set_sizes, 0, 0, 0, "image sizes, 1M (4:3) or WxH, separated by commas (4992x3744)",
        BI, 0, BENCH, BRIEF},
    {"image", "FILE", lap_set_text, AT(bench.image), 0, 0,
        "take the pixels from this photo (synthetic noise); --sizes cuts or tiles it", BI, 0, BENCH, BRIEF},
    {"channels", "N", lap_set_int, AT(bench.channels), 1, 4, "1, 3 or 4 (3)", BI, 0, BENCH, false},
    {"runs", "N", lap_set_int, AT(bench.runs), 1, 10000,
        "timed runs of each backend (bench: 20; compare: up to 5, if they are short)", BA | CA, 0, BENCH,
        BRIEF},
    {"warm", NULL, lap_set_true, AT(bench.warm), 0, 0,
        "use the same buffers in each run (rotate, so that no cache holds them)", BL, 0, BENCH, false},
    {"omp-loop", "y|x|window", lap_set_choice, AT(bench.omp_loop), 0, 0,
        "loop that 'openmp' runs in parallel: rows, columns, or the 5x5 window (y)", BF, 0, BENCH, false},
    {"block", "WxH", lap_set_block, 0, 0, 0, "thread block of 'cuda-global' (16x16)", BF, 0, BENCH, false},
    {"type", "u8|f32|f64", lap_set_choice, AT(bench.type), 0, 0,
        "element type of transpose and reduce (each ladder's own)", BL, 0, BENCH, false},
    {"n", "N", lap_set_count, AT(bench.n), 1, 0, "number of values (reduce), of rows and columns (matvec)",
        BN, 0, BENCH, false},
    {"value", "F", lap_set_double, AT(bench.value), -1e300, 1e300, "value of every element of reduce (1.23)",
        BR, 0, BENCH, false},
    {"baseline", "FILE", lap_set_text, AT(baseline), 0, 0,
        "compare with the --json of an earlier bench; exit 1 if a backend is slower", BA, 0, BENCH, false},
    {"tolerance", "P%", lap_set_share, AT(tolerance), 0, 0, "slowdown that --baseline allows (10%)", BA, 0,
        BENCH, false},

    {"max-pixels", "N", lap_set_size, AT(settings.max_pixels), 0, 0,
        "refuse larger images; K, M, G: powers of 1000; 0: no limit (268M)", R | S | T | CA | D, 0, LIMITS,
        false},
    {"max-scans", "N", lap_set_int, AT(settings.max_scans), 0, 1e6,
        "refuse a progressive JPEG with more scans; 0: no limit (100)", R | S | T | CA | D, 0, LIMITS, false},
    {"max-memory", "BYTES", lap_set_bytes, AT(settings.max_memory), 0, 0,
        "memory limit of all files being processed; 0: no limit (half of the memory, at least 1G)",
        R | S | T | CA | D, 0, LIMITS, false},
    {"timeout", "SECONDS", lap_set_seconds, AT(settings.timeout_s), 0, 1e6,
        "time limit per file, also as 500ms, 2m or 1h (none)", R | S | T | CA | D, 0, LIMITS, false},
    {"fail-on", "none|truncated|warning", lap_set_word, AT(settings.fail_on), 0, 0,
        "which inputs fail: none, those with lost data, any with a warning (truncated)", R | S | T | CA | D,
        0, LIMITS, false},

    {"sandbox", NULL, lap_set_true, AT(sandbox), 0, 0,
        "for untrusted files: the process can read the inputs, write where outputs go, and nothing else "
        "(Landlock and seccomp; CPU backends)",
        R | S | T | D | LAP_CLI_INFO, 0, LIMITS, false},

    {"quiet", NULL, lap_set_true, AT(quiet), 0, 0, "print errors only", R | S | T | CA | D | BA, 'q',
        MESSAGES, false},
    {"verbose", NULL, lap_set_true, AT(verbose), 0, 0, "print what ran, and the time of each stage",
        R | S | T | CA | D, 'v', MESSAGES, BRIEF},
    {"json", NULL, lap_set_true, AT(json), 0, 0, "print the result as a JSON object", ALL | X, 0, MESSAGES,
        BRIEF},
    {"json-file", "FILE", lap_set_text, AT(json_file), 0, 0, "write that object to a file", ALL | X, 0,
        MESSAGES, false},
    {"report", "FILE.html", lap_set_text, AT(report), 0, 0,
        "write a self-contained page with charts and images; of folders, with a contact sheet",
        O | F | TF | S1 | D | CA | BA, 0, MESSAGES, BRIEF},
    {"color", "auto|always|never", lap_set_word, AT(color), 0, 0, "use colour (auto: on a terminal)",
        ALL | X | H, 0, MESSAGES, false},
    {"progress", "auto|off", lap_set_word, AT(progress), 0, 0, "show progress (auto: on a terminal)",
        R | T | SF | DF, 0, MESSAGES, false},
    {"help", NULL, lap_set_true, AT(help_full), 0, 0, "print this help; -h prints a short one", ALL | X | H,
        0, MESSAGES, false},
    {"version", NULL, lap_set_true, AT(version), 0, 0,
        "print the versions of lapedge, compiler and libraries", ALL | X | H, 'V', MESSAGES, false},
};

const lap_cli_option *lap_cli_option_named(const char *name, size_t length)
{
    for (const lap_cli_option *option = lap_cli_options; option->name; option++)
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return option;
    return NULL;
}

const lap_cli_option *lap_cli_option_lettered(int letter)
{
    for (const lap_cli_option *option = lap_cli_options; option->name; option++)
        if (option->letter == letter)
            return option;
    return NULL;
}

bool lap_cli_is_given(const char *name, const bool given[LAP_CLI_OPTIONS])
{
    const lap_cli_option *option = lap_cli_option_named(name, strlen(name));
    return option && given[option - lap_cli_options];
}
