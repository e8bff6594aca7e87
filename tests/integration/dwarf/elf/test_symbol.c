/* layer: dwarf */
#include "dwarf/elf/symbol.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/base/text.h"
#include "dwarf/module/debugfile.h"
#include "tests/support/mapped_fixture.h"

struct table {
	int fd;
	Elf *elf;
	struct xc_symtab *symbols;
};

static struct table open_table(const char *path)
{
	struct table t = {.fd = open(path, O_RDONLY)};
	elf_version(EV_CURRENT);
	t.elf = elf_begin(t.fd, ELF_C_READ, NULL);
	assert_non_null(t.elf);
	t.symbols = xc_symtab_read(t.elf, NULL);
	return t;
}

static void close_table(struct table *t)
{
	xc_symtab_free(t->symbols);
	elf_end(t->elf);
	close(t->fd);
}

static uint64_t value_of(const struct table *t, const char *name)
{
	const struct xc_symbol *s = xc_symtab_named(t->symbols, name);
	if (!s)
		fail_msg("no symbol %s", name);
	return s->value;
}

static void expect_at(const struct table *t, uint64_t addr, const char *name)
{
	const struct xc_symbol *s = xc_symtab_at(t->symbols, addr);
	if (!name && s)
		fail_msg("0x%lx is %s", (unsigned long)addr, s->name);
	if (name && (!s || strcmp(s->name, name) != 0))
		fail_msg("0x%lx is %s, not %s", (unsigned long)addr, s ? s->name : "nothing", name);
}

/* first: 16 bytes, sized 8; followed by label without a size; outer 32 bytes with inner 8 in its middle. */
static const char LAYOUT[] = "__asm__(\".text\\n"
			     ".globl first\\n.type first,@function\\nfirst: .skip 8\\n.size first,8\\n.skip 8\\n"
			     "label: .skip 16\\n"
			     ".globl outer\\n.type outer,@function\\nouter: .skip 8\\n"
			     ".type inner,@function\\ninner: .skip 8\\n.size inner,8\\n.skip 16\\n.size outer,32\\n"
			     ".globl __alias\\n.type __alias,@function\\n.globl alias\\n.type alias,@function\\n.weak "
			     "aaa\\n.type aaa,@function\\n"
			     ".type local_alias,@function\\n__alias: alias: aaa: local_alias: .skip 8\\n"
			     ".size __alias,8\\n.size alias,8\\n.size aaa,8\\n.size local_alias,8\\n\");\n"
			     "__thread int per_thread = 1; int object[4] = {1};\n";

static void an_address_has_the_name_of_the_symbol_that_covers_it(void **state)
{
	(void)state;
	struct table t = open_table(build("layout.so", "", LAYOUT));
	uint64_t first = value_of(&t, "first");
	expect_at(&t, first, "first");
	expect_at(&t, first + 7, "first");
	expect_at(&t, first + 8, NULL); /* the gap after a sized symbol has no name */
	expect_at(&t, first + 15, NULL);
	expect_at(&t, first - 1, NULL);
	uint64_t object = value_of(&t, "object");
	expect_at(&t, object + 15, "object");
	close_table(&t);
}

static void a_label_without_size_reaches_to_the_next_symbol(void **state)
{
	(void)state;
	struct table t = open_table(build("layout.so", "", LAYOUT));
	uint64_t label = value_of(&t, "label");
	expect_at(&t, label, "label");
	expect_at(&t, label + 15, "label");
	expect_at(&t, label + 16, "outer");
	close_table(&t);
}

static void the_innermost_symbol_wins_and_the_outer_one_goes_on_behind_it(void **state)
{
	(void)state;
	struct table t = open_table(build("layout.so", "", LAYOUT));
	uint64_t outer = value_of(&t, "outer");
	expect_at(&t, outer + 7, "outer");
	expect_at(&t, outer + 8, "inner");
	expect_at(&t, outer + 15, "inner");
	expect_at(&t, outer + 16, "outer");
	expect_at(&t, outer + 31, "outer");
	close_table(&t);
}

static void of_aliases_the_global_one_with_fewer_underscores_is_shown(void **state)
{
	(void)state;
	struct table t = open_table(build("layout.so", "", LAYOUT));
	expect_at(&t, value_of(&t, "aaa"), "alias");
	assert_int_equal(value_of(&t, "__alias"), value_of(&t, "local_alias"));
	close_table(&t);
}

static void thread_local_symbols_name_no_address(void **state)
{
	(void)state;
	struct table t = open_table(build("layout.so", "", LAYOUT));
	const struct xc_symbol *s = xc_symtab_named(t.symbols, "per_thread");
	assert_non_null(s);
	assert_int_equal(s->type, STT_TLS);
	assert_int_equal(s->value, 0);
	expect_at(&t, 0, NULL);
	close_table(&t);
}

static void symbols_come_in_address_order(void **state)
{
	(void)state;
	struct table t = open_table(build("layout.so", "", LAYOUT));
	size_t count = xc_symtab_count(t.symbols);
	assert_true(count > 8);
	for (size_t i = 1; i < count; i++) {
		const struct xc_symbol *a = xc_symtab_get(t.symbols, i - 1), *b = xc_symtab_get(t.symbols, i);
		assert_true(b->type == STT_TLS || a->value <= b->value);
	}
	assert_null(xc_symtab_get(t.symbols, count));
	close_table(&t);
}

static void versions_are_cut_off_and_the_default_one_is_found(void **state)
{
	(void)state;
	static const char text[] = "int old_f(void) { return 1; } int new_f(void) { return 2; }\n"
				   "__asm__(\".symver old_f,f@V1\\n.symver new_f,f@@V2\");\n";
	static const char map[] = "V1 { global: f; local: *; };\nV2 { global: f; } V1;\n";
	scratch_file("v.map", map, strlen(map));
	struct table t = open_table(build("v.so", "-Wl,--version-script=v.map", text));
	const struct xc_symbol *f = xc_symtab_named(t.symbols, "f");
	assert_non_null(f);
	assert_string_equal(f->name, "f");
	assert_int_equal(f->value, value_of(&t, "new_f"));
	assert_null(xc_symtab_named(t.symbols, "f@@V2"));
	assert_null(xc_symtab_named(t.symbols, ""));
	assert_null(xc_symtab_named(t.symbols, "g"));
	close_table(&t);
}

static void without_symtab_the_dynamic_symbols_serve(void **state)
{
	(void)state;
	const char *path = build("layout.so", "", LAYOUT);
	shell("strip layout.so");
	struct table t = open_table(path);
	expect_at(&t, value_of(&t, "outer") + 8, "outer"); /* inner was local */
	assert_null(xc_symtab_named(t.symbols, "inner"));
	close_table(&t);
}

static void functions_that_are_added_stand_among_the_others(void **state)
{
	(void)state;
	static const uint64_t last = UINT64_MAX - 3;
	struct table t = open_table(build("layout.so", "", LAYOUT));
	uint64_t first = value_of(&t, "first");
	xc_symtab_free(t.symbols);
	t.symbols = xc_symtab_read(t.elf, NULL);
	size_t count = xc_symtab_count(t.symbols);
	const struct xc_symbol more[] = {{.name = "lowest", .value = 1, .size = 4, .type = STT_FUNC},
					 {.name = "in_first", .value = first + 2, .size = 4, .type = STT_FUNC},
					 {.name = "last", .value = last, .size = 8, .type = STT_FUNC}};
	xc_symtab_add(t.symbols, more, XC_COUNT(more), 64);
	assert_int_equal(xc_symtab_count(t.symbols), count + XC_COUNT(more));
	expect_at(&t, 4, "lowest");
	expect_at(&t, first + 1, "first");
	expect_at(&t, first + 5, "in_first");
	expect_at(&t, first + 6, "first");
	expect_at(&t, last + 2, "last");
	assert_int_equal(value_of(&t, "in_first"), first + 2);
	assert_int_equal(xc_symtab_named(t.symbols, "per_thread")->type, STT_TLS);
	assert_int_equal(xc_symtab_get(t.symbols, count + XC_COUNT(more) - 1)->type, STT_TLS);
	close_table(&t);
}

static void no_file_gives_an_empty_table(void **state)
{
	(void)state;
	struct xc_symtab *table = xc_symtab_read(NULL, NULL);
	assert_int_equal(xc_symtab_count(table), 0);
	assert_null(xc_symtab_at(table, 0));
	assert_null(xc_symtab_named(table, "main"));
	xc_symtab_free(table);
}

/* Every look-up against a scan of all symbols. */
static void look_ups_agree_with_a_scan(void **state)
{
	(void)state;
	struct xc_text text = {0};
	unsigned seed = 12345;
	xc_text_add(&text, "__asm__(\".text\\n");
	for (int i = 0; i < 400; i++) { /* functions that overlap at random */
		seed = seed * 1103515245 + 12345;
		xc_text_printf(&text, ".globl f%d\\n.type f%d,@function\\nf%d: .skip %u\\n.size f%d,%u\\n", i, i, i,
			       seed >> 16 & 7, i, (seed >> 20 & 63) + 1);
	}
	xc_text_add(&text, ".skip 64\\n\");\n");
	struct table t = open_table(build("random.so", "-Wa,--no-warn", text.bytes));
	xc_text_fini(&text);
	uint64_t lo = value_of(&t, "f0"), hi = value_of(&t, "f399") + 64;
	for (uint64_t addr = lo; addr < hi; addr++) {
		const struct xc_symbol *got = xc_symtab_at(t.symbols, addr), *best = NULL;
		for (size_t i = 0; i < xc_symtab_count(t.symbols); i++) {
			const struct xc_symbol *s = xc_symtab_get(t.symbols, i);
			if (s->type == STT_FUNC && addr >= s->value && addr - s->value < s->size &&
			    (!best || s->value > best->value ||
			     (s->value == best->value && strcmp(s->name, best->name) < 0)))
				best = s;
		}
		assert_ptr_equal(got, best);
	}
	close_table(&t);
}

/* Damage to any byte of the tables causes no crash (under ASan), whatever the answers. */
static void damaged_tables_do_no_harm(void **state)
{
	(void)state;
	struct xc_source *source = NULL;
	CHECK_OK(xc_source_open(build("layout.so", "", LAYOUT), NULL, &source));
	char *bytes = malloc(source->size);
	unsigned seed = 4711;
	elf_version(EV_CURRENT);
	for (int round = 0; round < 2000; round++) {
		memcpy(bytes, source->bytes, source->size);
		for (int i = 0; i < 8; i++) {
			seed = seed * 1103515245 + 12345;
			size_t tail = source->size < 6000 ? source->size : 6000; /* tables and section headers */
			bytes[source->size - 1 - (seed >> 8) % tail] = (char)seed;
		}
		Elf *elf = elf_memory(bytes, source->size);
		struct xc_symtab *table = xc_symtab_read(elf, NULL);
		for (size_t i = 0; i < xc_symtab_count(table); i++)
			xc_symtab_at(table, xc_symtab_get(table, i)->value + 1);
		xc_symtab_named(table, "outer");
		xc_symtab_free(table);
		elf_end(elf);
	}
	free(bytes);
	xc_source_close(source);
}

/* A file with only a symbol table: 100,000 symbols with names that are suffixes of one string of a megabyte. */
static struct table overlapping_names(uint8_t **bytes_out)
{
	enum { COUNT = 100000, LENGTH = 1 << 20 };
	static const char names[] = "\0.symtab\0.strtab";
	struct {
		Elf64_Ehdr header;
		Elf64_Shdr sections[3];
	} * file;
	size_t rows_at = sizeof *file, strings_at = rows_at + (COUNT + 1) * sizeof(Elf64_Sym);
	size_t size = strings_at + LENGTH + sizeof names;
	*bytes_out = xc_alloc(size);
	file = (void *)*bytes_out;
	file->header =
		(Elf64_Ehdr){.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_DYN,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_ehsize = sizeof(Elf64_Ehdr),
			     .e_shentsize = sizeof(Elf64_Shdr),
			     .e_shoff = sizeof(Elf64_Ehdr),
			     .e_shnum = 3,
			     .e_shstrndx = 2};
	file->sections[1] = (Elf64_Shdr){.sh_name = 1,
					 .sh_type = SHT_SYMTAB,
					 .sh_link = 2,
					 .sh_offset = rows_at,
					 .sh_size = strings_at - rows_at,
					 .sh_entsize = sizeof(Elf64_Sym),
					 .sh_addralign = 8};
	file->sections[2] = (Elf64_Shdr){.sh_name = 9,
					 .sh_type = SHT_STRTAB,
					 .sh_offset = strings_at,
					 .sh_size = size - strings_at,
					 .sh_addralign = 1};
	memcpy(*bytes_out + strings_at, names, sizeof names);
	memset(*bytes_out + strings_at + sizeof names, 'a', LENGTH - 1);
	for (uint32_t i = 1; i <= COUNT; i++) {
		Elf64_Sym row = {.st_name = (uint32_t)sizeof names + i,
				 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				 .st_shndx = 1,
				 .st_value = i,
				 .st_size = 1};
		memcpy(*bytes_out + rows_at + i * sizeof row, &row, sizeof row);
	}
	struct table t = {.fd = -1, .elf = elf_memory((char *)*bytes_out, size)};
	t.symbols = xc_symtab_read(t.elf, NULL);
	return t;
}

static void names_that_are_the_ends_of_one_long_string_cost_little(void **state)
{
	(void)state;
	uint8_t *bytes;
	struct table t = overlapping_names(&bytes);
	check_effort(10);
	assert_int_equal(xc_symtab_count(t.symbols), 100000);
	assert_null(xc_symtab_named(t.symbols, "aaa"));
	for (size_t i = 0; i < 100000; i++)
		assert_true(strlen(xc_symtab_get(t.symbols, i)->name) < 100);
	check_effort(0);
	xc_symtab_free(t.symbols);
	elf_end(t.elf);
	free(bytes);
}

static void addresses_of_a_process_are_described(void **state)
{
	(void)state;
	static const struct xc_finder finder;
	char buf[64];
	struct xc_module *module = NULL;
	xc_addr addr = 0;
	const char *path = build("cxx.so", "-Wl,--build-id=0xaaaaaaaaaaaaaaaaaaaa",
				 "int _ZN2ns1fEi(int a) { return a + 1; }\nint _ZN2ns20abcdefghijklmnopqrstEi(int a) { "
				 "return a + 2; }\n");
	struct mapped m = map_file(path, path, true);
	xc_finder_module(&finder, m.process, m.module);
	xc_debugfiles_use(m.process, &finder);
	assert_non_null(xc_symbol_find(m.process, "_ZN2ns1fEi", &module, &addr));
	assert_ptr_equal(module, m.module);
	assert_string_equal(xc_symbol_describe(m.process, addr, buf, sizeof buf), "ns::f");
	assert_string_equal(xc_symbol_describe(m.process, addr + 2, buf, sizeof buf), "ns::f+0x2");
	assert_string_equal(xc_symbol_describe(m.process, addr + 2, buf, 4), "ns:");
	assert_non_null(xc_symbol_find(m.process, "_ZN2ns20abcdefghijklmnopqrstEi", NULL, &addr));
	assert_string_equal(xc_symbol_describe(m.process, addr, buf, 25), "ns::abcdefghijklmnopqrst");
	assert_string_equal(xc_symbol_describe(m.process, addr, buf, 24), "ns::abcdefghijklmnop...");
	assert_string_equal(xc_symbol_describe(m.process, addr + 2, buf, 24), "ns::abcdefghijkl...+0x2");
	assert_null(xc_symbol_describe(m.process, 0x10, buf, sizeof buf));
	assert_null(xc_symbol_find(m.process, "nothing", NULL, NULL));
	xc_debugfiles_close(m.process);
	unmap(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_has_the_name_of_the_symbol_that_covers_it),
		cmocka_unit_test(a_label_without_size_reaches_to_the_next_symbol),
		cmocka_unit_test(the_innermost_symbol_wins_and_the_outer_one_goes_on_behind_it),
		cmocka_unit_test(of_aliases_the_global_one_with_fewer_underscores_is_shown),
		cmocka_unit_test(thread_local_symbols_name_no_address),
		cmocka_unit_test(symbols_come_in_address_order),
		cmocka_unit_test(versions_are_cut_off_and_the_default_one_is_found),
		cmocka_unit_test(without_symtab_the_dynamic_symbols_serve),
		cmocka_unit_test(functions_that_are_added_stand_among_the_others),
		cmocka_unit_test(no_file_gives_an_empty_table),
		cmocka_unit_test(look_ups_agree_with_a_scan),
		cmocka_unit_test(damaged_tables_do_no_harm),
		cmocka_unit_test(names_that_are_the_ends_of_one_long_string_cost_little),
		cmocka_unit_test(addresses_of_a_process_are_described),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
