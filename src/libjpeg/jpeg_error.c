#include "libjpeg/jpeg_error.h"

#include <jerror.h>
#include <string.h>

#include "base/status.h"

/* libjpeg's messages name its macros and tables. These replace the ones that users meet in practice. */
static const struct {
    int code;
    const char *words;
} plain_words[] = {
    {JWRN_JPEG_EOF, "data ends early"},
    {JWRN_HIT_MARKER, "a data segment ends early"},
    {JWRN_HUFF_BAD_CODE, "bad Huffman code"},
    {JWRN_ARITH_BAD_CODE, "bad arithmetic code"},
    {JWRN_BOGUS_PROGRESSION, "scans contradict each other"},
    {JWRN_NOT_SEQUENTIAL, "odd scan parameters in a sequential image"},
    {JWRN_BOGUS_ICC, "the colour profile is incomplete"},
    {JERR_INPUT_EOF, "data ends early"},
    {JERR_INPUT_EMPTY, "no data"},
    {JERR_OUT_OF_MEMORY, "out of memory"},
    {JERR_BAD_HUFF_TABLE, "a Huffman table is invalid"},
    {JERR_NO_SOI, "not a JPEG"},
    {JERR_SOF_DUPLICATE, "two frame headers"},
    {JERR_SOI_DUPLICATE, "a second start marker inside the image"},
    {JERR_SOF_NO_SOS, "no scan follows the frame header"},
    {JERR_SOS_NO_SOF, "a scan comes before the frame header"},
    {JERR_BAD_LENGTH, "a segment's length is wrong"},
    {JERR_BAD_PROGRESSION, "the parameters of a progressive scan are invalid"},
    {JERR_BAD_SAMPLING, "sampling factors are invalid"},
    {JERR_FRACT_SAMPLE_NOTIMPL, "sampling factors are not multiples of each other"},
    {JERR_BAD_MCU_SIZE, "sampling factors are too large for an interleaved scan"},
    {JERR_CONVERSION_NOTIMPL, "this colour space cannot be converted"},
};

void lap_jpeg_text(j_common_ptr cinfo, char text[JMSG_LENGTH_MAX])
{
    for (size_t i = 0; i < sizeof plain_words / sizeof *plain_words; i++)
        if (plain_words[i].code == cinfo->err->msg_code) {
            strcpy(text, plain_words[i].words);
            return;
        }
    cinfo->err->format_message(cinfo, text);
    /* Most of libjpeg's warnings begin with one of these phrases; they are cut off, since the caller's
     * message says the same more clearly. */
    static const char *const prefixes[] = {"Corrupt JPEG data: ", "Warning: "};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0) {
            memmove(text, text + strlen(prefixes[i]), strlen(text) - strlen(prefixes[i]) + 1);
            return;
        }
}

static lap_jpeg_class class_of(int message)
{
    switch (message) {
    case JWRN_JPEG_EOF:
        return LAP_JPEG_TRUNCATED;
    case JWRN_ADOBE_XFORM:
    case JWRN_BOGUS_ICC:
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
    case JWRN_NOT_SEQUENTIAL:
        return LAP_JPEG_HARMLESS;
    default:
        return LAP_JPEG_DAMAGED;
    }
}

static lap_code code_of(int message)
{
    switch (message) {
    case JERR_OUT_OF_MEMORY:
        return LAP_E_MEMORY;
    case JERR_INPUT_EMPTY:
    case JERR_INPUT_EOF:
        return LAP_E_TRUNCATED;
    case JERR_NO_SOI:
        return LAP_E_NOT_IMAGE;
    case JERR_IMAGE_TOO_BIG:
    case JERR_WIDTH_OVERFLOW:
        return LAP_E_LIMIT;
#if JPEG_LIB_VERSION < 70 /* Ubuntu's builds with later interfaces do not have this message */
    case JERR_ARITH_NOTIMPL:
#endif
    case JERR_BAD_DCTSIZE:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
        return LAP_E_UNSUPPORTED;
    case JERR_BAD_LIB_VERSION:
    case JERR_BAD_STATE:
    case JERR_BAD_STRUCT_SIZE:
    case JERR_BUFFER_SIZE:
    case JERR_TOO_LITTLE_DATA:
        return LAP_E_INTERNAL;
    default:
        return LAP_E_DAMAGED;
    }
}

/* Returns whether libjpeg has just refused to create an object because this program was built with the
 * headers of another version. The number of the message does not show it, since numbers differ between
 * versions. But in every version the parameters are the library's and the program's version or size, and the
 * object has no memory yet. */
static bool is_other_library(j_common_ptr cinfo)
{
    const int theirs = cinfo->err->msg_parm.i[0], ours = cinfo->err->msg_parm.i[1];
    return !cinfo->mem && theirs != ours &&
           (ours == JPEG_LIB_VERSION || ours == (int)sizeof(struct jpeg_decompress_struct) ||
               ours == (int)sizeof(struct jpeg_compress_struct));
}

static void error_exit(j_common_ptr cinfo)
{
    lap_jpeg_error *error = (lap_jpeg_error *)cinfo->err;
    char text[JMSG_LENGTH_MAX];
    const int *numbers = error->base.msg_parm.i;
    if (is_other_library(cinfo)) {
        lap_fail(&error->cause, LAP_E_BACKEND,
            numbers[1] == JPEG_LIB_VERSION
                ? "the loaded libjpeg has interface %d, but lapedge was built for interface %d"
                : "the loaded libjpeg has objects of %d bytes, but lapedge was built for objects of %d",
            numbers[0], numbers[1]);
        lap_jpeg_raise(error);
    }
    lap_jpeg_text(cinfo, text);
    lap_fail(&error->cause, code_of(cinfo->err->msg_code), "%s", text);
    lap_jpeg_raise(error);
}

static void emit_message(j_common_ptr cinfo, int level)
{
    lap_jpeg_error *error = (lap_jpeg_error *)cinfo->err;
    if (level >= 0) /* trace */
        return;
    cinfo->err->num_warnings++;
    if (error->warn)
        error->warn(error->user, cinfo, class_of(cinfo->err->msg_code));
}

static void output_message(j_common_ptr cinfo)
{
    (void)cinfo; /* lapedge's library never prints */
}

struct jpeg_error_mgr *lap_jpeg_error_init(lap_jpeg_error *error)
{
    memset(error, 0, sizeof *error);
    jpeg_std_error(&error->base);
    error->base.error_exit = error_exit;
    error->base.emit_message = emit_message;
    error->base.output_message = output_message;
    return &error->base;
}

lap_code lap_jpeg_guard(lap_jpeg_error *error, void (*work)(void *argument), void *argument)
{
    error->cause.code = LAP_OK;
    if (setjmp(error->escape) == 0)
        work(argument);
    return error->cause.code;
}

void lap_jpeg_raise(lap_jpeg_error *error)
{
    longjmp(error->escape, 1);
}

typedef struct objects {
    struct jpeg_decompress_struct in;
    struct jpeg_compress_struct out;
    lap_jpeg_error error;
} objects;

static void create_objects(void *argument)
{
    objects *o = argument;
    jpeg_create_decompress(&o->in);
    jpeg_create_compress(&o->out);
}

lap_code lap_libraries_check(lap_error *err)
{
    objects o = {0};
    o.in.err = o.out.err = lap_jpeg_error_init(&o.error);
    const lap_code code = lap_jpeg_guard(&o.error, create_objects, &o);
    if (code != LAP_OK && err)
        *err = o.error.cause;
    jpeg_destroy_decompress(&o.in); /* works for an object that is only partly created, too */
    jpeg_destroy_compress(&o.out);
    return code;
}

void lap_jpeg_ignore_limit(j_common_ptr cinfo)
{
    cinfo->mem->max_memory_to_use = 0;
}
