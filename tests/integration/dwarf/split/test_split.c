/* layer: dwarf tier: long */
#include "dwarf/split/split.h"

#include <dwarf.h>

#include "dwarf/module/debugfile.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/module/die.h"
#include "dwarf/report/modules_report.h"
#include "dwarf/scan/raw.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/types/type.h"
#include "tests/support/grid.h"
#include "tests/support/mapped_fixture.h"

static const char TEXT[] =
	"struct pair;\n"
	"#ifdef __cplusplus\n"
	"extern \"C\"\n"
	"#endif\n"
	"int shown(struct pair *first);\n"
	"struct pair { int first; long second; };\n"
	"static inline __attribute__((always_inline)) int inner(struct pair *p) { return p->first; }\n"
	"int shown(struct pair *first) { struct pair copy = *first; return inner(&copy) + 1; }\n";

/* Compiler, flags, and the tool that makes a .dwp of the result. */
static const struct way {
	const char *cc, *flags, *package;
} WAYS[] = {
	{"gcc", "-gdwarf-5 -gsplit-dwarf", "timeout 20 llvm-dwp"},
	{"gcc", "-gdwarf-4 -gsplit-dwarf", "dwp"},
	{"gcc", "-gdwarf-5 -gsplit-dwarf -fdebug-types-section", "timeout 20 llvm-dwp"},
	{"gcc", "-gdwarf-4 -gsplit-dwarf -fdebug-types-section", "dwp"},
	{"clang", "-gdwarf-5 -gsplit-dwarf", "timeout 20 llvm-dwp"},
	{"clang", "-gdwarf-4 -gsplit-dwarf", "dwp"},
	{"clang", "-x c++ -gdwarf-5 -gsplit-dwarf -fdebug-types-section", "timeout 20 llvm-dwp"},
	{"gcc", "-gdwarf-5 -gsplit-dwarf -gz=zlib", NULL},
};

static const struct xc_finder nowhere;

/* Build results are kept, and copied the next time. */
static void make_way(const struct way *way)
{
	static const struct way *made[16];
	size_t i = 0;
	while (i < XC_COUNT(made) && made[i] && made[i] != way)
		i++;
	assert_true(i < XC_COUNT(made));
	if (made[i]) {
		shell("cp -p made-%zu/* .", i);
		return;
	}
	scratch_file("a.c", TEXT, strlen(TEXT));
	shell("%s -O1 -fPIC %s -c -o a.o a.c && %s -shared -nostdlib -Wl,--build-id -o a.so a.o", way->cc, way->flags,
	      way->cc);
	shell("mkdir made-%zu && cp -p a.* made-%zu", i, i);
	made[i] = way;
}

/* a.so, and a.dwo after `change` (a shell command) has modified it. */
static struct mapped begin(const struct way *way, const struct xc_finder *finder, const char *change)
{
	shell("rm -rf a.* c.* elsewhere");
	make_way(way);
	shell("%s", change);
	struct mapped m = map_file(scratch_path("a.so"), scratch_path("a.so"), true);
	xc_finder_module(finder, m.process, m.module);
	xc_debugfiles_use(m.process, finder);
	return m;
}

static void end(struct mapped *m)
{
	xc_debuginfo_close(m->process);
	xc_debugfiles_close(m->process);
	unmap(m);
}

static const char *why(struct mapped *m)
{
	struct xc_debugfile *df = xc_debugfile_of(m->process, m->module);
	assert_non_null(xc_debugfile_dwarf(df));
	return xc_debugfile_why(df);
}

/* The place at the start of `shown`. */
static const struct xc_place *place_of(struct mapped *m)
{
	const struct xc_symtab *symbols = xc_debugfile_symbols(xc_debugfile_of(m->process, m->module));
	const struct xc_symbol *shown = xc_symtab_named(symbols, "shown");
	assert_non_null(shown);
	const struct xc_place *place = xc_debuginfo_place(m->process, m->module->bias + shown->value);
	assert_true(place->level_count > 0);
	assert_non_null(place->levels[0].file);
	assert_string_equal(strrchr(place->levels[0].file, '/'), "/a.c"); /* the skeleton's line table */
	assert_in_range(place->levels[0].line, 7, 8);                     /* inner has one, if it starts there */
	return place;
}

/* Everything is known: the function, its parameter's type and members. */
static void expect_whole(struct mapped *m)
{
	Dwarf_Die parameter;
	size_t count;
	const char *text = why(m);
	if (text)
		fail_msg("why is \"%s\"", text);
	const struct xc_place *place = place_of(m);
	assert_false(place->line_only);
	const struct xc_level *outer = &place->levels[place->level_count - 1];
	assert_string_equal(outer->function, "shown");
	Dwarf_Die function = outer->die;
	assert_true(xc_die_child(&function, &parameter));
	assert_string_equal(dwarf_diename(&parameter), "first");
	const struct xc_type *type = xc_type_of(xc_types_of(m->process), &parameter);
	assert_non_null(strstr(xc_type_name(type), "pair *"));
	const struct xc_type *pair = xc_type_strip(type->target);
	const struct xc_member *members = xc_type_members(xc_type_complete(pair), &count);
	assert_int_equal(count, 2);
	assert_string_equal(members[1].name, "second");
	assert_int_equal(members[1].offset, 8);
}

static void expect_missing(struct mapped *m, const char *words)
{
	const char *text = why(m);
	if (!text || !strstr(text, words))
		fail_msg("why is \"%s\", not \"%s\"", text ? text : "(null)", words);
	assert_true(place_of(m)->line_only);
}

static void units_that_are_whole_miss_nothing(void **state)
{
	(void)state;
	static const struct way whole = {"gcc", "-g", NULL};
	struct mapped m = begin(&whole, &nowhere, "true");
	expect_whole(&m);
	end(&m);
}

static void split_units_are_read_from_their_dwo(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(WAYS); i++) {
		struct mapped m = begin(&WAYS[i], &nowhere, "test -f a.dwo");
		expect_whole(&m);
		end(&m);
	}
}

static void units_of_an_object_file_are_read_from_it(void **state)
{
	(void)state;
	static const struct way single[] = {{"clang", "-gdwarf-5 -gsplit-dwarf=single", NULL},
					    {"clang", "-gdwarf-4 -gsplit-dwarf=single", NULL}};
	for (size_t i = 0; i < XC_COUNT(single); i++) {
		struct mapped m = begin(&single[i], &nowhere, "test ! -e a.dwo");
		expect_whole(&m);
		end(&m);
		m = begin(&single[i], &nowhere, "rm a.o");
		expect_missing(&m, "(a.o) was not found");
		end(&m);
	}
}

static void split_units_are_read_from_a_package(void **state)
{
	(void)state;
	check_needs("llvm-dwp");
	char command[256];
	for (size_t i = 0; i < XC_COUNT(WAYS); i++) {
		if (!WAYS[i].package)
			continue;
		snprintf(command, sizeof command, "%s -e a.so -o a.so.dwp && rm a.dwo", WAYS[i].package);
		struct mapped m = begin(&WAYS[i], &nowhere, command);
		expect_whole(&m);
		end(&m);
	}
}

/* Another unit in the package does not hide the .dwo that has ours. */
static void a_package_of_others_does_not_stand_in_the_way(void **state)
{
	(void)state;
	check_needs("llvm-dwp");
	struct mapped m =
		begin(&WAYS[0], &nowhere,
		      "echo 'int other(int x) { return x; }' >c.c && gcc -g -gdwarf-5 -gsplit-dwarf -c -o c.o c.c && "
		      "gcc -shared -nostdlib -o c.so c.o && timeout 20 llvm-dwp -e c.so -o a.so.dwp");
	expect_whole(&m);
	end(&m);
}

static void what_was_moved_is_found_by_debug_dir(void **state)
{
	(void)state;
	check_needs("llvm-dwp");
	static const char *const moves[] = {
		"mkdir elsewhere && mv a.dwo elsewhere", "mkdir -p \"elsewhere/$PWD\" && mv a.dwo \"elsewhere/$PWD\"",
		"mkdir elsewhere && timeout 20 llvm-dwp -e a.so -o elsewhere/a.so.dwp && rm a.dwo"};
	const char *dirs[] = {scratch_path("elsewhere")};
	const struct xc_finder with = {.debug_dirs = dirs, .debug_dir_count = 1};
	for (size_t i = 0; i < XC_COUNT(moves); i++) {
		struct mapped m = begin(&WAYS[0], &with, moves[i]);
		expect_whole(&m);
		end(&m);
		m = begin(&WAYS[0], &nowhere, moves[i]);
		expect_missing(&m, "(a.dwo) was not found: ");
		end(&m);
	}
}

static void a_missing_dwo_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(WAYS); i++) {
		struct mapped m = begin(&WAYS[i], &nowhere, "rm a.dwo");
		expect_missing(&m, "(a.dwo) was not found: ");
		end(&m);
	}
}

/* The name matches, the id does not. */
static void a_dwo_of_another_build_is_not_used(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char command[256];
		snprintf(command, sizeof command,
			 "(echo 'int before;'; cat a.c) >c.c && %s -O1 %s -c -o c.o c.c && mv c.dwo a.dwo", WAYS[i].cc,
			 WAYS[i].flags);
		struct mapped m = begin(&WAYS[i], &nowhere, command);
		expect_missing(&m, "is of another build");
		end(&m);
	}
}

/* ---- an index's view ---- */

struct listed {
	size_t units, types;
	bool found;
	uint64_t skeleton, signature, first;
};

static bool list(void *context, const struct xc_split_part *part)
{
	struct listed *l = context;
	struct xc_raw_unit unit;
	assert_true(xc_raw_unit_at(part->info, part->types, &unit));
	assert_int_equal(unit.size, xc_cursor_left(&part->info));
	assert_true(xc_cursor_left(&part->abbrev) > 0 && xc_cursor_left(&part->str) > 0);
	l->units += part->signature == 0;
	l->types += part->signature != 0;
	l->skeleton = part->skeleton;
	l->signature = part->signature;
	l->first = unit.first;
	return true;
}

static bool list_any(void *context, const struct xc_split_part *part)
{
	struct listed *l = context;
	l->units += xc_cursor_left(&part->info) > 0;
	return true;
}

static void an_index_is_shown_every_unit_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(WAYS); i++)
		for (unsigned packed = 0; packed < 2; packed++) {
			char command[256];
			size_t missing = 1;
			struct listed l = {0};
			Dwarf_Die die;
			if (packed && !WAYS[i].package)
				continue;
			snprintf(command, sizeof command, "%s -e a.so -o a.so.dwp && rm a.dwo", WAYS[i].package);
			struct mapped m = begin(&WAYS[i], &nowhere, packed ? command : "true");
			assert_null(why(&m));
			struct xc_split *split = xc_debugfile_split(xc_debugfile_of(m.process, m.module));
			xc_split_each(split, list, &l, &missing);
			assert_int_equal(missing, 0);
			assert_int_equal(l.units, 1);
			assert_int_equal(l.types, strstr(WAYS[i].flags, "types-section") != NULL);
			assert_true(xc_split_die(split, l.skeleton, l.signature, l.first, &die));
			assert_int_equal(dwarf_tag(&die), l.signature ? DW_TAG_type_unit : DW_TAG_compile_unit);
			end(&m);
		}
}

static void an_index_is_told_how_many_are_missing(void **state)
{
	(void)state;
	struct mapped m = begin(&WAYS[0], &nowhere, "rm a.dwo");
	size_t missing = 0;
	struct listed l = {0};
	assert_non_null(why(&m));
	xc_split_each(xc_debugfile_split(xc_debugfile_of(m.process, m.module)), list, &l, &missing);
	assert_int_equal(missing, 1);
	assert_int_equal(l.units, 0);
	end(&m);
}

/* A module with an incomplete debug file has a problem. */
static void the_report_of_modules_names_what_is_missing(void **state)
{
	(void)state;
	for (unsigned missing = 0; missing < 2; missing++) {
		struct mapped m = begin(&WAYS[0], &nowhere, missing ? "rm a.dwo" : "true");
		struct xc_report *report = xc_report_new("modules");
		m.module->identity = XC_VERIFIED;
		xc_modules_report_problems(report, m.process);
		size_t problems = 0;
		for (const struct xc_item *item = report->sections->items; item; item = item->next)
			problems += item->kind == XC_ITEM_TABLE;
		assert_int_equal(problems, missing);
		xc_report_free(report);
		end(&m);
	}
}

static void what_is_no_regular_file_is_not_opened(void **state)
{
	(void)state;
	struct mapped m = begin(&WAYS[0], &nowhere, "rm a.dwo && mkfifo a.dwo"); /* an open would hang */
	expect_missing(&m, "(a.dwo) was not found: ");
	end(&m);
}

/* ---- damage ---- */

/* Every byte of a small .dwo or .dwp in turn, set to another value: no crash, no hang, and lines are unaffected. */
static void damage_each(const char *name, const char *restore, const struct way *way, size_t step)
{
	struct xc_source *file = NULL;
	struct mapped m = begin(way, &nowhere, restore);
	end(&m);
	CHECK_OK(xc_source_open(scratch_path(name), NULL, &file));
	for (size_t at = 64; at < file->size; at += step) {
		uint8_t *bytes = xc_alloc(file->size);
		memcpy(bytes, file->bytes, file->size);
		bytes[at] = (uint8_t)(bytes[at] + (at % 3 ? 0x80 : 1));
		scratch_file(name, bytes, file->size);
		free(bytes);
		m = map_file(scratch_path("a.so"), scratch_path("a.so"), true);
		xc_finder_module(&nowhere, m.process, m.module);
		xc_debugfiles_use(m.process, &nowhere);
		const struct xc_place *place = place_of(&m);
		Dwarf_Die child = place->levels[0].die;
		struct listed l = {0};
		size_t missing;
		if (!place->line_only && xc_die_child(&child, &child))
			xc_type_of(xc_types_of(m.process), &child);
		xc_split_each(xc_debugfile_split(xc_debugfile_of(m.process, m.module)), list_any, &l, &missing);
		end(&m);
	}
	xc_source_close(file);
}

static void damaged_files_do_no_harm(void **state)
{
	(void)state;
	check_needs("llvm-dwp");
	const size_t step = grid_count(53, 17);
	damage_each("a.dwo", "true", &WAYS[3], step);
	damage_each("a.dwo", "true", &WAYS[4], step);
	damage_each("a.so.dwp", "timeout 20 llvm-dwp -e a.so -o a.so.dwp && rm a.dwo", &WAYS[2], step);
	damage_each("a.so.dwp", "dwp -e a.so -o a.so.dwp && rm a.dwo", &WAYS[3], step);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_that_are_whole_miss_nothing),
		cmocka_unit_test(split_units_are_read_from_their_dwo),
		cmocka_unit_test(units_of_an_object_file_are_read_from_it),
		cmocka_unit_test(split_units_are_read_from_a_package),
		cmocka_unit_test(a_package_of_others_does_not_stand_in_the_way),
		cmocka_unit_test(what_was_moved_is_found_by_debug_dir),
		cmocka_unit_test(a_missing_dwo_is_told),
		cmocka_unit_test(a_dwo_of_another_build_is_not_used),
		cmocka_unit_test(an_index_is_shown_every_unit_once),
		cmocka_unit_test(an_index_is_told_how_many_are_missing),
		cmocka_unit_test(the_report_of_modules_names_what_is_missing),
		cmocka_unit_test(what_is_no_regular_file_is_not_opened),
		cmocka_unit_test(damaged_files_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
