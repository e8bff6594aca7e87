/* layer: dwarf */
#include "dwarf/elf/name.h"

#include <string.h>

#include "tests/support/check.h"

static bool same(const char *a, const char *b)
{
	bool equal = xc_name_equal(a, strlen(a), b, strlen(b));
	bool hashes = xc_name_hash(a, strlen(a)) == xc_name_hash(b, strlen(b));
	assert_int_equal(equal, hashes);
	return equal;
}

static void integers_meet_however_they_are_spelled(void **state)
{
	(void)state;
	assert_true(same("long unsigned int", "unsigned long"));
	assert_true(same("unsigned", "unsigned int"));
	assert_true(same("unsigned long int", "long unsigned"));
	assert_true(same("short unsigned int", "unsigned short"));
	assert_true(same("long long int", "long long"));
	assert_true(same("std::vector<long unsigned int, A<long unsigned int> >",
			 "std::vector<unsigned long,A<unsigned long>>"));
	assert_true(same("long double", "double long"));
	assert_true(same("C<unsigned>", "C<unsigned int>"));
	assert_true(same("C<unsigned,signed>", "C<unsigned int, int>"));
	assert_true(same("unsigned __int128", "__int128 unsigned"));
	assert_true(same("double _Complex", "complex double"));
	assert_true(same("_Complex float", "complex float"));
	assert_true(same("complex long double", "long double _Complex"));
	assert_false(same("C<complex, int>", "C<complex int>"));
	assert_false(same("complex double", "double"));
	assert_false(same("__int128", "unsigned __int128"));
	assert_false(same("unsignedly", "unsigned"));
	assert_false(same("signed char", "char"));
	assert_false(same("unsigned char", "char"));
	assert_false(same("long", "long long"));
	assert_false(same("unsigned", "signed"));
	assert_false(same("long double", "double"));
}

static void white_space_counts_only_between_words(void **state)
{
	(void)state;
	assert_true(same("C<int, D >", "C<int,D>"));
	assert_true(same(" a :: b ", "a::b"));
	assert_false(same("&mut T", "&mutT"));
	assert_false(same("printer", "print"));
	assert_false(same("pointless", "po int less"));
	assert_true(same(" ", "\t"));
}

static void check_parts(const char *name, const char *const *expected)
{
	size_t len = strlen(name), part_len;
	const char *part;
	for (; (part = xc_name_last(name, &len, &part_len)); expected++) {
		assert_non_null(*expected);
		assert_int_equal(part_len, strlen(*expected));
		assert_memory_equal(part, *expected, part_len);
	}
	assert_null(*expected);
}

static void components_come_last_first(void **state)
{
	(void)state;
	check_parts("server", (const char *const[]){"server", NULL});
	check_parts("ns::C<a::b>::m", (const char *const[]){"m", "C<a::b>", "ns", NULL});
	check_parts("::x", (const char *const[]){"x", NULL});
	check_parts("a::operator<<", (const char *const[]){"operator<<", "a", NULL});
	check_parts("a::operator()", (const char *const[]){"operator()", "a", NULL});
	check_parts("a::operator->", (const char *const[]){"operator->", "a", NULL});
	check_parts("a::operator< <x::y>", (const char *const[]){"operator< <x::y>", "a", NULL});
	check_parts("a::operator!=<x::y, z>", (const char *const[]){"operator!=<x::y, z>", "a", NULL});
	check_parts("a::operator<<x::y>", (const char *const[]){"operator<<x::y>", "a", NULL});
	check_parts("a::operator<<<x::y>", (const char *const[]){"operator<<<x::y>", "a", NULL});
	check_parts("a::operator()<x::y>", (const char *const[]){"operator()<x::y>", "a", NULL});
	check_parts("a::operator std::string", (const char *const[]){"operator std::string", "a", NULL});
	check_parts("a::operator <<", (const char *const[]){"operator <<", "a", NULL});
	check_parts("operators::x", (const char *const[]){"x", "operators", NULL});
	check_parts("operator<<", (const char *const[]){"operator<<", NULL});
	check_parts("operator", (const char *const[]){"operator", NULL});
	check_parts("f(int (*)(a::b))::x", (const char *const[]){"x", "f(int (*)(a::b))", NULL});
	check_parts("<a::B as c::D>::f", (const char *const[]){"f", "<a::B as c::D>", NULL});
	check_parts("", (const char *const[]){NULL});
}

static void check_without_anonymous(const char *name, const char *expected)
{
	struct xc_text text = {0};
	xc_name_without_anonymous(name, &text);
	assert_string_equal(xc_text_string(&text), expected);
	xc_text_fini(&text);
}

static void anonymous_namespaces_go_but_for_those_of_arguments(void **state)
{
	(void)state;
	check_without_anonymous("a::(anonymous namespace)::b", "a::b");
	check_without_anonymous("(anonymous namespace)::(anonymous namespace)::b::c", "b::c");
	check_without_anonymous("C<(anonymous namespace)::A, (anonymous namespace)::B>::(anonymous namespace)::c",
				"C<(anonymous namespace)::A, (anonymous namespace)::B>::c");
	check_without_anonymous("plain", "plain");
	check_without_anonymous("", "");
}

static void names_are_found_behind_keywords(void **state)
{
	(void)state;
	static const char *const names[][2] = {
		{"struct foo", "foo"},      {"union u", "u"},     {"enum e", "e"}, {"class ns::C", "ns::C"},
		{"structure", "structure"}, {"struct", "struct"}, {"", ""}};
	for (size_t i = 0; i < XC_COUNT(names); i++)
		assert_string_equal(xc_name_without_keyword(names[i][0]), names[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_found_behind_keywords),
		cmocka_unit_test(integers_meet_however_they_are_spelled),
		cmocka_unit_test(white_space_counts_only_between_words),
		cmocka_unit_test(components_come_last_first),
		cmocka_unit_test(anonymous_namespaces_go_but_for_those_of_arguments),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
