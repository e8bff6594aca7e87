/* layer: core */
/* shared_status, tempfile: the keeper removes exactly the files that a command registered. */
#include "tests/support/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io/tempfile.h"
#include "core/base/shared_status.h"
#include "tests/support/scratch.h"

/* The currently registered paths. */
static size_t list_tempfiles(const char *paths[XC_SHARED_TEMPFILES])
{
	size_t count = 0;
	for (size_t i = 0; i < XC_SHARED_TEMPFILES; i++)
		if (atomic_load(&xc_shared_status()->tempfiles[i].complete))
			paths[count++] = xc_shared_status()->tempfiles[i].path;
	return count;
}

static size_t count_tempfiles(void)
{
	const char *paths[XC_SHARED_TEMPFILES];
	return list_tempfiles(paths);
}

static void only_names_of_that_process_are_temporary(void **state)
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

static void a_file_is_registered_until_it_has_its_final_name(void **state)
{
	struct stat st;
	char *name;
	const char *paths[XC_SHARED_TEMPFILES], *path = scratch_path("answer");
	(void)state;
	close(xc_tempfile_open(path, 0600, &name));
	assert_int_equal(list_tempfiles(paths), 1);
	assert_string_equal(paths[0], name);
	assert_true(xc_shared_status_is_tempfile(name, getpid()));
	assert_int_equal(xc_tempfile_rename(&name, path), 0);
	assert_null(name);
	assert_int_equal(count_tempfiles(), 0);
	assert_int_equal(stat(path, &st), 0);
}

static void a_removed_file_is_not_registered(void **state)
{
	char *name, *gone;
	(void)state;
	close(xc_tempfile_open(scratch_path("answer"), 0600, &name));
	gone = xc_strdup(name);
	xc_tempfile_remove(&name);
	xc_tempfile_remove(&name);
	assert_int_equal(count_tempfiles(), 0);
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
	assert_int_equal(count_tempfiles(), 1);
	xc_tempfile_remove(&name);
}

static void a_leftover_of_a_dead_process_with_our_pid_is_kept(void **state)
{
	char *first, *second;
	(void)state;
	close(xc_tempfile_open(scratch_path("answer"), 0600, &first));
	close(xc_tempfile_open(scratch_path("answer"), 0600, &second));
	assert_string_not_equal(first, second);
	assert_int_equal(count_tempfiles(), 2);
	xc_tempfile_remove(&first);
	xc_tempfile_remove(&second);
}

static void a_file_that_cannot_be_made_is_not_registered(void **state)
{
	char *name;
	(void)state;
	xc_auto(xc_freep) char *nowhere = xc_asprintf("%s/nowhere/answer", scratch_dir());
	assert_int_equal(xc_tempfile_open(nowhere, 0600, &name), -1);
	assert_null(name);
	assert_int_equal(count_tempfiles(), 0);
}

static void of_too_many_files_the_first_are_registered(void **state)
{
	char path[64];
	(void)state;
	for (int i = 0; i < XC_SHARED_TEMPFILES + 2; i++) {
		snprintf(path, sizeof path, "x-%d.part", i);
		xc_shared_status_add_tempfile(path);
	}
	assert_int_equal(count_tempfiles(), XC_SHARED_TEMPFILES);
	for (int i = 0; i < XC_SHARED_TEMPFILES + 2; i++) {
		snprintf(path, sizeof path, "x-%d.part", i);
		xc_shared_status_remove_tempfile(path);
	}
	assert_int_equal(count_tempfiles(), 0);
}

/* An untrusted process reports to no one. */
static void after_detaching_nothing_is_shared(void **state)
{
	struct xc_shared_status *status = xc_shared_status_map();
	(void)state;
	assert_non_null(status);
	assert_int_equal(atomic_load(&status->timeout_s), XC_SHARED_TIMEOUT_S);
	xc_shared_status_use(status);
	assert_ptr_equal(xc_shared_status(), status);
	xc_shared_status_detach();
	assert_ptr_not_equal(xc_shared_status(), status);
	xc_shared_status_detach();
	xc_shared_status_add_tempfile("x-1.part");
	assert_int_equal(count_tempfiles(), 1);
	xc_shared_status_remove_tempfile("x-1.part");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_names_of_that_process_are_temporary),
		cmocka_unit_test(a_file_is_registered_until_it_has_its_final_name),
		cmocka_unit_test(a_removed_file_is_not_registered),
		cmocka_unit_test(a_file_without_a_name_gets_one),
		cmocka_unit_test(a_leftover_of_a_dead_process_with_our_pid_is_kept),
		cmocka_unit_test(a_file_that_cannot_be_made_is_not_registered),
		cmocka_unit_test(of_too_many_files_the_first_are_registered),
		cmocka_unit_test(after_detaching_nothing_is_shared),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
