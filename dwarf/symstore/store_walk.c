/* store_walk: all threads share one stack of directories; the last one found is read next, which keeps the stack
 * small. Each thread collects its own results, behind a lock that only xc_store_walk_take contends for. */
#include "dwarf/symstore/store_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "dwarf/symstore/store_scan.h"

enum { MAX_JOBS = 64, LEAST_SIZE = 52 /* an ELF header of 32 bits */ };

struct worker {
	struct xc_store_walk *walk;
	pthread_t thread;
	pthread_mutex_t lock;
	struct xc_arena arena; /* used by its own thread only */
	struct xc_store_harvest found;
};

struct xc_store_walk {
	struct xc_store_walk_options options;
	pthread_mutex_t lock; /* guards the fields below */
	pthread_cond_t changed;
	char **stack;
	size_t depth, capacity;
	unsigned busy;
	bool done;
	atomic_bool stop;
	struct worker *workers;
	unsigned jobs;
};

static void push(struct xc_store_walk *walk, char *path)
{
	pthread_mutex_lock(&walk->lock);
	walk->stack = xc_grow(walk->stack, walk->depth, &walk->capacity, sizeof *walk->stack);
	walk->stack[walk->depth++] = path;
	pthread_cond_signal(&walk->changed);
	pthread_mutex_unlock(&walk->lock);
}

/* ---- what was found ---- */

static void add_entry(struct worker *w, const struct xc_store_entry *entry, bool read)
{
	struct xc_store_harvest *f = &w->found;
	pthread_mutex_lock(&w->lock);
	f->entries = xc_grow(f->entries, f->entry_count, &f->entry_capacity, sizeof *f->entries);
	f->entries[f->entry_count] = *entry;
	f->entries[f->entry_count++].file.seen = w->walk->options.now;
	f->read += read;
	pthread_mutex_unlock(&w->lock);
}

static void add_dull(struct worker *w, struct xc_store_dull dull, enum xc_store_kind kind, bool read)
{
	struct xc_store_harvest *f = &w->found;
	pthread_mutex_lock(&w->lock);
	if (kind == XC_STORE_PACKAGE) { /* not counted as dull, so that each run reports it */
		f->packages++;
	} else {
		f->dull = xc_grow(f->dull, f->dull_count, &f->dull_capacity, sizeof *f->dull);
		f->dull[f->dull_count++] = dull;
	}
	f->read += read;
	pthread_mutex_unlock(&w->lock);
}

static void count_file(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->found.files++;
	pthread_mutex_unlock(&w->lock);
}

static void count_unreadable(struct worker *w, const char *directory, const char *name, int error)
{
	if (error == ENOENT) /* removed in the meantime */
		return;
	pthread_mutex_lock(&w->lock);
	if (!w->found.unreadable++)
		w->found.first_unreadable =
			xc_asprintf("%s%s%s: %s", directory, name ? "/" : "", name ? name : "", strerror(error));
	pthread_mutex_unlock(&w->lock);
}

/* ---- files ---- */

static struct xc_store_entry entry_of(struct worker *w, const char *path, const struct stat *st,
				      const struct xc_store_scan *scan)
{
	return (struct xc_store_entry){
		.file = {.path = xc_arena_strdup(&w->arena, path),
			 .id = scan->id,
			 .has = scan->has | w->walk->options.mark,
			 .dev = (uint64_t)st->st_dev,
			 .ino = (uint64_t)st->st_ino,
			 .size = (uint64_t)st->st_size,
			 .mtime_ns = xc_store_mtime(st)},
		.dwo_ids = scan->dwo_ids,
		.dwo_count = scan->dwo_count,
	};
}

static void look_into(struct worker *w, int directory, const char *name, const char *path)
{
	struct xc_store_scan scan;
	struct stat st;
	if (!xc_store_scan_at(directory, name, &w->arena, &st, &scan)) {
		if (errno)
			count_unreadable(w, path, NULL, errno);
		return;
	}
	struct xc_store_entry entry = entry_of(w, path, &st, &scan);
	if (scan.kind == XC_STORE_ELF)
		add_entry(w, &entry, true);
	else
		add_dull(w, xc_store_dull_of(w->walk->options.root, &st), scan.kind, true);
}

/* name: in `directory`; path: the whole path. */
static void meet_file(struct worker *w, int directory, const char *name, const char *path)
{
	const struct xc_store_state *old = w->walk->options.old;
	struct stat st;
	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		count_unreadable(w, path, NULL, errno);
		return;
	}
	/* A kept .part is being copied into the store, or was when its writer was killed. */
	if (!S_ISREG(st.st_mode) || ((w->walk->options.mark & XC_STORE_KEPT) && xc_ends_with(name, ".part")))
		return;
	count_file(w);
	struct xc_store_dull dull = xc_store_dull_of(w->walk->options.root, &st);
	if (st.st_size < LEAST_SIZE)
		return;
	if (xc_store_state_is_dull(old, dull)) {
		add_dull(w, dull, XC_STORE_DULL, false);
		return;
	}
	const struct xc_store_entry *known = xc_store_state_find(old, path);
	if (known && xc_store_unchanged(&known->file, &st))
		add_entry(w, known, false);
	else
		look_into(w, directory, name, path);
}

/* ---- directories ---- */

static bool is_kernels_own(int fd)
{
	static const uint32_t magics[] = {PROC_SUPER_MAGIC,    SYSFS_MAGIC,     DEVPTS_SUPER_MAGIC, CGROUP_SUPER_MAGIC,
					  CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC,   TRACEFS_MAGIC,      SECURITYFS_MAGIC,
					  BPF_FS_MAGIC,        SELINUX_MAGIC,   BINFMTFS_MAGIC,     PSTOREFS_MAGIC,
					  EFIVARFS_MAGIC,      HUGETLBFS_MAGIC, NSFS_MAGIC,         SOCKFS_MAGIC};
	struct statfs fs;
	if (fstatfs(fd, &fs) < 0)
		return false;
	for (size_t i = 0; i < XC_COUNT(magics); i++)
		if ((uint32_t)fs.f_type == magics[i])
			return true;
	return false;
}

static bool is_skipped(const struct xc_store_walk *walk, int fd)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return true;
	for (size_t i = 0; i < walk->options.skip_count; i++)
		if (st.st_dev == walk->options.skip[i].st_dev && st.st_ino == walk->options.skip[i].st_ino)
			return true;
	return is_kernels_own(fd);
}

/* Calls stat where the file system does not report the kind along with the name. */
static bool is_directory(int directory, const struct dirent *d)
{
	struct stat st;
	if (d->d_type != DT_UNKNOWN)
		return d->d_type == DT_DIR;
	return fstatat(directory, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static void meet(struct worker *w, int directory, const char *path, const struct dirent *d)
{
	if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
		return;
	xc_auto(xc_freep) char *child = xc_asprintf("%s/%s", strcmp(path, "/") ? path : "", d->d_name);
	if (is_directory(directory, d))
		push(w->walk, xc_take(child));
	else if (d->d_type == DT_REG || d->d_type == DT_UNKNOWN)
		meet_file(w, directory, d->d_name, child);
}

static void read_directory(struct worker *w, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOTDIR && !strcmp(path, w->walk->options.root)) {
		meet_file(w, AT_FDCWD, path, path);
		return;
	}
	if (fd < 0) {
		count_unreadable(w, path, NULL, errno);
		return;
	}
	DIR *dir = is_skipped(w->walk, fd) ? NULL : fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	for (struct dirent *d; !atomic_load(&w->walk->stop) && (d = readdir(dir));)
		meet(w, fd, path, d);
	closedir(dir);
}

/* ---- threads ---- */

/* The next directory; NULL when the walk is over. */
static char *next(struct xc_store_walk *walk)
{
	char *path = NULL;
	pthread_mutex_lock(&walk->lock);
	while (!walk->depth && walk->busy && !atomic_load(&walk->stop))
		pthread_cond_wait(&walk->changed, &walk->lock);
	if (walk->depth && !atomic_load(&walk->stop)) {
		path = walk->stack[--walk->depth];
		walk->busy++;
	}
	pthread_mutex_unlock(&walk->lock);
	return path;
}

static void *work(void *argument)
{
	struct worker *w = argument;
	for (char *path; (path = next(w->walk)); free(path)) {
		read_directory(w, path);
		pthread_mutex_lock(&w->walk->lock);
		w->walk->busy--;
		if (!w->walk->busy && !w->walk->depth)
			w->walk->done = true;
		pthread_cond_broadcast(&w->walk->changed);
		pthread_mutex_unlock(&w->walk->lock);
	}
	return NULL;
}

static unsigned jobs_of(unsigned asked)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned jobs = asked ? asked : online > 0 ? (unsigned)online : 1;
	return jobs < MAX_JOBS ? jobs : MAX_JOBS;
}

struct xc_store_walk *xc_store_walk_start(const struct xc_store_walk_options *options)
{
	struct xc_store_walk *walk = xc_alloc(sizeof *walk);
	pthread_condattr_t clock;
	walk->options = *options;
	pthread_mutex_init(&walk->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&walk->changed, &clock);
	pthread_condattr_destroy(&clock);
	push(walk, xc_strdup(options->root));
	unsigned wanted = jobs_of(options->jobs);
	walk->workers = xc_alloc(wanted * sizeof *walk->workers);
	for (unsigned i = 0; i < wanted; i++) {
		struct worker *w = &walk->workers[i];
		w->walk = walk;
		pthread_mutex_init(&w->lock, NULL);
		if (pthread_create(&w->thread, NULL, work, w) != 0)
			break;
		walk->jobs++;
	}
	if (!walk->jobs) /* no thread could be started: walk in this one, which is only slower */
		work(&walk->workers[0]);
	return walk;
}

bool xc_store_walk_wait(struct xc_store_walk *walk, unsigned ms)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&walk->lock);
	while (!walk->done && !atomic_load(&walk->stop) &&
	       pthread_cond_timedwait(&walk->changed, &walk->lock, &until) == 0)
		;
	bool done = walk->done || atomic_load(&walk->stop);
	pthread_mutex_unlock(&walk->lock);
	return done;
}

void xc_store_walk_stop(struct xc_store_walk *walk)
{
	pthread_mutex_lock(&walk->lock);
	atomic_store(&walk->stop, true);
	pthread_cond_broadcast(&walk->changed);
	pthread_mutex_unlock(&walk->lock);
}

void xc_store_walk_end(struct xc_store_walk *walk)
{
	for (unsigned i = 0; i < walk->jobs; i++)
		pthread_join(walk->workers[i].thread, NULL);
	for (unsigned i = 0; i < (walk->jobs ? walk->jobs : 1); i++) {
		xc_store_harvest_fini(&walk->workers[i].found);
		xc_arena_fini(&walk->workers[i].arena);
		pthread_mutex_destroy(&walk->workers[i].lock);
	}
	for (size_t i = 0; i < walk->depth; i++)
		free(walk->stack[i]);
	free(walk->stack);
	free(walk->workers);
	pthread_cond_destroy(&walk->changed);
	pthread_mutex_destroy(&walk->lock);
	free(walk);
}

/* ---- taking ---- */

uint64_t xc_store_walk_files(struct xc_store_walk *walk)
{
	uint64_t files = 0;
	for (unsigned i = 0; i < walk->jobs; i++) {
		pthread_mutex_lock(&walk->workers[i].lock);
		files += walk->workers[i].found.files;
		pthread_mutex_unlock(&walk->workers[i].lock);
	}
	return files;
}

static void *append(void *to, size_t *count, const void *from, size_t added, size_t item)
{
	if (!added)
		return to;
	to = xc_realloc(to, (*count + added) * item);
	memcpy((char *)to + *count * item, from, added * item);
	*count += added;
	return to;
}

struct xc_store_harvest xc_store_walk_take(struct xc_store_walk *walk)
{
	struct xc_store_harvest all = {.files = 0};
	for (unsigned i = 0; i < (walk->jobs ? walk->jobs : 1); i++) {
		struct worker *w = &walk->workers[i];
		const struct xc_store_harvest *f = &w->found;
		pthread_mutex_lock(&w->lock);
		all.entries = append(all.entries, &all.entry_count, f->entries, f->entry_count, sizeof *f->entries);
		all.dull = append(all.dull, &all.dull_count, f->dull, f->dull_count, sizeof *f->dull);
		all.files += f->files;
		all.read += f->read;
		all.packages += f->packages;
		all.unreadable += f->unreadable;
		if (!all.first_unreadable && f->first_unreadable)
			all.first_unreadable = xc_strdup(f->first_unreadable);
		pthread_mutex_unlock(&w->lock);
	}
	return all;
}

void xc_store_harvest_fini(struct xc_store_harvest *harvest)
{
	free(harvest->entries);
	free(harvest->dull);
	free(harvest->first_unreadable);
	*harvest = (struct xc_store_harvest){.files = 0};
}
