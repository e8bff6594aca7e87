/* layer: triage */
/* The level of a place that was written for the program. The places are hand-made: inner levels first. */
#include <dwarf.h>

#include "tests/support/scene.h"

#include "triage/util/user_code.h"

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
		{{"_mm_mul_ps", "advance"},
		 {"/usr/lib/gcc/x86_64-linux-gnu/12/include/xmmintrin.h", "/src/bodies.cc"},
		 2,
		 1},
		{{"_mm_mul_ps", "advance"},
		 {"/usr/lib/llvm-14/lib/clang/14.0.6/include/xmmintrin.h", "/src/bodies.cc"},
		 2,
		 1},
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
		bool own = xc_user_code_level(&place, &level);
		assert_int_equal(own, told[i].own >= 0);
		if (own)
			assert_int_equal(level, told[i].own);
	}
}

/* LLVM keeps the line of code that was inlined, and may forget its function: then a function of the program has a line
 * of the library. Without a crate in its name it is the library's. */
static void a_crate_of_the_program_is_own_whatever_the_line(void **state)
{
	(void)state;
	static const struct {
		const char *function, *file;
		bool own;
	} told[] = {
		{"sched::Heap::postpone", "/rustc/598076/library/core/src/slice/index.rs", true},
		{"<sched::Heap as sched::Ask>::ask", "/rustc/598076/library/core/src/option.rs", true},
		{"core::slice::index::get", "/rustc/598076/library/core/src/slice/index.rs", false},
		{"hashbrown::raw::RawTable<T,A>::find", "/rust/deps/hashbrown-0.14/src/raw/mod.rs", false},
		{"<usize as core::slice::index::SliceIndex<[T]>>::index", "/rustc/598076/library/core/x.rs", false},
		{"index", "/rustc/598076/library/core/src/slice/index.rs", false},
		{"sched::Heap::postpone", "/src/sched.rs", true},
	};
	struct xc_module module = {.kind = XC_MODULE_EXE, .name = "program"};
	for (size_t i = 0; i < XC_COUNT(told); i++) {
		struct xc_level levels[2] = {{.function = told[i].function, .file = told[i].file},
					     {.function = "core::ops::function::FnOnce::call_once",
					      .file = "/rustc/598076/library/core/src/ops/function.rs"}};
		struct xc_place place = {
			.module = &module, .levels = levels, .level_count = 2, .symbol_language = DW_LANG_Rust};
		size_t level = 9;
		assert_int_equal(xc_user_code_level(&place, &level) && level == 0, told[i].own);
	}
}

static void a_place_without_debug_information_is_judged_by_its_symbol(void **state)
{
	(void)state;
	struct xc_module module = {.kind = XC_MODULE_EXE, .name = "program"};
	struct xc_module library = {.kind = XC_MODULE_LIBRARY, .name = "libc.so.6"};
	struct xc_place place = {.module = &module, .symbol = "transfer"};
	size_t level;
	assert_true(xc_user_code_level(&place, &level));
	assert_int_equal(level, 0);
	place.symbol = "__gthread_mutex_lock";
	assert_false(xc_user_code_level(&place, &level));
	place = (struct xc_place){.module = &library, .symbol = "qsort_r"};
	assert_false(xc_user_code_level(&place, &level));
	place.module = NULL; /* a plugin described it */
	assert_true(xc_user_code_level(&place, &level));
	place.symbol = NULL;
	assert_false(xc_user_code_level(&place, &level));
}

/* core and alloc are crates of Rust's library; in other languages they can be a program's namespace. */
static void the_names_of_rusts_crates_are_free_in_other_languages(void **state)
{
	(void)state;
	struct scene *s =
		make_scene("g++ -g -O0 -x c++", "struct message { long id; };\n"
						"namespace core { long reply(message *m) { return m->id; } }\n"
						"namespace alloc { long size(message *m) { return m->id; } }\n");
	static const char *const names[] = {"_ZN4core5replyEP7message", "_ZN5alloc4sizeEP7message"};
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		size_t level = 9;
		const struct xc_place *place = xc_debuginfo_place(s->process, label(s, names[i]));
		assert_int_equal(place->level_count, 1);
		assert_true(xc_user_code_level(place, &level));
		assert_int_equal(level, 0);
	}
	end_scene(s);
}

/* Without debug information the mangled name shows the language. */
static void a_symbol_of_a_crate_is_known_by_its_mangling(void **state)
{
	(void)state;
	struct scene *s = make_scene("gcc -x assembler", ".globl _ZN4core5replyEP7message\n"
							 "_ZN4core5replyEP7message: .skip 8\n"
							 ".globl _ZN4core9panicking5panic17h0123456789abcdefE\n"
							 "_ZN4core9panicking5panic17h0123456789abcdefE: .skip 8\n"
							 ".globl _RNvNtC4core9panicking5panic\n"
							 "_RNvNtC4core9panicking5panic: .skip 8\n");
	static const struct {
		const char *name;
		bool own;
	} told[] = {{"_ZN4core5replyEP7message", true},
		    {"_ZN4core9panicking5panic17h0123456789abcdefE", false},
		    {"_RNvNtC4core9panicking5panic", false}};
	for (size_t i = 0; i < XC_COUNT(told); i++) {
		size_t level;
		const struct xc_place *place = xc_debuginfo_place(s->process, label(s, told[i].name));
		assert_true(strncmp(place->symbol, "core::", 6) == 0);
		assert_true(xc_user_code_level(place, &level) == told[i].own);
	}
	end_scene(s);
}

/* "<TYPE as TRAIT>::method": belongs to the program if it defined either of them. */
static void rusts_methods_are_of_who_made_the_type_or_the_trait(void **state)
{
	(void)state;
	static const char *const own[] = {"<shop::Order as core::fmt::Display>::fmt",
					  "<alloc::vec::Vec<u8> as shop::Totals>::total",
					  "<usize as shop::Totals>::total",
					  "<&mut shop::Order as core::ops::drop::Drop>::drop",
					  "<shop::Order>::total",
					  "<fn() -> core::fmt::Result as shop::Called>::call"};
	static const char *const library[] = {"<usize as core::slice::index::SliceIndex<[T]>>::index",
					      "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop",
					      "<alloc::vec::Vec<shop::Order> as core::ops::drop::Drop>::drop",
					      "<T as core::convert::Into<U>>::into",
					      "<&mut I as core::iter::traits::iterator::Iterator>::next",
					      "<&dyn core::fmt::Debug as core::fmt::Debug>::fmt",
					      "<<T as core::ops::deref::Deref>::Target as core::fmt::Debug>::fmt",
					      "<[T]>::sort",
					      "<[shop::Order]>::swap", /* only a trait can add to those */
					      "<*const shop::Order>::read",
					      "<(shop::Order,)>::len",
					      "<str>::len",
					      "<",
					      "<>>"};
	struct xc_module module = {.kind = XC_MODULE_EXE, .name = "program"};
	struct xc_place place = {.module = &module};
	for (size_t i = 0; i < XC_COUNT(own); i++) {
		place.symbol = own[i];
		if (!xc_user_code_is(&place, 0))
			fail_msg("%s", own[i]);
	}
	for (size_t i = 0; i < XC_COUNT(library); i++) {
		place.symbol = library[i];
		if (xc_user_code_is(&place, 0))
			fail_msg("%s", library[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_level_that_is_no_library_is_own),
		cmocka_unit_test(a_crate_of_the_program_is_own_whatever_the_line),
		cmocka_unit_test(a_place_without_debug_information_is_judged_by_its_symbol),
		cmocka_unit_test(the_names_of_rusts_crates_are_free_in_other_languages),
		cmocka_unit_test(a_symbol_of_a_crate_is_known_by_its_mangling),
		cmocka_unit_test(rusts_methods_are_of_who_made_the_type_or_the_trait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
