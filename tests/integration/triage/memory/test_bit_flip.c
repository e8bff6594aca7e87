/* layer: triage */
/* A bad pointer that is one bit away from the address of an object. */
#include "tests/integration/triage/memory/diagnosed.h"

static void flipped_bits(void **state)
{
	(void)state;
	static const struct told flipped = {
		MAIN("head->next = (struct node *)((uintptr_t)other ^ (uintptr_t)1 << 40); sum = head->next->id;"),
		"wild-read, medium", "one bit away", "bit 40"};
	static const struct told high = {
		MAIN("head->next = (struct node *)((uintptr_t)other ^ (uintptr_t)1 << 62); sum = head->next->id;"),
		"wild-read, medium", "one bit away", "bit 62"};
	expect(&flipped);
	expect(&high);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flipped_bits),
	};
	return cmocka_run_group_tests_name("bit_flip", tests, NULL, NULL);
}
