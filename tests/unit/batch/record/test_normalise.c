/* layer: batch */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "batch/record/normalise.h"

struct pair {
	const char *from, *to;
};

/* Each pair; and a normalised name stays unchanged. */
static void expect(const struct pair *pairs, size_t count)
{
	struct xc_arena arena = {0};
	for (size_t i = 0; i < count; i++) {
		const char *once = xc_normalise_name(pairs[i].from, &arena);
		if (strcmp(once, pairs[i].to) != 0)
			fail_msg("%s\n became %s\n  wanted %s", pairs[i].from, once, pairs[i].to);
		const char *twice = xc_normalise_name(once, &arena);
		if (strcmp(once, twice) != 0)
			fail_msg("%s became %s, when done again %s", pairs[i].from, once, twice);
	}
	xc_arena_fini(&arena);
}

#define EXPECT(...)                                                                                                    \
	do {                                                                                                           \
		static const struct pair pairs_[] = {__VA_ARGS__};                                                     \
		expect(pairs_, XC_COUNT(pairs_));                                                                      \
	} while (0)

static void parameters_return_types_and_qualifiers_go(void **state)
{
	(void)state;
	EXPECT({"parse", "parse"}, {"int max<int>(int, int)", "max<T>"},
	       {"static void ns::C<int>::f(char const*)", "ns::C<T>::f"}, {"ns::C::f(int) const", "ns::C::f"},
	       {"ns::C::f() const &", "ns::C::f"}, {"ns::C::f() volatile &&", "ns::C::f"},
	       {"f(void (*)(int), std::vector<int, std::allocator<int> >)", "f"},
	       {"std::enable_if<(sizeof(int) > 2), void>::type ns::g<int>()", "ns::g<T>"},
	       {"decltype (a->b()) ns::h<int>(int)", "ns::h<T>"}, {"f(int)::local::g(char)", "f::local::g"},
	       {"f(int) const::{lambda()#1}::operator()() const", "f::{lambda}"},
	       {"non-virtual thunk to shop::order::~order()", "shop::order::~order"});
}

static void template_arguments_become_one_letter(void **state)
{
	(void)state;
	EXPECT({"C<D<int>, E<char> >::f", "C<T>::f"}, {"f<&(g<int>), (3>2)>", "f<T>"},
	       {"C<int>::D<char>::f", "C<T>::D<T>::f"}, {"call<operator< <int> >", "call<T>"},
	       {"call<&A::operator->>", "call<T>"}, {"f<int>::g<char>", "f<T>::g<T>"}, {"cut<short<of", "cut<T>"});
}

static void names_of_operators_keep_their_signs(void **state)
{
	(void)state;
	EXPECT({"operator<(A const&, A const&)", "operator<"}, {"A::operator<< <char>(char)", "A::operator<<<T>"},
	       {"A::operator()(int) const", "A::operator()"}, {"A::operator->() const", "A::operator->"},
	       {"A::operator->*(int)", "A::operator->*"}, {"A::operator[](unsigned long)", "A::operator[]"},
	       {"A::operator bool() const", "A::operator bool"}, {"operator new(unsigned long)", "operator new"},
	       {"operator delete[](void*)", "operator delete[]"}, {"operator\"\" _km(long double)", "operator\"\" _km"},
	       {"A::operator unsigned int() const", "A::operator unsigned int"},
	       {"A::operator<=>(A const&)", "A::operator<=>"}, {"operators::f(int)", "operators::f"},
	       {"my_operator(int)", "my_operator"});
}

static void lambdas_and_anonymous_namespaces_are_spelled_one_way(void **state)
{
	(void)state;
	EXPECT({"main::{lambda(int)#1}::operator()(int) const", "main::{lambda}"},
	       {"main()::$_0::operator()() const", "main::{lambda}"},
	       {"main::'lambda0'(int)::operator()(int)", "main::{lambda}"},
	       {"main::<lambda(int)>::operator()", "main::{lambda}"},
	       {"main::{lambda(auto:1)#1}::operator()<int>(int) const", "main::{lambda}"},
	       {"f(int)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const", "f::{lambda}::{lambda}"},
	       {"main::$_0::__invoke(int)", "main::{lambda}::__invoke"},
	       {"call<main::{lambda()#1}>::operator()()", "call<T>::operator()"},
	       {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
	       {"a::{anonymous}::f", "a::(anonymous namespace)::f"}, {"a::<unnamed>::f", "a::(anonymous namespace)::f"},
	       {"_GLOBAL__N_1::f", "(anonymous namespace)::f"}, {"ns::{unnamed type#2}::f", "ns::{unnamed type}::f"});
}

static void versions_of_libraries_go(void **state)
{
	(void)state;
	EXPECT({"std::__cxx11::basic_string<char, std::char_traits<char> >::append(char)",
		"std::basic_string<T>::append"},
	       {"std::__1::vector<int>::at", "std::vector<T>::at"},
	       {"std::_V2::error_category::f", "std::error_category::f"},
	       {"std::chrono::_V2::steady_clock::now()", "std::chrono::steady_clock::now"},
	       {"shop::name[abi:cxx11](int)", "shop::name"}, {"mine::__1::f", "mine::__1::f"},
	       {"__libc_start_main@@GLIBC_2.34", "__libc_start_main"}, {"memcpy@GLIBC_2.14", "memcpy"},
	       {"free@plt", "free@plt"});
}

static void what_the_optimiser_adds_goes(void **state)
{
	(void)state;
	EXPECT({"parse.part.0", "parse"}, {"parse.constprop.0.isra.1", "parse"}, {"parse.cold", "parse"},
	       {"parse.llvm.1234567890", "parse"}, {"parse.lto_priv.7", "parse"}, {"compare.0", "compare"},
	       {"parse.cold.3", "parse"}, {"main.part", "main.part"}, {"main.isra", "main.isra"},
	       {"main.constprop", "main.constprop"}, {"main.llvm", "main.llvm"}, {"main.part.x", "main.part.x"},
	       {"f(int) [clone .cold]", "f"}, {"f(int) [clone .part.0] [clone .cold]", "f"}, {"f(int) (.cold)", "f"});
}

static void names_of_rust_in_any_mangling_are_one(void **state)
{
	(void)state;
	EXPECT({"<alloc::vec::Vec<u8> as core::ops::Index<I>>::index",
		"<alloc::vec::Vec<T> as core::ops::Index<T>>::index"},
	       {"core::ops::call::h0123456789abcdef", "core::ops::call"},
	       {"_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..Drop$GT$::drop::h0123456789abcdef",
		"<alloc::vec::Vec<T> as core::ops::Drop>::drop"},
	       {"hang::begin::{{closure}}", "hang::begin::{closure}"},
	       {"hang::begin::{closure#0}", "hang::begin::{closure}"},
	       {"mycrate[1a2b3c4d5e6f]::parse", "mycrate::parse"}, {"mycrate::parse::<u8>", "mycrate::parse"},
	       {"<std::sync::Once>::call", "std::sync::Once::call"},
	       {"<alloc::vec::Vec<u8>>::push", "alloc::vec::Vec<T>::push"},
	       {"core::slice::index::<impl core::ops::index::Index<I> for [T]>::index",
		"core::slice::index::<impl core::ops::index::Index<T> for [T]>::index"},
	       {"<&dyn core::ops::Fn<(), Output = i32> + core::marker::Sync as core::ops::FnOnce<()>>::call_once",
		"<&dyn core::ops::Fn<T> + core::marker::Sync as core::ops::FnOnce<T>>::call_once"},
	       {"core::ptr::mut_ptr::<impl *mut T>::write_volatile",
		"core::ptr::mut_ptr::<impl *mut T>::write_volatile"},
	       {"<[i32]>::sort_by::<<[i32]>::sort::{closure#0}>::{closure#0}", "<[T]>::sort_by::{closure}"},
	       {"<*const shop::Order>::read", "<*T>::read"}, {"<(u8, u16)>::f", "<(T)>::f"}, {"<&u8>::f", "<&T>::f"},
	       {"<str>::trim", "str::trim"}, {"<u32>::pow", "u32::pow"},
	       {"<fn() as core::ops::function::FnOnce<()>>::call_once",
		"<fn() as core::ops::function::FnOnce<T>>::call_once"},
	       {"mycrate::{impl#3}::f", "mycrate::{impl}::f"});
}

static void names_of_go_keep_receivers_and_numbers(void **state)
{
	(void)state;
	EXPECT({"main.(*queue).pop", "main.(*queue).pop"}, {"main.main.func1", "main.main.func1"},
	       {"main.func1", "main.func1"}, {"main.func2", "main.func2"},
	       {"main.(*queue).pop.func1.2", "main.(*queue).pop.func1.2"}, {"main.run.gowrap1", "main.run.gowrap1"},
	       {"main.(*T).Close-fm", "main.(*T).Close"}, {"runtime.raise.abi0", "runtime.raise"},
	       {"main.Map[...]", "main.Map<T>"}, {"github.com/a/b.Do", "github.com/a/b.Do"});
	struct xc_arena arena = {0};
	static const struct pair own[] = {{"main.cold", "main.cold"},
					  {"main.part.0", "main.part.0"},
					  {"runtime.raise.abi0", "runtime.raise"},
					  {"main.(*T).Close-fm", "main.(*T).Close"}};
	for (size_t i = 0; i < XC_COUNT(own); i++)
		assert_string_equal(xc_normalise_go_name(own[i].from, &arena), own[i].to);
	assert_null(xc_normalise_go_name(NULL, &arena));
	xc_arena_fini(&arena);
}

static void names_of_the_c_library_are_those_that_programs_call(void **state)
{
	(void)state;
	EXPECT({"__GI_raise", "raise"}, {"__GI___libc_free", "free"}, {"__libc_malloc", "malloc"}, {"cfree", "free"},
	       {"gsignal", "raise"}, {"IA__g_log", "g_log"}, {"___sprintf_chk", "__sprintf_chk"},
	       {"__memcpy_avx_unaligned_erms", "memcpy"}, {"__strlen_evex", "strlen"},
	       {"__memset_sse2_unaligned", "memset"}, {"__memmove_ssse3", "memmove"}, {"__strlen_asimd", "strlen"},
	       {"__wcslen_avx2", "wcslen"}, {"__libc_start_main", "__libc_start_main"},
	       {"__my_avx_kernel", "__my_avx_kernel"}, {"my_avx_memcpy", "my_avx_memcpy"});
}

static void nothing_stays_nothing_and_nonsense_is_survived(void **state)
{
	(void)state;
	struct xc_arena arena = {0};
	assert_null(xc_normalise_name(NULL, &arena));
	assert_null(xc_normalise_name("", &arena));
	static const char *const strange[] = {"(",         ")",
					      "<",         ">",
					      "{",         "}",
					      "[",         "]",
					      "::",        " ",
					      "<<<<",      "((((",
					      "{{{{",      "$",
					      "'lambda",   "operator",
					      "operator ", "operator<",
					      "@",         ".",
					      "a<b::c",    "-[Shop orderFor:]",
					      "<a as",     "<a as b",
					      "<impl x",   "void (*f(int))(char)",
					      "$LT$",      "_$LT$",
					      ".0",        ".func1"};
	for (size_t i = 0; i < XC_COUNT(strange); i++)
		assert_non_null(xc_normalise_name(strange[i], &arena));
	assert_string_equal(xc_normalise_name("-[Shop orderFor:count:]", &arena), "-[Shop orderFor:count:]");
	xc_arena_fini(&arena);
}

/* A name of the maximum length of a record, with brackets only. */
/* Eight types within each other are kept, and those within the eighth become one letter. */
static void types_within_types_are_kept_to_a_depth_of_eight(void **state)
{
	(void)state;
	struct xc_arena arena = {0};
	for (unsigned depth = 1; depth <= 200; depth += depth < 12 ? 1 : 47) {
		struct xc_text from = {0}, to = {0};
		unsigned kept = depth < 8 ? depth : 8;
		for (unsigned i = 0; i < depth; i++)
			xc_text_char(&from, '<');
		xc_text_char(&from, 'A');
		for (unsigned i = 0; i < depth; i++)
			xc_text_add(&from, " as B>");
		for (unsigned i = 0; i < kept; i++)
			xc_text_char(&to, '<');
		xc_text_add(&to, depth > kept ? "<T>" : "A");
		for (unsigned i = 0; i < kept; i++)
			xc_text_add(&to, " as B>");
		assert_string_equal(xc_normalise_name(xc_text_string(&from), &arena), xc_text_string(&to));
		xc_text_fini(&from);
		xc_text_fini(&to);
	}
	xc_arena_fini(&arena);
}

static void deep_nesting_takes_no_time(void **state)
{
	(void)state;
	struct xc_arena arena = {0};
	static const char *const pieces[] = {"<",  "(",   "{", "<a as ",    "<impl a for ",
					     "f<", "::<", "[", "operator<", "$_"};
	for (size_t i = 0; i < XC_COUNT(pieces); i++) {
		char name[4097] = "";
		for (size_t at = 0, len = strlen(pieces[i]); at + len < sizeof name; at += len)
			memcpy(name + at, pieces[i], len + 1);
		assert_non_null(xc_normalise_name(name, &arena));
	}
	xc_arena_fini(&arena);
}

static void long_names_are_cut_between_letters(void **state)
{
	(void)state;
	struct xc_arena arena = {0};
	char name[1500] = "";
	for (size_t i = 1; i + 2 < sizeof name; i += 2)
		memcpy(name + i, "\xc3\xa9", 3);
	name[0] = 'x';
	assert_int_equal(strlen(xc_normalise_name(name, &arena)), XC_NORMALISE_NAME - 1);
	memset(name + 1, 0x80, sizeof name - 2); /* no letter starts here */
	assert_true(strlen(xc_normalise_name(name, &arena)) <= XC_NORMALISE_NAME);
	xc_arena_fini(&arena);
}

static void expect_message(const char *from, const char *to)
{
	struct xc_arena arena = {0};
	assert_string_equal(xc_normalise_message(from, &arena), to);
	xc_arena_fini(&arena);
}

static void messages_lose_what_differs_from_run_to_run(void **state)
{
	(void)state;
	expect_message("prog: /srv/src/queue.c:32: check: Assertion `q->head < 4096' failed.",
		       "prog: queue.c: check: Assertion `q->head < N' failed.");
	expect_message("bad block 0x55d0c0ffee10 in 7f3ce18f6018", "bad block ADDR in ADDR");
	expect_message("free(): double free detected in tcache 2", "free(): double free detected in tcache 2");
	expect_message("index 9 of 1234 at src/main.rs:10:5", "index 9 of N at src/main.rs");
	expect_message("worker pid 42 died", "worker pid N died");
	expect_message("a\tb\n\x1b[31mc \xc3\xa9 d", "a b [31mc d");
	expect_message("decade and facade", "decade and facade");
	expect_message("0x18", "0x18");
	expect_message("a / b", "a / b");
	expect_message("", "");
}

static void messages_are_cut(void **state)
{
	(void)state;
	struct xc_arena arena = {0};
	char text[1000];
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	assert_int_equal(strlen(xc_normalise_message(text, &arena)), XC_NORMALISE_MESSAGE);
	assert_null(xc_normalise_message(NULL, &arena));
	xc_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_return_types_and_qualifiers_go),
		cmocka_unit_test(template_arguments_become_one_letter),
		cmocka_unit_test(names_of_operators_keep_their_signs),
		cmocka_unit_test(lambdas_and_anonymous_namespaces_are_spelled_one_way),
		cmocka_unit_test(versions_of_libraries_go),
		cmocka_unit_test(what_the_optimiser_adds_goes),
		cmocka_unit_test(names_of_rust_in_any_mangling_are_one),
		cmocka_unit_test(names_of_go_keep_receivers_and_numbers),
		cmocka_unit_test(names_of_the_c_library_are_those_that_programs_call),
		cmocka_unit_test(nothing_stays_nothing_and_nonsense_is_survived),
		cmocka_unit_test(types_within_types_are_kept_to_a_depth_of_eight),
		cmocka_unit_test(deep_nesting_takes_no_time),
		cmocka_unit_test(long_names_are_cut_between_letters),
		cmocka_unit_test(messages_lose_what_differs_from_run_to_run),
		cmocka_unit_test(messages_are_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
