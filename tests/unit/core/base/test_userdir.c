/* layer: core */
#include "tests/support/check.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/userdir.h"
#include "tests/support/scratch.h"

static void check_path(const char *wanted)
{
	xc_auto(xc_freep) char *path = xc_userdir("XC_TEST_HOME", ".below", "xcore/part");
	if (wanted)
		assert_string_equal(path, wanted);
	else
		assert_null(path);
}

static void the_variable_comes_before_the_home(void **state)
{
	(void)state;
	setenv("HOME", "/home/ann", 1);
	setenv("XC_TEST_HOME", "/data", 1);
	check_path("/data/xcore/part");
	unsetenv("XC_TEST_HOME");
	check_path("/home/ann/.below/xcore/part");
}

static void relative_paths_do_not_count(void **state)
{
	(void)state;
	setenv("HOME", "/home/ann", 1);
	setenv("XC_TEST_HOME", "data", 1);
	check_path("/home/ann/.below/xcore/part");
	setenv("HOME", "", 1);
	check_path(NULL);
	unsetenv("HOME");
	check_path(NULL);
}

static void parents_are_made_with_the_mode(void **state)
{
	(void)state;
	struct stat st;
	xc_auto(xc_freep) char *path = xc_asprintf("%s/a/b", scratch_path("userdir"));
	assert_true(xc_userdir_make(path, 0700));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_true(xc_userdir_make(path, 0700)); /* again */
	assert_false(xc_userdir_make("/dev/null/xcore", 0700));
	assert_int_equal(errno, ENOTDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_variable_comes_before_the_home),
		cmocka_unit_test(relative_paths_do_not_count),
		cmocka_unit_test(parents_are_made_with_the_mode),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
