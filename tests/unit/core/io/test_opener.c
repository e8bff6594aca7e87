/* layer: core */
/* opener: opens the file that was checked, however fast a name changes its file. */
#include "tests/support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/io/opener.h"
#include "tests/support/scratch.h"

enum { TRIES = 20000 };

/* Exchange two names until killed. */
static pid_t exchange(const char *a, const char *b)
{
	const pid_t pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		if (renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE))
			_exit(1);
}

/* The number of descriptors received while a file and a FIFO change places; 0 once one was not the file's. */
static int given(void)
{
	const char *file = scratch_path("file"), *fifo = scratch_path("fifo");
	int count = 0;
	bool good = true;
	struct stat first, st;
	unlink(file); /* it may be the earlier FIFO */
	unlink(fifo);
	if (mkfifo(fifo, 0600) || stat(scratch_file("file", "x", 1), &first))
		return 0;
	const pid_t pid = exchange(file, fifo);
	for (int i = 0; good && i < TRIES; i++) {
		bool special = false;
		const int fd = xc_opener_regular(NULL, file, &special);
		if (fd < 0) {
			good = errno == ENOTSUP || errno == ESTALE;
			continue;
		}
		good = !fstat(fd, &st) && st.st_ino == first.st_ino;
		count++;
		close(fd);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return good ? count : 0;
}

static void a_name_that_changes_its_file_gives_none_but_what_was_looked_at(void **state)
{
	(void)state;
	assert_true(given() > 0);
}

static void without_proc_too(void **state)
{
	int status;
	(void)state;
	scratch_dir();
	const pid_t pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("none", "/proc", "tmpfs", 0, NULL))
			_exit(77);
		_exit(given() == 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		check_skip("no mount may be made here");
	assert_int_equal(status, 0);
}

static void what_is_no_file_is_not_opened(void **state)
{
	bool special = false;
	(void)state;
	assert_int_equal(xc_opener_regular(NULL, "/dev/null", &special), -1);
	assert_true(special);
	assert_int_equal(errno, ENOTSUP);
	assert_int_equal(xc_opener_regular(NULL, scratch_path("absent"), &special), -1);
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_that_changes_its_file_gives_none_but_what_was_looked_at),
		cmocka_unit_test(without_proc_too),
		cmocka_unit_test(what_is_no_file_is_not_opened),
	};
	return cmocka_run_group_tests_name("opener", tests, NULL, NULL);
}
