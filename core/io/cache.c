/* cache: plain files in plain directories. A temporary file of a killed writer is pruned like any other file. */
#include "core/io/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/shared_status.h"
#include "core/io/opener.h"
#include "core/io/tempfile.h"
#include "core/base/userdir.h"

enum { MAX_ENTRIES = 4096, NAME_SIZE = 160 };

static char *path_of(const struct xc_cache *cache, const char *name)
{
	return xc_asprintf("%s/%s/%s", cache->dir, cache->kind, name);
}

static bool trustworthy(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0) &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

int xc_cache_open(const struct xc_cache *cache, const char *name)
{
	if (!cache->dir || strchr(name, '/'))
		return -1;
	xc_auto(xc_freep) char *path = path_of(cache, name);
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && !trustworthy(fd)) {
		close(fd);
		return -1;
	}
	if (fd >= 0)
		futimens(fd, NULL); /* the time of last use, for pruning */
	return fd;
}

struct xc_source *xc_cache_get(const struct xc_cache *cache, const char *name)
{
	struct xc_source *source = NULL;
	if (!cache->dir)
		return NULL;
	xc_auto(xc_freep) char *path = path_of(cache, name);
	int fd = xc_opener() ? xc_opener()->kept(xc_opener()->user, cache->kind, name) : xc_cache_open(cache, name);
	if (fd < 0)
		return NULL;
	const struct xc_source_options plain = {.as_is = true};
	xc_error_free(xc_source_open_fd(fd, path, &plain, &source));
	return source;
}

/* ---- pruning ---- */

struct entry {
	char name[NAME_SIZE];
	uint64_t size;
	int64_t used;
};

static int oldest_first(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	return x->used < y->used ? -1 : x->used > y->used;
}

static size_t list_entries(int directory, struct entry *entries, uint64_t *total)
{
	size_t count = 0;
	DIR *dir = fdopendir(dup(directory));
	if (dir)
		rewinddir(dir); /* a duplicate shares the position of the previous listing */
	for (struct dirent *d; dir && count < MAX_ENTRIES && (d = readdir(dir));) {
		struct stat st;
		size_t len = strlen(d->d_name);
		if (len >= NAME_SIZE || fstatat(directory, d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(st.st_mode))
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

static void prune(int directory, uint64_t room, uint64_t capacity)
{
	struct entry *entries = xc_alloc(MAX_ENTRIES * sizeof *entries);
	uint64_t total = room;
	size_t count = list_entries(directory, entries, &total);
	qsort(entries, count, sizeof *entries, oldest_first);
	for (size_t i = 0; i < count && total > capacity; i++)
		if (unlinkat(directory, entries[i].name, 0) == 0)
			total -= entries[i].size;
	free(entries);
}

/* ---- writing ---- */

/* Open the directory of the kind. Makes it and its parents where they are missing. */
static int open_directory(const struct xc_cache *cache)
{
	xc_auto(xc_freep) char *path = xc_asprintf("%s/%s", cache->dir, cache->kind);
	xc_userdir_make(path, 0700);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

uint64_t xc_cache_largest(const struct xc_cache *cache)
{
	return cache->capacity / 2;
}

/* Two writers of one name must not share a temporary file. */
bool xc_cache_begin(const struct xc_cache *cache, const char *name, uint64_t size, struct xc_cache_draft *draft)
{
	*draft = (struct xc_cache_draft){.fd = -1, .capacity = size ? 0 : cache->capacity};
	if (xc_opener() || strlen(name) >= sizeof draft->name || !cache->dir || size > xc_cache_largest(cache))
		return false;
	draft->directory = open_directory(cache);
	if (draft->directory < 0)
		return false;
	prune(draft->directory, size, cache->capacity);
	strcpy(draft->name, name);
	snprintf(draft->temporary, sizeof draft->temporary, "%.16s-%ld.part", name, (long)getpid());
	draft->path = xc_asprintf("%s/%s/%s", cache->dir, cache->kind, draft->temporary);
	xc_shared_status_add_tempfile(draft->path);
	unlinkat(draft->directory, draft->temporary, 0); /* left by a dead process with the same pid */
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	draft->fd = openat(draft->directory, draft->temporary, flags, 0600);
	if (draft->fd >= 0 && (size == 0 || posix_fallocate(draft->fd, 0, (off_t)size) == 0))
		return true;
	xc_cache_finish(draft, false);
	return false;
}

/* If the size was not known in advance, room is made here. */
static bool fits(const struct xc_cache_draft *draft)
{
	struct stat st;
	if (!draft->capacity)
		return true;
	if (fstat(draft->fd, &st) || (uint64_t)st.st_size > draft->capacity / 2)
		return false;
	prune(draft->directory, 0, draft->capacity); /* its own bytes are counted already */
	return true;
}

bool xc_cache_finish(struct xc_cache_draft *draft, bool good)
{
	bool made = draft->fd >= 0;
	good = made && good && fits(draft);
	if (made)
		good = close(draft->fd) == 0 && good;
	good = made && good && renameat(draft->directory, draft->temporary, draft->directory, draft->name) == 0;
	if (made && !good)
		unlinkat(draft->directory, draft->temporary, 0);
	xc_shared_status_remove_tempfile(draft->path);
	free(xc_take(draft->path));
	close(draft->directory);
	return good;
}

bool xc_cache_put(const struct xc_cache *cache, const char *name, const struct xc_cache_piece *pieces, size_t count)
{
	uint64_t size = 0;
	struct xc_cache_draft draft;
	for (size_t i = 0; i < count; i++)
		size += pieces[i].size;
	if (!xc_cache_begin(cache, name, size, &draft))
		return false;
	bool good = true;
	for (size_t i = 0; good && i < count; i++)
		good = xc_tempfile_write(draft.fd, pieces[i].bytes, pieces[i].size);
	return xc_cache_finish(&draft, good);
}

void xc_cache_patch(const struct xc_cache *cache, const char *name, uint64_t offset, const void *bytes, size_t size)
{
	if (!cache->dir || xc_opener())
		return;
	xc_auto(xc_freep) char *path = path_of(cache, name);
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (trustworthy(fd) && pwrite(fd, bytes, size, (off_t)offset) < 0)
		errno = 0; /* a full disk or a read-only one: nothing is lost */
	close(fd);
}
