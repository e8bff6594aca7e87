/* worked: the records that workers give, of one core and of many. */
#ifndef XC_TEST_WORKED_H
#define XC_TEST_WORKED_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/run/batch.h"
#include "tests/support/check.h"

static const struct xc_finder finder = {.quiet = true};

struct taken {
	size_t count;
	struct xc_record *records[64];
};

static inline struct xc_error *take(void *user, const struct xc_input *input, struct xc_record *record)
{
	struct taken *taken = user;
	assert_string_equal(record->path, input->path);
	taken->records[taken->count++] = record;
	return NULL;
}

/* The record of one file, in the arena. */
static inline struct xc_record *record_of(const char *file, uint64_t memory, struct xc_arena *arena)
{
	struct taken taken = {0};
	const struct xc_input input = {.path = "the core", .file = file, .size = 77};
	const struct xc_input *inputs[] = {&input};
	const struct xc_batch batch = {
		.worker = {.finder = &finder, .host_files = true, .memory = memory, .seconds = 120},
		.jobs = 1,
		.arena = arena,
		.take = take,
		.user = &taken};
	size_t done;
	assert_null(xc_batch_run(&batch, inputs, 1, &done));
	assert_int_equal(done, 1);
	assert_int_equal(taken.count, 1);
	return taken.records[0];
}

/* Exit status of a child that runs body. */
static inline int ends(int (*body)(void))
{
	int status;
	const pid_t pid = fork();
	if (pid == 0) {
		for (int number = 1; number < NSIG; number++)
			signal(number, SIG_DFL); /* cmocka's handlers jump into the tests */
		_exit(body());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

enum { CANNOT_MOUNT = 77, CANNOT_BECOME = 78 /* another user: a name space without others */ };

static inline pid_t child(void (*body)(void))
{
	const pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		body();
		_exit(5); /* like xc_alloc */
	}
	return pid;
}

static inline void wait_for_ever(void)
{
	for (;;)
		pause();
}

#endif
