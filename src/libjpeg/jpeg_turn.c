/* Rotates or mirrors a JPEG by moving its blocks. Changing the signs of coefficients mirrors a block, and
 * reordering them transposes it, so nothing is rounded. All blocks are moved and checked before the first
 * byte is written, because libjpeg-turbo 2.1 silently writes wrong values if its Huffman tables lack a code.
 */
#include "libjpeg/jpeg_turn.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/turn.h"
#include "codec/meta.h"
#include "libjpeg/jpeg_reader.h"

enum {
    MAX_AC = 1023,            /* categories of 8-bit JPEG: ITU-T T.81, tables F.1 and F.2 */
    MAX_DC_DIFFERENCE = 2047, /* category 11 */
    OUT_BYTES = 64 << 10      /* written to the sink at once */
};

typedef struct move_of_block { /* coefficient k of the result is sign[k] times coefficient from[k] */
    uint8_t from[DCTSIZE2];
    JCOEF sign[DCTSIZE2];
    lap_turn_steps steps;
} move_of_block;

struct lap_jpeg_turned {
    struct jpeg_compress_struct out; /* its client_data is the struct; its memory holds the moved blocks */
    lap_jpeg_error error;
    struct jpeg_progress_mgr progress;
    struct jpeg_destination_mgr dest;
    const lap_control *control;
    lap_jpeg_reader *reader;
    lap_jpeg_turning turning;
    move_of_block move;
    jvirt_barray_ptr moved[MAX_COMPONENTS];
    const char *misfit; /* why this cannot be written; NULL if it can */
    const lap_write_options *options;
    lap_meta meta;
    lap_sink *sink;
    JOCTET bytes[OUT_BYTES];
};

/* ---- checks on the header ------------------------------------------------------------------------- */

/* Returns the size of an MCU in blocks. With one component it is one block, for any sampling factors. */
static void mcu_of(int components, const int sample_h[4], const int sample_v[4], int *wide, int *high)
{
    *wide = *high = 1;
    for (int i = 0; components > 1 && i < components && i < 4; i++) {
        *wide = sample_h[i] > *wide ? sample_h[i] : *wide;
        *high = sample_v[i] > *high ? sample_v[i] : *high;
    }
}

const char *lap_jpeg_turn_obstacle(const lap_jpeg_scan *scan)
{
    int blocks = 0;
    for (int i = 0; scan->components > 1 && i < scan->components && i < 4; i++)
        blocks += scan->sample_h[i] * scan->sample_v[i];
    return blocks > C_MAX_BLOCKS_IN_MCU ? "its MCUs have more than 10 blocks" : NULL;
}

bool lap_jpeg_turn_trim(const lap_jpeg_scan *scan, lap_turn turn, int *width, int *height, bool *whole)
{
    const lap_turn_steps p = lap_turn_steps_of(turn);
    const bool right = p.transpose ? p.up_down : p.left_right, lower = p.transpose ? p.left_right : p.up_down;
    int wide, high;
    mcu_of(scan->components, scan->sample_h, scan->sample_v, &wide, &high);
    *width = scan->width - (right ? scan->width % (DCTSIZE * wide) : 0);
    *height = scan->height - (lower ? scan->height % (DCTSIZE * high) : 0);
    *whole = *width == scan->width && *height == scan->height;
    return *width > 0 && *height > 0;
}

/* Returns the bytes of one array of all coefficients; SIZE_MAX on overflow. */
static size_t array_bytes(const lap_header *header)
{
    int wide, high;
    size_t blocks = header->components > 1 ? 0 : 1, bytes;
    mcu_of(header->components, header->sample_h, header->sample_v, &wide, &high);
    for (int i = 0; header->components > 1 && i < header->components && i < 4; i++)
        blocks += (size_t)header->sample_h[i] * (size_t)header->sample_v[i];
    const size_t mcus_wide = (size_t)(header->width - 1) / (size_t)(DCTSIZE * wide) + 1,
                 mcus_high = (size_t)(header->height - 1) / (size_t)(DCTSIZE * high) + 1;
    const bool fits =
        lap_mul(mcus_wide, mcus_high, &bytes) && lap_mul(bytes, blocks * sizeof(JBLOCK), &bytes);
    return fits ? bytes : SIZE_MAX;
}

uint64_t lap_jpeg_turn_memory(const lap_header *header)
{
    const size_t array = array_bytes(header);
    size_t all = header->memory_estimate;
    const bool fits = (header->whole || lap_add(all, array, &all)) && /* else it is in `all` */
                      lap_add(all, array, &all) && lap_add(all, sizeof(lap_jpeg_turned), &all);
    return fits ? all : UINT64_MAX;
}

/* ---- moving ------------------------------------------------------------------------------------- */

static move_of_block plan_block(lap_turn turn)
{
    move_of_block move = {.steps = lap_turn_steps_of(turn)};
    for (int v = 0; v < DCTSIZE; v++)
        for (int u = 0; u < DCTSIZE; u++) {
            const bool odd = (move.steps.left_right && u % 2) != (move.steps.up_down && v % 2);
            move.from[v * DCTSIZE + u] = (uint8_t)(move.steps.transpose ? u * DCTSIZE + v : v * DCTSIZE + u);
            move.sign[v * DCTSIZE + u] = odd ? -1 : 1;
        }
    return move;
}

/* Moves a block. False if an AC coefficient is out of range; the block is moved even then. */
static bool move_block(const move_of_block *move, const JCOEF *from, JCOEF *to)
{
    unsigned beyond = 0;
    for (int k = 1; k < DCTSIZE2; k++)
        beyond |= (unsigned)(from[k] + MAX_AC) > 2 * MAX_AC;
    if (move->steps.transpose)
        for (int k = 0; k < DCTSIZE2; k++)
            to[k] = (JCOEF)(from[move->from[k]] * move->sign[k]);
    else
        for (int k = 0; k < DCTSIZE2; k++)
            to[k] = (JCOEF)(from[k] * move->sign[k]);
    return beyond == 0;
}

static void go_on(lap_jpeg_turned *t)
{
    if (lap_control_check(t->control, &t->error.cause) != LAP_OK)
        lap_jpeg_raise(&t->error);
}

/* Returns COUNT rows of blocks from FIRST on. libjpeg keeps the whole array in memory. */
static JBLOCKARRAY rows_of(lap_jpeg_turned *t, jvirt_barray_ptr array, int first, int count, bool writable)
{
    const j_common_ptr common = (j_common_ptr)&t->out;
    return t->out.mem->access_virt_barray(
        common, array, (JDIMENSION)first, (JDIMENSION)count, writable ? TRUE : FALSE);
}

/* Computes the size of a component of the output, in blocks, without padding blocks. */
static void size_of(const lap_jpeg_turned *t, int c, int *wide, int *high)
{
    const struct jpeg_compress_struct *out = &t->out;
    int max_h = 1, max_v = 1;
    for (int i = 0; i < out->num_components; i++) {
        max_h = out->comp_info[i].h_samp_factor > max_h ? out->comp_info[i].h_samp_factor : max_h;
        max_v = out->comp_info[i].v_samp_factor > max_v ? out->comp_info[i].v_samp_factor : max_v;
    }
    *wide = ((int)out->image_width * out->comp_info[c].h_samp_factor - 1) / (DCTSIZE * max_h) + 1;
    *high = ((int)out->image_height * out->comp_info[c].v_samp_factor - 1) / (DCTSIZE * max_v) + 1;
}

/* Moves one row of blocks of the input to its row, or to its column, of the output. */
static bool move_row(lap_jpeg_turned *t, const JBLOCK *from, JBLOCKARRAY to, int row, int wide, int high)
{
    const lap_turn_steps p = t->move.steps;
    const int count = p.transpose ? high : wide;
    bool fits = true;
    for (int i = 0; i < count; i++) {
        const int x = p.transpose ? row : i, y = p.transpose ? i : row;
        fits &=
            move_block(&t->move, from[i], to[p.up_down ? high - 1 - y : y][p.left_right ? wide - 1 - x : x]);
    }
    return fits;
}

static void move_component(lap_jpeg_turned *t, jvirt_barray_ptr from, int c)
{
    int wide, high;
    size_of(t, c, &wide, &high);
    JBLOCKARRAY to = rows_of(t, t->moved[c], 0, high, true);
    const int count = t->move.steps.transpose ? wide : high;
    for (int row = 0; row < count; row++) {
        go_on(t);
        if (!move_row(t, *rows_of(t, from, row, 1, false), to, row, wide, high))
            t->misfit = "an AC coefficient is beyond 1023";
    }
}

/* Checks the blocks of one MCU, without padding; false if a DC difference is out of range. The encoder pads
 * an MCU at the edge with blocks that repeat the last DC value, so their difference is 0. */
static bool check_mcu(JBLOCKARRAY rows, int x, int wide, int high, int *last)
{
    bool fits = true;
    for (int j = 0; j < high; j++)
        for (int i = x; i < x + wide; i++) {
            const int difference = rows[j][i][0] - *last;
            fits &= difference >= -MAX_DC_DIFFERENCE && difference <= MAX_DC_DIFFERENCE;
            *last = rows[j][i][0];
        }
    return fits;
}

static int at_most(int a, int most)
{
    return a < most ? a : most;
}

/* Checks the DC differences in the order in which the output codes them: MCU by MCU, without restarts. The
 * first scan of a progressive file has the same order; it codes each value without its lowest bit. */
static void check_differences(lap_jpeg_turned *t)
{
    const int components = t->out.num_components;
    int wide[MAX_COMPONENTS], high[MAX_COMPONENTS], last[MAX_COMPONENTS] = {0}, mcus_wide = 0, mcus_high = 0;
    JBLOCKARRAY rows[MAX_COMPONENTS];
    for (int c = 0; c < components; c++) {
        const jpeg_component_info *info = &t->out.comp_info[c];
        size_of(t, c, &wide[c], &high[c]);
        rows[c] = rows_of(t, t->moved[c], 0, high[c], false);
        const int w = (wide[c] - 1) / info->h_samp_factor + 1, h = (high[c] - 1) / info->v_samp_factor + 1;
        mcus_wide = w > mcus_wide ? w : mcus_wide;
        mcus_high = h > mcus_high ? h : mcus_high;
    }
    for (int y = 0; y < mcus_high; y++) {
        go_on(t);
        for (int x = 0; x < mcus_wide; x++)
            for (int c = 0; c < components; c++) {
                const int h = t->out.comp_info[c].h_samp_factor, v = t->out.comp_info[c].v_samp_factor;
                if (!check_mcu(rows[c] + (ptrdiff_t)y * v, x * h, at_most(h, wide[c] - x * h),
                        at_most(v, high[c] - y * v), &last[c]))
                    t->misfit = "a difference of DC coefficients is beyond 2047";
            }
    }
}

/* Copies the parameters of the input. If rows become columns, also swaps its sampling factors and transposes
 * its quantisation tables. */
static void plan_output(lap_jpeg_turned *t)
{
    struct jpeg_compress_struct *out = &t->out;
    const bool swaps = t->move.steps.transpose;
    jpeg_copy_critical_parameters(&t->reader->cinfo, out);
    out->image_width = (JDIMENSION)(swaps ? t->turning.height : t->turning.width);
    out->image_height = (JDIMENSION)(swaps ? t->turning.width : t->turning.height);
#if JPEG_LIB_VERSION >= 70 /* interface 80 writes these into the header, and they are still the input's */
    out->jpeg_width = out->image_width;
    out->jpeg_height = out->image_height;
#endif
    for (int i = 0; i < out->num_components; i++) {
        jpeg_component_info *info = &out->comp_info[i];
        const int h = info->h_samp_factor, v = info->v_samp_factor;
        const bool alone = out->num_components == 1; /* sampling factors have no effect then */
        info->h_samp_factor = alone ? 1 : swaps ? v : h;
        info->v_samp_factor = alone ? 1 : swaps ? h : v;
    }
    for (int i = 0; swaps && i < NUM_QUANT_TBLS; i++)
        for (int v = 0; out->quant_tbl_ptrs[i] && v < DCTSIZE; v++)
            for (int u = 0; u < v; u++) {
                UINT16 *const table = out->quant_tbl_ptrs[i]->quantval, kept = table[v * DCTSIZE + u];
                table[v * DCTSIZE + u] = table[u * DCTSIZE + v];
                table[u * DCTSIZE + v] = kept;
            }
}

/* Returns whether two components have the same identifier. A scan names its components by identifier, so
 * these can be told apart only by their order in a scan of all components. */
static bool share_identifiers(const struct jpeg_compress_struct *out)
{
    bool shared = false;
    for (int i = 0; i < out->num_components; i++)
        for (int j = 0; j < i; j++)
            shared |= out->comp_info[i].component_id == out->comp_info[j].component_id;
    return shared;
}

static void on_progress(j_common_ptr cinfo)
{
    go_on(cinfo->client_data);
}

static void work_move(void *argument)
{
    lap_jpeg_turned *t = argument;
    jpeg_create_compress(&t->out);
    lap_jpeg_ignore_limit((j_common_ptr)&t->out);
    t->out.client_data = t;
    t->out.progress = &t->progress;
    t->progress.progress_monitor = on_progress;
    plan_output(t);
    for (int c = 0; c < t->out.num_components; c++) {
        const jpeg_component_info *info = &t->out.comp_info[c];
        int wide, high;
        size_of(t, c, &wide, &high);
        const int padded_wide = (wide - 1) / info->h_samp_factor * info->h_samp_factor + info->h_samp_factor,
                  padded_high = (high - 1) / info->v_samp_factor * info->v_samp_factor + info->v_samp_factor;
        t->moved[c] = t->out.mem->request_virt_barray((j_common_ptr)&t->out, JPOOL_IMAGE, TRUE,
            (JDIMENSION)padded_wide, (JDIMENSION)padded_high, (JDIMENSION)padded_high);
    }
    t->out.mem->realize_virt_arrays((j_common_ptr)&t->out);
    for (int c = 0; c < t->out.num_components; c++)
        move_component(t, t->reader->coefficients[c], c);
    check_differences(t);
    if (t->turning.progressive && share_identifiers(&t->out))
        t->misfit = "two components have the same identifier";
}

lap_code lap_jpeg_turn_read(lap_decoder *decoder, lap_error *err)
{
    lap_header *header = &decoder->header;
    if (!header->whole && !lap_add(header->memory_estimate, array_bytes(header), &header->memory_estimate))
        header->memory_estimate = SIZE_MAX;
    return lap_jpeg_read_whole(decoder->state, err);
}

lap_code lap_jpeg_turn_move(
    lap_decoder *decoder, const lap_jpeg_turning *turning, lap_jpeg_turned **turned, lap_error *err)
{
    *turned = NULL;
    lap_jpeg_turned *t = calloc(1, sizeof *t); /* a zeroed object may be destroyed */
    if (!t)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    t->reader = decoder->state;
    t->turning = *turning;
    t->control = turning->control;
    t->move = plan_block(turning->turn);
    t->out.err = lap_jpeg_error_init(&t->error);
    lap_code code = lap_jpeg_guard(&t->error, work_move, t);
    const lap_error *why = &t->error.cause;
    if (code == LAP_E_MEMORY || code == LAP_E_CANCELLED || code == LAP_E_TIMEOUT)
        *err = *why;
    else if (code != LAP_OK) /* a table that the input defines twice, or never */
        code = lap_fail(err, LAP_E_UNSUPPORTED, "%s", why->message);
    else if (t->misfit)
        code = lap_fail(err, LAP_E_UNSUPPORTED, "%s", t->misfit);
    if (code != LAP_OK)
        lap_jpeg_turned_free(t);
    else
        *turned = t;
    return code;
}

void lap_jpeg_turned_free(lap_jpeg_turned *turned)
{
    if (turned)
        jpeg_destroy_compress(&turned->out);
    free(turned);
}

/* ---- writing -------------------------------------------------------------------------------------- */

static void dest_begin(j_compress_ptr out)
{
    lap_jpeg_turned *t = out->client_data;
    t->dest.next_output_byte = t->bytes;
    t->dest.free_in_buffer = sizeof t->bytes;
}

static void put_out(lap_jpeg_turned *t, size_t size)
{
    if (lap_sink_write(t->sink, t->bytes, size, &t->error.cause) != LAP_OK)
        lap_jpeg_raise(&t->error);
    dest_begin(&t->out);
}

static boolean dest_full(j_compress_ptr out)
{
    lap_jpeg_turned *t = out->client_data;
    put_out(t, sizeof t->bytes); /* the whole buffer; free_in_buffer is not reliable here */
    return TRUE;
}

static void dest_end(j_compress_ptr out)
{
    lap_jpeg_turned *t = out->client_data;
    put_out(t, sizeof t->bytes - t->dest.free_in_buffer);
}

static void work_write(void *argument)
{
    lap_jpeg_turned *t = argument;
    struct jpeg_compress_struct *out = &t->out;
    const lap_header *from = t->options->from;
    t->dest = (struct jpeg_destination_mgr){
        .init_destination = dest_begin, .empty_output_buffer = dest_full, .term_destination = dest_end};
    out->dest = &t->dest;
    out->optimize_coding = t->options->optimize || t->turning.progressive;
    if (t->turning.progressive)
        jpeg_simple_progression(out);
    if (from->density_x > 0) {
        out->density_unit = (UINT8)from->density_unit;
        out->X_density = (UINT16)from->density_x;
        out->Y_density = (UINT16)from->density_y;
    }
    jpeg_write_coefficients(out, t->moved);
    for (size_t i = 0; i < t->meta.count; i++) {
        const lap_segment *s = &t->meta.segments[i];
        jpeg_write_marker(out, s->marker, s->data, (unsigned)s->size);
    }
    jpeg_finish_compress(out);
}

lap_code lap_jpeg_turn_write(
    lap_jpeg_turned *turned, const lap_write_options *options, lap_sink *sink, lap_error *err)
{
    lap_code code = lap_meta_choose(options, &turned->meta, err);
    if (code != LAP_OK)
        return code;
    turned->options = options;
    turned->sink = sink;
    code = lap_jpeg_guard(&turned->error, work_write, turned);
    const char *message = turned->error.cause.message;
    if (code == LAP_E_DAMAGED || code == LAP_E_UNSUPPORTED) /* libjpeg refuses our parameters */
        code = lap_fail(err, LAP_E_INTERNAL, "JPEG encoder: %s", message);
    else if (code != LAP_OK)
        *err = turned->error.cause;
    lap_meta_free(&turned->meta);
    return code;
}
