/* layer: core */
/* cache: stays below its capacity, including files of initially unknown size. */
#include "tests/support/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/io/cache.h"
#include "tests/support/scratch.h"

static struct xc_cache fresh(const char *name)
{
	return (struct xc_cache){.dir = scratch_path(name), .kind = "debug", .capacity = 1000};
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
	static const char bytes[1000];
	const struct xc_cache_piece piece = {bytes, size};
	assert_true(xc_cache_put(cache, name, &piece, 1));
}

/* Write one of unstated size. */
static bool draft(const struct xc_cache *cache, const char *name, size_t size)
{
	static const char bytes[4000];
	struct xc_cache_draft draft;
	assert_true(xc_cache_begin(cache, name, 0, &draft));
	assert_int_equal(write(draft.fd, bytes, size), size);
	return xc_cache_finish(&draft, true);
}

static void one_of_unknown_size_takes_the_room_of_the_oldest(void **state)
{
	const struct xc_cache cache = fresh("unknown");
	(void)state;
	put(&cache, "old", 400);
	put(&cache, "newer", 400);
	age(&cache, "old", 3000);
	age(&cache, "newer", 2000);
	assert_true(draft(&cache, "unknown", 500));
	assert_false(has(&cache, "old"));
	assert_true(has(&cache, "newer"));
	assert_true(has(&cache, "unknown"));
	assert_int_equal(held(&cache), 900);
}

static void one_that_turns_out_too_large_is_not_kept(void **state)
{
	const struct xc_cache cache = fresh("large");
	(void)state;
	put(&cache, "old", 400);
	assert_int_equal(xc_cache_largest(&cache), 500);
	assert_false(draft(&cache, "unknown", 501));
	assert_true(has(&cache, "old"));
	assert_int_equal(held(&cache), 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_unknown_size_takes_the_room_of_the_oldest),
		cmocka_unit_test(one_that_turns_out_too_large_is_not_kept),
	};
	return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
