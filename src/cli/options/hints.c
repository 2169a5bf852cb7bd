/* Suggests what the user probably meant: lapedge's option for another program's word, or the nearest of
 * lapedge's own words. */
#include <string.h>

#include "cli/options/args.h"

typedef struct hint {
    const char *words; /* separated by bars */
    const char *instead;
} hint;

static const hint hints[] = {
    {"|-r|-R|--recursive|--recurse|", "folders are walked at any depth: lapedge photos/ edges/"},
    {"|-o|--output|--out|--outfile|", "the output is the last operand: lapedge IN OUT"},
    {"|--out-dir|--outdir|--output-dir|-d|--dest|",
        "the output folder is the last operand: lapedge IN... OUTDIR"},
    {"|--resume|", "start the run again: it processes what is missing or changed"},
    {"|--overwrite|", "--force replaces outputs that lapedge did not write"},
    {"|--gpus|--gpu|", "choose devices with --devices=0, and a CUDA backend with --backend=cuda-fast"},
    {"|--decoder|--encoder|", "--codec=auto, cpu or cuda chooses where JPEGs are coded"},
    {"|--workers|-w|", "--jobs=N sets how many files are processed at once"},
    {"|--bias|", "--offset=F adds a number to the result"},
    {"|--grayscale|--grey|--greyscale|", "--gray uses one channel"},
    {"|--upsampling|--dct|", "lapedge always interpolates chroma and uses the accurate transform, so that "
                             "results are the same everywhere"},
    {"|--strict|", "--fail-on=warning makes inputs with a warning fail"},
    {"|--max-markers|", "a header has at most 4096 segments, always"},
    {"|--copy|", "choose metadata with --keep=LIST, or --keep=none"},
    {"|-p|", "--preserve keeps time and mode"},
    {"|--errors|", "--log=FILE writes failures as JSON lines"},
    {"|-c|--stdout|", "standard output is -: lapedge IN -"},
    {"|-t|--totals|", "totals are in the summary, and with --json"},
    {"|--noaction|--no-act|", "-n prints what would be done"},
    {"|--warmup|", "bench always warms up; --runs=N sets the number of timed runs"},
    {"|--streams|--batch-size|", "--device-memory limits how many photos a device processes at once"},
    {"|--log-json|", "--log=FILE writes one JSON line per file"},
    {"|batch|", "folders need no command: lapedge IN... OUTDIR"},
    {"|rotate|flip|mirror|turn|", "lapedge transform rotates and mirrors photos"},
    {"|resize|scale|crop|thumbnail|--resize|--width|--height|--crop|",
        "lapedge does not resize: an output has the size of its photo"},
    {"|--size|", "lapedge does not resize: an output has the size of its photo; bench has --sizes=LIST"},
    {"|watch|--watch|", "run the same command again: it processes new photos"},
    {"|version|ver|", "lapedge --version prints the versions"},
    {"|convert|", "lapedge IN OUT filters, lapedge transform rotates"},
    {"|gpu|nvidia|", "cuda-fast"},
    {"|cpu|", "simd"},
    {"|avx2|", "simd-avx2"},
    {"|avx512|", "simd-avx512"},
    {"|sse41|sse4.1|", "simd-sse41"},
    {"|sobel|prewitt|scharr|",
        "a gradient has a kernel for each direction, given as a list: --range=abs "
        "--kernel='0 0 0 0 0/0 -1 0 1 0/0 -2 0 2 0/0 -1 0 1 0/0 0 0 0 0' is Sobel's across"},
    {"|border=mirror|", "a mirror is reflect, or reflect101, which does not repeat the edge pixel"},
    {"|border=symmetric|", "use reflect"},
    {"|border=edge|border=nearest|border=clamp|border=extend|", "use replicate"},
    {"|border=constant|border=black|", "use zero, or constant:V"},
    {"|border=reflect_101|border=default|", "use reflect101"},
    {"|rotate=left|rotate=-90|", "use 270"},
    {"|rotate=right|", "use 90"},
    {"|laplace|laplacian|", "laplace5, laplace3-4 or laplace3-8"},
};

const char *lap_cli_hint(const char *word)
{
    char wanted[64];
    if (snprintf(wanted, sizeof wanted, "|%s|", word) >= (int)sizeof wanted)
        return NULL;
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strstr(hints[i].words, wanted))
            return hints[i].instead;
    return NULL;
}

/* ---- the nearest known word ---------------------------------------------------------------------- */

const char *lap_cli_nearest(const char *word, const char *(*next)(int i))
{
    const char *best = NULL;
    const int length = (int)strlen(word);
    int limit = length / 3 + 1;
    for (int i = 0; next(i); i++) {
        const char *candidate = next(i);
        /* A word that is the beginning of this one matches, however much is missing. */
        int d = length >= 3 && strncmp(word, candidate, (size_t)length) == 0
                    ? 1
                    : lap_word_distance(word, candidate);
        if (d < limit) {
            limit = d;
            best = candidate;
        }
    }
    return best;
}
