/* layer: triage */
/* Programs that end themselves in a signal handler: which signal that ran for is told where it is known. */
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <signal.h>\n#include <stdlib.h>\n#include <sys/time.h>\n#include <unistd.h>\nvolatile int never;\n"
#define MAIN(signal_name) "int main(void) { signal(" signal_name ", on); raise(" signal_name "); return never; }\n"

static const char plain[] = "gcc -g -O0 -x c", optimised[] = "gcc -g -O2 -x c";

static void expect(const char *compiler, const char *source, const char *class_name, const char *says)
{
	judged_expect(compiler, source, false,
		      &(struct wanted){.class_name = class_name, .says = says, .without = "asked for a core"});
}

static void the_handlers_argument_is_its_signal(void **state)
{
	(void)state;
	static const char aborts[] = HEAD "static void on(int s) { if (!never) abort(); }\n" MAIN("SIGALRM");
	static const char quits[] = HEAD "static void on(int s) { raise(SIGQUIT); }\n" MAIN("SIGALRM");
	expect(plain, aborts, "abort", "it did so in its handler of SIGALRM: from where that came is not known");
	expect(plain, quits, "dump-request",
	       "the program sent itself SIGQUIT in its handler of SIGALRM: from where that came is not known");
}

/* The first one may be anybody's. */
static void a_signal_that_its_handler_sends_again_is_not_the_programs_wish(void **state)
{
	(void)state;
	static const char quits[] =
		HEAD "static void on(int s) { sigset_t m; sigemptyset(&m); sigaddset(&m, s); signal(s, SIG_DFL);\n"
		     " sigprocmask(SIG_UNBLOCK, &m, 0); raise(s); _exit(9); }\n" MAIN("SIGQUIT");
	static const char aborts[] =
		HEAD "static void on(int s) { signal(s, SIG_DFL); raise(s); for (;;) never++; }\n"
		     "int main(void) { struct sigaction a = {.sa_handler = on, .sa_flags = SA_NODEFER};\n"
		     " sigaction(SIGABRT, &a, 0); raise(SIGABRT); return never; }\n";
	const char *const compilers[] = {plain, optimised};
	for (size_t i = 0; i < XC_COUNT(compilers); i++)
		expect(compilers[i], quits, "dump-request",
		       "the program sent itself SIGQUIT in its handler of SIGQUIT: where the first one came from is "
		       "not known");
	expect(plain, aborts, "abort",
	       "it did so in its handler of SIGABRT: where the first one came from is not known");
}

static void what_the_kernel_sent_is_in_the_siginfo(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "static void on(int s, siginfo_t *i, void *c) { if (!never) abort(); }\n"
		     "int main(void) { struct sigaction a = {.sa_sigaction = on, .sa_flags = SA_SIGINFO};\n"
		     " sigaction(SIGALRM, &a, 0); struct itimerval t = {.it_value = {.tv_usec = 1000}};\n"
		     " setitimer(ITIMER_REAL, &t, 0); for (;;) pause(); }\n";
	expect(plain, source, "abort", "it did so in its handler of SIGALRM, which the kernel had sent");
	expect(optimised, source, "abort", "it did so in its handler of SIGALRM, which the kernel had sent");
}

static void a_number_that_is_kept_nowhere_is_not_known(void **state)
{
	(void)state;
	static const char aborts[] = HEAD "static void on(int s) { if (!never) abort(); }\n" MAIN("SIGALRM");
	static const char quits[] = HEAD "static void on(int s) { raise(SIGQUIT); never++; }\n" MAIN("SIGALRM");
	expect(optimised, aborts, "abort",
	       "it did so in a signal handler: which signal came first, and from where, is not known");
	expect("gcc -O0 -x c", quits, "dump-request",
	       "the program sent itself SIGQUIT in a signal handler: which signal came first, and from where, is not "
	       "known");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_handlers_argument_is_its_signal),
		cmocka_unit_test(a_signal_that_its_handler_sends_again_is_not_the_programs_wish),
		cmocka_unit_test(what_the_kernel_sent_is_in_the_siginfo),
		cmocka_unit_test(a_number_that_is_kept_nowhere_is_not_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
