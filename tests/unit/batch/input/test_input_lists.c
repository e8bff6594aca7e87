/* layer: batch */
/* input: the files that lists and patterns name. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "batch/input/input.h"
#include "batch/util/namelist.h"
#include "tests/support/scratch.h"
#include "tests/unit/batch/input/planted.h"

static void a_list_names_files_and_directories(void **state)
{
	(void)state;
	PLANT("d7/core", core);
	PLANT("d7/a\nb", core);
	PLANT("d7/dir/core", core);
	PLANT("d7/dir/note", "note");
	char list[4096];
	int n = snprintf(list, sizeof list, "\n%s/d7/core\n%s/d7/gone\n%s/d7/dir", scratch_dir(), scratch_dir(),
			 scratch_dir());
	struct xc_inputs *inputs = listed(list, (size_t)n);
	CHECK_PATHS(inputs, "core", "dir/core", "gone"); /* not omitted: its record reports it */
	assert_int_equal(inputs->inputs[2].size, 0);
	xc_inputs_free(inputs);
	n = snprintf(list, sizeof list, "%s/d7/a\nb%c%s/d7/core%c", scratch_dir(), 0, scratch_dir(), 0);
	inputs = listed(list, (size_t)n);
	CHECK_PATHS(inputs, "a\nb", "core");
	xc_inputs_free(inputs);
	inputs = listed("", 0);
	assert_int_equal(inputs->count, 0);
	xc_inputs_free(inputs);
}

/* As written by editors of another system. */
static void a_list_may_have_a_mark_and_long_line_ends(void **state)
{
	(void)state;
	PLANT("d10/core", core);
	PLANT("d10/core.1\r", core);
	char list[4096];
	int n = snprintf(list, sizeof list, "\xef\xbb\xbf%s/d10/core\r\n\r\n%s/d10/gone\r", scratch_dir(),
			 scratch_dir());
	struct xc_inputs *inputs = listed(list, (size_t)n);
	CHECK_PATHS(inputs, "core", "gone");
	assert_true(inputs->inputs[0].size > 0);
	xc_inputs_free(inputs);
	n = snprintf(list, sizeof list, "%s/d10/core.1\r%c%s/d10/core%c", scratch_dir(), 0, scratch_dir(), 0);
	inputs = listed(list, (size_t)n); /* after NUL separators names are literal */
	CHECK_PATHS(inputs, "core", "core.1\r");
	assert_true(inputs->inputs[1].size > 0);
	xc_inputs_free(inputs);
}

static void a_list_that_is_no_regular_file_is_an_error(void **state)
{
	struct xc_namelist list = {0};
	(void)state;
	assert_int_equal(mkfifo(scratch_path("fifo-list"), 0600), 0); /* and does not wait for a writer */
	CHECK_ERROR(xc_namelist_read(&list, scratch_path("fifo-list")), XC_ERR_UNSUPPORTED, "not a regular file");
	CHECK_ERROR(xc_namelist_read(&list, "/dev/zero"), XC_ERR_UNSUPPORTED, "not a regular file");
	int saved = dup(0), fd = open("/dev/zero", O_RDONLY);
	dup2(fd, 0);
	CHECK_ERROR(xc_namelist_read(&list, "-"), XC_ERR_LIMIT, "standard input: more than 10000000 names");
	dup2(saved, 0);
	close(saved);
	close(fd);
	clearerr(stdin);
	xc_namelist_fini(&list);
}

static void a_list_that_is_none_is_an_error(void **state)
{
	(void)state;
	struct xc_namelist list = {0};
	static char text[70000];
	memset(text, 'x', sizeof text);
	CHECK_ERROR(xc_namelist_read(&list, scratch_file("l", text, sizeof text)), XC_ERR_FORMAT, "line 1 is too long");
	memcpy(text, "a\nb\r\n\n", 6);
	CHECK_ERROR(xc_namelist_read(&list, scratch_file("l", text, sizeof text)), XC_ERR_FORMAT, "line 4 is too long");
	memset(text, '\n', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	CHECK_ERROR(xc_namelist_read(&list, scratch_file("l", text, sizeof text)), XC_ERR_FORMAT, "NUL");
	CHECK_ERROR(xc_namelist_read(&list, scratch_path("none")), XC_ERR_NOT_FOUND, "none");
	CHECK_ERROR(xc_namelist_read(&list, scratch_dir()), XC_ERR_IO, "s a directory");
	xc_namelist_fini(&list);
}

static void standard_input_is_a_list(void **state)
{
	(void)state;
	char *line = xc_asprintf("%s\n", scratch_path("absent/core"));
	int saved = dup(0), fd = open(scratch_file("names", line, strlen(line)), O_RDONLY);
	rmdir(scratch_path("absent"));
	dup2(fd, 0);
	struct xc_inputs *inputs = FIND("-");
	dup2(saved, 0);
	close(saved);
	close(fd);
	free(line);
	CHECK_PATHS(inputs, "core");
	xc_inputs_free(inputs);
}

static void a_pattern_stands_for_the_names_that_fit(void **state)
{
	(void)state;
	struct xc_inputs *inputs = NULL;
	PLANT("d14/one/core.1.zst", zstd);
	PLANT("d14/one/core.2.zst", zstd);
	PLANT("d14/one/core.3", core);
	PLANT("d14/one/.core.4.zst", zstd);
	PLANT("d14/two/core.5.zst", zstd);
	PLANT("d14/t[w]o", core);
	inputs = FIND(scratch_path("d14/one/*.zst"));
	CHECK_PATHS(inputs, "core.1.zst", "core.2.zst");
	xc_inputs_free(inputs);
	inputs = FIND(scratch_path("d14/*/core.[25].zs?"));
	CHECK_PATHS(inputs, "one/core.2.zst", "two/core.5.zst");
	xc_inputs_free(inputs);
	inputs = FIND(scratch_path("d14/t[w]o")); /* a file with this literal name exists */
	CHECK_PATHS(inputs, "t[w]o");
	xc_inputs_free(inputs);
	PLANT("d14/[x]/core.7", core);
	PLANT("d14/x/core.8", core);
	inputs = FIND(scratch_path("d14/[x]/core.*"));
	CHECK_PATHS(inputs, "[x]/core.7", "x/core.8");
	xc_inputs_free(inputs);
	PLANT("d14/in [31m/core.6", core);
	inputs = FIND(scratch_path("d14/in [31m")); /* not a pattern */
	CHECK_PATHS(inputs, "core.6");
	assert_int_equal(inputs->directory_count, 1);
	xc_inputs_free(inputs);
	inputs = FIND(scratch_path("d14/o?e")); /* a directory */
	CHECK_PATHS(inputs, ".core.4.zst", "core.1.zst", "core.2.zst", "core.3");
	xc_inputs_free(inputs);
	const char *none[] = {scratch_path("d14/*.gz")};
	CHECK_ERROR(xc_inputs_find(none, 1, &inputs), XC_ERR_NOT_FOUND, "d14/*.gz: no file's name fits this pattern");
	char *before = getcwd(NULL, 0);
	assert_int_equal(chdir(scratch_path("d14/one")), 0);
	inputs = FIND("*.zst");
	assert_int_equal(chdir(before), 0);
	CHECK_PATHS(inputs, "core.1.zst", "core.2.zst");
	free(before);
	xc_inputs_free(inputs);
}

/* A user with write permission there decides which files match, or have the pattern as their name, and can remove them
 * before they are examined. */
static void what_a_pattern_finds_is_not_what_the_user_named(void **state)
{
	(void)state;
	PLANT("d17/in/core", core);
	PLANT("d17-other/core", core);
	assert_int_equal(symlink("../d17-other", scratch_path("d17/link")), 0);
	assert_int_equal(symlink("nowhere", scratch_path("d17/nothing")), 0);
	struct xc_inputs *inputs = FIND(scratch_path("d17/*"));
	CHECK_PATHS(inputs, "in/core", "link/core", "nothing");
	assert_int_equal(inputs->inputs[2].size, 0);
	assert_int_equal(inputs->directory_count, 0);
	xc_inputs_free(inputs);
	assert_int_equal(symlink("../d17-other", scratch_path("d17/*")), 0);
	inputs = FIND(scratch_path("d17/*"));
	CHECK_PATHS(inputs, "core");
	assert_int_equal(inputs->directory_count, 0);
	xc_inputs_free(inputs);
	inputs = FIND(scratch_path("d17/in"), scratch_path("d17/i*"));
	assert_int_equal(inputs->directory_count, 1);
	xc_inputs_free(inputs);
}

static void patterns_stand_in_lists_of_lines_only(void **state)
{
	(void)state;
	PLANT("d15/core.1", core);
	PLANT("d15/core.2", core);
	char list[4096];
	int n = snprintf(list, sizeof list, "%s/d15/core.*\n%s/d15/*.gz\n", scratch_dir(), scratch_dir());
	struct xc_inputs *inputs = listed(list, (size_t)n);
	CHECK_PATHS(inputs, "*.gz", "core.1", "core.2");
	assert_int_equal(inputs->note_count, 1);
	assert_non_null(strstr(inputs->notes[0], "*.gz: no file's name fits"));
	xc_inputs_free(inputs);
	n = snprintf(list, sizeof list, "%s/d15/core.*%c", scratch_dir(), 0);
	inputs = listed(list, (size_t)n);
	CHECK_PATHS(inputs, "core.*");
	xc_inputs_free(inputs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_names_files_and_directories),
		cmocka_unit_test(a_list_may_have_a_mark_and_long_line_ends),
		cmocka_unit_test(a_list_that_is_no_regular_file_is_an_error),
		cmocka_unit_test(a_list_that_is_none_is_an_error),
		cmocka_unit_test(standard_input_is_a_list),
		cmocka_unit_test(a_pattern_stands_for_the_names_that_fit),
		cmocka_unit_test(what_a_pattern_finds_is_not_what_the_user_named),
		cmocka_unit_test(patterns_stand_in_lists_of_lines_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
