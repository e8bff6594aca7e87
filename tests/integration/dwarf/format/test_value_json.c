/* layer: dwarf */
/* JSON of values: each kind of type in the form of value_json.h, and truncated and missing values. */
#include <jansson.h>

#include "dwarf/format/value_json.h"
#include "tests/support/compile_program.h"

static const char source[] =
	"#include <stdint.h>\n"
	"enum color { RED, GREEN, BLUE = 7 }; enum flags { A = 1, B = 2, C = 4 }; struct inner { int x, y; };\n"
	"struct all { char c; signed char text[8]; unsigned char raw[4]; int i; unsigned u; long l; unsigned long ul;\n"
	"  _Bool yes; _Bool odd; float f; double d; double nan, inf; long double ld; enum color color, wrong; enum "
	"flags flags;\n"
	"  struct inner in, pair[2]; struct inner *p; const char *s; const char *none; int (*fn)(void); unsigned bits "
	": 5;\n"
	"  union { int as_int; float as_float; }; __int128 wide; struct all *self; int grid[2][2]; float _Complex z; "
	"};\n"
	"int _Complex whole = 3 - 4i; unsigned char address[4] = {192, 168, 0, 1}, shown[4] = {'h', 'i', 0, 1};\n"
	"int work(void) { return 1; }\n"
	"struct inner target = {8, 9};\n"
	"struct all all = { 'a', \"text\", {255, 0, 128, 65}, -1, 4000000000u, -5000000000, 18000000000000000000u, 1, "
	"0,\n"
	"  1.5f, -0.25, __builtin_nan(\"\"), -__builtin_inf(), 0.1L, BLUE, (enum color)3, (enum flags)5, {1, 2},\n"
	"  {{3, 4}, {5, 6}}, &target, \"h\\xc3\\xa4\", 0, work, 21, {1065353216}, ((__int128)1 << 100), &all,\n"
	"  {{1, 2}, {3, 4}}, 1.0f + 2.0fi };\n"
	"struct all *wild = (struct all *)0x10; char latin[] = \"gr\\xfc\\xdf\"; char late[6] = \"ab\\0cd\";\n"
	"int many[100]; struct inner deep = {1, 2}; struct { struct { struct { int z; } b; } a; } nest = {{{1}}};\n"
	"unsigned short wide_text[] = u\"h\\u00e9\\u20ac\"; struct { char c; struct { int c2; }; } anonymous = {1, "
	"{2}};\n"
	"int _start(void) { return all.i; }\n";

static struct compiled *c;

static int compile_source(void **state)
{
	(void)state;
	c = compile("gcc -g -x c", source);
	return 0;
}

static int release_source(void **state)
{
	(void)state;
	release(c);
	return 0;
}

static struct xc_json_result json_of(const struct xc_value *value, struct xc_json_options options)
{
	struct xc_json_result result;
	options.depth = options.depth ? options.depth : 20;
	options.elements = options.elements ? options.elements : 200;
	xc_value_json(value, &options, &result);
	assert_non_null(result.value);
	return result;
}

static void drop(struct xc_json_result *result)
{
	json_decref(result->value);
	json_decref(result->unknown);
}

static void expect(const struct xc_value *value, const char *name, const char *wanted)
{
	struct xc_json_result result = json_of(value, (struct xc_json_options){0});
	char *text = json_dumps(result.value, JSON_ENCODE_ANY | JSON_COMPACT);
	if (strcmp(text, wanted) != 0)
		fail_msg("%s: %s, not %s", name, text, wanted);
	free(text);
	assert_null(result.unknown);
	assert_false(result.truncated);
	drop(&result);
}

static void expect_member(const char *name, const char *wanted)
{
	struct xc_value all = value_of(c, "all"), member;
	struct xc_error *err = xc_value_member(&all, name, &member);
	assert_null(err);
	expect(&member, name, wanted);
}

static void every_kind_has_its_shape(void **state)
{
	(void)state;
	char text[64];
	expect_member("c", "97");
	expect_member("text", "\"text\"");
	expect_member("i", "-1");
	expect_member("u", "4000000000");
	expect_member("l", "\"-5000000000\"");
	expect_member("ul", "\"18000000000000000000\"");
	expect_member("wide", "\"1267650600228229401496703205376\"");
	expect_member("yes", "true");
	expect_member("odd", "false");
	expect_member("f", "1.5");
	expect_member("d", "-0.25");
	expect_member("nan", "\"nan\"");
	expect_member("inf", "\"-inf\"");
	snprintf(text, sizeof text, "\"%.21Lg\"", 0.1L);
	expect_member("ld", text);
	expect_member("color", "{\"name\":\"BLUE\",\"value\":7}");
	expect_member("wrong", "{\"name\":null,\"value\":3}");
	expect_member("flags", "{\"name\":\"A | C\",\"value\":5}");
	expect_member("in", "{\"x\":1,\"y\":2}");
	expect_member("pair", "[{\"x\":3,\"y\":4},{\"x\":5,\"y\":6}]");
	expect_member("grid", "[[1,2],[3,4]]");
	snprintf(text, sizeof text, "\"0x%llx\"", (unsigned long long)value_of(c, "target").addr);
	expect_member("p", text);
	expect_member("bits", "21");
	expect_member("as_float", "1.0");
	expect_member("z", "{\"real\":1.0,\"imag\":2.0}");
	expect_member("none", "{\"addr\":\"0x0\",\"text\":null}");
}

static void texts_are_strings_of_unicode(void **state)
{
	(void)state;
	struct xc_value value = value_of(c, "latin");
	expect(&value, "latin", "\"gr\\\\xfc\\\\xdf\"");
	value = value_of(c, "late");
	expect(&value, "late", "\"ab\"");
	value = value_of(c, "address");
	expect(&value, "address", "\"\\\\xc0\\\\xa8\\u0000\\u0001\"");
	value = value_of(c, "shown");
	expect(&value, "shown", "\"hi\\u0000\\u0001\"");
	value = value_of(c, "whole");
	expect(&value, "whole", "{\"real\":3,\"imag\":-4}");
	struct xc_value all = value_of(c, "all"), member;
	assert_null(xc_value_member(&all, "raw", &member));
	expect(&member, "raw", "\"\\\\xff\\u0000\\\\x80A\"");
	assert_null(xc_value_member(&all, "s", &member));
	struct xc_json_result result = json_of(&member, (struct xc_json_options){0});
	assert_string_equal(json_string_value(json_object_get(result.value, "text")), "hä");
	drop(&result);
}

static void anonymous_members_stand_among_the_others(void **state)
{
	(void)state;
	struct xc_value value = value_of(c, "anonymous");
	expect(&value, "anonymous", "{\"c\":1,\"c2\":2}");
}

static void what_cannot_be_read_is_null_and_says_why(void **state)
{
	(void)state;
	struct xc_value pointer = value_of(c, "wild"), value;
	assert_null(xc_value_deref(&pointer, &value));
	struct xc_json_result result = json_of(&value, (struct xc_json_options){0});
	assert_true(json_is_null(result.value));
	assert_string_equal(json_string_value(json_object_get(result.unknown, ".")), "0x10: not mapped");
	drop(&result);
	value = xc_value_absent(c->process, type_of(c, "deep"), "optimized out");
	result = json_of(&value, (struct xc_json_options){0});
	assert_true(json_is_null(result.value));
	assert_string_equal(json_string_value(json_object_get(result.unknown, ".")), "optimized out");
	drop(&result);
}

/* An array that extends past mapped memory: the readable elements are shown. */
static void reasons_go_by_the_path(void **state)
{
	(void)state;
	struct xc_value value = value_of(c, "all");
	const struct xc_segment *s = xc_space_find(c->process->space, value.addr);
	value = xc_value_memory(c->process, type_of(c, "many"), s->hi - 11);
	while (xc_space_find(c->process->space, s->hi + 1))
		s = xc_space_find(c->process->space, s->hi + 1);
	value.addr = s->hi - 11;
	struct xc_json_result result = json_of(&value, (struct xc_json_options){.elements = 5});
	assert_int_equal(json_array_size(result.value), 5);
	assert_true(json_is_integer(json_array_get(result.value, 2)));
	assert_true(json_is_null(json_array_get(result.value, 3)));
	assert_non_null(json_object_get(result.unknown, "[3]"));
	assert_null(json_object_get(result.unknown, "[2]"));
	drop(&result);
}

static void limits_are_marked(void **state)
{
	(void)state;
	struct xc_value value = value_of(c, "many");
	struct xc_json_result result = json_of(&value, (struct xc_json_options){.elements = 7});
	assert_int_equal(json_array_size(result.value), 7);
	assert_true(result.truncated);
	drop(&result);
	value = value_of(c, "nest");
	result = json_of(&value, (struct xc_json_options){.depth = 1});
	assert_true(json_is_null(json_object_get(json_object_get(result.value, "a"), "b")));
	assert_true(result.truncated);
	drop(&result);
}

static void redaction_keeps_the_shape_alone(void **state)
{
	(void)state;
	struct xc_value value = value_of(c, "all");
	struct xc_json_result result = json_of(&value, (struct xc_json_options){.redact = true});
	char *text = json_dumps(result.value, JSON_ENCODE_ANY | JSON_COMPACT);
	assert_non_null(strstr(text, "\"in\":{\"x\":\"(redacted)\",\"y\":\"(redacted)\"}"));
	assert_null(strpbrk(text, "0123456789") && strstr(text, "97") ? text : NULL);
	assert_null(strstr(text, "BLUE"));
	assert_null(strstr(text, "0x"));
	assert_null(strstr(text, "\"text\":\"text\""));
	free(text);
	drop(&result);
}

static void base_classes_go_by_their_type(void **state)
{
	(void)state;
	struct compiled *cxx =
		compile("g++ -g -x c++", "namespace n { struct base { int x; }; struct derived : base { int y; "
					 "int &r; }; }\nn::derived object = {{1}, 2, object.y};\n"
					 "extern \"C\" int _start() { return object.y; }\n");
	struct xc_value value = value_of(cxx, "object");
	struct xc_json_result result = json_of(&value, (struct xc_json_options){0});
	char *text = json_dumps(result.value, JSON_ENCODE_ANY | JSON_COMPACT);
	assert_string_equal(text, "{\"n::base\":{\"x\":1},\"y\":2,\"r\":2}");
	free(text);
	drop(&result);
	release(cxx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_has_its_shape),
		cmocka_unit_test(texts_are_strings_of_unicode),
		cmocka_unit_test(anonymous_members_stand_among_the_others),
		cmocka_unit_test(what_cannot_be_read_is_null_and_says_why),
		cmocka_unit_test(reasons_go_by_the_path),
		cmocka_unit_test(limits_are_marked),
		cmocka_unit_test(redaction_keeps_the_shape_alone),
		cmocka_unit_test(base_classes_go_by_their_type),
	};
	return cmocka_run_group_tests(tests, compile_source, release_source);
}
