/* live: opens a running process without ptrace, without stopping it and without writing to it.
 *
 *   /proc/PID ─→ status: alive? readable? ─→ the descriptors that all reads use: mem, maps, pagemap, smaps, root
 *        maps ─→ mappings ─→ space (live_memory reads each readable one), sealed
 *        task/ ─→ threads        auxv, space ─→ modules ─→ their files
 *
 * All files are opened relative to one directory descriptor, which refers to this process and never to a later one with
 * the same pid. They are all opened here, because behind Landlock (sandbox.h) no file below /proc/PID can be opened. At
 * the end the snapshot is checked: if the address space has gone meanwhile, the facts may belong to two programs and
 * are discarded.
 *
 * After the main thread has ended by pthread_exit, /proc/PID shows no memory, but the directory of any living thread
 * does. */
#include "core/live/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/process/finder.h"
#include "core/live/live_child.h"
#include "core/live/live_facts.h"
#include "core/live/live_frozen.h"
#include "core/live/live_maps.h"
#include "core/live/live_memory.h"
#include "core/live/live_proc.h"
#include "core/live/live_tls.h"
#include "core/process/module.h"

struct live {
	struct xc_live_memory *memory;
	struct xc_live_maps maps;
	int task_dir;                   /* "/proc/PID/task", or -1 */
	const struct xc_finder *finder; /* borrowed */
};

static struct live *state_of(const struct xc_process *process)
{
	return process->live_state;
}

static struct xc_error *too_much_frozen(void)
{
	return xc_error_new(XC_ERR_LIMIT, "more than %d MiB of a live process cannot be frozen",
			    (int)(XC_FROZEN_MAX >> 20));
}

static void close_state(void *live_state)
{
	struct live *live = live_state;
	if (live) {
		xc_live_memory_free(live->memory);
		free(live->maps.last);
		if (live->task_dir >= 0)
			close(live->task_dir);
	}
	free(live);
}

void xc_live_refresh(struct xc_process *process)
{
	if (!state_of(process))
		return;
	xc_live_memory_forget(state_of(process)->memory, true);
	xc_live_remap(process);
}

void xc_live_forget(struct xc_process *process)
{
	if (state_of(process))
		xc_live_memory_forget(state_of(process)->memory, false);
}

void xc_live_renew(struct xc_process *process, uint64_t reader)
{
	if (state_of(process))
		xc_live_memory_renew(state_of(process)->memory, reader);
}

void xc_live_brief(struct xc_process *process, bool brief)
{
	if (state_of(process))
		xc_live_memory_brief(state_of(process)->memory, brief);
}

void xc_live_remap(struct xc_process *process)
{
	struct live *live = state_of(process);
	if (live) /* if the process has gone, later reads report it */
		(void)xc_live_maps_read(&live->maps, process, live->memory);
}

void xc_live_find_modules(struct xc_process *process)
{
	const struct live *live = state_of(process);
	const size_t before = process->module_count;
	if (!live)
		return;
	xc_live_forget(process); /* the loader's list has grown */
	xc_live_remap(process);
	xc_modules_find_new(process);
	for (size_t i = before; i < process->module_count; i++)
		xc_finder_module(live->finder, process, process->modules[i]);
	xc_process_index(process);
}

/* Stops at the end of the segment. */
static size_t reread_segment(const struct xc_process *p, const struct xc_segment *s, xc_addr addr, void *buf,
			     size_t len)
{
	if (len - 1 > s->hi - addr)
		len = (size_t)(s->hi - addr) + 1;
	if (s->provenance != XC_FROM_LIVE)
		return xc_space_peek(p->space, addr, buf, len);
	return xc_live_memory_reread(s->ctx, addr, buf, len);
}

size_t xc_live_reread(const struct xc_process *process, xc_addr addr, void *buf, size_t len)
{
	size_t done = 0, got = 1;
	if (!state_of(process))
		return xc_space_peek(process->space, addr, buf, len);
	for (const struct xc_segment *s; done < len && got; done += got) {
		if (!(s = xc_space_find(process->space, addr + done)))
			break;
		got = reread_segment(process, s, addr + done, (uint8_t *)buf + done, len - done);
	}
	return done;
}

bool xc_live_thread_slept(const struct xc_process *process, const struct xc_thread *thread)
{
	const struct live *live = state_of(process);
	return live && live->task_dir >= 0 && thread->ran &&
	       xc_live_facts_ran(live->task_dir, thread->tid, NULL) == thread->ran;
}

void xc_live_count_torn(struct xc_process *process)
{
	if (state_of(process))
		xc_live_memory_torn(state_of(process)->memory);
}

struct xc_error *xc_live_freeze(struct xc_process *process, xc_addr addr, uint64_t len)
{
	if (!state_of(process) || !len)
		return NULL;
	if (len > XC_FROZEN_MAX)
		return too_much_frozen();
	xc_auto(xc_freep) uint8_t *bytes = xc_alloc(len);
	size_t got = xc_live_reread(process, addr, bytes, len);
	if (got < len) {
		struct xc_error *err = xc_space_read(process->space, addr + got, bytes, 1);
		return err ? err : xc_error_fault(addr + got, "it cannot be read any more");
	}
	uint8_t *taken = bytes;
	bytes = NULL;
	return xc_live_memory_freeze(state_of(process)->memory, addr, taken, len) ? NULL : too_much_frozen();
}

/* Has the thread run since, in time that the kernel has counted? */
static bool runs_on(const struct live *live, pid_t tid)
{
	enum { NAPS = 15 };
	static const struct timespec nap = {0, 2000000};
	uint64_t before = live->task_dir >= 0 ? xc_live_facts_ran(live->task_dir, tid, NULL) : 0;
	bool ran = false;
	for (unsigned i = 0; before && !ran && i < NAPS; i++) {
		nanosleep(&nap, NULL);
		ran = xc_live_facts_ran(live->task_dir, tid, NULL) > before;
	}
	return ran;
}

bool xc_live_freeze_still(struct xc_process *process, pid_t tid, xc_addr addr, size_t len)
{
	enum { MOST = 256 };
	uint8_t before[MOST], after[MOST];
	if (!state_of(process) || len > MOST || xc_live_reread(process, addr, before, len) != len ||
	    !runs_on(state_of(process), tid) || xc_live_reread(process, addr, after, len) != len ||
	    memcmp(before, after, len) != 0)
		return false;
	uint8_t *taken = xc_alloc(len);
	memcpy(taken, before, len);
	return xc_live_memory_freeze(state_of(process)->memory, addr, taken, len);
}

void xc_live_show(struct xc_process *process, xc_addr lo, const uint8_t *bytes, size_t len, xc_addr end)
{
	if (state_of(process))
		xc_live_memory_show(state_of(process)->memory, lo, bytes, len, end);
}

bool xc_live_hold(struct xc_process *process, bool whole)
{
	return state_of(process) && xc_live_memory_hold(state_of(process)->memory, whole);
}

const uint8_t *xc_live_frozen(const struct xc_process *process, xc_addr addr, xc_addr *lo_out, xc_addr *hi_out)
{
	return state_of(process) ? xc_live_memory_frozen(state_of(process)->memory, addr, lo_out, hi_out) : NULL;
}

bool xc_live_resident(const struct xc_process *process, xc_addr lo, xc_addr hi, uint64_t *bytes_out)
{
	return state_of(process) && xc_live_memory_resident(state_of(process)->memory, lo, hi, bytes_out);
}

bool xc_live_gone(const struct xc_process *process)
{
	return state_of(process) && xc_live_memory_found_gone(state_of(process)->memory);
}

bool xc_live_is_there(const struct xc_process *process)
{
	return state_of(process) && !xc_live_memory_gone(state_of(process)->memory);
}

int xc_live_task_dir(const struct xc_process *process)
{
	return state_of(process) ? state_of(process)->task_dir : -1;
}

bool xc_live_times(const struct xc_process *process, pid_t tid, uint64_t *user_ns_out, uint64_t *system_ns_out)
{
	const int dir = xc_live_task_dir(process);
	char name[40] = "../stat";
	if (tid)
		snprintf(name, sizeof name, "%d/stat", (int)tid);
	return dir >= 0 && xc_live_proc_times(dir, name, user_ns_out, system_ns_out);
}

struct xc_live_stats xc_live_stats(const struct xc_process *process)
{
	if (!state_of(process))
		return (struct xc_live_stats){0};
	return xc_live_memory_stats(state_of(process)->memory);
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

/* Open the /proc directory that gives access to memory: that of the process, or of a living thread. */
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

/* Open files that have no path (deleted, memfd, System V) or whose pages other processes may fill (shared) through
 * map_files. That needs a capability, and is possible only now. */
static void open_map_files(struct xc_process *p, int proc_dir)
{
	struct xc_live_absents *absents = xc_live_memory_absents(state_of(p)->memory);
	for (size_t i = 0; i < absents->count; i++)
		xc_live_absents_open_map_file(absents, proc_dir, &absents->regions[i]);
}

/* ---- opening ---- */

static struct xc_error *read_maps(struct xc_process *p)
{
	int error = xc_live_maps_read(&state_of(p)->maps, p, state_of(p)->memory);
	if (error == ESRCH)
		return xc_error_new(XC_ERR_NOT_FOUND, "pid:%d: no such process; it has just exited", (int)p->pid);
	return error ? xc_error_errno(error, "pid:%d: its mappings", (int)p->pid) : NULL;
}

static struct xc_error *gather(struct xc_process *p, int proc_dir, int memory_dir,
			       const struct xc_open_options *options)
{
	xc_live_facts_read(p, memory_dir);
	struct xc_error *err = read_maps(p);
	if (err)
		return err;
	open_map_files(p, proc_dir);
	state_of(p)->task_dir = openat(proc_dir, "task", O_PATH | O_DIRECTORY | O_CLOEXEC);
	xc_live_facts_threads(p, proc_dir);
	xc_live_child_find(p, proc_dir);
	xc_live_tls_find(p);
	xc_modules_find(p);
	for (size_t i = 0; i < p->module_count; i++)
		xc_finder_module(options->finder, p, p->modules[i]);
	xc_process_index(p);
	if (xc_live_memory_gone(state_of(p)->memory))
		return xc_error_new(XC_ERR_NOT_FOUND,
				    "pid:%d: exited or executed another program while it was being opened",
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
	live->maps.fd = handles->maps;
	live->task_dir = -1;
	if (handles->root >= 0)
		p->live_root = xc_arena_printf(&p->arena, "/proc/self/fd/%d", handles->root);
	p->live_state = live;
	p->live_close = close_state;
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
	struct xc_live_handles handles = {.tid = pid,
					  .swap = options->swap,
					  .max_read_rate = options->max_read_rate,
					  .max_read_time = options->max_read_time,
					  .throttled = options->throttled};
	bool other_thread;
	struct xc_error *err = open_proc(pid, &proc_dir);
	if (err || (err = xc_live_facts_identity(proc_dir, pid, &id)) ||
	    (err = check_identity(proc_dir, &id, &other_thread)))
		return err;
	memory_dir = open_memory_dir(proc_dir, other_thread, &handles.tid);
	if ((err = open_handles(proc_dir, memory_dir, &id, &handles)))
		return err;
	process = make_process(&id, &handles);
	process->source_roots = options->finder->source_roots;
	state_of(process)->finder = options->finder;
	if (other_thread)
		xc_process_remark(process, "the main thread has ended; memory is seen through thread %d",
				  (int)handles.tid);
	if ((err = gather(process, proc_dir, memory_dir, options)))
		return err;
	*process_out = xc_take(process);
	return NULL;
}
