/* layer: batch tier: check */
/* checkpoint: a damaged line costs only itself and the lines that need it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "batch/run/checkpoint.h"
#include "batch/record/file_dependency.h"
#include "tests/unit/batch/run/checkpointed.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(damage_costs_no_line_that_it_is_not_in),
		TEST(a_line_that_is_gone_costs_those_that_need_it),
		TEST(a_line_that_is_too_long_costs_no_other),
		TEST(a_first_line_without_room_for_ours_begins_anew),
		TEST(a_line_that_cannot_be_mended_costs_no_other),
		TEST(whoever_mends_it_may_be_killed),
		TEST(what_was_finished_with_other_settings_is_not_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
