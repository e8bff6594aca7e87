/* layer: triage */
/* Which level of a place was written for the program. The places are made here: inner levels first. */
#include "opened.h"

#include "../../triage/own.h"

struct told {
	const char *functions[3], *files[3];
	size_t count;
	int own; /* the level; -1: none */
};

static void the_innermost_level_that_is_no_library_is_own(void **state)
{
	(void)state;
	static const struct told told[] = {
		{{"transfer"}, {"/src/shop.c"}, 1, 0},
		{{"std::mutex::lock", "transfer"}, {"/usr/include/c++/12/mutex", "/src/shop.cc"}, 2, 1},
		{{"boost::asio::run", "serve"}, {"/src/vendor/asio.hpp", "/src/serve.cc"}, 2, 1},
		{{"void std::sort<int*>", "order"}, {NULL, "/src/order.cc"}, 2, 1},
		{{"clamp", "order"}, {"/usr/include/glib/gmacros.h", "/src/order.c"}, 2, 1},
		{{"order"}, {"/usr/include/mine.h"}, 1, 0}, /* a header's line of the function itself */
		{{"call_once", "work"}, {"/rustc/90b35a/library/core/src/ops/function.rs", "/src/work.rs"}, 2, 1},
		{{"operator new", "std::__1::vector<int>::grow"}, {NULL, NULL}, 2, -1},
		{{"_Unwind_RaiseException"}, {NULL}, 1, -1},
	};
	struct xc_module module = {.kind = XC_MODULE_EXE, .name = "program"};
	for (size_t i = 0; i < XC_COUNT(told); i++) {
		struct xc_level levels[3] = {0};
		struct xc_place place = {.module = &module, .levels = levels, .level_count = told[i].count};
		size_t level = 9;
		for (size_t l = 0; l < told[i].count; l++) {
			levels[l].function = told[i].functions[l];
			levels[l].file = told[i].files[l];
		}
		bool own = xc_own_level(&place, &level);
		assert_int_equal(own, told[i].own >= 0);
		if (own)
			assert_int_equal(level, told[i].own);
	}
}

static void a_place_without_debug_information_is_judged_by_its_symbol(void **state)
{
	(void)state;
	struct xc_module module = {.kind = XC_MODULE_EXE, .name = "program"};
	struct xc_module library = {.kind = XC_MODULE_LIBRARY, .name = "libc.so.6"};
	struct xc_place place = {.module = &module, .symbol = "transfer"};
	size_t level;
	assert_true(xc_own_level(&place, &level));
	assert_int_equal(level, 0);
	place.symbol = "__gthread_mutex_lock";
	assert_false(xc_own_level(&place, &level));
	place = (struct xc_place){.module = &library, .symbol = "qsort_r"};
	assert_false(xc_own_level(&place, &level));
	place.module = NULL; /* a plugin tells of it */
	assert_true(xc_own_level(&place, &level));
	place.symbol = NULL;
	assert_false(xc_own_level(&place, &level));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_level_that_is_no_library_is_own),
		cmocka_unit_test(a_place_without_debug_information_is_judged_by_its_symbol),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
