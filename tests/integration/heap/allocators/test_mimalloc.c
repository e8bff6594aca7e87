/* layer: heap */
#include "tests/support/grid.h"
#include "tests/support/accounts.h"

static const char *mimalloc_program(const char *name)
{
	return dying_program(name, "gcc -O1 -x c -pthread -Wl,--no-as-needed -l:libmimalloc.so.2", account_program);
}

static void blocks_are_the_program_s_own_account(void **state)
{
	(void)state;
	struct account *account = account_open(dying_core(mimalloc_program("account"), NULL), &xc_allocator_mimalloc);
	account_check(account, 8);
	account_check_regions(account);
	account_close(account);
}

/* No count says how many blocks other threads freed, so the rest of their lists may be lost. That is one link of
 * 50; the draw is random. */
static void a_smashed_link_loses_little(void **state)
{
	(void)state;
	const char *core = dying_core(mimalloc_program("links"), NULL);
	const size_t rounds = grid_count(8, 40);
	assert_in_range(account_smash_links(core, &xc_allocator_mimalloc, XC_BLOCK_BIN, rounds), 0, rounds / 4);
}

static void damage_upon_damage_ends_well(void **state)
{
	(void)state;
	account_mutate(dying_core(mimalloc_program("mutated"), NULL), &xc_allocator_mimalloc, grid_count(24, 100));
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
