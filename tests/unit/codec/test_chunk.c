/* Chunks: bytes that grow, in memory of their own or first in lent memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/codec.h"

enum { LENT = 100, GUARD = 0xA5 };

static void add(lap_chunk *chunk, size_t count)
{
    assert_int_equal(lap_chunk_reserve(chunk, count, NULL), LAP_OK);
    assert_true(chunk->capacity - chunk->size >= count);
    for (size_t i = 0; i < count; i++, chunk->size++)
        chunk->data[chunk->size] = (uint8_t)(7 * chunk->size);
}

static void expect(const lap_chunk *chunk, size_t size)
{
    assert_int_equal(chunk->size, size);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(chunk->data[i], (uint8_t)(7 * i));
}

static void lent_memory_is_used_until_it_is_full(void **state)
{
    (void)state;
    uint8_t memory[LENT + 8];
    lap_chunk chunk;
    memset(memory, GUARD, sizeof memory);
    lap_chunk_lend(&chunk, memory, LENT);
    add(&chunk, 60);
    add(&chunk, 40);
    assert_ptr_equal(chunk.data, memory);
    expect(&chunk, LENT);
    chunk.size = 0; /* as for the next band */
    add(&chunk, LENT);
    assert_ptr_equal(chunk.data, memory);
    for (int i = LENT; i < LENT + 8; i++)
        assert_int_equal(memory[i], GUARD);
    lap_chunk_free(&chunk); /* frees nothing that is lent */
    assert_null(chunk.data);
}

static void a_chunk_moves_out_with_its_bytes(void **state)
{
    (void)state;
    uint8_t memory[LENT];
    lap_chunk chunk;
    lap_chunk_lend(&chunk, memory, LENT);
    add(&chunk, LENT - 1);
    add(&chunk, 2);
    assert_ptr_not_equal(chunk.data, memory);
    memset(memory, GUARD, sizeof memory);
    expect(&chunk, LENT + 1);
    add(&chunk, 10000);
    expect(&chunk, LENT + 10001);
    lap_chunk_free(&chunk);
}

static void too_much_leaves_the_chunk(void **state)
{
    (void)state;
    uint8_t memory[LENT];
    lap_chunk chunk;
    lap_error err;
    lap_chunk_lend(&chunk, memory, LENT);
    add(&chunk, 50);
    assert_int_equal(lap_chunk_reserve(&chunk, SIZE_MAX, &err), LAP_E_MEMORY);
    assert_ptr_equal(chunk.data, memory);
    expect(&chunk, 50);
    lap_chunk_free(&chunk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lent_memory_is_used_until_it_is_full),
        cmocka_unit_test(a_chunk_moves_out_with_its_bytes),
        cmocka_unit_test(too_much_leaves_the_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
