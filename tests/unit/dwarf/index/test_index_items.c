/* layer: dwarf */
/* Equal items are one, in whatever order their units come. */
#include "tests/support/check.h"

#include "dwarf/index/index_items.h"

static struct xc_index_item namespace_of(uint32_t unit, uint8_t flags)
{
	return (struct xc_index_item){.key = 7, .hash = 7, .unit = unit, .die = 11, .kind = 16, .flags = flags};
}

/* Adds both and returns the one item that they are. */
static struct xc_index_item both(const struct xc_index_item *a, const struct xc_index_item *b)
{
	struct xc_index_items all = {0};
	assert_int_equal(xc_index_items_add(&all, a), xc_index_items_add(&all, b));
	assert_int_equal(all.count, 1);
	const struct xc_index_item item = all.items[0];
	xc_index_items_fini(&all);
	return item;
}

/* Type units do not mark a namespace as inline, and threads scan units in any order. */
static void a_namespace_is_inline_when_one_unit_says_so(void **state)
{
	(void)state;
	for (uint32_t marked = 0; marked < 2; marked++) {
		const struct xc_index_item first = namespace_of(0, marked == 0 ? XC_INDEX_TRANSPARENT : 0),
					   second = namespace_of(1, marked == 1 ? XC_INDEX_TRANSPARENT : 0);
		const struct xc_index_item forward = both(&first, &second), backward = both(&second, &first);
		assert_int_equal(forward.flags, XC_INDEX_TRANSPARENT);
		assert_int_equal(backward.flags, XC_INDEX_TRANSPARENT);
		assert_int_equal(forward.unit, backward.unit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_namespace_is_inline_when_one_unit_says_so)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
