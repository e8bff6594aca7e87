/* layer: dwarf
 *
 * Synthetic stacks, against the expected groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/stack/stackgroups.h"

static struct xc_stack_row work[] = {{.pc = 0x1000, .function = "work"}, {.pc = 0x2000, .function = "main"}};

/* "0 2 | 1": members of each group. */
static void expect(struct xc_stack *items, size_t count, const char *want)
{
	struct xc_arena arena = {0};
	struct xc_stacks stacks = {.stacks = items, .stack_count = count};
	struct xc_text have = {0};
	xc_stacks_group(&arena, &stacks, false);
	for (size_t i = 0; i < stacks.group_count; i++)
		for (size_t k = 0; k < stacks.groups[i].member_count; k++)
			xc_text_printf(&have, "%s%zu", k ? " " : i ? " | " : "", stacks.groups[i].members[k]);
	assert_string_equal(xc_text_string(&have), want);
	xc_text_fini(&have);
	xc_arena_fini(&arena);
}

static struct xc_stack stack_of(struct xc_stack_row *rows, size_t count)
{
	return (struct xc_stack){.rows = rows, .row_count = count, .stop = "outermost frame"};
}

static void thread_that_crashed_does_not_part_those_around_it(void **state)
{
	struct xc_stack items[5];
	(void)state;
	for (size_t i = 0; i < 5; i++)
		items[i] = stack_of(work, 2);
	expect(items, 5, "0 1 2 3 4");
	items[1].crashed = items[3].detached = true;
	expect(items, 5, "0 2 4 | 1 | 3");
}

static void stacks_without_rows_are_equal_when_their_reasons_are(void **state)
{
	struct xc_stack items[4];
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		items[i] = stack_of(NULL, 0);
		items[i].stop = i % 2 ? "its registers are unknown" : "no stack pointer";
	}
	expect(items, 4, "0 2 | 1 3");
}

static void stacks_of_which_something_was_left_out_are_others(void **state)
{
	struct xc_stack items[3];
	(void)state;
	for (size_t i = 0; i < 3; i++)
		items[i] = stack_of(work, 2);
	items[1].elided = 7;
	expect(items, 3, "0 2 | 1");
}

static void guests_are_equal_by_what_they_are_called(void **state)
{
	struct xc_stack_row lua[] = {{.guest = true, .function = "f", .file = "f.lua", .line = 3, .language = "lua"},
				     {.pc = 0x2000, .function = "main"}},
			    other[2], shorter[2];
	(void)state;
	memcpy(other, lua, sizeof other);
	memcpy(shorter, lua, sizeof shorter);
	other[0].language = "python";
	shorter[0].left_out = 9;
	struct xc_stack items[] = {stack_of(lua, 2),     stack_of(other, 2), stack_of(lua, 2),
				   stack_of(shorter, 2), stack_of(lua, 2),   stack_of(other, 2)};
	expect(items, 6, "0 2 4 | 1 5 | 3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thread_that_crashed_does_not_part_those_around_it),
		cmocka_unit_test(stacks_without_rows_are_equal_when_their_reasons_are),
		cmocka_unit_test(stacks_of_which_something_was_left_out_are_others),
		cmocka_unit_test(guests_are_equal_by_what_they_are_called),
	};
	return cmocka_run_group_tests_name("stackgroups", tests, NULL, NULL);
}
