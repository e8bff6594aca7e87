/* layer: heap */
/* Pointers that disagree about the type of a block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/booked.h"

/* A pointer of another type is outvoted, and the block is marked as conflicting. */
static void the_most_pointers_decide(void **state)
{
	(void)state;
	struct xc_process *process =
		died("gcc -g -O0 -x c",
		     BOOK "struct right { struct right *self; double value; };\n"
			  "struct wrong { struct wrong *other; long values; };\n"
			  "struct wrong *a; struct right *first, *second, *third; struct right *many[10];\n"
			  "int main(void) { struct right *r = NEW(struct right); r->self = r; r->value = 2.5;\n"
			  "a = (struct wrong *)r; first = second = third = r;\n"
			  "for (int i = 0; i < 10; i++) many[i] = r; scrub(); abort(); }\n");
	struct xc_heap *heap = xc_heap_open(process, NULL);
	struct xc_typing *typing;
	CHECK_OK(xc_typing_of(heap, &typing));
	uint32_t block = xc_blocks_find(&heap->blocks, number(process, "first"));
	const struct xc_typed *typed = xc_typing_get(typing, block);
	assert_non_null(typed);
	assert_string_equal(xc_typing_name(typing, block), "struct right");
	assert_true(typed->conflicting);
	struct xc_vote votes[8];
	size_t count = xc_typing_votes(typing, block, votes, 8);
	unsigned wrong = 0, right = 0;
	for (size_t i = 0; i < count; i++) {
		bool is_right = strcmp(xc_type_name(votes[i].type), "struct right") == 0;
		right += is_right ? (unsigned)votes[i].votes : 0;
		wrong += is_right ? 0 : (unsigned)votes[i].votes;
	}
	assert_int_equal(wrong, 1);
	assert_true(right >= 13);
	xc_heap_close(heap);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_most_pointers_decide),
	};
	return cmocka_run_group_tests_name("typing_vote", tests, NULL, NULL);
}
