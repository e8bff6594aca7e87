/* layer: dwarf */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/elf/demangle.h"

static void expect(const char *mangled, const char *brief, const char *full)
{
	char *a = xc_demangle(mangled, false), *b = xc_demangle(mangled, true);
	if (brief)
		assert_non_null(a);
	if (brief) {
		assert_string_equal(a, brief);
		assert_string_equal(b, full);
	} else {
		assert_null(a);
		assert_null(b);
	}
	free(a);
	free(b);
}

static void cxx_names_lose_parameters_return_type_and_qualifiers(void **state)
{
	(void)state;
	expect("_ZN2ns1CIiE1fEiPKc", "ns::C<int>::f", "ns::C<int>::f(int, char const*)");
	expect("_ZNK2ns1CIiEclEi", "ns::C<int>::operator()", "ns::C<int>::operator()(int) const");
	expect("_Z3maxIiET_S0_S0_", "max<int>", "int max<int>(int, int)");
	expect("_ZN12_GLOBAL__N_13barEv", "(anonymous namespace)::bar", "(anonymous namespace)::bar()");
	expect("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()", "main::{lambda()#1}::operator()() const");
	expect("_Z3fooi.cold", "foo", "foo(int) [clone .cold]");
	expect("_ZTV3Foo", "vtable for Foo", "vtable for Foo");
}

static void rust_names_of_both_schemes_are_read(void **state)
{
	(void)state;
	expect("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt",
	       "core::fmt::Write::write_fmt");
	expect("_RNvC7mycrate3foo", "mycrate::foo", "mycrate::foo");
}

static void what_rustc_mangled_is_told_from_c_plus_plus(void **state)
{
	(void)state;
	static const char *const rust[] = {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "_RNvC7mycrate3foo",
					   "_ZN4core3ptr17drop_in_place$LT$a..17h$GT$17h0123456789abcdefE.llvm.42",
					   "_R0NvC7mycrate3foo"};
	static const char *const others[] = {"",
					     "core",
					     "_ZN4core5replyEv",
					     "_ZN4core17h0123456789abcdeEv",
					     "_ZN4core18h0123456789abcdefgE",
					     "_ZN4core17h0123456789abcdefEv",
					     "_R",
					     "_Rb_tree",
					     "17h0123456789abcdefE"};
	for (size_t i = 0; i < XC_COUNT(rust); i++)
		assert_true(xc_demangle_is_rust(rust[i]));
	for (size_t i = 0; i < XC_COUNT(others); i++)
		assert_false(xc_demangle_is_rust(others[i]));
}

static void other_names_are_left_alone(void **state)
{
	(void)state;
	const char *const names[] = {"", "main", "__printf", "_Z", "_ZN", "_R", "_start", "i", "v", "_Z3fo"};
	for (size_t i = 0; i < XC_COUNT(names); i++)
		expect(names[i], NULL, NULL);
}

/* Longer than libiberty accepts by default: parameters that are templates with long names. */
static void long_names_are_demangled(void **state)
{
	(void)state;
	xc_auto(xc_text_fini) struct xc_text name = {0};
	xc_text_add(&name, "_Z1f");
	for (int i = 0; i < 40; i++)
		xc_text_printf(&name, "70%070dIiE", i);
	for (char *c = name.bytes + 4; *c; c++) /* identifiers start with a letter */
		if (!strncmp(c, "700", 3))
			c[2] = 'x';
	char *brief = xc_demangle(name.bytes, false), *full = xc_demangle(name.bytes, true);
	assert_true(name.len > 2048);
	assert_non_null(full);
	assert_string_equal(brief, "f");
	assert_int_equal(strlen(full), strlen("f()") + 40 * (70 + strlen("<int>, ")) - 2);
	free(brief);
	free(full);
}

static void names_past_the_limit_are_refused(void **state)
{
	(void)state;
	xc_auto(xc_text_fini) struct xc_text name = {0};
	xc_text_add(&name, "_Z1f");
	for (int i = 0; i < 16 << 10; i++)
		xc_text_add(&name, "i");
	assert_null(xc_demangle(name.bytes, true));
}

/* Each parameter is a pair of the previous one: 2^30 words from 300 bytes. */
static void exponential_names_end(void **state)
{
	(void)state;
	xc_auto(xc_text_fini) struct xc_text name = {0};
	xc_text_add(&name, "_Z1f1AIiiE");
	xc_text_add(&name, "S_IS0_S0_E");
	const char *digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	for (int i = 1; i < 30; i++)
		xc_text_printf(&name, "S_IS%c_S%c_E", digits[i], digits[i]);
	assert_null(xc_demangle(name.bytes, true));
}

static void deep_names_do_not_overflow_the_stack(void **state)
{
	(void)state;
	const char *const parts[] = {"P", "1AI", "FvF", "N1a", "Z1f", "DpT_", "KPM1x", "A_", "sr1a", "cvs", "XL"};
	for (size_t i = 0; i < XC_COUNT(parts); i++) {
		xc_auto(xc_text_fini) struct xc_text name = {0};
		xc_text_add(&name, "_Z1f");
		while (name.len < (16 << 10) - 16)
			xc_text_add(&name, parts[i]);
		xc_text_add(&name, "i");
		free(xc_demangle(name.bytes, true)); /* any answer is acceptable */
		name.bytes[1] = 'R';
		free(xc_demangle(name.bytes, true));
	}
}

static void a_name_that_refers_to_itself_ends(void **state)
{
	(void)state;
	for (size_t len = 16; len < (16 << 10); len *= 4) {
		xc_auto(xc_text_fini) struct xc_text name = {0};
		xc_text_add(&name, "_RNvB");
		while (name.len < len)
			xc_text_char(&name, '_');
		xc_text_add(&name, "1a");
		free(xc_demangle(name.bytes, true));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cxx_names_lose_parameters_return_type_and_qualifiers),
		cmocka_unit_test(rust_names_of_both_schemes_are_read),
		cmocka_unit_test(what_rustc_mangled_is_told_from_c_plus_plus),
		cmocka_unit_test(other_names_are_left_alone),
		cmocka_unit_test(long_names_are_demangled),
		cmocka_unit_test(names_past_the_limit_are_refused),
		cmocka_unit_test(exponential_names_end),
		cmocka_unit_test(deep_names_do_not_overflow_the_stack),
		cmocka_unit_test(a_name_that_refers_to_itself_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
