/* Look-up tables hold all that they may: an entry that holds less, or refers to the slow way without need,
 * changes no pixel. Each is compared with its description in the header, one symbol after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "coding/decode_plan.h"
#include "coding/encode_plan.h"
#include "coding/entropy_walk.h"
#include "coding/script_codes.h"
#include "coding/standard_codes.h"
#include "jpeg/ladders.h"

enum { EOB = LAP_HUFF_EOB, END = 64 };

typedef struct symbol { /* the one that begins a window */
    int length;         /* of its code; 0: none that is valid, or its code is longer than was asked for */
    int run, size, total, step, value;
} symbol;

/* Within the first `bits` bits of the window. */
static symbol symbol_of(const lap_huff_code *code, uint64_t window, int bits)
{
    symbol s = {0};
    int length;
    const int word = lap_huff_symbol(code, window, &length);
    s.run = word >> 4 & 15;
    s.size = word & 15;
    if (word < 0 || length > bits || (!code->is_dc && s.size == 0 && s.run > 0 && s.run < 15))
        return (symbol){0};
    s.length = length;
    s.total = length + s.size;
    s.step = code->is_dc ? 1 : word ? s.run + 1 : EOB;
    s.value = lap_huff_value(window << length, s.size);
    return s;
}

/* ---- codes --------------------------------------------------------------------------------------- */

/* Long runs and values of 12 bits and more with short codes, runs that only progressive scans have, and codes
 * of 16 bits: no encoder makes it. */
static const uint8_t odd_bits[17] = {0, 0, 1, 3, 2, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 3};
static const uint8_t odd_values[256] = {0xF0, 0x31, 0x00, 0xE2, 0x02, 0x50, 0x7B, 0xFA, 0x0C, 0x1F, 0xD1,
    0x11, 0x21, 0x04, 0x35, 0x10, 0x06, 0xC3, 0x05, 0x2B, 0x71};

static lap_huff_code standard(bool is_dc, int chroma)
{
    lap_standard_code codes[LAP_STANDARD_AC];
    uint8_t bits[17] = {0}, values[256];
    lap_huff_code code;
    const int count = lap_standard_codes(is_dc, chroma, codes);
    for (int i = 0; i < count; i++) {
        bits[codes[i].bits]++;
        values[i] = codes[i].symbol;
    }
    assert_int_equal(lap_huff_make(bits, values, is_dc, &code), LAP_HUFF_FINE);
    return code;
}

/* DC, AC */
static void make_codes(int which, lap_huff_code codes[2])
{
    static const uint8_t dc_bits[17] = {0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1};
    static const uint8_t dc_values[256] = {3, 0, 12, 7, 11, 2, 9, 1, 15, 4, 5};
    codes[0] = standard(true, which & 1);
    codes[1] = standard(false, which & 1);
    if (which < 2)
        return;
    assert_int_equal(lap_huff_make(odd_bits, odd_values, false, &codes[1]), LAP_HUFF_FINE);
    assert_int_equal(lap_huff_make(dc_bits, dc_values, true, &codes[0]), LAP_HUFF_FINE);
}
enum { CODES = 3 };

/* ---- of the decoders ----------------------------------------------------------------------------- */

static void check_decode_ac(const lap_huff_code *code, const uint64_t *entries)
{
    for (unsigned i = 0; i < 1 << LAP_DECODE_INDEX; i++) {
        const uint64_t e = entries[i], window = (uint64_t)i << (64 - LAP_DECODE_INDEX);
        const symbol one = symbol_of(code, window, LAP_DECODE_INDEX);
        if (one.length == 0 || one.size > LAP_DECODE_AC_SIZE) {
            assert_int_equal(LAP_DECODE_STEP(e), LAP_DECODE_ODD);
            continue;
        }
        const int left = LAP_DECODE_INDEX - one.total;
        symbol two = {0};
        if (one.step != EOB && left > 0)
            two = symbol_of(code, window << one.total, left);
        if (two.size > LAP_DECODE_AC_SIZE)
            two = (symbol){0};
        const bool has_two = two.length > 0;
        const symbol *last = has_two ? &two : &one;
        assert_int_equal(LAP_DECODE_LENGTH(e), one.total + two.total);
        assert_int_equal(LAP_DECODE_STEP(e), one.step + two.step);
        assert_int_equal(LAP_DECODE_START_2(e), 64 - one.total - two.total);
        assert_int_equal(LAP_DECODE_SIZE_2(e), last->size);
        assert_int_equal(LAP_DECODE_BIAS_2(e), 1 - (1 << last->size));
        assert_int_equal(LAP_DECODE_VALUE_1(e), has_two ? one.value : 0);
        assert_int_equal(LAP_DECODE_ZEROS_1(e), has_two ? one.run : 0);
    }
}

static void check_decode_dc(const lap_huff_code *code, const uint16_t *entries)
{
    for (unsigned i = 0; i < 1 << LAP_DECODE_DC_INDEX; i++) {
        const symbol s = symbol_of(code, (uint64_t)i << (64 - LAP_DECODE_DC_INDEX), LAP_DECODE_DC_INDEX);
        const bool is_there = s.length > 0 && s.size <= LAP_DECODE_DC_SIZE;
        assert_int_equal(entries[i], is_there ? s.total | s.size << 8 : 0);
    }
}

/* Components with the same tables share one set, others have their own. */
static void tables_of_the_decoders(void **state)
{
    static lap_decode_plan plan;
    static lap_jpeg_frame frame;
    (void)state;
    for (int which = 0; which < CODES; which++) {
        frame = (lap_jpeg_frame){.width = 9, .height = 9, .components = 3};
        lap_huff_code codes[2];
        make_codes(which, codes);
        for (int c = 0; c < 3; c++)
            frame.sample_h[c] = frame.sample_v[c] = 1;
        for (int i = 0; i < 4; i++)
            frame.huffman.codes[i] = codes[i / 2];
        /* Y and Cr share; Cb has the other DC table, and in turn the other AC table. */
        assert_true(lap_huff_layout_add(&frame.huffman, 1, 0, 2));
        assert_true(lap_huff_layout_add(&frame.huffman, 1, which == 0, 2 + (which == 1)));
        assert_true(lap_huff_layout_add(&frame.huffman, 1, 0, 2));
        assert_true(lap_decode_plan_make(&frame, lap_decode_c.index, &plan));
        assert_int_equal(plan.code_count, which < 2 ? 2 : 1);
        assert_int_equal(plan.codes_of[0], 0);
        assert_int_equal(plan.codes_of[1], which < 2 ? 1 : 0);
        assert_int_equal(plan.codes_of[2], 0);
        for (int i = 0; i < plan.code_count; i++) {
            check_decode_ac(&codes[1], plan.codes[i].ac);
            check_decode_dc(&codes[0], plan.codes[i].dc);
        }
    }
}

/* ---- of the walks -------------------------------------------------------------------------------- */

typedef struct walked { /* an entry: all symbols whose codes are within some bits */
    int length, step;
} walked;

static walked walked_of(const lap_huff_code *ac, uint64_t window, int bits)
{
    const symbol s = bits > 0 ? symbol_of(ac, window, bits) : (symbol){0};
    walked w = {s.total, s.step};
    if (s.length == 0 || s.step == EOB || s.total >= bits)
        return w;
    const walked rest = walked_of(ac, window << s.total, bits - s.total);
    if (s.step + rest.step % EOB >= END) /* past the end of the block */
        return w;
    return (walked){w.length + rest.length, w.step + rest.step};
}

static void check_walk(const lap_huff_code codes[2], const lap_walk_codes *made)
{
    for (unsigned i = 0; i < 1 << LAP_WALK_AC_BITS; i++) {
        const walked w = walked_of(&codes[1], (uint64_t)i << (64 - LAP_WALK_AC_BITS), LAP_WALK_AC_BITS);
        assert_int_equal(made->ac[i], w.length ? w.length | w.step << 8 : LAP_HUFF_LONG_CODE << 8);
    }
    for (unsigned i = 0; i < 1 << LAP_WALK_FIRST_BITS; i++) {
        const uint64_t window = (uint64_t)i << (64 - LAP_WALK_FIRST_BITS);
        const symbol dc = symbol_of(&codes[0], window, LAP_WALK_FIRST_BITS);
        const int left = LAP_WALK_FIRST_BITS - dc.total;
        if (dc.length == 0 || left < 0) {
            assert_int_equal(made->first[i], 0);
            continue;
        }
        walked rest = walked_of(&codes[1], window << dc.total, left);
        if (1 + rest.step % EOB >= END)
            rest = (walked){0};
        assert_int_equal((int32_t)made->first[i] >> 16, dc.value);
        assert_int_equal(made->first[i] & 0xFFFF, (dc.total + rest.length) | (1 + rest.step) << 8);
    }
}

static void tables_of_the_walks(void **state)
{
    static lap_walk_tables tables;
    (void)state;
    for (int which = 0; which < CODES; which++) {
        lap_huff_layout layout = {0};
        lap_huff_code codes[2];
        make_codes(which, codes);
        for (int i = 0; i < 8; i++)
            layout.codes[i] = codes[i / 4];
        assert_true(lap_huff_layout_add(&layout, 4, 0, 4));
        assert_true(lap_huff_layout_add(&layout, 1, which == 0, 4 + (which == 1)));
        assert_true(lap_huff_layout_add(&layout, 1, 0, 4));
        lap_walk_tables_init(&tables, &layout);
        for (int b = 0; b < 6; b++) /* Y and Cr share */
            assert_ptr_equal(tables.block[b], &tables.codes[b == 4 && which < 2 ? 1 : 0]);
        check_walk(codes, tables.block[0]);
        check_walk(codes, tables.block[4]);
    }
}

/* ---- of CUDA's decoders -------------------------------------------------------------------------- */

static lap_huff_entry filled_of(const lap_huff_code *code, uint64_t window, int bits)
{
    int count = 0, at = 0, advance = 0;
    symbol first = {0};
    for (bool goes_on = true; goes_on && advance < END;) {
        const symbol s = symbol_of(code, window << at, bits - at);
        const bool is_whole = code->is_dc || at + s.total <= bits;
        if (s.length == 0 || (count > 0 && !is_whole))
            break;
        first = count++ == 0 ? s : first;
        at += s.total;
        advance += s.step;
        goes_on = !code->is_dc && is_whole;
    }
    return (lap_huff_entry)(at | (count ? advance : LAP_HUFF_LONG_CODE) << 8 | first.length << 16 |
                            (count == 1) << 21) |
           (lap_huff_entry)(first.run << 4 | first.size) << 24;
}

static void tables_of_whole_symbols(void **state)
{
    static lap_huff_entry entries[1 << 16];
    (void)state;
    for (int which = 0; which < CODES; which++) {
        lap_huff_code codes[2];
        make_codes(which, codes);
        for (int i = 0; i < 2; i++)
            for (int bits = 1; bits <= 13; bits += 4) {
                lap_huff_fill(&codes[i], bits, entries);
                for (unsigned k = 0; k < 1u << bits; k++)
                    assert_int_equal(entries[k], filled_of(&codes[i], (uint64_t)k << (64 - bits), bits));
            }
    }
}

/* ---- of progressive scans ------------------------------------------------------------------------ */

static void tables_of_progressive_scans(void **state)
{
    static const lap_script_scan scans[] = {{.first = 0, .last = 0, .low = 1},
        {.first = 1, .last = 5, .low = 2}, {.first = 6, .last = 63}, {.first = 1, .last = 63, .high = 1},
        {.first = 1, .last = 63, .low = 13}};
    static lap_script_codes made;
    (void)state;
    for (size_t n = 0; n < sizeof scans / sizeof *scans; n++)
        for (int which = 0; which < CODES; which++) {
            lap_huff_code codes[2];
            make_codes(which, codes);
            const bool is_dc = n == 0;
            const int most = is_dc ? 11 : scans[n].high ? 1 : 15 - scans[n].low;
            lap_script_codes_make(&scans[n], &codes[!is_dc], &made);
            assert_ptr_equal(made.code, &codes[!is_dc]);
            assert_int_equal(made.most, most);
            for (unsigned i = 0; i < LAP_SCRIPT_ENTRIES; i++) {
                int length;
                const int word = lap_huff_symbol(made.code, (uint64_t)i << (64 - LAP_SCRIPT_INDEX), &length);
                const int run = word >> 4, size = word & 15, e = (int)made.entries[i];
                if (word < 0 || length > LAP_SCRIPT_INDEX || size > most) {
                    assert_int_equal(e, 0);
                    continue;
                }
                const bool ends = !is_dc && size == 0 && run < 15; /* a run of blocks that end */
                assert_int_equal(LAP_SCRIPT_LENGTH(e), length + (ends ? run : size));
                assert_int_equal(LAP_SCRIPT_STEP(e), ends ? 0 : run + 1);
                assert_int_equal(LAP_SCRIPT_SIZE(e), ends ? run : size);
            }
        }
}

/* ---- of the encoders ----------------------------------------------------------------------------- */

/* x86 multiplies by `scale`, NEON shifts by `shift`; both are one thing. And the order of vectors has the
 * divisors of the other. */
static void divisors_in_both_forms(void **state)
{
    static lap_encode_plan plan;
    lap_encode_target target = {.width = 20, .channels = 3, .h = {1, 1, 1}, .v = {1, 1, 1}};
    (void)state;
    for (int first = 1; first <= 255; first += 64) {
        for (int i = 0; i < 128; i++)
            target.quant[i / 64][i % 64] = (uint16_t)((first + i) % 255 + 1);
        assert_true(lap_encode_plan_make(&target, &plan));
        for (int c = 0; c < 2; c++)
            for (int i = 0; i < 64; i++) {
                const lap_encode_divisors *d = &plan.divisors[c], *turned = &plan.turned[c];
                const int at = lap_encode_turned(i);
                assert_int_equal(d->scale[i], 1 << (16 + d->shift[i]));
                assert_int_equal(turned->scale[i], d->scale[at]);
                assert_int_equal(turned->shift[i], d->shift[at]);
                assert_int_equal(turned->reciprocal[i], d->reciprocal[at]);
                assert_int_equal(turned->correction[i], d->correction[at]);
                for (unsigned v = 0; v < 1 << 14; v += 61) { /* of eight times a coefficient */
                    const unsigned divisor = 8u * target.quant[c][i];
                    const uint32_t product = (v + d->correction[i]) * d->reciprocal[i] >> 16;
                    assert_int_equal(product * d->scale[i] >> 16, (v + divisor / 2) / divisor);
                }
            }
    }
}

/* What our encoders take: each limit and one beyond. */
static void targets_of_the_encoders(void **state)
{
    static lap_encode_plan plan;
    (void)state;
    for (int shape = 0; shape < 1 << 9; shape++)
        for (int channels = 0; channels <= 5; channels++) {
            lap_encode_target t = {.width = shape % 2 ? 65500 : 1,
                .channels = channels,
                .h = {1 + (shape & 7), 1, 1},
                .v = {1 + (shape >> 3 & 7), 1, 1}};
            if (shape >> 6)
                (shape >> 8 ? t.h : t.v)[1 + (shape >> 7 & 1)] += shape >> 6 & 1;
            for (int i = 0; i < 128; i++)
                t.quant[i / 64][i % 64] = i % 2 ? 255 : 1;
            const bool is_gray = channels == 1;
            const int h = t.h[0], v = t.v[0];
            const bool is_ours = ((h <= 2 && v <= 2) || (h == 4 && v == 1)) && t.h[1] == 1 && t.h[2] == 1 &&
                                 t.v[1] == 1 && t.v[2] == 1;
            const bool expected = is_gray || ((channels == 3 || channels == 4) && is_ours);
            assert_int_equal(lap_encode_plan_make(&t, &plan), expected);
            if (expected) {
                assert_int_equal(plan.components, is_gray ? 1 : 3);
                assert_int_equal(plan.mcu_blocks, is_gray ? 1 : h * v + 2);
                assert_int_equal(plan.mcus, (t.width + 8 * plan.h - 1) / (8 * plan.h));
                assert_int_equal(plan.luma_blocks, (t.width + 7) / 8);
                assert_int_equal(lap_encode_unit_mcus(&plan), 16 / plan.h); /* 128 pixels */
            }
            t.width = shape % 2 ? 65501 : 0;
            assert_false(lap_encode_plan_make(&t, &plan));
            t.width = 9;
            t.quant[shape & 1][63 * (shape >> 1 & 1)] = shape & 4 ? 256 : 0;
            assert_false(lap_encode_plan_make(&t, &plan));
        }
}

/* ---- words --------------------------------------------------------------------------------------- */

static void each_oddity_has_its_words(void **state)
{
    static const char *const texts[] = {[LAP_HUFF_FINE] = "nothing unusual",
        [LAP_HUFF_TABLE] = "a Huffman table is invalid or missing",
        [LAP_HUFF_CODE] = "bits that are no valid code",
        [LAP_HUFF_RUN] = "coefficients past the end of a block",
        [LAP_HUFF_SHORT] = "data that ends too early",
        [LAP_HUFF_LONG] = "data left over before a marker",
        [LAP_HUFF_MARKER] = "a marker in the wrong place",
        [LAP_HUFF_RANGE] = "a DC value outside of 16 bits",
        [LAP_HUFF_UNBOUNDED] = "data whose symbols cannot be aligned"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(lap_huff_odd_text((lap_huff_odd)i), texts[i]);
    assert_string_equal(lap_huff_odd_text((lap_huff_odd)(LAP_HUFF_UNBOUNDED + 1)), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_the_decoders),
        cmocka_unit_test(tables_of_the_walks),
        cmocka_unit_test(tables_of_whole_symbols),
        cmocka_unit_test(tables_of_progressive_scans),
        cmocka_unit_test(divisors_in_both_forms),
        cmocka_unit_test(targets_of_the_encoders),
        cmocka_unit_test(each_oddity_has_its_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
