/* layer: triage */
/* The fatal event of programs that crash while the test runs, also after signal handlers that they install. */
#include <signal.h>
#include <unistd.h>

#include "tests/support/opened.h"

#include "triage/crash/fault.h"

struct found {
	struct xc_process *process;
	struct xc_unwinder *unwinder;
	struct xc_fault fault;
};

static struct found fault_of(const char *source)
{
	struct found f = {.process = died("gcc -g -O0 -x c", source)};
	f.unwinder = xc_unwinder_new(f.process);
	assert_true(xc_fault_find(f.process, f.unwinder, &f.fault));
	return f;
}

static void done(struct found *f)
{
	xc_unwinder_free(f->unwinder);
	close_process(f->process);
}

#define HEAD                                                                                                           \
	"#include <signal.h>\n#include <stdlib.h>\n#include <sys/mman.h>\n#include <unistd.h>\n#include <fcntl.h>\n"   \
	"volatile int zero;\n"
#define MAIN(body) HEAD "int main(void) { " body " return 0; }\n"

static void a_plain_fault_is_what_the_notes_say(void **state)
{
	(void)state;
	struct found f = fault_of(MAIN("*(volatile int *)0x18 = 1;"));
	assert_int_equal(f.fault.signal, SIGSEGV);
	assert_int_equal(f.fault.code, SEGV_MAPERR);
	assert_true(f.fault.addr_known && f.fault.frame_known);
	assert_int_equal(f.fault.addr, 0x18);
	assert_false(f.fault.in_handler);
	assert_false(f.fault.sent);
	assert_string_equal(function_of(f.process, &f.fault.frame), "main");
	done(&f);
}

static void a_signal_that_was_sent_is_no_fault(void **state)
{
	(void)state;
	struct found f = fault_of(MAIN("abort();"));
	assert_int_equal(f.fault.signal, SIGABRT);
	assert_true(f.fault.sent);
	assert_false(f.fault.addr_known);
	done(&f);
}

static void expect_through(const char *source, int signal, int code, enum xc_access access, int outer)
{
	struct found f = fault_of(source);
	assert_true(f.fault.in_handler);
	assert_int_equal(f.fault.signal, signal);
	if (code)
		assert_int_equal(f.fault.code, code);
	assert_int_equal(f.fault.access, access);
	assert_int_equal(f.fault.outer_signal, outer);
	assert_false(f.fault.sent);
	assert_string_equal(function_of(f.process, &f.fault.frame), "work");
	done(&f);
}

#define HANDLED(work, signal)                                                                                          \
	HEAD "void work(void) { " work " }\nstatic void on(int s) { abort(); }\n"                                      \
	     "int main(void) { signal(" signal ", on); work(); return 0; }\n"

static void the_fault_is_seen_through_a_handler_that_aborts(void **state)
{
	(void)state;
	expect_through(HANDLED("*(volatile int *)0x18 = 1;", "SIGSEGV"), SIGSEGV, SEGV_MAPERR, XC_ACCESS_WRITE,
		       SIGABRT);
	expect_through(HANDLED("zero = *(volatile int *)0x18;", "SIGSEGV"), SIGSEGV, SEGV_MAPERR, XC_ACCESS_READ,
		       SIGABRT);
	expect_through(HANDLED("zero = 7 / zero;", "SIGFPE"), SIGFPE, FPE_INTDIV, XC_ACCESS_UNKNOWN, SIGABRT);
	expect_through(HANDLED("zero = (int)(7u / (unsigned)zero);", "SIGFPE"), SIGFPE, FPE_INTDIV, XC_ACCESS_UNKNOWN,
		       SIGABRT);
	expect_through(HANDLED("__asm__ volatile(\"ud2\");", "SIGILL"), SIGILL, 0, XC_ACCESS_UNKNOWN, SIGABRT);
	struct found f = fault_of(HANDLED("*(volatile char *)0x8000000000000000 = 1;", "SIGSEGV"));
	assert_int_equal(f.fault.code, SI_KERNEL);
	assert_string_equal(function_of(f.process, &f.fault.frame), "work");
	done(&f);
}

/* The frame interrupted by a handler may be at an address without code. */
static void calls_to_nowhere_are_seen_through_a_handler(void **state)
{
	(void)state;
	static const char *const targets[] = {"0", "0x123456789000"};
	for (size_t i = 0; i < XC_COUNT(targets); i++) {
		char source[1000];
		snprintf(source, sizeof source,
			 HEAD "void (*volatile f)(void) = (void (*)(void))%s; static void on(int s) { abort(); }\n"
			      "int main(void) { signal(SIGSEGV, on); f(); return 0; }\n",
			 targets[i]);
		struct found f = fault_of(source);
		assert_true(f.fault.in_handler);
		assert_int_equal(f.fault.signal, SIGSEGV);
		assert_int_equal(f.fault.access, XC_ACCESS_EXECUTE);
		assert_int_equal(f.fault.frame.pc, strtoull(targets[i], NULL, 16));
		const char *stop;
		assert_true(xc_unwind_step(f.unwinder, &f.fault.frame, &f.fault.frame, &stop));
		assert_string_equal(function_of(f.process, &f.fault.frame), "main");
		done(&f);
	}
}

static void the_handler_may_raise_the_signal_again(void **state)
{
	(void)state;
	expect_through(HEAD "void work(void) { *(volatile int *)0x18 = 1; }\n"
			    "static void on(int s) { signal(s, SIG_DFL); raise(s); }\n"
			    "int main(void) { struct sigaction a = {.sa_handler = on, .sa_flags = SA_NODEFER};\n"
			    " sigaction(SIGSEGV, &a, 0); work(); return 0; }\n",
		       SIGSEGV, SEGV_MAPERR, XC_ACCESS_WRITE, SIGSEGV);
}

#define BUS                                                                                                            \
	"int fd = open(\"/proc/self/exe\", O_RDONLY); char *p = mmap(0, 1 << 20, PROT_READ, MAP_PRIVATE, fd, 0);"      \
	" zero = p[(1 << 20) - 1];"

static void a_page_past_the_end_of_a_file_stays_a_bus_error(void **state)
{
	(void)state;
	expect_through(HEAD "void work(void) { " BUS " }\nstatic void on(int s, siginfo_t *i, void *c) { abort(); }\n"
			    "int main(void) { struct sigaction a = {.sa_sigaction = on, .sa_flags = SA_SIGINFO};\n"
			    " sigaction(SIGBUS, &a, 0); work(); return 0; }\n",
		       SIGBUS, BUS_ADRERR, XC_ACCESS_READ, SIGABRT);
	expect_through(HEAD "void work(void) { " BUS " }\nstatic void on(int s) { signal(s, SIG_DFL); raise(s); }\n"
			    "int main(void) { struct sigaction a = {.sa_handler = on, .sa_flags = SA_NODEFER};\n"
			    " sigaction(SIGBUS, &a, 0); work(); return 0; }\n",
		       SIGBUS, 0, XC_ACCESS_READ, SIGBUS);
}

/* The signal is blocked while its handler runs, and kills on return: by then the original fault is lost. */
static void a_signal_raised_again_while_blocked_is_still_a_fault_of_its_place(void **state)
{
	(void)state;
	struct found f = fault_of(HEAD "void work(void) { *(volatile int *)0x18 = 1; }\n"
				       "static void on(int s) { signal(s, SIG_DFL); raise(s); }\n"
				       "int main(void) { signal(SIGSEGV, on); work(); return 0; }\n");
	assert_true(f.fault.raised_again);
	assert_false(f.fault.sent);
	assert_true(!f.fault.addr_known || f.fault.addr == 0x18); /* no other: the notes have none */
	assert_int_equal(f.fault.signal, SIGSEGV);
	assert_string_equal(function_of(f.process, &f.fault.frame), "work");
	done(&f);
	f = fault_of(MAIN("raise(SIGSEGV);"));
	assert_true(f.fault.sent);
	assert_false(f.fault.raised_again);
	done(&f);
}

/* A fork whose child ends without a SIGCHLD, at which the harness would take the core. */
#define QUIET_FORK "syscall(56, 0, 0, 0, 0, 0)"

/* The handler gets a signal that another process sent, and sends it again. In between, code runs that cannot have
 * raised it. */
static void a_sent_signal_that_a_handler_sends_again_is_sent(void **state)
{
	(void)state;
	static const char *const signals[] = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"};
	static const char *const places[] = {"i++;", "*p = *p + 1;"};
	for (size_t i = 0; i < 2 * XC_COUNT(signals); i++) {
		char source[1024];
		snprintf(source, sizeof source,
			 HEAD
			 "static void on(int s) { signal(s, SIG_DFL); raise(s); }\n"
			 "static int work(void) { int i = 0, *volatile p = &i; for (;;) { %s if (!*p) return i; } }\n"
			 "int main(void) { int s = %s; pid_t parent = getpid(); signal(s, on); if (!" QUIET_FORK ") { "
			 "usleep(20000); kill(parent, s); _exit(0); } return work(); }\n",
			 places[i % 2], signals[i / 2]);
		struct found f = fault_of(source);
		assert_true(f.fault.sent);
		assert_true(f.fault.resent);
		assert_false(f.fault.raised_again);
		assert_false(f.fault.addr_known);
		done(&f);
	}
}

static void the_sender_of_the_first_signal_is_in_its_handlers_frame(void **state)
{
	(void)state;
	struct found f =
		fault_of(HEAD "static void on(int s, siginfo_t *i, void *c) { signal(s, SIG_DFL); raise(s); }\n"
			      "int main(void) { struct sigaction a = {.sa_sigaction = on, .sa_flags = SA_SIGINFO | "
			      "SA_NODEFER}; pid_t parent = getpid(); sigaction(SIGSEGV, &a, 0); if (!" QUIET_FORK ") { "
			      "usleep(20000); kill(parent, SIGSEGV); _exit(0); } for (;;) pause(); }\n");
	assert_true(f.fault.sent && f.fault.resent && f.fault.resent_sure);
	assert_true(f.fault.first_sender > f.process->pid);
	assert_int_equal(f.fault.first_user, getuid());
	assert_int_equal(f.fault.first_signal, SIGSEGV);
	done(&f);
	f = fault_of(HEAD "static void on(int s, siginfo_t *i, void *c) { abort(); }\n"
			  "int main(void) { struct sigaction a = {.sa_sigaction = on, .sa_flags = SA_SIGINFO}; "
			  "sigaction(SIGSEGV, &a, 0); raise(SIGSEGV); return 0; }\n");
	assert_false(f.fault.resent);
	assert_int_equal(f.fault.first_signal, SIGSEGV);
	assert_int_equal(f.fault.first_sender, f.process->pid);
	done(&f);
}

/* A handler that sends the signal of a fault again: the fault is the truth. */
static void a_fault_that_a_handler_sends_again_is_a_fault(void **state)
{
	(void)state;
	static const struct {
		const char *work, *signal;
		int number;
	} cases[] = {{"__asm__ volatile(\"ud2\");", "SIGILL", SIGILL},
		     {"zero = 7 / zero;", "SIGFPE", SIGFPE},
		     {"zero = (int)(7u / (unsigned)zero);", "SIGFPE", SIGFPE},
		     {"*(volatile char *)main = 1;", "SIGSEGV", SIGSEGV}};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		char source[1024];
		snprintf(source, sizeof source,
			 HEAD "int main(void);\nvoid work(void) { %s }\n"
			      "static void on(int s) { signal(s, SIG_DFL); raise(s); }\n"
			      "int main(void) { signal(%s, on); work(); return 0; }\n",
			 cases[i].work, cases[i].signal);
		struct found f = fault_of(source);
		assert_int_equal(f.fault.signal, cases[i].number);
		assert_false(f.fault.sent);
		assert_false(f.fault.resent);
		assert_string_equal(function_of(f.process, &f.fault.frame), "work");
		done(&f);
	}
}

/* Not a division: trap number 0 is the value for a thread that never faulted. */
static void a_crash_in_the_handler_of_a_sent_signal_is_the_crash(void **state)
{
	(void)state;
	static const char *const handlers[] = {
		HEAD "static void on(int s) { *(volatile int *)0x18 = 1; }\nint main(void) { signal(SIGUSR1, on); "
		     "raise(SIGUSR1); return 0; }\n",
		HEAD "static void on(int s, siginfo_t *i, void *c) { *(volatile int *)0x18 = 1; }\nint main(void) {\n"
		     " struct sigaction a = {.sa_sigaction = on, .sa_flags = SA_SIGINFO}; sigaction(SIGUSR1, &a, 0); "
		     "raise(SIGUSR1); return 0; }\n",
	};
	for (size_t i = 0; i < XC_COUNT(handlers); i++) {
		struct found f = fault_of(handlers[i]);
		assert_false(f.fault.in_handler);
		assert_int_equal(f.fault.signal, SIGSEGV);
		assert_int_equal(f.fault.addr, 0x18);
		assert_string_equal(function_of(f.process, &f.fault.frame), "on");
		done(&f);
	}
}

static void a_fault_is_found_behind_the_handler_of_a_sent_signal(void **state)
{
	(void)state;
	expect_through(HEAD "static void user(int s) { abort(); }\nvoid work(void) { *(volatile int *)0x18 = 1; }\n"
			    "static void on(int s) { raise(SIGUSR1); }\n"
			    "int main(void) { signal(SIGUSR1, user); signal(SIGSEGV, on); work(); return 0; }\n",
		       SIGSEGV, SEGV_MAPERR, XC_ACCESS_WRITE, SIGABRT);
}

static void without_a_crashed_thread_or_signal_there_is_no_fault(void **state)
{
	(void)state;
	struct found f = fault_of(MAIN("abort();"));
	struct xc_fault fault;
	f.process->threads[0].crashed = false;
	assert_false(xc_fault_find(f.process, f.unwinder, &fault));
	f.process->threads[0].crashed = true;
	f.process->signal.known = false;
	assert_false(xc_fault_find(f.process, f.unwinder, &fault));
	f.process->signal.known = f.process->live = true;
	assert_false(xc_fault_find(f.process, f.unwinder, &fault));
	f.process->live = false;
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_fault_is_what_the_notes_say),
		cmocka_unit_test(a_signal_that_was_sent_is_no_fault),
		cmocka_unit_test(the_fault_is_seen_through_a_handler_that_aborts),
		cmocka_unit_test(calls_to_nowhere_are_seen_through_a_handler),
		cmocka_unit_test(the_handler_may_raise_the_signal_again),
		cmocka_unit_test(a_page_past_the_end_of_a_file_stays_a_bus_error),
		cmocka_unit_test(a_signal_raised_again_while_blocked_is_still_a_fault_of_its_place),
		cmocka_unit_test(a_sent_signal_that_a_handler_sends_again_is_sent),
		cmocka_unit_test(the_sender_of_the_first_signal_is_in_its_handlers_frame),
		cmocka_unit_test(a_fault_that_a_handler_sends_again_is_a_fault),
		cmocka_unit_test(a_crash_in_the_handler_of_a_sent_signal_is_the_crash),
		cmocka_unit_test(a_fault_is_found_behind_the_handler_of_a_sent_signal),
		cmocka_unit_test(without_a_crashed_thread_or_signal_there_is_no_fault),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
