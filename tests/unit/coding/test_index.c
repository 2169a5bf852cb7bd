/* The index of a scan, with any pieces and threads: each row, each restart marker, the end and where pieces
 * begin, as one walk from the first bit to the last finds them, a symbol at a time. And why there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coding/entropy_scan.h"
#include "coding/jpeg_frame_read.h"
#include "tests/support/jpeg_make.h"

enum { MOST = 4000, MCUS_ACROSS = 10 };

typedef struct picture {
    const lap_huff_layout *layout;
    const uint8_t *bytes; /* from the scan on */
    size_t size;
    int wide, high, interval;
} picture;

/* ---- the whole scan, in one go ------------------------------------------------------------------- */

typedef struct walk {
    lap_scan_row rows[MOST];
    lap_scan_mark marks[MOST];
    size_t mark_count;
} walk;

/* Unstuffed data up to the next marker, which is at *at afterwards. Returns its bits. */
static uint64_t next_stretch(const picture *p, size_t *at, uint8_t *plain)
{
    size_t n = 0;
    for (; p->bytes[*at] != 0xFF || p->bytes[*at + 1] == 0; (*at)++) {
        plain[n++] = p->bytes[*at];
        *at += p->bytes[*at] == 0xFF;
    }
    memset(plain + n, 0, 16);
    return 8 * n;
}

static uint64_t window_at(const uint8_t *plain, uint64_t bit)
{
    uint64_t window = 0;
    for (int i = 0; i < 8; i++)
        window = window << 8 | plain[bit / 8 + (unsigned)i];
    return bit % 8 ? window << bit % 8 | plain[bit / 8 + 8] >> (8 - bit % 8) : window;
}

static void walk_all(const picture *p, walk *w)
{
    uint8_t *plain = malloc(p->size + 16);
    uint64_t before = 0, bit = 0, bits;
    int32_t dc[4] = {0};
    size_t at = 0;
    *w = (walk){.mark_count = 0};
    bits = next_stretch(p, &at, plain);
    for (int mcu = 0; mcu < p->wide * p->high; mcu++) {
        if (p->interval && mcu && mcu % p->interval == 0) {
            lap_scan_mark *mark = &w->marks[w->mark_count++];
            mark->padding = (uint8_t)(bits - bit);
            mark->bit = before += bits;
            for (int c = 0; c < 4; c++)
                mark->dc[c] = (int16_t)dc[c];
            memset(dc, 0, sizeof dc);
            at += 2;
            bits = next_stretch(p, &at, plain);
            bit = 0;
        }
        if (mcu % p->wide == 0) {
            w->rows[mcu / p->wide].bit = before + bit;
            for (int c = 0; c < 4; c++)
                w->rows[mcu / p->wide].dc[c] = (int16_t)dc[c];
        }
        lap_huff_state state = {0};
        do {
            const int component = p->layout->component[state.block];
            const bool is_dc = state.k == 0;
            lap_huff_token token = {0};
            assert_int_equal(lap_huff_step(p->layout, window_at(plain, bit), &state, &token), LAP_HUFF_FINE);
            dc[component] += is_dc ? token.value : 0;
            bit += (unsigned)token.bits;
        } while (state.k || state.block);
    }
    w->rows[p->high].bit = before + bit;
    for (int c = 0; c < 4; c++)
        w->rows[p->high].dc[c] = (int16_t)dc[c];
    free(plain);
}

/* ---- by pieces ----------------------------------------------------------------------------------- */

static lap_scan_plan plan_of(const picture *p, size_t piece)
{
    return (lap_scan_plan){.coded = {p->bytes, p->size, piece, p->interval > 0, lap_unstuff},
        .mcus_wide = p->wide,
        .mcus_high = p->high,
        .restart_interval = p->interval,
        .max_bytes = 1 << 20};
}

static lap_walk_tables tables;

static lap_huff_odd index_of(const lap_scan_plan *plan, lap_pool *pool, lap_scan_index *index)
{
    lap_huff_odd odd = LAP_HUFF_UNBOUNDED;
    const lap_scan_team team = {.pool = pool, .threads = 3};
    assert_int_equal(lap_scan_index_make(plan, &tables, &team, index, &odd, NULL), LAP_OK);
    if (odd != LAP_HUFF_FINE)
        assert_true(!index->rows && !index->marks && !index->begins);
    return odd;
}

static void same_index(
    const picture *p, const walk *w, const lap_scan_plan *plan, const lap_scan_index *index)
{
    for (int y = 0; y <= p->high; y++) {
        assert_int_equal(index->rows[y].bit, w->rows[y].bit);
        assert_memory_equal(index->rows[y].dc, w->rows[y].dc, sizeof w->rows[y].dc);
    }
    assert_int_equal(index->mark_count, w->mark_count);
    for (size_t i = 0; i < w->mark_count; i++) {
        assert_int_equal(index->marks[i].bit, w->marks[i].bit);
        assert_int_equal(index->marks[i].padding, w->marks[i].padding);
        assert_memory_equal(index->marks[i].dc, w->marks[i].dc, sizeof w->marks[i].dc);
    }
    /* Bits of the data before each piece; what is stuffed or a marker has none, and belongs to its 0xFF. */
    uint64_t bytes = 0;
    size_t piece = 0;
    for (size_t at = 0; piece <= index->piece_count && at < p->size; at++) {
        if (at % plan->coded.piece == 0)
            assert_int_equal(index->begins[piece++], 8 * bytes);
        const bool is_second = at > 0 && p->bytes[at - 1] == 0xFF;
        const bool is_marker = p->bytes[at] == 0xFF && at + 1 < p->size && p->bytes[at + 1] != 0;
        bytes += !is_second && !is_marker;
    }
    assert_true(index->piece_count >= 1 && index->begins[index->piece_count] >= w->rows[p->high].bit);
    assert_true(index->begins[index->piece_count - 1] < w->rows[p->high].bit);
}

static jpeg_bytes make(int restart, picture *p)
{
    static lap_jpeg_frame frame;
    const jpeg_kind kind = {
        .name = "4:2:0", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .restart = restart};
    jpeg_bytes file = jpeg_make(&kind, 16 * MCUS_ACROSS, 200);
    assert_true(lap_jpeg_frame_read(file.data, file.size, &frame));
    *p = (picture){&frame.huffman, file.data + frame.scan_begin, file.size - (size_t)frame.scan_begin,
        MCUS_ACROSS, 13, restart};
    lap_walk_tables_init(&tables, p->layout);
    return file;
}

static void any_pieces_and_threads(void **state)
{
    static const size_t pieces[] = {7, 300, 1537, 4000, 100000};
    static const int intervals[] = {0, 1, 3, 10, 65, 129, 130};
    static walk w;
    (void)state;
    lap_pool *pool = lap_pool_create(3, NULL);
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        picture p;
        jpeg_bytes file = make(intervals[i], &p);
        walk_all(&p, &w);
        assert_int_equal(w.mark_count, p.interval ? (130 - 1) / p.interval : 0);
        for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
            const lap_scan_plan plan = plan_of(&p, pieces[k]);
            lap_scan_index index;
            assert_int_equal(index_of(&plan, k % 2 ? pool : NULL, &index), LAP_HUFF_FINE);
            same_index(&p, &w, &plan, &index);
            lap_scan_index_free(&index);
        }
        free(file.data);
    }
    lap_pool_destroy(pool);
}

/* ---- none ---------------------------------------------------------------------------------------- */

/* The picture, and one that says something else than the data does. */
static void what_does_not_fit_the_data(void **state)
{
    static const struct {
        int restart, high, interval; /* of the file; added to the picture's */
        bool ignores;                /* markers are not expected */
        int end;                     /* code of the last marker; -1: it is cut off */
        int limit;                   /* most marks that the index may have room for; 0: enough */
        lap_huff_odd odd;
    } cases[] = {{0, 0, 0, false, 0xD9, 0, LAP_HUFF_FINE}, {0, 1, 0, false, 0xD9, 0, LAP_HUFF_SHORT},
        {0, -1, 0, false, 0xD9, 0, LAP_HUFF_LONG}, {5, 1, 0, false, 0xD9, 0, LAP_HUFF_SHORT},
        {5, -1, 0, false, 0xD9, 0, LAP_HUFF_LONG}, {5, 0, 1, false, 0xD9, 0, LAP_HUFF_SHORT},
        {5, 0, -1, false, 0xD9, 0, LAP_HUFF_LONG}, {5, 0, 0, true, 0xD9, 0, LAP_HUFF_SHORT},
        {0, 0, 0, false, 0xDA, 0, LAP_HUFF_MARKER}, {0, 0, 0, false, -1, 0, LAP_HUFF_MARKER},
        {2, 0, 0, false, 0xD9, 64, LAP_HUFF_FINE}, {2, 0, 0, false, 0xD9, 63, LAP_HUFF_UNBOUNDED},
        {1, 0, 0, false, 0xD9, 256, LAP_HUFF_FINE}, {1, 0, 0, false, 0xD9, 255, LAP_HUFF_UNBOUNDED},
        /* An end marker in place of the interval's, or one more. */
        {130, 0, 0, false, 0xD9, 0, LAP_HUFF_FINE}, {130, 0, -1, false, 0xD9, 0, LAP_HUFF_MARKER}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        picture p;
        jpeg_bytes file = make(cases[i].restart, &p);
        p.high += cases[i].high;
        p.interval += cases[i].interval;
        file.data[file.size - 1] = (uint8_t)cases[i].end;
        p.size -= cases[i].end < 0 ? 2 : 0;
        for (size_t piece = 500; piece < 6000; piece *= 10) {
            lap_scan_plan plan = plan_of(&p, piece);
            lap_scan_index index;
            plan.coded.restarts &= !cases[i].ignores;
            if (cases[i].limit)
                plan.max_bytes = (size_t)cases[i].limit * sizeof *index.marks;
            const lap_huff_odd odd = index_of(&plan, NULL, &index);
            if (odd != cases[i].odd)
                fail_msg("case %zu, pieces of %zu: %s, not %s", i, piece, lap_huff_odd_text(odd),
                    lap_huff_odd_text(cases[i].odd));
            lap_scan_index_free(&index);
        }
        free(file.data);
    }
}

/* Each marker has the next number, modulo eight. */
static void markers_in_another_order(void **state)
{
    (void)state;
    picture p;
    jpeg_bytes file = make(11, &p);
    uint8_t *bytes = file.data + (p.bytes - file.data);
    int count = 0;
    for (size_t at = 0; at + 2 < p.size; at++) {
        if (bytes[at] != 0xFF || bytes[at + 1] == 0)
            continue;
        assert_int_equal(bytes[at + 1], 0xD0 + count++ % 8);
        for (int other = 0; other < 8; other++) {
            const uint8_t kept = bytes[at + 1];
            lap_scan_index index;
            bytes[at + 1] = (uint8_t)(0xD0 + other);
            const lap_scan_plan plan = plan_of(&p, 700);
            assert_int_equal(
                index_of(&plan, NULL, &index), bytes[at + 1] == kept ? LAP_HUFF_FINE : LAP_HUFF_MARKER);
            lap_scan_index_free(&index);
            bytes[at + 1] = kept;
        }
    }
    assert_int_equal(count, 11);
    free(file.data);
}

/* A gray picture one MCU wide, of DC differences alone. A 16-bit sum is fine, one more or less is not. */
static void sums_of_16_bits(void **state)
{
    static const struct {
        int differences[4]; /* 0 ends them */
        lap_huff_odd odd;
    } cases[] = {{{32767, -1, 1}, LAP_HUFF_FINE}, {{32767, 1, -1}, LAP_HUFF_RANGE},
        {{32767, 1}, LAP_HUFF_RANGE}, {{-32767, -1, 1}, LAP_HUFF_FINE}, {{-32767, -1}, LAP_HUFF_FINE},
        {{-32767, -1, -1}, LAP_HUFF_RANGE}, {{-32767, -1, -1, 1}, LAP_HUFF_RANGE}};
    static const uint8_t dc_bits[17] = {0, 1, 1}, dc_values[256] = {15, 1}; /* 0, 10 */
    static const uint8_t ac_bits[17] = {0, 1}, ac_values[256] = {0};        /* 0: the block ends */
    static lap_huff_layout layout = {.components = 0};
    (void)state;
    layout = (lap_huff_layout){.components = 0};
    assert_true(lap_huff_layout_add(&layout, 1, 0, 4));
    for (int i = 0; i < 8; i++)
        assert_int_equal(
            lap_huff_make(i < 4 ? dc_bits : ac_bits, i < 4 ? dc_values : ac_values, i < 4, &layout.codes[i]),
            LAP_HUFF_FINE);
    lap_walk_tables_init(&tables, &layout);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[40];
        uint64_t bits = 0;
        int count = 0, n = 0;
        size_t size = 0;
        for (; n < 4 && cases[i].differences[n]; n++) {
            const int value = cases[i].differences[n], length = value * value == 1 ? 1 : 15;
            const uint64_t low = (uint64_t)(value < 0 ? value - 1 : value) & ((1u << length) - 1);
            bits = bits << (length == 1 ? 2 : 1) | (length == 1 ? 2 : 0); /* its code */
            bits = (bits << length | low) << 1;                           /* and that of the end */
            for (count += length + (length == 1 ? 3 : 2); count >= 8; count -= 8) {
                bytes[size++] = (uint8_t)(bits >> (count - 8));
                if (bytes[size - 1] == 0xFF)
                    bytes[size++] = 0;
            }
        }
        bytes[size++] = (uint8_t)(bits << (8 - count) | (0xFFu >> count));
        memcpy(bytes + size, "\xFF\xD9", 2);
        const picture p = {&layout, bytes, size + 2, 1, n, 0};
        const lap_scan_plan plan = plan_of(&p, 100);
        lap_scan_index index;
        const lap_huff_odd odd = index_of(&plan, NULL, &index);
        if (odd != cases[i].odd)
            fail_msg("case %zu: %s", i, lap_huff_odd_text(odd));
        lap_scan_index_free(&index);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_pieces_and_threads),
        cmocka_unit_test(what_does_not_fit_the_data),
        cmocka_unit_test(markers_in_another_order),
        cmocka_unit_test(sums_of_16_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
