/* layer: batch tier: long */
/* export: paths; all formats are inert, reproducible and valid. */
#include "batch/export/export_cluster.h"
#include "tests/support/exported.h"

static void check_path(const char *root, const char *file, const char *wanted)
{
	const struct xc_export_options options = {.source_root = root};
	xc_auto(xc_freep) char *path = xc_export_path(&options, file);
	if (wanted)
		assert_string_equal(path, wanted);
	else
		assert_null(path);
}

static void paths_begin_below_the_root(void **state)
{
	(void)state;
	check_path("/build/app", "/build/app/src/a.c", "src/a.c");
	check_path("/build/app/", "/build/app/src/a.c", "src/a.c");
	check_path("/build//./app", "/build/app/out/../src/./a.c", "src/a.c");
	check_path("/build/app", "/build/apple/a.c", "/build/apple/a.c");
	check_path("/build/app", "/build/app", "/build/app");
	check_path("/", "/usr/a.c", "usr/a.c");
	check_path(NULL, "/build/app//src/a.c", "/build/app/src/a.c");
	check_path("/build/app", "src/../../a.c", "../a.c");
	check_path("/build/app", "../../a.c", "../../a.c");
	check_path("/build/app", "/../../a.c", "/a.c");
	check_path("/build/app", "/build/app/../../etc/passwd", "/etc/passwd");
	check_path("/build/app", "", NULL);
	check_path("/build/app", NULL, NULL);
}

static void a_root_below_home_is_found_where_home_is_left_out(void **state)
{
	(void)state;
	check_path("/home/runner/build/shop", "~/build/shop/src/a.c", "src/a.c");
	check_path("/home/runner/build/shop/", "~/build/shop/out/../src/a.c", "src/a.c");
	check_path("/home/runner/build/shop", "/home/runner/build/shop/src/a.c", "src/a.c");
	check_path("/home/jenkins/shop", "~/shop/src/a.c", "src/a.c");
	check_path("/root", "~/src/a.c", "src/a.c");
	check_path("/home/runner/build/shop", "~/build/shopping/a.c", "~/build/shopping/a.c");
	check_path("/build/app", "~/app/a.c", "~/app/a.c");
	check_path(NULL, "~/build/a.c", "~/build/a.c");
	check_path("/home/jenkins/shop", "~/shop/../../etc/passwd", "~/../etc/passwd");
}

static void only_paths_of_the_repository_are_inside(void **state)
{
	(void)state;
	const struct xc_export_options known = {.source_root = "/src"}, unknown = {0};
	assert_true(xc_export_inside(&unknown, "src/a.c"));
	assert_true(xc_export_inside(&unknown, "..a.c"));
	assert_false(xc_export_inside(&unknown, "../a.c"));
	assert_false(xc_export_inside(&unknown, ".."));
	assert_false(xc_export_inside(&unknown, "/src/a.c"));
	assert_false(xc_export_inside(&unknown, NULL));
	assert_true(xc_export_inside(&known, "/src/lib/../a.c"));
	assert_false(xc_export_inside(&known, "/src/../a.c"));
	/* as in Debian's C library */
	assert_false(xc_export_inside(&known, "./nptl/pthread_kill.c"));
	const struct xc_export_options home = {.source_root = "/home/jenkins/shop"};
	assert_true(xc_export_inside(&home, "~/shop/src/a.c"));
	assert_false(xc_export_inside(&home, "~/other/a.c"));
	assert_false(xc_export_inside(&unknown, "~/shop/src/a.c"));
}

static void all_formats_say_that_a_stack_is_lost(void **state)
{
	(void)state;
	struct xc_problems *problems = problems_made();
	struct xc_signature *s = (struct xc_signature *)problems->problems[0].members[0].signature;
	s->weak = s->lost = true;
	s->told = "abort | server (stack lost: maybe several problems)";
	problems->problems[0].guessed = 2;
	for (const struct xc_export *const *e = xc_exports; *e; e++) {
		xc_auto(xc_freep) char *text = exported_text((*e)->name, problems, &exported_options);
		if (!strstr(text, "stack lost: maybe several problems"))
			fail_msg("%s: %s", (*e)->name, text);
		exported_is_valid((*e)->name, text);
	}
	xc_auto(xc_freep) char *summary = exported_text("summary", problems, &exported_options);
	assert_non_null(strstr(summary, "2 cores of these by first frames alone: a guess\n"));
	xc_auto(xc_freep) char *page = exported_text("text", problems, &exported_options);
	assert_non_null(strstr(page, ", 2 by a guess"));
	problems_unmake(problems);
}

static void all_formats_are_inert_valid_and_the_same_each_time(void **state)
{
	(void)state;
	for (const struct xc_export *const *e = xc_exports; *e; e++) {
		struct xc_problems *problems = problems_made();
		xc_auto(xc_freep) char *text = exported_text((*e)->name, problems, &exported_options);
		xc_auto(xc_freep) char *again = exported_text((*e)->name, problems, &exported_options);
		assert_string_equal(text, again);
		exported_is_plain(text);
		exported_is_valid((*e)->name, text);
		problems_unmake(problems);
	}
}

static void nothing_found_is_an_answer_too(void **state)
{
	(void)state;
	for (const struct xc_export *const *e = xc_exports; *e; e++) {
		struct xc_problems *problems = problems_many(0);
		const struct xc_export_options plain = {0};
		xc_auto(xc_freep) char *text = exported_text((*e)->name, problems, &plain);
		exported_is_valid((*e)->name, text);
		problems_unmake(problems);
	}
}

static void a_full_disk_is_an_error(void **state)
{
	(void)state;
	struct xc_problems *problems = problems_made();
	for (const struct xc_export *const *e = xc_exports; *e; e++) {
		FILE *full = fopen("/dev/full", "w");
		CHECK_ERROR((*e)->write(problems, &exported_options, full), XC_ERR_IO, "writing ");
		fclose(full);
	}
	problems_unmake(problems);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_begin_below_the_root),
		cmocka_unit_test(a_root_below_home_is_found_where_home_is_left_out),
		cmocka_unit_test(only_paths_of_the_repository_are_inside),
		cmocka_unit_test(all_formats_say_that_a_stack_is_lost),
		cmocka_unit_test(all_formats_are_inert_valid_and_the_same_each_time),
		cmocka_unit_test(nothing_found_is_an_answer_too),
		cmocka_unit_test(a_full_disk_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
