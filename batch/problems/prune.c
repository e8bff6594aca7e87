/* prune: checks every file again just before deleting it, through its directory's descriptor and openat2, so that no
 * link can redirect it. */
#include "batch/problems/prune.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A file below one of the directories: its parent's descriptor, and its name there. */
struct place {
	int parent; /* -1: none */
	const char *name;
	struct stat stat;
	const char *why; /* why it cannot be used; or NULL */
};

static const struct xc_input *input_of(const struct xc_prune *p, const struct xc_record *record)
{
	for (size_t lo = 0, hi = p->input_count; lo < hi;) {
		size_t middle = lo + (hi - lo) / 2;
		int d = strcmp(p->inputs[middle].path, record->path);
		if (!d)
			return &p->inputs[middle];
		lo = d < 0 ? middle + 1 : lo;
		hi = d < 0 ? hi : middle;
	}
	return NULL;
}

/* The rest of a file's name below a directory; NULL: it is not below. */
static const char *below(const char *directory, const char *file)
{
	const size_t len = strlen(directory);
	if (!len)
		return *file == '/' ? NULL : file;
	if (strncmp(directory, file, len) != 0 || (file[len] != '/' && directory[len - 1] != '/'))
		return NULL;
	return file + len + strspn(file + len, "/");
}

static int open_parent(const char *directory, const char *rest)
{
	const struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				     .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	const char *slash = strrchr(rest, '/');
	xc_auto(xc_freep) char *parent = slash ? xc_asprintf("%.*s", (int)(slash - rest), rest) : xc_strdup(".");
	int root = open(*directory ? directory : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	int fd = (int)syscall(SYS_openat2, root, parent, &how, sizeof how);
	close(root);
	return fd;
}

static const char *check(const struct stat *s, const struct xc_input *input)
{
	if (!S_ISREG(s->st_mode))
		return "not a regular file";
	if (s->st_dev != input->dev || s->st_ino != input->ino || (uint64_t)s->st_size != input->size ||
	    (int64_t)s->st_mtim.tv_sec * 1000000000 + s->st_mtim.tv_nsec != input->mtime_ns)
		return "it has changed since it was read";
	return NULL;
}

static struct place place_of(const struct xc_prune *p, const struct xc_record *record)
{
	const struct xc_input *input = input_of(p, record);
	struct place place = {.parent = -1,
			      .why = input ? "not in a directory that was given by name" : "not among the inputs"};
	for (size_t i = 0; input && i < p->directory_count && place.parent < 0; i++) {
		const char *rest = below(p->directories[i], input->file);
		if (!rest || !*rest)
			continue;
		place.parent = open_parent(p->directories[i], rest);
		place.why = "its directory cannot be opened without following links";
		place.name = strrchr(rest, '/') ? strrchr(rest, '/') + 1 : rest;
	}
	if (place.parent < 0)
		return place;
	place.why = fstatat(place.parent, place.name, &place.stat, AT_SYMLINK_NOFOLLOW) ? "it cannot be found any more"
											: check(&place.stat, input);
	return place;
}

/* A kept core may also be a file that was given by name. */
static bool is_kept(const struct xc_prune *p, const struct xc_record *record, struct stat *stat_out)
{
	const struct xc_input *input = input_of(p, record);
	return input && !stat(input->file, stat_out) && !check(stat_out, input);
}

/* In a dry run, checks only whether it could be removed. */
static bool remove_it(const struct xc_prune *p, const struct place *place)
{
	return !(p->dry ? faccessat(place->parent, ".", W_OK | X_OK, AT_EACCESS)
			: unlinkat(place->parent, place->name, 0));
}

/* Two names of one file may be one name seen through two mounts. */
static const char *why_not(const struct xc_prune *p, const struct xc_core_spare *spare, const struct place *place)
{
	struct stat kept;
	if (place->why)
		return place->why;
	if (!is_kept(p, spare->instead, &kept))
		return "the core kept of its cluster is gone or has changed";
	if (kept.st_dev == place->stat.st_dev && kept.st_ino == place->stat.st_ino)
		return "it is the kept file itself";
	return remove_it(p, place) ? NULL : "it cannot be deleted";
}

/* Files with several names, with the number of names that would be gone after a dry run. */
struct shared_file {
	dev_t dev;
	ino_t ino;
	nlink_t gone;
};

struct shared_files {
	struct shared_file *files;
	size_t count, capacity;
};

/* The number of names that the file has left before this one is removed. */
static nlink_t names_left(struct shared_files *shared, const struct stat *s, bool dry)
{
	if (!dry || s->st_nlink == 1)
		return s->st_nlink;
	for (size_t i = 0; i < shared->count; i++)
		if (shared->files[i].dev == s->st_dev && shared->files[i].ino == s->st_ino)
			return s->st_nlink - shared->files[i].gone++;
	shared->files = xc_grow(shared->files, shared->count, &shared->capacity, sizeof *shared->files);
	shared->files[shared->count++] = (struct shared_file){s->st_dev, s->st_ino, 1};
	return s->st_nlink;
}

struct xc_pruned xc_prune(const struct xc_prune *prune)
{
	struct xc_pruned pruned = {0};
	struct shared_files shared = {0};
	for (size_t i = 0; i < prune->keep->spare_count; i++) {
		const struct xc_core_spare *spare = &prune->keep->spare[i];
		struct place place = place_of(prune, spare->record);
		const char *why = why_not(prune, spare, &place);
		if (place.parent >= 0)
			close(place.parent);
		pruned.refused += why != NULL;
		pruned.deleted += !why;
		if (!why && names_left(&shared, &place.stat, prune->dry) == 1)
			pruned.bytes += (uint64_t)place.stat.st_size;
		prune->report(prune->user, spare, why);
	}
	free(shared.files);
	return pruned;
}
