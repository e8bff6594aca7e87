/* layer: batch */
/* checkpoint: finished records survive any end of the process, and changed ones are dropped. */
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/run/checkpoint.h"
#include "batch/record/file_dependency.h"
#include "tests/unit/batch/run/checkpointed.h"

static void what_was_added_is_found(void **state)
{
	(void)state;
	fill();
	struct xc_checkpoint *checkpoint = open_it("one", true);
	for (size_t i = 0; i < XC_COUNT(inputs); i++) {
		const struct xc_record *record = xc_checkpoint_find(checkpoint, &inputs[i]);
		assert_non_null(record);
		assert_string_equal(record->path, inputs[i].path);
		assert_int_equal(record->status, XC_RECORD_DIED);
	}
	xc_checkpoint_close(checkpoint);
}

static void a_changed_file_is_not_found(void **state)
{
	struct xc_input others[] = {inputs[0], inputs[0], inputs[0], inputs[0]};
	(void)state;
	others[0].mtime_ns++;
	others[1].size++;
	others[2].ctime_ns++; /* overwritten, with its time restored */
	others[3].ino++;      /* a file of another directory with the same name */
	fill();
	struct xc_checkpoint *checkpoint = open_it("one", true);
	for (size_t i = 0; i < XC_COUNT(others); i++)
		assert_null(xc_checkpoint_find(checkpoint, &others[i]));
	xc_checkpoint_close(checkpoint);
}

static void a_name_may_be_any_bytes(void **state)
{
	const char *const names[] = {"\xff", "\\xff", "\xc3\xa4\\", "a\xe4/\n"};
	(void)state;
	struct xc_checkpoint *checkpoint = open_it("one", false);
	for (size_t i = 0; i < XC_COUNT(names); i++)
		add(checkpoint, &(struct xc_input){.path = names[i], .size = 1, .ino = 1},
		    names[i][0] == '\xff' ? "ff" : "no");
	xc_checkpoint_close(checkpoint);
	checkpoint = open_it("one", true);
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		const struct xc_record *record =
			xc_checkpoint_find(checkpoint, &(struct xc_input){.path = names[i], .size = 1, .ino = 1});
		assert_non_null(record);
		assert_string_equal(record->why, names[i][0] == '\xff' ? "ff" : "no");
	}
	xc_checkpoint_close(checkpoint);
}

/* A file that changed and changed back, among many: each state has its own line, and the last line of a state
 * counts. */
static void the_last_line_of_a_file_counts(void **state)
{
	enum { STATES = 5, ROUNDS = 3 };
	struct xc_input input = inputs[0];
	char why[32];
	(void)state;
	struct xc_checkpoint *checkpoint = open_it("one", false);
	for (unsigned i = 0; i < STATES * ROUNDS; i++) {
		snprintf(why, sizeof why, "line %u", i);
		input.mtime_ns = (i * 3) % STATES;
		add(checkpoint, &input, why);
		add(checkpoint, &inputs[1], why);
	}
	xc_checkpoint_close(checkpoint);
	checkpoint = open_it("one", true);
	for (unsigned i = STATES * (ROUNDS - 1); i < STATES * ROUNDS; i++) {
		snprintf(why, sizeof why, "line %u", i);
		input.mtime_ns = (i * 3) % STATES;
		assert_string_equal(xc_checkpoint_find(checkpoint, &input)->why, why);
	}
	assert_string_equal(xc_checkpoint_find(checkpoint, &inputs[1])->why, why);
	xc_checkpoint_close(checkpoint);
}

/* A plan names, by path and size, cores that no longer exist. */
static void what_was_finished_is_not_lost_with_its_core(void **state)
{
	struct xc_input first = inputs[0], last = inputs[0];
	struct xc_input gone = {.path = inputs[0].path, .file = "", .size = inputs[0].size};
	(void)state;
	first.mtime_ns = 9000;
	last.mtime_ns = 7;
	struct xc_checkpoint *checkpoint = open_it("one", false);
	add(checkpoint, &first, "first");
	add(checkpoint, &last, "last");
	add(checkpoint, &inputs[1], "another");
	xc_checkpoint_close(checkpoint);
	checkpoint = open_it("one", true);
	assert_string_equal(xc_checkpoint_find(checkpoint, &gone)->why, "last");
	gone.size++;
	assert_null(xc_checkpoint_find(checkpoint, &gone));
	xc_checkpoint_close(checkpoint);
}

/* Foreign data appended to it is removed. */
static void what_is_no_line_of_ours_is_cut_off(void **state)
{
	(void)state;
	fill();
	FILE *file = fopen(path, "a");
	for (unsigned i = 0; i < 3 << 20; i++)
		putc('x', file);
	fputs("\n{\"path\":\"c\"}\n", file);
	fclose(file);
	struct xc_checkpoint *checkpoint = open_it("one", true);
	assert_non_null(xc_checkpoint_find(checkpoint, &inputs[0]));
	assert_non_null(xc_checkpoint_find(checkpoint, &inputs[1]));
	xc_checkpoint_close(checkpoint);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_in_range(st.st_size, 1, 4096);
}

/* The files with and without which records were made are numbered across all lines, including those of an earlier
 * run. */
static void what_records_were_made_with_and_without_is_found(void **state)
{
	struct xc_file_dependency files[] = {
		{.path = "/a"}, {.root = "/r", .path = "/b", .was = "1 2 3"}, {.path = "/c"}};
	struct xc_file_dependency *lists[][2] = {{&files[0], &files[1]}, {&files[1], &files[2]}};
	struct xc_record *found[XC_COUNT(inputs)];
	(void)state;
	for (size_t i = 0; i < XC_COUNT(inputs); i++) {
		struct xc_checkpoint *checkpoint = open_it("one", true);
		struct xc_record *record = xc_record_failed(&arena, XC_RECORD_DIED, inputs[i].path, "why");
		record->dependencies = lists[i];
		record->dependency_count = 2;
		assert_null(xc_checkpoint_add(checkpoint, &inputs[i], record));
		xc_checkpoint_close(checkpoint);
	}
	struct xc_checkpoint *checkpoint = open_it("one", true);
	for (size_t i = 0; i < XC_COUNT(inputs); i++) {
		found[i] = xc_checkpoint_find(checkpoint, &inputs[i]);
		assert_int_equal(found[i]->dependency_count, 2);
		for (size_t k = 0; k < 2; k++)
			assert_int_equal(xc_file_dependency_compare(found[i]->dependencies[k], lists[i][k]), 0);
	}
	assert_ptr_equal(found[0]->dependencies[1], found[1]->dependencies[0]); /* must be looked for once */
	xc_checkpoint_close(checkpoint);
}

/* A record too long to be read back is not written: it would make the rest unreadable. */
static void a_line_that_is_too_long_is_not_kept(void **state)
{
	enum { LARGE = 3 << 20 };
	struct xc_file_dependency file = {.path = xc_arena_alloc(&arena, LARGE + 1)};
	struct xc_file_dependency *list[] = {&file};
	struct xc_record *record = xc_record_failed(&arena, XC_RECORD_DIED, inputs[0].path, "why");
	(void)state;
	memset((char *)(uintptr_t)file.path, 'a', LARGE);
	record->dependencies = list;
	record->dependency_count = 1;
	struct xc_checkpoint *checkpoint = open_it("one", false);
	struct xc_error *err = xc_checkpoint_add(checkpoint, &inputs[0], record);
	assert_int_equal(err->code, XC_ERR_LIMIT);
	xc_error_free(err);
	add(checkpoint, &inputs[1], "why");
	xc_checkpoint_close(checkpoint);
	checkpoint = open_it("one", true);
	assert_null(xc_checkpoint_find(checkpoint, &inputs[0]));
	assert_non_null(xc_checkpoint_find(checkpoint, &inputs[1]));
	xc_checkpoint_close(checkpoint);
}

static void other_settings_begin_anew(void **state)
{
	(void)state;
	fill();
	xc_checkpoint_close(open_it("two", true));
	struct xc_checkpoint *checkpoint = open_it("one", true);
	assert_null(xc_checkpoint_find(checkpoint, &inputs[0]));
	assert_int_equal(xc_checkpoint_lost(checkpoint), 0);
	xc_checkpoint_close(checkpoint);
}

/* Wherever a writer was killed, the lines before are there, and the checkpoint accepts new ones. */
static void a_torn_line_is_cut_off(void **state)
{
	struct stat st;
	(void)state;
	fill();
	assert_int_equal(stat(path, &st), 0);
	for (off_t size = st.st_size - 1; size > 0; size -= 7) {
		assert_int_equal(truncate(path, size), 0);
		struct xc_checkpoint *checkpoint = open_it("one", true);
		assert_null(xc_checkpoint_find(checkpoint, &inputs[1]));
		assert_null(xc_checkpoint_add(checkpoint, &inputs[1],
					      xc_record_failed(&arena, XC_RECORD_DIED, inputs[1].path, "again")));
		xc_checkpoint_close(checkpoint);
		checkpoint = open_it("one", true);
		assert_non_null(xc_checkpoint_find(checkpoint, &inputs[1]));
		xc_checkpoint_close(checkpoint);
		fill();
	}
}

static void a_fifo_is_no_ledger(void **state)
{
	struct xc_checkpoint *checkpoint;
	(void)state;
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	struct xc_error *err = xc_checkpoint_open(path, "one", true, &arena, &checkpoint); /* and nothing blocks */
	assert_int_equal(err->code, XC_ERR_UNSUPPORTED);
	xc_error_free(err);
}

static void let_no_file_be_read(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EIO), SCMP_SYS(read), 0) || seccomp_load(filter))
		_exit(2);
}

/* The checkpoint itself has the last free descriptor number. */
static void let_no_number_be_free(void)
{
	const int next = dup(0);
	const struct rlimit few = {(rlim_t)next + 1, (rlim_t)next + 1};
	close(next);
	if (setrlimit(RLIMIT_NOFILE, &few))
		_exit(2);
}

/* The error code of a process that opens the checkpoint after this. */
static int error_after(void (*hinder)(void))
{
	int status;
	const pid_t pid = fork();
	if (pid == 0) {
		struct xc_checkpoint *checkpoint;
		hinder();
		struct xc_error *err = xc_checkpoint_open(path, "one", true, &arena, &checkpoint);
		_exit(err ? (int)err->code : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void what_cannot_be_read_is_not_taken_for_its_end(void **state)
{
	void (*const ways[])(void) = {let_no_file_be_read, let_no_number_be_free};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(ways); i++) {
		fill();
		assert_int_equal(error_after(ways[i]), XC_ERR_IO);
		struct xc_checkpoint *checkpoint = open_it("one", true);
		for (size_t k = 0; k < XC_COUNT(inputs); k++)
			assert_non_null(xc_checkpoint_find(checkpoint, &inputs[k]));
		xc_checkpoint_close(checkpoint);
	}
}

static void two_runs_do_not_share_one(void **state)
{
	struct xc_checkpoint *other;
	(void)state;
	struct xc_checkpoint *checkpoint = open_it("one", false);
	struct xc_error *err = xc_checkpoint_open(path, "one", true, &arena, &other);
	assert_non_null(err);
	xc_error_free(err);
	xc_checkpoint_close(checkpoint);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_added_is_found),
		TEST(a_changed_file_is_not_found),
		TEST(other_settings_begin_anew),
		TEST(a_torn_line_is_cut_off),
		TEST(what_cannot_be_read_is_not_taken_for_its_end),
		TEST(two_runs_do_not_share_one),
		TEST(a_fifo_is_no_ledger),
		TEST(a_name_may_be_any_bytes),
		TEST(the_last_line_of_a_file_counts),
		TEST(what_was_finished_is_not_lost_with_its_core),
		TEST(what_is_no_line_of_ours_is_cut_off),
		TEST(what_records_were_made_with_and_without_is_found),
		TEST(a_line_that_is_too_long_is_not_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
