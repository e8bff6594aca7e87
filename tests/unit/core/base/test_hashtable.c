/* layer: core tier: check */
#include "tests/support/check.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/hashtable.h"

enum { MANY = 300000 };

/* Add key(i) → i + 1 for count keys, and find each again. */
static void check_keys(struct xc_arena *arena, uint64_t (*key)(uint64_t), size_t count, uint64_t b)
{
	struct xc_hashtable table = {0};
	for (size_t i = 0; i < count; i++) {
		union xc_hashtable_value *value = xc_hashtable_at(&table, arena, key(i), b);
		assert_int_equal(value->number, 0);
		value->number = i + 1;
	}
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(xc_hashtable_at(&table, arena, key(i), b)->number, i + 1);
		assert_int_equal(xc_hashtable_find(&table, key(i), b)->number, i + 1);
		assert_null(xc_hashtable_find(&table, key(i), b + 1));
	}
	assert_true(table.room >= table.count && table.room <= 2 * table.count + 32);
	if (!arena)
		xc_hashtable_fini(&table);
}

static uint64_t itself(uint64_t i)
{
	return i;
}

static uint64_t high_bits(uint64_t i)
{
	return i << 40 | i >> 24;
}

static uint64_t pages(uint64_t i)
{
	return UINT64_C(0x7f0000000000) + i * 4096;
}

static void many_keys_are_found_again(void **state)
{
	(void)state;
	struct xc_arena arena = {0};
	check_keys(NULL, itself, MANY, 0);
	check_keys(NULL, pages, MANY, 7);
	check_keys(&arena, itself, MANY / 8, 1);
	xc_arena_fini(&arena);
}

/* The longest run of used slots. In a table that is half full of random keys it is below 100. */
static size_t longest_run(uint64_t (*key)(uint64_t), size_t count, bool second)
{
	struct xc_hashtable table = {0};
	size_t longest = 0, run = 0;
	for (size_t i = 0; i < count; i++)
		xc_hashtable_at(&table, NULL, second ? 1 : key(i), second ? key(i) : 0);
	for (size_t i = 0; i < 2 * table.room; i++) {
		run = table.slots[i].a | table.slots[i].b ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	xc_hashtable_fini(&table);
	return longest;
}

static void regular_addresses_do_not_cluster(void **state)
{
	(void)state;
	uint64_t (*const keys[])(uint64_t) = {itself, high_bits, pages};
	for (size_t i = 0; i < XC_COUNT(keys); i++) {
		assert_in_range(longest_run(keys[i], 1 << 16, false), 1, 100);
		assert_in_range(longest_run(keys[i], 1 << 16, true), 1, 100);
	}
}

static uint64_t factor; /* the inverse of the first step of the mix */

static uint64_t low_products(uint64_t i)
{
	return i * factor;
}

/* Keys whose products differ in their high bits only, then in their low bits only. */
static void keys_that_undo_the_first_multiplication_do_not_cluster(void **state)
{
	(void)state;
	uint64_t inverse = 1;
	for (int i = 0; i < 6; i++)
		inverse *= 2 - inverse * UINT64_C(0x9e3779b97f4a7c15);
	assert_int_equal(inverse * UINT64_C(0x9e3779b97f4a7c15), 1);
	for (int bit = 0; bit <= 48; bit += 16) {
		factor = inverse << bit;
		assert_in_range(longest_run(low_products, 1 << 16, false), 1, 100);
	}
}

static void zero_is_a_key(void **state)
{
	(void)state;
	struct xc_hashtable table = {0};
	assert_null(xc_hashtable_find(&table, 1, 0));
	assert_int_equal(xc_hashtable_find(&table, 0, 0)->number, 0);
	for (uint64_t i = 0; i < 1000; i++) {
		xc_hashtable_at(&table, NULL, 0, i)->number = i + 100;
		xc_hashtable_at(&table, NULL, i, 0)->number = i + 100;
	}
	assert_int_equal(xc_hashtable_at(&table, NULL, 0, 0)->number, 100);
	assert_int_equal(xc_hashtable_find(&table, 0, 0)->number, 100);
	assert_int_equal(xc_hashtable_find(&table, 0, 999)->number, 1099);
	assert_int_equal(xc_hashtable_find(&table, 999, 0)->number, 1099);
	assert_int_equal(table.count, 2 * 999);
	xc_hashtable_fini(&table);
	assert_null(xc_hashtable_find(&table, 999, 0));
}

/* Two keys with the same first slot are two keys. */
static void keys_with_equal_slots_are_told_apart(void **state)
{
	(void)state;
	struct xc_hashtable table = {0};
	uint64_t first = xc_hash_mix(1, 0) >> 58, keys[20] = {1};
	size_t count = 1;
	for (uint64_t key = 2; count < XC_COUNT(keys); key++)
		if (xc_hash_mix(key, 0) >> 58 == first)
			keys[count++] = key;
	for (size_t i = 0; i < count; i++)
		xc_hashtable_at(&table, NULL, keys[i], 0)->number = i + 1;
	for (size_t i = 0; i < count; i++)
		assert_int_equal(xc_hashtable_find(&table, keys[i], 0)->number, i + 1);
	xc_hashtable_fini(&table);
}

static void bytes_are_hashed_with_their_seed(void **state)
{
	(void)state;
	/* the published values of FNV-1a, 64 bits */
	assert_true(xc_hash_bytes(0, "", 0) == UINT64_C(0xcbf29ce484222325));
	assert_true(xc_hash_bytes(0, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(xc_hash_bytes(0, "foobar", 6) == UINT64_C(0x85944171f73967e8));
	assert_true(xc_hash_bytes(1, "foobar", 6) != xc_hash_bytes(2, "foobar", 6));
}

static void running_out_of_memory_ends_the_program_with_a_message(void **state)
{
	(void)state;
	int ends[2];
	if (UNDER_ASAN)
		check_skip("ASan reports it first");
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		struct rlimit limit = {256 << 20, 256 << 20};
		struct xc_hashtable table = {0};
		dup2(ends[1], STDERR_FILENO);
		setrlimit(RLIMIT_AS, &limit);
		for (uint64_t i = 1; i < UINT64_C(1) << 32; i++)
			xc_hashtable_at(&table, NULL, i, 0);
		_exit(0);
	}
	close(ends[1]);
	char text[256] = "";
	assert_true(read(ends[0], text, sizeof text - 1) > 0);
	close(ends[0]);
	int status;
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	assert_non_null(strstr(text, "memory"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_keys_are_found_again),
		cmocka_unit_test(regular_addresses_do_not_cluster),
		cmocka_unit_test(keys_that_undo_the_first_multiplication_do_not_cluster),
		cmocka_unit_test(zero_is_a_key),
		cmocka_unit_test(keys_with_equal_slots_are_told_apart),
		cmocka_unit_test(bytes_are_hashed_with_their_seed),
		cmocka_unit_test(running_out_of_memory_ends_the_program_with_a_message),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
