/* layer: triage tier: long */
/* The verdict on programs that die while the test runs: class, place, last words. */
#include "tests/support/many_deaths.h"
#include "tests/support/opened.h"

#include "core/report/report.h"
#include "triage/cause.h"

struct verdict {
	struct xc_process *process;
	struct xc_report *report;
};

static struct verdict judge_of(const char *compiler, const char *source, const char *argument)
{
	struct verdict v = {.process = died_of(compiler, source, argument), .report = xc_report_new("analyze")};
	xc_cause(v.report, v.process, NULL);
	return v;
}

static struct verdict judge(const char *compiler, const char *source)
{
	return judge_of(compiler, source, NULL);
}

static void done(struct verdict *v)
{
	xc_report_free(v->report);
	close_process(v->process);
}

static bool has_evidence(const struct verdict *v, const char *part)
{
	for (size_t i = 0; i < v->report->verdict->evidence_count; i++)
		if (strstr(v->report->verdict->evidence[i], part))
			return true;
	return false;
}

/* "heap-corruption (double free)" */
static const char *class_of(const struct xc_verdict *verdict)
{
	static char text[100];
	snprintf(text, sizeof text, verdict->kind ? "%s (%s)" : "%s", verdict->class_name, verdict->kind);
	return text;
}

#define HEAD                                                                                                           \
	"#include <assert.h>\n#include <signal.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"    \
	"#include <sys/mman.h>\n#include <sys/resource.h>\nvolatile int zero; char *volatile p; void (*volatile "      \
	"f)(void);\n"
#define WORK(body)                                                                                                     \
	HEAD "__attribute__((noinline)) int work(int a) {\n" body                                                      \
	     " return a + zero; }\nint main(void) { return work(1) + 1; }\n"

static const struct {
	const char *body, *class_name;
} cases[] = {
	{"*(volatile int *)p = 1;", "null-write"},
	{"zero = p[24];", "null-read"},
	{"f();", "call-null"},
	{"f = (void (*)(void))0x123456789000; f();", "pc-control (call)"},
	{"static char data[64]; f = (void (*)(void))data; f();", "exec-data (call)"},
	{"*(volatile int *)0x123456789000 = 1;", "wild-write"},
	{"zero = *(volatile int *)0x123456789000;", "wild-read"},
	{"*(volatile char *)0x8000000000000000 = 1;", "wild-write"},
	{"*(volatile char *)(char *)\"constant\" = 1;", "write-rodata"},
	{"zero = a / zero;", "div-by-zero"},
	{"__builtin_trap();", "trap-instruction"},
	{"__asm__ volatile(\".byte 0x06\");", "bad-instruction"},
	{"__asm__ volatile(\"int3\");", "trap-instruction"},
	{"abort();", "abort"},
	{"assert(a == 2);", "assertion"},
	{"p = malloc(40); free(p); free(p);", "heap-corruption (double free)"},
	{"p = malloc(40); free(p + 16);", "heap-corruption (bad pointer)"},
	{"char b[8]; p = b; memset(p, 'x', 64);", "stack-smash"},
	{"kill(getpid(), SIGQUIT);", "dump-request"},
	{"zero = strlen(p);", "null-read"},
	{"struct rlimit l = {262144, 262144}; setrlimit(RLIMIT_STACK, &l); return a ? work(a + 1, what) + 1 : 0;",
	 "stack-overflow (recursion)"},
};

/* All of them are one program. */
static struct verdict death(const char *compiler, size_t number)
{
	struct xc_text source = {0};
	many_deaths_begin(&source, HEAD);
	for (size_t i = 0; i < XC_COUNT(cases); i++)
		many_deaths_add(&source, i, cases[i].body);
	many_deaths_end(&source);
	struct verdict v = judge_of(compiler, xc_text_string(&source), many_deaths_number(number));
	xc_text_fini(&source);
	return v;
}

static void expect_death(const char *compiler, size_t number)
{
	struct verdict v = death(compiler, number);
	const struct xc_verdict *got = v.report->verdict;
	assert_non_null(got);
	if (strcmp(class_of(got), cases[number].class_name) != 0 || !got->function ||
	    strcmp(got->function, "work") != 0)
		fail_msg("%s in %s instead of %s: %s", class_of(got), got->function ? got->function : "?",
			 cases[number].class_name, got->headline);
	assert_int_equal(got->tid, v.process->threads[0].tid);
	done(&v);
}

static void every_death_has_its_class_and_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++)
		expect_death("gcc -g -O0 -fstack-protector-all -x c", i);
}

static void the_line_is_of_the_programs_own_function(void **state)
{
	(void)state;
	struct verdict v = judge("gcc -g -O0 -x c", WORK("\n\n zero = (int)strlen(p);"));
	assert_int_equal(v.report->verdict->line, 12);
	assert_string_equal(v.report->verdict->module, "program");
	assert_true(has_evidence(&v, "libc.so.6"));
	done(&v);
}

static void last_words_are_kept_without_their_newline(void **state)
{
	(void)state;
	struct verdict v = judge("gcc -g -O0 -x c", WORK("assert(a == 2);"));
	assert_non_null(v.report->verdict->message);
	assert_non_null(strstr(v.report->verdict->message, "Assertion `a == 2' failed."));
	assert_null(strchr(v.report->verdict->message, '\n'));
	done(&v);
}

/* The C library's functions are known by name there. */
static void static_programs_are_judged_alike(void **state)
{
	static const char *const own[] = {"abort", "assertion", "heap-corruption (double free)"};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(own); i++) {
		size_t number = 0;
		while (strcmp(cases[number].class_name, own[i]) != 0)
			number++;
		expect_death("gcc -g -O0 -fstack-protector-all -static -x c", number);
	}
}

static void an_exception_that_nothing_caught_is_told(void **state)
{
	(void)state;
	struct verdict v = judge("g++ -g -O0 -x c++", "int main() { throw 7; }\n");
	assert_string_equal(v.report->verdict->class_name, "uncaught-exception");
	assert_string_equal(v.report->verdict->function, "main");
	done(&v);
}

static void a_crash_in_the_handler_of_a_sent_signal_is_no_division(void **state)
{
	(void)state;
	struct verdict v =
		judge("gcc -g -O0 -x c", HEAD "static void on(int s) { *(volatile int *)0x18 = s; }\n"
					      "int main(void) { signal(SIGUSR1, on); raise(SIGUSR1); return 0; }\n");
	assert_string_equal(v.report->verdict->class_name, "null-write");
	assert_string_equal(v.report->verdict->function, "on");
	done(&v);
}

static void a_fault_that_its_handler_raised_again_is_not_somebodys_kill(void **state)
{
	(void)state;
	struct verdict v = judge("gcc -g -O0 -x c",
				 HEAD "__attribute__((noinline)) void work(void) { *(volatile int *)0x18 = 1; }\n"
				      "static void on(int s) { signal(s, SIG_DFL); raise(s); }\n"
				      "int main(void) { signal(SIGSEGV, on); work(); return 0; }\n");
	assert_string_equal(v.report->verdict->class_name, "null-write");
	assert_string_equal(v.report->verdict->function, "work");
	done(&v);
}

static void a_live_process_gets_no_verdict(void **state)
{
	(void)state;
	struct xc_process *p = xc_process_new("pid:1", true);
	struct xc_report *r = xc_report_new("analyze");
	xc_cause(r, p, NULL);
	assert_null(r->verdict);
	xc_report_free(r);
	close_process(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_death_has_its_class_and_place),
		cmocka_unit_test(the_line_is_of_the_programs_own_function),
		cmocka_unit_test(last_words_are_kept_without_their_newline),
		cmocka_unit_test(static_programs_are_judged_alike),
		cmocka_unit_test(an_exception_that_nothing_caught_is_told),
		cmocka_unit_test(a_crash_in_the_handler_of_a_sent_signal_is_no_division),
		cmocka_unit_test(a_fault_that_its_handler_raised_again_is_not_somebodys_kill),
		cmocka_unit_test(a_live_process_gets_no_verdict),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
