/* layer: heap tier: long */
#include "tests/support/grid.h"
#include "tests/support/accounts.h"
#include "tests/support/scratch.h"

#include <unistd.h>

static const char *musl_program(const char *name, const char *flags)
{
	char compiler[128];
	snprintf(compiler, sizeof compiler, "musl-gcc -O1 -x c %s", flags);
	return dying_program(name, compiler, account_program);
}

static void check_program(const char *program)
{
	struct account *account = account_open(dying_core(program, NULL), &xc_allocator_mallocng);
	account_check(account, 0);
	account_check_regions(account);
	account_close(account);
}

static void blocks_of_a_dynamic_program_are_its_own_account(void **state)
{
	(void)state;
	check_program(musl_program("dynamic-musl", "")); /* a name like the library's must not mislead */
}

static void blocks_of_a_static_program_are_its_own_account(void **state)
{
	(void)state;
	check_program(musl_program("static", "-static"));
}

/* Only the test's own table keeps its name. */
static void a_program_without_symbols_is_read_by_shape(void **state)
{
	(void)state;
	char command[512];
	const char *program = musl_program("stripped", "-static-pie");
	snprintf(command, sizeof command, "strip -K account %s", scratch_word(program));
	assert_int_equal(system(command), 0);
	check_program(program);
}

/* An overrun block is named, and only the overwritten header is lost. */
static void an_overrun_names_the_block_and_loses_no_other(void **state)
{
	(void)state;
	const char *core = dying_core(musl_program("overrun", ""), NULL);
	for (unsigned round = 0; round < 10; round++) {
		struct account *account = account_open(core, &xc_allocator_mallocng);
		const struct account_row *row = &account->rows[account_any(XC_COUNT(account->rows))];
		while (!row->live || row->size < 16 || row->size > 1000)
			row = &account->rows[account_any(XC_COUNT(account->rows))];
		/* Where the size is at the end of the slot, the reserved bytes must fit: neither 4 nor more than
		 * 1024. */
		char was[16], text[16] = "past the end...\4";
		struct account_row victim = *row;
		xc_addr end = row->addr + row->size;
		assert_int_equal(xc_space_peek(account->process->space, end, was, sizeof was), sizeof was);
		assert_true(account_overwrite(account, core, end, text, sizeof text));
		account_close(account);

		account = account_open(core, &xc_allocator_mallocng);
		/* the byte after the block, the header of the next slot, that of a group in it */
		assert_in_range(account->heap->damage_count, 1, 3);
		uint32_t before = account->heap->damages[0].before;
		assert_int_not_equal(before, XC_NO_BLOCK);
		assert_int_equal(xc_block_addr(&account->heap->blocks, before), victim.addr);
		assert_in_range(account_wrong(account), 0, 2);
		assert_true(account_overwrite(account, core, end, was, sizeof was));
		account_close(account);
	}
}

static void a_broken_list_of_areas_is_made_good(void **state)
{
	(void)state;
	const char *core = dying_core(musl_program("areas", ""), NULL);
	struct account *account = account_open(core, &xc_allocator_mallocng);
	const struct xc_region *areas = account->heap->regions;
	while (strcmp(areas->what, "meta areas") != 0)
		areas++;
	uint64_t junk = 0x4141414141414141;
	assert_true(account_overwrite(account, core, areas->lo + 8, &junk, sizeof junk));
	account_close(account);
	account = account_open(core, &xc_allocator_mallocng);
	assert_int_equal(account->heap->damage_count, 1);
	assert_int_equal(account_wrong(account), 0);
	account_close(account);
}

static void damage_upon_damage_ends_well(void **state)
{
	(void)state;
	account_mutate(dying_core(musl_program("mutated", "-static"), NULL), &xc_allocator_mallocng,
		       grid_count(24, 200));
}

/* Without free() the linker takes another allocator, which keeps no account of its blocks. */
static void a_program_that_never_frees_has_no_blocks(void **state)
{
	(void)state;
	static const char source[] =
		"#include <stdlib.h>\nint main(void) { *(volatile char *)malloc(100) = 1; abort(); }\n";
	struct xc_process *process = died("musl-gcc -static -x c", source);
	assert_non_null(strstr(xc_heap_why_empty(xc_heap_of(process, NULL)), "musl's simple"));
	xc_heap_forget(process);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_of_a_dynamic_program_are_its_own_account),
		cmocka_unit_test(blocks_of_a_static_program_are_its_own_account),
		cmocka_unit_test(a_program_that_never_frees_has_no_blocks),
		cmocka_unit_test(a_program_without_symbols_is_read_by_shape),
		cmocka_unit_test(an_overrun_names_the_block_and_loses_no_other),
		cmocka_unit_test(a_broken_list_of_areas_is_made_good),
		cmocka_unit_test(damage_upon_damage_ends_well),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
