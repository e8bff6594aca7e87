/* Dies inside or by way of a handler of signals; the fault that it was called for is the truth. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "death.h"

struct job {
	long id;
	long state;
	int (*run)(struct job *job);
};

volatile long sink;
static char alternate[64 * 1024];
static volatile unsigned long bottom;

static NOINLINE void start_job(struct job *job)
{
	job->state = 1; /* dies: reraise abort return exit nested ignore-info */
	sink = 1;
}

static NOINLINE long rate(long jobs, long seconds)
{
	return jobs / seconds; /* dies: divide-abort */
}

static NOINLINE int run_job(struct job *job)
{
	return job->run(job) + 1; /* dies: call-abort */
}

static NOINLINE unsigned long descend(unsigned long depth)
{
	volatile char room[64];
	room[0] = 1;
	return depth == bottom ? depth : descend(depth + 1) + (unsigned long)room[0];
}

static void on_fault_raise(int number, siginfo_t *info, void *context)
{
	sink = (long)info->si_addr + (long)context;
	signal(number, SIG_DFL);
	raise(number);
}

static void on_fault_abort(int number)
{
	static const char text[] = "crashed\n";
	sink = number + write(2, text, sizeof text - 1);
	abort();
}

static void on_fault_return(int number)
{
	signal(number, SIG_DFL);
}

static void on_user(int number)
{
	sink = number;
	start_job(opaque(NULL));
}

static void catch (int number, void (*plain)(int))
{
	struct sigaction action = {.sa_flags = SA_ONSTACK | SA_NODEFER};
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
	action.sa_handler = plain;
	if (!plain) {
		action.sa_flags |= SA_SIGINFO;
		action.sa_sigaction = on_fault_raise;
	}
	if (sigaltstack(&stack, NULL) || sigaction(number, &action, NULL))
		exit(2);
}

static void die_reraise(void)
{
	catch (SIGSEGV, NULL);
	start_job(opaque(NULL));
}

static void die_abort(void)
{
	catch (SIGSEGV, on_fault_abort);
	start_job(opaque(NULL));
}

static void die_return(void)
{
	catch (SIGSEGV, on_fault_return);
	start_job(opaque(NULL));
}

static void die_nested(void)
{
	catch (SIGSEGV, NULL);
	signal(SIGUSR1, on_user);
	raise(SIGUSR1);
}

static void die_divide_abort(void)
{
	catch (SIGFPE, on_fault_abort);
	sink = rate(5, opaque_long(0));
}

static void die_call_abort(void)
{
	struct job job = {.id = 1};
	catch (SIGSEGV, on_fault_abort);
	sink = run_job(opaque(&job));
}

static void die_overflow_abort(void)
{
	struct rlimit limit = {.rlim_cur = 256 * 1024, .rlim_max = 8 << 20};
	if (setrlimit(RLIMIT_STACK, &limit))
		exit(2);
	catch (SIGSEGV, on_fault_abort);
	sink = (long)descend(1);
}

/* A signal that another process sent, and that its handler sends again while it is blocked: what is interrupted has
 * raised nothing. */
static NOINLINE void spin(void)
{
	static const char text[] = "ready\n";
	sink = write(1, text, sizeof text - 1);
	for (volatile long turns = 0;; turns++) /* dies: resent-fault resent-trap resent-abort */
		if (turns < 0)                  /* dies: resent-fault resent-trap resent-abort */
			break;
}

static void on_sent(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

static void die_resent(void)
{
	static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		signal(numbers[i], on_sent);
	spin();
}

/* Its own breakpoint, seen through such a handler. */
static NOINLINE void stop_here(void)
{
	__asm__ volatile("int3"); /* dies: breakpoint */
}

static void die_breakpoint(void)
{
	signal(SIGTRAP, on_sent);
	stop_here();
}

DEATHS({"resent-fault", die_resent}, {"resent-trap", die_resent}, {"resent-abort", die_resent},
       {"breakpoint", die_breakpoint}, {"reraise", die_reraise}, {"abort", die_abort}, {"return", die_return},
       {"nested", die_nested}, {"divide-abort", die_divide_abort}, {"call-abort", die_call_abort},
       {"overflow-abort", die_overflow_abort})
