/* One part: some rows of MCUs as a JPEG of their own (part_build.h), decoded by libjpeg with the settings of
 * the whole. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "libjpeg/jpeg_bits.h"
#include "libjpeg/jpeg_split.h"
#include "libjpeg/libjpeg.h"

enum { ROWS_A_CALL = 32 };

typedef struct part_reader {
    struct jpeg_decompress_struct cinfo;
    lap_jpeg_error error;
    const lap_jpeg_reader *whole;
    const lap_part_plan *plan;
    lap_part_buffer buffer;
    bool created;
    int skip;             /* rows above the first that is asked for */
    uint8_t *waste;       /* where they go; of one row */
    uint8_t *inks;        /* one row of CMYK */
    const lap_view *rows; /* of the call in progress */
    int row;              /* of it: the next to be filled */
} part_reader;

/* The scan found nothing odd, so libjpeg finds nothing to complain of; or one of the two is wrong. */
static void on_warning(void *user, j_common_ptr cinfo, lap_jpeg_class class)
{
    part_reader *r = user;
    char text[JMSG_LENGTH_MAX];
    (void)class;
    lap_jpeg_text(cinfo, text);
    lap_fail(&r->error.cause, LAP_E_INTERNAL, "%s", text);
    lap_jpeg_raise(&r->error);
}

static void copy_tables(part_reader *r)
{
    const struct jpeg_decompress_struct *from = &r->whole->cinfo;
    j_common_ptr common = (j_common_ptr)&r->cinfo;
    for (int c = 0; c < from->num_components; c++) {
        const jpeg_component_info *info = &from->comp_info[c];
        int dc = info->dc_tbl_no, ac = info->ac_tbl_no, q = info->quant_tbl_no;
        if (!r->cinfo.quant_tbl_ptrs[q])
            r->cinfo.quant_tbl_ptrs[q] = jpeg_alloc_quant_table(common);
        if (!r->cinfo.dc_huff_tbl_ptrs[dc])
            r->cinfo.dc_huff_tbl_ptrs[dc] = jpeg_alloc_huff_table(common);
        if (!r->cinfo.ac_huff_tbl_ptrs[ac])
            r->cinfo.ac_huff_tbl_ptrs[ac] = jpeg_alloc_huff_table(common);
        *r->cinfo.quant_tbl_ptrs[q] = *from->quant_tbl_ptrs[q];
        *r->cinfo.ac_huff_tbl_ptrs[ac] = *from->ac_huff_tbl_ptrs[ac];
        memcpy(r->cinfo.dc_huff_tbl_ptrs[dc]->bits, r->plan->dc_codes[dc].bits, 17);
        memcpy(r->cinfo.dc_huff_tbl_ptrs[dc]->huffval, r->plan->dc_codes[dc].values, 256);
    }
}

static void work_start(void *argument)
{
    part_reader *r = argument;
    const struct jpeg_decompress_struct *from = &r->whole->cinfo;
    r->created = true; /* from here on jpeg_destroy_decompress is right, whatever happens */
    jpeg_create_decompress(&r->cinfo);
    copy_tables(r);
    jpeg_mem_src(&r->cinfo, r->buffer.bytes, r->buffer.size);
    jpeg_read_header(&r->cinfo, TRUE);
    /* What markers and component numbers say about colour was found out from the whole file. */
    r->cinfo.jpeg_color_space = from->jpeg_color_space;
    r->cinfo.out_color_space = from->out_color_space;
    r->cinfo.dct_method = from->dct_method;
    r->cinfo.do_fancy_upsampling = from->do_fancy_upsampling;
    jpeg_start_decompress(&r->cinfo);
    while (r->skip > 0) {
        JSAMPROW lines[ROWS_A_CALL];
        JDIMENSION count = 0;
        for (; (int)count < r->skip && count < ROWS_A_CALL; count++)
            lines[count] = r->waste;
        r->skip -= (int)jpeg_read_scanlines(&r->cinfo, lines, count);
    }
}

static void work_rows(void *argument)
{
    part_reader *r = argument;
    const lap_view *rows = r->rows;
    while (r->row < rows->height)
        r->row += lap_jpeg_read_rows(&r->cinfo, r->whole, r->inks, rows, r->row);
}

/* Each bit of the part was used, as the scan said it would be: nothing but padding is left before its end. */
static bool is_used_up(part_reader *r)
{
    uint8_t buffered[LAP_JPEG_MAX_BUFFERED];
    const struct jpeg_source_mgr *source = r->cinfo.src;
    const uint8_t *end = r->buffer.bytes + r->buffer.size - LAP_PART_BEHIND;
    const uint8_t *here = r->cinfo.unread_marker ? source->next_input_byte - 2 : source->next_input_byte;
    if (r->cinfo.input_iMCU_row < r->cinfo.total_iMCU_rows) /* the row below was not needed after all */
        return true;
    return here == end - 2 &&
           (!lap_jpeg_shows_buffer(&r->cinfo) || lap_jpeg_buffered(&r->cinfo, buffered) == 0);
}

/* Scan and libjpeg disagree about the rows that come next. */
static lap_code doubt(lap_decoder *part, const char *why, lap_error *err)
{
    atomic_store(&part->whole->in_doubt, true);
    return lap_fail(err, LAP_E_INTERNAL, "rows from %d on: %s", part->next_row, why);
}

static lap_code guarded(lap_decoder *part, void (*work)(void *), lap_error *err)
{
    part_reader *r = part->state;
    lap_code code = lap_jpeg_guard(&r->error, work, r);
    if (code == LAP_E_MEMORY)
        return lap_fail(err, code, "%s", r->error.cause.message);
    return code == LAP_OK ? LAP_OK : doubt(part, r->error.cause.message, err);
}

/* Rows of MCUs that rows y0 .. y1 - 1 depend on: upsampling looks at the row of chroma above and below. */
static int first_of(int y0, const lap_part_plan *plan)
{
    const bool looks_across = plan->mcu_height > 8;
    return (looks_across && y0 > 0 ? y0 - 1 : y0) / plan->mcu_height;
}

static int end_of(int y1, const lap_part_plan *plan)
{
    const bool looks_across = plan->mcu_height > 8;
    const int below = looks_across && y1 < plan->height ? y1 + 1 : y1;
    return (below - 1) / plan->mcu_height + 1;
}

static lap_code part_open(lap_decoder *part, lap_error *err)
{
    const lap_jpeg_reader *whole = part->whole->state;
    part_reader *r = calloc(1, sizeof *r);
    if (!r)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    part->state = r;
    r->whole = whole;
    r->plan = &whole->parts->plan;
    r->cinfo.err = lap_jpeg_error_init(&r->error);
    r->error.warn = on_warning;
    r->error.user = r;
    const int first = first_of(part->next_row, r->plan), end = end_of(part->end_row, r->plan);
    r->skip = part->next_row - first * r->plan->mcu_height;
    size_t row = (size_t)part->header.width * 4;
    if (r->skip > 0)
        r->waste = malloc(row);
    if (whole->inks)
        r->inks = malloc(row);
    if ((r->skip > 0 && !r->waste) || (whole->inks && !r->inks))
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    lap_code code = lap_part_build(r->plan, first, end, &r->buffer);
    if (code == LAP_E_MEMORY)
        return lap_fail(err, code, "out of memory");
    return code == LAP_OK ? guarded(part, work_start, err) : doubt(part, "cannot be cut out", err);
}

static lap_code part_rows(lap_decoder *part, const lap_view *rows, lap_error *err)
{
    part_reader *r = part->state;
    r->rows = rows;
    r->row = 0;
    lap_code code = guarded(part, work_rows, err);
    if (code != LAP_OK || part->next_row + rows->height < part->end_row || is_used_up(r))
        return code;
    return doubt(part, "other data than the scan found", err);
}

static void part_close(lap_decoder *part)
{
    part_reader *r = part->state;
    if (!r)
        return;
    if (r->created)
        jpeg_destroy_decompress(&r->cinfo);
    lap_part_buffer_free(&r->buffer);
    free(r->waste);
    free(r->inks);
    free(r);
}

const lap_decoder_ops lap_jpeg_part_decoder = {.open = part_open, .rows = part_rows, .close = part_close};
