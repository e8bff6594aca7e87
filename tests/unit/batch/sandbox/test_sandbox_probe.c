/* layer: batch */
/* sandbox_probe: its findings, and the sandbox of the workers that follow it. */
#include "tests/support/check.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/sandbox/sandbox_probe.h"

enum { PATIENCE = 120 };

static const struct xc_worker_options options = {.seconds = 60};
static bool stands_still; /* the probe does; waits then end when it does, and not by the clock */

/* Replaces libc's: the first call of a probe. */
int unshare(int flags)
{
	if (stands_still)
		raise(SIGSTOP);
	return (int)syscall(SYS_unshare, flags);
}

/* Replaces libc's. */
int poll(struct pollfd *polled, nfds_t count, int milliseconds)
{
	const struct timespec patience = {.tv_nsec = milliseconds % 1000 * 1000000L, .tv_sec = milliseconds / 1000};
	const struct timespec none = {.tv_sec = 0};
	siginfo_t info;
	if (stands_still)
		waitid(P_ALL, 0, &info, WSTOPPED | WNOWAIT);
	return (int)syscall(SYS_ppoll, polled, count,
			    stands_still       ? &none
			    : milliseconds < 0 ? NULL
					       : &patience,
			    NULL, 0);
}

static void it_comes_back(void **state)
{
	struct xc_sandbox_probe probe;
	(void)state;
	assert_null(xc_sandbox_probe_run(&options, &probe));
	assert_int_equal(probe.user < 0, probe.net < 0);
	xc_sandbox_probe_fini(&probe);
	assert_int_equal(probe.user, -1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

/* No caller waits for it forever. */
static void one_that_is_stopped_is_given_up(void **state)
{
	struct xc_sandbox_probe probe = {-1, -1};
	(void)state;
	alarm(PATIENCE);
	stands_still = true;
	struct xc_error *err = xc_sandbox_probe_run(&options, &probe);
	stands_still = false;
	alarm(0);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_IO);
	assert_non_null(strstr(err->message, "does not answer: was it stopped?"));
	xc_error_free(err);
	assert_int_equal(probe.user, -1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

/* To this machine, which is always reachable. */
static bool reaches_a_network(void)
{
	const struct sockaddr_in there = {
		.sin_family = AF_INET, .sin_port = 9, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	return fd >= 0 && !connect(fd, (const struct sockaddr *)&there, sizeof there);
}

static void who_follows_is_shut_in(void **state)
{
	struct xc_sandbox_probe probe;
	int status;
	(void)state;
	assert_null(xc_sandbox_probe_run(&options, &probe));
	if (probe.user < 0 || !reaches_a_network())
		check_skip("there is no user to become, or no network");
	const pid_t pid = fork();
	if (pid == 0) {
		char before[64] = "", after[64] = "";
		bool read = readlink("/proc/self/ns/user", before, sizeof before - 1) > 0;
		xc_sandbox_probe_enter(&probe);
		read = readlink("/proc/self/ns/user", after, sizeof after - 1) > 0 && read;
		_exit(!read || !strcmp(before, after) ? 1 : reaches_a_network() ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	xc_sandbox_probe_fini(&probe);
}

static void without_any_there_is_nothing_to_enter(void **state)
{
	const struct xc_sandbox_probe none = {-1, -1};
	(void)state;
	xc_sandbox_probe_enter(&none);
	assert_int_not_equal(geteuid(), (uid_t)-1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_comes_back),
		cmocka_unit_test(one_that_is_stopped_is_given_up),
		cmocka_unit_test(who_follows_is_shut_in),
		cmocka_unit_test(without_any_there_is_nothing_to_enter),
	};
	return cmocka_run_group_tests_name("sandbox_probe", tests, NULL, NULL);
}
