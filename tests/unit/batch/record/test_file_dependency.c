/* layer: batch */
/* file_dependency: a record keeps the files it was made with, and the missing ones, and reads them back unchanged from
 * a checkpoint's lines. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/run/dependency_table.h"
#include "tests/support/scratch.h"

static struct xc_arena arena;

static int forget(void **state)
{
	(void)state;
	xc_arena_fini(&arena);
	return 0;
}

/* ---- stored dependencies ---- */

static bool has(const struct xc_record *record, const char *root, const char *path, bool was)
{
	for (size_t i = 0; i < record->dependency_count; i++) {
		const struct xc_file_dependency *s = record->dependencies[i];
		if (!strcmp(s->path, path) && !s->root == !root && (!root || !strcmp(s->root, root)) &&
		    (s->was != NULL) == was)
			return true;
	}
	return false;
}

static void note(struct xc_file_dependency_list *list, const char *root, const char *path, int fd)
{
	char state[XC_FILE_DEPENDENCY_STATE];
	if (fd >= 0)
		xc_file_dependency_state(fd, state);
	xc_file_dependency_add(list,
			       &(struct xc_file_dependency){.root = root, .path = path, .was = fd >= 0 ? state : NULL});
}

static void what_was_there_and_what_was_not_is_kept(void **state)
{
	struct xc_file_dependency_list list = {.count = 0};
	struct xc_record record = {.status = XC_RECORD_OK};
	const int fd = open(scratch_file("file", "x", 1), O_RDONLY);
	(void)state;
	note(&list, NULL, "/lib/libbar.so", -1);
	note(&list, "/root", "/lib/libbar.so", -1);
	note(&list, NULL, "/lib/libgood.so", fd);
	note(&list, NULL, "/lib/libgood.so", fd); /* again */
	note(&list, NULL, "/lib/libbar.so", -1);
	note(&list, NULL, "/lib/\xff.so", -1); /* not UTF-8 */
	note(&list, "/\xc3(", "/lib/libbar.so", fd);
	xc_file_dependency_store(&list, &record, &arena);
	xc_file_dependency_fini(&list);
	assert_int_equal(record.dependency_count, 5);
	assert_true(has(&record, NULL, "/lib/libbar.so", false));
	assert_true(has(&record, "/root", "/lib/libbar.so", false));
	assert_true(has(&record, NULL, "/lib/libgood.so", true));
	assert_true(has(&record, NULL, "/lib/\xff.so", false));
	assert_true(has(&record, "/\xc3(", "/lib/libbar.so", true));
	for (size_t i = 1; i < record.dependency_count; i++)
		assert_true(xc_file_dependency_compare(record.dependencies[i - 1], record.dependencies[i]) < 0);
	close(fd);
}

/* That many names, each requested that often; the last one has a file. */
static struct xc_record keep(size_t names, size_t times, bool cut)
{
	enum { LONG = 1000 };
	struct xc_file_dependency_list list = {.cut = cut};
	struct xc_record record = {.status = XC_RECORD_OK};
	char filler[LONG + 1] = {0};
	memset(filler, 'a', LONG);
	for (size_t i = 0; i < names * times; i++)
		xc_file_dependency_add(&list, &(struct xc_file_dependency){
						      .path = xc_arena_printf(&arena, "%s%zu", filler, i % names)});
	xc_file_dependency_add(&list, &(struct xc_file_dependency){.path = "/last", .was = "1 2"});
	xc_file_dependency_store(&list, &record, &arena);
	xc_file_dependency_fini(&list);
	return record;
}

/* Repeated requests of a core do not count again; a dependency that does not fit is reported. */
static void of_too_much_nothing_is_kept_and_the_record_passes(void **state)
{
	(void)state;
	struct xc_record record = keep(100, 10, false);
	assert_int_equal(record.dependency_count, 101);
	assert_true(has(&record, NULL, "/last", true));
	assert_false(record.passing);
	record = keep(1000, 1, false);
	assert_int_equal(record.dependency_count, 0);
	assert_true(record.passing);
	record = keep(1, 1, true);
	assert_int_equal(record.dependency_count, 0);
	assert_true(record.passing);
}

static void states_tell_files_apart(void **state)
{
	char first[XC_FILE_DEPENDENCY_STATE], again[XC_FILE_DEPENDENCY_STATE], other[XC_FILE_DEPENDENCY_STATE];
	const char *path = scratch_file("one", "x", 1);
	(void)state;
	int fd = open(path, O_RDWR);
	xc_file_dependency_state(fd, first);
	xc_file_dependency_state(fd, again);
	assert_string_equal(first, again);
	assert_int_equal(write(fd, "yz", 2), 2);
	xc_file_dependency_state(fd, other);
	assert_string_not_equal(first, other);
	close(fd);
	fd = open(scratch_file("two", "x", 1), O_RDONLY);
	xc_file_dependency_state(fd, other);
	assert_string_not_equal(first, other);
	close(fd);
	xc_file_dependency_state(-1, other);
	assert_string_equal(other, "");
}

/* ---- lines ---- */

static struct xc_file_dependency *dependency(const char *root, const char *path, const char *was)
{
	const struct xc_file_dependency s = {.root = root, .path = path, .was = was};
	return xc_file_dependency_copy(&s, &arena);
}

static void what_is_written_is_read(void **state)
{
	struct xc_file_dependency *const all[] = {dependency(NULL, "/a", NULL), dependency("/r", "/a", NULL),
						  dependency("/r", "b\n\"", "1 2 3"), dependency(NULL, "", ""),
						  dependency("/\xff\xc3\xa4", "\\xff \\ \xc3\xa4", NULL)};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(all); i++) {
		json_t *array = xc_file_dependency_json(all[i]);
		const struct xc_file_dependency *back = xc_file_dependency_parse(array, &arena);
		assert_non_null(back);
		assert_int_equal(xc_file_dependency_compare(all[i], back), 0);
		json_decref(array);
	}
}

static void what_is_no_such_thing_is_not_read(void **state)
{
	static const char *const texts[] = {"[]",
					    "[0,\"\"]",
					    "[\"\",\"a\"]",
					    "[-1,\"\",\"a\"]",
					    "[1.5,\"\",\"a\"]",
					    "[0,\"\",1]",
					    "[0,\"\",\"a\",null]",
					    "[0,\"\",\"a\",\"b\",\"c\"]",
					    "[0,\"\",\"\\\\x0\"]",
					    "[0,\"\",\"\\\\x00\"]",
					    "[0,\"\\\\\",\"a\"]",
					    "{}",
					    "null"};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(texts); i++) {
		json_t *value = json_loads(texts[i], JSON_DECODE_ANY, NULL);
		assert_non_null(value);
		assert_null(xc_file_dependency_parse(value, &arena));
		json_decref(value);
	}
}

/* ---- a table ---- */

enum { FILES = 40, RECORDS = 60 };

struct pen {
	struct xc_dependency_table table;
	struct xc_pool pool;
};

/* A record made with the files whose bit is set, and without the others. */
static struct xc_record without(uint64_t bits)
{
	struct xc_record record = {.dependencies = xc_arena_alloc(&arena, FILES * sizeof(struct xc_file_dependency *))};
	for (unsigned i = 0; i < FILES; i++) {
		char *path = xc_arena_printf(&arena, "/lib/lib%02u.so", i);
		if (bits >> i & 1)
			record.dependencies[record.dependency_count++] =
				dependency(i % 3 ? NULL : "/root", path, i % 5 ? NULL : "1 2 3");
	}
	return record;
}

static void check_equal(const struct xc_record *a, const struct xc_record *b)
{
	assert_int_equal(a->dependency_count, b->dependency_count);
	for (size_t i = 0; i < a->dependency_count; i++)
		assert_int_equal(xc_file_dependency_compare(a->dependencies[i], b->dependencies[i]), 0);
}

/* One process writes and another reads, as in two runs. Each file is written once, and two records that name it share
 * one entry. */
static void each_file_is_said_once(void **state)
{
	struct pen writer = {.table.arena = &arena}, reader = {.table.arena = &arena, .pool.arena = &arena};
	uint64_t bits = 0x9e3779b97f4a7c15;
	size_t said = 0;
	(void)state;
	for (unsigned i = 0; i < RECORDS; i++, bits = bits * 6364136223846793005 + 1442695040888963407) {
		struct xc_record record = without(bits >> 24), back = {.status = XC_RECORD_OK};
		json_t *array = xc_dependency_table_json(&writer.table, &record);
		for (size_t k = 0; k < json_array_size(array); k++)
			said += json_is_array(json_array_get(array, k));
		xc_dependency_table_learn(&writer.table, &record);
		assert_true(xc_dependency_table_read(&reader.table, array, &reader.pool, &back));
		check_equal(&record, &back);
		for (size_t k = 0; k < back.dependency_count; k++)
			assert_ptr_equal(back.dependencies[k], reader.table.files[back.dependencies[k]->number]);
		json_decref(array);
	}
	assert_int_equal(said, FILES);
	assert_int_equal(reader.table.count, FILES);
	xc_dependency_table_fini(&writer.table);
	xc_dependency_table_fini(&reader.table);
	xc_pool_fini(&reader.pool);
}

static void a_wrong_list_leaves_the_book_as_it_was(void **state)
{
	static const char *const texts[] = {"[[1,\"\",\"/b\"],7]",
					    "[[1,\"\",\"/b\"],1]",
					    "[[1,\"\",\"/b\"],-1]",
					    "[[1,\"\",\"/b\"],[2,\"\"]]",
					    "[[99999999,\"\",\"/b\"]]",
					    "[[1,\"\",\"/b\"],2.5]",
					    "{}",
					    "null"};
	struct pen p = {.table.arena = &arena, .pool.arena = &arena};
	struct xc_record first = {.dependencies = (struct xc_file_dependency *[]){dependency(NULL, "/a", NULL)},
				  .dependency_count = 1};
	struct xc_record both = {.dependencies = (struct xc_file_dependency *[]){dependency(NULL, "/a", NULL),
										 dependency(NULL, "/b", NULL)},
				 .dependency_count = 2};
	(void)state;
	xc_dependency_table_learn(&p.table, &first);
	for (size_t i = 0; i < XC_COUNT(texts); i++) {
		struct xc_record record = {.status = XC_RECORD_OK};
		json_t *value = json_loads(texts[i], JSON_DECODE_ANY, NULL);
		assert_non_null(value);
		assert_false(xc_dependency_table_read(&p.table, value, &p.pool, &record));
		assert_int_equal(record.dependency_count, 0);
		assert_int_equal(p.table.count, 1);
		json_decref(value);
		json_t *array = xc_dependency_table_json(&p.table, &both);
		char *text = json_dumps(array, JSON_COMPACT);
		assert_string_equal(text, "[0,[1,\"\",\"/b\"]]");
		free(text);
		json_decref(array);
	}
	assert_false(xc_dependency_table_read(&p.table, NULL, &p.pool, &first));
	xc_dependency_table_fini(&p.table);
	xc_pool_fini(&p.pool);
}

/* A line that defines numbers is lost: records that use these numbers are not read, and later lines do not redefine
 * them. */
static void numbers_that_nothing_is_known_of_are_not_given_again(void **state)
{
	struct pen p = {.table.arena = &arena, .pool.arena = &arena};
	const char *const lines[] = {"[[0,\"\",\"/a\"]]", "[1]", "[[2,\"\",\"/c\"],0]", "[1,2]", "[2,0]"};
	const bool good[] = {true, false, true, false, true};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(lines); i++) {
		struct xc_record record = {.status = XC_RECORD_OK};
		json_t *value = json_loads(lines[i], 0, NULL);
		assert_int_equal(xc_dependency_table_read(&p.table, value, &p.pool, &record), good[i]);
		json_decref(value);
	}
	struct xc_record both = {.dependencies = (struct xc_file_dependency *[]){dependency(NULL, "/b", NULL),
										 dependency(NULL, "/c", NULL)},
				 .dependency_count = 2};
	json_t *array = xc_dependency_table_json(&p.table, &both);
	char *text = json_dumps(array, JSON_COMPACT);
	assert_string_equal(text, "[[3,\"\",\"/b\"],2]");
	free(text);
	json_decref(array);
	xc_dependency_table_fini(&p.table);
	xc_pool_fini(&p.pool);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, forget)
	const struct CMUnitTest tests[] = {
		TEST(what_was_there_and_what_was_not_is_kept),
		TEST(of_too_much_nothing_is_kept_and_the_record_passes),
		TEST(states_tell_files_apart),
		TEST(what_is_written_is_read),
		TEST(what_is_no_such_thing_is_not_read),
		TEST(each_file_is_said_once),
		TEST(a_wrong_list_leaves_the_book_as_it_was),
		TEST(numbers_that_nothing_is_known_of_are_not_given_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
