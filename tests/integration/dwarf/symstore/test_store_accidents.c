/* layer: dwarf */
/* Accidents of the store: interrupted and killed processes, full disks, damage, locks, links that lead elsewhere. */
#include "tests/integration/dwarf/symstore/indexed_tree.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dwarf/symstore/store_clean.h"
#include "dwarf/symstore/store_keep.h"
#include "dwarf/symstore/store_state.h"

/* ---- accidents ---- */

static void an_interrupted_walk_keeps_what_it_found(void **state)
{
	(void)state;
	index_tree("tree");
	make("tree/c/new", 0xa4);
	stop = SIGINT; /* from the start: nothing more is found, and no known file is lost */
	struct xc_store_totals t = index_tree("tree");
	assert_true(t.interrupted || t.found == 3);
	assert_int_equal(known(0xa1, NULL), 1);
	assert_int_equal(known(0xa2, NULL), 1);
	stop = 0;
	index_tree("tree");
	assert_int_equal(known(0xa4, NULL), 1);
}

/* All start together, when the pipe is closed, and each adds one file. */
static void many_processes_lose_nothing_of_each_other(void **state)
{
	(void)state;
	enum { PROCESSES = 8, ROUNDS = 12 };
	pid_t children[PROCESSES];
	char name[64];
	for (int i = 0; i < PROCESSES; i++) {
		snprintf(name, sizeof name, "tree2/%d/program", i);
		make(name, 0xc0 + (unsigned)i);
	}
	for (int round = 0; round < ROUNDS; round++) {
		int gate[2], status;
		char byte;
		shell("rm -rf store");
		assert_int_equal(pipe(gate), 0);
		for (int i = 0; i < PROCESSES; i++) {
			const struct xc_store_index_options options = {
				.dir = scratch_path("store"), .jobs = 2, .link = i % 2};
			snprintf(name, sizeof name, "tree2/%d", i);
			const char *tree = scratch_path(name);
			if ((children[i] = fork()) == 0) {
				struct xc_store_totals t;
				close(gate[1]);
				_exit(read(gate[0], &byte, 1) || xc_store_index(&options, tree, &t));
			}
		}
		close(gate[0]);
		close(gate[1]);
		for (int i = 0; i < PROCESSES; i++) {
			waitpid(children[i], &status, 0);
			assert_int_equal(status, 0);
		}
		for (unsigned i = 0; i < PROCESSES; i++)
			assert_int_equal(known(0xc0 + i, NULL), 1 + i % 2);
		shell("test -z \"$(find store -name '*.part')\"");
	}
}

/* Killed at any moment: the existing files open completely, and the next run adds the rest. */
static void a_killed_process_leaves_a_whole_store(void **state)
{
	(void)state;
	char name[64];
	for (int i = 0; i < 16; i++) {
		snprintf(name, sizeof name, "tree/many/%d", i);
		make(name, 0xd0 + (unsigned)i);
	}
	index_tree("tree/a");
	for (long wait_us = 0; wait_us < 12000; wait_us += 400) {
		const struct xc_store_index_options options = {.dir = scratch_path("store"), .jobs = 2, .copy = true};
		int status;
		pid_t child = fork();
		if (child == 0) {
			for (;;) {
				struct xc_store_totals t;
				struct xc_store_cleaned c;
				if (xc_store_index(&options, scratch_path("tree/many"), &t) ||
				    xc_store_clean(options.dir, &(struct xc_store_clean_options){.all = true}, &c) ||
				    xc_store_index(&options, scratch_path("tree/a"), &t))
					_exit(1);
			}
		}
		nanosleep(&(struct timespec){.tv_nsec = wait_us * 1000 % 1000000000}, NULL);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		assert_true(WIFSIGNALED(status));
		all_known();
	}
	index_tree("tree/many");
	for (unsigned i = 0; i < 16; i++)
		assert_in_range(known(0xd0 + i, NULL), 1, 2);
}

static void a_full_disk_is_an_error_and_changes_nothing(void **state)
{
	(void)state;
	int status;
	index_tree("tree");
	make("tree/c/new", 0xa4);
	pid_t child = fork();
	if (child == 0) {
		const struct xc_store_index_options options = {.dir = scratch_path("store"), .copy = true};
		struct xc_store_totals t;
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){4200, 4200});
		struct xc_error *err = xc_store_index(&options, scratch_path("tree"), &t);
		_exit(err && err->code == XC_ERR_IO ? 0 : 1);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(known(0xa1, NULL), 1);
	assert_int_equal(known(0xa4, NULL), 0);
	assert_int_equal(index_tree("tree").added, 1);
}

/* Room for the index, but not for the copy: the reference is stored, the copy is reported as missing. */
static void a_disk_too_full_for_copies_keeps_references(void **state)
{
	(void)state;
	int status;
	pid_t child = fork();
	if (child == 0) {
		const struct xc_store_index_options options = {.dir = scratch_path("store"), .copy = true};
		struct xc_store_totals t;
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){6000, 6000});
		struct xc_error *err = xc_store_index(&options, scratch_path("tree"), &t);
		_exit(err ? 1 : t.not_kept != 2 ? 2 : strstr(t.first_not_kept, "File too large") ? 0 : 3);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(known(0xa1, NULL), 1);
	shell("test -z \"$(find store/kept -type f)\"");
}

static void a_damaged_store_is_mended(void **state)
{
	(void)state;
	make("tree2/other", 0xa5);
	index_tree("tree");
	index_tree("tree2");
	shell("printf XX | dd of=store/index bs=1 seek=4100 conv=notrunc status=none");
	struct xc_store_totals t = index_tree("tree");
	assert_true(t.damaged);
	assert_int_equal(known(0xa1, NULL), 1); /* known() checks for damage */
	assert_int_equal(known(0xa2, NULL), 1);
	shell("printf XX | dd of=store/index bs=1 seek=20 conv=notrunc status=none");
	assert_true(index_tree("tree").damaged);
	assert_false(index_tree("tree").damaged);
	assert_int_equal(known(0xa1, NULL), 1);
}

static void a_held_lock_is_told_not_waited_for_without_end(void **state)
{
	(void)state;
	int lock, status;
	CHECK_OK(xc_store_lock(scratch_path("store"), 0, &lock));
	pid_t child = fork();
	if (child == 0) {
		int other;
		alarm(120);
		close(lock);
		struct xc_error *err = xc_store_lock(scratch_path("store"), 100, &other);
		_exit(err && strstr(err->message, "another xcore") ? 0 : 1);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	close(lock);
}

/* The store may be another user's. */
static void nothing_outside_the_store_is_written_or_removed(void **state)
{
	(void)state;
	const struct xc_store_index_options options = {.dir = scratch_path("store"), .copy = true};
	shell("mkdir -p store/kept/.build-id victim && echo it > victim/file && ln -s ../../victim store/kept/.dwo");
	static const char *const paths[] = {"store/kept/../../victim/file", "store/kept/.dwo/file", "store/kept",
					    "victim/file"};
	for (size_t i = 0; i < XC_COUNT(paths); i++) {
		assert_false(xc_store_unkeep(scratch_path("store"), scratch_path(paths[i])));
		assert_int_equal(access(scratch_path("victim/file"), F_OK), 0);
	}
	shell("rmdir store/kept/.build-id && ln -s ../../victim store/kept/.build-id");
	struct xc_store_totals t = index_with(&options, scratch_path("tree"));
	assert_int_equal(t.copied, 0);
	assert_true(t.not_kept > 0);
	xc_store_totals_fini(&t);
	shell("test \"$(ls victim)\" = file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_interrupted_walk_keeps_what_it_found, start),
		cmocka_unit_test_setup(many_processes_lose_nothing_of_each_other, start),
		cmocka_unit_test_setup(a_killed_process_leaves_a_whole_store, start),
		cmocka_unit_test_setup(a_full_disk_is_an_error_and_changes_nothing, start),
		cmocka_unit_test_setup(a_disk_too_full_for_copies_keeps_references, start),
		cmocka_unit_test_setup(a_damaged_store_is_mended, start),
		cmocka_unit_test_setup(a_held_lock_is_told_not_waited_for_without_end, start),
		cmocka_unit_test_setup(nothing_outside_the_store_is_written_or_removed, start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
