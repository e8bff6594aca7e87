/* layer: batch */
/* settings: everything that can change a record changes the hash, and nothing else does. */
#include "tests/support/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/run/settings.h"
#include "core/store/store.h"
#include "tests/support/scratch.h"

static struct xc_arena arena;
static struct xc_finder finder;
static struct xc_worker_options options;

static dev_t device; /* added to that of every file, as after a restart of the same container */

/* Replaces libc's. */
int stat(const char *path, struct stat *st)
{
	const int result = fstatat(AT_FDCWD, path, st, 0);
	if (!result)
		st->st_dev += device;
	return result;
}

static int begin(void **state)
{
	(void)state;
	device = 0;
	finder = (struct xc_finder){0};
	options = (struct xc_worker_options){.finder = &finder, .host_files = true, .redact = true};
	return 0;
}

static const char *shared(void)
{
	return xc_settings_shared(&options, "1", NULL, &arena);
}

static const char *here(void)
{
	return xc_settings_here(&options, shared(), &arena);
}

static void what_was_given_counts(void **state)
{
	static const char *const dirs[] = {"a", "b"}, *const joined[] = {"a\nb"};
	const char *hashes[12];
	size_t count = 0;
	(void)state;
	hashes[count++] = shared();
	assert_string_equal(hashes[0], shared());
	hashes[count++] = xc_settings_shared(&options, "2", NULL, &arena);
	hashes[count++] = xc_settings_shared(&options, "1", "journal", &arena);
	options.redact = false;
	hashes[count++] = shared();
	options.redact = true;
	options.seconds = 7;
	hashes[count++] = shared();
	options.seconds = 60; /* the defaults */
	options.memory = UINT64_C(2) << 30;
	options.max_core_size = UINT64_C(32) << 30;
	assert_string_equal(hashes[0], shared());
	options.seconds = 0;
	options.memory = options.max_core_size = 0;
	options.host_files = false;
	hashes[count++] = shared();
	finder.exe = "x";
	hashes[count++] = shared();
	finder.exe = NULL;
	finder.sysroot = "x";
	hashes[count++] = shared();
	finder.sysroot = NULL;
	finder.debug_dirs = dirs;
	finder.debug_dir_count = 1;
	hashes[count++] = shared();
	finder.debug_dir_count = 2;
	hashes[count++] = shared();
	finder.debug_dirs = joined;
	finder.debug_dir_count = 1;
	hashes[count++] = shared();
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(hashes[i], hashes[k]);
}

static struct xc_store *store_of(const char *name, const struct xc_store_file *files, size_t count)
{
	const struct xc_store_content content = {.files = files, .file_count = count};
	struct xc_store *store;
	mkdir(scratch_path(name), 0700);
	CHECK_OK(xc_store_write(scratch_path(name), &content));
	CHECK_OK(xc_store_open(scratch_path(name), &store));
	return store;
}

static const char *shared_with(struct xc_store *store)
{
	finder.store = store;
	const char *hash = shared();
	finder.store = NULL;
	xc_store_close(store);
	return hash;
}

/* Two machines with the same debug information agree, wherever it is; with other files they differ. */
static void what_the_store_holds_counts(void **state)
{
	struct xc_store_file files[] = {
		{.path = "/a/one", .id = {.size = 2, .bytes = {1, 2}}, .has = XC_STORE_DWARF, .size = 10},
		{.path = "/a/two", .id = {.size = 2, .bytes = {3, 4}}, .has = XC_STORE_CODE, .size = 20},
	};
	const struct xc_store_file moved[] = {
		{.path = "/b/1", .id = {.size = 2, .bytes = {3, 4}}, .has = XC_STORE_CODE | XC_STORE_KEPT, .size = 20},
		{.path = "/b/2", .id = {.size = 2, .bytes = {1, 2}}, .has = XC_STORE_DWARF, .size = 10, .mtime_ns = 7},
	};
	(void)state;
	const char *none = shared(), *both = shared_with(store_of("s1", files, 2)),
		   *one = shared_with(store_of("s2", files, 1));
	assert_string_not_equal(none, both);
	assert_string_not_equal(one, both);
	assert_string_equal(shared_with(store_of("s3", moved, 2)), both);
	files[0].has |= XC_STORE_SYMBOLS;
	assert_string_not_equal(shared_with(store_of("s4", files, 2)), both);
	assert_string_equal(shared_with(store_of("s5", NULL, 0)), none);
}

static void what_lies_here_counts_here_only(void **state)
{
	(void)state;
	finder.exe = scratch_file("exe", "one", 3);
	const char *given = shared(), *first = here();
	assert_string_equal(here(), first);
	scratch_file("exe", "other", 5);
	assert_string_equal(shared(), given);
	assert_string_not_equal(here(), first);
}

static void new_debug_information_counts(void **state)
{
	(void)state;
	scratch_file("debug/.build-id/7f/1.debug", "x", 1);
	const char *dirs[] = {scratch_path("debug")};
	const struct timespec past[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	finder.debug_dirs = dirs;
	finder.debug_dir_count = 1;
	assert_int_equal(utimensat(AT_FDCWD, scratch_path("debug/.build-id/7f"), past, 0), 0);
	const char *before = here();
	scratch_file("debug/.build-id/7f/2.debug", "x", 1);
	assert_string_not_equal(here(), before);
}

/* The same relative path from another directory is a different place. */
static void where_names_lead_counts(void **state)
{
	(void)state;
	scratch_file("w1/root/x", "x", 1);
	scratch_file("w2/root/x", "x", 1);
	finder.sysroot = "root";
	char *before = getcwd(NULL, 0);
	assert_int_equal(chdir(scratch_path("w1")), 0);
	const char *given = shared(), *one = here();
	assert_int_equal(chdir(scratch_path("w2")), 0);
	const char *two = here();
	assert_string_equal(shared(), given);
	assert_int_equal(chdir(before), 0);
	assert_string_not_equal(one, two);
	free(before);
}

/* An index of a Job that is retried in another container finds its checkpoint. */
static void on_which_device_it_lies_does_not_count(void **state)
{
	(void)state;
	scratch_file("device/.build-id/7f/1.debug", "x", 1);
	const char *dirs[] = {scratch_path("device")};
	finder.debug_dirs = dirs;
	finder.debug_dir_count = 1;
	finder.sysroot = dirs[0];
	finder.exe = scratch_file("device/exe", "one", 3);
	const char *before = here();
	device = 77;
	assert_string_equal(here(), before);
}

static int finish(void **state)
{
	(void)state;
	xc_arena_fini(&arena);
	return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
	const struct CMUnitTest tests[] = {
		TEST(what_was_given_counts),           TEST(what_the_store_holds_counts),
		TEST(what_lies_here_counts_here_only), TEST(new_debug_information_counts),
		TEST(where_names_lead_counts),         TEST(on_which_device_it_lies_does_not_count),
	};
	return cmocka_run_group_tests(tests, NULL, finish);
}
