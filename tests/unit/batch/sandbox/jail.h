/* jail: runs a function in a child, inside the sandbox or outside, and what such a function may find: a file, a
 * terminal, a socket that listens, another process. */
#ifndef XC_TEST_JAIL_H
#define XC_TEST_JAIL_H

#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/sandbox/worker_sandbox.h"
#include "tests/support/check.h"

enum { SANITIZED = UNDER_ASAN }; /* a sanitizer's memory cannot be limited */

enum { WORKED = 0, REFUSED = 40, NO_JAIL = 41, MEGABYTE = 1 << 20 };

static char file[] = "/tmp/xcore-test-jail-XXXXXX"; /* contains one byte */
static char other[64];                              /* a name next to it that does not exist */
static pid_t victim;                                /* sleeps */
static int own, terminal, listener; /* the file's descriptor; a pty's slave; a socket that listens at `address` */
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static const struct xc_worker_sandbox usual = {.memory = UINT64_C(512) << 20, .file_size = 1 << 20, .seconds = 5};

/* Exit status of a child that runs body: its status, or 1000 + the signal. */
static inline int ends(bool (*body)(void), const struct xc_worker_sandbox *sandbox)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		for (int number = 1; number < NSIG; number++)
			signal(number, SIG_DFL); /* cmocka's handlers jump into the tests */
		prctl(PR_SET_DUMPABLE, 0);
		if (sandbox && xc_worker_sandbox_enter(sandbox))
			_exit(NO_JAIL);
		_exit(body() ? WORKED : REFUSED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	rmdir(other);
	unlink(other);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* ---- set-up ---- */

static inline int set_up(void **state)
{
	int master;
	(void)state;
	own = mkstemp(file);
	if (own < 0 || write(own, "x", 1) != 1 || openpty(&master, &terminal, NULL, NULL, NULL))
		return 1;
	snprintf(other, sizeof other, "%s-other", file);
	snprintf(address.sun_path, sizeof address.sun_path, "%s-socket", file);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (const struct sockaddr *)&address, sizeof address) || listen(listener, 5))
		return 1;
	victim = fork();
	if (victim == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return victim < 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	return unlink(file) | unlink(address.sun_path);
}

#endif
