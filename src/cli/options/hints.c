/* Suggests what was probably meant: what to write here instead of another program's word, or our nearest
 * word. */
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
    {"|--resume|", "a run that is started again does what is missing or changed"},
    {"|--overwrite|", "outputs that lapedge did not write are replaced with --force"},
    {"|--gpus|--gpu|", "devices are named by --devices=0, their backends by --backend=cuda-fast"},
    {"|--decoder|--encoder|", "where JPEGs are coded is --codec=auto, cpu or cuda"},
    {"|--workers|-w|", "files at once are --jobs=N"},
    {"|--bias|", "a number added to the result is --offset=F"},
    {"|--grayscale|--grey|--greyscale|", "one channel is --gray"},
    {"|--upsampling|--dct|", "chroma is interpolated and the transform is the accurate one, always: others "
                             "differ between machines"},
    {"|--strict|", "inputs with a warning fail with --fail-on=warning"},
    {"|--max-markers|", "a header has at most 4096 segments, always"},
    {"|--copy|", "metadata to keep is --keep=LIST, or --keep=none"},
    {"|-p|", "time and mode are kept with --preserve"},
    {"|--errors|", "failures stand in the JSON lines of --log=FILE"},
    {"|-c|--stdout|", "standard output is -: lapedge IN -"},
    {"|-t|--totals|", "totals are in the summary, and with --json"},
    {"|--noaction|--no-act|", "-n prints what would be done"},
    {"|--warmup|", "bench warms up by itself; timed runs are --runs=N"},
    {"|--streams|--batch-size|", "photos at once on a device are as many as --device-memory holds"},
    {"|--log-json|", "one JSON line per file is --log=FILE"},
    {"|batch|", "folders need no command: lapedge IN... OUTDIR"},
    {"|rotate|flip|mirror|turn|", "photos are turned by lapedge transform"},
    {"|resize|scale|crop|thumbnail|--resize|--width|--height|--crop|--size|",
        "lapedge changes no sizes: outputs have that of the photo"},
    {"|watch|--watch|", "the same command again does what is new in a folder"},
    {"|convert|", "lapedge IN OUT filters, lapedge transform turns"},
    {"|gpu|nvidia|", "cuda-fast"},
    {"|cpu|", "simd"},
    {"|avx2|", "simd-avx2"},
    {"|avx512|", "simd-avx512"},
    {"|sse41|sse4.1|", "simd-sse41"},
    {"|sobel|prewitt|scharr|",
        "a gradient has a kernel for each direction, given as a list: --range=abs "
        "--kernel='0 0 0 0 0/0 -1 0 1 0/0 -2 0 2 0/0 -1 0 1 0/0 0 0 0 0' is Sobel's across"},
    {"|border=mirror|", "a mirror is reflect, or reflect101, which does not repeat the edge pixel"},
    {"|border=symmetric|", "that is reflect"},
    {"|border=edge|border=nearest|border=clamp|border=extend|", "that is replicate"},
    {"|border=constant|border=black|", "that is zero, or constant:V"},
    {"|border=reflect_101|border=default|", "that is reflect101"},
    {"|rotate=left|rotate=-90|", "that is 270"},
    {"|rotate=right|", "that is 90"},
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

/* ---- the nearest of our own ---------------------------------------------------------------------- */

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
