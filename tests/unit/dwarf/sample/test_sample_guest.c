/* layer: dwarf
 *
 * Places of interpreted languages: equal ones have one number, others have not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dwarf/sample/sample_guest.h"

static uint32_t add(struct xc_guest_places *p, struct xc_guest_place place)
{
	uint32_t number;
	assert_true(xc_guest_places_add(p, &place, &number));
	return number;
}

static void equal_places_have_one_number(void **state)
{
	(void)state;
	struct xc_guest_places p;
	xc_guest_places_init(&p);
	const struct xc_guest_place all[] = {
		{"f", "a.lua", 1, "lua", "function"}, {"f", "a.lua", 2, "lua", "function"},
		{"g", "a.lua", 1, "lua", "function"}, {"f", "b.lua", 1, "lua", "function"},
		{"f", NULL, 1, "lua", "function"},    {"f", "", 1, "lua", "function"},
		{"f", "a.lua", 1, NULL, "function"},  {"f", "a.lua", 1, "lua", NULL},
		{"fa", ".lua", 1, "lua", "function"}, {"f", "a.lua", 1, "python", "function"},
	};
	const size_t count = sizeof all / sizeof *all;
	for (unsigned turn = 0; turn < 3; turn++)
		for (size_t i = 0; i < count; i++)
			assert_int_equal(add(&p, all[i]), i + 1); /* the first is "[torn]" */
	assert_int_equal(p.count, count + 1);
	assert_string_equal(p.items[4].file, "b.lua");
	xc_guest_places_fini(&p);
}

static void a_place_gets_its_name_later(void **state)
{
	(void)state;
	struct xc_guest_places p;
	xc_guest_places_init(&p);
	const uint32_t number = add(&p, (struct xc_guest_place){"<a.lua:1>", "a.lua", 2, "lua", "function"});
	assert_true(xc_guest_places_rename(&p, number, "f"));
	assert_string_equal(p.items[number].function, "f");
	assert_string_equal(p.items[number].file, "a.lua");
	assert_int_equal(add(&p, (struct xc_guest_place){"<a.lua:1>", "a.lua", 2, "lua", "function"}), number + 1);
	xc_guest_places_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(equal_places_have_one_number),
					   cmocka_unit_test(a_place_gets_its_name_later)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
