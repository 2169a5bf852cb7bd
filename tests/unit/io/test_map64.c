#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "io/map64.h"

/* Keys that share their low bits meet in one place of the table. */
static uint64_t colliding(uint64_t i)
{
    return (i + 1) << 32 | 7;
}

static void grows_and_finds(void **state)
{
    lap_map64 map = {0};
    (void)state;
    assert_null(lap_map64_find(&map, 1));
    for (uint64_t i = 1; i <= 5000; i++)
        assert_int_equal(lap_map64_put(&map, i * 0x9E3779B97F4A7C15u, i, NULL), LAP_OK);
    assert_int_equal(map.count, 5000);
    for (uint64_t i = 1; i <= 5000; i++) {
        const uint64_t *value = lap_map64_find(&map, i * 0x9E3779B97F4A7C15u);
        assert_non_null(value);
        assert_int_equal(*value, i);
    }
    assert_null(lap_map64_find(&map, 12345));
    lap_map64_free(&map);
    assert_null(lap_map64_find(&map, 1));
}

static void collisions_stay_apart(void **state)
{
    lap_map64 map = {0};
    (void)state;
    for (uint64_t i = 0; i < 400; i++)
        assert_int_equal(lap_map64_put(&map, colliding(i), i, NULL), LAP_OK);
    for (uint64_t i = 0; i < 400; i++)
        assert_int_equal(*lap_map64_find(&map, colliding(i)), i);
    assert_null(lap_map64_find(&map, colliding(400)));
    lap_map64_free(&map);
}

static void a_second_value_replaces(void **state)
{
    lap_map64 map = {0};
    (void)state;
    assert_int_equal(lap_map64_put(&map, UINT64_MAX, 1, NULL), LAP_OK);
    assert_int_equal(lap_map64_put(&map, UINT64_MAX, 0, NULL), LAP_OK);
    assert_int_equal(map.count, 1);
    assert_int_equal(*lap_map64_find(&map, UINT64_MAX), 0);
    lap_map64_free(&map);
}

static void keys_are_stable_and_never_0(void **state)
{
    (void)state;
    /* Shards on different machines, and years apart, must agree: XXH3, 64 bits, no seed. */
    assert_int_equal(lap_map64_key("a.jpg", 5), 0x169276d1980ff75);
    assert_int_not_equal(lap_map64_key("", 0), 0);
    assert_int_not_equal(lap_map64_key("a", 1), lap_map64_key("b", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_finds),
        cmocka_unit_test(collisions_stay_apart),
        cmocka_unit_test(a_second_value_replaces),
        cmocka_unit_test(keys_are_stable_and_never_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
