/* inflate_cache: image, then a trailer that says what it belongs to and that it is whole:
 *
 *	"XCPLAIN1"   u64 size of the image   SHA-256 of the key                                     (48 bytes) */
#include "inflate_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_SIZE = SHA256_DIGEST_LENGTH, NAME_BYTES = 16, MAX_ENTRIES = 4096 };
static const char magic[8] = {'X', 'C', 'P', 'L', 'A', 'I', 'N', '1'};
static const uint64_t least_size = 256 << 10; /* smaller ones are inflated as fast as found */
static const uint64_t capacity = UINT64_C(2) << 30;

struct trailer {
	char magic[sizeof magic];
	uint64_t size;
	uint8_t key[KEY_SIZE];
};

static void make_key(const struct xc_source *packed, uint8_t key[KEY_SIZE])
{
	const uint64_t facts[] = {packed->dev, packed->ino, packed->stored_size, (uint64_t)packed->mtime_ns,
				  (uint64_t)packed->ctime_ns};
	SHA2_CTX context;
	SHA256Init(&context);
	SHA256Update(&context, (const uint8_t *)facts, sizeof facts);
	SHA256Final(key, &context);
}

/* DIR/debug/HEX.plain; malloc'ed. */
static char *path_of(const char *dir, const uint8_t key[KEY_SIZE])
{
	char hex[2 * NAME_BYTES + 1];
	for (size_t i = 0; i < NAME_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", key[i]);
	return xc_asprintf("%s/debug/%s.plain", dir, hex);
}

static bool trustworthy(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0) &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static bool whole(const struct xc_source *s, const uint8_t key[KEY_SIZE], size_t *size_out)
{
	struct trailer t;
	if (s->size < sizeof t)
		return false;
	memcpy(&t, s->bytes + s->size - sizeof t, sizeof t);
	*size_out = (size_t)t.size;
	return !memcmp(t.magic, magic, sizeof magic) && t.size == s->size - sizeof t && !memcmp(t.key, key, KEY_SIZE);
}

struct xc_source *xc_inflate_cache_get(const char *dir, const struct xc_source *packed, size_t *size_out)
{
	uint8_t key[KEY_SIZE];
	make_key(packed, key);
	xc_auto(xc_freep) char *path = path_of(dir, key);
	xc_auto(xc_source_closep) struct xc_source *source = NULL;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (!trustworthy(fd)) {
		close(fd);
		return NULL;
	}
	futimens(fd, NULL); /* the time of use, for pruning */
	struct xc_error *err = xc_source_open_fd(fd, path, NULL, &source);
	xc_error_free(err);
	return source && whole(source, key, size_out) ? xc_take(source) : NULL;
}

/* ---- keeping it small ---- */

struct entry {
	char name[2 * NAME_BYTES + sizeof ".plain"];
	uint64_t size;
	int64_t used;
};

static int oldest_first(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	return x->used < y->used ? -1 : x->used > y->used;
}

static size_t list_entries(int dirfd_, struct entry *entries, uint64_t *total)
{
	size_t count = 0;
	DIR *dir = fdopendir(dup(dirfd_));
	for (struct dirent *d; dir && count < MAX_ENTRIES && (d = readdir(dir));) {
		struct stat st;
		size_t len = strlen(d->d_name);
		if (len >= sizeof entries[0].name || !strstr(d->d_name, ".plain") ||
		    fstatat(dirfd_, d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		struct entry *e = &entries[count++];
		memcpy(e->name, d->d_name, len + 1);
		e->size = (uint64_t)st.st_size;
		e->used = st.st_mtime;
		*total += e->size;
	}
	if (dir)
		closedir(dir);
	return count;
}

static void prune(int dirfd_, uint64_t room)
{
	struct entry *entries = xc_alloc(MAX_ENTRIES * sizeof *entries);
	uint64_t total = room;
	size_t count = list_entries(dirfd_, entries, &total);
	qsort(entries, count, sizeof *entries, oldest_first);
	for (size_t i = 0; i < count && total > capacity; i++)
		if (unlinkat(dirfd_, entries[i].name, 0) == 0)
			total -= entries[i].size;
	free(entries);
}

/* ---- writing ---- */

static bool write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;
	while (len) {
		ssize_t n = write(fd, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* DIR/debug, made with its parents where they are missing. */
static int open_directory(const char *dir)
{
	xc_auto(xc_freep) char *path = xc_asprintf("%s/debug", dir);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	mkdir(path, 0700);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void xc_inflate_cache_put(const char *dir, const struct xc_source *packed, const void *image, size_t size)
{
	struct trailer t = {.size = size};
	if (size < least_size || size > capacity / 4)
		return;
	int directory = open_directory(dir);
	if (directory < 0)
		return;
	memcpy(t.magic, magic, sizeof magic);
	make_key(packed, t.key);
	xc_auto(xc_freep) char *path = path_of(dir, t.key);
	const char *name = strrchr(path, '/') + 1;
	char aside[64];
	snprintf(aside, sizeof aside, "%.8s-%ld.part", name, (long)getpid());
	prune(directory, size);
	int fd = openat(directory, aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool good = fd >= 0 && write_all(fd, image, size) && write_all(fd, &t, sizeof t);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && (!good || renameat(directory, aside, directory, name) != 0))
		unlinkat(directory, aside, 0);
	close(directory);
}
