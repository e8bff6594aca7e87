/* main: set-up before any command, and the handling of our own crashes.
 *
 * Reading order: dispatch.c (the steps of every command), then any cmd_*.c. All this runs in a child of the process
 * that the user has started, which is its watchdog: watchdog.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/commands.h"
#include "cli/dispatch.h"
#include "cli/watchdog/watchdog.h"

/* If a standard descriptor is closed, the first file that we open would get its number and be written to as output.
 * Opened in the wrong direction, so that using it is an error. */
static void occupy_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif

#if !defined(SANITIZED) && !defined(__SANITIZE_ADDRESS__)
static void fail_internally(int number)
{
	char text[] = "xcore: internal error: signal    \n  hint: this is a bug in xcore: please report it with the "
		      "command line\n";
	char *digits = strstr(text, "signal ") + strlen("signal ");
	digits[0] = (char)('0' + number / 10);
	digits[1] = (char)('0' + number % 10);
	(void)!write(STDERR_FILENO, text, sizeof text - 1);
	_exit(XC_EXIT_INTERNAL);
}

/* Exit with status 5 instead of a core dump. Runs on its own stack, in case ours is exhausted. SIGBUS belongs to
 * core/io/source, which handles files that shrink. */
static void install_fault_handler(void)
{
	static char stack[16384];
	static const int faults[] = {SIGABRT, SIGSEGV, SIGILL, SIGFPE};
	struct sigaction action = {.sa_handler = fail_internally, .sa_flags = SA_ONSTACK | (int)SA_RESETHAND};
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	sigaltstack(&alternate, NULL);
	for (size_t i = 0; i < XC_COUNT(faults); i++)
		sigaction(faults[i], &action, NULL);
}
#else
/* The sanitizers report a fault in more detail. */
static void install_fault_handler(void)
{
}
#endif

int main(int argc, char **argv)
{
	occupy_standard_descriptors();
	/* A closed pipe is seen as EPIPE, and ends the run quietly with its own status. */
	signal(SIGPIPE, SIG_IGN);
	/* A write beyond the limit on file sizes then fails, as on a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	install_fault_handler();
	xc_watchdog_fork();
	const int status = xc_dispatch(argc, argv, xc_commands);
	xc_watchdog_close();
	return status;
}
