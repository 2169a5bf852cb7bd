/* What libjpeg's errors and warnings become: codes, classes and plain words, for each number of a message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lapedge_program.h"
#include "libjpeg/jpeg_error.h"

#include <jerror.h>

/* ---- messages ---------------------------------------------------------------------------------- */

static const struct {
    int message;
    lap_code code;
    const char *words; /* NULL: libjpeg's own */
} known[] = {
    {JWRN_JPEG_EOF, LAP_E_DAMAGED, "data ends early"},
    {JWRN_HIT_MARKER, LAP_E_DAMAGED, "a data segment ends early"},
    {JWRN_HUFF_BAD_CODE, LAP_E_DAMAGED, "bad Huffman code"},
    {JWRN_ARITH_BAD_CODE, LAP_E_DAMAGED, "bad arithmetic code"},
    {JWRN_BOGUS_PROGRESSION, LAP_E_DAMAGED, "scans contradict each other"},
    {JWRN_NOT_SEQUENTIAL, LAP_E_DAMAGED, "odd scan parameters in a sequential image"},
    {JWRN_BOGUS_ICC, LAP_E_DAMAGED, "the colour profile is incomplete"},
    {JERR_INPUT_EOF, LAP_E_TRUNCATED, "data ends early"},
    {JERR_INPUT_EMPTY, LAP_E_TRUNCATED, "no data"},
    {JERR_OUT_OF_MEMORY, LAP_E_MEMORY, "out of memory"},
    {JERR_BAD_HUFF_TABLE, LAP_E_DAMAGED, "a Huffman table is invalid"},
    {JERR_NO_SOI, LAP_E_NOT_IMAGE, "not a JPEG"},
    {JERR_SOF_DUPLICATE, LAP_E_DAMAGED, "two frame headers"},
    {JERR_SOI_DUPLICATE, LAP_E_DAMAGED, "a second start marker inside the image"},
    {JERR_SOF_NO_SOS, LAP_E_DAMAGED, "no scan follows the frame header"},
    {JERR_SOS_NO_SOF, LAP_E_DAMAGED, "a scan comes before the frame header"},
    {JERR_BAD_LENGTH, LAP_E_DAMAGED, "a segment's length is wrong"},
    {JERR_BAD_PROGRESSION, LAP_E_DAMAGED, "the parameters of a progressive scan are invalid"},
    {JERR_BAD_SAMPLING, LAP_E_DAMAGED, "sampling factors are invalid"},
    {JERR_FRACT_SAMPLE_NOTIMPL, LAP_E_UNSUPPORTED, "sampling factors are not multiples of each other"},
    {JERR_BAD_MCU_SIZE, LAP_E_DAMAGED, "sampling factors are too large for an interleaved scan"},
    {JERR_CONVERSION_NOTIMPL, LAP_E_UNSUPPORTED, "this colour space cannot be converted"},
    {JERR_IMAGE_TOO_BIG, LAP_E_LIMIT, NULL},
    {JERR_WIDTH_OVERFLOW, LAP_E_LIMIT, NULL},
#if JPEG_LIB_VERSION < 70
    {JERR_ARITH_NOTIMPL, LAP_E_UNSUPPORTED, NULL},
#endif
    {JERR_BAD_DCTSIZE, LAP_E_UNSUPPORTED, NULL},
    {JERR_BAD_PRECISION, LAP_E_UNSUPPORTED, NULL},
    {JERR_CCIR601_NOTIMPL, LAP_E_UNSUPPORTED, NULL},
    {JERR_COMPONENT_COUNT, LAP_E_UNSUPPORTED, NULL},
    {JERR_NOTIMPL, LAP_E_UNSUPPORTED, NULL},
    {JERR_NOT_COMPILED, LAP_E_UNSUPPORTED, NULL},
    {JERR_SOF_UNSUPPORTED, LAP_E_UNSUPPORTED, NULL},
    {JERR_BAD_LIB_VERSION, LAP_E_INTERNAL, NULL},
    {JERR_BAD_STATE, LAP_E_INTERNAL, NULL},
    {JERR_BAD_STRUCT_SIZE, LAP_E_INTERNAL, NULL},
    {JERR_BUFFER_SIZE, LAP_E_INTERNAL, NULL},
    {JERR_TOO_LITTLE_DATA, LAP_E_INTERNAL, NULL},
};

static void raise_error(void *argument)
{
    j_decompress_ptr cinfo = argument;
    cinfo->err->error_exit((j_common_ptr)cinfo);
}

/* An object with a manager of errors, and the message of this number. */
static void say(struct jpeg_decompress_struct *cinfo, lap_jpeg_error *error, int message)
{
    static struct jpeg_memory_mgr memory;
    memset(cinfo, 0, sizeof *cinfo);
    cinfo->err = lap_jpeg_error_init(error);
    cinfo->mem = &memory;
    cinfo->err->msg_code = message;
}

static void each_error_has_a_code_and_words(void **state)
{
    (void)state;
    for (int message = 1; message < JMSG_LASTMSGCODE; message++) {
        struct jpeg_decompress_struct cinfo;
        lap_jpeg_error error;
        lap_code code = LAP_E_DAMAGED;
        const char *words = NULL;
        char theirs[JMSG_LENGTH_MAX], *shown = theirs;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (known[i].message == message) {
                code = known[i].code;
                words = known[i].words;
            }
        say(&cinfo, &error, message);
        cinfo.err->format_message((j_common_ptr)&cinfo, theirs);
        if (strncmp(shown, "Corrupt JPEG data: ", 19) == 0)
            shown += 19;
        else if (strncmp(shown, "Warning: ", 9) == 0)
            shown += 9;
        assert_int_equal(lap_jpeg_guard(&error, raise_error, &cinfo), code);
        assert_int_equal(error.cause.code, code);
        assert_string_equal(error.cause.message, words ? words : shown);
    }
}

static int warned;
static lap_jpeg_class warned_of;

static void warn(void *user, j_common_ptr cinfo, lap_jpeg_class class)
{
    assert_ptr_equal(user, &warned);
    assert_non_null(cinfo);
    warned++;
    warned_of = class;
}

static void each_warning_has_a_class(void **state)
{
    (void)state;
    static const int harmless[] = {
        JWRN_ADOBE_XFORM, JWRN_BOGUS_ICC, JWRN_EXTRANEOUS_DATA, JWRN_JFIF_MAJOR, JWRN_NOT_SEQUENTIAL};
    for (int message = 1; message < JMSG_LASTMSGCODE; message++) {
        struct jpeg_decompress_struct cinfo;
        lap_jpeg_error error;
        lap_jpeg_class class = message == JWRN_JPEG_EOF ? LAP_JPEG_TRUNCATED : LAP_JPEG_DAMAGED;
        for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
            if (message == harmless[i])
                class = LAP_JPEG_HARMLESS;
        say(&cinfo, &error, message);
        cinfo.err->emit_message((j_common_ptr)&cinfo, -1); /* nobody listens */
        assert_int_equal(cinfo.err->num_warnings, 1);
        error.warn = warn;
        error.user = &warned;
        warned = 0;
        for (int level = 0; level < 4; level++)
            cinfo.err->emit_message((j_common_ptr)&cinfo, level); /* a trace */
        assert_int_equal(warned, 0);
        assert_int_equal(cinfo.err->num_warnings, 1);
        cinfo.err->emit_message((j_common_ptr)&cinfo, -1);
        assert_int_equal(warned, 1);
        assert_int_equal(warned_of, class);
        assert_int_equal(cinfo.err->num_warnings, 2);
        cinfo.err->output_message((j_common_ptr)&cinfo);
    }
}

/* A library with another interface, or with objects of other sizes, refuses to create an object. */
static void another_library_is_named(void **state)
{
    (void)state;
    static const int ours[] = {JPEG_LIB_VERSION, (int)sizeof(struct jpeg_decompress_struct),
        (int)sizeof(struct jpeg_compress_struct), 12345};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        for (int other = 0; other < 2; other++)
            for (int has_memory = 0; has_memory < 2; has_memory++) {
                struct jpeg_decompress_struct cinfo;
                lap_jpeg_error error;
                char said[120];
                const bool is_named = i < 3 && other && !has_memory;
                say(&cinfo, &error, JERR_BAD_STATE);
                if (!has_memory)
                    cinfo.mem = NULL;
                error.base.msg_parm.i[0] = ours[i] + other;
                error.base.msg_parm.i[1] = ours[i];
                snprintf(said, sizeof said,
                    i == 0 ? "the loaded libjpeg has interface %d, but lapedge was built for interface %d"
                           : "the loaded libjpeg has objects of %d bytes, but lapedge was built for objects "
                             "of %d",
                    ours[i] + other, ours[i]);
                assert_int_equal(
                    lap_jpeg_guard(&error, raise_error, &cinfo), is_named ? LAP_E_BACKEND : LAP_E_INTERNAL);
                assert_int_equal(strcmp(error.cause.message, said) == 0, is_named);
            }
    lap_error err = {.code = LAP_OK};
    assert_int_equal(lap_libraries_check(&err), LAP_OK);
    assert_int_equal(lap_libraries_check(NULL), LAP_OK);
    assert_int_equal(err.code, LAP_OK);
}

static void do_nothing(void *argument)
{
    (void)argument;
}

/* A guard forgets the error of the one before. */
static void guards_begin_anew(void **state)
{
    (void)state;
    struct jpeg_decompress_struct cinfo;
    lap_jpeg_error error;
    memset(&error, 0xA5, sizeof error);
    say(&cinfo, &error, JERR_NO_SOI);
    assert_null(error.warn);
    struct jpeg_error_mgr theirs;
    jpeg_std_error(&theirs);
    assert_true(theirs.output_message != error.base.output_message); /* theirs prints */
    assert_int_equal(error.cause.code, LAP_OK);
    assert_int_equal(lap_jpeg_guard(&error, raise_error, &cinfo), LAP_E_NOT_IMAGE);
    assert_int_equal(lap_jpeg_guard(&error, do_nothing, NULL), LAP_OK);
    cinfo.mem->max_memory_to_use = 1234;
    lap_jpeg_ignore_limit((j_common_ptr)&cinfo);
    assert_int_equal(cinfo.mem->max_memory_to_use, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_error_has_a_code_and_words),
        cmocka_unit_test(each_warning_has_a_class),
        cmocka_unit_test(another_library_is_named),
        cmocka_unit_test(guards_begin_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
