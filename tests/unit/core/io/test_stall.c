/* layer: core */
/* stall: who waits for a file that does not answer says so, by name; who waits for others does not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/stall.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

enum { SOON = 1000, NEVER_S = 120 };

static const char *fifo; /* that nobody writes to: to open it is to wait */

/* The one end is read, the other one written to: of a terminal, or of a pipe. */
static void open_ends(int ends[2], bool terminal)
{
	if (!terminal) {
		assert_int_equal(pipe(ends), 0);
		return;
	}
	ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(ends[0] >= 0);
	assert_int_equal(grantpt(ends[0]), 0);
	assert_int_equal(unlockpt(ends[0]), 0);
	ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
	assert_true(ends[1] >= 0);
}

/* A child that waits so and is watched; its standard error. */
static int watched(void (*wait_so)(void), bool terminal, pid_t *pid_out)
{
	int pipes[2];
	open_ends(pipes, terminal);
	*pid_out = fork();
	if (*pid_out == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(pipes[1], STDERR_FILENO);
		close(pipes[0]);
		close(pipes[1]);
		alarm(NEVER_S);
		xc_stall_start(SOON);
		wait_so();
		xc_stall_stop();
		_exit(0);
	}
	close(pipes[1]);
	return pipes[0];
}

static void skip_where_it_is_not_told(void)
{
	if (access("/proc/self/syscall", R_OK) != 0)
		check_skip("/proc/self/syscall is not to be read");
}

/* The first line that it says. */
static void first_line(int fd, char *line, size_t size)
{
	size_t len = 0;
	while (len < size - 1 && read(fd, line + len, 1) == 1 && line[len] != '\n')
		len++;
	line[len] = '\0';
}

static void check_line(void (*wait_so)(void), bool terminal, const char *expected)
{
	char line[8192];
	pid_t pid;
	const int fd = watched(wait_so, terminal, &pid);
	first_line(fd, line, sizeof line);
	assert_string_equal(line, expected);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(fd);
}

static void check_told(void (*wait_so)(void), const char *what)
{
	char *expected = xc_asprintf("xcore: %s: no answer for 1 seconds: still waiting", what);
	check_line(wait_so, false, expected);
	free(expected);
}

static void open_it(void)
{
	if (open(fifo, O_RDONLY) >= 0)
		_exit(1);
}

static void open_below(void)
{
	const int dir = open(scratch_dir(), O_PATH | O_DIRECTORY);
	if (openat(dir, strrchr(fifo, '/') + 1, O_RDONLY) >= 0)
		_exit(1);
}

static void read_it(void)
{
	char byte;
	const int fd = open(fifo, O_RDWR);
	if (read(fd, &byte, 1))
		_exit(1);
}

static void read_standard_input(void)
{
	int pipes[2];
	char byte;
	if (pipe(pipes) || dup2(pipes[0], STDIN_FILENO) || read(STDIN_FILENO, &byte, 1))
		_exit(1);
}

/* Of this process, when it forks. */
static size_t threads_at_fork;

static void count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	threads_at_fork = 0;
	for (const struct dirent *entry; tasks && (entry = readdir(tasks));)
		threads_at_fork += entry->d_name[0] != '.';
	if (tasks)
		closedir(tasks);
}

static void fork_and_open_it(void)
{
	const pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	if (waitpid(pid, NULL, 0) != pid || threads_at_fork != 1)
		_exit(1);
	open_it();
}

static void who_is_watched_forks_alone_and_is_watched_again(void **state)
{
	(void)state;
	skip_where_it_is_not_told();
	check_told(fork_and_open_it, fifo);
}

static void a_file_that_does_not_answer_is_named(void **state)
{
	(void)state;
	skip_where_it_is_not_told();
	check_told(open_it, fifo);
	check_told(open_below, fifo);
	check_told(read_it, fifo);
	check_told(read_standard_input, "standard input");
}

/* Its file system is of memory, and so may be the one of TMPDIR. */
static void a_file_of_dev_shm_is_one(void **state)
{
	const char *before = fifo;
	char other[64];
	(void)state;
	skip_where_it_is_not_told();
	snprintf(other, sizeof other, "/dev/shm/xcore-stall-%d", (int)getpid());
	if (mkfifo(other, 0600) != 0)
		check_skip("nothing may be made in /dev/shm");
	fifo = other;
	check_told(read_it, fifo);
	fifo = before;
	unlink(other);
}

/* A line that tells how far it is has no end. */
static void on_a_terminal_it_takes_the_line(void **state)
{
	(void)state;
	skip_where_it_is_not_told();
	char *expected = xc_asprintf("\r\033[Kxcore: %s: no answer for 1 seconds: still waiting\r", fifo);
	check_line(open_it, true, expected);
	free(expected);
}

/* Waits for others, then for a file: the first line is of that. */
static void wait_for_a_child(void)
{
	const pid_t pid = fork();
	if (pid == 0) {
		sleep(3);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	open_it();
}

static void wait_for_a_socket(void)
{
	int sockets[2];
	struct timeval patience = {.tv_sec = 3};
	char byte;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) ||
	    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience))
		_exit(1);
	if (read(sockets[0], &byte, 1) < 0)
		open_it();
}

static void waiting_for_others_is_not_told(void **state)
{
	(void)state;
	skip_where_it_is_not_told();
	check_told(wait_for_a_child, fifo);
	check_told(wait_for_a_socket, fifo);
}

/* Nothing that a test opens is standard input, also where that was closed. */
static int make_fifo(void **state)
{
	(void)state;
	while (open("/dev/null", O_RDWR) <= STDERR_FILENO)
		;
	const char *path = scratch_path("fifo");
	if (mkfifo(path, 0600))
		return -1;
	fifo = realpath(path, NULL); /* as the kernel calls it */
	return fifo ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_does_not_answer_is_named),
		cmocka_unit_test(who_is_watched_forks_alone_and_is_watched_again),
		cmocka_unit_test(a_file_of_dev_shm_is_one),
		cmocka_unit_test(on_a_terminal_it_takes_the_line),
		cmocka_unit_test(waiting_for_others_is_not_told),
	};
	if (pthread_atfork(count_threads, NULL, NULL)) /* the first one is the last to be asked */
		return 1;
	return cmocka_run_group_tests(tests, make_fifo, NULL);
}
