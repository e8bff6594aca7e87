/* layer: core */
/* told, aside: what a command has told is what its keeper removes, and nothing else. */
#include "tests/support/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io/tempfile.h"
#include "core/base/shared_status.h"
#include "tests/support/scratch.h"

/* The paths that are told now. */
static size_t list_told(const char *paths[XC_SHARED_TEMPFILES])
{
	size_t count = 0;
	for (size_t i = 0; i < XC_SHARED_TEMPFILES; i++)
		if (atomic_load(&xc_shared_status()->tempfiles[i].complete))
			paths[count++] = xc_shared_status()->tempfiles[i].path;
	return count;
}

static size_t count_told(void)
{
	const char *paths[XC_SHARED_TEMPFILES];
	return list_told(paths);
}

static void only_names_of_that_process_are_asides(void **state)
{
	(void)state;
	assert_true(xc_shared_status_is_tempfile("/x/.report.12-0.part", 12));
	assert_true(xc_shared_status_is_tempfile(".report.12-345.part", 12));
	assert_true(xc_shared_status_is_tempfile("index-12.part", 12));
	assert_true(xc_shared_status_is_tempfile("/a/.xcore-unpack-12.part", 12));
	assert_false(xc_shared_status_is_tempfile("/x/.report.12-0.part", 13));
	assert_false(xc_shared_status_is_tempfile("/x/.report.112-0.part", 12));
	assert_false(xc_shared_status_is_tempfile("/x/.report.12-0.parts", 12));
	assert_false(xc_shared_status_is_tempfile("/x/report12.part", 12));
	assert_false(xc_shared_status_is_tempfile("/x/report-123.part", 12));
	assert_false(xc_shared_status_is_tempfile("/x-12.part/passwd", 12));
	assert_false(xc_shared_status_is_tempfile("/x/.report.12-.part", 12));
	assert_false(xc_shared_status_is_tempfile(".part", 12));
	assert_false(xc_shared_status_is_tempfile("12.part", 12));
	assert_false(xc_shared_status_is_tempfile("12-0.part", 12));
	assert_false(xc_shared_status_is_tempfile("", 12));
}

static void an_aside_is_told_until_it_has_its_name(void **state)
{
	struct stat st;
	char *name;
	const char *paths[XC_SHARED_TEMPFILES], *path = scratch_path("answer");
	(void)state;
	close(xc_tempfile_open(path, 0600, &name));
	assert_int_equal(list_told(paths), 1);
	assert_string_equal(paths[0], name);
	assert_true(xc_shared_status_is_tempfile(name, getpid()));
	assert_int_equal(xc_tempfile_rename(&name, path), 0);
	assert_null(name);
	assert_int_equal(count_told(), 0);
	assert_int_equal(stat(path, &st), 0);
}

static void one_that_is_removed_is_told_no_more(void **state)
{
	char *name, *gone;
	(void)state;
	close(xc_tempfile_open(scratch_path("answer"), 0600, &name));
	gone = xc_strdup(name);
	xc_tempfile_remove(&name);
	xc_tempfile_remove(&name);
	assert_int_equal(count_told(), 0);
	assert_int_equal(access(gone, F_OK), -1);
	free(gone);
}

static void a_file_without_a_name_gets_one(void **state)
{
	char *name;
	const int fd = open(scratch_dir(), O_TMPFILE | O_RDWR, 0600);
	(void)state;
	if (fd < 0)
		check_skip("no file without a name may be made here");
	assert_int_equal(xc_tempfile_link(fd, scratch_path("linked"), &name), 0);
	close(fd);
	assert_int_equal(count_told(), 1);
	xc_tempfile_remove(&name);
}

static void of_a_dead_process_with_our_number_nothing_is_taken(void **state)
{
	char *first, *second;
	(void)state;
	close(xc_tempfile_open(scratch_path("answer"), 0600, &first));
	close(xc_tempfile_open(scratch_path("answer"), 0600, &second));
	assert_string_not_equal(first, second);
	assert_int_equal(count_told(), 2);
	xc_tempfile_remove(&first);
	xc_tempfile_remove(&second);
}

static void where_none_can_be_made_none_is_told(void **state)
{
	char *name;
	(void)state;
	xc_auto(xc_freep) char *nowhere = xc_asprintf("%s/nowhere/answer", scratch_dir());
	assert_int_equal(xc_tempfile_open(nowhere, 0600, &name), -1);
	assert_null(name);
	assert_int_equal(count_told(), 0);
}

static void of_too_many_the_first_are_told(void **state)
{
	char path[64];
	(void)state;
	for (int i = 0; i < XC_SHARED_TEMPFILES + 2; i++) {
		snprintf(path, sizeof path, "x-%d.part", i);
		xc_shared_status_add_tempfile(path);
	}
	assert_int_equal(count_told(), XC_SHARED_TEMPFILES);
	for (int i = 0; i < XC_SHARED_TEMPFILES + 2; i++) {
		snprintf(path, sizeof path, "x-%d.part", i);
		xc_shared_status_remove_tempfile(path);
	}
	assert_int_equal(count_told(), 0);
}

/* What a process that is not trusted says reaches nobody. */
static void who_has_left_tells_nobody(void **state)
{
	struct xc_shared_status *told = xc_shared_status_map();
	(void)state;
	assert_non_null(told);
	assert_int_equal(atomic_load(&told->timeout_s), XC_SHARED_TIMEOUT_S);
	xc_shared_status_use(told);
	assert_ptr_equal(xc_shared_status(), told);
	xc_shared_status_detach();
	assert_ptr_not_equal(xc_shared_status(), told);
	xc_shared_status_detach();
	xc_shared_status_add_tempfile("x-1.part");
	assert_int_equal(count_told(), 1);
	xc_shared_status_remove_tempfile("x-1.part");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_names_of_that_process_are_asides),
		cmocka_unit_test(an_aside_is_told_until_it_has_its_name),
		cmocka_unit_test(one_that_is_removed_is_told_no_more),
		cmocka_unit_test(a_file_without_a_name_gets_one),
		cmocka_unit_test(of_a_dead_process_with_our_number_nothing_is_taken),
		cmocka_unit_test(where_none_can_be_made_none_is_told),
		cmocka_unit_test(of_too_many_the_first_are_told),
		cmocka_unit_test(who_has_left_tells_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
