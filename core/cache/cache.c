/* cache: plain files in plain directories, which cachedir.h opens; cacheform.h says which are xcore's. A temporary file
 * of a killed writer is pruned like any other file. */
#include "core/cache/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/shared_status.h"
#include "core/cache/cachedir.h"
#include "core/cache/cacheform.h"
#include "core/io/opener.h"
#include "core/io/tempfile.h"

enum { MAX_ENTRIES = 4096, NAME_SIZE = 160 };

static char *path_of(const struct xc_cache *cache, const char *name)
{
	return xc_asprintf("%s/%s/%s", cache->dir, cache->kind, name);
}

static int open_file(const struct xc_cache *cache, const char *name, int flags)
{
	const int folder = cache->dir ? xc_cachedir_open(cache->dir, cache->kind, false) : -1;
	if (folder < 0)
		return -1;
	const int fd = xc_cacheform_open(folder, cache->kind, name, flags), number = errno;
	close(folder);
	errno = number;
	return fd;
}

int xc_cache_open(const struct xc_cache *cache, const char *name)
{
	const int fd = open_file(cache, name, O_RDONLY);
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

/* Files of other names are not xcore's: they neither count nor go. */
static size_t list_entries(int directory, const char *kind, struct entry *entries, uint64_t *total)
{
	size_t count = 0;
	DIR *dir = fdopendir(dup(directory));
	if (dir)
		rewinddir(dir); /* a duplicate shares the position of the previous listing */
	for (struct dirent *d; dir && count < MAX_ENTRIES && (d = readdir(dir));) {
		struct stat st;
		size_t len = strlen(d->d_name);
		if (len >= NAME_SIZE || !xc_cacheform_is_ours(kind, d->d_name) ||
		    fstatat(directory, d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
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

static void prune(int directory, const char *kind, uint64_t room, uint64_t capacity)
{
	struct entry *entries = xc_alloc(MAX_ENTRIES * sizeof *entries);
	uint64_t total = room;
	size_t count = list_entries(directory, kind, entries, &total);
	qsort(entries, count, sizeof *entries, oldest_first);
	for (size_t i = 0; i < count && total > capacity; i++)
		if (xc_cacheform_remove(directory, kind, entries[i].name))
			total -= entries[i].size;
	free(entries);
}

/* ---- writing ---- */

uint64_t xc_cache_largest(const struct xc_cache *cache)
{
	return cache->capacity / 2;
}

/* Two writers of one name must not share a temporary file. */
bool xc_cache_begin(const struct xc_cache *cache, const char *name, uint64_t size, struct xc_cache_draft *draft)
{
	*draft = (struct xc_cache_draft){.fd = -1, .kind = cache->kind, .capacity = size ? 0 : cache->capacity};
	if (xc_opener() || strlen(name) >= sizeof draft->name || !xc_cacheform_is_name(cache->kind, name) ||
	    !cache->dir || size > xc_cache_largest(cache))
		return false;
	draft->directory = xc_cachedir_open(cache->dir, cache->kind, true);
	if (draft->directory < 0)
		return false;
	prune(draft->directory, cache->kind, size, cache->capacity);
	strcpy(draft->name, name);
	snprintf(draft->temporary, sizeof draft->temporary, "%.16s-%ld.part", name, (long)getpid());
	draft->path = xc_asprintf("%s/%s/%s", cache->dir, cache->kind, draft->temporary);
	xc_shared_status_add_tempfile(draft->path);
	xc_cacheform_remove(draft->directory, cache->kind, draft->temporary); /* of a dead process with the same pid */
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
	prune(draft->directory, draft->kind, 0, draft->capacity); /* its own bytes are counted already */
	return true;
}

bool xc_cache_finish(struct xc_cache_draft *draft, bool good)
{
	bool made = draft->fd >= 0;
	good = made && good && fits(draft);
	if (made)
		good = close(draft->fd) == 0 && good;
	good = made && good && xc_cacheform_is_free(draft->directory, draft->kind, draft->name) &&
	       renameat(draft->directory, draft->temporary, draft->directory, draft->name) == 0;
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
	const int fd = open_file(cache, name, O_RDWR);
	if (fd < 0)
		return;
	if (pwrite(fd, bytes, size, (off_t)offset) < 0)
		errno = 0; /* a full disk or a read-only one: nothing is lost */
	close(fd);
}
