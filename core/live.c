/* live: opening a running process without ptrace, without stopping or writing it.
 *
 *   /proc/PID ─→ status: alive? ours to read? ─→ the descriptors all reading goes through:
 *                                                mem, maps, pagemap, smaps, root
 *        maps ─→ mappings ─→ space (live_memory behind each readable one), sealed
 *        task/ ─→ threads        auxv, space ─→ modules ─→ their files
 *
 * Everything is opened relative to one directory descriptor, which names this process and never a later one with
 * the same pid. All that is read later was opened here, because behind Landlock (sandbox.h) nothing below /proc/PID
 * can be opened any more. The picture is checked at its end: when the address space has gone meanwhile, what
 * was gathered may belong to two programs, and is thrown away.
 *
 * When the main thread has ended by pthread_exit, /proc/PID shows no memory; that of any living thread does. */
#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "finder.h"
#include "live_facts.h"
#include "live_memory.h"
#include "live_proc.h"
#include "module.h"
#include "note.h"

enum { MAX_MAP_FILES = 64 }; /* files behind shared and deleted mappings kept open */

struct live {
	struct xc_live_memory *memory;
	char root[40]; /* "/proc/self/fd/N", "" when refused */
};

static struct live *state_of(const struct xc_process *process)
{
	return process->live_state;
}

void xc_live_close(void *live_state)
{
	struct live *live = live_state;
	if (live)
		xc_live_memory_free(live->memory);
	free(live);
}

void xc_live_refresh(struct xc_process *process)
{
	if (state_of(process))
		xc_live_memory_refresh(state_of(process)->memory);
}

bool xc_live_gone(const struct xc_process *process)
{
	return state_of(process) && xc_live_memory_found_gone(state_of(process)->memory);
}

struct xc_live_stats xc_live_stats(const struct xc_process *process)
{
	if (!state_of(process))
		return (struct xc_live_stats){0};
	return xc_live_memory_stats(state_of(process)->memory);
}

const char *xc_live_root(const struct xc_process *process)
{
	return state_of(process) && state_of(process)->root[0] ? state_of(process)->root : NULL;
}

/* ---- the descriptors ---- */

static void close_dir(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static struct xc_error *open_proc(pid_t pid, int *dir_out)
{
	char path[40];
	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	int dir = pid > 0 ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (dir >= 0) {
		*dir_out = dir;
		return NULL;
	}
	if (pid > 0 && errno != ENOENT)
		return xc_error_errno(errno, "%s", path);
	if (access("/proc/self/status", F_OK))
		return xc_error_new(XC_ERR_IO, "/proc is not mounted: a live process cannot be read");
	return xc_error_new(XC_ERR_NOT_FOUND, "pid:%d: no such process", (int)pid);
}

static struct xc_error *check_identity(int proc_dir, const struct xc_live_identity *id, bool *other_thread_out)
{
	int pid = (int)id->pid;
	*other_thread_out = false;
	if (id->tgid != id->pid)
		return xc_error_hint(xc_error_new(XC_ERR_NOT_FOUND, "pid:%d: is a thread of process %d, not a process",
						  pid, (int)id->tgid),
				     "use pid:%d", (int)id->tgid);
	if (id->kernel_thread)
		return xc_error_new(XC_ERR_UNSUPPORTED, "pid:%d (%s): a kernel thread, which has no memory of its own",
				    pid, id->name);
	if (id->has_memory)
		return NULL;
	if (xc_live_facts_living_thread(proc_dir)) {
		*other_thread_out = true;
		return NULL;
	}
	return xc_error_hint(xc_error_new(XC_ERR_NOT_FOUND,
					  "pid:%d (%s): has exited and is a zombie; its memory is gone", pid, id->name),
			     "its parent, pid %d, has not waited for it", (int)id->ppid);
}

/* The /proc directory through which memory is seen: the process's own, or that of a living thread. */
static int open_memory_dir(int proc_dir, bool other_thread, pid_t *tid)
{
	char path[40];
	if (!other_thread)
		return openat(proc_dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	*tid = xc_live_facts_living_thread(proc_dir);
	snprintf(path, sizeof path, "task/%d", (int)*tid);
	return openat(proc_dir, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int open_read(int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

static void close_handles(struct xc_live_handles *h)
{
	const int fds[] = {h->mem, h->maps, h->pagemap, h->smaps, h->root};
	for (size_t i = 0; i < XC_COUNT(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static struct xc_error *open_handles(int proc_dir, int dir, const struct xc_live_identity *id,
				     struct xc_live_handles *h)
{
	h->mem = open_read(dir, "mem");
	int error = h->mem < 0 ? errno : 0;
	h->maps = error ? -1 : open_read(dir, "maps");
	error = !error && h->maps < 0 ? errno : error;
	h->pagemap = open_read(dir, "pagemap");
	h->smaps = open_read(dir, "smaps");
	h->root = openat(dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!error)
		return NULL;
	close_handles(h);
	if (error == EACCES || error == EPERM)
		return xc_live_facts_refusal(proc_dir, id);
	if (error == ENOENT || error == ESRCH)
		return xc_error_new(XC_ERR_NOT_FOUND, "pid:%d: no such process; it has just exited", (int)id->pid);
	return xc_error_errno(error, "pid:%d: its memory", (int)id->pid);
}

/* ---- mappings ---- */

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* Reading these is not reading memory: registers of devices, clocks of the kernel. pagemap hides most of them as
 * well; this also holds where there is no pagemap. */
static bool is_device(const char *name)
{
	static const char *const memory[] = {"/dev/shm/", "/dev/zero", "/dev/hugepages/"};
	static const char *const devices[] = {
		"/dev/", "/sys/", "/proc/", "anon_inode:", "socket:", "[vvar", "[vsyscall]"};
	for (size_t i = 0; i < XC_COUNT(memory); i++)
		if (starts_with(name, memory[i]))
			return false;
	for (size_t i = 0; i < XC_COUNT(devices); i++)
		if (starts_with(name, devices[i]))
			return true;
	return false;
}

static bool is_anonymous(const struct xc_live_map *map)
{
	static const char *const labels[] = {"[heap]", "[stack", "[anon:"};
	if (map->ino || map->shared)
		return false;
	for (size_t i = 0; i < XC_COUNT(labels); i++)
		if (starts_with(map->name, labels[i]))
			return true;
	return !*map->name;
}

static void fill_mapping(struct xc_process *p, struct xc_mapping *m, const struct xc_live_map *map)
{
	const char *name = *map->name ? xc_arena_strdup(&p->arena, map->name) : NULL;
	bool path = name && *name == '/';
	*m = (struct xc_mapping){.lo = map->lo,
				 .hi = map->hi,
				 .readable = map->readable,
				 .writable = map->writable,
				 .executable = map->executable,
				 .shared = map->shared,
				 .path = path ? name : NULL,
				 .label = path ? NULL : name,
				 .offset = map->offset,
				 .dev = map->dev,
				 .ino = map->ino};
}

static void fill_region(struct xc_live_region *r, const struct xc_mapping *m, const struct xc_live_map *map)
{
	r->lo = m->lo;
	r->hi = m->hi;
	r->absent = is_anonymous(map) ? XC_ABSENT_ZERO : m->path && m->ino ? XC_ABSENT_FILE : XC_ABSENT_UNKNOWN;
	r->shared = m->shared;
	r->deleted = map->deleted;
	r->dev = m->dev;
	r->ino = m->ino;
	r->offset = m->offset;
	r->path = m->path;
}

static void lay_mapping(struct xc_process *p, const struct xc_mapping *m, struct xc_live_region *region)
{
	struct xc_segment s = {.lo = m->lo, .hi = m->hi, .provenance = XC_NOT_READABLE};
	if (region) {
		s.provenance = XC_FROM_LIVE;
		s.backing = &xc_live_backing;
		s.ctx = region;
		s.offset = m->lo;
	}
	xc_space_lay(p->space, &s);
}

static void add_file(struct xc_process *p, const struct xc_mapping *m, bool deleted)
{
	p->files[p->file_count++] = (struct xc_note_file){
		.lo = m->lo, .hi = m->hi, .offset = m->offset, .path = m->path, .deleted = deleted};
}

/* Every line of `text` (overwritten) becomes a mapping, a file row where it has one, a segment and, where it can be
 * read, a region. */
static void take_maps(struct xc_process *p, char *text, size_t lines)
{
	struct xc_live_region *regions = xc_live_memory_regions(state_of(p)->memory, lines);
	struct xc_live_map map;
	size_t used = 0;
	p->mappings = xc_alloc((lines + 1) * sizeof *p->mappings);
	p->files = xc_arena_alloc(&p->arena, (lines + 1) * sizeof *p->files);
	while (p->mapping_count < lines && xc_live_proc_next_map(&text, &map)) {
		struct xc_mapping *m = &p->mappings[p->mapping_count++];
		struct xc_live_region *region = NULL;
		fill_mapping(p, m, &map);
		if (m->path)
			add_file(p, m, map.deleted);
		if (m->readable && !is_device(map.name)) {
			region = &regions[used++];
			fill_region(region, m, &map);
		}
		lay_mapping(p, m, region);
	}
	xc_live_memory_trim(state_of(p)->memory, used);
	p->files_known = true;
	xc_space_seal(p->space);
}

static struct xc_error *read_maps(struct xc_process *p, int maps)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	int error = xc_live_proc_read_fd(maps, &text);
	if (error)
		return xc_error_errno(error, "pid:%d: its mappings", (int)p->pid);
	size_t lines = 0;
	for (size_t i = 0; i < text.len; i++)
		lines += text.bytes[i] == '\n';
	if (!lines)
		return xc_error_new(XC_ERR_NOT_FOUND, "pid:%d: no such process; it has just exited", (int)p->pid);
	take_maps(p, text.bytes, lines);
	return NULL;
}

/* Files that no path leads to (deleted, memfd, System V) or whose pages others fill (shared): map_files leads to
 * them, for those with the capability, and only now. */
static void open_map_files(struct xc_process *p, int proc_dir)
{
	size_t opened = 0;
	for (size_t i = 0; i < xc_space_count(p->space) && opened < MAX_MAP_FILES; i++) {
		const struct xc_segment *s = xc_space_at(p->space, i);
		if (s->provenance == XC_FROM_LIVE)
			opened += xc_live_absent_open_map_file(proc_dir, s->ctx);
	}
}

/* ---- opening ---- */

static struct xc_error *gather(struct xc_process *p, int proc_dir, int memory_dir, int maps,
			       const struct xc_open_options *options)
{
	xc_live_facts_read(p, memory_dir);
	struct xc_error *err = read_maps(p, maps);
	if (err)
		return err;
	open_map_files(p, proc_dir);
	xc_live_facts_threads(p, proc_dir);
	xc_modules_find(p);
	for (size_t i = 0; i < p->module_count; i++)
		xc_finder_module(options->finder, p, p->modules[i]);
	xc_process_index(p);
	if (xc_live_memory_gone(state_of(p)->memory))
		return xc_error_new(XC_ERR_NOT_FOUND,
				    "pid:%d: exited, or became another program, while it was being opened",
				    (int)p->pid);
	return NULL;
}

static struct xc_process *make_process(const struct xc_live_identity *id, const struct xc_live_handles *handles)
{
	char target[40];
	snprintf(target, sizeof target, "pid:%d", (int)id->pid);
	struct xc_process *p = xc_process_new(target, true);
	struct live *live = xc_alloc(sizeof *live);
	live->memory = xc_live_memory_new(handles);
	if (handles->root >= 0)
		snprintf(live->root, sizeof live->root, "/proc/self/fd/%d", handles->root);
	p->live_state = live;
	p->pid = id->pid;
	p->ppid = id->ppid;
	p->uid = id->uids[1];
	p->ids_known = true;
	p->comm = xc_arena_strdup(&p->arena, id->name);
	return p;
}

struct xc_error *xc_process_open_live(pid_t pid, const struct xc_open_options *options, struct xc_process **process_out)
{
	xc_auto(close_dir) int proc_dir = -1, memory_dir = -1;
	xc_auto(xc_process_closep) struct xc_process *process = NULL;
	struct xc_live_identity id;
	struct xc_live_handles handles = {.tid = pid, .swap = options->swap};
	bool other_thread;
	struct xc_error *err = open_proc(pid, &proc_dir);
	if (err || (err = xc_live_facts_identity(proc_dir, pid, &id)) ||
	    (err = check_identity(proc_dir, &id, &other_thread)))
		return err;
	memory_dir = open_memory_dir(proc_dir, other_thread, &handles.tid);
	if ((err = open_handles(proc_dir, memory_dir, &id, &handles)))
		return err;
	process = make_process(&id, &handles);
	if (other_thread)
		xc_process_remark(process, "the main thread has ended; memory is seen through thread %d",
				  (int)handles.tid);
	if ((err = gather(process, proc_dir, memory_dir, handles.maps, options)))
		return err;
	*process_out = xc_take(process);
	return NULL;
}
