/* layer: batch tier: check */
/* worker: with few descriptors, processes or rights, and without a sandbox, no core gets a wrong record. */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "batch/run/batch.h"
#include "batch/sandbox/worker_child.h"
#include "tests/support/check.h"
#include "tests/support/hermit.h"
#include "tests/support/scratch.h"
#include "tests/unit/batch/sandbox/worked.h"

enum { NOBODY = 65534 };

/* Otherwise a worker's output could reach the terminal. */
static int shedding_without_null(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/dev", "tmpfs", 0, NULL))
		return CANNOT_MOUNT;
	return xc_worker_child_shed(NULL, 0);
}

static void without_dev_null_nothing_is_kept(void **state)
{
	const int status = ends(shedding_without_null);
	(void)state;
	if (status == CANNOT_MOUNT)
		check_skip("no mount may be made here");
	assert_int_equal(status, false);
}

static struct xc_error *run_many(size_t count, unsigned jobs, struct taken *taken, struct xc_arena *arena)
{
	const struct xc_input input = {.path = "a", .file = "corpora/golden/assert.pack"};
	const struct xc_input *list[64];
	const struct xc_batch batch = {.worker = {.finder = &finder, .host_files = true, .seconds = 20},
				       .jobs = jobs,
				       .arena = arena,
				       .take = take,
				       .user = taken};
	size_t done;
	for (size_t i = 0; i < count; i++)
		list[i] = &input;
	return xc_batch_run(&batch, list, count, &done);
}

static bool all_are_taken(struct taken *taken, struct xc_arena *arena)
{
	struct xc_error *err = run_many(20, 40, taken, arena);
	if (err || taken->count != 20)
		fprintf(stderr, "%zu of 20: %s\n", taken->count, err ? err->message : "no error");
	return !err && taken->count == 20;
}

static int with_few_descriptors(void)
{
	const struct rlimit few = {48, 48};
	struct xc_arena arena = {0};
	struct taken taken = {0};
	setrlimit(RLIMIT_NOFILE, &few);
	if (!all_are_taken(&taken, &arena))
		return 1;
	for (size_t i = 0; i < taken.count; i++)
		if (taken.records[i]->status != XC_RECORD_OK || taken.records[i]->unlooked)
			return 2;
	return 0;
}

static int with_few_processes(void)
{
	struct xc_arena arena = {0};
	struct taken taken = {0};
	const struct rlimit few = {4, 4};
	if (!hermit_become())
		return CANNOT_BECOME;
	if (setrlimit(RLIMIT_NPROC, &few))
		return 3;
	return all_are_taken(&taken, &arena) ? 0 : 1;
}

static int as_somebody_else(void)
{
	struct xc_arena arena = {0};
	if (setgid(NOBODY) || setuid(NOBODY))
		return CANNOT_BECOME;
	const struct xc_record *record = record_of(scratch_path("private"), 0, &arena);
	return record->unlooked && !strcmp(record->why, "not examined: Permission denied") ? 0 : 1;
}

/* Kernels without seccomp filters, and containers that deny them. */
static int without_filters(void)
{
	struct xc_arena arena = {0};
	struct taken taken = {0};
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	const struct scmp_arg_cmp mode = {0, SCMP_CMP_EQ, PR_SET_SECCOMP, 0};
	if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SYS_seccomp, 0) ||
	    seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EINVAL), SYS_prctl, 1, &mode) || seccomp_load(filter))
		return 3;
	struct xc_error *err = run_many(3, 2, &taken, &arena);
	return !err || err->code != XC_ERR_IO || !err->hint || taken.count ||
	       strncmp(err->message, "no core can be examined here: ", 30) != 0;
}

static void where_there_is_little_of_something_fewer_run_at_once(void **state)
{
	(void)state;
	assert_int_equal(ends(with_few_descriptors), 0);
	const int status = geteuid() == 0 ? ends(with_few_processes) : CANNOT_BECOME;
	if (status == CANNOT_BECOME)
		check_skip("there is no other user to become");
	assert_int_equal(status, 0);
}

static void what_may_not_be_read_is_not_looked_at(void **state)
{
	(void)state;
	if (geteuid() != 0)
		check_skip("only root may become another user");
	chmod(scratch_file("private", "x", 1), 0);
	chmod(scratch_dir(), 0755);
	const int status = ends(as_somebody_else);
	if (status == CANNOT_BECOME)
		check_skip("there is no other user to become");
	assert_int_equal(status, 0);
}

static void without_a_jail_nothing_is_looked_at(void **state)
{
	(void)state;
	assert_int_equal(ends(without_filters), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_dev_null_nothing_is_kept),
		cmocka_unit_test(where_there_is_little_of_something_fewer_run_at_once),
		cmocka_unit_test(what_may_not_be_read_is_not_looked_at),
		cmocka_unit_test(without_a_jail_nothing_is_looked_at),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
