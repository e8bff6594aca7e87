/* layer: triage */
/* The function to look at first: never a library function, even if its code is in the program itself. */
#include "tests/support/grid.h"
#include "tests/support/opened.h"

#include "core/report/report.h"
#include "triage/cause.h"

static void expect(const char *compiler, const char *source, const char *function, unsigned line)
{
	struct xc_process *process = died(compiler, source);
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, process, NULL);
	assert_string_equal(report->verdict->function, function);
	assert_int_equal(report->verdict->line, line);
	xc_report_free(report);
	close_process(process);
}

static void a_template_of_the_library_passes_the_blame_on(void **state)
{
	(void)state;
	static const char at[] = "#include <vector>\nstd::vector<int> v(3); volatile int i = 9;\n"
				 "__attribute__((noinline)) int work() {\n return v.at((unsigned)i) + 1; }\n"
				 "int main() { return work() + 1; }";
	static const char *const compilers[] = {"g++ -g -O0 -x c++", "clang++ -g -O2 -x c++", "g++ -g -O2 -x c++"};
	GRID(i, XC_COUNT(compilers))
		expect(compilers[i], at, "work", 4);
}

static void an_inlined_member_of_the_library_passes_the_blame_on(void **state)
{
	(void)state;
	static const char size[] =
		"#include <vector>\nstruct cart { long id; std::vector<int> items; };\n"
		"__attribute__((noinline)) unsigned long work(cart *c) {\n return c->items.size() + 1; }\n"
		"cart *volatile none; int main() { return (int)work(none) + 1; }";
	GRID(i, 2)
		expect(i ? "clang++ -g -O2 -x c++" : "g++ -g -O0 -x c++", size, "work", 4);
}

static void a_checked_function_of_a_header_passes_the_blame_on(void **state)
{
	(void)state;
	static const char copy[] =
		"#include <string.h>\nchar to[8]; const char *volatile from; volatile unsigned long n = 40;\n"
		"__attribute__((noinline)) int work(void) {\n memcpy(to, \"0123456789abcdef0123456789abcdef\", n);\n"
		" return to[3]; }\nint main(void) { return work() + 1; }";
	expect("gcc -g -O2 -D_FORTIFY_SOURCE=2 -x c", copy, "work", 4);
}

/* "name_of" is not "std::", even if the line of a function inlined into it is in a header. */
static void a_function_of_the_programs_own_keeps_it(void **state)
{
	(void)state;
	static const char own[] =
		"#include <string>\n__attribute__((noinline)) unsigned long name_of(std::string *s) {\n"
		" return s->size() + 1; }\n"
		"std::string *volatile none; int main() { return (int)name_of(none) + 1; }";
	struct xc_process *process = died("g++ -g -O2 -x c++", own);
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, process, NULL);
	assert_non_null(strstr(report->verdict->function, "name_of"));
	xc_report_free(report);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_template_of_the_library_passes_the_blame_on),
		cmocka_unit_test(an_inlined_member_of_the_library_passes_the_blame_on),
		cmocka_unit_test(a_checked_function_of_a_header_passes_the_blame_on),
		cmocka_unit_test(a_function_of_the_programs_own_keeps_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
