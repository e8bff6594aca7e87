/* layer: triage tier: long */
/* A sanitizer's report, on programs that one stops. AddressSanitizer's map terabytes of shadow memory: corpora/deaths
 * has them. Here its functions are simulated by name, with the report's text in the usual place. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define WORK(body)                                                                                                     \
	"#include <stdlib.h>\nvolatile int zero, seven = 7, most = 2147483647; int table[4];\n"                        \
	"__attribute__((noinline)) int work(int a) { " body " }\nint main(void) { return work(1); }\n"

static void handlers_of_undefined_behaviour_name_the_kind(void **state)
{
	(void)state;
	static const char *const compilers[] = {"gcc -g -O0 -fsanitize=undefined -fno-sanitize-recover=all -x c",
						"clang -g -O1 -fsanitize=undefined -fno-sanitize-recover=all -x c"};
	static const struct {
		const char *source, *kind;
	} cases[] = {
		{WORK("return most + a;"), "add-overflow"},
		{WORK("return a << (seven * 9);"), "shift-out-of-bounds"},
		{WORK("return table[seven];"), "out-of-bounds"},
		{WORK("return a / zero;"), "divrem-overflow"},
	};
	setenv("UBSAN_OPTIONS", "abort_on_error=1:disable_coredump=0:log_path=/dev/null", 1);
	for (size_t i = 0; i < XC_COUNT(cases); i++)
		GRID(c, XC_COUNT(compilers)) {
			const struct wanted want = {
				.class_name = "sanitizer", .kind = cases[i].kind, .function = "work"};
			judged_expect(compilers[c], cases[i].source, false, &want);
		}
}

static void an_abort_beside_a_sanitizer_is_the_programs_own(void **state)
{
	(void)state;
	static const struct wanted want = {.class_name = "abort", .function = "work"};
	judged_expect("gcc -g -O0 -fsanitize=undefined -x c", WORK("abort(); return a;"), false, &want);
}

/* A simulated AddressSanitizer function with a report in its frame, and the program's function that triggered it. */
static char *stopped_by(const char *reporter, const char *text)
{
	return xc_asprintf("extern \"C\" void abort(void); volatile long sink;\n"
			   "%s { volatile char report[400] = \"score: 51 (%s)\"; sink = report[9]; abort(); }\n"
			   "__attribute__((noinline)) int work(char *at) { (REPORT)(at); return at[sink]; }\n"
			   "int main() { return work((char *)0x602000000010); }\n",
			   reporter, text);
}

struct reported {
	const char *call, *reporter, *text;
	struct wanted want;
};

static void expect_report(const struct reported *r)
{
	xc_auto(xc_freep) char *compiler = xc_asprintf("g++ -g -O0 -x c++ -DREPORT=%s", r->call);
	xc_auto(xc_freep) char *source = stopped_by(r->reporter, r->text);
	judged_expect(compiler, source, false, &r->want);
}

#define ACCESS(name)   "__asan_report_" name, "extern \"C\" void __asan_report_" name "(char *)"
#define REPORTER(name) "__asan::" name, "namespace __asan { void " name "(char *); } void __asan::" name "(char *)"
#define SANITIZER(name, said_)                                                                                         \
	{                                                                                                              \
		.class_name = "sanitizer", .kind = name, .function = "work", .says = said_                             \
	}

static void the_report_of_an_access_names_kind_and_size(void **state)
{
	(void)state;
	static const struct reported reports[] = {
		{ACCESS("load8"), "8-byte-read-heap-use-after-free",
		 SANITIZER("heap-use-after-free", "a read of 8 bytes")},
		{ACCESS("store4"), "4-byte-write-stack-buffer-overflow",
		 SANITIZER("stack-buffer-overflow", "a write of 4 bytes")},
		{ACCESS("store1_noabort"), "1-byte-write-dynamic-stack-buffer-overflow",
		 SANITIZER("dynamic-stack-buffer-overflow", "a write of 1 byte")},
		{ACCESS("store_n"), "multi-byte-write-heap-buffer-overflow",
		 SANITIZER("heap-buffer-overflow", "a write")},
		{ACCESS("load2"), "null-deref", SANITIZER("null-deref", "a read of 2 bytes")},
	};
	for (size_t i = 0; i < XC_COUNT(reports); i++)
		expect_report(&reports[i]);
}

static void what_reports_but_one_thing_is_known_by_its_name(void **state)
{
	(void)state;
	static const struct reported reports[] = {
		{REPORTER("ReportDoubleFree"), "", SANITIZER("double-free", NULL)},
		{REPORTER("ReportFreeNotMalloced"), "8-byte-read-heap-use-after-free", SANITIZER("bad-free", NULL)},
		{REPORTER("ReportGenericError"), "8-byte-write-use-after-poison",
		 SANITIZER("use-after-poison", "a write")},
	};
	for (size_t i = 0; i < XC_COUNT(reports); i++)
		expect_report(&reports[i]);
}

static void a_size_that_no_access_has_is_not_told(void **state)
{
	(void)state;
	xc_auto(xc_freep) char *source = stopped_by("extern \"C\" void __asan_report_load4294967297(char *)", "");
	struct judged j = judge("g++ -g -O0 -x c++ -DREPORT=__asan_report_load4294967297", source, false);
	assert_true(judged_says(&j, "it was a read"));
	assert_false(judged_says(&j, "byte"));
	judged_free(&j);
}

static void a_damaged_report_is_not_guessed_at(void **state)
{
	(void)state;
	static const struct reported reports[] = {
		{ACCESS("load8"), "8-byte-read-heap-use-aft", SANITIZER("", "is not known")},
		{ACCESS("load8"), "8-byte-read-heap-use-\\0after-free", SANITIZER("", "is not known")},
		{REPORTER("ReportGenericError"), "", SANITIZER("", "is not known")},
		{ACCESS("loadx"), "4-byte-write-", SANITIZER("", "a read")},
	};
	for (size_t i = 0; i < XC_COUNT(reports); i++)
		expect_report(&reports[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handlers_of_undefined_behaviour_name_the_kind),
		cmocka_unit_test(the_report_of_an_access_names_kind_and_size),
		cmocka_unit_test(what_reports_but_one_thing_is_known_by_its_name),
		cmocka_unit_test(a_size_that_no_access_has_is_not_told),
		cmocka_unit_test(a_damaged_report_is_not_guessed_at),
		cmocka_unit_test(an_abort_beside_a_sanitizer_is_the_programs_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
