/* layer: core */
/* cache: stays below its capacity, including files of initially unknown size; touches no file but xcore's own. */
#include "tests/support/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/cache/cache.h"
#include "tests/support/scratch.h"

static struct xc_cache fresh(const char *name)
{
	return (struct xc_cache){.dir = scratch_path(name), .kind = "debug", .capacity = 1000};
}

/* Names as xcore gives them (cacheform.h). */
#define OLD     "0123456789abcdef0123456789abcdef.plain"
#define NEWER   "1123456789abcdef0123456789abcdef.plain"
#define UNKNOWN "2123456789abcdef0123456789abcdef.plain"

enum { TRAILER = 48 };

/* So many bytes that end as an inflated image does. */
static const char *image(size_t size)
{
	static char bytes[4000];
	memset(bytes, 0, sizeof bytes);
	memcpy(bytes + size - TRAILER, "XCPLAIN1", 8);
	return bytes;
}

/* Total bytes of its files. */
static uint64_t held(const struct xc_cache *cache)
{
	char path[4096];
	uint64_t total = 0;
	struct stat st;
	snprintf(path, sizeof path, "%s/%s", cache->dir, cache->kind);
	DIR *dir = opendir(path);
	assert_non_null(dir);
	for (const struct dirent *d; (d = readdir(dir));)
		if (!fstatat(dirfd(dir), d->d_name, &st, 0) && S_ISREG(st.st_mode))
			total += (uint64_t)st.st_size;
	closedir(dir);
	return total;
}

static bool has(const struct xc_cache *cache, const char *name)
{
	const int fd = xc_cache_open(cache, name);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Last used that many seconds ago. */
static void age(const struct xc_cache *cache, const char *name, time_t seconds)
{
	char path[4096];
	const struct timespec then = {time(NULL) - seconds, 0}, times[] = {then, then};
	snprintf(path, sizeof path, "%s/%s/%s", cache->dir, cache->kind, name);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void put(const struct xc_cache *cache, const char *name, size_t size)
{
	const struct xc_cache_piece piece = {image(size), size};
	assert_true(xc_cache_put(cache, name, &piece, 1));
}

/* Write one of unstated size. */
static bool draft(const struct xc_cache *cache, const char *name, size_t size)
{
	struct xc_cache_draft draft;
	assert_true(xc_cache_begin(cache, name, 0, &draft));
	assert_int_equal(write(draft.fd, image(size), size), size);
	return xc_cache_finish(&draft, true);
}

static void one_of_unknown_size_takes_the_room_of_the_oldest(void **state)
{
	const struct xc_cache cache = fresh("unknown");
	(void)state;
	put(&cache, OLD, 400);
	put(&cache, NEWER, 400);
	age(&cache, OLD, 3000);
	age(&cache, NEWER, 2000);
	assert_true(draft(&cache, UNKNOWN, 500));
	assert_false(has(&cache, OLD));
	assert_true(has(&cache, NEWER));
	assert_true(has(&cache, UNKNOWN));
	assert_int_equal(held(&cache), 900);
}

static void one_that_turns_out_too_large_is_not_kept(void **state)
{
	const struct xc_cache cache = fresh("large");
	(void)state;
	put(&cache, OLD, 400);
	assert_int_equal(xc_cache_largest(&cache), 500);
	assert_false(draft(&cache, UNKNOWN, 501));
	assert_true(has(&cache, OLD));
	assert_int_equal(held(&cache), 400);
}

/* ---- what is not ours ---- */

static char *at(const struct xc_cache *cache, const char *name)
{
	static char path[4096];
	snprintf(path, sizeof path, "%s/%s/%s", cache->dir, cache->kind, name);
	return path;
}

static void plant(const struct xc_cache *cache, const char *name, const char *text, size_t size)
{
	FILE *file = fopen(at(cache, name), "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(at(cache, name), 0600), 0);
	age(cache, name, 9000);
}

static bool exists(const struct xc_cache *cache, const char *name)
{
	struct stat st;
	return !lstat(at(cache, name), &st);
}

/* A name that is not ours, our name with other content, our name with a second one. */
static void pruning_removes_only_what_is_ours(void **state)
{
	const struct xc_cache cache = fresh("foreign");
	static const char large[2000];
	char other[4096];
	(void)state;
	put(&cache, OLD, 400);
	age(&cache, OLD, 100);
	plant(&cache, "thesis.txt", large, sizeof large);
	plant(&cache, NEWER, "text of a user that is no image at all, and longer than a trailer", 60);
	plant(&cache, "0123456789abcdef-12.part.txt", large, sizeof large);
	plant(&cache, "0123456789abcdef-12.part", "a letter of a user", 18);
	plant(&cache, "aaaa456789abcdef0123456789abcdef.plain", image(300), 300);
	snprintf(other, sizeof other, "%s/mine", cache.dir);
	assert_int_equal(link(at(&cache, "aaaa456789abcdef0123456789abcdef.plain"), other), 0);
	put(&cache, UNKNOWN, 500);
	put(&cache, UNKNOWN, 480);
	assert_false(exists(&cache, OLD));
	assert_true(has(&cache, UNKNOWN));
	assert_true(exists(&cache, "thesis.txt"));
	assert_true(exists(&cache, NEWER));
	assert_true(exists(&cache, "0123456789abcdef-12.part.txt"));
	assert_true(exists(&cache, "0123456789abcdef-12.part"));
	assert_true(exists(&cache, "aaaa456789abcdef0123456789abcdef.plain"));
}

static void what_a_killed_writer_left_goes(void **state)
{
	const struct xc_cache cache = fresh("killed");
	static const char zeros[700];
	(void)state;
	put(&cache, OLD, 100);
	plant(&cache, "0123456789abcdef-12.part", zeros, sizeof zeros);
	put(&cache, NEWER, 500);
	assert_false(exists(&cache, "0123456789abcdef-12.part"));
	assert_true(exists(&cache, OLD));
}

/* Neither read, nor patched, nor replaced. */
static void a_foreign_file_of_our_name_stays(void **state)
{
	const struct xc_cache cache = fresh("same");
	const struct xc_cache_piece piece = {image(100), 100};
	char other[4096], text[16] = "";
	(void)state;
	put(&cache, OLD, 100);
	plant(&cache, NEWER, "precious letter", 15);
	assert_false(has(&cache, NEWER));
	xc_cache_patch(&cache, NEWER, 0, "XXXX", 4);
	assert_false(xc_cache_put(&cache, NEWER, &piece, 1));
	FILE *file = fopen(at(&cache, NEWER), "r");
	assert_int_equal(fread(text, 1, sizeof text, file), 15);
	fclose(file);
	assert_string_equal(text, "precious letter");
	snprintf(other, sizeof other, "%s/second", cache.dir); /* a hard link */
	assert_int_equal(link(at(&cache, OLD), other), 0);
	assert_false(has(&cache, OLD));
	assert_false(xc_cache_put(&cache, OLD, &piece, 1));
}

static void a_link_or_a_fifo_of_our_name_stays(void **state)
{
	const struct xc_cache cache = fresh("fifo");
	const struct xc_cache_piece piece = {image(100), 100};
	(void)state;
	put(&cache, OLD, 100);
	assert_int_equal(symlink("/etc/passwd", at(&cache, NEWER)), 0);
	assert_int_equal(mkfifo(at(&cache, UNKNOWN), 0600), 0);
	assert_int_equal(mkdir(at(&cache, "3123456789abcdef0123456789abcdef.plain"), 0700), 0);
	assert_false(has(&cache, NEWER) || has(&cache, UNKNOWN) ||
		     has(&cache, "3123456789abcdef0123456789abcdef.plain"));
	assert_false(xc_cache_put(&cache, NEWER, &piece, 1));
	assert_false(xc_cache_put(&cache, UNKNOWN, &piece, 1));
	assert_false(xc_cache_put(&cache, "3123456789abcdef0123456789abcdef.plain", &piece, 1));
	assert_true(exists(&cache, NEWER) && exists(&cache, UNKNOWN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_unknown_size_takes_the_room_of_the_oldest),
		cmocka_unit_test(one_that_turns_out_too_large_is_not_kept),
		cmocka_unit_test(pruning_removes_only_what_is_ours),
		cmocka_unit_test(what_a_killed_writer_left_goes),
		cmocka_unit_test(a_foreign_file_of_our_name_stays),
		cmocka_unit_test(a_link_or_a_fifo_of_our_name_stays),
	};
	return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
