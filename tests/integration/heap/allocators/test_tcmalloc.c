/* layer: heap tier: long */
#include "tests/support/grid.h"
#include "tests/support/accounts.h"

static const char *tcmalloc_program(const char *name)
{
	/* Not -ltcmalloc_minimal: that name belongs to the development package. */
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

static void a_smashed_link_loses_little(void **state)
{
	(void)state;
	const char *core = dying_core(tcmalloc_program("links"), NULL);
	/* One link of 25 to 500 in the central lists loses more than two blocks, which then count as live: where a
	 * block of 8 bytes that was never written continues like the list. The number drawn is random; without
	 * repair it would be nearly all. */
	const size_t rounds = grid_count(5, 20);
	assert_in_range(account_smash_links(core, &xc_allocator_tcmalloc, XC_BLOCK_BIN, rounds), 0, rounds * 2 / 5);
	assert_in_range(account_smash_links(core, &xc_allocator_tcmalloc, XC_BLOCK_CACHED, rounds), 0, rounds * 2 / 5);
}

static void damage_upon_damage_ends_well(void **state)
{
	(void)state;
	account_mutate(dying_core(tcmalloc_program("mutated"), NULL), &xc_allocator_tcmalloc, grid_count(24, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_the_program_s_own_account),
		cmocka_unit_test(a_smashed_link_loses_little),
		cmocka_unit_test(damage_upon_damage_ends_well),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
