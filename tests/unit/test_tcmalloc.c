/* layer: heap */
#include "accounts.h"

static const char *tcmalloc_program(const char *name)
{
	/* Not -ltcmalloc_minimal: that name is of the development package. */
	return dying_program(name, "gcc -O1 -DTCMALLOC -x c -pthread -Wl,--no-as-needed -l:libtcmalloc_minimal.so.4",
			     account_program);
}

static void blocks_are_the_program_s_own_account(void **state)
{
	(void)state;
	struct account *account = account_open(dying_core(tcmalloc_program("account"), NULL), &xc_allocator_tcmalloc);
	struct xc_heap_totals totals = xc_heap_totals(account->heap);
	account_check(account, 8);
	account_check_regions(account);
	assert_int_equal(totals.bytes[XC_BLOCK_CACHED],
			 account_number(account, "thread_cached") + account_number(account, "transfer_cached"));
	assert_int_equal(totals.bytes[XC_BLOCK_LIVE], account_number(account, "allocated"));
	account_close(account);
}

/* A block of this state and of a small size whose first word is not 0, drawn by lot. */
static uint32_t any_block(const struct account *account, enum xc_block_state wanted)
{
	const struct xc_blocks *blocks = &account->heap->blocks;
	for (;;) {
		uint32_t block = (uint32_t)account_any(blocks->count);
		uint64_t word;
		if (xc_block_state(blocks, block) == wanted && xc_block_size(blocks, block) < 1000 &&
		    xc_space_peek_uint(account->process->space, xc_block_addr(blocks, block), 8, &word) && word)
			return block;
	}
}

static void a_smashed_link_of_a_span_s_list_loses_little(void **state)
{
	(void)state;
	const char *core = dying_core(tcmalloc_program("links"), NULL);
	for (unsigned round = 0; round < 20; round++) {
		struct account *account = account_open(core, &xc_allocator_tcmalloc);
		struct xc_heap_totals before = xc_heap_totals(account->heap);
		uint32_t block = any_block(account, XC_BLOCK_BIN);
		xc_addr addr = xc_block_addr(&account->heap->blocks, block);
		uint64_t was;
		assert_true(xc_space_peek_uint(account->process->space, addr, 8, &was));
		assert_true(account_overwrite(account, core, addr, "past the", 8));
		account_close(account);

		account = account_open(core, &xc_allocator_tcmalloc);
		struct xc_heap_totals after = xc_heap_totals(account->heap);
		assert_int_equal(account->heap->damage_count, 1);
		assert_int_equal(account->heap->damages[0].addr, addr);
		assert_in_range(after.count[XC_BLOCK_LIVE], before.count[XC_BLOCK_LIVE],
				before.count[XC_BLOCK_LIVE] + 2);
		assert_in_range(account_wrong(account), 0, 2);
		assert_true(account_overwrite(account, core, addr, &was, 8));
		account_close(account);
	}
}

/* The rest of a list counts as live only where it cannot be told from what else is linked; and it is said. */
static void a_smashed_link_of_a_cache_loses_little(void **state)
{
	(void)state;
	const char *core = dying_core(tcmalloc_program("cached"), NULL);
	unsigned more = 0;
	for (unsigned round = 0; round < 20; round++) {
		struct account *account = account_open(core, &xc_allocator_tcmalloc);
		struct xc_heap_totals before = xc_heap_totals(account->heap);
		xc_addr addr = xc_block_addr(&account->heap->blocks, any_block(account, XC_BLOCK_CACHED));
		uint64_t was;
		assert_true(xc_space_peek_uint(account->process->space, addr, 8, &was));
		assert_true(account_overwrite(account, core, addr, "past the", 8));
		account_close(account);

		account = account_open(core, &xc_allocator_tcmalloc);
		struct xc_heap_totals after = xc_heap_totals(account->heap);
		assert_int_equal(account->heap->damage_count, 1);
		assert_int_equal(account->heap->damages[0].addr, addr);
		more += after.count[XC_BLOCK_LIVE] - before.count[XC_BLOCK_LIVE] > 2;
		assert_true(account_overwrite(account, core, addr, &was, 8));
		account_close(account);
	}
	print_message("%u of 20 lost more than 2\n", more);
	assert_in_range(more, 0, 2);
}

static void damage_upon_damage_ends_well(void **state)
{
	(void)state;
	account_mutate(dying_core(tcmalloc_program("mutated"), NULL), &xc_allocator_tcmalloc, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_the_program_s_own_account),
		cmocka_unit_test(a_smashed_link_of_a_span_s_list_loses_little),
		cmocka_unit_test(a_smashed_link_of_a_cache_loses_little),
		cmocka_unit_test(damage_upon_damage_ends_well),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
