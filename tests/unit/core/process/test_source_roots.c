/* layer: core */
/* Which source files may be read: names from hostile debug information against folders that the user trusts. */
#include "core/process/source_roots.h"
#include "core/text/shellword.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/process/process.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

static struct xc_source_roots roots;
static struct xc_process process;

static int begin(void **state)
{
	(void)state;
	umask(022);
	roots = (struct xc_source_roots){0};
	process = (struct xc_process){.source_roots = &roots};
	scratch_file("tree/src/a.c", "a\n", 2);
	scratch_file("tree/.git/config", "token\n", 6);
	scratch_file("tree/src/.env", "token\n", 6);
	scratch_file("treetop/b.c", "b\n", 2);
	scratch_file("outside/secret", "secret\n", 7);
	unlink(scratch_path("tree/out"));
	unlink(scratch_path("tree/up"));
	unlink(scratch_path("tree/in"));
	unlink(scratch_path("link"));
	assert_int_equal(symlink(scratch_path("outside/secret"), scratch_path("tree/out")), 0);
	assert_int_equal(symlink("../outside", scratch_path("tree/up")), 0);
	assert_int_equal(symlink("src/a.c", scratch_path("tree/in")), 0);
	assert_int_equal(symlink("tree", scratch_path("link")), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	xc_source_roots_fini(&roots);
	return 0;
}

static bool opens(const char *path)
{
	struct xc_source *source = NULL;
	struct xc_error *err = xc_source_roots_open(&process, path, &source);
	assert_true(!err == (source != NULL));
	xc_source_close(source);
	xc_error_free(err);
	return !err;
}

static bool opens_in(const char *folder, const char *rest)
{
	xc_auto(xc_freep) char *path = xc_asprintf("%s/%s", scratch_path(folder), rest);
	return opens(path);
}

static void without_a_folder_nothing_is_read(void **state)
{
	(void)state;
	assert_false(opens(scratch_path("tree/src/a.c")));
	process.source_roots = NULL;
	assert_false(opens(scratch_path("tree/src/a.c")));
	assert_false(opens("/etc/passwd"));
	assert_false(opens(NULL));
	assert_false(opens(""));
}

static void files_below_a_given_folder_are_read(void **state)
{
	(void)state;
	xc_source_roots_add(&roots, scratch_path("tree"));
	assert_true(opens_in("tree", "src/a.c"));
	assert_true(opens_in("tree", "./src/../src//a.c"));
	assert_true(opens_in("tree", "in"));
	assert_true(opens_in("tree", "src/.env")); /* the user named the folder */
	assert_true(opens_in("treetop", "../tree/src/a.c"));
	assert_true(opens("src/a.c"));
	assert_false(opens_in("tree", "src/missing.c"));
	assert_false(opens_in("tree", "src"));
}

static void nothing_outside_is_read_by_any_name(void **state)
{
	(void)state;
	xc_source_roots_add(&roots, scratch_path("tree"));
	assert_false(opens("/etc/passwd"));
	assert_false(opens(scratch_path("outside/secret")));
	assert_false(opens(scratch_path("treetop/b.c"))); /* its name begins alike */
	assert_false(opens_in("tree", "../outside/secret"));
	assert_false(opens_in("tree", "src/../../outside/secret"));
	assert_false(opens_in("tree", "out"));
	assert_false(opens_in("tree", "up/secret"));
	assert_false(opens_in("tree", "/../../../../../../../../etc/passwd"));
	assert_false(opens("../outside/secret"));
	assert_false(opens("/proc/self/environ"));
	assert_false(opens("/proc/self/root/etc/passwd"));
}

static void a_folder_that_was_entered_by_a_link_has_both_names(void **state)
{
	(void)state;
	xc_source_roots_add(&roots, scratch_path("link/"));
	assert_true(opens_in("link", "src/a.c"));
	assert_true(opens_in("tree", "src/a.c"));
}

static void the_working_tree_is_read_without_hidden_files(void **state)
{
	(void)state;
	assert_int_equal(chdir(scratch_path("tree")), 0);
	xc_source_roots_add_tree(&roots);
	assert_int_equal(chdir("/"), 0);
	assert_true(opens_in("tree", "src/a.c"));
	assert_true(opens_in("tree", "src/../src/a.c"));
	assert_false(opens_in("tree", ".git/config"));
	assert_false(opens_in("tree", "src/.env"));
	assert_false(opens_in("tree", "src/../.git/config"));
	assert_false(opens_in("tree", "../outside/secret"));
	assert_false(opens("src/a.c"));
}

static void the_root_directory_is_no_working_tree(void **state)
{
	(void)state;
	assert_int_equal(chdir("/"), 0);
	xc_source_roots_add_tree(&roots);
	assert_false(opens("/etc/passwd"));
	assert_int_equal(roots.count, 0);
}

static void to_root_the_working_tree_is_none_for_a_pack(void **state)
{
	(void)state;
	assert_int_equal(chdir(scratch_path("tree")), 0);
	xc_source_roots_add_tree(&roots);
	assert_int_equal(chdir("/"), 0);
	process.archive = (struct xc_archive *)&process; /* only whether there is one counts */
	assert_true(opens_in("tree", "src/a.c") == (geteuid() != 0));
	xc_source_roots_add(&roots, scratch_path("tree"));
	assert_true(opens_in("tree", "src/a.c"));
}

static void the_sysroot_counts(void **state)
{
	(void)state;
	process.sysroot = scratch_path("tree");
	assert_true(opens("/src/a.c"));
	assert_false(opens("/../outside/secret"));
	assert_false(opens("/out"));
	assert_false(opens(scratch_path("tree/src/a.c")));
	process.source_roots = NULL;
	assert_true(opens("/src/a.c"));
}

static void only_a_file_that_is_there_and_that_all_may_read_is_hinted_at(void **state)
{
	(void)state;
	xc_source_roots_add(&roots, scratch_path("treetop"));
	xc_auto(xc_freep) char *hint = xc_source_roots_hint(&process, scratch_path("tree/src/../src/a.c"));
	xc_auto(xc_freep) char *folder = xc_shellword_file(scratch_path("tree/src"));
	xc_auto(xc_freep) char *wanted = xc_asprintf("--source-root %s", folder);
	assert_string_equal(hint, wanted);
	assert_null(xc_source_roots_hint(&process, scratch_path("tree/src/missing.c")));
	assert_null(xc_source_roots_hint(&process, scratch_path("tree/src")));
	assert_null(xc_source_roots_hint(&process, scratch_path("treetop/b.c")));
	assert_null(xc_source_roots_hint(&process, "src/a.c"));
	assert_null(xc_source_roots_hint(&process, NULL));
	if (geteuid() == 0)
		assert_null(xc_source_roots_hint(&process, "/etc/shadow"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_folder_nothing_is_read, begin, end),
		cmocka_unit_test_setup_teardown(files_below_a_given_folder_are_read, begin, end),
		cmocka_unit_test_setup_teardown(nothing_outside_is_read_by_any_name, begin, end),
		cmocka_unit_test_setup_teardown(a_folder_that_was_entered_by_a_link_has_both_names, begin, end),
		cmocka_unit_test_setup_teardown(the_working_tree_is_read_without_hidden_files, begin, end),
		cmocka_unit_test_setup_teardown(the_root_directory_is_no_working_tree, begin, end),
		cmocka_unit_test_setup_teardown(to_root_the_working_tree_is_none_for_a_pack, begin, end),
		cmocka_unit_test_setup_teardown(the_sysroot_counts, begin, end),
		cmocka_unit_test_setup_teardown(only_a_file_that_is_there_and_that_all_may_read_is_hinted_at, begin,
						end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
