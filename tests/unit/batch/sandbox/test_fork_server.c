/* layer: batch */
/* fork_server: one that does not answer is given up, and its missing requirements are named. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/sandbox/fork_server_impl.h"
#include "tests/support/check.h"

enum { PATIENCE = 120, CANNOT_MOUNT = 77 };

static const struct xc_finder finder = {.quiet = true};
static bool in_a_hurry; /* waits return immediately */
static unsigned waits;  /* the number of waits then */
static volatile sig_atomic_t interrupted;
static struct xc_worker_options options = {.finder = &finder, .host_files = true, .stopped = &interrupted};

/* Replaces libc's. */
int poll(struct pollfd *polled, nfds_t count, int milliseconds)
{
	const struct timespec patience = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L};
	const struct timespec none = {.tv_sec = 0};
	waits += in_a_hurry;
	return (int)syscall(SYS_ppoll, polled, count,
			    in_a_hurry         ? &none
			    : milliseconds < 0 ? NULL
					       : &patience,
			    NULL, 0);
}

static struct xc_fork_server *begin(void)
{
	struct xc_fork_server *server;
	alarm(PATIENCE);
	assert_null(xc_fork_server_start(&options, &server));
	return server;
}

static void stop(const struct xc_fork_server *server)
{
	siginfo_t info;
	assert_int_equal(kill(server->pid, SIGSTOP), 0);
	assert_int_equal(waitid(P_PID, (id_t)server->pid, &info, WSTOPPED), 0);
}

/* Its answer to an order. */
static struct xc_error *order(struct xc_fork_server *server)
{
	int sockets[2];
	pid_t pid = -1;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
	struct xc_error *err = xc_fork_server_build(server, sockets[0], sockets[1], &pid);
	close(sockets[0]);
	close(sockets[1]);
	if (!err) {
		assert_true(pid > 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	return err;
}

static void check_silent(struct xc_error *err)
{
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_IO);
	assert_string_equal(err->message, "starting a worker: the process that workers are forked from does not "
					  "answer: was it stopped?");
	xc_error_free(err);
}

static void one_that_is_stopped_is_given_up(void **state)
{
	struct xc_fork_server *server = begin();
	(void)state;
	assert_null(order(server));
	stop(server);
	in_a_hurry = true;
	check_silent(order(server));
	check_silent(order(server));
	in_a_hurry = false;
	xc_fork_server_end(server);
	alarm(0);
}

/* An interrupt waits only a moment: a few waits of many. */
static void one_that_is_stopped_holds_no_user_who_interrupts(void **state)
{
	unsigned taken[2];
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct xc_fork_server *server = begin();
		stop(server);
		interrupted = i;
		in_a_hurry = true;
		waits = 0;
		check_silent(order(server));
		taken[i] = waits;
		in_a_hurry = false;
		interrupted = 0;
		xc_fork_server_end(server);
		alarm(0);
	}
	assert_in_range(taken[1], 1, taken[0] / 15);
}

static void one_that_has_ended_is_no_other(void **state)
{
	struct xc_fork_server *server = begin();
	siginfo_t info;
	(void)state;
	assert_int_equal(kill(server->pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)server->pid, &info, WEXITED | WNOWAIT), 0);
	struct xc_error *err = order(server);
	assert_non_null(err);
	assert_null(strstr(err->message, "answer"));
	xc_error_free(err);
	xc_fork_server_end(server);
	alarm(0);
}

static int starting_without_null(void)
{
	struct xc_fork_server *server;
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/dev", "tmpfs", 0, NULL))
		return CANNOT_MOUNT;
	struct xc_error *err = xc_fork_server_start(&options, &server);
	return !err || !err->hint ||
	       strcmp(err->message, "/dev/null: no worker can be started without it: No such file or directory") != 0;
}

static void without_dev_null_it_says_so(void **state)
{
	int status;
	const pid_t pid = fork();
	(void)state;
	if (pid == 0)
		_exit(starting_without_null());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == CANNOT_MOUNT)
		check_skip("no mount may be made here");
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_is_stopped_is_given_up),
		cmocka_unit_test(one_that_is_stopped_holds_no_user_who_interrupts),
		cmocka_unit_test(one_that_has_ended_is_no_other),
		cmocka_unit_test(without_dev_null_it_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
