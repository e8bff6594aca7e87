/* layer: dwarf tier: long */
/* Functions known to Go's run-time: a hand-made table, and a real one compared with its program's symbols (skipped
 * without go). */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/go_program.h"
#include "tests/support/grid.h"
#include "tests/support/opened.h"

#include "dwarf/elf/elffile.h"
#include "dwarf/elf/gopclntab.h"
#include "dwarf/elf/symbol.h"

enum { TEXT = 0x401000, NAMES = 72, UNITS = NAMES + 16, TABLE = UNITS + 8, SIZE = TABLE + 2 * 8 + 4 + 2 * 8 };

static void put(uint8_t *bytes, size_t at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[at + i] = (uint8_t)(value >> 8 * i);
}

/* Two functions, main.a of 16 bytes and main.b of 32. */
static void make(uint8_t bytes[SIZE])
{
	const uint64_t words[] = {2, 0, TEXT, NAMES, UNITS, UNITS, UNITS, TABLE};
	const uint32_t rows[] = {0, 20, 16, 28, 48, /* their _func: */ 0, 0, 16, 7};
	memset(bytes, 0, SIZE);
	put(bytes, 0, 0xfffffff1, 4);
	bytes[6] = 1;
	bytes[7] = 8;
	for (size_t i = 0; i < XC_COUNT(words); i++)
		put(bytes, 8 + 8 * i, words[i], 8);
	memcpy(bytes + NAMES, "main.a\0main.b", 14);
	for (size_t i = 0; i < XC_COUNT(rows); i++)
		put(bytes, TABLE + 4 * i, rows[i], 4);
}

static void functions_are_told_with_their_names_and_ends(void **state)
{
	(void)state;
	uint8_t bytes[SIZE];
	struct xc_gopclntab t;
	struct xc_gofunction f;
	make(bytes);
	assert_true(xc_gopclntab_open(bytes, SIZE, &t));
	assert_int_equal(t.count, 2);
	assert_true(xc_gopclntab_function(&t, 0, &f));
	assert_string_equal(f.name, "main.a");
	assert_int_equal(f.addr, TEXT);
	assert_int_equal(f.size, 16);
	assert_true(xc_gopclntab_function(&t, 1, &f));
	assert_string_equal(f.name, "main.b");
	assert_int_equal(f.addr, TEXT + 16);
	assert_int_equal(f.size, 32);
	assert_false(xc_gopclntab_function(&t, 2, &f));
	assert_false(xc_gopclntab_function(&t, UINT64_MAX, &f));
}

static void what_is_cut_is_no_table(void **state)
{
	(void)state;
	uint8_t bytes[SIZE];
	struct xc_gopclntab t;
	make(bytes);
	for (size_t size = 0; size < TABLE + 2 * 8 + 4; size++)
		assert_false(xc_gopclntab_open(bytes, size, &t));
	bytes[0] = 0xfa; /* Go 1.16 */
	assert_false(xc_gopclntab_open(bytes, SIZE, &t));
}

static void damaged(size_t at, uint64_t value, size_t size, bool opens, bool first, bool second)
{
	uint8_t *bytes = malloc(SIZE); /* a separate allocation: ASan detects a read past it */
	struct xc_gopclntab t;
	struct xc_gofunction f;
	assert_non_null(bytes);
	make(bytes);
	put(bytes, at, value, size);
	assert_int_equal(xc_gopclntab_open(bytes, SIZE, &t), opens);
	assert_int_equal(opens && xc_gopclntab_function(&t, 0, &f), first);
	assert_int_equal(opens && xc_gopclntab_function(&t, 1, &f), second);
	free(bytes);
}

static void what_is_damaged_is_not_told(void **state)
{
	(void)state;
	damaged(8, 0, 8, false, false, false); /* no functions */
	damaged(8, 3, 8, true, true, true);    /* one more, with room for it: its own row is checked alone */
	damaged(8, UINT64_MAX / 8, 8, false, false, false);   /* more than fit */
	damaged(24, UINT64_MAX - 20, 8, true, true, false);   /* the second ends after the last address */
	damaged(32, UNITS, 8, false, false, false);           /* names end where they start, */
	damaged(32, UINT64_MAX, 8, false, false, false);      /* far past the end, */
	damaged(40, SIZE + 1, 8, false, false, false);        /* and end outside */
	damaged(64, SIZE - 1, 8, false, false, false);        /* the table outside */
	damaged(64, UINT64_MAX - 4, 8, false, false, false);  /* … */
	damaged(TABLE + 4, 0xffffffff, 4, true, false, true); /* a function's data is outside */
	damaged(TABLE + 8, 0, 4, true, false, false);         /* it ends where it starts */
	damaged(TABLE + 20, 1, 4, true, false, true);         /* its data belongs to another one */
	damaged(TABLE + 24, 14, 4, true, false, true);        /* its name is outside, */
	damaged(TABLE + 24, 6, 4, true, false, true);         /* empty, */
	damaged(NAMES + 13, 0x616161, 3, true, true, false);  /* the last name has no end */
}

/* Except for the suffix of assembler functions; text in brackets is shortened (Go 1.19,
 * cmd/link/internal/ld/pcln.go). */
static bool is_name_of(const char *known, const char *symbol)
{
	size_t len = strlen(known);
	if (strstr(known, "[...]"))
		return !strncmp(known, symbol, strcspn(known, "["));
	return !strncmp(known, symbol, len) && (!symbol[len] || !strcmp(symbol + len, ".abi0"));
}

static void expect_every_function(const char *flags)
{
	static const char source[] = "package main\nimport \"fmt\"\nfunc main() { fmt.Println(\"hello\") }\n";
	char line[300];
	struct xc_elffile file = {0};
	struct xc_source *bytes;
	struct xc_gopclntab table;
	uint64_t from, end;
	size_t functions = 0;
	CHECK_OK(xc_source_open(dying_program("program", go_compiler(flags, line), source), NULL, &bytes));
	assert_true(xc_elffile_open(&file, bytes, true));
	struct xc_symtab *told = xc_symtab_read(file.elf, NULL), *known = xc_symtab_read(NULL, NULL);
	xc_gopclntab_add(file.elf, known);
	assert_true(xc_gopclntab_find(file.elf, &table) && xc_gopclntab_range(&table, &from, &end));
	for (size_t i = 0; i < xc_symtab_count(told); i++) {
		const struct xc_symbol *s = xc_symtab_get(told, i);
		if (s->type != STT_FUNC || !s->size || s->value < from || s->value >= end ||
		    !strncmp(s->name, "runtime.text", 12) || !strcmp(s->name, "runtime.etext") ||
		    !strncmp(s->name, "go.", 3))
			continue;
		const struct xc_symbol *k = xc_symtab_at(known, s->value);
		if (!k || k->value != s->value || !is_name_of(k->name, s->name))
			fail_msg("%s: %s", s->name, k ? k->name : "-");
		assert_string_equal(xc_symtab_named(known, k->name)->name, k->name);
		functions++;
	}
	assert_true(functions > 1000);
	xc_symtab_free(told);
	xc_symtab_free(known);
	xc_elffile_close(&file);
}

/* Go's linker puts the table in its own section; the system's linker, for a PIE, does not. */
static void every_function_of_a_program_is_in_its_table(void **state)
{
	(void)state;
	check_needs("go");
	expect_every_function("");
	if (grid_all())
		expect_every_function("-buildmode=pie");
	expect_every_function("-buildmode=pie -ldflags=-linkmode=external");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_told_with_their_names_and_ends),
		cmocka_unit_test(what_is_cut_is_no_table),
		cmocka_unit_test(what_is_damaged_is_not_told),
		cmocka_unit_test(every_function_of_a_program_is_in_its_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
