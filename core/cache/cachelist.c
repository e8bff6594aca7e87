/* cachelist: reads only directories that are known caches: $XDG_CACHE_HOME/xcore has others too; and of these only
 * files of this user that have xcore's names: of others nothing is removed, so they do not count. */
#include "core/cache/cachelist.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cache/cachedir.h"
#include "core/cache/cacheform.h"

enum { BLOCK = 512 }; /* of st_blocks (stat(3type)) */

static void read_kind(struct xc_cachelist *list, const char *dir, const char *kind)
{
	const int folder = xc_cachedir_open(dir, kind, false);
	DIR *d = folder < 0 ? NULL : fdopendir(folder);
	if (!d && folder >= 0)
		close(folder);
	for (struct dirent *e; d && (e = readdir(d));) {
		struct stat st;
		if (!xc_cacheform_is_ours(kind, e->d_name) ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !xc_cachedir_is_my_file(&st))
			continue;
		list->files = xc_grow(list->files, list->count, &list->capacity, sizeof *list->files);
		list->files[list->count++] = (struct xc_cached_file){.kind = kind,
								     .name = xc_strdup(e->d_name),
								     .size = (uint64_t)st.st_blocks * BLOCK,
								     .used = st.st_mtime};
	}
	if (d)
		closedir(d);
}

static int by_use(const void *a, const void *b)
{
	const struct xc_cached_file *x = a, *y = b;
	int order = strcmp(x->kind, y->kind);
	if (order)
		return order;
	return x->used != y->used ? (x->used > y->used ? -1 : 1) : strcmp(x->name, y->name);
}

struct xc_cachelist xc_cachelist_read(const char *dir)
{
	struct xc_cachelist list = {.dir = dir};
	for (const char *const *kind = xc_cacheform_kinds; dir && *kind; kind++)
		read_kind(&list, dir, *kind);
	if (list.count)
		qsort(list.files, list.count, sizeof *list.files, by_use);
	return list;
}

void xc_cachelist_fini(struct xc_cachelist *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->files[i].name);
	free(list->files);
	*list = (struct xc_cachelist){.count = 0};
}

bool xc_cachelist_remove(const struct xc_cachelist *list, const struct xc_cached_file *file)
{
	const int folder = xc_cachedir_open(list->dir, file->kind, false);
	if (folder < 0)
		return errno == ENOENT;
	const bool gone = xc_cacheform_remove(folder, file->kind, file->name);
	close(folder);
	return gone;
}
