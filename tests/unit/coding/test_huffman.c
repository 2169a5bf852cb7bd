#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "coding/huffman.h"
#include "coding/huffman_walk.h"

/* T.81 table K.3 and the first codes of a table with 16-bit codes, as K.5 has them. */
static const uint8_t dc_bits[17] = {0, 0, 1, 5, 1, 1, 1, 1, 1, 1};
static const uint8_t dc_values[256] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
static const uint8_t ac_bits[17] = {0, 0, 2, 1, 3, 1, 2, 2, 1, 1, 2, 0, 1, 0, 0, 0, 3};
static const uint8_t ac_values[256] = {0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06,
    0x13, 0xF0, 0x51, 0x61, 0x1A, 0xFA, 0x2F};

static void makes_the_codes_of_the_standard(void **state)
{
    lap_huff_code code;
    int length;
    (void)state;
    assert_int_equal(lap_huff_make(dc_bits, dc_values, true, &code), LAP_HUFF_FINE);
    assert_int_equal(code.longest, 9);
    assert_int_equal(lap_huff_symbol(&code, 0, &length), 0); /* 00 */
    assert_int_equal(length, 2);
    assert_int_equal(lap_huff_symbol(&code, (uint64_t)2 << 61, &length), 1); /* 010 */
    assert_int_equal(length, 3);
    assert_int_equal(lap_huff_symbol(&code, (uint64_t)6 << 61, &length), 5);      /* 110 */
    assert_int_equal(lap_huff_symbol(&code, (uint64_t)0x1FE << 55, &length), 11); /* 111111110 */
    assert_int_equal(length, 9);
    assert_int_equal(lap_huff_symbol(&code, UINT64_MAX, &length), -1);
    assert_int_equal(lap_huff_symbol(&code, (uint64_t)0x1FF << 55, &length), -1);
}

static void refuses_what_libjpeg_refuses(void **state)
{
    lap_huff_code code;
    uint8_t bits[17] = {0, 2}, values[256] = {0, 16};
    (void)state;
    assert_int_equal(lap_huff_make(bits, values, false, &code), LAP_HUFF_TABLE); /* 0 and 1: all ones */
    bits[1] = 1;
    bits[2] = 1;
    assert_int_equal(lap_huff_make(bits, values, false, &code), LAP_HUFF_FINE);
    assert_int_equal(lap_huff_make(bits, values, true, &code), LAP_HUFF_TABLE); /* DC category 16 */
    bits[2] = 3;
    assert_int_equal(lap_huff_make(bits, values, false, &code), LAP_HUFF_TABLE);
    memset(bits, 0, sizeof bits);
    assert_int_equal(lap_huff_make(bits, values, false, &code), LAP_HUFF_FINE); /* no codes at all */
    int length;
    assert_int_equal(lap_huff_symbol(&code, 0, &length), -1);
    bits[15] = 255;
    bits[16] = 2; /* 257 values */
    assert_int_equal(lap_huff_make(bits, values, false, &code), LAP_HUFF_TABLE);
}

static void values_are_extended(void **state)
{
    (void)state;
    assert_int_equal(lap_huff_value(UINT64_MAX, 0), 0);
    assert_int_equal(lap_huff_value(0, 1), -1);
    assert_int_equal(lap_huff_value(UINT64_MAX, 1), 1);
    assert_int_equal(lap_huff_value((uint64_t)2 << 61, 3), -5);
    assert_int_equal(lap_huff_value(0, 15), -32767);
    assert_int_equal(lap_huff_value(UINT64_MAX, 15), 32767);
    for (int v = -32767; v <= 32767; v++)
        assert_in_range(v < 0 ? -v : v, 1 << lap_huff_category(v) >> 1, (1 << lap_huff_category(v)) - 1);
}

static uint64_t random_bits(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* One block from k on: by entries where the rule of huffman_walk.h lets them count, else by steps. The bits
 * of window are all used up (true), or the block ended, or something was odd at *bits. */
static bool walk_by_entries(const lap_huff_layout *layout, const lap_huff_entry *entries, int index_bits,
    uint64_t window, int *k, int *bits, lap_huff_odd *odd)
{
    lap_huff_state at = {.k = *k};
    lap_huff_token token;
    *odd = LAP_HUFF_FINE;
    while (*bits < 32 && *odd == LAP_HUFF_FINE) {
        lap_huff_entry e = entries[window << *bits >> (64 - index_bits)];
        int k1 = at.k + (int)LAP_HUFF_ADVANCE(e), skip = (int)LAP_HUFF_SKIP(e);
        if (k1 < 64) {
            at.k = k1;
        } else if (LAP_HUFF_FIRST_BITS(e) && k1 >= LAP_HUFF_EOB && k1 - LAP_HUFF_EOB < 64) {
            at.k = 0;
        } else {
            *odd = lap_huff_step(layout, window << *bits, &at, &token);
            skip = token.bits;
        }
        *bits += *odd == LAP_HUFF_FINE ? skip : 0;
        *k = at.k;
        if (at.k == 0)
            return false;
    }
    return *odd == LAP_HUFF_FINE;
}

static void entries_stand_for_whole_symbols(void **state)
{
    static lap_huff_entry entries[1 << 12];
    static lap_huff_layout layout = {.components = 1, .blocks = 1, .ac = {1}};
    uint64_t seed = 88172645463325252u;
    int ended = 0, gone_wrong = 0;
    (void)state;
    assert_int_equal(lap_huff_make(ac_bits, ac_values, false, &layout.codes[1]), LAP_HUFF_FINE);
    for (int index_bits = 8; index_bits <= 12; index_bits++) {
        lap_huff_fill(&layout.codes[1], index_bits, entries);
        for (int i = 0; i < 100000; i++) {
            uint64_t window = random_bits(&seed);
            int k = 1 + (int)(random_bits(&seed) % 63), bits = 0, steps = 0;
            lap_huff_state by_steps = {.k = k};
            lap_huff_odd odd, step_odd = LAP_HUFF_FINE;
            walk_by_entries(&layout, entries, index_bits, window, &k, &bits, &odd);
            while (steps < bits || (odd && step_odd == LAP_HUFF_FINE)) {
                lap_huff_token token;
                step_odd = lap_huff_step(&layout, window << steps, &by_steps, &token);
                if (step_odd == LAP_HUFF_FINE)
                    steps += token.bits;
                else
                    break;
            }
            assert_int_equal(steps, bits);
            assert_int_equal(step_odd, odd);
            if (!odd)
                assert_int_equal(by_steps.k, k);
            ended += k == 0;
            gone_wrong += odd != LAP_HUFF_FINE;
        }
    }
    assert_in_range(ended, 50000, 500000); /* the walk really did both */
    assert_in_range(gone_wrong, 1000, 400000);
}

static void dc_entries_hold_one_symbol(void **state)
{
    static lap_huff_entry entries[1 << 11];
    lap_huff_code code;
    (void)state;
    assert_int_equal(lap_huff_make(dc_bits, dc_values, true, &code), LAP_HUFF_FINE);
    lap_huff_fill(&code, 11, entries);
    for (uint32_t i = 0; i < 1 << 11; i++) {
        int length, symbol = lap_huff_symbol(&code, (uint64_t)i << 53, &length);
        if (symbol < 0) {
            assert_int_equal(LAP_HUFF_FIRST_BITS(entries[i]), 0);
            continue;
        }
        assert_int_equal(LAP_HUFF_FIRST_BITS(entries[i]), length);
        assert_int_equal(LAP_HUFF_FIRST(entries[i]), symbol);
        assert_int_equal(LAP_HUFF_SKIP(entries[i]), length + symbol);
        assert_int_equal(LAP_HUFF_ADVANCE(entries[i]), 1);
        assert_int_equal(LAP_HUFF_FIRST_ONE(entries[i]), 1);
    }
}

static void padding_is_ones_and_short(void **state)
{
    (void)state;
    assert_true(lap_huff_is_padding(0, 0));
    assert_true(lap_huff_is_padding(UINT64_MAX << 57, 7));
    assert_false(lap_huff_is_padding(UINT64_MAX << 58, 7));
    assert_false(lap_huff_is_padding(UINT64_MAX, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_the_codes_of_the_standard),
        cmocka_unit_test(refuses_what_libjpeg_refuses),
        cmocka_unit_test(values_are_extended),
        cmocka_unit_test(entries_stand_for_whole_symbols),
        cmocka_unit_test(dc_entries_hold_one_symbol),
        cmocka_unit_test(padding_is_ones_and_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
