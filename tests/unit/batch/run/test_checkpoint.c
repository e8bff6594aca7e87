/* layer: batch */
/* checkpoint: finished records survive any end of the process, and changed ones are dropped. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/run/checkpoint.h"
#include "batch/record/file_dependency.h"

static char path[] = "/tmp/xcore-ledger-XXXXXX";
static struct xc_arena arena;

static const struct xc_input inputs[] = {
	{.path = "b/core", .size = 10, .mtime_ns = 111, .ctime_ns = 112, .ino = 7},
	{.path = "a/core", .size = 20, .mtime_ns = -5, .ctime_ns = -4, .ino = UINT64_MAX},
};

static int make_file(void **state)
{
	(void)state;
	strcpy(path + strlen(path) - 6, "XXXXXX");
	close(mkstemp(path));
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	xc_arena_fini(&arena);
	return unlink(path);
}

static struct xc_checkpoint *open_it(const char *config, bool resume)
{
	struct xc_checkpoint *checkpoint;
	assert_null(xc_checkpoint_open(path, config, resume, &arena, &checkpoint));
	return checkpoint;
}

static void fill(void)
{
	struct xc_checkpoint *checkpoint = open_it("one", false);
	for (size_t i = 0; i < XC_COUNT(inputs); i++)
		assert_null(xc_checkpoint_add(checkpoint, &inputs[i],
					      xc_record_failed(&arena, XC_RECORD_DIED, inputs[i].path, "why")));
	xc_checkpoint_close(checkpoint);
}

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

static void add(struct xc_checkpoint *checkpoint, const struct xc_input *input, const char *why)
{
	assert_null(xc_checkpoint_add(checkpoint, input, xc_record_failed(&arena, XC_RECORD_DIED, input->path, why)));
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

/* ---- damage ---- */

enum { LINES = 5 };

/* Lines that depend on others: the second on the first, the third on both, the fourth on none. */
static const unsigned needs[LINES] = {1, 3, 3, 0, 4};
static const bool falls[LINES][LINES] = {
	{true, true, true}, {false, true, true}, {[2] = true}, {[3] = true}, {[4] = true}};

static struct xc_input input_of(unsigned line)
{
	static const char *const names[LINES] = {"a", "b", "c", "d", "e"};
	return (struct xc_input){.path = names[line], .size = line, .ino = 1};
}

static struct xc_record *record_of(unsigned line)
{
	static struct xc_file_dependency files[] = {{.path = "/a"}, {.path = "/b", .was = "1 2"}, {.path = "/c"}};
	const struct xc_input input = input_of(line);
	struct xc_record *record = xc_record_failed(&arena, XC_RECORD_DIED, input.path, input.path);
	record->dependencies = xc_arena_alloc(&arena, XC_COUNT(files) * sizeof *record->dependencies);
	for (size_t i = 0; i < XC_COUNT(files); i++)
		if (needs[line] >> i & 1)
			record->dependencies[record->dependency_count++] = &files[i];
	return record;
}

static void add_line(struct xc_checkpoint *checkpoint, unsigned line)
{
	const struct xc_input input = input_of(line);
	assert_null(xc_checkpoint_add(checkpoint, &input, record_of(line)));
}

/* Whether it is there, as written. */
static bool is_there(const struct xc_checkpoint *checkpoint, unsigned line)
{
	const struct xc_input input = input_of(line);
	const struct xc_record *found = xc_checkpoint_find(checkpoint, &input), *written = record_of(line);
	if (!found)
		return false;
	assert_string_equal(found->why, written->why);
	assert_int_equal(found->dependency_count, written->dependency_count);
	for (size_t i = 0; i < found->dependency_count; i++)
		assert_int_equal(xc_file_dependency_compare(found->dependencies[i], written->dependencies[i]), 0);
	return true;
}

static size_t write_lines(char *bytes, size_t size)
{
	struct xc_checkpoint *checkpoint = open_it("one", false);
	for (unsigned i = 0; i < LINES; i++)
		add_line(checkpoint, i);
	xc_checkpoint_close(checkpoint);
	FILE *file = fopen(path, "r");
	const size_t len = fread(bytes, 1, size, file);
	assert_in_range(len, 1, size - 1);
	fclose(file);
	return len;
}

static void put_back(const char *bytes, size_t len)
{
	FILE *file = fopen(path, "w");
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

/* In a file with the lines of `hit` damaged, the others are there, immediately and later, and the lost ones can be
 * added again. */
static void check_damaged(const bool hit[LINES], size_t lost_lines)
{
	bool there[LINES];
	struct xc_checkpoint *checkpoint = open_it("one", true);
	assert_int_equal(xc_checkpoint_lost(checkpoint), lost_lines);
	for (unsigned i = 0; i < LINES; i++) {
		bool lost = false;
		for (unsigned k = 0; k < LINES; k++)
			lost |= hit[k] && falls[k][i];
		there[i] = is_there(checkpoint, i);
		assert_int_equal(there[i], !lost);
	}
	xc_checkpoint_close(checkpoint);
	checkpoint = open_it("one", true);
	assert_int_equal(xc_checkpoint_lost(checkpoint), 0);
	for (unsigned i = 0; i < LINES; i++)
		if (there[i])
			assert_true(is_there(checkpoint, i));
		else
			add_line(checkpoint, i);
	xc_checkpoint_close(checkpoint);
	checkpoint = open_it("one", true);
	assert_int_equal(xc_checkpoint_lost(checkpoint), 0);
	for (unsigned i = 0; i < LINES; i++)
		assert_true(is_there(checkpoint, i));
	xc_checkpoint_close(checkpoint);
	xc_arena_fini(&arena);
}

/* Each byte in turn is changed, which may join two lines or split one. */
static void damage_costs_no_line_that_it_is_not_in(void **state)
{
	static const char masks[] = {1, 0x28};
	char bytes[8192];
	(void)state;
	for (size_t m = 0; m < sizeof masks; m++) {
		const size_t len = write_lines(bytes, sizeof bytes);
		int line = -1; /* the head */
		for (size_t at = 0; at < len; line += bytes[at++] == '\n') {
			const bool end = bytes[at] == '\n';
			bool hit[LINES] = {false};
			if (line >= 0)
				hit[line] = true;
			if (end && line + 1 < LINES)
				hit[line + 1] = true;
			size_t lost = 0;
			for (unsigned i = 0; i < LINES; i++) {
				bool falling = false;
				for (unsigned k = 0; k < LINES; k++)
					falling |= hit[k] && falls[k][i];
				lost += falling;
			}
			lost += line < 0 && !end;                     /* the head is a line */
			lost -= end && line >= 0 && line + 1 < LINES; /* two lines become one */
			lost -= end && line + 1 == LINES;             /* a line without an end was being written */
			bytes[at] ^= masks[m];
			lost += bytes[at] == '\n';
			put_back(bytes, len);
			check_damaged(hit, lost);
			bytes[at] ^= masks[m];
		}
	}
}

static void a_line_that_is_gone_costs_those_that_need_it(void **state)
{
	char bytes[8192];
	(void)state;
	const size_t len = write_lines(bytes, sizeof bytes);
	char *from = (char *)memchr(bytes, '\n', len) + 1, *to = (char *)memchr(from, '\n', len) + 1;
	memmove(from, to, len - (size_t)(to - bytes));
	put_back(bytes, len - (size_t)(to - from));
	check_damaged((const bool[LINES]){true}, 2);
}

static void a_line_that_is_too_long_costs_no_other(void **state)
{
	char bytes[8192];
	(void)state;
	const size_t len = write_lines(bytes, sizeof bytes);
	const char *first = (const char *)memchr(bytes, '\n', len) + 1;
	FILE *file = fopen(path, "w");
	fwrite(bytes, 1, (size_t)(first - bytes), file);
	for (unsigned i = 0; i < 5 << 20; i++)
		putc(i % 5 ? 'x' : ' ', file);
	putc('\n', file);
	fwrite(first, 1, len - (size_t)(first - bytes), file);
	assert_int_equal(fclose(file), 0);
	check_damaged((const bool[LINES]){false}, 1);
}

/* The start of a line; 0: the head. */
static size_t begin_of(const char *bytes, unsigned number)
{
	const char *at = bytes;
	while (number--)
		at = strchr(at, '\n') + 1;
	return (size_t)(at - bytes);
}

/* Nothing can be written from there on; 0: writable again. */
static void let_files_end_at(size_t end)
{
	struct rlimit most;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &most), 0);
	most.rlim_cur = end ? end : most.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &most), 0);
}

static void a_first_line_without_room_for_ours_begins_anew(void **state)
{
	char bytes[8192] = {0};
	(void)state;
	const size_t len = write_lines(bytes, sizeof bytes - 1), first = begin_of(bytes, 1);
	memcpy(bytes + first - 2, "x\n", 2);
	put_back(bytes + first - 2, len - first + 2);
	struct xc_checkpoint *checkpoint = open_it("one", true);
	assert_int_equal(xc_checkpoint_lost(checkpoint), 1 + LINES);
	for (unsigned i = 0; i < LINES; i++) {
		assert_false(is_there(checkpoint, i));
		add_line(checkpoint, i);
	}
	xc_checkpoint_close(checkpoint);
	check_damaged((const bool[LINES]){false}, 0);
}

static void a_line_that_cannot_be_mended_costs_no_other(void **state)
{
	char bytes[8192] = {0};
	(void)state;
	const size_t len = write_lines(bytes, sizeof bytes - 1), at = begin_of(bytes, 4);
	bytes[at + 5] ^= 1;
	put_back(bytes, len);
	for (unsigned round = 0; round < 2; round++) { /* it stays as it is */
		let_files_end_at(at);
		struct xc_checkpoint *checkpoint = open_it("one", true);
		let_files_end_at(0);
		assert_int_equal(xc_checkpoint_lost(checkpoint), 1);
		for (unsigned i = 0; i < LINES; i++)
			assert_int_equal(is_there(checkpoint, i), i != 3);
		xc_checkpoint_close(checkpoint);
	}
	check_damaged((const bool[LINES]){[3] = true}, 1);
}

/* A short write simulates the kill. The first two lines are damaged. */
static void whoever_mends_it_may_be_killed(void **state)
{
	static const char head[] = "{\"schema\":\"xcore.ledger/";
	char bytes[8192] = {0}, now[sizeof head - 1];
	(void)state;
	const size_t len = write_lines(bytes, sizeof bytes - 1), first = begin_of(bytes, 1);
	bytes[5] ^= 1;
	bytes[first + 5] ^= 1;
	for (size_t end = first - 1; end <= begin_of(bytes, 2); end++) {
		put_back(bytes, len);
		let_files_end_at(end);
		struct xc_checkpoint *checkpoint = open_it("one", true);
		let_files_end_at(0);
		assert_true(is_there(checkpoint, 3));
		xc_checkpoint_close(checkpoint);
		FILE *file = fopen(path, "r");
		assert_int_equal(fread(now, 1, sizeof now, file), sizeof now);
		assert_memory_equal(now, head, sizeof now);
		fclose(file);
		checkpoint = open_it("one", true);
		assert_true(is_there(checkpoint, 3));
		xc_checkpoint_close(checkpoint);
	}
}

/* A line of another checkpoint is not accepted here. */
static void what_was_finished_with_other_settings_is_not_taken(void **state)
{
	char bytes[8192], more[8192];
	(void)state;
	const size_t len = write_lines(bytes, sizeof bytes);
	struct xc_checkpoint *checkpoint = open_it("two", false);
	add_line(checkpoint, 3);
	xc_checkpoint_close(checkpoint);
	FILE *file = fopen(path, "r");
	const size_t size = fread(more, 1, sizeof more, file);
	fclose(file);
	const char *first = (const char *)memchr(bytes, '\n', len) + 1,
		   *line = (const char *)memchr(more, '\n', size) + 1;
	file = fopen(path, "w");
	fwrite(bytes, 1, (size_t)(first - bytes), file);
	fwrite(line, 1, size - (size_t)(line - more), file);
	fclose(file);
	checkpoint = open_it("one", true);
	assert_int_equal(xc_checkpoint_lost(checkpoint), 1);
	assert_false(is_there(checkpoint, 3));
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
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_file, remove_file)
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
		TEST(damage_costs_no_line_that_it_is_not_in),
		TEST(a_line_that_is_gone_costs_those_that_need_it),
		TEST(a_line_that_is_too_long_costs_no_other),
		TEST(a_first_line_without_room_for_ours_begins_anew),
		TEST(a_line_that_cannot_be_mended_costs_no_other),
		TEST(whoever_mends_it_may_be_killed),
		TEST(what_was_finished_with_other_settings_is_not_taken),
		TEST(a_line_that_is_too_long_is_not_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
