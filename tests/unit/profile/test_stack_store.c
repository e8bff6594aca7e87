/* layer: profile
 *
 * Stacks are kept once, and can be read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "profile/data/stack_store.h"

static struct xc_sample_stack stack;

static void set_stack(const xc_addr *addrs, size_t count)
{
	stack.count = count;
	for (size_t i = 0; i < count; i++)
		stack.frames[i] = (struct xc_sample_frame){.at = addrs[i]};
}

static uint32_t add(struct xc_stack_store *store)
{
	bool whole;
	const uint32_t number = xc_stack_store_add(store, &stack, &whole);
	assert_true(whole);
	return number;
}

static void equal_stacks_have_one_number_and_share_their_outer_frames(void **state)
{
	struct xc_stack_store store;
	const xc_addr one[] = {1, 2, 3}, other[] = {9, 2, 3}, inner[] = {2, 3};
	(void)state;
	xc_stack_store_init(&store);
	set_stack(one, 3);
	const uint32_t first = add(&store);
	set_stack(other, 3);
	const uint32_t second = add(&store);
	set_stack(one, 3);
	assert_int_equal(add(&store), first);
	assert_int_not_equal(first, second);
	assert_int_equal(store.nodes[first].parent, store.nodes[second].parent);
	assert_int_equal(store.node_count, 5); /* root, 3, 2, 1, 9 */
	set_stack(inner, 2);
	assert_int_equal(add(&store), store.nodes[first].parent);
	set_stack(NULL, 0);
	assert_int_equal(add(&store), 0);
	xc_stack_store_fini(&store);
}

static void a_frame_of_another_kind_is_another_place(void **state)
{
	struct xc_stack_store store;
	(void)state;
	xc_stack_store_init(&store);
	stack.count = 1;
	stack.frames[0] = (struct xc_sample_frame){.at = 0};
	const uint32_t code = add(&store);
	stack.frames[0].kind = XC_SAMPLE_GUESS;
	assert_int_not_equal(add(&store), code);
	assert_int_equal(store.place_count, 2);
	xc_stack_store_fini(&store);
}

/* Whatever comes in comes out again. */
static void random_stacks_are_read_back(void **state)
{
	struct xc_stack_store store;
	(void)state;
	xc_stack_store_init(&store);
	srand(12);
	for (unsigned turn = 0; turn < 20000; turn++) {
		xc_addr addrs[40];
		const size_t count = (size_t)rand() % 40;
		for (size_t i = 0; i < count; i++)
			addrs[i] = (xc_addr)rand() % 6;
		set_stack(addrs, count);
		uint32_t node = add(&store);
		for (size_t i = 0; i < count; i++, node = store.nodes[node].parent)
			assert_int_equal(store.places[store.nodes[node].place].at, addrs[i]);
		assert_int_equal(node, 0);
	}
	assert_int_equal(store.place_count, 6);
	xc_stack_store_fini(&store);
}

/* A target that never has the same stack twice. */
static void a_full_store_keeps_the_outer_part_that_it_knows(void **state)
{
	struct xc_stack_store store;
	const xc_addr known[] = {1, 2, 3}, other[] = {1, 9, 2, 3}, mixed[] = {3, 2, 3}, strange[] = {1, 9};
	bool whole;
	(void)state;
	xc_stack_store_init(&store);
	store.most = 4; /* the root among them */
	set_stack(known, 3);
	const uint32_t number = add(&store);
	set_stack(other, 4);
	assert_int_equal(xc_stack_store_add(&store, &stack, &whole), store.nodes[number].parent);
	assert_false(whole);
	set_stack(mixed, 3);
	assert_int_equal(xc_stack_store_add(&store, &stack, &whole), store.nodes[number].parent);
	assert_false(whole);
	set_stack(strange, 2);
	assert_int_equal(xc_stack_store_add(&store, &stack, &whole), 0);
	assert_false(whole);
	set_stack(known, 3);
	assert_int_equal(add(&store), number);
	assert_int_equal(store.node_count, 4);
	assert_int_equal(store.place_count, 3);
	xc_stack_store_fini(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_have_one_number_and_share_their_outer_frames),
		cmocka_unit_test(a_frame_of_another_kind_is_another_place),
		cmocka_unit_test(random_stacks_are_read_back),
		cmocka_unit_test(a_full_store_keeps_the_outer_part_that_it_knows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
