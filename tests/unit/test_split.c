/* layer: dwarf */
#include "../../dwarf/split.h"

#include "../../dwarf/debugfile.h"
#include "../../dwarf/debuginfo.h"
#include "../../dwarf/modules_report.h"
#include "../../dwarf/symbol.h"
#include "mapped_fixture.h"

static const char TEXT[] = "int shown(int first) { return first + 1; }\n";
static const char *const FLAGS[] = {"-g -gdwarf-5 -gsplit-dwarf", "-g -gdwarf-4 -gsplit-dwarf"};

static const struct xc_finder finder;

/* a.so, and a.so.dwo, of which `change` (a shell command) makes something else. */
static struct mapped begin(const char *flags, const char *change)
{
	shell("rm -rf a.so*");
	build("a.so", flags, TEXT);
	shell("%s", change);
	struct mapped m = map_file(scratch_path("a.so"), scratch_path("a.so"), true);
	xc_finder_module(&finder, m.process, m.module);
	xc_debugfiles_use(m.process, &finder);
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

/* Is the function known where the symbol `shown` stands, or its line alone? */
static bool knows_function(struct mapped *m)
{
	const struct xc_symtab *symbols = xc_debugfile_symbols(xc_debugfile_of(m->process, m->module));
	const struct xc_symbol *shown = xc_symtab_named(symbols, "shown");
	assert_non_null(shown);
	const struct xc_place *place = xc_debuginfo_place(m->process, m->module->bias + shown->value);
	assert_int_equal(place->level_count, 1);
	return !place->line_only;
}

static void expect_missing(struct mapped *m)
{
	const char *text = why(m);
	if (!text || !strstr(text, "a.so.dwo) is not read"))
		fail_msg("why is \"%s\"", text ? text : "(null)");
	assert_false(knows_function(m));
}

static void units_that_are_whole_miss_nothing(void **state)
{
	(void)state;
	struct mapped m = begin("-g", "true");
	assert_null(why(&m));
	assert_true(knows_function(&m));
	end(&m);
}

/* The same words with and without the file, so that a pack tells what its core told. */
static void split_units_are_told_wherever_their_file_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(FLAGS); i++)
		for (unsigned there = 0; there < 2; there++) {
			struct mapped m = begin(FLAGS[i], there ? "test -f a.so.dwo" : "rm a.so.dwo");
			expect_missing(&m);
			end(&m);
		}
}

/* A module whose debug file is there but not complete is one with a problem. */
static void the_report_of_modules_names_what_is_missing(void **state)
{
	(void)state;
	for (unsigned missing = 0; missing < 2; missing++) {
		struct mapped m = begin(missing ? FLAGS[0] : "-g", "true");
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
	struct mapped m = begin(FLAGS[0], "rm a.so.dwo && mkfifo a.so.dwo"); /* opening it would hang */
	expect_missing(&m);
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_that_are_whole_miss_nothing),
		cmocka_unit_test(split_units_are_told_wherever_their_file_is),
		cmocka_unit_test(the_report_of_modules_names_what_is_missing),
		cmocka_unit_test(what_is_no_regular_file_is_not_opened),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
