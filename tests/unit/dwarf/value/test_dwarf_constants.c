/* layer: dwarf */
/* DW_AT_const_value as bytes that are fewer or more than those of the type (DWARF 5, 4.1, attribute 10). */
#include <stdio.h>

#include "tests/support/made.h"

struct constant {
	const char *what;
	const char *type;
	unsigned encoding, size;
	const char *bytes;
	size_t len;
	const char *want;
};

#define B(text)       text, sizeof text - 1
#define EXTENDED_3_25 "\0\0\0\0\0\0\0\xd0\0\x40"

static const struct constant constants[] = {
	{"x87 without padding", "long double", DW_ATE_float, 16, B(EXTENDED_3_25), "3.25"},
	{"x87 of 12 bytes", "long double", DW_ATE_float, 12, B(EXTENDED_3_25), "3.25"},
	{"x87 with padding", "long double", DW_ATE_float, 16, B(EXTENDED_3_25 "\0\0\0\0\0\0"), "3.25"},
	{"half of an x87 number", "long double", DW_ATE_float, 16, B("\0\0\0\0\0"),
	 "<its constant is shorter than its type>"},
	{"a quad of ten bytes", "_Float128", DW_ATE_float, 16, B(EXTENDED_3_25),
	 "<its constant is shorter than its type>"},
	{"double", "double", DW_ATE_float, 8, B("\0\0\0\0\0\0\4\x40"), "2.5"},
	{"single", "float", DW_ATE_float, 4, B("\0\0\xa0\x3f"), "1.25"},
	{"int", "int", DW_ATE_signed, 4, B("\xfe\xff\xff\xff"), "-2"},
	{"more than the type", "int", DW_ATE_signed, 4, B("\xfe\xff\xff\xff\xff\xff\xff\xff"), "-2"},
	{"less than the type", "__int128", DW_ATE_signed, 16, B("\1\0\0\0\0\0\0\0"),
	 "<its constant is shorter than its type>"},
	{"_Bool", "_Bool", DW_ATE_boolean, 1, B("\1"), "true"},
	{"char", "char", DW_ATE_signed_char, 1, B("x"), "120 'x'"},
	{"complex", "complex float", DW_ATE_complex_float, 8, B("\0\0\xa0\x3f\0\0\x20\x40"), "1.25 + 2.5i"},
	{"nothing", "int", DW_ATE_signed, 4, B(""), "<its constant is shorter than its type>"},
};

static void blocks_are_values(void **state)
{
	(void)state;
	char name[32];
	struct dm dm = {0};
	dm_unit(&dm, &(struct dm_unit){0});
	dm_die(&dm, DW_TAG_compile_unit, true);
	for (size_t i = 0; i < XC_COUNT(constants); i++) {
		const struct constant *c = &constants[i];
		snprintf(name, sizeof name, "v%zu", i);
		made_variable(&dm, name, made_base(&dm, c->type, c->encoding, c->size));
		dm_block(&dm, DW_AT_const_value, DW_FORM_block1, c->bytes, c->len);
	}
	dm_end(&dm);
	dm_unit_end(&dm);
	struct made *m = made_open(&dm);
	for (size_t i = 0; i < XC_COUNT(constants); i++) {
		snprintf(name, sizeof name, "v%zu", i);
		made_expect(m, name, 0, constants[i].want, constants[i].what);
	}
	made_close(m);
	dm_fini(&dm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_values)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
