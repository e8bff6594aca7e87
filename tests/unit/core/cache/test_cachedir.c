/* layer: core */
/* cachedir: folders that another user could lead elsewhere are not opened; the secret is this user's alone. */
#include "tests/support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cache/cachedir.h"
#include "tests/support/scratch.h"

static char home[2048], dir[2100], index_dir[2200];

static void fresh(const char *name)
{
	snprintf(home, sizeof home, "%s", scratch_path(name));
	snprintf(dir, sizeof dir, "%s/xcore", home);
	snprintf(index_dir, sizeof index_dir, "%s/index", dir);
}

static bool opens(bool make)
{
	const int fd = xc_cachedir_open(dir, "index", make);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void check_trouble(const char *path, const char *why)
{
	xc_auto(xc_freep) char *text = xc_cachedir_trouble(dir), *expected = xc_asprintf("%s: %s", path, why);
	assert_non_null(text);
	assert_string_equal(text, expected);
	assert_false(opens(true));
}

static void what_is_missing_is_made(void **state)
{
	struct stat st;
	(void)state;
	fresh("made");
	assert_null(xc_cachedir_trouble(dir));
	assert_false(opens(false));
	assert_int_equal(errno, ENOENT);
	assert_true(opens(true) && opens(false));
	assert_null(xc_cachedir_trouble(dir));
	assert_int_equal(stat(index_dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
}

static void links_below_the_parent_are_not_followed(void **state)
{
	char other[2100];
	(void)state;
	fresh("links");
	assert_true(opens(true));
	snprintf(other, sizeof other, "%s/other", home);
	assert_int_equal(rename(index_dir, other), 0);
	assert_int_equal(symlink(other, index_dir), 0);
	check_trouble(index_dir, "a symbolic link");
	assert_int_equal(unlink(index_dir), 0);
	snprintf(other, sizeof other, "%s-other", home);
	assert_int_equal(rename(dir, other), 0);
	assert_int_equal(symlink(other, dir), 0);
	check_trouble(dir, "a symbolic link");
}

static void a_link_as_parent_is_the_users_choice(void **state)
{
	char real[2100];
	(void)state;
	fresh("chosen");
	snprintf(real, sizeof real, "%s-real", home);
	assert_int_equal(mkdir(real, 0700), 0);
	assert_int_equal(symlink(real, home), 0);
	assert_true(opens(true));
	assert_int_equal(chmod(real, 0777), 0);
	check_trouble(home, "others can write to it");
}

static void folders_that_others_may_write_to_are_not_used(void **state)
{
	(void)state;
	fresh("shared");
	assert_true(opens(true));
	assert_int_equal(chmod(index_dir, 0770), 0);
	check_trouble(index_dir, "others can write to it");
	assert_int_equal(chmod(index_dir, 0755), 0);
	assert_true(opens(false));
	assert_int_equal(chmod(dir, 0707), 0);
	check_trouble(dir, "others can write to it");
	assert_int_equal(chmod(dir, 0700), 0);
	assert_int_equal(chmod(home, 0777), 0);
	check_trouble(home, "others can write to it");
	assert_int_equal(chmod(home, 01777), 0); /* as /tmp */
	assert_true(opens(false));
}

static void folders_of_another_user_are_not_used(void **state)
{
	(void)state;
	if (geteuid() != 0)
		check_skip("only root can give a folder away");
	fresh("another");
	assert_true(opens(true));
	assert_int_equal(chown(index_dir, 65534, 65534), 0);
	check_trouble(index_dir, "belongs to another user");
	assert_int_equal(chown(index_dir, 0, 0), 0);
	assert_int_equal(chown(dir, 65534, 65534), 0);
	check_trouble(dir, "belongs to another user");
	assert_int_equal(chown(dir, 0, 0), 0);
	assert_int_equal(chown(home, 65534, 65534), 0);
	check_trouble(home, "belongs to another user");
}

static void the_secret_stays_and_is_private(void **state)
{
	struct stat st;
	uint8_t first[XC_KEYED_HASH_SECRET], again[XC_KEYED_HASH_SECRET];
	char path[2200];
	(void)state;
	fresh("secret");
	snprintf(path, sizeof path, "%s/secret", dir);
	assert_false(xc_cachedir_secret(dir, false, first));
	assert_true(xc_cachedir_secret(dir, true, first));
	assert_true(xc_cachedir_secret(dir, false, again));
	assert_memory_equal(first, again, sizeof first);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(chmod(path, 0640), 0);
	assert_false(xc_cachedir_secret(dir, false, again));
	assert_true(xc_cachedir_secret(dir, true, again)); /* another may know it: a new one is made */
	assert_memory_not_equal(first, again, sizeof first);
	assert_int_equal(truncate(path, 0), 0);
	assert_true(xc_cachedir_secret(dir, true, again)); /* of a process that did not come to its end */
	assert_int_equal(truncate(path, 31), 0);
	assert_false(xc_cachedir_secret(dir, true, again));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_false(xc_cachedir_secret(dir, true, again));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(xc_cachedir_secret(dir, true, again)); /* and nothing blocks */
	assert_int_equal(unlink(path), 0);
	assert_true(xc_cachedir_secret(dir, true, again));
	assert_memory_not_equal(first, again, sizeof first);
	assert_false(xc_cachedir_secret(NULL, true, again));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_missing_is_made),
		cmocka_unit_test(links_below_the_parent_are_not_followed),
		cmocka_unit_test(a_link_as_parent_is_the_users_choice),
		cmocka_unit_test(folders_that_others_may_write_to_are_not_used),
		cmocka_unit_test(folders_of_another_user_are_not_used),
		cmocka_unit_test(the_secret_stays_and_is_private),
	};
	return cmocka_run_group_tests_name("cachedir", tests, NULL, NULL);
}
