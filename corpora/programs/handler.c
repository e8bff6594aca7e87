/* Dies inside or by way of a signal handler. Arguments: reraise (SIGSEGV is caught on an alternate stack, which
 * restores the default and raises it again: SIGSEGV), abort (the handler calls abort), nested (the handler of SIGUSR1
 * crashes, whose own handler on the alternate stack raises again: two signal frames), return (the handler restores
 * the default and returns, so that the instruction faults again). */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"

static char alternate[64 * 1024];

static NOINLINE void report_and_raise(int signum)
{
	signal(signum, SIG_DFL);
	raise(signum);
}

static void on_fault_raise(int signum, siginfo_t *info, void *context)
{
	void *address = info->si_addr;

	KEEP(address);
	KEEP(context);
	report_and_raise(signum);
}

static void on_fault_abort(int signum)
{
	KEEP(signum);
	abort();
}

static void on_fault_return(int signum)
{
	signal(signum, SIG_DFL);
}

static void on_user(int signum)
{
	KEEP(signum);
	crash();
}

static void catch_raise(int signum)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};

	action.sa_sigaction = on_fault_raise;
	if (sigaltstack(&stack, NULL) || sigaction(signum, &action, NULL))
		exit(2);
}

static NOINLINE void work(int job)
{
	int doubled = job * 2;

	KEEP(doubled);
	crash();
}

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";

	if (strcmp(how, "reraise") == 0) {
		catch_raise(SIGSEGV);
		work(21);
	}
	if (strcmp(how, "abort") == 0) {
		signal(SIGSEGV, on_fault_abort);
		work(22);
	}
	if (strcmp(how, "return") == 0) {
		signal(SIGSEGV, on_fault_return);
		work(23);
	}
	if (strcmp(how, "nested") == 0) {
		catch_raise(SIGSEGV);
		signal(SIGUSR1, on_user);
		raise(SIGUSR1);
	}
	return 2;
}
