/* layer: batch */
/* Descriptors are sent although other processes of the user have many under way. */
#include "batch/util/fd_passing.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/hermit.h"

enum { FEW = 24, CANNOT_BECOME = 77 };

/* Fills a socket until the kernel takes no more descriptors of this user; another process takes them out later. */
static int send_when_others_arrive(void)
{
	int full[2], pair[2];
	char byte = 0;
	const struct rlimit few = {FEW, FEW};
	/* root may have any number under way */
	if ((geteuid() == 0 && !hermit_become()) || setrlimit(RLIMIT_NOFILE, &few) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, full) || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return CANNOT_BECOME;
	for (int i = 0; xc_fd_passing_send(full[0], &byte, 1, full, 1, MSG_DONTWAIT) == 1; i++)
		if (i == 10 * FEW)
			return CANNOT_BECOME;
	if (errno != ETOOMANYREFS)
		return CANNOT_BECOME;
	const pid_t receiver = fork();
	if (receiver == 0) {
		int got = -1;
		poll(NULL, 0, 50);
		while (xc_fd_passing_receive(full[1], &byte, 1, &got, 1, MSG_DONTWAIT) == 1)
			close(got);
		_exit(0);
	}
	const ssize_t sent = xc_fd_passing_send(pair[0], &byte, 1, pair, 1, 0);
	waitpid(receiver, NULL, 0);
	return sent == 1 ? 0 : 1;
}

static void many_descriptors_under_way_are_waited_for(void **state)
{
	int status;
	(void)state;
	const pid_t pid = fork();
	if (pid == 0)
		_exit(send_when_others_arrive());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == CANNOT_BECOME)
		check_skip("the kernel does not count descriptors under way here");
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(many_descriptors_under_way_are_waited_for)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
